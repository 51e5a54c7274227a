//! The steps between the loop and a tool.

use async_trait::async_trait;
use netaclaw_governance::{ApprovedCall, Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use netaclaw_tools::contract::{approve, context};
use netaclaw_tools::{
    Ending, Executed, STOP_GRACE, Tool, ToolContext, ToolOutput, ToolRegistry, execute,
};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How the tool under test behaves.
#[derive(Clone, Copy)]
enum Manner {
    Panics,
    Floods,
    Hangs,
    /// Ends when cancelled, and says how far it came.
    Obeys,
}

#[async_trait]
impl Tool for Manner {
    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: "odd".into(),
            label: ToolLabel {
                zh: "怪".into(),
                en: "Odd".into(),
            },
            description: "Behaves badly.".into(),
            guidance: String::new(),
            category: ToolCategory::Session,
            schema: json!({"type": "object"}).into(),
            risk: ToolRisk::Read,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Never,
            needs: Vec::new(),
            timeout: Some(Duration::from_secs(60)),
            output_cap: 100,
            concurrency: Concurrency::Parallel,
            outlet: EgressTarget::None,
        }
    }

    async fn execute(&self, _call: ApprovedCall, context: ToolContext) -> ToolOutput {
        match self {
            Self::Panics => panic!("a mistake with a secret in it"),
            Self::Floods => ToolOutput::text("x".repeat(10 << 20)),
            Self::Hangs => std::future::pending().await,
            Self::Obeys => {
                context.cancel.cancelled().await;
                ToolOutput::text("half done")
            }
        }
    }
}

async fn run(manner: Manner, context: ToolContext) -> Executed {
    let mut registry = ToolRegistry::new();
    registry.add(Arc::new(manner)).unwrap();
    let approved = approve(&registry, "odd", json!({}));
    execute(&registry, approved, context).await
}

fn here() -> ToolContext {
    context(std::path::Path::new("."))
}

#[tokio::test]
async fn a_panic_is_an_error_result_without_its_words() {
    let executed = run(Manner::Panics, here()).await;
    assert_eq!(executed.ending, Ending::Panicked);
    assert!(executed.output.is_error);
    assert!(!executed.output.joined_text().contains("secret"));
}

#[tokio::test]
async fn a_flood_is_cut() {
    let executed = run(Manner::Floods, here()).await;
    assert_eq!(executed.ending, Ending::Finished);
    let text = executed.output.joined_text();
    assert!(text.contains("the first 100 of 10485760 bytes"), "{text}");
    assert!(text.len() < 300);
}

#[tokio::test(start_paused = true)]
async fn a_hang_ends_with_the_time_of_the_tool() {
    let (context, before) = (here(), Instant::now());
    let stop = context.cancel.clone();
    let executed = run(Manner::Hangs, context).await;
    assert_eq!(executed.ending, Ending::TimedOut);
    assert!(executed.output.joined_text().contains("within 60 s"));
    assert_eq!(before.elapsed(), Duration::from_secs(60) + STOP_GRACE);
    assert!(!stop.is_cancelled(), "the other calls go on");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ignores_cancelling_is_abandoned() {
    let (context, before) = (here(), Instant::now());
    context.cancel.cancel();
    let executed = run(Manner::Hangs, context).await;
    assert_eq!(executed.ending, Ending::Cancelled);
    assert!(executed.output.is_error);
    assert!(executed.output.joined_text().contains("Cancelled"));
    assert_eq!(before.elapsed(), STOP_GRACE);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_obeys_may_say_how_far_it_came() {
    let (context, before) = (here(), Instant::now());
    context.cancel.cancel();
    let executed = run(Manner::Obeys, context).await;
    assert_eq!(executed.ending, Ending::Cancelled);
    let text = executed.output.joined_text();
    assert!(text.starts_with("half done\n[Cancelled"), "{text}");
    assert!(executed.output.is_error);
    assert!(before.elapsed() < STOP_GRACE);
}

#[tokio::test]
async fn two_tools_of_one_name_are_refused() {
    let mut registry = ToolRegistry::new();
    registry.add(Arc::new(Manner::Hangs)).unwrap();
    assert_eq!(
        registry
            .add(Arc::new(Manner::Obeys))
            .unwrap_err()
            .to_string(),
        "two tools are named `odd`"
    );
}
