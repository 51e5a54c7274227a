//! Requests are known again by the next process.

use netaclaw_engine::EngineError;
use netaclaw_protocol::{
    Ack, Chat, ChatAck, Disposition, EntryId, Fork, QueueChange, QueueEdit, Rename, SessionId,
    SessionListItem,
};
use netaclaw_session::{PageRequest, SessionFilter, SessionPatch};
use netaclaw_testkit::engine::{Act, Server, ann};
use std::path::Path;
use std::time::Duration;

/// Runs `work` on a server, and then again on the next one over the same files.
async fn twice<T>(dir: &Path, work: impl AsyncFn(&Server) -> T) -> [T; 2] {
    let server = Server::start(dir);
    let first = work(&server).await;
    server.engine.shut_down(Duration::from_secs(5)).await;
    drop(server);
    let server = Server::start(dir);
    let second = work(&server).await;
    server.engine.shut_down(Duration::from_secs(5)).await;
    [first, second]
}

/// A session with one answered message.
async fn session(dir: &Path) -> (SessionId, EntryId) {
    let server = Server::start(dir);
    let ack = server.chat(None, "one").await;
    let (client, _) = server.open(&ack.session_id).await;
    server.script.act([Act::Say("1"), Act::End]);
    client.done(1).await;
    server.engine.shut_down(Duration::from_secs(5)).await;
    (ack.session_id, ack.entry_id.unwrap())
}

fn message(session: &SessionId, text: &str) -> Chat {
    Chat {
        session_id: Some(session.clone()),
        content: text.to_owned(),
        request_id: Some(format!("request of {text}")),
        ..Chat::default()
    }
}

fn request(id: &str) -> Option<String> {
    Some(id.to_owned())
}

#[tokio::test]
async fn a_rename_and_a_fork_have_one_effect() {
    let dir = tempfile::tempdir().unwrap();
    let (id, entry) = session(dir.path()).await;
    let [first, second] = twice(dir.path(), async |server| {
        let (engine, ann) = (&server.engine, ann());
        let rename = |title: &str| Rename {
            session_id: id.clone(),
            title: title.to_owned(),
            request_id: request("r"),
        };
        let renamed = engine.execute(&ann, rename("New")).await.unwrap();
        let fork = Fork {
            session_id: id.clone(),
            entry_id: entry.clone(),
            request_id: request("f"),
        };
        let forked = engine.execute(&ann, fork).await.unwrap();
        let other = engine.execute(&ann, rename("Other")).await;
        assert!(matches!(other, Err(EngineError::Conflict(_))), "{other:?}");
        let told = |item: &SessionListItem| {
            let session = &item.session;
            (session.session_id.clone(), session.title.clone())
        };
        (
            (told(&renamed.answer.session), renamed.deduped),
            (told(&forked.answer.session), forked.deduped),
        )
    })
    .await;
    assert_eq!((first.0.0, first.1.0), (second.0.0.clone(), second.1.0));
    assert_eq!((first.0.1, first.1.1), (false, false));
    assert_eq!((second.0.1, second.1.1), (true, true));
    assert_eq!(second.0.0.1.as_deref(), Some("New"));
}

/// The first process dies between creating the fork and storing that it did. The next one can
/// recognize it only by its name.
#[tokio::test]
async fn a_fork_that_was_made_and_not_noted_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let (id, entry) = session(dir.path()).await;
    let server = Server::start(dir.path());
    let fork = async |server: &Server, name: &str| {
        let (engine, ann) = (&server.engine, ann());
        let forked = engine
            .execute(
                &ann,
                Fork {
                    session_id: id.clone(),
                    entry_id: entry.clone(),
                    request_id: request(name),
                },
            )
            .await;
        forked.unwrap().answer.session_id
    };
    let first = fork(&server, "f").await;
    let other = fork(&server, "g").await;
    assert_ne!(first, other);
    server.engine.shut_down(Duration::from_secs(5)).await;
    drop(server);

    let provider = Server::start(dir.path()).engine.providers().file.clone();
    let forgotten = SessionPatch {
        metadata: Some(serde_json::Map::new()),
        ..SessionPatch::default()
    };
    provider.update_session(&id, forgotten).await.unwrap();
    provider.release(&id).await.unwrap();
    let server = Server::start(dir.path());
    assert_eq!(fork(&server, "f").await, first);
    let (all, page) = (SessionFilter::default(), PageRequest::default());
    let all = server.engine.providers().file.list_sessions(&all, page);
    assert_eq!(all.await.unwrap().total, 3);
}

#[tokio::test]
async fn a_message_that_was_taken_out_of_the_queue_does_not_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let (id, _) = session(dir.path()).await;
    let server = Server::start(dir.path());
    server.send(message(&id, "two")).await.unwrap();
    let waits = server.send(message(&id, "three")).await.unwrap();
    let stays = server.send(message(&id, "four")).await.unwrap();
    let remove = QueueChange::Remove {
        item_id: waits.answer.item_id.clone().unwrap(),
    };
    let removed = server
        .engine
        .execute(
            &ann(),
            QueueEdit {
                session_id: id.clone(),
                change: remove.clone(),
                request_id: request("q"),
            },
        )
        .await
        .unwrap();
    assert_eq!(removed.answer.queue.items.len(), 1);
    server.engine.shut_down(Duration::ZERO).await;
    drop(server);

    let server = Server::start(dir.path());
    let again = |ack: Ack<ChatAck>| {
        Ack::deduped(ChatAck {
            run_id: None,
            ..ack.answer
        })
    };
    for (text, ack) in [("three", waits), ("four", stays)] {
        let repeated = server.send(message(&id, text)).await.unwrap();
        let repeated = repeated.map(|ack| ChatAck {
            entry_id: None,
            ..ack
        });
        assert_eq!(repeated, again(ack), "{text}");
    }
    let repeated = server
        .engine
        .execute(
            &ann(),
            QueueEdit {
                session_id: id.clone(),
                change: remove,
                request_id: request("q"),
            },
        )
        .await
        .unwrap();
    assert!(repeated.deduped);
    let (client, _) = server.open(&id).await;
    server.script.act([Act::Say("4"), Act::End]);
    client.done(1).await;
    let path = server.path(&id).await;
    let count = |text: &str| path.iter().filter(|known| *known == text).count();
    assert_eq!(
        (
            count("user: two"),
            count("user: three"),
            count("user: four")
        ),
        (1, 0, 1),
        "{path:?}"
    );
}

#[tokio::test]
async fn words_that_answered_a_question_are_not_said_again() {
    let dir = tempfile::tempdir().unwrap();
    let (id, _) = session(dir.path()).await;
    let server = Server::start(dir.path());
    server.send(message(&id, "paint it")).await.unwrap();
    let (client, _) = server.open(&id).await;
    server.script.act([Act::Ask("Which colour?")]);
    client.wait("clarify_request", |_| true).await;
    let answered = server.send(message(&id, "red")).await.unwrap();
    assert_eq!(answered.answer.disposition, Disposition::AnsweredClarify);
    server.script.act([Act::Say("painted"), Act::End]);
    client.done(1).await;
    let before = server.path(&id).await;
    server.engine.shut_down(Duration::from_secs(5)).await;
    drop(server);

    let server = Server::start(dir.path());
    let again = server.send(message(&id, "red")).await.unwrap();
    assert_eq!(again.answer.disposition, Disposition::AnsweredClarify);
    assert!(again.deduped);
    assert_eq!(server.path(&id).await, before);
}

#[tokio::test]
async fn a_fork_takes_nothing_along_that_is_under_way() {
    let dir = tempfile::tempdir().unwrap();
    let (id, entry) = session(dir.path()).await;
    let server = Server::start(dir.path());
    server.chat(Some(&id), "two").await;
    server.chat(Some(&id), "three").await;
    let forked = server
        .engine
        .execute(
            &ann(),
            Fork {
                session_id: id.clone(),
                entry_id: entry,
                request_id: None,
            },
        )
        .await
        .unwrap();
    let fork = forked.answer.session_id;
    let (_, opened) = server.open(&fork).await;
    let snapshot = opened.snapshot.unwrap();
    assert_eq!(snapshot.run.status, netaclaw_protocol::RunState::Idle);
    assert_eq!(snapshot.queue.items, []);
    assert_eq!(server.path(&fork).await, ["user: one"]);
}
