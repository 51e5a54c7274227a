//! The tables as an SQL client sees them, and how they are created.

use super::{Harness, ask, assert_chain, connect, new_session, run};
use netaclaw_session::{
    EntryId, ImportSession, InFlightEntry, SessionError, SessionLog, SessionTreeProvider, raw_json,
};
use netaclaw_store::{MysqlProvider, MysqlSettings};
use serde_json::json;
use sqlx::Row;
use sqlx::mysql::MySqlConnection;
use tokio::task::JoinSet;

/// The rows of a query, columns joined by ` | `.
async fn rows(connection: &mut MySqlConnection, sql: &'static str) -> Vec<String> {
    let rows = sqlx::query(sql).fetch_all(connection).await.unwrap();
    let text = |row: &sqlx::mysql::MySqlRow| {
        let columns = (0..row.len()).map(|at| row.try_get::<Option<String>, _>(at).unwrap());
        let columns: Vec<String> = columns
            .map(|c| c.unwrap_or_else(|| "NULL".to_owned()))
            .collect();
        columns.join(" | ")
    };
    rows.iter().map(text).collect()
}

async fn import(provider: &MysqlProvider, lines: &[&str]) {
    let log = SessionLog::parse(lines.join("\n").into_bytes()).unwrap();
    provider
        .import_session(ImportSession { log, id: None })
        .await
        .unwrap();
}

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv","x":1.0}"#;

#[tokio::test]
async fn tables_read_like_the_log() {
    let harness = Harness::new();
    let provider = harness.provider().await;
    import(
        &provider,
        &[
            HEADER,
            r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hi","n":1.0},"after":1e5}"#,
            r#"{"type":"model_change","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z","provider":"p","modelId":"m"}"#,
            r#"{"type":"compaction","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:03.000Z","summary":"s","firstKeptEntryId":"a","tokensBefore":9,"details":{"z":1,"a":2}}"#,
            r#"{"type":"custom_message","id":"d","parentId":"c","timestamp":"2026-01-01T00:00:04.000Z","customType":"t","content":"look","display":true}"#,
            r#"{"type":"label","id":"e","parentId":"d","timestamp":"2026-01-01T00:00:05.000Z","targetId":"a","label":"here"}"#,
            r#"{"type":"thinking_level_change","id":"a","parentId":"d","timestamp":"2026-01-01T00:00:06.000Z","thinkingLevel":"low"}"#,
        ],
    )
    .await;
    let sql = &mut harness.sql().await;
    assert_eq!(
        rows(sql, "SELECT CAST(entrySeq AS CHAR), entryId, parentEntryId, type, status FROM neta_agent_session_entry ORDER BY entrySeq").await,
        [
            "1 | a#2 | NULL | message | completed",
            "2 | b | a | model_change | completed",
            "3 | c | b | compaction | completed",
            "4 | d | c | custom_message | completed",
            "5 | e | d | label | completed",
            "6 | a | d | thinking_level_change | completed",
        ]
    );
    assert_eq!(
        rows(sql, "SELECT createdAt FROM neta_agent_session_entry WHERE entrySeq IN (1, 6) ORDER BY entrySeq").await,
        ["2026-01-01T00:00:01.000Z", "2026-01-01T00:00:06.000Z"]
    );
    assert_eq!(
        rows(sql, "SELECT message, CAST(messageAt AS CHAR), envelope FROM neta_agent_session_entry WHERE message IS NOT NULL").await,
        [
            r#"{"role":"user","content":"hi","n":1.0} | 92 | {"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":,"after":1e5}"#
        ]
    );
    assert_eq!(
        rows(sql, "SELECT CONCAT_WS(' ', summary, firstKeptEntryId, tokensBefore, thinkingLevel, provider, modelId, customType, data, display, targetEntryId, label, details) FROM neta_agent_session_entry ORDER BY entrySeq").await,
        ["", "p m", r#"s a 9 {"z":1,"a":2}"#, r#"t "look" 1"#, "a here", "low"]
    );
    assert_eq!(
        rows(sql, "SELECT sessionId, provider, rootEntryId, leafEntryId, cwd, status, metadata, createdAt, updatedAt, header, CAST(nextSeq AS CHAR), CAST(messageCount AS CHAR), firstMessage FROM neta_agent_session").await,
        [format!(
            "s | mysql | a | a | /srv | active | {{}} | 2026-01-01T00:00:00.000Z | 2026-01-01T00:00:06.000Z | {HEADER} | 7 | 1 | hi"
        )]
    );
}

#[tokio::test]
async fn an_answer_in_flight_is_written_at_once_and_then_now_and_then() {
    let harness = Harness::new();
    let provider = harness.provider().await;
    let session = new_session(&provider).await;
    let asked = ask(&provider, &session, "question").await.unwrap();
    let stream = async |text: &str| {
        let entry = InFlightEntry {
            id: EntryId::new("cafe0001"),
            parent_id: Some(asked.id().clone()),
            message: raw_json(&json!(text)),
        };
        provider
            .update_in_flight_entry(&session, entry)
            .await
            .unwrap();
    };
    const SELECT: &str = "SELECT status, envelope FROM neta_agent_session_entry WHERE entrySeq < 0";
    let sql = &mut harness.sql().await;
    stream("Once").await;
    let written = rows(sql, SELECT).await;
    assert_eq!(written.len(), 1);
    assert!(
        written[0].starts_with("in_flight | ") && written[0].contains(r#""Once""#),
        "{written:?}"
    );
    // No further update comes, and still the last one is written when it is due.
    stream("Once upon").await;
    stream("Once upon a time").await;
    while !rows(sql, SELECT).await[0].contains("Once upon a time") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_damaged_row_is_reported() {
    let harness = Harness::new();
    let provider = harness.provider().await;
    let session = new_session(&provider).await;
    ask(&provider, &session, "question").await.unwrap();
    run(
        &mut harness.sql().await,
        "UPDATE neta_agent_session_entry SET envelope = 'garbage'",
    )
    .await;
    provider.release(&session).await.unwrap();
    for error in [
        provider.load_tree(&session).await.map(|_| ()).unwrap_err(),
        ask(&provider, &session, "next")
            .await
            .map(|_| ())
            .unwrap_err(),
    ] {
        assert!(matches!(error, SessionError::Unreadable { .. }), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn instances_that_start_together_make_the_tables_once() {
    let harness = Harness::new();
    let mut starting = JoinSet::new();
    for _ in 0..8 {
        let settings = MysqlSettings::new(harness.database.url());
        starting.spawn(async move { MysqlProvider::connect(settings).await.map(|_| ()) });
    }
    for started in starting.join_all().await {
        started.unwrap();
    }
    let applied = "SELECT CAST(version AS CHAR), description FROM neta_agent_session_migration ORDER BY version";
    assert_eq!(
        rows(&mut harness.sql().await, applied).await,
        [
            "1 | session",
            "2 | session entry",
            "3 | node",
            "4 | session owner",
            "5 | entry fence",
            "6 | entry time",
            "7 | session request"
        ]
    );
}

/// Also those that change a table, on any server.
#[tokio::test]
async fn tables_whose_making_was_interrupted_are_finished() {
    let harness = Harness::new();
    let provider = harness.provider().await;
    let session = new_session(&provider).await;
    let entry = ask(&provider, &session, "kept").await.unwrap();
    run(
        &mut harness.sql().await,
        "UPDATE neta_agent_session_migration SET success = FALSE WHERE version >= 2",
    )
    .await;
    let provider = connect(harness.database.url()).await;
    assert_chain(&provider, &session, &[entry]).await;
}
