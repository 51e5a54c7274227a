//! Snapshots over a database that others change, and that fails.

use super::{Place, new_channel};
use netaclaw_admin::{
    Actor, AdminError, AdminStore, AgentStore, FirstStart, TokenCheck, TokenStore, UserStore,
};
use netaclaw_protocol::{TokenScope, TokenSpec};
use sqlx::{AnyConnection, Connection};
use std::time::{Duration, Instant};

async fn run(connection: &mut AnyConnection, statement: &'static str) {
    sqlx::query(statement).execute(connection).await.unwrap();
}

/// Another program renames an agent and a channel in one transaction, again and again.
async fn an_agent_and_a_channel_change_together(place: Place) {
    let store = place.store().await;
    store.seed(FirstStart::default()).await.unwrap();
    let channel = new_channel(&store, "0").await;
    let agent = store.default_agent().await.unwrap();
    let mut sql = place.sql().await;
    let rename = async |sql: &mut AnyConnection, name: &str| {
        let mut transaction = sql.begin().await.unwrap();
        for (statement, id) in [
            (
                "UPDATE netaclaw_agent SET name = ? WHERE id = ?",
                agent.id.as_str(),
            ),
            (
                "UPDATE netaclaw_channel SET name = ? WHERE id = ?",
                channel.id.as_str(),
            ),
        ] {
            let query = sqlx::query(statement).bind(name).bind(id);
            query.execute(&mut *transaction).await.unwrap();
        }
        let increase = "UPDATE netaclaw_admin_revision SET revision = revision + 1";
        run(&mut transaction, increase).await;
        transaction.commit().await.unwrap();
    };
    rename(&mut sql, "0").await;
    let began = Instant::now();
    let writing = async {
        let mut number = 0;
        while began.elapsed() < Duration::from_secs(2) {
            number += 1;
            rename(&mut sql, &number.to_string()).await;
            tokio::task::yield_now().await;
        }
    };
    let reading = async {
        let mut seen = 0;
        let mut last = None;
        while began.elapsed() < Duration::from_secs(2) {
            let config = store.config_snapshot().await.unwrap();
            let agent = config.agents.iter().find(|known| known.id == agent.id);
            let channel = config.channels.iter().find(|known| known.id == channel.id);
            let names = (&agent.unwrap().spec.name, &channel.unwrap().spec.name);
            assert_eq!(names.0, names.1, "at revision {}", config.revision);
            if last.replace(config.revision) != Some(config.revision) {
                seen += 1;
            }
            tokio::task::yield_now().await;
        }
        assert!(seen > 1, "no change was seen");
    };
    tokio::join!(writing, reading);
}

#[tokio::test]
async fn an_agent_and_a_channel_change_together_in_sqlite() {
    an_agent_and_a_channel_change_together(Place::sqlite()).await;
}

#[tokio::test]
async fn an_agent_and_a_channel_change_together_in_mysql() {
    an_agent_and_a_channel_change_together(Place::mysql()).await;
}

/// What cannot be confirmed does not count: neither a token nor a tool's switch.
async fn nothing_counts_that_cannot_be_confirmed(place: Place) {
    let store = place.store().await;
    store.seed(FirstStart::default()).await.unwrap();
    let user = store.users().await.unwrap().remove(0);
    let spec = TokenSpec {
        user_id: user.id,
        label: "t".to_owned(),
        scope: TokenScope::Full,
        expires_at: None,
    };
    let issued = store.issue_token(&Actor::system(), spec).await.unwrap();
    let checked = store.check_token(&issued.secret).await.unwrap();
    assert!(matches!(checked, TokenCheck::Right(_)), "{checked:?}");
    store.config_snapshot().await.unwrap();

    let mut sql = place.sql().await;
    run(
        &mut sql,
        "ALTER TABLE netaclaw_admin_revision RENAME TO gone",
    )
    .await;
    let lost = Instant::now();
    loop {
        let is_due = lost.elapsed() >= Duration::from_secs(1);
        let config = store.config_snapshot().await.map(drop);
        let checked = store.check_token(&issued.secret).await.map(drop);
        if let (Err(config), Err(checked)) = (config, checked) {
            assert!(matches!(config, AdminError::Store { .. }), "{config}");
            assert!(matches!(checked, AdminError::Store { .. }), "{checked}");
            break;
        }
        assert!(!is_due, "the store is taken for unchanged");
        tokio::task::yield_now().await;
    }

    run(
        &mut sql,
        "ALTER TABLE gone RENAME TO netaclaw_admin_revision",
    )
    .await;
    store.config_snapshot().await.unwrap();
    store.check_token(&issued.secret).await.unwrap();
}

#[tokio::test]
async fn nothing_counts_that_sqlite_cannot_confirm() {
    nothing_counts_that_cannot_be_confirmed(Place::sqlite()).await;
}

#[tokio::test]
async fn nothing_counts_that_mysql_cannot_confirm() {
    nothing_counts_that_cannot_be_confirmed(Place::mysql()).await;
}
