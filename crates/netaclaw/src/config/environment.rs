//! The environment, read once.

use netaclaw_protocol::Supplier;
use secrecy::SecretString;
use std::ffi::OsString;
use std::path::PathBuf;

/// The name of every variable NetaClaw reads.
pub(crate) mod var {
    use netaclaw_protocol::Supplier;

    pub(crate) const ADMIN_STORE: &str = "NETACLAW_ADMIN_STORE";
    pub(crate) const ALLOWED_ORIGINS: &str = "NETACLAW_ALLOWED_ORIGINS";
    pub(crate) const CONFIG: &str = "NETACLAW_CONFIG";
    pub(crate) const DATA_DIR: &str = "NETACLAW_DATA_DIR";
    pub(crate) const DRAIN_SECONDS: &str = "NETACLAW_DRAIN_SECONDS";
    pub(crate) const FSYNC: &str = "NETACLAW_FSYNC";
    pub(crate) const KEEP_DELETED_DAYS: &str = "NETACLAW_KEEP_DELETED_DAYS";
    pub(crate) const LISTEN: &str = "NETACLAW_LISTEN";
    pub(crate) const LOG: &str = "NETACLAW_LOG";
    pub(crate) const LOG_FORMAT: &str = "NETACLAW_LOG_FORMAT";
    pub(crate) const MYSQL_URL: &str = "NETACLAW_MYSQL_URL";
    pub(crate) const OTLP_ENDPOINT: &str = "NETACLAW_OTLP_ENDPOINT";
    pub(crate) const PUBLIC_URL: &str = "NETACLAW_PUBLIC_URL";
    pub(crate) const SECRET_KEY: &str = "NETACLAW_SECRET_KEY";
    pub(crate) const SECURE_COOKIE: &str = "NETACLAW_SECURE_COOKIE";
    pub(crate) const SESSION_PROVIDER: &str = "NETACLAW_SESSION_PROVIDER";
    pub(crate) const TOKEN: &str = "NETACLAW_TOKEN";
    pub(crate) const USER_NAMESPACES: &str = "NETACLAW_USER_NAMESPACES";
    pub(crate) const TRUSTED_PROXIES: &str = "NETACLAW_TRUSTED_PROXIES";
    /// What the names of NetaClaw's own variables begin with, and all of them.
    pub(crate) const PREFIX: &str = "NETACLAW_";
    pub(crate) const OWN: [&str; 19] = [
        ADMIN_STORE,
        ALLOWED_ORIGINS,
        CONFIG,
        DATA_DIR,
        DRAIN_SECONDS,
        FSYNC,
        KEEP_DELETED_DAYS,
        LISTEN,
        LOG,
        LOG_FORMAT,
        MYSQL_URL,
        OTLP_ENDPOINT,
        PUBLIC_URL,
        SECRET_KEY,
        SECURE_COOKIE,
        SESSION_PROVIDER,
        TOKEN,
        USER_NAMESPACES,
        TRUSTED_PROXIES,
    ];

    /// What text is edited with; the first that is set decides.
    pub(crate) const EDITOR: [&str; 2] = ["VISUAL", "EDITOR"];
    pub(crate) const HOME: &str = "HOME";
    /// The language of messages; the first that is set decides.
    pub(crate) const LANGUAGE: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];
    pub(crate) const NO_COLOR: &str = "NO_COLOR";
    /// Where a collector of traces is, as every program with OpenTelemetry reads it.
    pub(crate) const OTEL_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    /// Where an Ollama on this machine listens, as Ollama itself reads it.
    pub(crate) const OLLAMA_HOST: &str = "OLLAMA_HOST";
    /// The kind of terminal.
    pub(crate) const TERM: &str = "TERM";
    /// Where programs are looked for.
    pub(crate) const PATH: &str = "PATH";
    /// Keys from which a first start makes channels.
    pub(crate) const SUPPLIER_KEYS: [(Supplier, &str); 3] = [
        (Supplier::Anthropic, "ANTHROPIC_API_KEY"),
        (Supplier::Openai, "OPENAI_API_KEY"),
        (Supplier::Deepseek, "DEEPSEEK_API_KEY"),
    ];
}

/// What the environment says. An empty variable counts as absent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) admin_store: Option<String>,
    pub(crate) allowed_origins: Option<String>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) drain_seconds: Option<String>,
    pub(crate) editor: Option<String>,
    pub(crate) fsync: Option<String>,
    pub(crate) keep_deleted_days: Option<String>,
    pub(crate) listen: Option<String>,
    pub(crate) log: Option<String>,
    pub(crate) log_format: Option<String>,
    pub(crate) mysql_url: Option<String>,
    pub(crate) otlp_endpoint: Option<String>,
    pub(crate) token: Option<SecretString>,
    pub(crate) user_namespaces: Option<String>,
    pub(crate) ollama_host: Option<String>,
    pub(crate) public_url: Option<String>,
    pub(crate) secret_key: Option<SecretString>,
    pub(crate) secure_cookie: Option<String>,
    pub(crate) session_provider: Option<String>,
    pub(crate) trusted_proxies: Option<String>,
    pub(crate) supplier_keys: Vec<(Supplier, SecretString)>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) language: Option<String>,
    pub(crate) no_color: bool,
    pub(crate) path: Option<OsString>,
    pub(crate) term: Option<String>,
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

    pub(super) fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let value = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let path = |name: &str| value(name).map(PathBuf::from);
        let text = |name: &str| value(name).map(|value| value.to_string_lossy().into_owned());
        let secret = |name: &str| text(name).map(SecretString::from);
        let supplier_key = |(supplier, name)| Some((supplier, secret(name)?));
        Self {
            admin_store: text(var::ADMIN_STORE),
            allowed_origins: text(var::ALLOWED_ORIGINS),
            config: path(var::CONFIG),
            data_dir: path(var::DATA_DIR),
            drain_seconds: text(var::DRAIN_SECONDS),
            editor: var::EDITOR.into_iter().find_map(text),
            fsync: text(var::FSYNC),
            keep_deleted_days: text(var::KEEP_DELETED_DAYS),
            listen: text(var::LISTEN),
            log: text(var::LOG),
            log_format: text(var::LOG_FORMAT),
            token: secret(var::TOKEN),
            user_namespaces: text(var::USER_NAMESPACES),
            mysql_url: text(var::MYSQL_URL),
            otlp_endpoint: text(var::OTLP_ENDPOINT).or_else(|| text(var::OTEL_ENDPOINT)),
            ollama_host: text(var::OLLAMA_HOST),
            public_url: text(var::PUBLIC_URL),
            secret_key: secret(var::SECRET_KEY),
            secure_cookie: text(var::SECURE_COOKIE),
            session_provider: text(var::SESSION_PROVIDER),
            trusted_proxies: text(var::TRUSTED_PROXIES),
            supplier_keys: var::SUPPLIER_KEYS
                .into_iter()
                .filter_map(supplier_key)
                .collect(),
            home: path(var::HOME),
            language: var::LANGUAGE.into_iter().find_map(text),
            no_color: value(var::NO_COLOR).is_some(),
            path: value(var::PATH),
            term: text(var::TERM),
            own: Vec::new(),
            all: Vec::new(),
        }
    }
}
