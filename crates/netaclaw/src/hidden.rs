//! Places that tools and the programs they start must not see: the server's own data and
//! configuration, and where people keep keys to other services.

use crate::app::App;
use crate::config::Config;
use netaclaw_tools::Hidden;
use std::path::PathBuf;

/// Below the home directory.
const IN_HOME: [&str; 62] = [
    // Keys and passwords.
    ".ssh",
    ".gnupg",
    ".password-store",
    ".pki",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".bitwarden",
    ".1password",
    ".step",
    ".terraform.d/credentials.tfrc.json",
    // Clouds, clusters and package registries.
    ".aws",
    ".azure",
    ".oci",
    ".kube",
    ".docker",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".gem/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".composer/auth.json",
    ".huggingface",
    ".cache/huggingface/token",
    ".kaggle",
    // Agents and their keys.
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".pi",
    ".openclaw",
    ".local/share/opencode",
    // Profiles of browsers and mail programs.
    ".mozilla",
    ".thunderbird",
    ".local/share/evolution",
    "snap/firefox",
    "snap/chromium",
    // What was typed.
    ".bash_history",
    ".zsh_history",
    ".histfile",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".lesshst",
    ".viminfo",
];

/// Below the directory for configuration, which is `.config` in the home directory or
/// `XDG_CONFIG_HOME`.
const IN_CONFIG: [&str; 22] = [
    "git/credentials",
    "gcloud",
    "gh",
    "glab-cli",
    "hub",
    "op",
    "rclone",
    "doctl",
    "fly",
    "sops",
    "github-copilot",
    "goose",
    "opencode",
    "Claude",
    "google-chrome",
    "chromium",
    "BraveSoftware",
    "microsoft-edge",
    "vivaldi",
    "Bitwarden",
    "1Password",
    "netaclaw",
];

/// Variables that name another place for keys, with what lies there.
const BY_VARIABLE: [(&str, &str); 14] = [
    ("GNUPGHOME", ""),
    ("PASSWORD_STORE_DIR", ""),
    ("AWS_SHARED_CREDENTIALS_FILE", ""),
    ("AWS_CONFIG_FILE", ""),
    ("AZURE_CONFIG_DIR", ""),
    ("CLOUDSDK_CONFIG", ""),
    ("GOOGLE_APPLICATION_CREDENTIALS", ""),
    ("DOCKER_CONFIG", ""),
    ("NPM_CONFIG_USERCONFIG", ""),
    ("PGPASSFILE", ""),
    ("NETRC", ""),
    ("CARGO_HOME", "credentials.toml"),
    ("CLAUDE_CONFIG_DIR", ""),
    ("CODEX_HOME", ""),
];

/// Readable by root alone.
const OF_THE_SYSTEM: [&str; 4] = [
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/ssl/private",
];

/// The one list for file tools and programs. Blocks.
pub(crate) fn places(app: &App, config: &Config) -> Hidden {
    let home = app.env.home.as_deref();
    let variable = |wanted: &str| {
        let found = app.env.all.iter().find(|(name, _)| name == wanted);
        let path = found.map(|(_, value)| PathBuf::from(value));
        path.filter(|path| path.is_absolute())
    };
    let in_home = home.map(|home| IN_HOME.map(|place| home.join(place)));
    let config_dirs = [
        home.map(|home| home.join(".config")),
        variable("XDG_CONFIG_HOME"),
    ];
    let config_dirs = config_dirs.into_iter().flatten();
    let in_config = config_dirs.flat_map(|dir| IN_CONFIG.map(|place| dir.join(place)));
    let named = BY_VARIABLE.iter().filter_map(|(name, inside)| {
        let path = variable(name)?;
        Some(match inside.is_empty() {
            true => path,
            false => path.join(inside),
        })
    });
    // Several files, separated like those of PATH.
    let clusters = variable("KUBECONFIG");
    let clusters = clusters.iter().flat_map(std::env::split_paths);
    let own = [Some(config.data_dir.clone()), config.file.clone()];
    let mut all: Vec<PathBuf> = in_home.into_iter().flatten().chain(in_config).collect();
    all.extend(named.chain(clusters).chain(own.into_iter().flatten()));
    if rustix::process::geteuid().is_root() {
        all.extend(OF_THE_SYSTEM.map(PathBuf::from));
    }
    Hidden::new(all.into_iter().map(absolute))
}

/// The data directory may have been named relative to where the server was started.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}
