//! The configuration file.

use super::{Environment, Flags, in_home};
use crate::error::Failure;
use crate::text::Lang;
use serde::Deserialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The configuration file. An unknown key is an error, because its author expects an effect.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileConfig {
    pub(super) data_dir: Option<PathBuf>,
    pub(super) admin: FileAdmin,
    pub(super) server: FileServer,
    pub(super) limits: FileLimits,
    pub(super) log: FileLog,
    pub(super) sessions: FileSessions,
    pub(super) mysql: FileMysql,
    pub(super) sandbox: FileSandbox,
    pub(super) telemetry: FileTelemetry,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileSandbox {
    pub(super) user_namespaces: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileAdmin {
    pub(super) store: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileServer {
    pub(super) listen: Option<String>,
    pub(super) allowed_origins: Option<Vec<String>>,
    pub(super) public_url: Option<String>,
    pub(super) trusted_proxies: Option<Vec<String>>,
    pub(super) secure_cookie: Option<bool>,
    pub(super) drain_seconds: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileLimits {
    pub(super) runs_per_user: Option<usize>,
    pub(super) messages_per_minute: Option<u32>,
    pub(super) attachment_mb_per_user: Option<u64>,
    pub(super) connections: Option<usize>,
    pub(super) connections_per_address: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileLog {
    pub(super) filter: Option<String>,
    pub(super) format: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileSessions {
    pub(super) provider: Option<String>,
    pub(super) fsync: Option<String>,
    pub(super) keep_deleted_days: Option<FileDays>,
}

/// A number of days, or a word.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum FileDays {
    Number(i64),
    Word(String),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileMysql {
    pub(super) url: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileTelemetry {
    pub(super) otlp_endpoint: Option<String>,
}

/// The configuration and the path of its file. Only a file that was named explicitly has to exist.
pub(super) fn read_file(
    flags: &Flags,
    env: &Environment,
    usual_dir: Option<&Path>,
    lang: Lang,
) -> Result<(FileConfig, Option<PathBuf>), Failure> {
    let named = flags.config.clone().or_else(|| env.config.clone());
    let is_named = named.is_some();
    let Some(path) = named.or_else(|| Some(usual_dir?.join("config.toml"))) else {
        return Ok((FileConfig::default(), None));
    };
    let path = in_home(path, env.home.as_deref());
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        // An invalid data directory is reported by the command that uses it.
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
                && !is_named =>
        {
            return Ok((FileConfig::default(), None));
        }
        Err(error) => return Err(Failure::io(lang, lang.config_file(path.display()), &error)),
    };
    let config = toml::from_str(&text).map_err(|error| {
        let before = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = 1 + text[..before].matches('\n').count();
        let why = lang.config_line(line, error.message());
        Failure::new(lang.config_file(path.display()), why, lang.fix_config())
    })?;
    Ok((config, Some(path)))
}
