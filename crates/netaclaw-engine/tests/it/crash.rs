//! What the next process finds.

use netaclaw_engine::EngineError;
use netaclaw_protocol::{
    ApprovalDecision, ApprovalResponse, ClarifyResponse, Conflict, Disposition, NotFound, RunState,
    SessionId, Stop,
};
use netaclaw_testkit::engine::{Act, Server, ann};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Runs `work` on a server that then dies: its tasks are dropped where they are and write nothing
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

/// A run that had called its tools and made no further request has no ending either.
#[test]
fn what_is_interrupted_behind_its_tools_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let session = until_it_dies(dir.path(), async |server| {
        let session = server.chat(None, "one").await.session_id;
        let (client, _) = server.open(&session).await;
        server.script.act([Act::Call("look")]);
        let result = |data: &serde_json::Value| data["entry"]["message"]["role"] == "toolResult";
        client.wait("session_entry_added", result).await;
        session
    });
    runtime().block_on(async {
        // Twice: what is closed stays as it is.
        for _ in 0..2 {
            let server = Server::start(dir.path());
            let (_, opened) = server.open(&session).await;
            let expected = [
                "user: one",
                "assistant: calls look",
                "toolResult: look done",
                "assistant:  (aborted)",
            ];
            assert_eq!(server.path(&session).await, expected);
            let entries = opened.snapshot.unwrap().entries;
            let last: serde_json::Value = serde_json::from_str(entries[3].get()).unwrap();
            assert_eq!(last["message"]["trouble"]["kind"], "interrupted");
            server.engine.shut_down(Duration::from_secs(3600)).await;
        }
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
        server.engine.execute(&ann(), answer).await.unwrap();
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

#[test]
fn the_time_of_a_question_runs_on_without_its_server() {
    let dir = tempfile::tempdir().unwrap();
    let session = until_it_dies(dir.path(), async |server| {
        server.script.ask_for(Duration::from_secs(3));
        let session = server.chat(None, "paint it").await.session_id;
        let (client, _) = server.open(&session).await;
        server.script.act([Act::Ask("Which colour?")]);
        client.wait("clarify_request", |_| true).await;
        session
    });
    runtime().block_on(async {
        let server = Server::start(dir.path());
        let (client, _) = server.open(&session).await;
        server.script.act([Act::Say("left as it is"), Act::End]);
        client.done(1).await;
        let path = server.path(&session).await;
        assert!(path[2].starts_with("toolResult: ") && path[2].contains("Do not assume"));
        assert_eq!(path[3..], ["assistant: left as it is"]);
    });
}

/// A server that died while a user was asked to approve `bash`.
fn died_asking(dir: &Path) -> SessionId {
    until_it_dies(dir, async |server| {
        let session = server.chat(None, "tidy up").await.session_id;
        let (client, _) = server.open(&session).await;
        server.script.act([Act::NeedConsent("bash")]);
        client.wait("approval_request", |_| true).await;
        session
    })
}

fn decision(
    session: &SessionId,
    approval_id: &str,
    decision: ApprovalDecision,
) -> ApprovalResponse {
    ApprovalResponse {
        session_id: session.clone(),
        approval_id: approval_id.to_owned(),
        decision,
        remember: false,
        grant: None,
        reason: None,
    }
}

#[test]
fn a_call_still_waits_for_consent_and_runs_once_it_is_given() {
    let dir = tempfile::tempdir().unwrap();
    let session = died_asking(dir.path());
    runtime().block_on(async {
        let server = Server::start(dir.path());
        let (client, opened) = server.open(&session).await;
        let snapshot = opened.snapshot.unwrap();
        assert_eq!(snapshot.run.status, RunState::Idle);
        assert_eq!(snapshot.approvals[0].tool_name, "bash");
        let id = &snapshot.approvals[0].approval_id;
        let allow = decision(&session, id, ApprovalDecision::Allow);
        server.engine.execute(&ann(), allow.clone()).await.unwrap();
        server.script.act([Act::NeedConsent("bash")]);
        // The same call once more: the approval was for one time.
        let again = client.wait("approval_request", |data| data["approvalId"] != id.as_str());
        let again = again.await["data"]["approvalId"].clone();
        let late = server.engine.execute(&ann(), allow).await.unwrap_err();
        assert!(
            matches!(late, EngineError::Conflict(Conflict::CallAllowed)),
            "{late}"
        );
        let deny = decision(&session, again.as_str().unwrap(), ApprovalDecision::Deny);
        server.engine.execute(&ann(), deny.clone()).await.unwrap();
        server.script.act([Act::Say("tidy"), Act::End]);
        client.done(1).await;
        let expected = [
            "user: tidy up",
            "assistant: calls bash",
            "toolResult: Given",
            "assistant: calls bash",
            "toolResult: Refused { reason: None }",
            "assistant: tidy",
        ];
        assert_eq!(server.path(&session).await, expected);
        // Also when its run has ended.
        let late = server.engine.execute(&ann(), deny).await.unwrap_err();
        assert!(
            matches!(late, EngineError::Conflict(Conflict::CallDenied)),
            "{late}"
        );
    });
}

#[test]
fn a_call_that_was_refused_after_a_restart_does_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let session = died_asking(dir.path());
    runtime().block_on(async {
        let server = Server::start(dir.path());
        let (client, opened) = server.open(&session).await;
        let id = opened.snapshot.unwrap().approvals[0].approval_id.clone();
        let deny = ApprovalResponse {
            reason: Some("not today".to_owned()),
            ..decision(&session, &id, ApprovalDecision::Deny)
        };
        server.engine.execute(&ann(), deny).await.unwrap();
        server.script.act([Act::Say("well"), Act::End]);
        client.done(1).await;
        let expected = [
            "user: tidy up",
            "assistant: calls bash",
            "toolResult: The user denied the call of `bash`: not today",
            "assistant: well",
        ];
        assert_eq!(server.path(&session).await, expected);
    });
}

#[test]
fn who_goes_on_without_deciding_on_a_call_has_it_closed() {
    let dir = tempfile::tempdir().unwrap();
    let session = died_asking(dir.path());
    runtime().block_on(async {
        let server = Server::start(dir.path());
        let (client, opened) = server.open(&session).await;
        let id = opened.snapshot.unwrap().approvals[0].approval_id.clone();
        server.chat(Some(&session), "go on").await;
        let closed = client.wait("approval_decided", |_| true).await;
        assert_eq!(closed["data"]["outcome"], "closed");
        server.script.act([Act::Say("well"), Act::End]);
        client.done(1).await;
        let expected = [
            "user: tidy up",
            "assistant: calls bash",
            "toolResult: Not run: the user continued without deciding about this call. If it is still needed, make it again; the user is then asked again.",
            "user: go on",
            "assistant: well",
        ];
        assert_eq!(server.path(&session).await, expected);
        let late = decision(&session, &id, ApprovalDecision::Allow);
        let late = server.engine.execute(&ann(), late).await.unwrap_err();
        assert!(
            matches!(late, EngineError::NotFound(NotFound::ApprovalNotOpen)),
            "{late}"
        );
    });
}

/// An orderly restart leaves what waits for a user as a crash does.
#[test]
fn what_waits_for_a_person_survives_an_orderly_end() {
    let acts = [Act::Ask("Which colour?"), Act::NeedConsent("bash")];
    for (act, event) in acts
        .into_iter()
        .zip(["clarify_request", "approval_request"])
    {
        let dir = tempfile::tempdir().unwrap();
        let session = runtime().block_on(async {
            let server = Server::start(dir.path());
            let session = server.chat(None, "paint it").await.session_id;
            let (client, _) = server.open(&session).await;
            server.script.act([act]);
            client.wait(event, |_| true).await;
            // Nothing else runs, so nothing waits for the end of this time.
            server.engine.shut_down(Duration::from_secs(3600)).await;
            session
        });
        runtime().block_on(async {
            let server = Server::start(dir.path());
            let (client, opened) = server.open(&session).await;
            let snapshot = opened.snapshot.unwrap();
            assert_eq!(snapshot.questions.len() + snapshot.approvals.len(), 1);
            assert_eq!(snapshot.run.status, RunState::Idle);
            server
                .engine
                .execute(&ann(), Stop::of(&session))
                .await
                .unwrap();
            server.script.act([Act::Say("here"), Act::End]);
            server.chat(Some(&session), "go on").await;
            client.done(1).await;
        });
    }
}
