//! Sessions in a real MariaDB: the contract, and what only a database can do to us.

mod nodes;
mod outages;
mod ownership;
mod tables;

use async_trait::async_trait;
use netaclaw_session::contract::ContractHarness;
use netaclaw_session::{
    Entry, EntryBody, NewEntry, NewSession, SessionError, SessionId, SessionTreeProvider,
};
use netaclaw_store::{MysqlProvider, MysqlSettings};
use netaclaw_testkit::{Database, MariaDb};
use serde_json::json;
use sqlx::mysql::MySqlConnection;
use sqlx::{Connection, Executor};
use std::sync::{Arc, Mutex};

/// A database of its own, on the server that the test command provides.
struct Harness {
    // Before the server, so that it is dropped while the server still runs.
    database: Database,
    _server: MariaDb,
    /// The processes that the contract suite has opened here, which all but the last are dead.
    opened: Mutex<Vec<String>>,
}

impl Harness {
    fn new() -> Self {
        let server = MariaDb::start().unwrap();
        Self {
            database: server.fresh_database().unwrap(),
            _server: server,
            opened: Mutex::default(),
        }
    }

    async fn provider(&self) -> Arc<MysqlProvider> {
        connect(self.database.url()).await
    }

    /// A connection besides those of the provider.
    async fn sql(&self) -> MySqlConnection {
        MySqlConnection::connect(&self.database.url())
            .await
            .unwrap()
    }
}

async fn connect(url: String) -> Arc<MysqlProvider> {
    let provider = MysqlProvider::connect(MysqlSettings::new(url)).await;
    Arc::new(provider.unwrap())
}

async fn new_session(provider: &MysqlProvider) -> SessionId {
    let new = NewSession::default();
    provider.create_session(new).await.unwrap().session_id
}

fn question(text: &str) -> NewEntry {
    NewEntry::at_leaf(EntryBody::message(
        &json!({"role": "user", "content": text}),
    ))
}

async fn ask(
    provider: &MysqlProvider,
    session: &SessionId,
    text: &str,
) -> Result<Entry, SessionError> {
    provider.append_entry(session, question(text)).await
}

/// Fails unless the log is a chain of exactly these entries.
async fn assert_chain(provider: &MysqlProvider, session: &SessionId, expected: &[Entry]) {
    let entries = provider.list_entries(session).await.unwrap();
    assert_eq!(entries, expected);
    for (before, after) in entries.iter().zip(&entries[1..]) {
        assert_eq!(after.parent_id(), Some(before.id()));
    }
}

async fn run(connection: &mut MySqlConnection, sql: &'static str) {
    connection.execute(sql).await.unwrap();
}

#[async_trait]
impl ContractHarness for Harness {
    async fn open(&self) -> Arc<dyn SessionTreeProvider> {
        let settings = MysqlSettings::new(self.database.url());
        let instance = settings.node.instance.clone();
        let provider = MysqlProvider::connect(settings).await.unwrap();
        let dead = self.opened.lock().unwrap().clone();
        provider.instances_died(&dead).await.unwrap();
        self.opened.lock().unwrap().push(instance);
        Arc::new(provider)
    }
}

mod contract {
    use super::Harness;

    netaclaw_session::contract_suite!(Harness::new());
}
