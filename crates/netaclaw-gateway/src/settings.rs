//! The settings of a gateway. Nothing is read from the environment here.

use crate::connection_limits::ConnectionLimits;
use ipnet::IpNet;
use secrecy::{SecretSlice, SecretString};
use std::time::Duration;

/// Authentication besides the users and tokens of the admin store.
#[derive(Clone, Debug, Default)]
pub struct AuthSettings {
    /// Opens everything, as the first administrator. `None` leaves only users and tokens.
    pub access_token: Option<SecretString>,
    /// Origins other than the server's own that may use it from a browser, such as
    /// `https://example.org`.
    pub allowed_origins: Vec<String>,
    /// The origin at which users open the server, if that is not an address of the machine: the
    /// server answers to its host name, and its pages are the server's own.
    pub public_url: Option<String>,
    /// Proxies that may name the address of a client.
    pub trusted_proxies: Vec<IpNet>,
    /// What browsers that logged in before are recognized with. `None` takes a random key, and
    /// browsers are unknown after a restart.
    pub browser_key: Option<SecretSlice<u8>>,
    /// Sends the browser's cookie over TLS only; set it behind a proxy that terminates TLS.
    pub secure_cookie: bool,
}

#[derive(Clone, Debug)]
pub struct GatewaySettings {
    /// How long runs may continue after a shutdown was requested.
    pub drain_grace: Duration,
    /// How long connections may take after that to end what they are about.
    pub close_grace: Duration,
    /// How long the head of a request may take, and how long a connection is kept that asks for
    /// nothing: longer than proxies keep theirs, or they would ask on one that is being closed.
    pub head_within: Duration,
    /// How long the body of a request may take; longer, if the client sends at a fair pace.
    pub body_within: Duration,
    pub connections: ConnectionLimits,
    pub ping_interval: Duration,
    pub ping_timeout: Duration,
    /// After this a connection whose other side reads nothing is closed.
    pub stalled_after: Duration,
    pub outbox: OutboxLimits,
    /// How long the answer of `readyz` is cached.
    pub readiness_cached_for: Duration,
    /// One uploaded file.
    pub file_bytes_max: usize,
}

/// What may wait for one socket before text is dropped, and then the socket.
#[derive(Clone, Copy, Debug)]
pub struct OutboxLimits {
    pub events_max: usize,
    pub bytes_max: usize,
    /// Bytes handed to the transport and not yet taken by the network. Kept small: what is there
    /// can no longer be dropped.
    pub window_bytes: usize,
}

impl Default for GatewaySettings {
    fn default() -> Self {
        Self {
            drain_grace: Duration::from_secs(20),
            close_grace: Duration::from_secs(5),
            head_within: Duration::from_secs(75),
            body_within: Duration::from_secs(30),
            connections: ConnectionLimits::default(),
            ping_interval: Duration::from_secs(25),
            ping_timeout: Duration::from_secs(20),
            stalled_after: Duration::from_secs(30),
            outbox: OutboxLimits::default(),
            readiness_cached_for: Duration::from_secs(1),
            file_bytes_max: 20 << 20,
        }
    }
}

impl Default for OutboxLimits {
    fn default() -> Self {
        Self {
            events_max: 8192,
            bytes_max: 32 << 20,
            window_bytes: 256 << 10,
        }
    }
}
