//! A coding task on the real server, over a real repository: its tests are run, a command can be
//! stopped, and nothing outlives a server that is killed.

use crate::served::{Server, World};
use netaclaw_testkit::fake_model::Reply;
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// After which nothing of a stopped command may be left.
const STOP_MAX: Duration = Duration::from_secs(5);
/// Holds a lock, says so, and leaves a grandchild with it that does not want to end.
const STUBBORN: &str = "exec 9>lock; flock 9; echo held; \
                        setsid bash -c \"trap '' TERM; while :; do sleep 1000; done\" & wait";

/// A program with a mistake and a test that finds it, under version control.
fn repository(root: &Path) {
    for (path, text) in [
        ("add.sh", "#!/bin/sh\necho $(($1 - $2))\n"),
        (
            "test.sh",
            "sum=$(sh add.sh 2 3)\n\
             if [ \"$sum\" = 5 ]; then echo passed; else echo \"failed: $sum\"; exit 1; fi\n",
        ),
    ] {
        fs::write(root.join(path), text).unwrap();
    }
    for args in [
        &["init", "-q"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "begin",
        ],
    ] {
        #[expect(clippy::disallowed_methods, reason = "git makes the repository")]
        let made = Command::new("git").args(args).current_dir(root).status();
        assert!(made.unwrap().success());
    }
}

fn call(reply: Reply, id: &str, tool: &str, args: Value) -> Reply {
    reply.and_tool_call(id, tool, &args.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_is_found_mended_and_tested() {
    let world = World::new().await;
    repository(&world.project());
    let todo = |status: &str| json!({"items": [{"text": "Mend add.sh", "status": status}]});
    let none = Reply::default;
    let look = call(none(), "c1", "todo", todo("in_progress"));
    let look = call(look, "c2", "find", json!({"pattern": "*.sh"}));
    let look = call(look, "c3", "grep", json!({"pattern": r"\$1"}));
    let look = call(look, "c4", "bash", json!({"command": "sh test.sh"}));
    let mend = call(none(), "c5", "read", json!({"path": "add.sh"}));
    let edits = json!([{"old_text": "$1 - $2", "new_text": "$1 + $2"}]);
    let mend = call(
        mend,
        "c6",
        "edit",
        json!({"path": "add.sh", "edits": edits}),
    );
    let check = "sh test.sh && git diff --stat";
    let check = call(none(), "c7", "bash", json!({ "command": check }));
    let check = call(check, "c8", "todo", todo("done"));
    for reply in [look, mend, check, Reply::text("Mended.")] {
        world.model.script().push(reply);
    }
    let server = world.serve().await;
    let (_, mut client) = server.session("Mend add.sh.").await;
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "completed", "{done}");

    let result = |id: &str| {
        let mut events = client.events.iter();
        let done = events.find(|event| {
            event["type"] == "tool_call_completed" && event["data"]["toolCallId"] == id
        });
        done.unwrap()["data"].clone()
    };
    let text = |id: &str| {
        result(id)["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(text("c2"), "add.sh\ntest.sh\n");
    assert_eq!(text("c3"), "add.sh\n2:echo $(($1 - $2))\n");
    assert_eq!(text("c4"), "failed: -1\n[Exit code 1.]");
    assert_eq!(result("c4")["isError"], true);
    let diff = result("c6")["details"]["diff"].as_str().unwrap().to_owned();
    assert!(
        diff.contains("-echo $(($1 - $2))\n+echo $(($1 + $2))\n"),
        "{diff}"
    );
    let checked = text("c7");
    assert!(checked.starts_with("passed\n add.sh | 2 +-\n"), "{checked}");
    let seen = |event: &&Value| event["data"]["toolCallId"] == "c7";
    let streamed = client
        .events
        .iter()
        .filter(|e| e["type"] == "tool_result_streamed");
    let streamed: Vec<&str> = streamed
        .filter(seen)
        .map(|event| event["data"]["text"].as_str().unwrap())
        .collect();
    assert_eq!(streamed.concat(), checked, "people see it while it runs");
    let mended = fs::read_to_string(world.project().join("add.sh")).unwrap();
    assert!(mended.contains("$1 + $2"), "{mended}");
    server.kill().await;
}

/// Starts the stubborn command and waits until it runs.
async fn begun(world: &World, server: &Server) -> (String, Client) {
    world.runs(STUBBORN);
    let (id, mut client) = server.session("go").await;
    let held = |data: &Value| data["text"].as_str().unwrap().contains("held");
    client.wait("tool_result_streamed", held).await;
    (id, client)
}

/// The kernel gives a lock back when the last process that has it is gone.
async fn no_process_is_left(project: &Path) {
    let lock = fs::File::open(project.join("lock")).unwrap();
    let free = tokio::task::spawn_blocking(move || lock.lock());
    let free = tokio::time::timeout(STOP_MAX, free).await;
    free.expect("everything has ended").unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_also_a_grandchild_that_does_not_want_to() {
    let world = World::new().await;
    let server = world.serve().await;
    let (id, mut client) = begun(&world, &server).await;
    client.call("stop", json!({"sessionId": id})).await;
    client
        .wait("done", |data| data["outcome"] == "stopped")
        .await;
    no_process_is_left(&world.project()).await;
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outlives_a_server_that_is_killed_and_the_call_gets_its_result() {
    let world = World::new().await;
    let server = world.serve().await;
    let (id, _client) = begun(&world, &server).await;
    server.kill().await;
    no_process_is_left(&world.project()).await;

    let server = world.serve().await;
    let mut client = server.client().await;
    let opened = client.call("session_open", json!({"sessionId": id})).await;
    assert_eq!(opened["snapshot"]["run"]["status"], "idle");
    world.model.script().push(Reply::text("Well."));
    let chat = json!({"sessionId": id, "content": "what happened?"});
    client.call("chat", chat).await;
    client
        .wait("done", |data| data["outcome"] == "completed")
        .await;
    let asked = world.model.script().last_request().body;
    let messages = asked["messages"].as_array().unwrap();
    let result = messages.iter().find(|one| one["role"] == "tool").unwrap();
    assert_eq!(result["tool_call_id"], "call");
    let told = result["content"].to_string();
    assert!(
        told.contains("interrupted before this call ended"),
        "{told}"
    );
    server.kill().await;
}
