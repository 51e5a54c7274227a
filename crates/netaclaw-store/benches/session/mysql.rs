//! The MySQL provider compared with the maximum of its database: a bare loop of transactions with
//! the same two statements' worth of work.

use crate::report::Report;
use crate::work::{entry, median};
use anyhow::Context as _;
use netaclaw_session::{NewSession, SessionId, SessionTreeProvider};
use netaclaw_store::{MysqlProvider, MysqlSettings, new_entry_id, new_session_id};
use sqlx::{Connection, Executor, MySqlConnection};
use std::time::{Duration, Instant};

const APPENDS: u32 = 3000;

pub(crate) async fn run(server: &str, repeat: usize, report: &mut Report) -> anyhow::Result<()> {
    let database = format!("neta_bench_{}", std::process::id());
    let mut admin = MySqlConnection::connect(server).await?;
    admin
        .execute(sqlx::AssertSqlSafe(format!("CREATE DATABASE {database}")))
        .await?;
    let url = format!("{server}/{database}");
    let measured = measure(&url, repeat, report).await;
    admin
        .execute(sqlx::AssertSqlSafe(format!("DROP DATABASE {database}")))
        .await?;
    measured
}

async fn measure(url: &str, repeat: usize, report: &mut Report) -> anyhow::Result<()> {
    let provider = MysqlProvider::connect(MysqlSettings::new(url)).await?;
    let mut connection = MySqlConnection::connect(url).await?;
    make_bare_tables(&mut connection).await?;
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    let mut session = None;
    for _ in 0..repeat {
        // In turn, so that a slow moment of the machine hits both.
        bare.push(bare_appends(&mut connection).await? / APPENDS);
        let (made, time) = appends(&provider).await?;
        ours.push(time / APPENDS);
        session = Some(made);
    }
    println!("\nMySQL, {APPENDS} entries                 NetaClaw        other    factor");
    report.row(
        APPENDS as usize,
        "append / bare transaction",
        median(ours),
        median(bare),
    );
    let session = session.context("at least one repeat")?;
    let mut opens = Vec::new();
    for _ in 0..repeat {
        provider.release(&session).await?;
        let start = Instant::now();
        provider.load_tree(&session).await?;
        opens.push(start.elapsed());
    }
    let mut forks = Vec::new();
    for _ in 0..repeat {
        let leaf = provider
            .load_tree(&session)
            .await?
            .leaf()
            .cloned()
            .context("a leaf")?;
        let start = Instant::now();
        let fork = new_session_id();
        provider
            .create_branched_session(&session, &leaf, fork)
            .await?;
        forks.push(start.elapsed());
    }
    report.alone(APPENDS as usize, "open", median(opens));
    report.alone(APPENDS as usize, "fork path", median(forks));
    Ok(())
}

async fn make_bare_tables(connection: &mut MySqlConnection) -> anyhow::Result<()> {
    connection
        .execute("CREATE TABLE bare_session (id VARCHAR(36) PRIMARY KEY, leaf VARCHAR(36), seq BIGINT NOT NULL)")
        .await?;
    connection
        .execute(
            "CREATE TABLE bare_entry (session VARCHAR(36), seq BIGINT, id VARCHAR(36), body LONGTEXT, \
             PRIMARY KEY (session, seq), UNIQUE KEY (session, id))",
        )
        .await?;
    connection
        .execute("INSERT INTO bare_session VALUES ('s', NULL, 0)")
        .await?;
    Ok(())
}

async fn bare_appends(connection: &mut MySqlConnection) -> anyhow::Result<Duration> {
    connection.execute("DELETE FROM bare_entry").await?;
    let bodies: Vec<String> = (0..APPENDS as usize).map(body).collect();
    let start = Instant::now();
    for (seq, body) in bodies.iter().enumerate() {
        let id = new_entry_id();
        let mut transaction = connection.begin().await?;
        sqlx::query("UPDATE bare_session SET leaf = ?, seq = seq + 1 WHERE id = 's'")
            .bind(id.as_str())
            .execute(&mut *transaction)
            .await?;
        sqlx::query("INSERT INTO bare_entry (session, seq, id, body) VALUES ('s', ?, ?, ?)")
            .bind(seq as i64)
            .bind(id.as_str())
            .bind(body)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
    }
    Ok(start.elapsed())
}

fn body(at: usize) -> String {
    let new = entry(at);
    netaclaw_session::encode_entry(&new.body, &new_entry_id(), None, "2026-01-01T00:00:00.000Z")
        .json()
        .to_owned()
}

async fn appends(provider: &MysqlProvider) -> anyhow::Result<(SessionId, Duration)> {
    let new = NewSession {
        cwd: "/srv/bench".to_owned(),
        ..NewSession::default()
    };
    let session = provider.create_session(new).await?.session_id;
    let work: Vec<_> = (0..APPENDS as usize).map(entry).collect();
    let start = Instant::now();
    for new in work {
        provider.append_entry(&session, new).await?;
    }
    Ok((session, start.elapsed()))
}
