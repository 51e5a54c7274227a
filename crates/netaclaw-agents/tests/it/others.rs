//! Changes that another process makes while a server runs.

use crate::world::{Setting, World};
use netaclaw_admin::{
    Actor, AdminStore, AgentStore, DEFAULT_AGENT, Expect, McpSecrets, McpStore, ToolStore,
};
use netaclaw_agents::{AdminMcpServers, HeadlessApproval, McpStatusSource};
use netaclaw_protocol::{McpServerSpec, Supplier, ToolStatus};
use netaclaw_testkit::fake_model::Reply;
use netaclaw_tools::ToolRegistry;
use netaclaw_tools::mcp::ServedTools;
use netaclaw_tools::spawn::SpawnGate;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Looks again until it is so, which it must be for a look that begins after a second.
async fn within_a_second(is_so: impl AsyncFn() -> bool) {
    let changed = Instant::now();
    loop {
        let is_due = changed.elapsed() >= Duration::from_secs(1);
        if is_so().await {
            return;
        }
        assert!(!is_due, "the change did not take effect within a second");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_tool_that_another_process_switches_off_is_refused_within_a_second() {
    let world = World::with(Setting::of(Supplier::Openai)).await;
    world.agents.sync_tools().await.unwrap();
    let tools = world
        .agents
        .toolbox(None, HeadlessApproval::Refuse)
        .await
        .unwrap();
    let is_refused = async || {
        let called = tools.call("ls", json!({}), CancellationToken::new()).await;
        called.is_error
    };
    assert!(!is_refused().await);
    let (by, other) = (Actor::command_line(), world.other_process().await);
    let off = Some(ToolStatus::Disabled);
    let switched = other.switch_tool(&by, "ls", Expect::Any, off);
    switched.await.unwrap();
    within_a_second(is_refused).await;
    other
        .switch_tool(&by, "ls", Expect::Any, None)
        .await
        .unwrap();
    within_a_second(async || !is_refused().await).await;
    // What this process changes counts at once.
    let switched = world.admin.switch_tool(&by, "ls", Expect::Any, off);
    switched.await.unwrap();
    assert!(is_refused().await);
}

#[tokio::test]
async fn an_agent_that_another_process_changes_is_another_within_a_second() {
    let world = World::with(Setting::of(Supplier::Openai)).await;
    let (session, client) = world.session().await;
    let other = world.other_process().await;
    let mut spec = other.agent_named(DEFAULT_AGENT).await.unwrap();
    let mut runs = 0;
    let mut run = async || {
        world.script().push(Reply::text("Hi."));
        world.chat(&session, "hello").await;
        runs += 1;
        client.done(runs).await;
        let last = world.requests().pop().unwrap();
        last.body.to_string()
    };
    assert!(!run().await.contains("marker-4711"));
    spec.spec.system_prompt = "You are marker-4711.".to_owned();
    let (by, any) = (Actor::command_line(), Expect::Any);
    let changed = other.update_agent(&by, &spec.id, any, spec.spec.clone());
    changed.await.unwrap();
    let changed = Instant::now();
    loop {
        let is_due = changed.elapsed() >= Duration::from_secs(1);
        if run().await.contains("marker-4711") {
            break;
        }
        assert!(!is_due, "the run has the old prompt");
    }
}

#[tokio::test]
async fn an_mcp_server_that_another_process_adds_is_followed() {
    let world = World::with(Setting::of(Supplier::Openai)).await;
    let store = Arc::clone(&world.admin) as Arc<dyn AdminStore>;
    let registry = Arc::new(ToolRegistry::builtin());
    let gate = Arc::new(SpawnGate::closed());
    let mcp = AdminMcpServers::start(store, gate, registry).await.unwrap();
    let other = world.other_process().await;
    let by = Actor::command_line();
    let spec = json!({"name": "files", "transport": {"type": "stdio", "command": "npx"}});
    let spec: McpServerSpec = serde_json::from_value(spec).unwrap();
    let made = other.create_mcp_server(&by, spec, McpSecrets::new());
    let made = made.await.unwrap();
    let is_there = async || mcp.statuses().contains_key("files");
    // Without a run, which would look as well.
    while !is_there().await {
        tokio::task::yield_now().await;
    }
    let deleted = other.delete_mcp_server(&by, &made.id, Expect::Any);
    deleted.await.unwrap();
    while is_there().await {
        tokio::task::yield_now().await;
    }
}
