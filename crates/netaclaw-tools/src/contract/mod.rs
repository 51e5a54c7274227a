//! What every tool must keep, as tests that every tool runs.

mod stand_in;

pub use stand_in::{MemoryTodo, NoAnswers, ScriptedAnswers, ShortMemory, approve, context, judge};

use crate::context::ToolContext;
use crate::execute::{Ending, STOP_GRACE, execute};
use crate::output::ToolOutput;
use crate::registry::ToolRegistry;
use crate::tool::Tool;
use netaclaw_protocol::ContentBlock;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A tool with surroundings it can work in, and arguments of calls that work.
pub struct Subject {
    pub tool: Arc<dyn Tool>,
    pub context: ToolContext,
    pub examples: Vec<Value>,
}

/// Runs the whole suite. `make` gives a fresh subject each time.
pub async fn check(make: impl Fn() -> Subject) {
    manifest_is_whole(&make());
    examples_work(make()).await;
    odd_arguments_do_no_harm(make()).await;
    cancelling_ends_it(make()).await;
}

fn manifest_is_whole(subject: &Subject) {
    let manifest = subject.tool.manifest();
    assert_eq!(manifest, subject.tool.manifest(), "it always says the same");
    let name = &manifest.name;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    assert!(
        (1..=64).contains(&name.len()) && name.chars().all(plain),
        "`{name}` is a name that every supplier takes"
    );
    assert!(!manifest.label.zh.is_empty() && !manifest.label.en.is_empty());
    assert!(!manifest.description.is_empty());
    assert!(manifest.output_cap > 0);
    assert_eq!(manifest.schema["type"], "object", "{:?}", manifest.schema);
    let text = manifest.schema.to_string();
    for word in ["$ref", "$defs", "\"null\""] {
        assert!(!text.contains(word), "{word} is refused by some: {text}");
    }
}

async fn examples_work(subject: Subject) {
    for args in &subject.examples {
        let (output, ending) = call(&subject, args.clone(), &CancellationToken::new()).await;
        assert_eq!(ending, Ending::Finished, "{args}: {output:?}");
        assert!(!output.is_error, "{args}: {output:?}");
        check_output(&subject, &output);
    }
}

/// Whatever a model writes, the call ends with something it can read.
async fn odd_arguments_do_no_harm(subject: Subject) {
    let mut odd = vec![
        json!("{\"cut off"),
        json!(null),
        json!(42),
        json!([]),
        json!({}),
        json!({"no_such_argument": 1}),
    ];
    let values = [
        json!(null),
        json!(""),
        json!("\u{0}"),
        json!("../../../../etc/passwd"),
        json!("长".repeat(3000)),
        json!(-1),
        json!(0),
        json!(u64::MAX),
        json!(1.5),
        json!(true),
        json!([[]]),
        json!({"a": {}}),
    ];
    let schema = subject.tool.manifest().schema;
    let names = schema["properties"].as_object().into_iter().flatten();
    for (name, _) in names {
        for value in &values {
            let mut args = subject.examples.first().cloned().unwrap_or(json!({}));
            args[name] = value.clone();
            odd.push(args);
        }
    }
    for args in odd {
        let stop = CancellationToken::new();
        // A tool that waits for users may wait; then it is stopped like any other.
        let patience = tokio::time::sleep(Duration::from_secs(2));
        let stopper = async {
            patience.await;
            stop.cancel();
            std::future::pending().await
        };
        let (output, ending) = tokio::select! {
            result = call(&subject, args.clone(), &stop) => result,
            () = stopper => unreachable!("the stopper never ends"),
        };
        assert_ne!(ending, Ending::Panicked, "{args}");
        check_output(&subject, &output);
    }
}

async fn cancelling_ends_it(subject: Subject) {
    let stop = CancellationToken::new();
    stop.cancel();
    for args in &subject.examples {
        let limit = STOP_GRACE + Duration::from_millis(400);
        let ended = tokio::time::timeout(limit, call(&subject, args.clone(), &stop)).await;
        assert!(ended.is_ok(), "{args} went on after it was cancelled");
    }
}

async fn call(subject: &Subject, args: Value, stop: &CancellationToken) -> (ToolOutput, Ending) {
    let mut registry = ToolRegistry::new();
    registry.add(subject.tool.clone()).expect("a valid schema");
    let approved = approve(&registry, &subject.tool.manifest().name, args);
    let context = ToolContext {
        cancel: stop.clone(),
        ..subject.context.clone()
    };
    let executed = execute(&registry, approved, context).await;
    (executed.output, executed.ending)
}

fn check_output(subject: &Subject, output: &ToolOutput) {
    let cap = subject.tool.manifest().output_cap;
    // The note about the cut comes on top.
    assert!(output.joined_text().len() <= cap + 300, "more than its cap");
    assert!(
        !output.content.is_empty(),
        "the model has something to read"
    );
    for block in &output.content {
        assert!(
            matches!(
                block,
                ContentBlock::Text { .. } | ContentBlock::Image { .. }
            ),
            "{block:?}"
        );
    }
}
