//! The settings of a server.

use super::environment::{Environment, var};
use super::file::FileServer;
use crate::error::Failure;
use crate::text::Lang;
use ipnet::IpNet;
use reqwest::Url;
use std::net::IpAddr;
use std::time::Duration;

/// Only this machine can reach it.
const DEFAULT_LISTEN: &str = "127.0.0.1:7300";
const DEFAULT_DRAIN: Duration = Duration::from_secs(20);
/// A longer wait than an hour is not a shutdown.
const DRAIN_SECONDS_MAX: u64 = 3600;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerSettings {
    pub(crate) listen: String,
    /// Origins other than the server's own whose pages may use it.
    pub(crate) allowed_origins: Vec<String>,
    /// The origin at which people open the server, if a proxy or a name of its own leads to it.
    pub(crate) public_url: Option<String>,
    /// Proxies that may name the address of a client.
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// Whether the cookie of a browser goes over TLS only.
    pub(crate) secure_cookie: bool,
    /// How long runs may continue after a shutdown was requested.
    pub(crate) drain: Duration,
}

impl ServerSettings {
    pub(super) fn load(env: &Environment, file: FileServer, lang: Lang) -> Result<Self, Failure> {
        let listen = env.listen.clone().or(file.listen);
        let in_env = env.allowed_origins.as_deref().map(listed);
        let origins = in_env.or(file.allowed_origins).unwrap_or_default();
        let origins = origins.iter().map(|text| {
            origin(text).ok_or_else(|| wrong("allowed_origins", text, lang.origin_values()))
        });
        let public_url = env.public_url.clone().or(file.public_url);
        let public_url = public_url.map(|text| {
            origin(&text).ok_or_else(|| wrong("public_url", &text, lang.origin_values()))
        });
        let in_env = env.trusted_proxies.as_deref().map(listed);
        let proxies = in_env.or(file.trusted_proxies).unwrap_or_default();
        let proxies = proxies.iter().map(|text| {
            network(text).ok_or_else(|| wrong("trusted_proxies", text, lang.proxy_values()))
        });
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
            public_url: public_url.transpose()?,
            trusted_proxies: proxies.collect::<Result<_, _>>()?,
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

/// An origin as browsers write it: in lower case, without the usual port. One with a path or a star
/// would be compared with what browsers send and never be the same.
fn origin(text: &str) -> Option<String> {
    let bare = text.trim().trim_end_matches('/');
    let host = bare
        .strip_prefix("https://")
        .or_else(|| bare.strip_prefix("http://"))?;
    let odd = |char: char| char.is_whitespace() || "/*?#@".contains(char);
    if host.is_empty() || host.contains(odd) {
        return None;
    }
    let url = Url::parse(bare).ok()?;
    Some(url.origin().ascii_serialization())
}

/// A network such as `10.0.0.0/8`, or one address. The network of all addresses would let every
/// client choose its own.
fn network(text: &str) -> Option<IpNet> {
    let text = text.trim();
    let network = match text.parse::<IpAddr>() {
        Ok(address) => IpNet::from(address),
        Err(_) => text.parse().ok()?,
    };
    (network.prefix_len() > 0).then_some(network)
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
        assert!(usual.allowed_origins.is_empty() && usual.trusted_proxies.is_empty());
        assert_eq!(usual.public_url, None);

        let file = "listen = '[::1]:1'\nallowed_origins = ['https://A.org:443/']\n\
                    public_url = 'http://Box.lan:80'\ntrusted_proxies = ['10.1.2.3']\n\
                    secure_cookie = true\ndrain_seconds = 0";
        let filed = load(&[], file).unwrap();
        assert_eq!(filed.allowed_origins, ["https://a.org"]);
        assert_eq!(filed.public_url.as_deref(), Some("http://box.lan"));
        assert_eq!(filed.trusted_proxies, ["10.1.2.3/32".parse().unwrap()]);
        assert_eq!((filed.secure_cookie, filed.drain), (true, Duration::ZERO));

        let env = [
            (var::LISTEN, "[::1]:2"),
            (var::ALLOWED_ORIGINS, "https://b.org, http://c.org:8080,"),
            (var::SECURE_COOKIE, "false"),
            (var::DRAIN_SECONDS, "90"),
            (var::PUBLIC_URL, "https://neta.example/"),
            (var::TRUSTED_PROXIES, "fd00::/8, 127.0.0.1"),
        ];
        let said = load(&env, file).unwrap();
        assert_eq!(said.listen, "[::1]:2");
        assert_eq!(said.public_url.as_deref(), Some("https://neta.example"));
        let proxies = ["fd00::/8", "127.0.0.1/32"].map(|text| text.parse().unwrap());
        assert_eq!(said.trusted_proxies, proxies);
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
            (var::PUBLIC_URL, "example.org"),
            (var::PUBLIC_URL, "https://example.org/chat"),
            (var::TRUSTED_PROXIES, "0.0.0.0/0"),
            (var::TRUSTED_PROXIES, "10.0.0.0/33"),
            (var::TRUSTED_PROXIES, "proxy.example.org"),
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
