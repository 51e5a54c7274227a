//! Settings, parsed once into plain data: a flag counts before the environment, that before the
//! configuration file, and that before the default. Nothing reads the environment later.

use crate::error::Failure;
use crate::text::Lang;
use netaclaw_protocol::Supplier;
use netaclaw_session::ProviderKind;
use netaclaw_store::Fsync;
use secrecy::SecretString;
use serde::Deserialize;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The name of every variable NetaClaw reads.
pub(crate) mod var {
    use netaclaw_protocol::Supplier;

    pub(crate) const ADMIN_STORE: &str = "NETACLAW_ADMIN_STORE";
    pub(crate) const CONFIG: &str = "NETACLAW_CONFIG";
    pub(crate) const DATA_DIR: &str = "NETACLAW_DATA_DIR";
    pub(crate) const FSYNC: &str = "NETACLAW_FSYNC";
    pub(crate) const LISTEN: &str = "NETACLAW_LISTEN";
    pub(crate) const LOG: &str = "NETACLAW_LOG";
    pub(crate) const LOG_FORMAT: &str = "NETACLAW_LOG_FORMAT";
    pub(crate) const MYSQL_URL: &str = "NETACLAW_MYSQL_URL";
    pub(crate) const SECRET_KEY: &str = "NETACLAW_SECRET_KEY";
    pub(crate) const SESSION_PROVIDER: &str = "NETACLAW_SESSION_PROVIDER";
    pub(crate) const TOKEN: &str = "NETACLAW_TOKEN";
    /// What the names of NetaClaw's own variables begin with, and all of them.
    pub(crate) const PREFIX: &str = "NETACLAW_";
    pub(crate) const OWN: [&str; 11] = [
        ADMIN_STORE,
        CONFIG,
        DATA_DIR,
        FSYNC,
        LISTEN,
        LOG,
        LOG_FORMAT,
        MYSQL_URL,
        SECRET_KEY,
        SESSION_PROVIDER,
        TOKEN,
    ];

    /// What text is edited with; the first that is set decides.
    pub(crate) const EDITOR: [&str; 2] = ["VISUAL", "EDITOR"];
    pub(crate) const HOME: &str = "HOME";
    /// The language of messages; the first that is set decides.
    pub(crate) const LANGUAGE: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];
    pub(crate) const NO_COLOR: &str = "NO_COLOR";
    /// Where an Ollama on this machine listens, as Ollama itself reads it.
    pub(crate) const OLLAMA_HOST: &str = "OLLAMA_HOST";
    /// Where programs are looked for.
    pub(crate) const PATH: &str = "PATH";
    /// Keys from which a first start makes channels.
    pub(crate) const SUPPLIER_KEYS: [(Supplier, &str); 3] = [
        (Supplier::Anthropic, "ANTHROPIC_API_KEY"),
        (Supplier::Openai, "OPENAI_API_KEY"),
        (Supplier::Deepseek, "DEEPSEEK_API_KEY"),
    ];
}

/// Only this machine can reach it.
const DEFAULT_LISTEN: &str = "127.0.0.1:7300";

/// What the environment says. An empty variable counts as absent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) admin_store: Option<String>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) editor: Option<String>,
    pub(crate) fsync: Option<String>,
    pub(crate) listen: Option<String>,
    pub(crate) log: Option<String>,
    pub(crate) log_format: Option<String>,
    pub(crate) mysql_url: Option<String>,
    pub(crate) token: Option<SecretString>,
    pub(crate) ollama_host: Option<String>,
    pub(crate) secret_key: Option<SecretString>,
    pub(crate) session_provider: Option<String>,
    pub(crate) supplier_keys: Vec<(Supplier, SecretString)>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) language: Option<String>,
    pub(crate) no_color: bool,
    pub(crate) path: Option<OsString>,
    /// The names of all variables that are NetaClaw's by their name, sorted.
    pub(crate) own: Vec<String>,
    /// Everything there is, for the gate that hands a part of it to child processes.
    pub(crate) all: Vec<(OsString, OsString)>,
}

impl Environment {
    pub(crate) fn read() -> Self {
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let mut own: Vec<String> = names.filter(|name| name.starts_with(var::PREFIX)).collect();
        own.sort();
        Self {
            own,
            all: std::env::vars_os().collect(),
            ..Self::from_lookup(|name| std::env::var_os(name))
        }
    }

    fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let value = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let path = |name: &str| value(name).map(PathBuf::from);
        let text = |name: &str| value(name).map(|value| value.to_string_lossy().into_owned());
        let secret = |name: &str| text(name).map(SecretString::from);
        let supplier_key = |(supplier, name)| Some((supplier, secret(name)?));
        Self {
            admin_store: text(var::ADMIN_STORE),
            config: path(var::CONFIG),
            data_dir: path(var::DATA_DIR),
            editor: var::EDITOR.into_iter().find_map(text),
            fsync: text(var::FSYNC),
            listen: text(var::LISTEN),
            log: text(var::LOG),
            log_format: text(var::LOG_FORMAT),
            token: secret(var::TOKEN),
            mysql_url: text(var::MYSQL_URL),
            ollama_host: text(var::OLLAMA_HOST),
            secret_key: secret(var::SECRET_KEY),
            session_provider: text(var::SESSION_PROVIDER),
            supplier_keys: var::SUPPLIER_KEYS
                .into_iter()
                .filter_map(supplier_key)
                .collect(),
            home: path(var::HOME),
            language: var::LANGUAGE.into_iter().find_map(text),
            no_color: value(var::NO_COLOR).is_some(),
            path: value(var::PATH),
            own: Vec::new(),
            all: Vec::new(),
        }
    }
}

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) provider: Option<String>,
}

/// The configuration file. A key that is not here is a mistake somebody should hear about.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileConfig {
    data_dir: Option<PathBuf>,
    admin: FileAdmin,
    server: FileServer,
    sessions: FileSessions,
    mysql: FileMysql,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileAdmin {
    store: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileServer {
    listen: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileSessions {
    provider: Option<String>,
    fsync: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileMysql {
    url: Option<String>,
}

/// Where agents, channels and the rest of what people configure are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AdminStoreKind {
    #[default]
    Sqlite,
    Mysql,
}

#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) admin_store: AdminStoreKind,
    pub(crate) data_dir: PathBuf,
    /// The configuration file, if there is one.
    pub(crate) file: Option<PathBuf>,
    pub(crate) provider: ProviderKind,
    pub(crate) fsync: Fsync,
    /// The address of the server.
    pub(crate) listen: String,
    pub(crate) mysql_url: Option<String>,
    /// Settings that were understood only in part, in plain words.
    pub(crate) warnings: Vec<String>,
}

impl Config {
    pub(crate) fn load(flags: &Flags, env: &Environment, lang: Lang) -> Result<Self, Failure> {
        let named_dir = flags.data_dir.clone().or_else(|| env.data_dir.clone());
        let home = env.home.as_deref();
        let usual_dir = named_dir.or_else(|| Some(home?.join(".netaclaw")));
        let (file, path) = read_file(flags, env, usual_dir.as_deref(), lang)?;

        // Relative paths start from where the file lies.
        let file_dir = path.as_deref().and_then(Path::parent);
        let file_dir = file_dir.unwrap_or(Path::new(""));
        let dir_in_file = file.data_dir.map(|dir| file_dir.join(dir));
        let data_dir = flags.data_dir.clone().or_else(|| env.data_dir.clone());
        let data_dir = data_dir
            .or(dir_in_file)
            .or(usual_dir)
            .ok_or_else(|| Failure::new(lang.data_dir(), lang.no_home(), lang.set_data_dir()))?;

        let mut warnings = Vec::new();
        let provider = flags
            .provider
            .clone()
            .or_else(|| env.session_provider.clone())
            .or(file.sessions.provider);
        let fsync = env.fsync.clone().or(file.sessions.fsync);
        let admin_store = env.admin_store.clone().or(file.admin.store);
        Ok(Self {
            admin_store: admin_store.map_or(Ok(AdminStoreKind::default()), |name| {
                admin_store_named(&name, lang)
            })?,
            data_dir: in_home(data_dir, home),
            file: path,
            provider: provider.map_or(ProviderKind::File, |name| {
                provider_named(&name, lang, &mut warnings)
            }),
            fsync: fsync.map_or(Ok(Fsync::default()), |name| fsync_named(&name, lang))?,
            listen: env
                .listen
                .clone()
                .or(file.server.listen)
                .unwrap_or_else(|| DEFAULT_LISTEN.to_owned()),
            mysql_url: env.mysql_url.clone().or(file.mysql.url),
            warnings,
        })
    }

    pub(crate) fn sessions_dir(&self) -> PathBuf {
        self.data_dir.join("sessions")
    }

    /// Uploaded files. Several servers of one deployment share it.
    pub(crate) fn process_logs_dir(&self) -> PathBuf {
        self.data_dir.join("process-logs")
    }

    /// Where people put their skills.
    pub(crate) fn skills_dir(&self) -> PathBuf {
        self.data_dir.join("skills")
    }

    pub(crate) fn attachments_dir(&self) -> PathBuf {
        self.data_dir.join("attachments")
    }

    pub(crate) fn admin_file(&self) -> PathBuf {
        self.data_dir.join("netaclaw.db")
    }

    /// Tells which processes work here.
    pub(crate) fn instances_dir(&self) -> PathBuf {
        self.data_dir.join("running")
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        self.data_dir.join("access.token")
    }

    pub(crate) fn secret_key_file(&self) -> PathBuf {
        self.data_dir.join("secret.key")
    }
}

/// The configuration and the file it stands in. Only a file that was asked for by name has to
/// exist.
fn read_file(
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
        // A data directory that is none is for whoever uses it to complain about.
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

fn in_home(path: PathBuf, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

/// Sessions must stay reachable after a typing mistake, so that an unknown name means files.
fn provider_named(name: &str, lang: Lang, warnings: &mut Vec<String>) -> ProviderKind {
    match name {
        "file" => ProviderKind::File,
        "mysql" => ProviderKind::Mysql,
        _ => {
            warnings.push(lang.unknown_provider(name));
            ProviderKind::File
        }
    }
}

/// A promise about durability is not guessed.
fn fsync_named(name: &str, lang: Lang) -> Result<Fsync, Failure> {
    match name {
        "always" => Ok(Fsync::Always),
        "turn" => Ok(Fsync::Turn),
        "off" => Ok(Fsync::Off),
        _ => Err(Failure::new(
            format!("fsync {name:?}"),
            lang.unknown_value(),
            lang.fsync_values(),
        )),
    }
}

/// An empty store would look like lost settings, so a mistake is not guessed at.
fn admin_store_named(name: &str, lang: Lang) -> Result<AdminStoreKind, Failure> {
    match name {
        "sqlite" => Ok(AdminStoreKind::Sqlite),
        "mysql" => Ok(AdminStoreKind::Mysql),
        _ => Err(Failure::new(
            format!("admin store {name:?}"),
            lang.unknown_value(),
            lang.admin_store_values(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(flags: Flags, env: &[(&str, &str)], file: &str) -> Result<Config, Failure> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, file).unwrap();
        let mut env = Environment::from_lookup(|name| {
            let found = env.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        });
        env.config = Some(path);
        Config::load(&flags, &env, Lang::En)
    }

    #[test]
    fn a_flag_counts_before_the_environment_and_that_before_the_file() {
        let file = "data_dir = '/from/file'\n[sessions]\nprovider = 'mysql'\nfsync = 'off'\n[mysql]\nurl = 'mysql://file'";
        let config = load(Flags::default(), &[], file).unwrap();
        assert_eq!(config.data_dir, Path::new("/from/file"));
        assert_eq!(
            (config.provider, config.fsync),
            (ProviderKind::Mysql, Fsync::Off)
        );

        let env = [
            (var::DATA_DIR, "/from/env"),
            (var::SESSION_PROVIDER, "file"),
            (var::FSYNC, "always"),
            (var::MYSQL_URL, "mysql://env"),
        ];
        let config = load(Flags::default(), &env, file).unwrap();
        assert_eq!(config.data_dir, Path::new("/from/env"));
        assert_eq!(
            (config.provider, config.fsync),
            (ProviderKind::File, Fsync::Always)
        );
        assert_eq!(config.mysql_url.as_deref(), Some("mysql://env"));

        let flags = Flags {
            data_dir: Some("/from/flag".into()),
            provider: Some("mysql".into()),
            config: None,
        };
        let config = load(flags, &env, file).unwrap();
        assert_eq!(config.data_dir, Path::new("/from/flag"));
        assert_eq!(config.provider, ProviderKind::Mysql);
    }

    #[test]
    fn the_defaults_are_files_under_the_home_directory() {
        let config = load(
            Flags::default(),
            &[(var::HOME, "/home/x"), (var::FSYNC, "")],
            "",
        )
        .unwrap();
        assert_eq!(
            config.sessions_dir(),
            Path::new("/home/x/.netaclaw/sessions")
        );
        assert_eq!(
            (config.provider, config.fsync),
            (ProviderKind::File, Fsync::Turn)
        );
        let failure = load(Flags::default(), &[], "").unwrap_err();
        assert!(failure.to_string().contains(var::DATA_DIR), "{failure}");
    }

    #[test]
    fn an_unknown_provider_means_files_and_is_mentioned() {
        let home = [(var::HOME, "/h"), (var::SESSION_PROVIDER, "postgres")];
        let config = load(Flags::default(), &home, "").unwrap();
        assert_eq!(config.provider, ProviderKind::File);
        assert!(config.warnings[0].contains("postgres"));
    }

    #[test]
    fn mistakes_in_the_file_are_named_with_their_line() {
        let home = [(var::HOME, "/h")];
        for (file, part) in [
            (
                "[sessions]\nprovidr = 'file'",
                "line 2: unknown field `providr`",
            ),
            ("colour = 1", "unknown field `colour`"),
            ("[sessions", "line 1"),
            ("[sessions]\nfsync = 'often'", "often"),
        ] {
            let failure = load(Flags::default(), &home, file).unwrap_err().to_string();
            assert!(failure.contains(part), "{failure}");
            assert!(!failure.contains('\n'), "{failure}");
        }
    }
}
