//! The admin store on real databases: the contract, and what only a database can do to us.

mod secrets;
mod snapshots;
mod starting;
mod tables;

use async_trait::async_trait;
use netaclaw_admin::contract::ContractHarness;
use netaclaw_admin::{Actor, AdminStore, ChannelStore};
use netaclaw_protocol::{ChannelModel, ChannelSpec, ChannelStatus, ChannelView, Supplier};
use netaclaw_store::{AdminDatabase, AdminSettings, SecretKey, SqlAdminStore};
use netaclaw_testkit::{Database, MariaDb};
use sqlx::{AnyConnection, Connection};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// What may be found nowhere.
const KEY: &str = "sk-store-marker-0815-4711";

/// A database of one test.
enum Place {
    Sqlite(TempDir),
    Mysql {
        // Before the server, so that it is dropped while the server still runs.
        database: Database,
        _server: Box<MariaDb>,
    },
}

impl Place {
    fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    fn mysql() -> Self {
        let server = MariaDb::start().unwrap();
        Self::Mysql {
            database: server.fresh_database().unwrap(),
            _server: Box::new(server),
        }
    }

    fn database(&self) -> AdminDatabase {
        match self {
            Self::Sqlite(_) => AdminDatabase::Sqlite { file: self.file() },
            Self::Mysql { database, .. } => AdminDatabase::Mysql {
                url: database.url(),
            },
        }
    }

    fn file(&self) -> PathBuf {
        match self {
            Self::Sqlite(dir) => dir.path().join("netaclaw.db"),
            Self::Mysql { .. } => panic!("a database server has no file here"),
        }
    }

    /// A connection besides those of the store.
    async fn sql(&self) -> AnyConnection {
        sqlx::any::install_default_drivers();
        let url = match self {
            Self::Sqlite(_) => format!("sqlite://{}", self.file().display()),
            Self::Mysql { database, .. } => database.url(),
        };
        AnyConnection::connect(&url).await.unwrap()
    }

    /// A store with a secret key that is this byte over and over.
    async fn open_with(&self, byte: &str) -> SqlAdminStore {
        let opened = SqlAdminStore::open(AdminSettings {
            database: self.database(),
            secret_key: secret_key(byte),
        });
        opened.await.unwrap()
    }

    async fn store(&self) -> SqlAdminStore {
        self.open_with("00").await
    }
}

fn secret_key(byte: &str) -> SecretKey {
    SecretKey::from_text(&byte.repeat(32).into()).unwrap()
}

async fn new_channel(store: &SqlAdminStore, name: &str) -> ChannelView {
    let spec = ChannelSpec {
        name: name.to_owned(),
        supplier: Supplier::Openai,
        base_url: None,
        models: vec![ChannelModel {
            name: "gpt-5".to_owned(),
            ..ChannelModel::default()
        }],
        is_auxiliary: false,
        status: ChannelStatus::Enabled,
    };
    let by = Actor::command_line();
    let made = store.create_channel(&by, spec, Some(KEY.into()));
    made.await.unwrap()
}

#[async_trait]
impl ContractHarness for Place {
    async fn open(&self) -> Arc<dyn AdminStore> {
        Arc::new(self.store().await)
    }
}

mod sqlite {
    use super::Place;

    netaclaw_admin::contract_suite!(Place::sqlite());
}

mod mysql {
    use super::Place;

    netaclaw_admin::contract_suite!(Place::mysql());
}
