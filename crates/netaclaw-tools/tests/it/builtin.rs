use crate::{call, call_in};
use netaclaw_tools::contract::{MemoryTodo, ScriptedAnswers, Subject, check, context};
use netaclaw_tools::{
    Clarify, ClarifyAnswer, ClarifyQuestion, Edit, Ending, Find, Grep, Ls, MemorySave,
    MemorySearch, Read, ServiceError, Todo, ToolContext, Write,
};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

#[tokio::test]
async fn every_tool_keeps_the_contract() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "hello\n").unwrap();
    let answering = || ToolContext {
        clarifier: Arc::new(ScriptedAnswers::new(Ok(ClarifyAnswer::Dismissed))),
        ..context(dir.path())
    };
    check(|| Subject {
        tool: Arc::new(Read),
        context: context(dir.path()),
        examples: vec![json!({"path": "a.txt"})],
    })
    .await;
    check(|| Subject {
        tool: Arc::new(Ls),
        context: context(dir.path()),
        examples: vec![json!({"path": "."}), json!({})],
    })
    .await;
    check(|| Subject {
        tool: Arc::new(Find),
        context: context(dir.path()),
        examples: vec![json!({"pattern": "*.txt"})],
    })
    .await;
    check(|| Subject {
        tool: Arc::new(Grep),
        context: context(dir.path()),
        examples: vec![json!({"pattern": "hello", "context": 1})],
    })
    .await;
    check(|| Subject {
        tool: Arc::new(Write),
        context: context(dir.path()),
        examples: vec![json!({"path": "new.txt", "content": "new\n"})],
    })
    .await;
    check(|| {
        fs::write(dir.path().join("edited.txt"), "hello\n").unwrap();
        Subject {
            tool: Arc::new(Edit),
            context: context(dir.path()),
            examples: vec![json!({
                "path": "edited.txt",
                "edits": [{"old_text": "hello", "new_text": "goodbye"}],
            })],
        }
    })
    .await;
    check(|| Subject {
        tool: Arc::new(Todo),
        context: context(dir.path()),
        examples: vec![json!({"items": [{"text": "think"}]}), json!({})],
    })
    .await;
    check(|| Subject {
        tool: Arc::new(MemorySave),
        context: context(dir.path()),
        examples: vec![json!({"text": "The user likes tea."})],
    })
    .await;
    check(|| Subject {
        tool: Arc::new(MemorySearch),
        context: context(dir.path()),
        examples: vec![json!({"query": "tea"})],
    })
    .await;
    check(|| Subject {
        tool: Arc::new(Clarify),
        context: answering(),
        examples: vec![json!({"question": "Which?", "options": ["a", "b"]})],
    })
    .await;
}

#[tokio::test]
async fn ls_puts_directories_first_and_shows_odd_names() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("zoo")).unwrap();
    fs::write(at("b.txt"), "12345").unwrap();
    fs::write(at("a\nfake/"), "").unwrap_err();
    fs::write(at("a\nb"), "").unwrap();
    fs::write(dir.path().join(OsStr::from_bytes(b"caf\xe9")), "1").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", at("link")).unwrap();
    let output = call(dir.path(), "ls", json!({})).await.output;
    assert_eq!(
        output.joined_text(),
        "zoo/\na\\nb  0\nb.txt  5\ncaf\\xe9  1\nlink -> /etc/passwd\n"
    );
    let output = call(dir.path(), "ls", json!({"path": "zoo"})).await.output;
    assert_eq!(output.joined_text(), "(The directory is empty.)");
    let output = call(dir.path(), "ls", json!({"path": "b.txt"}))
        .await
        .output;
    assert!(output.is_error);
    let output = call(dir.path(), "ls", json!({"path": "link"})).await.output;
    assert!(output.joined_text().contains("outside"), "{output:?}");
}

#[tokio::test]
async fn ls_of_a_huge_directory_comes_in_parts() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..1200 {
        fs::write(dir.path().join(format!("f{n:04}")), "").unwrap();
    }
    let output = call(dir.path(), "ls", json!({})).await.output;
    let text = output.joined_text();
    assert!(text.starts_with("f0000  0\n"), "{text}");
    assert!(text.ends_with("f0499  0\n[Entries 1 to 500 of 1200. Continue with offset=500.]"));
    let output = call(dir.path(), "ls", json!({"offset": 1199})).await.output;
    assert_eq!(output.joined_text(), "f1199  0\n");
    let output = call(dir.path(), "ls", json!({"offset": 1e9 as u64}))
        .await
        .output;
    assert!(output.is_error);
}

#[tokio::test]
async fn todo_keeps_one_item_in_progress_and_says_what_it_changed() {
    let dir = tempfile::tempdir().unwrap();
    let list = Arc::new(MemoryTodo::default());
    let here = || ToolContext {
        todo: list.clone(),
        ..context(dir.path())
    };
    let items = json!({"items": [
        {"id": "x", "text": " plan ", "status": "done"},
        {"id": "x", "text": "build", "status": "in_progress"},
        {"text": "test", "status": "in_progress"},
        {"text": "  "},
    ]});
    let output = call_in(here(), "todo", items.clone()).await.output;
    assert_eq!(
        output.joined_text(),
        "[x] x: plan\n[>] 1: build\n[ ] 2: test\n[1 items without text were dropped]\n[only one item can be in progress, so 1 were reset to pending]"
    );
    assert_eq!(output.details.unwrap()["todo"]["revision"], 1);
    // The same list again is not a change.
    let again = json!({"items": [
        {"id": "x", "text": "plan", "status": "done"},
        {"id": "1", "text": "build", "status": "in_progress"},
        {"id": "2", "text": "test"},
    ]});
    let output = call_in(here(), "todo", again).await.output;
    assert_eq!(output.details.unwrap()["todo"]["revision"], 1);
    let output = call_in(here(), "todo", json!({})).await.output;
    assert_eq!(
        output.joined_text(),
        "[x] x: plan\n[>] 1: build\n[ ] 2: test"
    );
}

#[tokio::test]
async fn todo_caps_are_visible() {
    let dir = tempfile::tempdir().unwrap();
    let mut items = vec![json!({"text": "old", "status": "done"}); 10];
    items.extend(vec![json!({"text": "长".repeat(400)}); 50]);
    let output = call(dir.path(), "todo", json!({"items": items}))
        .await
        .output;
    let text = output.joined_text();
    assert!(!text.contains("old"), "finished items go first");
    assert!(text.contains("[only 50 of 60 items were kept]"));
    assert!(text.contains("[50 texts were truncated to 200 characters]"));
}

#[tokio::test]
async fn clarify_asks_and_never_invents() {
    let dir = tempfile::tempdir().unwrap();
    let ask = async |answer, args| {
        let clarifier = Arc::new(ScriptedAnswers::new(answer));
        let context = ToolContext {
            clarifier: clarifier.clone(),
            ..context(dir.path())
        };
        let executed = call_in(context, "clarify", args).await;
        (executed, clarifier.asked())
    };
    let args = json!({"question": " Which? ", "options": [{"label": "A"}, "B"], "multi": true});
    let (executed, asked) = ask(Ok(ClarifyAnswer::Answered(vec!["A".into()])), args.clone()).await;
    assert_eq!(executed.output.joined_text(), "The user answered: A");
    assert_eq!(
        asked,
        [ClarifyQuestion {
            tool_call_id: "call-1".into(),
            question: "Which?".into(),
            options: vec!["A".into(), "B".into()],
            multi: true,
        }]
    );
    let (executed, _) = ask(Err(ServiceError::Unavailable), args).await;
    assert!(executed.output.is_error);
    let (executed, asked) = ask(Ok(ClarifyAnswer::Dismissed), json!({"question": " "})).await;
    assert!(executed.output.is_error && asked.is_empty());
}

#[tokio::test]
async fn facts_are_remembered_found_and_corrected() {
    let dir = tempfile::tempdir().unwrap();
    let run = context(dir.path());
    let here = async |tool: &str, args| call_in(run.clone(), tool, args).await.output;
    let output = here("memory_save", json!({"text": "likes tea"})).await;
    assert_eq!(output.joined_text(), "Saved: likes tea (id 0)");
    here(
        "memory_save",
        json!({"text": "likes coffee", "replaces": "0"}),
    )
    .await;
    let output = here("memory_search", json!({"query": "likes"})).await;
    assert_eq!(output.joined_text(), "- likes coffee (id 0, 2026-11-03)\n");
    let output = here("memory_search", json!({"query": "tea"})).await;
    assert_eq!(output.joined_text(), "No memories match.");
    let output = here("memory_save", json!({"text": "x", "replaces": "9"})).await;
    assert!(output.is_error);
}

/// The question outlives any general deadline of tools, because users take their time, and stops
/// with the run.
#[tokio::test(start_paused = true)]
async fn clarify_waits_for_days_and_stops_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let context = context(dir.path());
    let stop = context.cancel.clone();
    let question = call_in(context, "clarify", json!({"question": "Still there?"}));
    let days = async {
        tokio::time::sleep(std::time::Duration::from_secs(3 * 86_400)).await;
        stop.cancel();
        std::future::pending::<()>().await;
    };
    let executed = tokio::select! {
        executed = question => executed,
        () = days => unreachable!(),
    };
    assert!(stop.is_cancelled(), "it did not end before");
    assert_eq!(executed.ending, Ending::Cancelled);
    assert!(executed.output.is_error);
}
