//! What is derived from a snapshot is what a process that has just started would compute.

use crate::{AdminAgentSource, ModelSettings, SharedSkillDirs};
use netaclaw_admin::{
    Actor, AdminStore, AgentStore, ChannelStore, DEFAULT_AGENT, Expect, FirstStart, ToolStore,
};
use netaclaw_engine::PrepareRun;
use netaclaw_protocol::{
    AgentSpec, KeyChange, ProviderKind, RunId, SessionId, SessionMeta, SessionStatus, TodoList,
    ToolOverride, ToolStatus,
};
use netaclaw_runtime::prompt::Prompt;
use netaclaw_store::{AdminDatabase, AdminSettings, SecretKey, SqlAdminStore};
use netaclaw_tools::ToolRegistry;
use proptest::collection::{btree_set, vec};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Change {
    /// Of the tool, for all agents.
    Switch(&'static str, Option<ToolStatus>),
    SystemPrompt(String),
    /// What the agent may not use.
    Disabled(BTreeSet<&'static str>),
    Override(&'static str, String),
    /// Whether the model takes tools, and whether it sees images.
    Model(bool, bool),
    Instructions(Option<String>),
    Skill(usize, Option<String>),
}

fn change() -> impl Strategy<Value = Change> {
    let tool = || prop_oneof![Just("ls"), Just("read"), Just("bash"), Just("read_skill")];
    let status = prop_oneof![
        Just(None),
        Just(Some(ToolStatus::Enabled)),
        Just(Some(ToolStatus::Disabled))
    ];
    let text = || "[a-z]{1,8}";
    prop_oneof![
        (tool(), status).prop_map(|(tool, status)| Change::Switch(tool, status)),
        text().prop_map(Change::SystemPrompt),
        btree_set(tool(), 0..3).prop_map(Change::Disabled),
        (tool(), text()).prop_map(|(tool, text)| Change::Override(tool, text)),
        (any::<bool>(), any::<bool>()).prop_map(|(tools, sees)| Change::Model(tools, sees)),
        proptest::option::of(text()).prop_map(Change::Instructions),
        (0..3usize, proptest::option::of(text()))
            .prop_map(|(skill, text)| Change::Skill(skill, text)),
    ]
}

struct Here {
    dir: tempfile::TempDir,
    store: Arc<SqlAdminStore>,
    source: AdminAgentSource,
}

impl Here {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("work")).unwrap();
        let store = open(dir.path()).await;
        store.seed(FirstStart::default()).await.unwrap();
        let source = source(dir.path(), &store);
        source.sync_tools().await.unwrap();
        Self { dir, store, source }
    }

    async fn make(&self, change: Change) {
        let by = Actor::system();
        let work = self.dir.path().join("work");
        match change {
            Change::Switch(tool, status) => {
                let switched = self.store.switch_tool(&by, tool, Expect::Any, status);
                switched.await.unwrap();
            }
            Change::SystemPrompt(text) => self.agent(|spec| spec.system_prompt = text).await,
            Change::Disabled(tools) => {
                let tools = tools.into_iter().map(str::to_owned).collect();
                self.agent(|spec| spec.tools.disabled = tools).await;
            }
            Change::Override(tool, text) => {
                let other = ToolOverride {
                    description: Some(text),
                    ..ToolOverride::default()
                };
                self.agent(|spec| drop(spec.tool_overrides.insert(tool.to_owned(), other)))
                    .await;
            }
            Change::Model(tools, vision) => {
                let channel = self.store.channels().await.unwrap().remove(0);
                let mut spec = channel.spec;
                spec.models[0].tools = Some(tools);
                spec.models[0].vision = Some(vision);
                let keep = KeyChange::Keep;
                let changed = self
                    .store
                    .update_channel(&by, &channel.id, Expect::Any, spec, keep);
                changed.await.unwrap();
            }
            Change::Instructions(text) => put(&work.join("AGENTS.md"), text),
            Change::Skill(number, description) => {
                let folder = work.join(format!(".agents/skills/s{number}"));
                std::fs::create_dir_all(&folder).unwrap();
                let text = description
                    .map(|text| format!("---\nname: s{number}\ndescription: {text}\n---\nDo.\n"));
                put(&folder.join("SKILL.md"), text);
            }
        }
    }

    async fn agent(&self, change: impl FnOnce(&mut AgentSpec)) {
        let agent = self.store.agent_named(DEFAULT_AGENT).await.unwrap();
        let mut spec = agent.spec;
        change(&mut spec);
        let (by, any) = (Actor::system(), Expect::Any);
        let changed = self.store.update_agent(&by, &agent.id, any, spec);
        changed.await.unwrap();
    }
}

fn put(file: &Path, text: Option<String>) {
    match text {
        Some(text) => std::fs::write(file, text).unwrap(),
        // It may not have been there.
        None => std::fs::remove_file(file).unwrap_or_default(),
    }
}

async fn open(dir: &Path) -> Arc<SqlAdminStore> {
    let opened = SqlAdminStore::open(AdminSettings {
        database: AdminDatabase::Sqlite {
            file: dir.join("admin.db"),
        },
        secret_key: SecretKey::load_or_create(&dir.join("secret.key")).unwrap(),
    });
    Arc::new(opened.await.unwrap())
}

fn source(dir: &Path, store: &Arc<SqlAdminStore>) -> AdminAgentSource {
    let store = Arc::clone(store) as Arc<dyn AdminStore>;
    let registry = Arc::new(ToolRegistry::builtin());
    let models = ModelSettings::default();
    let home = SharedSkillDirs {
        data: Some(dir.join("skills")),
        ..SharedSkillDirs::default()
    };
    AdminAgentSource::new(store, models, registry, dir.join("work")).with_skills(home)
}

/// The whole prompt and all tools of a run.
async fn derived(source: &AdminAgentSource) -> String {
    let (session, run_id) = (session(), RunId::new("r"));
    let input = source.run_input(PrepareRun {
        session: &session,
        run_id: &run_id,
        model: None,
        told_tools: None,
        pending: None,
    });
    let (input, _) = input.await.unwrap();
    let current = input.current_tools.current().await.unwrap();
    assert!(
        current.is_same(&input.tools),
        "resolved once for each version"
    );
    let schemas: Vec<_> = input
        .tools
        .enabled()
        .map(|tool| tool.model_schema())
        .collect();
    let prompt = Prompt::new(&input.agent.system_prompt, &input.prompt, &input.tools);
    format!(
        "{:#?}",
        (
            input.tools.projection(),
            schemas,
            prompt.preview(&TodoList::default()),
            input.model.info,
            input.model.provider,
        )
    )
}

fn session() -> SessionMeta {
    SessionMeta {
        session_id: SessionId::new("s"),
        provider: ProviderKind::File,
        root_entry_id: None,
        leaf_entry_id: None,
        cwd: String::new(),
        session_file: None,
        parent_session_id: None,
        agent_id: None,
        user_id: None,
        title: None,
        status: SessionStatus::Active,
        metadata: Arc::default(),
        message_count: 0,
        first_message: None,
        created_at: String::new(),
        updated_at: String::new(),
    }
}

/// Scans of files are old enough to be repeated.
async fn let_scans_age() {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(1)).await;
    tokio::time::resume();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn a_snapshot_says_what_a_new_process_would_say(changes in vec(change(), 1..8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let here = Here::new().await;
            derived(&here.source).await;
            for change in changes {
                here.make(change).await;
                let_scans_age().await;
                let new = source(here.dir.path(), &open(here.dir.path()).await);
                assert_eq!(derived(&here.source).await, derived(&new).await);
            }
        });
    }
}

#[tokio::test]
async fn a_version_lasts_until_something_changes() {
    let here = Here::new().await;
    let snapshot = || async { here.source.sources.snapshot().await.unwrap() };
    let first = snapshot().await;
    derived(&here.source).await;
    assert!(Arc::ptr_eq(&first, &snapshot().await));
    here.make(Change::Switch("ls", Some(ToolStatus::Disabled)))
        .await;
    let second = snapshot().await;
    assert!(first.config.revision < second.config.revision);
    assert!(!Arc::ptr_eq(&first, &second));
    // A run that has the first one still has all of it.
    let was_on = |tools: &[netaclaw_protocol::ToolRecord]| {
        let ls = tools.iter().find(|tool| tool.name == "ls").unwrap();
        ls.status.is_none()
    };
    assert!(was_on(&first.config.tools) && !was_on(&second.config.tools));
}
