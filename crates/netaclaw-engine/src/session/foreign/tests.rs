use super::*;
use netaclaw_session::SessionLog;
use netaclaw_tools::ToolRegistry;
use proptest::prelude::*;
use serde_json::json;

fn tree(lines: &[Value]) -> SessionTree {
    let header = json!({"type": "session", "version": 3, "id": "s", "cwd": "",
        "timestamp": "2026-01-01T00:00:00.000Z"});
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let text = format!("{header}\n{}\n", lines.join("\n"));
    SessionTree::new(SessionLog::parse(text.into()).unwrap())
}

fn line(at: usize, parent: Option<usize>, body: Value) -> Value {
    let name = |at: usize| format!("e{at}");
    let mut entry = json!({"type": "message", "id": name(at), "parentId": parent.map(name),
        "timestamp": "2026-01-01T00:00:00.000Z"});
    entry
        .as_object_mut()
        .unwrap()
        .extend(body.as_object().unwrap().clone());
    entry
}

fn result(tool: &str, is_error: bool, details: Value) -> Value {
    json!({"message": {"role": "toolResult", "toolCallId": "c", "toolName": tool, "content": [],
        "isError": is_error, "details": details, "timestamp": 0}})
}

fn user(content: Value, mark: Value) -> Value {
    json!({"message": {"role": "user", "content": content, "timestamp": 0, "netaclaw": mark}})
}

/// What one entry brings.
#[track_caller]
fn check(body: Value, expected: &[(ForeignKind, &str)]) {
    let tree = tree(&[line(0, None, body.clone())]);
    let found = ForeignContentCache::default().at(&tree, Some(&EntryId::new("e0")));
    let found: Vec<_> = found.0.iter().map(|s| (s.kind, s.name.as_str())).collect();
    assert_eq!(found, expected, "{body}");
}

#[test]
fn what_comes_from_outside_is_foreign() {
    use ForeignKind::*;
    let ran = json!({"url": "https://a.example:8443/x?y", "status": 200, "durationMs": 1});
    check(
        result("web_fetch", false, ran.clone()),
        &[(Web, "a.example:8443")],
    );
    check(result("web_fetch", true, ran), &[(Web, "a.example:8443")]);
    check(result("web_fetch", false, json!(null)), &[(Web, "")]);
    let mcp = json!({"server": "files", "tool": "t", "durationMs": 1});
    check(result("mcp__files__t", true, mcp), &[(Mcp, "files")]);
    let (open, closed) = (
        json!({"sandbox": {"network": true}}),
        json!({"sandbox": {"network": false}}),
    );
    for tool in PROGRAM_TOOLS {
        check(result(tool, false, open.clone()), &[(Program, tool)]);
        check(result(tool, false, closed.clone()), &[]);
        // Of another program, which locks nothing in.
        check(
            result(tool, false, json!({"exitCode": 0})),
            &[(Program, tool)],
        );
    }
    check(
        result("search_the_web", false, json!({})),
        &[(Other, "search_the_web")],
    );
    let attached = json!({"attachments": [{"name": "a.txt"}, {"name": "b\u{7}.png"}]});
    check(
        user(json!([{"type": "text", "text": "x"}]), attached),
        &[(File, "a.txt"), (File, "b.png")],
    );
    let image = json!([{"type": "image", "data": "", "mimeType": "image/png"}]);
    check(user(image, json!({})), &[(File, "")]);
    check(
        json!({"type": "custom_message", "customType": "ext.x", "content": "x", "display": true}),
        &[(Other, "ext.x")],
    );
    check(
        json!({"message": {"role": "bashExecution", "output": "x"}}),
        &[(Other, "other program")],
    );
    check(
        json!({"type": "branch_summary", "fromId": "root", "summary": "x"}),
        &[(Other, "branch summary")],
    );
    let mark = json!({"foreign": [{"kind": "web", "name": "a.example"}]});
    check(
        json!({"type": "branch_summary", "fromId": "r", "summary": "x", "details": mark}),
        &[(Web, "a.example")],
    );
}

#[test]
fn what_was_written_here_is_not() {
    check(
        user(json!("see \"attachments\""), json!({"requestId": "q"})),
        &[],
    );
    check(user(json!([{"type": "text", "text": "x"}]), json!({})), &[]);
    check(json!({"message": {"role": "user", "content": null}}), &[]);
    check(
        json!({"message": {"role": "assistant", "content": []}}),
        &[],
    );
    for tool in LOCAL_TOOLS {
        check(result(tool, false, json!({"path": "x"})), &[]);
    }
    // Refused, or never begun.
    for tool in ["web_fetch", "mcp__files__t", "bash", "no_such_tool"] {
        check(result(tool, true, json!({"durationMs": 0})), &[]);
        check(
            result(tool, true, json!({"durationMs": 0, "ending": "cancelled"})),
            &[],
        );
        let governed = json!({"durationMs": 0, "toolLabel": tool, "runtimeRoute": "main",
            "workerRoutingHint": "worker-local", "policySources": ["agent:off"],
            "blockedReason": "off", "ending": "blocked"});
        check(result(tool, true, governed), &[]);
    }
    check(
        json!({"type": "custom_message", "customType": "netaclaw.notice", "content": "x", "display": true}),
        &[],
    );
    let clean = json!({"foreign": []});
    check(
        json!({"type": "branch_summary", "fromId": "r", "summary": "x", "details": clean}),
        &[],
    );
    check(
        json!({"type": "compaction", "summary": "x", "firstKeptEntryId": "e0", "tokensBefore": 1}),
        &[],
    );
}

/// A new tool has to be decided on.
#[test]
fn every_built_in_tool_is_known_here() {
    for tool in ToolRegistry::builtin().catalogue() {
        let name = tool.name.as_str();
        let known =
            LOCAL_TOOLS.contains(&name) || PROGRAM_TOOLS.contains(&name) || name == WEB_TOOL;
        assert!(known, "is what `{name}` returns foreign?");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    /// However the session grows, branches or is compacted: a path is external if an entry on it
    /// is, and the search from the cached position finds what the search from the root finds.
    #[test]
    fn a_path_is_foreign_if_something_on_it_is(
        steps in prop::collection::vec((any::<prop::sample::Index>(), 0u8..6, any::<bool>(), any::<bool>()), 1..40)
    ) {
        let watch = ForeignContentCache::default();
        let mut lines: Vec<Value> = Vec::new();
        let mut parents: Vec<Option<usize>> = Vec::new();
        let mut foreign: Vec<bool> = Vec::new();
        let mut leaf: Option<usize> = None;
        for (at, (elsewhere, kind, jumps, looks)) in steps.iter().enumerate() {
            if *jumps && at > 0 {
                leaf = Some(elsewhere.index(at));
            }
            let body = match kind {
                0 => result("web_fetch", false, json!({"url": format!("https://h{at}.example/")})),
                1 => result("read", false, json!({})),
                2 => json!({"type": "compaction", "summary": "s", "firstKeptEntryId": format!("e{at}"), "tokensBefore": 9}),
                3 => json!({"message": {"role": "assistant", "content": []}}),
                _ => user(json!("hello"), json!({})),
            };
            let above = leaf.is_some_and(|leaf| foreign[leaf]);
            foreign.push(above || *kind == 0);
            parents.push(leaf);
            lines.push(line(at, leaf, body));
            leaf = Some(at);
            if *looks {
                let tree = tree(&lines);
                let tip = EntryId::new(format!("e{at}"));
                let found = watch.at(&tree, Some(&tip));
                prop_assert_eq!(!found.is_empty(), foreign[at]);
                prop_assert_eq!(&found, &ForeignContentCache::default().at(&tree, Some(&tip)));
                prop_assert!(found.0.len() <= SOURCES_MAX);
            }
        }
    }
}
