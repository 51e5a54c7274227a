//! Where the kernel cannot sandbox programs, the agent's setting decides, and users are warned.

use crate::world::{Setting, World};
use netaclaw_admin::{AgentStore, DEFAULT_AGENT};
use netaclaw_agents::{AgentPreviews, PreviewFor};
use netaclaw_protocol::{MissingSandbox, Supplier, ToolStatus};
use netaclaw_testkit::engine::within;
use netaclaw_testkit::fake_model::Reply;
use netaclaw_tools::Hidden;
use netaclaw_tools::spawn::{GateSettings, Launcher, Namespaces, SandboxAbilities, SpawnGate};

/// A machine without Landlock. Nothing is started here, so no guard is needed.
async fn world(missing: MissingSandbox) -> World {
    world_on(SandboxAbilities::Absent, missing).await
}

async fn world_on(abilities: SandboxAbilities, missing: MissingSandbox) -> World {
    let gate = SpawnGate::new(GateSettings {
        launcher: Launcher::ThisProgram,
        hidden: Hidden::default(),
        abilities,
        namespaces: Namespaces::Auto,
        environment: Vec::new(),
    });
    let world = World::with(Setting {
        gate,
        ..Setting::of(Supplier::Openai)
    })
    .await;
    world
        .change_agent(|spec| spec.sandbox.missing = missing)
        .await;
    world
}

/// What is shown about `bash`: whether it is on, why not, and what to take care of.
async fn shown(world: &World) -> (ToolStatus, Option<String>, Option<String>) {
    let spec = world.admin.agent_named(DEFAULT_AGENT).await.unwrap().spec;
    let preview = world.agents.preview(&spec, PreviewFor::default()).await;
    let lines = preview.unwrap().tools.runtime_diagnostic;
    let line = lines.into_iter().find(|line| line.tool_name == "bash");
    let line = line.unwrap();
    (line.status, line.blocked_reason, line.caution)
}

/// The warnings of a run.
async fn warnings(world: &World) -> Vec<String> {
    world.script().push(Reply::text("Hi."));
    let (session, client) = world.session().await;
    world.chat(&session, "hello").await;
    within(client.done(1)).await;
    let events = client.events();
    let warnings = events.iter().filter(|event| event["type"] == "error");
    let kinds = warnings.map(|event| event["data"]["trouble"]["kind"].as_str());
    kinds.map(|kind| kind.unwrap().to_owned()).collect()
}

#[tokio::test]
async fn programs_that_are_not_locked_in_are_refused_unless_the_agent_allows_them() {
    let refusing = world(MissingSandbox::Refuse).await;
    let (status, reason, caution) = shown(&refusing).await;
    assert_eq!((status, caution), (ToolStatus::Disabled, None));
    assert!(reason.unwrap().contains("this kernel has no Landlock"));
    assert_eq!(warnings(&refusing).await, Vec::<String>::new());

    let warned = world(MissingSandbox::Warn).await;
    let (status, reason, caution) = shown(&warned).await;
    assert_eq!((status, reason), (ToolStatus::Enabled, None));
    assert!(
        caution
            .unwrap()
            .starts_with("programs run without a sandbox")
    );
    assert_eq!(warnings(&warned).await, ["no_sandbox"]);
}

#[tokio::test]
async fn indistinguishable_sockets_are_reported() {
    for (version, missing, network, told) in [
        (8, MissingSandbox::Warn, true, true),
        (8, MissingSandbox::Warn, false, false),
        (8, MissingSandbox::Refuse, true, false),
        (9, MissingSandbox::Warn, true, false),
    ] {
        let world = world_on(SandboxAbilities::Landlock(version), missing).await;
        world
            .change_agent(|spec| spec.sandbox.network = network)
            .await;
        let (status, _, caution) = shown(&world).await;
        assert_eq!(status, ToolStatus::Enabled);
        let is_reported =
            caution.is_some_and(|caution| caution.contains("a socket in the file system"));
        assert_eq!(is_reported, told, "{version} {missing:?} {network}");
    }
}
