//! `chat` without a terminal, as scripts use it. `talking` has one.

use crate::support::{Ran, Workspace};
use netaclaw_testkit::fake_model::{FakeModel, Reply};
use std::io::Write;
use std::process::Stdio;

fn workspace() -> Workspace {
    let mut workspace = Workspace::new();
    // A port without a listener.
    workspace.set("OLLAMA_HOST", "127.0.0.1:1");
    workspace
}

fn say(workspace: &Workspace, arguments: &str, input: &[u8]) -> Ran {
    let mut command = workspace.command(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that fails at once does not read its input.
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input)
        .unwrap_or_default();
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn session_of(ran: &Ran) -> String {
    let (_, id) = ran.err.trim().rsplit_once("--session ").unwrap();
    id.to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_gives_the_answers_and_nothing_else() {
    let fake = FakeModel::start().await;
    fake.script()
        .push(Reply::default().and_thinking("hm").and_text("一"));
    fake.script()
        .push(Reply::tool_call("c1", "ls", r#"{"path":"."}"#));
    fake.script().push(Reply::text("two"));
    let workspace = workspace();
    workspace.out(&format!(
        "channel add fake --supplier compatible --base-url {} --model m --default",
        fake.openai_url()
    ));
    // Invalid UTF-8 is still sent, as far as it can be decoded.
    let ran = say(&workspace, "chat", b"\xe4\xb8\x80 \xff\n\nlist\n");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "一\ntwo\n"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("⚙ ls"), "{}", ran.err);
    let asked = fake.script().requests();
    let last = |at: usize| {
        asked[at].body["messages"]
            .as_array()
            .unwrap()
            .last()
            .cloned()
    };
    assert_eq!(last(0).unwrap()["content"], "一 \u{fffd}");

    // The session continues, by the beginning of its id.
    fake.script().push(Reply::text("three"));
    let id = session_of(&ran);
    let again = say(
        &workspace,
        &format!("chat --session {}", &id[..30]),
        b"more",
    );
    assert_eq!((again.code, again.out.as_str()), (0, "three\n"));
    assert_eq!(session_of(&again), id);
    assert_eq!(workspace.json("session list --json")["total"], 1);
}

#[test]
fn an_entry_to_go_on_from_must_be_there() {
    let workspace = workspace();
    let ran = say(
        &workspace,
        "chat",
        b"/branch x\n/tree\nhello\n/branch zzz\n/branch\n/nope\n/help\n",
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out
            .starts_with("the session has no messages yet\nthe session has no messages yet\n")
    );
    assert!(ran.out.contains("/branch ENTRY"), "{}", ran.out);
    for part in ["no entry zzz", "/branch needs", "unknown command /nope"] {
        assert!(ran.err.contains(part), "{}", ran.err);
    }

    let id = session_of(&ran);
    let first = workspace.json(&format!("session show {id} --json"))["entries"][0]["id"].clone();
    let first = first.as_str().unwrap();
    let input = format!("/branch {}\nanother way\n/quit\nnever said\n", &first[..6]);
    let ran = say(
        &workspace,
        &format!("chat --session {id}"),
        input.as_bytes(),
    );
    assert!(
        ran.err.contains(&format!("continues from {first}")),
        "{}",
        ran.err
    );
    let shown = workspace.json(&format!("session show {id} --json"));
    let entries = shown["entries"].as_array().unwrap();
    let other = entries
        .iter()
        .find(|e| e["message"]["content"] == "another way");
    assert_eq!(other.unwrap()["parentId"], first);
    assert!(!shown.to_string().contains("never said"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_ends_it() {
    let fake = FakeModel::start().await;
    fake.script().set_key("another");
    let mut workspace = workspace();
    workspace.set("KEY", "wrong");
    let refused = |arguments: &str, part: &str| {
        let ran = say(&workspace, arguments, b"hello\nagain\n");
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{arguments}");
        assert!(ran.err.contains(part), "{arguments}: {}", ran.err);
        ran
    };
    let wrong = refused("chat --agent defalt", "did you mean default?");
    assert_eq!(wrong.err.lines().count(), 1);
    refused("chat --agent defalt --lang zh", "您要找的是 default 吗？");
    refused("chat --session nothing", "it does not exist");
    assert_eq!(workspace.json("session list --json")["total"], 0);

    workspace.out(&format!(
        "channel add locked --supplier openai --base-url {} --api-key-env KEY --model m --default",
        fake.openai_url()
    ));
    let locked = refused("chat", "key");
    assert_eq!(locked.err.lines().count(), 2, "said once: {}", locked.err);
    // The second line was not sent.
    let id = session_of(&locked);
    let shown = workspace.json(&format!("session show {id} --json"));
    let shown = shown.to_string();
    assert!(
        shown.contains("hello") && !shown.contains("again"),
        "{shown}"
    );
}
