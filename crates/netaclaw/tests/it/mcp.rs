//! MCP servers from the command line to the model.

use crate::support::{Ran, Workspace};
use netaclaw_testkit::fake_model::{FakeModel, Reply};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

const SERVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../netaclaw-tools/tests/it/mcp_server.py"
);

fn workspace() -> Workspace {
    let mut workspace = Workspace::new();
    workspace.set("OLLAMA_HOST", "127.0.0.1:1");
    workspace.set("PATH", &std::env::var("PATH").unwrap());
    workspace.set("SERVER_KEY", "marker-4711");
    workspace
}

fn say(workspace: &Workspace, text: &str) -> Ran {
    let mut child = workspace
        .command("chat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn add(workspace: &Workspace, name: &str, options: &str) {
    workspace.out(&format!("mcp add {name} {options} -- python3 {SERVER}"));
}

#[test]
fn servers_are_kept_tested_switched_and_removed() {
    let workspace = workspace();
    assert_eq!(workspace.out("mcp list"), "no MCP servers\n");
    add(
        &workspace,
        "odd",
        "--env SERVER_KEY --tool echo --timeout 5",
    );
    let listed = workspace.json("mcp list --json");
    assert_eq!(listed[0]["secretNames"], json!(["SERVER_KEY"]));
    assert_eq!(listed[0]["timeoutMs"], 5000);
    let whole = workspace.out("mcp list") + &listed.to_string();
    assert!(!whole.contains("marker"), "{whole}");
    let tested = workspace.json("mcp test odd --json");
    assert_eq!(tested["tools"][0]["toolName"], "mcp__odd__echo");
    assert_eq!(tested["tools"].as_array().unwrap().len(), 1);
    let tested = workspace.out("mcp test odd");
    assert!(tested.contains("available, tools: 1"), "{tested}");

    // Changed without its secrets, it keeps them.
    add(&workspace, "odd", "--timeout 7");
    let listed = workspace.json("mcp list --json");
    assert_eq!(listed[0]["secretNames"], json!(["SERVER_KEY"]));
    workspace.out("mcp disable odd");
    assert_eq!(workspace.json("mcp list --json")[0]["status"], "disabled");
    workspace.out("mcp enable odd");
    assert_eq!(workspace.json("mcp list --json")[0]["status"], "enabled");

    workspace.out("mcp add gone -- no-such-program");
    let unknown = workspace.run("mcp test missing");
    assert!(
        unknown.err.contains("`netaclaw mcp list`"),
        "{}",
        unknown.err
    );
    let failed = workspace.run("mcp test gone --lang zh");
    assert_eq!((failed.code, failed.out.as_str()), (1, ""));
    assert!(failed.err.contains("程序无法启动"), "{}", failed.err);
    let unknown = workspace.run("mcp remove od");
    assert!(unknown.err.contains("odd"), "{}", unknown.err);
    workspace.out("mcp remove odd");
    workspace.out("mcp remove gone");
    assert_eq!(workspace.json("mcp list --json"), json!([]));
    let unset = workspace.run("mcp add x --env NO_SUCH_VARIABLE -- true");
    assert!(unset.err.contains("NO_SUCH_VARIABLE"), "{}", unset.err);
}

#[test]
fn a_root_around_or_inside_the_data_directory_is_refused() {
    let workspace = workspace();
    // The first command makes the data directory.
    workspace.out("mcp list");
    let apart = workspace.path("home/project");
    std::fs::create_dir_all(&apart).unwrap();
    let root = |place: &str| format!("--root {}", workspace.path(place).display());
    for place in ["home", "home/.netaclaw", "home/.netaclaw/sessions"] {
        let refused = workspace.run(&format!("mcp add x {} -- true", root(place)));
        assert_eq!(refused.code, 1, "{place}: {}", refused.err);
        let part = "must not contain the data directory";
        assert!(refused.err.contains(part), "{}", refused.err);
    }
    workspace.out(&format!("mcp add x {} -- true", root("home/project")));
}

/// What the model was sent last.
fn last_result(fake: &FakeModel) -> Value {
    let asked = fake.script().requests();
    let messages = asked.last().unwrap().body["messages"].clone();
    messages.as_array().unwrap().last().unwrap()["content"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_uses_the_tools_of_a_server() {
    let fake = FakeModel::start().await;
    let workspace = workspace();
    workspace.out(&format!(
        "channel add fake --supplier compatible --base-url {} --model m --default",
        fake.openai_url()
    ));
    workspace.out("agent edit default --set approval=never");
    add(&workspace, "odd", "--env SERVER_KEY");
    workspace.out("mcp add gone -- no-such-program");

    let script = fake.script();
    let text = json!({"text": "by MCP"}).to_string();
    script.push(Reply::tool_call("c1", "mcp__odd__echo", &text));
    script.push(Reply::text("heard"));
    let ran = say(&workspace, "go\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "heard\n"), "{}", ran.err);
    assert_eq!(last_result(&fake), "by MCP");
    let tools = script.requests()[0].body["tools"].to_string();
    assert!(tools.contains("mcp__odd__never"), "{tools}");

    // It dies in the middle of a call; the next one finds it again or says why not.
    script.push(Reply::tool_call("c2", "mcp__odd__die", "{}"));
    script.push(Reply::text("died"));
    let ran = say(&workspace, "die\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "died\n"), "{}", ran.err);
    let died = last_result(&fake).to_string();
    assert!(died.contains("I cannot go on"), "{died}");

    // A globally disabled tool is disabled for every client.
    workspace.out("tool disable mcp__odd__echo");
    script.push(Reply::tool_call("c3", "mcp__odd__echo", &text));
    script.push(Reply::text("refused"));
    let ran = say(&workspace, "again\n");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "refused\n"),
        "{}",
        ran.err
    );
    let refused = last_result(&fake).to_string();
    assert!(!refused.contains("by MCP"), "{refused}");
    let asked = script.requests();
    let tools = asked.last().unwrap().body["tools"].to_string();
    assert!(!tools.contains("mcp__odd__echo"), "{tools}");
    assert!(tools.contains("mcp__odd__fail"), "{tools}");
}

/// What the tools of the default agent answer to these requests, in their order.
fn served(workspace: &Workspace, arguments: &str, requests: &[Value]) -> Vec<Value> {
    let mut child = workspace
        .command(&format!("mcp serve {arguments}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |message: &Value| {
        writeln!(input, "{message}").unwrap();
        match message.get("id") {
            Some(_) => serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap(),
            None => Value::Null,
        }
    };
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
    assert_eq!(ask(&hello)["result"]["serverInfo"]["name"], "netaclaw");
    ask(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let answers = requests.iter().map(|request| ask(request)["result"].take());
    let answers = answers.collect();
    drop(input);
    assert!(child.wait().unwrap().success());
    answers
}

fn tool_call(name: &str, args: Value) -> Value {
    let params = json!({"name": name, "arguments": args});
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
}

#[test]
fn own_tools_are_served_under_the_same_governance() {
    let workspace = workspace();
    workspace.write("notes.txt", "water\n");
    workspace.out("tool disable grep");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let read = tool_call("read", json!({"path": "notes.txt"}));
    let write = tool_call("write", json!({"path": "new.txt", "content": "x"}));
    let outside = tool_call("read", json!({"path": "/etc/hostname"}));
    let off = tool_call("grep", json!({"pattern": "water"}));
    let todo = tool_call("todo", json!({"items": []}));
    let requests = [list, read, write.clone(), outside, off, todo];
    let answers = served(&workspace, "", &requests);
    let tools = answers[0]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(
        names.contains(&"read") && names.contains(&"write"),
        "{names:?}"
    );
    assert!(
        !names.contains(&"grep") && !names.contains(&"todo"),
        "{names:?}"
    );
    let text = |at: usize| answers[at]["content"][0]["text"].as_str().unwrap();
    assert!(text(1).contains("water"), "{}", text(1));
    let refusals = [
        (2, "needs approval"),
        (3, ""),
        (4, "not available"),
        (5, "session"),
    ];
    for (at, part) in refusals {
        assert_eq!(answers[at]["isError"], true, "{}", answers[at]);
        assert!(text(at).contains(part), "{}", text(at));
    }
    assert!(!workspace.path("new.txt").exists());

    let agreed = served(&workspace, "--yes", &[write]);
    assert_ne!(agreed[0]["isError"], true, "{}", agreed[0]);
    assert_eq!(workspace.read("new.txt"), "x");
}
