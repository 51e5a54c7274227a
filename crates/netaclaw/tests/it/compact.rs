//! `session compact` with the built-in model: the plan, the deed, and what is refused.

use crate::golden::check;
use crate::support::{Workspace, session};
use serde_json::json;

const ID: &str = "0195f2d1-7c1a-7b3e-8f00-aaaaaaaaaaaa";

/// A long talk with tools.
fn workspace() -> Workspace {
    let mut workspace = Workspace::new();
    // A port without a listener.
    workspace.set("OLLAMA_HOST", "127.0.0.1:1");
    let said =
        "The harbour was quiet that morning, and no one spoke until the engines had stopped. ";
    let mut lines = Vec::new();
    for n in 0..80 {
        let message = match n % 4 {
            0 => {
                json!({"role": "user", "content": format!("Question {n}: {}", said.repeat(3)), "timestamp": 0})
            }
            1 => {
                json!({"role": "assistant", "content": [{"type": "toolCall", "id": format!("c{n}"), "name": "write", "arguments": {"path": format!("log/{n}.txt"), "content": said}}], "api": "x", "provider": "x", "model": "m", "usage": {}, "stopReason": "toolUse", "timestamp": 0})
            }
            2 => {
                json!({"role": "toolResult", "toolCallId": format!("c{}", n - 1), "toolName": "write", "content": [{"type": "text", "text": said.repeat(6)}], "isError": false, "timestamp": 0})
            }
            _ => {
                json!({"role": "assistant", "content": [{"type": "text", "text": format!("Answer {n}: {}", said.repeat(4))}], "api": "x", "provider": "x", "model": "m", "usage": {}, "stopReason": "stop", "timestamp": 0})
            }
        };
        let parent = (n > 0).then(|| format!("e{:07}", n - 1));
        lines.push(json!({"type": "message", "id": format!("e{n:07}"), "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z", "message": message}).to_string());
    }
    workspace.write("talk.jsonl", session(ID, &lines));
    workspace.out("session import talk.jsonl");
    workspace
}

/// The sizes depend a little on the machine's own prompt.
fn without_sizes(text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut size = String::new();
    for c in lines[1].chars().filter(|c| *c != ',') {
        match c.is_ascii_digit() {
            true if size.ends_with('#') => {}
            true => size.push('#'),
            false => size.push(c),
        }
    }
    lines[1] = size;
    lines.join("\n") + "\n"
}

#[test]
fn the_plan_names_what_is_folded_pruned_and_kept_and_changes_nothing() {
    let workspace = workspace();
    // The first command makes the admin store.
    workspace.out("agent list");
    let before = workspace.out(&format!("session export {ID} --format jsonl"));
    for (name, language) in [("compact.txt", "en"), ("compact.zh.txt", "zh")] {
        let plan = workspace.out(&format!("session compact {ID} --dry-run --lang {language}"));
        check(name, &without_sizes(&plan));
    }
    let plan = workspace.json(&format!("session compact {ID} --dry-run --json"));
    let count = |part: &str| plan[part].as_array().unwrap().len();
    assert_eq!(count("folded") + count("kept"), 80);
    assert!(count("kept") >= 4);
    assert_eq!(plan["requests"], 1);
    let after = workspace.out(&format!("session export {ID} --format jsonl"));
    assert_eq!(after, before);
}

#[test]
fn a_session_is_condensed_and_the_rest_stays() {
    let workspace = workspace();
    let before = workspace.json(&format!("session show {ID} --json"));
    let done = workspace.json(&format!("session compact {ID} --json"));
    assert_eq!(done["success"], true);
    let summary = done["summaryContent"].as_str().unwrap();
    assert!(
        summary.contains("Question 0") && summary.contains("write("),
        "{summary}"
    );
    let after = workspace.json(&format!("session show {ID} --json"));
    let entries = |shown: &serde_json::Value| shown["entries"].as_array().unwrap().clone();
    let (before, after) = (entries(&before), entries(&after));
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(after[before.len()]["type"], "compaction");
    let context = workspace.out(&format!("session context {ID} --json"));
    assert!(context.contains("compactionSummary") && !context.contains(r#""text":"Answer 3:"#));

    // Right after it there is nothing worth folding.
    let again = workspace.run(&format!("session compact {ID} --lang zh"));
    assert_eq!(again.code, 1);
    assert!(again.err.contains("压缩"), "{}", again.err);
}

#[test]
fn a_missing_session_is_reported_first() {
    let workspace = workspace();
    let ran = workspace.run("session compact 99999999 --dry-run");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("99999999"), "{}", ran.err);
}
