//! Two servers on one data directory.

use crate::served::{Server, World};
use netaclaw_testkit::fake_model::Reply;
use serde_json::json;
use std::process::Stdio;

#[tokio::test]
async fn the_same_first_message_to_two_servers_is_stored_once_and_both_acknowledge_it() {
    let world = World::new().await;
    let (first, second) = (world.serve().await, world.serve().await);
    let (mut ann, mut again) = (first.client().await, second.client().await);
    for round in 0..20 {
        let (held, hold) = Reply::text("hello there").holding_after(1);
        world.model.script().push(held);
        let message =
            json!({"content": format!("message {round}"), "requestId": format!("r{round}")});
        let (one, other) = tokio::join!(
            ann.call("chat", message.clone()),
            again.call("chat", message.clone())
        );
        for ack in [&one, &other] {
            assert_eq!(ack["ok"], true, "round {round}: {one} {other}");
        }
        assert_eq!(one["entryId"], other["entryId"]);
        let deduped = [&one, &other].map(|ack| ack["deduped"] == true);
        assert!(deduped[0] != deduped[1], "round {round}: {one} {other}");
        hold.release();
        let client = if deduped[0] { &mut again } else { &mut ann };
        client.wait_count("done", 1).await;
        client.events.clear();
        let path = format!("sessions/{}/messages", one["sessionId"].as_str().unwrap());
        let (_, messages) = first.http("GET", &path, None).await;
        let items = messages["items"].as_array().unwrap();
        let asked = items
            .iter()
            .filter(|item| item.to_string().contains("message "));
        assert_eq!(asked.count(), 1, "round {round}: {messages}");
    }
    let (_, listed) = first.http("GET", "sessions", None).await;
    assert_eq!(listed["total"], 20);
}

#[tokio::test]
async fn the_second_server_names_the_first_in_both_languages() {
    let world = World::new().await;
    let first = world.serve().await;
    for (language, words) in [
        ("en", "another server (process "),
        ("zh", "另一个服务（进程 "),
    ] {
        let arguments = format!("serve --listen 127.0.0.1:0 --lang {language}");
        let mut command = world.workspace.command(&arguments);
        command.current_dir(world.project()).stderr(Stdio::piped());
        let mut second = Server::start(command).await.unwrap();
        let text = second.log().next_line().await.unwrap().unwrap();
        second.kill().await;
        assert!(text.contains(words), "{text}");
        assert!(
            text.contains(&format!("http://{}", first.address)),
            "{text}"
        );
        assert!(text.contains("--data-dir"), "{text}");
    }
    // The server reports it before it finds the address in use.
    let mut command = world
        .workspace
        .command(&format!("serve --listen {}", first.address));
    command.current_dir(world.project()).stderr(Stdio::piped());
    let ended = Server::start(command).await.err().unwrap();
    let text = String::from_utf8(ended.stderr).unwrap();
    assert!(text.contains("another server (process "), "{text}");
    first.kill().await;
}
