//! The tables: the same on both databases, and brought up to date from any state.

use super::Place;
use netaclaw_admin::{AdminStore, AgentStore, FirstStart};
use sqlx::AnyConnection;

async fn run(connection: &mut AnyConnection, statement: &'static str) {
    sqlx::query(statement).execute(connection).await.unwrap();
}

async fn versions(place: &Place) -> Vec<i64> {
    let select = "SELECT version FROM netaclaw_admin_migration ORDER BY version";
    let mut sql = place.sql().await;
    sqlx::query_scalar(select)
        .fetch_all(&mut sql)
        .await
        .unwrap()
}

async fn opening_again_changes_no_tables(place: Place) {
    let store = place.store().await;
    store.seed(FirstStart::default()).await.unwrap();
    let before = versions(&place).await;
    assert!(before.len() >= 8);
    let agents = store.agents().await.unwrap();
    let again = place.store().await;
    assert_eq!(versions(&place).await, before);
    assert_eq!(again.agents().await.unwrap(), agents);
}

#[tokio::test]
async fn opening_sqlite_again_changes_no_tables() {
    opening_again_changes_no_tables(Place::sqlite()).await;
}

#[tokio::test]
async fn opening_mysql_again_changes_no_tables() {
    opening_again_changes_no_tables(Place::mysql()).await;
}

/// As if a process had died between making a table and writing that down.
#[tokio::test]
async fn a_migration_that_was_cut_off_in_mysql_is_finished() {
    let place = Place::mysql();
    let store = place.store().await;
    store.seed(FirstStart::default()).await.unwrap();
    let before = versions(&place).await;
    let mut connection = place.sql().await;
    run(
        &mut connection,
        "UPDATE netaclaw_admin_migration SET success = FALSE WHERE version = 9",
    )
    .await;
    run(
        &mut connection,
        "DELETE FROM netaclaw_admin_migration WHERE version > 9",
    )
    .await;
    let again = place.store().await;
    assert_eq!(versions(&place).await, before);
    assert_eq!(again.agents().await.unwrap().len(), 1);
    let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM netaclaw_admin_writer")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(rows, 1);
}

/// An unreadable agent stops only its own sessions.
#[tokio::test]
async fn an_agent_that_cannot_be_read_is_the_only_one_that_cannot_run() {
    let place = Place::sqlite();
    let store = place.store().await;
    store.seed(FirstStart::default()).await.unwrap();
    let mut sql = place.sql().await;
    let insert = "INSERT INTO netaclaw_agent \
         (id, name, isDefault, data, rev, createdAt, updatedAt) VALUES ('x', 'odd', 0, '{', 1, 1, 1)";
    run(&mut sql, insert).await;
    let config = store.config_snapshot().await.unwrap();
    assert!(config.agent(None).unwrap().spec.is_default);
    for wanted in ["x", "odd"] {
        let error = config.agent(Some(wanted)).unwrap_err().to_string();
        assert!(error.contains("\"odd\" cannot be read"), "{error}");
    }
}

/// A newer program has been here; an older one must not guess.
#[tokio::test]
async fn a_database_of_a_newer_version_is_not_opened() {
    let place = Place::sqlite();
    place.store().await;
    let insert = "INSERT INTO netaclaw_admin_migration \
         (version, description, success, checksum, execution_time) VALUES (99, 'later', 1, X'00', 0)";
    run(&mut place.sql().await, insert).await;
    let opened = netaclaw_store::SqlAdminStore::open(netaclaw_store::AdminSettings {
        database: place.database(),
        secret_key: super::secret_key("00"),
    });
    let error = opened.await.err().unwrap().to_string();
    assert!(error.contains("99"), "{error}");
}

#[tokio::test]
async fn sqlite_writes_ahead() {
    let place = Place::sqlite();
    place.store().await;
    let mut connection = place.sql().await;
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(mode, "wal");
}

async fn a_store_without_its_users_does_not_answer(place: Place) {
    let store = place.store().await;
    store.seed(FirstStart::default()).await.unwrap();
    store.ping().await.unwrap();
    let mut sql = place.sql().await;
    run(&mut sql, "ALTER TABLE netaclaw_user RENAME TO gone").await;
    let error = store.ping().await.unwrap_err();
    assert!(error.to_string().contains("netaclaw_user"), "{error}");
}

#[tokio::test]
async fn a_damaged_sqlite_store_does_not_answer() {
    a_store_without_its_users_does_not_answer(Place::sqlite()).await;
}

#[tokio::test]
async fn a_damaged_mysql_store_does_not_answer() {
    a_store_without_its_users_does_not_answer(Place::mysql()).await;
}
