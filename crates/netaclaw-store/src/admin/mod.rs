//! The configuration, in SQLite or in MySQL.
//!
//! A few small tables on two databases are written with sqlx and its `Any` driver rather than an
//! ORM: with text, integers and bytes as the only column types and `?` as the placeholder, every
//! statement here is valid for both as it stands, so there is one code path and no entity layer
//! next to the protocol's own types. What differs is in `database`: connecting, migrating the
//! tables, and acquiring the write lock.
//!
//! Each change is one transaction that excludes all other writers, on either database, and checks
//! its preconditions inside. No decision uses data that another writer may be changing, so there
//! are no lost updates and no deadlocks to retry.

mod agent;
mod approval;
mod audit;
mod channel;
mod copy;
mod database;
mod dictionary;
mod fault;
mod mcp;
mod memory;
mod memory_pending;
mod record;
mod revision_cache;
mod seal;
mod secret_key;
mod seed;
mod setting;
mod snapshot;
mod token;
mod token_uses;
mod tool;
mod user;

pub use copy::{Integrity, check_database, copy_database};
pub use secret_key::{SecretKey, SecretKeyError};

use crate::now_ms;
use database::Database;
use futures::future::BoxFuture;
use netaclaw_admin::{AdminError, ConfigSnapshot};
use revision_cache::RevisionCache;
use seal::Sealer;
use std::fmt;
use std::path::PathBuf;
use token::TokenCache;
use token_uses::TokenUses;
use user::Passwords;

/// The admin store on a database.
pub struct SqlAdminStore {
    database: Database,
    sealer: Sealer,
    passwords: Passwords,
    config: RevisionCache<ConfigSnapshot>,
    tokens: RevisionCache<TokenCache>,
    token_uses: TokenUses,
    /// No agent may work in it or around it.
    data_dir: Option<PathBuf>,
}

pub struct AdminSettings {
    pub database: AdminDatabase,
    /// Encrypts the keys of channels.
    pub secret_key: SecretKey,
}

/// Where the tables are.
#[derive(Clone)]
pub enum AdminDatabase {
    /// A file, made if it is not there.
    Sqlite { file: PathBuf },
    /// `mysql://user:password@host:port/database`.
    Mysql { url: String },
}

impl fmt::Debug for AdminDatabase {
    /// Without the URL, which holds a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite { file } => f.debug_struct("Sqlite").field("file", file).finish(),
            Self::Mysql { .. } => f.debug_struct("Mysql").finish_non_exhaustive(),
        }
    }
}

impl SqlAdminStore {
    /// Opens the database, and brings its tables up to date. Boxed, so that no other crate compiles
    /// the drivers for itself.
    pub fn open(settings: AdminSettings) -> BoxFuture<'static, Result<Self, AdminError>> {
        Box::pin(async move {
            Ok(Self {
                database: Database::open(&settings.database).await?,
                sealer: Sealer::new(&settings.secret_key),
                passwords: Passwords::default(),
                config: RevisionCache::default(),
                tokens: RevisionCache::default(),
                token_uses: TokenUses::new(now_ms()),
                data_dir: None,
            })
        })
    }

    /// Refuses agents whose directories overlap this one.
    pub fn guarding(self, data_dir: PathBuf) -> Self {
        let data_dir = Some(data_dir);
        Self { data_dir, ..self }
    }

    /// Closes all connections. SQLite then needs no files but the database.
    pub async fn close(&self) {
        self.write_uses(self.token_uses.take()).await;
        self.database.close().await;
    }
}
