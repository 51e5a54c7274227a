use crate::gate::Yard;
use netaclaw_protocol::{
    McpFaultCode, McpServerSpec, McpStatus, McpTransport, SandboxConfig, ToolChoice, ToolRisk,
    ToolStatus,
};
use netaclaw_tools::contract::{approve, context};
use netaclaw_tools::mcp::{McpAccess, McpServers, try_server};
use netaclaw_tools::{Ending, Executed, ToolContext, ToolRegistry, ToolUpdate, Updates, execute};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn access(yard: &Yard, name: &str) -> McpAccess {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp_server.py");
    McpAccess {
        spec: McpServerSpec {
            name: name.to_owned(),
            transport: McpTransport::Stdio {
                command: "python3".to_owned(),
                args: vec![script.to_owned()],
            },
            status: ToolStatus::Enabled,
            tools: ToolChoice::default(),
            sandbox: SandboxConfig::default(),
            roots: vec![yard.workspace.path().display().to_string()],
            timeout_ms: 60_000,
        },
        secrets: Some([("SERVER_KEY".to_owned(), "for the server".into())].into()),
    }
}

pub(crate) async fn servers(yard: &Yard, wanted: Vec<McpAccess>) -> McpServers {
    let servers = McpServers::new(yard.gate.clone(), Arc::new(ToolRegistry::builtin()));
    servers.set(wanted);
    servers.settled(PATIENCE).await;
    servers
}

pub(crate) async fn call(yard: &Yard, servers: &McpServers, tool: &str, args: Value) -> Executed {
    call_in(context(yard.workspace.path()), servers, tool, args).await
}

async fn call_in(context: ToolContext, servers: &McpServers, tool: &str, args: Value) -> Executed {
    let registry = servers.registry();
    let approved = approve(&registry, tool, args);
    execute(&registry, approved, context).await
}

#[tokio::test]
async fn tools_of_a_server_are_used_like_others() {
    let yard = Yard::new();
    let servers = servers(&yard, vec![access(&yard, "odd")]).await;
    let echoed = call(&yard, &servers, "mcp__odd__echo", json!({"text": "水"})).await;
    assert_eq!(echoed.output.joined_text(), "水");
    assert_eq!(
        echoed.output.details,
        Some(json!({"server": "odd", "tool": "echo"}))
    );
    let failed = call(&yard, &servers, "mcp__odd__fail", json!({}))
        .await
        .output;
    assert!(failed.is_error && failed.joined_text() == "it went wrong");
    let refused = call(&yard, &servers, "mcp__odd__refuse", json!({}))
        .await
        .output;
    assert!(refused.is_error && refused.joined_text().contains("not like this"));
    let env = call(&yard, &servers, "mcp__odd__environment", json!({}))
        .await
        .output;
    let env: BTreeMap<String, String> = serde_json::from_str(&env.joined_text()).unwrap();
    assert_eq!(env["SERVER_KEY"], "for the server");
    assert!(
        !env.contains_key("MY_API_KEY"),
        "the server's own keys stay with it"
    );
}

#[tokio::test]
async fn a_tool_that_its_server_calls_harmless_is_asked_about_all_the_same() {
    let yard = Yard::new();
    let servers = servers(&yard, vec![access(&yard, "odd")]).await;
    let catalogue = servers.registry().catalogue();
    let mut foreign = catalogue
        .iter()
        .filter(|tool| tool.name.starts_with("mcp__"));
    assert!(foreign.clone().count() > 0);
    assert!(foreign.all(|tool| tool.risk == ToolRisk::Exec));
}

#[tokio::test]
async fn a_filter_leaves_tools_out() {
    let yard = Yard::new();
    let mut wanted = access(&yard, "odd");
    wanted.spec.tools = ToolChoice {
        enabled: vec!["e*".to_owned(), "fail".to_owned()],
        disabled: vec!["environment".to_owned()],
    };
    let tools = try_server(&wanted, &yard.gate).await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["echo", "fail"]);
}

#[tokio::test]
async fn floods_garbage_and_silence_are_bounded_and_clear() {
    let yard = Yard::new();
    let mut hurried = access(&yard, "hurried");
    hurried.spec.timeout_ms = 3_000;
    let servers = servers(&yard, vec![access(&yard, "odd"), hurried]).await;
    let flood = call(&yard, &servers, "mcp__odd__flood", json!({}))
        .await
        .output;
    let text = flood.joined_text();
    assert!(
        text.len() < 40 << 10 && text.contains("Output truncated"),
        "{}",
        text.len()
    );
    let garbage = call(&yard, &servers, "mcp__odd__garbage", json!({}))
        .await
        .output;
    assert_eq!(garbage.joined_text(), "behind the garbage");
    let never = call(&yard, &servers, "mcp__hurried__never", json!({}))
        .await
        .output;
    assert!(
        never.is_error && never.joined_text().contains("did not respond within 3 s"),
        "{never:?}"
    );
}

#[tokio::test]
async fn a_message_that_is_too_big_ends_the_call_at_once_and_the_server_comes_back() {
    let yard = Yard::new();
    let mut wanted = access(&yard, "odd");
    // Far more than it takes: the call must not end by time.
    wanted.spec.timeout_ms = 600_000;
    let servers = servers(&yard, vec![wanted]).await;
    let deluge = call(&yard, &servers, "mcp__odd__deluge", json!({}));
    let deluge = tokio::time::timeout(PATIENCE, deluge).await.unwrap();
    let text = deluge.output.joined_text();
    assert!(
        deluge.output.is_error && text.contains("a message that is too large: 16 MB"),
        "{text}"
    );
    assert!(text.contains("being reconnected"), "{text}");
    let mut states = servers.watch("odd").expect("it is still configured");
    let waited = async {
        let down = states.wait_for(|state| state.status == McpStatus::Down);
        let fault = down.await.unwrap().last_fault.clone().unwrap();
        assert_eq!(fault.code, McpFaultCode::TooBig);
        let back = states.wait_for(|state| state.status == McpStatus::Ready);
        back.await.unwrap();
    };
    tokio::time::timeout(PATIENCE, waited).await.unwrap();
    let echoed = call(&yard, &servers, "mcp__odd__echo", json!({"text": "back"})).await;
    assert_eq!(echoed.output.joined_text(), "back");
}

#[tokio::test]
async fn progress_is_shown() {
    let yard = Yard::new();
    let servers = servers(&yard, vec![access(&yard, "odd")]).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let keep = seen.clone();
    let context = ToolContext {
        updates: Updates::new(move |update| {
            if let ToolUpdate::Process(step) = update {
                let step = (step.message, step.current, step.percent);
                keep.lock().unwrap().push(step);
            }
        }),
        ..context(yard.workspace.path())
    };
    let done = call_in(context, &servers, "mcp__odd__progress", json!({})).await;
    assert_eq!(done.output.joined_text(), "done");
    let seen = seen.lock().unwrap();
    let expected = [(1, 50.0), (2, 100.0)]
        .map(|(step, percent)| (format!("step {step}"), Some(step), Some(percent)));
    assert_eq!(*seen, expected);
}

#[tokio::test]
async fn a_server_that_dies_fails_its_call_and_comes_back() {
    let yard = Yard::new();
    let servers = servers(&yard, vec![access(&yard, "odd"), access(&yard, "other")]).await;
    let died = call(&yard, &servers, "mcp__odd__die", json!({}))
        .await
        .output;
    let text = died.joined_text();
    assert!(
        died.is_error && text.contains("`odd` failed during the call"),
        "{text}"
    );
    let other = call(&yard, &servers, "mcp__other__echo", json!({"text": "fine"}))
        .await
        .output;
    assert_eq!(
        other.joined_text(),
        "fine",
        "the other server is left alone"
    );
    let mut states = servers.watch("odd").expect("it is still configured");
    let waited = async {
        let down = states.wait_for(|state| state.status == McpStatus::Down);
        let fault = down.await.unwrap().last_fault.clone().unwrap();
        assert_eq!(
            (fault.code, &*fault.detail),
            (McpFaultCode::Ended, "I cannot go on")
        );
        let obstacles = servers.obstacles();
        assert!(obstacles["odd"].contains("I cannot go on"), "{obstacles:?}");
        assert!(!obstacles.contains_key("other"));
        assert!(servers.tools_by_server()["odd"].contains(&"mcp__odd__echo".to_owned()));
        let back = states.wait_for(|state| state.status == McpStatus::Ready);
        assert_eq!(
            back.await.unwrap().last_fault,
            Some(fault),
            "a later call gets it, too"
        );
    };
    tokio::time::timeout(PATIENCE, waited).await.unwrap();
    assert!(servers.obstacles().is_empty());
    let back = call(&yard, &servers, "mcp__odd__echo", json!({"text": "back"})).await;
    assert_eq!(back.output.joined_text(), "back");
}

#[tokio::test]
async fn a_server_that_cannot_start_reports_why_and_affects_no_other() {
    let yard = Yard::new();
    let mut missing = access(&yard, "missing");
    missing.spec.transport = McpTransport::Stdio {
        command: "no-such-program".to_owned(),
        args: Vec::new(),
    };
    let mut talker = access(&yard, "talker");
    talker.spec.transport = McpTransport::Stdio {
        command: "bash".to_owned(),
        args: vec!["-c".to_owned(), "echo no key given >&2; exit 3".to_owned()],
    };
    let mut garbler = access(&yard, "garbler");
    garbler.spec.transport = McpTransport::Stdio {
        command: "bash".to_owned(),
        args: vec!["-c".to_owned(), "echo Welcome!".to_owned()],
    };
    let mut off = access(&yard, "off");
    off.spec.status = ToolStatus::Disabled;
    let wanted = vec![missing, talker, garbler, off, access(&yard, "odd")];
    let servers = servers(&yard, wanted).await;
    let standing = servers.statuses();
    let fault = |name: &str| standing[name].state.last_fault.clone().unwrap();
    let missing = fault("missing");
    assert_eq!(missing.code, McpFaultCode::NotStarted, "{missing:?}");
    assert!(missing.detail.contains("not found"), "{missing:?}");
    let talker = fault("talker");
    let expected = (McpFaultCode::Ended, "no key given");
    assert_eq!((talker.code, &*talker.detail), expected);
    let garbler = fault("garbler");
    let expected = (McpFaultCode::NotUnderstood, "Welcome!");
    assert_eq!((garbler.code, &*garbler.detail), expected);
    assert_eq!(standing["odd"].state.status, McpStatus::Ready);
    assert_eq!(standing["off"].state.status, McpStatus::Off);
    assert!(servers.obstacles()["off"].contains("disabled"));
}

#[tokio::test]
async fn a_call_that_is_stopped_leaves_the_server_as_it_is() {
    let yard = Yard::new();
    let servers = servers(&yard, vec![access(&yard, "odd")]).await;
    let context = context(yard.workspace.path());
    let stop = context.cancel.clone();
    let never = call_in(context, &servers, "mcp__odd__never", json!({}));
    let (ended, ()) = tokio::join!(never, async move { stop.cancel() });
    assert_eq!(ended.ending, Ending::Cancelled);
    let echoed = call(&yard, &servers, "mcp__odd__echo", json!({"text": "still"})).await;
    assert_eq!(echoed.output.joined_text(), "still");
}
