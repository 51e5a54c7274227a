use super::ContractHarness;
use super::subject::{
    agent_spec, assert_conflict, assert_invalid, assert_not_found, by, new_agent, new_channel,
    seeded,
};
use crate::{AdminError, Expect};
use netaclaw_protocol::{
    AgentId, AgentSpec, ApprovalMode, MissingSandbox, ModelConfig, ModelFallback, RecordKind,
    SandboxConfig, SubagentConfig, ThinkingLevel, ToolChoice, ToolOverride, ToolRisk,
};
use serde_json::json;

pub(super) async fn an_agent_comes_back_as_it_was_kept(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let channel = new_channel(&*store, "main").await.id;
    let override_of_bash = ToolOverride {
        description: Some("Führt 命令 aus \u{1f980} '\"\\".to_owned()),
        risk: Some(ToolRisk::Exec),
        timeout_ms: Some(1_000),
        approval: Some(ApprovalMode::Always),
        arguments: json!({"cwd": "/srv", "n": [1, null]})
            .as_object()
            .unwrap()
            .clone(),
    };
    let spec = AgentSpec {
        name: "研究 helper.1".to_owned(),
        label: "研究".to_owned(),
        description: "d".to_owned(),
        system_prompt: "Zeile 1\n\tZeile 2 🦀 \u{0}".repeat(1_000),
        model_config: ModelConfig {
            channel_id: Some(channel.clone()),
            model: Some("gpt-5".to_owned()),
            temperature: Some(0.3),
            max_tokens: Some(4_096),
            think_level: ThinkingLevel::Xhigh,
            fallback: Some(ModelFallback {
                channel_id: channel.clone(),
                model: None,
            }),
        },
        tools: ToolChoice {
            enabled: vec!["bash".to_owned()],
            disabled: vec!["web_fetch".to_owned()],
        },
        tool_overrides: [("bash".to_owned(), override_of_bash)].into(),
        subagent_config: SubagentConfig {
            allowed_tool_names: Some(vec!["read".to_owned()]),
        },
        skills: vec!["pdf".to_owned()],
        mcp_servers: vec!["files".to_owned()],
        workspace: Some("/srv/work".to_owned()),
        extra_roots: vec!["~/data".to_owned()],
        sandbox: SandboxConfig {
            missing: MissingSandbox::Warn,
            network: true,
        },
        approval: ApprovalMode::Never,
        allowed_hosts: vec!["*.example.com".to_owned()],
        is_crew_master: true,
        session_provider: "redis".to_owned(),
        compaction_threshold: 0,
        compaction_keep_recent: 20,
        auxiliary_model_channel_id: Some(channel),
        auxiliary_model_id: Some("gpt-5-nano".to_owned()),
        is_default: false,
    };
    let made = store.create_agent(by(), spec.clone()).await.unwrap();
    assert_eq!((&made.spec, made.stamp.rev), (&spec, 1));
    assert!(made.stamp.created_at > 0);
    let other = harness.open().await;
    assert_eq!(other.agent(&made.id).await.unwrap(), made);
    assert_eq!(other.agent_named(&spec.name).await.unwrap(), made);
    assert!(other.agents().await.unwrap().contains(&made));
}

pub(super) async fn an_agents_name_is_taken_once(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let coder = new_agent(&*store, "coder").await;
    let writer = new_agent(&*store, "writer").await;
    let again = store.create_agent(by(), agent_spec("coder")).await;
    assert!(matches!(again, Err(AdminError::Taken { .. })));
    let renamed = store.update_agent(by(), &writer.id, Expect::Any, agent_spec("coder"));
    assert!(matches!(renamed.await, Err(AdminError::Taken { .. })));
    assert_eq!(store.agent(&writer.id).await.unwrap(), writer);
    // Another case is another name, on every database.
    assert_ne!(new_agent(&*store, "Coder").await.id, coder.id);
}

pub(super) async fn an_agent_is_changed_only_at_the_expected_revision(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let made = new_agent(&*store, "a").await;
    let labelled = |label: &str| AgentSpec {
        label: label.to_owned(),
        ..agent_spec("a")
    };
    let changed = store.update_agent(by(), &made.id, Expect::Rev(1), labelled("one"));
    let changed = changed.await.unwrap();
    assert_eq!(changed.stamp.rev, 2);
    assert_eq!(changed.stamp.created_at, made.stamp.created_at);
    assert!(changed.stamp.updated_at >= made.stamp.updated_at);

    let late = store.update_agent(by(), &made.id, Expect::Rev(1), labelled("two"));
    assert_conflict(late.await, RecordKind::Agent, 2);
    let gone = store.delete_agent(by(), &made.id, Expect::Rev(1));
    assert_conflict(gone.await, RecordKind::Agent, 2);
    assert_eq!(store.agent(&made.id).await.unwrap(), changed);

    let any = store.update_agent(by(), &made.id, Expect::Any, labelled("three"));
    assert_eq!(any.await.unwrap().stamp.rev, 3);
    let gone = store.delete_agent(by(), &made.id, Expect::Rev(3)).await;
    gone.unwrap();
    assert_not_found(store.agent(&made.id).await);
}

pub(super) async fn a_change_that_changes_nothing_keeps_the_revision(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let made = new_agent(&*store, "a").await;
    let same = store.update_agent(by(), &made.id, Expect::Rev(1), made.spec.clone());
    assert_eq!(same.await.unwrap(), made);
}

pub(super) async fn there_is_always_one_default_agent(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let first = store.default_agent().await.unwrap();
    let spec = AgentSpec {
        is_default: true,
        ..agent_spec("second")
    };
    let second = store.create_agent(by(), spec).await.unwrap();
    assert_eq!(store.default_agent().await.unwrap(), second);
    let before = store.agent(&first.id).await.unwrap();
    assert!(!before.spec.is_default);
    // An editor of the old default must notice that it is not the default now.
    assert_eq!(before.stamp.rev, first.stamp.rev + 1);

    let back = AgentSpec {
        is_default: true,
        ..before.spec
    };
    store
        .update_agent(by(), &first.id, Expect::Any, back)
        .await
        .unwrap();
    let agents = store.agents().await.unwrap();
    let defaults: Vec<&AgentId> = agents
        .iter()
        .filter(|agent| agent.spec.is_default)
        .map(|agent| &agent.id)
        .collect();
    assert_eq!(defaults, [&first.id]);
}

pub(super) async fn the_default_agent_stays_until_there_is_another(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let agent = store.default_agent().await.unwrap();
    let gone = store.delete_agent(by(), &agent.id, Expect::Any);
    assert_invalid(gone.await, "isDefault");
    let spec = AgentSpec {
        is_default: false,
        ..agent.spec.clone()
    };
    let dethroned = store.update_agent(by(), &agent.id, Expect::Any, spec);
    assert_invalid(dethroned.await, "isDefault");
    assert_eq!(store.default_agent().await.unwrap(), agent);
}

pub(super) async fn an_agent_that_breaks_a_rule_is_not_kept(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let made = new_agent(&*store, "a").await;
    let wrong = AgentSpec {
        compaction_keep_recent: 1,
        ..agent_spec("b")
    };
    let created = store.create_agent(by(), wrong.clone());
    assert_invalid(created.await, "compactionKeepRecent");
    let updated = store.update_agent(by(), &made.id, Expect::Any, wrong);
    assert_invalid(updated.await, "compactionKeepRecent");
    let mut elsewhere = agent_spec("b");
    elsewhere.model_config.channel_id = Some("nowhere".into());
    let created = store.create_agent(by(), elsewhere);
    assert_invalid(created.await, "modelConfig.channelId");
    assert_eq!(store.agents().await.unwrap().len(), 2);
}

pub(super) async fn an_unknown_agent_is_not_found_but_may_be_guessed(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let missing = AgentId::new("missing");
    assert_not_found(store.agent(&missing).await);
    assert_not_found(store.delete_agent(by(), &missing, Expect::Any).await);
    let update = store.update_agent(by(), &missing, Expect::Any, agent_spec("a"));
    assert_not_found(update.await);
    match store.agent_named("defualt").await.unwrap_err() {
        AdminError::NotFound { nearest, .. } => assert_eq!(nearest.as_deref(), Some("default")),
        other => panic!("{other}"),
    }
}
