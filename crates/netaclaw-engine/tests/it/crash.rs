//! What the next process finds.

use crate::support::{Act, Server, ann};
use netaclaw_protocol::{ClarifyResponse, Disposition, RunState, SessionId};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Runs `work` on a server that then dies: its jobs are dropped where they stand and write nothing
/// more.
fn until_it_dies(dir: &Path, work: impl AsyncFnOnce(&Server) -> SessionId) -> SessionId {
    let runtime = runtime();
    let (server, session) = runtime.block_on(async {
        let server = Server::start(dir);
        let session = work(&server).await;
        (server, session)
    });
    // The jobs go first, so that none of them can close anything in good order.
    runtime.shutdown_timeout(Duration::from_secs(5));
    drop(server);
    session
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

#[test]
fn an_interrupted_message_is_marked_and_the_session_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let session = until_it_dies(dir.path(), async |server| {
        server.chat(None, "one").await.session_id
    });
    runtime().block_on(async {
        let server = Server::start(dir.path());
        let (client, opened) = server.open(&session).await;
        assert_eq!(
            opened.snapshot.unwrap().run.status,
            netaclaw_protocol::RunState::Idle
        );
        assert_eq!(
            server.path(&session).await,
            ["user: one", "assistant:  (aborted)"]
        );
        server.script.act([Act::Say("here"), Act::End]);
        assert_eq!(
            server.chat(Some(&session), "two").await.disposition,
            Disposition::Started
        );
        client.done(1).await;
        assert_eq!(
            server.path(&session).await.last().unwrap(),
            "assistant: here"
        );
    });
}

#[test]
fn a_queue_survives_and_runs() {
    let dir = tempfile::tempdir().unwrap();
    let session = until_it_dies(dir.path(), async |server| {
        let session = server.chat(None, "one").await.session_id;
        server.chat(Some(&session), "two").await;
        session
    });
    runtime().block_on(async {
        let server = Server::start(dir.path());
        let (client, _) = server.open(&session).await;
        server.script.act([Act::Say("2"), Act::End]);
        client.done(1).await;
        let path = server.path(&session).await;
        assert_eq!(
            path,
            [
                "user: one",
                "assistant:  (aborted)",
                "user: two",
                "assistant: 2"
            ]
        );
    });
}

#[test]
fn a_question_is_still_open_and_its_answer_goes_on_from_there() {
    let dir = tempfile::tempdir().unwrap();
    let session = until_it_dies(dir.path(), async |server| {
        let session = server.chat(None, "paint it").await.session_id;
        let (client, _) = server.open(&session).await;
        server
            .script
            .act([Act::Call("look"), Act::Ask("Which colour?")]);
        client.wait("clarify_request", |_| true).await;
        session
    });
    runtime().block_on(async {
        let server = Server::start(dir.path());
        let (client, opened) = server.open(&session).await;
        let questions = opened.snapshot.unwrap().questions;
        assert_eq!(questions.len(), 1);
        assert_eq!(questions[0].question, "Which colour?");
        let answer = ClarifyResponse {
            session_id: session.clone(),
            request_id: questions[0].request_id.clone(),
            answer: json!(["red"]),
        };
        server.script.act([Act::Say("painted"), Act::End]);
        server.engine.answer_question(&ann(), answer).await.unwrap();
        client.done(1).await;
        let expected = [
            "user: paint it",
            "assistant: calls look",
            "toolResult: look done",
            "assistant: calls clarify",
            "toolResult: The user answered: red",
            "assistant: painted",
        ];
        assert_eq!(server.path(&session).await, expected);
    });
}

/// Nobody is there any more to run it, so it is closed, and both people and the model are told.
#[test]
fn a_call_that_waited_for_consent_is_closed_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let session = until_it_dies(dir.path(), async |server| {
        let session = server.chat(None, "tidy up").await.session_id;
        let (client, _) = server.open(&session).await;
        server.script.act([Act::NeedConsent("bash")]);
        client.wait("approval_request", |_| true).await;
        session
    });
    runtime().block_on(async {
        let server = Server::start(dir.path());
        let (client, opened) = server.open(&session).await;
        let snapshot = opened.snapshot.unwrap();
        assert!(snapshot.approvals.is_empty() && snapshot.run.status == RunState::Idle);
        server.chat(Some(&session), "go on").await;
        server.script.act([Act::Say("well"), Act::End]);
        client.done(1).await;
        let expected = [
            "user: tidy up",
            "assistant: calls bash",
            "toolResult: Not run: the server stopped before the user decided on this call. If it \
             is still needed, make it again, and the user is asked again.",
            "user: go on",
            "assistant: well",
        ];
        assert_eq!(server.path(&session).await, expected);
    });
}
