//! A session without clients is evicted, and a client that joins at that very moment is served.

use netaclaw_protocol::{Disposition, RunState, SessionOpen, Stop};
use netaclaw_testkit::engine::{Act, Client, Server, ann};
use std::time::Duration;

/// When a session is evicted after its last command.
const IDLE: Duration = Duration::from_secs(600);

#[tokio::test(start_paused = true)]
async fn no_client_is_refused_while_a_session_is_evicted() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let client = Client::default();
    let engine = &server.engine;
    let caller = ann();
    let open = || engine.open(&caller, SessionOpen::of(&session), client.subscriber());
    let (_, subscription) = open().await.unwrap();
    server.script.act([Act::Say("1"), Act::End]);
    client.done(1).await;
    engine.close(&session, subscription).await;
    let mut epochs = Vec::new();
    for turn in 0..50 {
        // The last subscriber goes, and the clock of the session begins to run.
        let (opened, subscription) = open().await.unwrap();
        epochs.push(opened.epoch);
        engine.close(&session, subscription).await;
        tokio::time::sleep(IDLE).await;
        // Both are due now; each turn gets a little further before this one asks.
        for _ in 0..turn {
            tokio::task::yield_now().await;
        }
        let state = engine.execute(&ann(), Stop::of(&session)).await.unwrap();
        assert_eq!(state.answer.status, RunState::Idle);
    }
    epochs.dedup();
    assert!(epochs.len() > 1, "it was put away at least once");
    let (client, _) = server.open(&session).await;
    let ack = server.chat(Some(&session), "two").await;
    assert_eq!(ack.disposition, Disposition::Started);
    server.script.act([Act::Say("2"), Act::End]);
    client.done(1).await;
    assert_eq!(server.path(&session).await.last().unwrap(), "assistant: 2");
}
