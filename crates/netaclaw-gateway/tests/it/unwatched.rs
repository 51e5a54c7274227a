//! What happens without connected clients.

use crate::whole::{Home, Whole};
use netaclaw_session::{Entry, SessionId};
use netaclaw_testkit::MariaDb;
use netaclaw_testkit::fake_model::{FakeModel, Hold, Reply};
use serde_json::{Value, json};

/// An answer with a call that waits in its middle, and one that ends the run.
fn tell(model: &FakeModel) -> Hold {
    let (reply, hold) = Reply::default()
        .and_thinking("What is here? ")
        .and_text("Let me look. ")
        .and_tool_call("call-ls", "ls", r#"{"path": "."}"#)
        .holding_after(5);
    model.script().push(reply);
    model.script().push(Reply::text("There are notes."));
    hold
}

/// What an entry is, without ids and times.
fn shape(entry: &Entry) -> Value {
    let mut entry: Value = serde_json::from_str(entry.json()).unwrap();
    for own in ["id", "parentId", "timestamp"] {
        entry.as_object_mut().unwrap().remove(own);
    }
    if let Some(message) = entry["message"].as_object_mut() {
        message.remove("timestamp");
        message.remove("details");
        // How long a thought took is different each time.
        message.remove("netaclaw");
    }
    entry
}

/// Without titles: a model makes one at any time after the first answer.
async fn stored(server: &Whole, session: &Value) -> Vec<Value> {
    let session = SessionId::new(session.as_str().unwrap());
    let entries = server.sessions.list_entries(&session).await.unwrap();
    let entries = entries.iter();
    let entries = entries.filter(|entry| entry.type_name() != "session_info");
    entries.map(shape).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_without_clients_is_stored_like_one_with_clients() {
    let (dir, model) = (tempfile::tempdir().unwrap(), FakeModel::start().await);
    let home = Home::prepared(dir.path(), &model, None).await;
    let server = Whole::start(&home).await;
    let chat = json!({"content": "What is here?"});

    let hold = tell(&model);
    let mut client = server.client().await;
    let watched = client.call("chat", chat.clone()).await["sessionId"].clone();
    let open = json!({"sessionId": watched});
    let opened = client.call("session_open", open).await;
    hold.release();
    client.settled(&opened).await;
    let expected = stored(&server, &watched).await;
    let texts = format!("{expected:?}");
    assert!(texts.contains("There are notes."), "{texts}");

    let hold = tell(&model);
    let unwatched = client.call("chat", chat).await["sessionId"].clone();
    drop(client);
    hold.reached().await;
    hold.release();
    // The last thing that the run asks of the world; what follows, the end of the server awaits.
    model.script().asked(4).await;
    server.stop().await;
    let server = Whole::start(&home).await;
    assert_eq!(stored(&server, &unwatched).await, expected);
    server.stop().await;
}

/// A second server on the same sessions recovers those of dead processes, and takes nothing from
/// live ones.
async fn a_second_server_leaves_the_first_alone(mysql_url: Option<String>) {
    let (dir, model) = (tempfile::tempdir().unwrap(), FakeModel::start().await);
    let home = Home::prepared(dir.path(), &model, mysql_url).await;
    let first = Whole::start(&home).await;
    let hold = tell(&model);
    let mut client = first.client().await;
    let chat = json!({"content": "What is here?"});
    let session = client.call("chat", chat).await["sessionId"].clone();
    let open = json!({"sessionId": session});
    client.call("session_open", open).await;
    hold.reached().await;

    let mut second = Whole::start(&home).await;
    (&mut second.sweep).await.unwrap().unwrap();
    hold.release();
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "completed");
    let stored = stored(&first, &session).await;
    let ends = stored.iter().map(|entry| &entry["message"]["stopReason"]);
    assert!(ends.clone().all(|end| end != "aborted"), "{stored:?}");
    assert_eq!(ends.filter(|end| end.is_string()).count(), 2, "{stored:?}");
    second.stop().await;
    first.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_a_living_server_are_left_alone() {
    a_second_server_leaves_the_first_alone(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_a_living_server_are_left_alone() {
    let server = MariaDb::start().unwrap();
    let database = server.fresh_database().unwrap();
    a_second_server_leaves_the_first_alone(Some(database.url())).await;
}
