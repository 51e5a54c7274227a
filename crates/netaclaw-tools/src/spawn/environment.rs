//! The environment variables that children receive.

use std::ffi::{OsStr, OsString};

/// The variables that programs need for themselves, the user and their tool chains. All others are
/// left out, above all keys and tokens.
const PASSED_ON: [&str; 34] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "JAVA_HOME",
    "MAVEN_HOME",
    "GRADLE_USER_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "GEM_HOME",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
];
/// Where the network is allowed, so are the proxies.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

/// No user watches the program: no colors, no pagers, no questions, and no buffered output.
const SET: [(&str, &str); 8] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PYTHONUNBUFFERED", "1"),
    ("PYTHONIOENCODING", "utf-8"),
];

pub(super) type Variables = Vec<(OsString, OsString)>;

/// The variables of a child, from those of the server.
pub(super) fn reduced(all: &Variables, network: bool) -> Variables {
    let passes = |name: &OsStr, value: &OsStr| {
        let Some(name) = name.to_str() else {
            return false;
        };
        let is_proxy = PROXIES.iter().any(|proxy| name.eq_ignore_ascii_case(proxy));
        // A proxy with a password in its address is a secret like any other.
        let is_open_proxy = is_proxy && !value.to_string_lossy().contains('@');
        PASSED_ON.contains(&name) || name.starts_with("LC_") || (network && is_open_proxy)
    };
    let kept = all.iter().filter(|(name, value)| passes(name, value));
    let set = SET.map(|(name, value)| (name.into(), value.into()));
    kept.cloned().chain(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_be_harmless_stays_behind() {
        let all: Variables = [
            ("PATH", "/bin"),
            ("LC_ALL", "C.UTF-8"),
            ("OPENAI_API_KEY", "sk"),
            ("NETACLAW_SECRET_KEY", "00"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("LD_PRELOAD", "/tmp/x.so"),
            ("BASH_ENV", "/tmp/x"),
            ("https_proxy", "http://proxy:3128"),
            ("HTTP_PROXY", "http://me:secret@proxy:3128"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let names = |network| {
            let reduced = reduced(&all, network);
            let own = reduced.len() - SET.len();
            let names = reduced.into_iter().take(own);
            names
                .map(|(name, _)| name.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(false), ["PATH", "LC_ALL"]);
        assert_eq!(names(true), ["PATH", "LC_ALL", "https_proxy"]);
    }
}
