//! A coding task on the real server, over a real repository: its tests are run, a command can be
//! stopped, and nothing outlives a server that is killed.

use crate::support::Workspace;
use netaclaw_testkit::fake_model::{FakeModel, Reply};
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

const TOKEN: &str = "a-token-for-the-test";
/// After which nothing of a stopped command may be left.
const STOP_MAX: Duration = Duration::from_secs(5);
/// Holds a lock, says so, and leaves a grandchild with it that does not want to end.
const STUBBORN: &str = "exec 9>lock; flock 9; echo held; \
                        setsid bash -c \"trap '' TERM; while :; do sleep 1000; done\" & wait";

/// A project, a data directory and a model for the server.
struct World {
    workspace: Workspace,
    model: FakeModel,
}

impl World {
    async fn new() -> Self {
        let mut workspace = Workspace::new();
        for (name, value) in [
            ("OLLAMA_HOST", "127.0.0.1:1"),
            ("NETACLAW_TOKEN", TOKEN),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ] {
            workspace.set(name, value);
        }
        let model = FakeModel::start().await;
        workspace.out(&format!(
            "channel add fake --supplier compatible --base-url {} --model m --default",
            model.openai_url()
        ));
        workspace.out("agent edit default --set approval=never");
        fs::create_dir(workspace.path("project")).unwrap();
        Self { workspace, model }
    }

    fn project(&self) -> PathBuf {
        self.workspace.path("project")
    }

    /// The model calls `bash`.
    fn runs(&self, command: &str) {
        let args = json!({ "command": command }).to_string();
        self.model
            .script()
            .push(Reply::tool_call("call", "bash", &args));
    }

    async fn serve(&self) -> Server {
        let mut command = self.workspace.command("serve --listen 127.0.0.1:0");
        command
            .current_dir(self.project())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut command = tokio::process::Command::from(command);
        let mut process = command.kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = loop {
            let line = lines.next_line().await.unwrap();
            let line = line.expect("the server ended before it was ready");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.split(['/', ' ']).next().unwrap().parse().unwrap();
            }
        };
        Server {
            process,
            address,
            _output: lines,
        }
    }
}

struct Server {
    process: Child,
    address: SocketAddr,
    // A process whose output nobody reads stops when the pipe is full.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Server {
    async fn client(&self) -> Client {
        let auth = json!({"token": TOKEN, "events": ["current"]});
        Client::connect(self.address, auth).await.unwrap()
    }

    /// A new session, with the client that began it and so hears of it.
    async fn session(&self, content: &str) -> (String, Client) {
        let mut client = self.client().await;
        let ack = client.call("chat", json!({ "content": content })).await;
        (ack["sessionId"].as_str().unwrap().to_owned(), client)
    }

    async fn kill(mut self) {
        self.process.kill().await.unwrap();
    }
}

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
async fn nobody_is_left(project: &Path) {
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
    nobody_is_left(&world.project()).await;
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outlives_a_server_that_is_killed_and_the_call_gets_its_result() {
    let world = World::new().await;
    let server = world.serve().await;
    let (id, _client) = begun(&world, &server).await;
    server.kill().await;
    nobody_is_left(&world.project()).await;

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
