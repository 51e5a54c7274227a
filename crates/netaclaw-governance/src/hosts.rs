//! Which hosts an agent's tools may reach without asking.
//!
//! Addresses are read by the parser that the tools use for their requests, so that the host that is
//! judged is the host that is reached: it lower-cases names, turns international names into
//! punycode, and every spelling of an IP address into one.

use std::fmt;
use std::sync::Arc;
use url::{Host, Url};

/// One entry of an agent's list: a host, or all names below one, with scheme and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    is_https: bool,
    host: HostPattern,
    port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    Exact(String),
    /// Every name below this one, and not this one itself.
    Below(String),
}

/// Why a text is not a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostRuleError {
    #[error("only http and https can be allowed")]
    Scheme,
    #[error("enter a host such as `example.com`, without a path, a user or a query")]
    NotAHost,
    #[error("`*.` is only allowed at the start, before a name with at least one dot")]
    Wildcard,
}

impl HostRule {
    /// Reads `example.com`, `*.example.com`, `https://example.com:8443` or an IP address. Without a
    /// scheme https is meant, and without a port the scheme's own.
    pub fn parse(text: &str) -> Result<Self, HostRuleError> {
        let text = text.trim();
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
            None => ("https".to_owned(), text),
        };
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err(HostRuleError::Scheme);
        }
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"/\\?#@%".contains(c);
        if rest.is_empty() || !rest.chars().all(is_plain) {
            return Err(HostRuleError::NotAHost);
        }
        let (is_below, host) = match rest.strip_prefix("*.") {
            Some(host) => (true, host),
            None => (false, rest),
        };
        if host.contains('*') {
            return Err(HostRuleError::Wildcard);
        }
        let url = Url::parse(&format!("{scheme}://{host}/")).ok();
        let place = url.as_ref().and_then(Destination::of);
        let place = place.ok_or(HostRuleError::NotAHost)?;
        let pattern = match (is_below, place.is_name && place.host.contains('.')) {
            (false, _) => HostPattern::Exact(place.host),
            (true, true) => HostPattern::Below(place.host),
            (true, false) => return Err(HostRuleError::Wildcard),
        };
        Ok(Self {
            is_https: place.is_https,
            host: pattern,
            port: place.port,
        })
    }

    fn allows(&self, place: &Destination) -> bool {
        let is_host = match &self.host {
            HostPattern::Exact(host) => place.host == *host,
            HostPattern::Below(host) => {
                let below = place.host.strip_suffix(host.as_str());
                let below = below.and_then(|below| below.strip_suffix('.'));
                place.is_name && below.is_some_and(|below| !below.is_empty())
            }
        };
        is_host && place.is_https == self.is_https && place.port == self.port
    }
}

/// As it could be written in the list.
impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_https {
            f.write_str("http://")?;
        }
        match &self.host {
            HostPattern::Exact(host) => f.write_str(host)?,
            HostPattern::Below(host) => write!(f, "*.{host}")?,
        }
        match (self.is_https, self.port) {
            (true, 443) | (false, 80) => Ok(()),
            (_, port) => write!(f, ":{port}"),
        }
    }
}

/// The hosts that are allowed for an agent. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AllowedHosts(Arc<[HostRule]>);

impl AllowedHosts {
    /// What cannot be read allows nothing.
    pub(crate) fn read(rules: &[String]) -> Self {
        let rules = rules.iter().filter_map(|rule| HostRule::parse(rule).ok());
        Self(rules.collect())
    }

    pub(crate) fn allow(&self, place: &Destination) -> bool {
        self.0.iter().any(|rule| rule.allows(place))
    }
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    is_https: bool,
    /// Without the dot at the end that makes a name absolute.
    host: String,
    /// A name, and not an IP address.
    is_name: bool,
    port: u16,
}

impl Destination {
    /// `None` for other schemes, and for addresses that carry a user or password: a list of hosts
    /// says nothing about them.
    pub(crate) fn of(url: &Url) -> Option<Self> {
        let is_https = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        if !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        let (host, is_name) = match url.host()? {
            Host::Domain(name) => (name.strip_suffix('.').unwrap_or(name).to_owned(), true),
            Host::Ipv4(address) => (address.to_string(), false),
            Host::Ipv6(address) => (format!("[{address}]"), false),
        };
        if host.is_empty() || host.ends_with('.') {
            return None;
        }
        Some(Self {
            is_https,
            host,
            is_name,
            port: url.port_or_known_default()?,
        })
    }

    pub(crate) fn parse(address: &str) -> Option<Self> {
        Self::of(&parse(address)?)
    }

    /// Whether a redirect from here to there stays where it is: the same host, scheme and port, or
    /// the same host with encryption added.
    pub(crate) fn leads_to(&self, next: &Self) -> bool {
        let is_upgrade = !self.is_https && next.is_https && self.port == 80 && next.port == 443;
        let same_port = self.is_https == next.is_https && self.port == next.port;
        self.host == next.host && (same_port || is_upgrade)
    }
}

/// As the tools read an address.
pub(crate) fn parse(address: &str) -> Option<Url> {
    Url::parse(address.trim()).ok()
}
