//! `show`, `tree`, `context` and `list`, and that looking changes nothing.

use crate::support::{SAMPLE, SAMPLE_ID, Workspace, message, session};
use serde_json::{Value, json};
use std::process::Stdio;

#[test]
fn show_gives_entries_verbatim_and_the_shape_of_the_tree() {
    let workspace = Workspace::with_sample();
    let text = workspace.out("session show sample.jsonl --json");
    for line in SAMPLE
        .lines()
        .filter(|line| !line.contains("netaclaw.leaf"))
    {
        assert!(text.contains(line), "{line}");
    }
    let shown: Value = serde_json::from_str(&text).unwrap();
    let keys: Vec<&String> = shown.as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 8, "{keys:?}");
    assert_eq!(shown["header"]["id"], SAMPLE_ID);
    assert_eq!(shown["entries"].as_array().unwrap().len(), 25);
    assert_eq!(shown["leafEntryId"], "a0000017");
    assert_eq!(shown["labels"], json!({ "a0000007": "找到原因" }));
    assert_eq!(shown["name"], "订单列表提速");
    assert_eq!(shown["skippedLines"], 0);
    assert_eq!(shown["roots"], json!(["a0000001"]));
    assert_eq!(shown["childrenByParentId"]["__root__"], json!(["a0000001"]));
    assert_eq!(
        shown["childrenByParentId"]["a0000007"],
        json!(["a0000008", "a0000009", "a000000d"])
    );
}

#[test]
fn numbers_and_odd_text_come_out_as_they_went_in() {
    let workspace = Workspace::new();
    let odd = r#"{"type":"x","id":"a","parentId":null,"n":1.50,"big":12345678901234567890123,"s":"\ud800 \u2028","dup":1,"dup":2}"#;
    workspace.write("odd.jsonl", session("odd", &[odd.to_owned()]));
    assert!(workspace.out("session show odd.jsonl --json").contains(odd));
    assert!(
        workspace
            .out("session export odd.jsonl --format jsonl")
            .contains(odd)
    );
    for form in [
        "show",
        "tree --full",
        "verify",
        "export --format md",
        "export --format html",
    ] {
        workspace.out(&format!("session {form} odd.jsonl"));
    }
}

#[test]
fn context_gives_a_line_for_each_leaf() {
    let workspace = Workspace::with_sample();
    let text = workspace
        .out("session context sample.jsonl --json --leaf a0000003 --leaf null --leaf a0000007");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["leaf"], "a0000003");
    assert_eq!(lines[0]["messages"].as_array().unwrap().len(), 1);
    assert_eq!(lines[0]["sourceEntryIds"], json!(["a0000003"]));
    assert_eq!(
        lines[0]["model"],
        json!({ "provider": "anthropic", "modelId": "claude-sonnet-4-5" })
    );
    assert_eq!(
        lines[1],
        json!({
            "leaf": null, "messages": [], "sourceEntryIds": [],
            "thinkingLevel": "off", "model": null, "estimatedTokens": 0,
        })
    );
    assert_eq!(lines[2]["estimatedTokens"], 2600);
    let current = workspace.json("session context sample.jsonl --json");
    assert_eq!(current["leaf"], "a0000017");
    assert_eq!(current["messages"][0]["role"], "compactionSummary");
}

#[test]
fn looking_at_a_file_or_an_id_changes_nothing() {
    let workspace = Workspace::with_sample();
    workspace.out("session import sample.jsonl");
    workspace.write("old.jsonl", "{\"type\":\"session\",\"id\":\"old\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n");
    workspace.write(
        "torn.jsonl",
        session("torn", &[message("a", None, "x")]) + "{\"type\":\"mess",
    );
    let before = workspace.state();
    for session in ["sample.jsonl", "old.jsonl", "torn.jsonl", SAMPLE_ID] {
        for form in [
            "show",
            "show --json",
            "tree",
            "tree --json",
            "context",
            "context --json",
            "export --format md",
            "export --format html",
            "export --format jsonl",
            "verify",
            "verify --json",
        ] {
            workspace.run(&format!("session {form} {session}"));
            assert!(workspace.state() == before, "{form} {session}");
        }
    }
    workspace.run("session verify --all");
    assert!(workspace.state() == before);
}

#[test]
fn damage_is_mentioned_and_does_not_stop_the_rest() {
    let workspace = Workspace::new();
    let lines = [
        message("a", None, "first"),
        "{broken".to_owned(),
        message("b", Some("a"), "second"),
    ];
    workspace.write("damaged.jsonl", session("damaged", &lines));
    let shown = workspace.out("session show damaged.jsonl");
    assert!(shown.contains("skipped 1 unreadable line"), "{shown}");
    assert!(
        shown.contains("first") && shown.contains("second"),
        "{shown}"
    );
    assert_eq!(
        workspace.json("session show damaged.jsonl --json")["skippedLines"],
        1
    );
    assert!(
        workspace
            .out("session tree damaged.jsonl")
            .contains("skipped 1 unreadable line")
    );
    let exported = workspace.run("session export damaged.jsonl --format jsonl");
    assert!(exported.err.contains("omitted"), "{}", exported.err);
    assert_eq!(exported.out.lines().count(), 3);
}

#[test]
fn a_circle_of_parents_ends_every_command() {
    let workspace = Workspace::new();
    let lines = [
        message("a", Some("b"), "first"),
        message("b", Some("a"), "second"),
    ];
    workspace.write("circle.jsonl", session("circle", &lines));
    assert!(
        workspace
            .out("session show circle.jsonl")
            .contains("circle")
    );
    let tree = workspace.out("session tree circle.jsonl");
    assert!(tree.contains("first") && tree.contains("second"), "{tree}");
    let page = workspace.out("session export circle.jsonl --format html");
    assert!(page.contains("first") && page.contains("second"), "{page}");
    let context = workspace.run("session context circle.jsonl --json");
    assert_eq!((context.code, context.out.as_str()), (1, ""));
    assert!(context.err.contains("form a cycle"), "{}", context.err);
}

#[test]
fn a_long_chain_is_drawn_and_exported_flat() {
    let workspace = Workspace::new();
    let ids: Vec<String> = (0..20_000).map(|n| format!("{n:08x}")).collect();
    let lines: Vec<String> = (0..ids.len())
        .map(|n| {
            message(
                &ids[n],
                n.checked_sub(1).map(|n| ids[n].as_str()),
                &format!("message {n}"),
            )
        })
        .collect();
    workspace.write("long.jsonl", session("long", &lines));
    let tree = workspace.out("session tree long.jsonl");
    assert_eq!(tree.lines().count(), 5, "{tree}");
    assert!(tree.contains("… 19,996 entries"), "{tree}");
    assert_eq!(
        workspace
            .out("session tree long.jsonl --full")
            .lines()
            .count(),
        20_000
    );
    let page = workspace.out("session export long.jsonl --format html");
    assert!(depth(&page) < 12, "{}", depth(&page));
}

/// How deep elements nest that are always closed.
fn depth(page: &str) -> usize {
    let names = [
        "div", "section", "details", "article", "ol", "li", "main", "nav",
    ];
    let (mut depth, mut deepest) = (0_usize, 0);
    for tag in page.split('<').skip(1) {
        let name: String = tag
            .chars()
            .take_while(|char| char.is_ascii_alphabetic())
            .collect();
        if names.contains(&name.as_str()) {
            depth += 1;
        } else if tag.starts_with('/')
            && names
                .iter()
                .any(|name| tag[1..].starts_with(&format!("{name}>")))
        {
            depth -= 1;
        }
        deepest = deepest.max(depth);
    }
    assert_eq!(depth, 0, "every element is closed");
    deepest
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let workspace = Workspace::new();
    let lines: Vec<String> = (0..2000)
        .map(|n| message(&format!("{n:08x}"), None, &"x".repeat(200)))
        .collect();
    workspace.write("wide.jsonl", session("wide", &lines));
    for form in ["show --json", "tree --full", "export --format html"] {
        let mut command = workspace.command(&format!("session {form} wide.jsonl"));
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{form}");
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{form}");
    }
}

#[test]
fn list_filters_pages_and_speaks_json() {
    let workspace = Workspace::with_sample();
    workspace.out("session import sample.jsonl");
    workspace.write(
        "other.jsonl",
        session(
            "other-session",
            &[message("a", None, "a question about 会话")],
        ),
    );
    workspace.out("session import other.jsonl");

    let table = workspace.out("session list");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    // Newest first, and the directory begins in the same column behind Chinese and English titles.
    assert!(
        lines[1].starts_with(SAMPLE_ID) && lines[1].ends_with("/srv/网店"),
        "{table}"
    );
    assert!(
        lines[2].starts_with("other-session") && lines[2].contains("a question about 会话"),
        "{table}"
    );

    let page = workspace.json("session list --json");
    assert_eq!(
        (&page["total"], &page["page"], &page["size"]),
        (&json!(2), &json!(1), &json!(50))
    );
    assert_eq!(page["items"][0]["sessionId"], SAMPLE_ID);
    assert_eq!(page["items"][0].get("sessionFile"), None);
    assert_eq!(
        workspace.json("session list --json --text 提速")["total"],
        1
    );
    assert_eq!(
        workspace.json("session list --json --user missing")["total"],
        0
    );
    assert_eq!(
        workspace.json("session list --json --status archived")["total"],
        0
    );
    assert!(workspace.out("session list --size 1").contains("1–1 of 2"));
    assert_eq!(
        workspace.out("session list --text nothing-like-it"),
        "no sessions\n"
    );
}

#[test]
fn a_unique_beginning_of_an_id_is_enough() {
    let workspace = Workspace::with_sample();
    workspace.out("session import sample.jsonl");
    workspace.out("session import sample.jsonl --id 0195f2d1-other");
    assert!(
        workspace
            .out("session show 0195f2d1-7c1a")
            .contains(SAMPLE_ID)
    );
    let ambiguous = workspace.run("session show 0195f2d1");
    assert_eq!(ambiguous.code, 1);
    assert!(
        ambiguous.err.contains(SAMPLE_ID) && ambiguous.err.contains("0195f2d1-other"),
        "{}",
        ambiguous.err
    );
    assert!(
        workspace
            .run("session show 019")
            .err
            .contains("it does not exist")
    );
}

#[test]
fn the_locale_or_the_flag_chooses_the_language() {
    let mut workspace = Workspace::with_sample();
    assert!(
        workspace
            .out("session show sample.jsonl --lang zh")
            .contains("当前")
            || workspace
                .out("session show sample.jsonl --lang zh")
                .contains("会话")
    );
    workspace.set("LANG", "zh_CN.UTF-8");
    assert!(workspace.out("session tree sample.jsonl").contains("助手"));
    assert!(workspace.run("session show gone").err.contains("不存在"));
    assert!(workspace.out("session --help").contains("列出会话"));
    assert!(
        workspace
            .out("session tree sample.jsonl --lang en")
            .contains("assistant")
    );
    workspace.set("LC_ALL", "C");
    assert!(
        workspace
            .out("session tree sample.jsonl")
            .contains("assistant")
    );
}

#[test]
fn help_tells_what_can_be_said() {
    let workspace = Workspace::new();
    assert!(workspace.out("--help").contains("Usage: netaclaw"));
    assert!(workspace.out("--version").starts_with("netaclaw "));
    assert!(workspace.out("session show --help").contains("FILE|ID"));
}
