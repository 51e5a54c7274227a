use super::*;
use netaclaw_protocol::{ApprovalMode, DisabledCode, PolicyLayer, ToolOverride, ToolRoute};

/// Which tools are on, and for each that is off who took it away.
#[track_caller]
fn check(world: &World, on: &[&str], off: &[(&str, DisabledCode, PolicyLayer)]) {
    check_tools(&world.resolve(), on, off);
}

#[track_caller]
fn check_tools(tools: &ResolvedTools, on: &[&str], off: &[(&str, DisabledCode, PolicyLayer)]) {
    let shown = tools.projection();
    assert_eq!(shown.tool_names, on);
    let reasons: Vec<_> = shown
        .disabled_reasons
        .iter()
        .map(|tool| (tool.tool_name.as_str(), tool.code, tool.decided_by))
        .collect();
    assert_eq!(reasons, off);
    // Every known tool has one line, and the three lists never contradict each other.
    assert_eq!(shown.runtime_diagnostic.len(), tools.all().count());
    for line in &shown.runtime_diagnostic {
        let enabled = on.contains(&line.tool_name.as_str());
        assert_eq!(line.status == ToolStatus::Enabled, enabled, "{line:?}");
        assert_eq!(line.route == ToolRoute::Disabled, !enabled, "{line:?}");
        assert_eq!(line.blocked_reason.is_none(), enabled, "{line:?}");
        assert_eq!(line.code.is_none(), enabled, "{line:?}");
        assert!(!line.policy_sources.is_empty() && !line.how_to_change.is_empty());
    }
}

const ALL_BUT_BASH: [&str; 4] = ["read", "look", "memory_save", "clarify"];
const BASH_OFF: (&str, DisabledCode, PolicyLayer) =
    ("bash", DisabledCode::OffByDefault, PolicyLayer::Catalogue);

#[test]
fn the_catalogue_decides_without_other_settings() {
    check(&World::default(), &ALL_BUT_BASH, &[BASH_OFF]);
}

#[test]
fn a_global_on_and_an_agents_on_turn_a_tool_on() {
    let all = ["read", "look", "bash", "memory_save", "clarify"];
    let global = World::new(|w| {
        w.global.insert("bash".into(), ToolStatus::Enabled);
    });
    check(&global, &all, &[]);
    let agent = World::new(|w| w.agent.tools.enabled = names(&["bash"]));
    check(&agent, &all, &[]);
    assert_eq!(
        agent.resolve().get("bash").unwrap().policy_sources(),
        ["catalogue:off_by_default", "agent:enabled"]
    );
}

#[test]
fn a_global_off_is_final() {
    let world = World::new(|w| {
        w.global.insert("read".into(), ToolStatus::Disabled);
        w.agent.tools.enabled = names(&["read"]);
    });
    let off = ("read", DisabledCode::OffGlobally, PolicyLayer::Global);
    check(&world, &ALL_BUT_BASH[1..], &[off, BASH_OFF]);
}

#[test]
fn an_agent_can_take_away_by_name_and_by_pattern() {
    let off = |name| (name, DisabledCode::OffForAgent, PolicyLayer::Agent);
    let one = World::new(|w| w.agent.tools.disabled = names(&["read"]));
    check(&one, &ALL_BUT_BASH[1..], &[off("read"), BASH_OFF]);

    let both = World::new(|w| {
        w.agent.tools.enabled = names(&["read"]);
        w.agent.tools.disabled = names(&["read"]);
    });
    check(&both, &ALL_BUT_BASH[1..], &[off("read"), BASH_OFF]);

    let allow_list = World::new(|w| {
        w.agent.tools.disabled = names(&["*"]);
        w.agent.tools.enabled = names(&["bash", "mem*"]);
    });
    check(
        &allow_list,
        &["bash", "memory_save"],
        &[off("read"), off("look"), off("clarify")],
    );
}

#[test]
fn a_model_without_tools_or_eyes_loses_what_it_cannot_use() {
    let blind = World::new(|w| w.model.vision = false);
    let look = ("look", DisabledCode::ModelWithoutVision, PolicyLayer::Model);
    check(
        &blind,
        &["read", "memory_save", "clarify"],
        &[look, BASH_OFF],
    );

    let plain = World::new(|w| w.model.tools = false);
    let off = |name| (name, DisabledCode::ModelWithoutTools, PolicyLayer::Model);
    check(
        &plain,
        &[],
        &[
            off("read"),
            off("look"),
            BASH_OFF,
            off("memory_save"),
            off("clarify"),
        ],
    );
}

#[test]
fn what_is_missing_here_is_named_and_others_stay() {
    let world = World::new(|w| {
        w.environment
            .insert("read".into(), "there is no workspace".into());
    });
    let off = (
        "read",
        DisabledCode::NotAvailableHere,
        PolicyLayer::Environment,
    );
    check(&world, &ALL_BUT_BASH[1..], &[off, BASH_OFF]);
    let tools = world.resolve();
    let reason = tools.get("read").unwrap().blocked_reason();
    assert_eq!(reason, Some("there is no workspace"));
}

#[test]
fn a_subagent_has_what_its_parent_has_and_was_granted() {
    let parent = World::new(|w| w.agent.tools.disabled = names(&["look"])).resolve();
    let granted = names(&["read", "look", "clarify", "memory_*"]);
    // The child's own configuration has more than its parent may give.
    let child = World::new(|w| w.agent.tools.enabled = names(&["bash", "look"]));
    let tools = child.resolve_for(ToolScope::Subagent {
        parent: &parent,
        granted: Some(&granted),
    });
    let off = |name, code| (name, code, PolicyLayer::Subagent);
    check_tools(
        &tools,
        &["read", "memory_save"],
        &[
            off("look", DisabledCode::ParentWithout),
            off("bash", DisabledCode::ParentWithout),
            off("clarify", DisabledCode::NotForSubagents),
        ],
    );
    let route = |name: &str| tools.get(name).unwrap().route();
    assert_eq!(route("read"), ToolRoute::WorkerLocal);
    assert_eq!(route("memory_save"), ToolRoute::MainProcessProxy);

    let tools = child.resolve_for(ToolScope::Subagent {
        parent: &parent,
        granted: Some(&names(&["read"])),
    });
    assert_eq!(tools.projection().tool_names, ["read"]);
}

#[test]
fn unknown_names_are_warnings_and_disable_no_tool() {
    let world = World::new(|w| {
        w.agent.tools.enabled = names(&["reed", "mcp__later__*"]);
        w.agent.tools.disabled = names(&["kubernetes"]);
        w.agent
            .tool_overrides
            .insert("Bash".into(), ToolOverride::default());
    });
    check(&world, &ALL_BUT_BASH, &[BASH_OFF]);
    let tools = world.resolve();
    let warnings: Vec<_> = tools
        .warnings()
        .iter()
        .map(|w| (w.place.as_str(), w.name.as_str(), w.nearest.as_deref()))
        .collect();
    assert_eq!(
        warnings,
        [
            ("tools.enabled", "reed", Some("read")),
            ("tools.disabled", "kubernetes", None),
            ("toolOverrides", "Bash", Some("bash")),
        ]
    );
    assert_eq!(
        tools.warnings()[0].message,
        "tools.enabled names `reed`, which is not a tool; did you mean `read`?"
    );
}

#[test]
fn overrides_change_one_tool_for_one_agent() {
    let world = World::new(|w| {
        let change = ToolOverride {
            description: Some("Reads the handbook.".into()),
            risk: Some(ToolRisk::Network),
            timeout_ms: Some(5),
            approval: Some(ApprovalMode::Always),
            arguments: json!({"path": "handbook.md"}).as_object().unwrap().clone(),
        };
        w.agent
            .tool_overrides
            .insert("clarify".into(), change.clone());
        w.agent.tool_overrides.insert("read".into(), change);
    });
    let tools = world.resolve();
    let read = tools.get("read").unwrap();
    assert_eq!(read.manifest().description, "Reads the handbook.");
    assert_eq!(read.manifest().risk, ToolRisk::Network);
    assert_eq!(read.manifest().timeout, Some(Duration::from_millis(5)));
    assert!(read.needs_approval());
    assert_eq!(
        *read.model_schema(),
        json!({"type": "object", "properties": {"deep": {"type": "boolean"}}, "required": []})
    );
    assert_eq!(
        read.policy_sources(),
        ["catalogue:on_by_default", "agent:override"]
    );
    // No deadline applies to a tool that waits for users, because they take their time.
    assert_eq!(tools.get("clarify").unwrap().manifest().timeout, None);
    assert!(!tools.get("look").unwrap().needs_approval());
}

#[test]
fn a_change_is_announced_with_its_reasons() {
    let told = names(&["read", "look", "memory_save", "clarify", "gone"]);
    let now = World::new(|w| {
        w.global.insert("read".into(), ToolStatus::Disabled);
        w.agent.tools.enabled = names(&["bash"]);
    });
    let changed = now.resolve().since(&told).unwrap();
    assert_eq!(changed.added, ["bash"]);
    let removed: Vec<_> = changed
        .removed
        .iter()
        .map(|tool| (tool.tool_name.as_str(), tool.code))
        .collect();
    assert_eq!(
        removed,
        [
            ("read", DisabledCode::OffGlobally),
            ("gone", DisabledCode::NotAvailableHere)
        ]
    );
    assert_eq!(World::default().resolve().since(&told[..4]), None);
}

#[test]
fn a_word_of_caution_is_for_tools_that_are_on() {
    let caution = |tools: ResolvedTools| {
        let tools = tools.cautioned("bash", "it is not locked in".into());
        let shown = tools.projection().runtime_diagnostic;
        let shown: Vec<_> = shown.into_iter().filter_map(|line| line.caution).collect();
        shown
    };
    let on = World::new(|w| w.agent.tools.enabled = names(&["bash"]));
    assert_eq!(caution(on.resolve()), ["it is not locked in"]);
    assert!(caution(World::default().resolve()).is_empty());
}
