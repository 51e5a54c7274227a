//! Deadlocks, killed connections, a server that goes away, and the errors about them.

use super::{Harness, ask, assert_chain, connect, new_session, run};
use netaclaw_session::{SessionError, SessionTreeProvider};
use netaclaw_store::{MysqlProvider, MysqlSettings};
use netaclaw_testkit::MariaDb;
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Executor, Row};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Waits until an append in this database waits for a lock, and gives its connection's id.
async fn blocked(connection: &mut MySqlConnection) -> i64 {
    // The table of transactions would be easier to read, but it is a copy that is not refreshed
    // while it is being read.
    const RUNNING: &str = "SELECT id FROM information_schema.processlist \
         WHERE db = DATABASE() AND info LIKE 'UPDATE neta_agent_session SET leafEntryId%'";
    loop {
        let running: Option<i64> = sqlx::query_scalar(RUNNING)
            .fetch_optional(&mut *connection)
            .await
            .unwrap();
        let status = sqlx::query("SHOW ENGINE INNODB STATUS")
            .fetch_one(&mut *connection)
            .await
            .unwrap();
        let status: String = status.get(2);
        let waits = |id: &i64| {
            let thread = format!("thread id {id},");
            let mut transactions = status.split("---TRANSACTION");
            transactions.any(|text| text.contains("LOCK WAIT") && text.contains(&thread))
        };
        match running.filter(waits) {
            Some(id) => return id,
            None => tokio::task::yield_now().await,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_whose_connection_is_killed_in_mid_transaction_is_written_once() {
    let harness = Harness::new();
    let provider = harness.provider().await;
    let session = new_session(&provider).await;
    let first = ask(&provider, &session, "first").await.unwrap();
    let (mut other, mut watch) = (harness.sql().await, harness.sql().await);
    run(&mut other, "BEGIN").await;
    run(&mut other, "SELECT * FROM neta_agent_session FOR UPDATE").await;
    let append = {
        let (provider, session) = (Arc::clone(&provider), session.clone());
        tokio::spawn(async move { ask(&provider, &session, "second").await })
    };
    let victim = blocked(&mut watch).await;
    watch
        .execute(AssertSqlSafe(format!("KILL CONNECTION {victim}")))
        .await
        .unwrap();
    run(&mut other, "ROLLBACK").await;
    let second = append.await.unwrap().unwrap();
    assert_chain(&provider, &session, &[first, second]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_that_loses_a_deadlock_is_written_once() {
    let harness = Harness::new();
    let provider = harness.provider().await;
    let session = new_session(&provider).await;
    let first = ask(&provider, &session, "first").await.unwrap();
    let (mut other, mut watch) = (harness.sql().await, harness.sql().await);
    // Having changed more than the append, this transaction is the one the server spares.
    run(&mut other, "BEGIN").await;
    run(
        &mut other,
        "INSERT INTO neta_agent_session (sessionId, cwd, metadata, createdAt, updatedAt, header, nextSeq) \
         VALUES ('x', '', '{}', '', '', '{}', 1), ('y', '', '{}', '', '', '{}', 1)",
    )
    .await;
    run(
        &mut other,
        "SELECT * FROM neta_agent_session LOCK IN SHARE MODE",
    )
    .await;
    let append = {
        let (provider, session) = (Arc::clone(&provider), session.clone());
        tokio::spawn(async move { ask(&provider, &session, "second").await })
    };
    blocked(&mut watch).await;
    let before = deadlocks(&mut watch).await;
    run(
        &mut other,
        "UPDATE neta_agent_session SET cwd = '/elsewhere'",
    )
    .await;
    assert!(deadlocks(&mut watch).await > before);
    run(&mut other, "ROLLBACK").await;
    let second = append.await.unwrap().unwrap();
    assert_chain(&provider, &session, &[first, second]).await;
}

async fn deadlocks(connection: &mut MySqlConnection) -> u64 {
    const SELECT: &str = "SELECT CAST(variable_value AS UNSIGNED) FROM information_schema.global_status \
         WHERE variable_name = 'Innodb_deadlocks'";
    sqlx::query_scalar(SELECT)
        .fetch_one(connection)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_whose_commit_was_not_answered_is_written_once() {
    let harness = Harness::new();
    let proxy = Proxy::to(&harness.database.url());
    let provider = connect(proxy.url.clone()).await;
    let session = new_session(&provider).await;
    let mut expected = vec![ask(&provider, &session, "before").await.unwrap()];
    for text in ["first", "second"] {
        proxy.swallow_next_commit();
        expected.push(ask(&provider, &session, text).await.unwrap());
        assert!(proxy.has_swallowed());
        assert_chain(&provider, &session, &expected).await;
    }
    // A session that was created without an answer exists once as well.
    proxy.swallow_next_commit();
    let made = new_session(&provider).await;
    assert!(proxy.has_swallowed());
    assert_eq!(provider.list_entries(&made).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_killed_and_started_again_has_every_acknowledged_append() {
    let mut server = MariaDb::start_private().unwrap();
    let database = server.fresh_database().unwrap();
    let provider = connect(database.url()).await;
    let session = new_session(&provider).await;
    let mut expected = Vec::new();
    for round in 0..3 {
        for turn in 0..3 {
            let text = format!("{round}/{turn}");
            expected.push(ask(&provider, &session, &text).await.unwrap());
        }
        server.kill().unwrap();
        server.restart().unwrap();
        assert_chain(&provider, &session, &expected).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_down_is_named_with_advice_and_without_a_password() {
    let mut server = MariaDb::start_private().unwrap();
    let database = server.fresh_database().unwrap();
    let provider = connect(database.url()).await;
    let session = new_session(&provider).await;
    server.kill().unwrap();
    let advice = "start the server, or correct the database URL";
    check_error(ask(&provider, &session, "lost").await, advice);
    check_error(provider.load_tree(&session).await, advice);
    check_error(refused(database.url()).await, advice);
    server.restart().unwrap();
    let entry = ask(&provider, &session, "found").await.unwrap();
    assert_chain(&provider, &session, &[entry]).await;
}

#[tokio::test]
async fn errors_of_a_database_url_do_not_contain_its_password() {
    let harness = Harness::new();
    let url = harness.database.url();
    let wrong_password = url.replacen(":neta@", ":secret@", 1);
    check_error(
        refused(wrong_password).await,
        "check the user, password and privileges",
    );
    let unknown = url.replace(harness.database.name(), "neta_no_such_database");
    check_error(refused(unknown).await, "create it, with CREATE DATABASE");
    let nowhere = url.rsplit_once('/').unwrap().0.to_owned();
    check_error(refused(nowhere).await, "names no database");
    for bad in [
        "",
        "secret",
        "postgres://neta:secret@h/d",
        "mysql://neta:secret@h:port/d",
    ] {
        check_error(
            refused(bad.to_owned()).await,
            "it must be mysql://user:password@host:port/database",
        );
    }
    let shown = format!("{:?}", MysqlSettings::new("mysql://neta:secret@h/d"));
    assert!(!shown.contains("secret"), "{shown}");
}

async fn refused(url: String) -> Result<(), SessionError> {
    MysqlProvider::connect(MysqlSettings::new(url))
        .await
        .map(|_| ())
}

#[track_caller]
fn check_error<T>(result: Result<T, SessionError>, advice: &str) {
    let error = result.err().expect("this cannot work");
    let text = format!("{error} {error:?}");
    assert!(text.contains(advice), "{text}");
    assert!(
        !text.contains(":neta@") && !text.contains("secret"),
        "{text}"
    );
}

/// Stands between the provider and the server, and can keep the answer to a commit for itself.
struct Proxy {
    url: String,
    swallow: Arc<AtomicBool>,
}

impl Proxy {
    fn to(url: &str) -> Self {
        let (rest, database) = url.rsplit_once('/').unwrap();
        let (who, server) = rest.rsplit_once('@').unwrap();
        let server: SocketAddr = server.parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{who}@{}/{database}", listener.local_addr().unwrap());
        let swallow = Arc::new(AtomicBool::new(false));
        let armed = Arc::clone(&swallow);
        // Ends with the test's process.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                relay(client.unwrap(), TcpStream::connect(server).unwrap(), &armed);
            }
        });
        Self { url, swallow }
    }

    fn swallow_next_commit(&self) {
        self.swallow.store(true, Ordering::SeqCst);
    }

    fn has_swallowed(&self) -> bool {
        !self.swallow.load(Ordering::SeqCst)
    }
}

fn relay(client: TcpStream, server: TcpStream, armed: &Arc<AtomicBool>) {
    let cut = Arc::new(AtomicBool::new(false));
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (armed, cutting) = (Arc::clone(armed), Arc::clone(&cut));
    std::thread::spawn(move || {
        let mut buffer = [0; 1 << 16];
        while let Ok(read @ 1..) = from_client.read(&mut buffer) {
            let is_commit = buffer[..read].ends_with(b"\x03COMMIT");
            if is_commit && armed.swap(false, Ordering::SeqCst) {
                cutting.store(true, Ordering::SeqCst);
            }
            if to_server.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        to_server.shutdown(Shutdown::Both).unwrap_or_default();
    });
    let (mut from_server, mut to_client) = (server, client);
    std::thread::spawn(move || {
        let mut buffer = [0; 1 << 16];
        while let Ok(read @ 1..) = from_server.read(&mut buffer) {
            // The server has answered, so it has committed.
            let keep = cut.load(Ordering::SeqCst);
            if keep || to_client.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        to_client.shutdown(Shutdown::Both).unwrap_or_default();
    });
}
