//! Starting: alone, again, together, and where it cannot work.

use super::{Place, new_channel, secret_key};
use futures::future::join_all;
use netaclaw_admin::{AdminStore, AgentStore, ChannelStore, FirstStart, Seeded};
use netaclaw_store::{AdminDatabase, AdminSettings, SqlAdminStore};
use netaclaw_testkit::MariaDb;

async fn open(database: AdminDatabase) -> Result<SqlAdminStore, String> {
    let opened = SqlAdminStore::open(AdminSettings {
        database,
        secret_key: secret_key("00"),
    });
    opened.await.map_err(|error| error.to_string())
}

/// Many starters on an empty database, each with its own connections, as processes have.
async fn all_who_start_at_once_get_the_same(place: Place) {
    let starters = (0..8).map(|_| {
        let database = place.database();
        tokio::spawn(async move {
            let store = open(database).await.unwrap();
            store.seed(FirstStart::default()).await.unwrap()
        })
    });
    let outcomes = join_all(starters).await;
    let now = outcomes
        .into_iter()
        .filter(|o| *o.as_ref().unwrap() == Seeded::Now);
    assert_eq!(now.count(), 1);
    let store = place.store().await;
    assert_eq!(store.agents().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_who_start_at_once_on_sqlite_get_the_same() {
    all_who_start_at_once_get_the_same(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_who_start_at_once_on_mysql_get_the_same() {
    all_who_start_at_once_get_the_same(Place::mysql()).await;
}

#[tokio::test]
async fn a_directory_may_have_any_name() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("a b%41?#é").join("数据");
    let file = deep.join("..").join("数据").join("netaclaw.db");
    let database = AdminDatabase::Sqlite { file };
    let store = open(database.clone()).await.unwrap();
    new_channel(&store, "c").await;
    store.close().await;
    assert!(deep.join("netaclaw.db").is_file());
    let store = open(database).await.unwrap();
    assert_eq!(store.channels().await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_no_database_is_left_alone() {
    let place = Place::sqlite();
    std::fs::write(
        place.file(),
        "my diary, not a database at all, and long enough",
    )
    .unwrap();
    let error = open(place.database()).await.err().unwrap();
    assert!(
        error.contains("netaclaw.db") && error.contains("not a database"),
        "{error}"
    );
    let kept = std::fs::read_to_string(place.file()).unwrap();
    assert!(kept.starts_with("my diary"));
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_is_named_without_its_password() {
    for (url, part) in [
        (
            "mysql://neta:s3cret@127.0.0.1:1/neta",
            "database neta at 127.0.0.1:1",
        ),
        (
            "mysql://neta:s3cret@127.0.0.1:1",
            "does not name a database",
        ),
        (
            "mysql://neta:s3%cret@127.0.0.1:port/neta",
            "percent-encoded",
        ),
        ("postgres://neta:s3cret@127.0.0.1/neta", "mysql://"),
    ] {
        let url = url.to_owned();
        let database = AdminDatabase::Mysql { url };
        assert!(!format!("{database:?}").contains("s3cret"));
        let error = open(database).await.err().unwrap();
        assert!(error.contains(part) && !error.contains("s3cret"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_was_restarted_is_found_again() {
    let mut server = MariaDb::start_private().unwrap();
    let database = server.fresh_database().unwrap();
    let url = database.url();
    let store = open(AdminDatabase::Mysql { url }).await.unwrap();
    let made = new_channel(&store, "c").await;
    server.kill().unwrap();
    server.restart().unwrap();
    assert_eq!(store.channels().await.unwrap(), [made]);
    new_channel(&store, "d").await;
}
