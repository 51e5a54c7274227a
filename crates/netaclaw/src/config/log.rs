//! Log settings.

use super::environment::{Environment, var};
use super::file::FileLog;
use super::server::wrong;
use crate::error::Failure;
use crate::text::Lang;
use tracing_subscriber::EnvFilter;

/// Faults of MCP servers are reported by the code that uses them, once.
const USUAL: &str = "warn,rmcp=off";
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogSettings {
    /// As `tracing` reads it, such as `info` or `warn,netaclaw_engine=debug`.
    pub(crate) filter: String,
    pub(crate) format: LogFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

impl LogSettings {
    pub(super) fn load(env: &Environment, file: FileLog, lang: Lang) -> Result<Self, Failure> {
        let filter = env.log.clone().or(file.filter);
        if let Some(filter) = filter.as_deref().filter(|filter| !is_filter(filter)) {
            return Err(wrong(var::LOG, filter, lang.log_values()));
        }
        let format = env.log_format.clone().or(file.format);
        Ok(Self {
            filter: filter.unwrap_or_else(|| USUAL.to_owned()),
            format: match format.as_deref() {
                None => LogFormat::default(),
                Some("text") => LogFormat::Text,
                Some("json") => LogFormat::Json,
                Some(other) => {
                    return Err(wrong(var::LOG_FORMAT, other, lang.log_format_values()));
                }
            },
        })
    }
}

/// A word that is not a level would be taken for the name of a part of the program:
/// `NETACLAW_LOG=inof` would silence everything but a part that does not exist.
fn is_filter(text: &str) -> bool {
    let mut parts = text.split(',').map(str::trim);
    let is_level = |word: &str| LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word));
    parts.all(|part| match part.rsplit_once('=') {
        Some((_, level)) => is_level(level),
        None => is_level(part),
    }) && EnvFilter::try_new(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn load(log: &str, format: &str, file: &str) -> Result<LogSettings, String> {
        let env = Environment::from_lookup(|name| match name {
            var::LOG => Some(OsString::from(log)),
            var::LOG_FORMAT => Some(OsString::from(format)),
            _ => None,
        });
        let file = toml::from_str(file).unwrap();
        LogSettings::load(&env, file, Lang::En).map_err(|failure| failure.to_string())
    }

    #[test]
    fn the_environment_counts_before_the_file() {
        let file = "filter = 'info'\nformat = 'json'";
        let filed = load("", "", file).unwrap();
        assert_eq!(
            (filed.filter.as_str(), filed.format),
            ("info", LogFormat::Json)
        );
        let said = load("warn,netaclaw_engine=debug", "text", file).unwrap();
        assert_eq!(said.filter, "warn,netaclaw_engine=debug");
        assert_eq!(said.format, LogFormat::Text);
        assert_eq!(load("", "", "").unwrap().filter, USUAL);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for log in [
            "inof",
            "warn,netaclaw_engine",
            "netaclaw_engine=lots",
            "info,",
        ] {
            let said = load(log, "", "").unwrap_err();
            assert!(said.contains(log), "{said}");
        }
        let said = load("", "xml", "").unwrap_err();
        assert!(said.contains("xml") && said.contains("json"), "{said}");
    }
}
