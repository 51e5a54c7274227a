//! Sessions in MySQL or MariaDB: the entry log as rows of one table.
//!
//! The text of every entry comes back byte for byte. What a session means is decided by the pure
//! functions of `netaclaw-session`, on the same tree that a file gives; nothing here interprets an
//! entry beyond what a listing shows.
//!
//! A session has one owner at a time, the node that claimed it last (`ownership`), and every write
//! names the fence of its claim. Each append is one transaction that takes the session's row first,
//! so the log has one order; cached data of a session is only ever used if the row shows that
//! nothing has changed since. Reading needs no claim.

mod append;
mod cache;
mod change;
mod connections;
mod import;
mod in_flight;
mod list;
mod node;
mod ownership;
mod provider;
mod purge;
mod recover;
mod retry;
mod rows;
mod session_row;

pub use node::NodeSettings;
pub use provider::MysqlProvider;

use std::fmt;

/// The default maximum of connections. A session uses one while it is written.
const CONNECTIONS_MAX: u32 = 16;

#[derive(Clone)]
pub struct MysqlSettings {
    /// `mysql://user:password@host:port/database`; `?ssl-mode=…&ssl-ca=…` for TLS.
    pub url: String,
    /// Further requests wait for a connection to become free.
    pub connections_max: u32,
    /// How this process appears to the others that share the database.
    pub node: NodeSettings,
}

impl MysqlSettings {
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            connections_max: CONNECTIONS_MAX,
            node: NodeSettings::default(),
        }
    }
}

impl fmt::Debug for MysqlSettings {
    /// Without the URL, which holds a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MysqlSettings")
            .field("connections_max", &self.connections_max)
            .field("node", &self.node)
            .finish_non_exhaustive()
    }
}
