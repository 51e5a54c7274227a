//! What a server is told about its surroundings.

use super::environment::{Environment, var};
use super::file::FileServer;
use crate::error::Failure;
use crate::text::Lang;
use std::time::Duration;

/// Only this machine can reach it.
const DEFAULT_LISTEN: &str = "127.0.0.1:7300";
const DEFAULT_DRAIN: Duration = Duration::from_secs(20);
/// Whoever wants to wait longer than an hour does not want to end.
const DRAIN_SECONDS_MAX: u64 = 3600;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerSettings {
    pub(crate) listen: String,
    /// Origins other than the server's own whose pages may use it.
    pub(crate) allowed_origins: Vec<String>,
    /// Whether the cookie of a browser goes over TLS only.
    pub(crate) secure_cookie: bool,
    /// How long runs may go on once the server has been told to end.
    pub(crate) drain: Duration,
}

impl ServerSettings {
    pub(super) fn load(env: &Environment, file: FileServer, lang: Lang) -> Result<Self, Failure> {
        let listen = env.listen.clone().or(file.listen);
        let in_env = env.allowed_origins.as_deref().map(listed);
        let origins = in_env.or(file.allowed_origins).unwrap_or_default();
        let origins = origins.iter().map(|text| origin(text, lang));
        let secure = env
            .secure_cookie
            .as_deref()
            .map(|text| yes_or_no(text, lang));
        let drain = env.drain_seconds.as_deref().map(|text| {
            let seconds = text.trim().parse();
            seconds.map_err(|_| wrong(var::DRAIN_SECONDS, text, lang.drain_values()))
        });
        let drain = drain.transpose()?.or(file.drain_seconds);
        if let Some(seconds) = drain.filter(|seconds| *seconds > DRAIN_SECONDS_MAX) {
            return Err(wrong(
                "drain_seconds",
                &seconds.to_string(),
                lang.drain_values(),
            ));
        }
        Ok(Self {
            listen: listen.unwrap_or_else(|| DEFAULT_LISTEN.to_owned()),
            allowed_origins: origins.collect::<Result<_, _>>()?,
            secure_cookie: secure.transpose()?.or(file.secure_cookie).unwrap_or(false),
            drain: drain.map_or(DEFAULT_DRAIN, Duration::from_secs),
        })
    }
}

/// A value that cannot be meant, and what can.
pub(super) fn wrong(what: &str, value: &str, values: String) -> Failure {
    Failure::plain(format!("{what} {value:?}"), values)
}

fn listed(text: &str) -> Vec<String> {
    let parts = text.split(',').map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

fn yes_or_no(text: &str, lang: Lang) -> Result<bool, Failure> {
    match text.trim() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(wrong(var::SECURE_COOKIE, text, lang.true_or_false())),
    }
}

/// An origin as browsers write it. One with a path or a star would be compared with what browsers
/// send and never be the same.
fn origin(text: &str, lang: Lang) -> Result<String, Failure> {
    let bare = text.trim().trim_end_matches('/');
    let host = bare
        .strip_prefix("https://")
        .or_else(|| bare.strip_prefix("http://"));
    let plain = |host: &&str| {
        let odd = |char: char| char.is_whitespace() || "/*?#@".contains(char);
        !host.is_empty() && !host.contains(odd)
    };
    match host.filter(plain) {
        Some(_) => Ok(bare.to_owned()),
        None => Err(wrong("allowed_origins", text, lang.origin_values())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn load(env: &[(&str, &str)], file: &str) -> Result<ServerSettings, String> {
        let env = Environment::from_lookup(|name| {
            let found = env.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        });
        let file = toml::from_str(file).unwrap();
        ServerSettings::load(&env, file, Lang::En).map_err(|failure| failure.to_string())
    }

    #[test]
    fn the_environment_counts_before_the_file() {
        let usual = load(&[], "").unwrap();
        assert_eq!(usual.listen, DEFAULT_LISTEN);
        assert_eq!((usual.secure_cookie, usual.drain), (false, DEFAULT_DRAIN));
        assert!(usual.allowed_origins.is_empty());

        let file = "listen = '[::1]:1'\nallowed_origins = ['https://a.org/']\n\
                    secure_cookie = true\ndrain_seconds = 0";
        let filed = load(&[], file).unwrap();
        assert_eq!(filed.allowed_origins, ["https://a.org"]);
        assert_eq!((filed.secure_cookie, filed.drain), (true, Duration::ZERO));

        let env = [
            (var::LISTEN, "[::1]:2"),
            (var::ALLOWED_ORIGINS, "https://b.org, http://c.org:8080,"),
            (var::SECURE_COOKIE, "false"),
            (var::DRAIN_SECONDS, "90"),
        ];
        let said = load(&env, file).unwrap();
        assert_eq!(said.listen, "[::1]:2");
        assert_eq!(said.allowed_origins, ["https://b.org", "http://c.org:8080"]);
        assert_eq!(
            (said.secure_cookie, said.drain),
            (false, Duration::from_secs(90))
        );
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (name, value) in [
            (var::ALLOWED_ORIGINS, "*"),
            (var::ALLOWED_ORIGINS, "example.org"),
            (var::ALLOWED_ORIGINS, "https://example.org/app"),
            (var::ALLOWED_ORIGINS, "https://*.example.org"),
            (var::ALLOWED_ORIGINS, "https://"),
            (var::SECURE_COOKIE, "maybe"),
            (var::DRAIN_SECONDS, "soon"),
            (var::DRAIN_SECONDS, "-1"),
            (var::DRAIN_SECONDS, "3601"),
        ] {
            let said = load(&[(name, value)], "").unwrap_err();
            assert!(said.contains(value), "{said}");
        }
    }
}
