//! Settings, parsed once into plain data: a flag counts before the environment, that before the
//! configuration file, and that before the default. Nothing reads the environment later.

#[cfg(test)]
mod documented;
mod environment;
mod file;
mod limits;
mod log;
mod retention;
mod server;
mod telemetry;

pub(crate) use environment::{Environment, var};
pub(crate) use limits::LimitSettings;
pub(crate) use log::{LogFormat, LogSettings};
pub(crate) use retention::Retention;
pub(crate) use server::ServerSettings;

use crate::error::Failure;
use crate::text::Lang;
use file::read_file;
use netaclaw_session::ProviderKind;
use netaclaw_store::Fsync;
use netaclaw_tools::spawn::Namespaces;
use reqwest::Url;
use std::path::{Path, PathBuf};

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) provider: Option<String>,
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
    /// How long deleted sessions are kept.
    pub(crate) retention: Retention,
    pub(crate) server: ServerSettings,
    pub(crate) log: LogSettings,
    pub(crate) limits: LimitSettings,
    pub(crate) mysql_url: Option<String>,
    /// Whether programs get namespaces of their own.
    pub(crate) namespaces: Namespaces,
    /// Where traces go, if anywhere.
    pub(crate) traces: Option<Url>,
    /// Settings that were understood only in part, as warnings.
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
            retention: Retention::load(env, file.sessions.keep_deleted_days, lang)?,
            server: ServerSettings::load(env, file.server, lang)?,
            log: LogSettings::load(env, file.log, lang)?,
            limits: LimitSettings::load(&file.limits),
            mysql_url: env.mysql_url.clone().or(file.mysql.url),
            namespaces: namespaces(env, file.sandbox.user_namespaces, lang)?,
            traces: telemetry::traces(env, file.telemetry, lang)?,
            warnings,
        })
    }

    pub(crate) fn sessions_dir(&self) -> PathBuf {
        self.data_dir.join("sessions")
    }

    /// The directories that NetaClaw fills itself.
    pub(crate) fn own_dirs(&self) -> Vec<PathBuf> {
        vec![
            self.sessions_dir(),
            self.attachments_dir(),
            self.process_logs_dir(),
            self.instances_dir(),
            self.shipped_skills_dir(),
        ]
    }

    pub(crate) fn shipped_skills_dir(&self) -> PathBuf {
        self.data_dir.join("shipped-skills")
    }

    pub(crate) fn process_logs_dir(&self) -> PathBuf {
        self.data_dir.join("process-logs")
    }

    /// Where people put their skills.
    pub(crate) fn skills_dir(&self) -> PathBuf {
        self.data_dir.join("skills")
    }

    /// Uploaded files. Several servers of one deployment share it.
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

    /// What was typed in chats at a terminal.
    pub(crate) fn chat_history_file(&self) -> PathBuf {
        self.data_dir.join("chat.history")
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        self.data_dir.join("access.token")
    }

    pub(crate) fn secret_key_file(&self) -> PathBuf {
        self.data_dir.join("secret.key")
    }
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

/// Whether there is a wall is not guessed either.
fn namespaces(env: &Environment, file: Option<String>, lang: Lang) -> Result<Namespaces, Failure> {
    match env.user_namespaces.clone().or(file).as_deref() {
        None | Some("auto") => Ok(Namespaces::Auto),
        Some("off") => Ok(Namespaces::Off),
        Some(other) => Err(Failure::new(
            format!("user_namespaces {other:?}"),
            lang.unknown_value(),
            lang.namespaces_values(),
        )),
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
    use std::ffi::OsString;

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
            ("[server]\nallowed_origin = []", "line 2: unknown field"),
            ("[server]\nsecure_cookie = 'yes'", "line 2: invalid type"),
            ("[server]\ndrain_seconds = -1", "line 2: invalid value"),
            ("[log]\nlevel = 'info'", "line 2: unknown field `level`"),
        ] {
            let failure = load(Flags::default(), &home, file).unwrap_err().to_string();
            assert!(failure.contains(part), "{failure}");
            assert!(!failure.contains('\n'), "{failure}");
        }
    }
}
