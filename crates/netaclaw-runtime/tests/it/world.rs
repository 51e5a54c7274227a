//! A run, from its parts to what is left of it.

use crate::legal::check_legal;
use crate::stand_in::{RecordingHost, TestClock, test_tools};
use netaclaw_governance::{
    CurrentTools, ModelAbilities, ResolveInput, ResolvedTools, ToolResolver, ToolScope,
};
use netaclaw_models::ModelClient;
use netaclaw_models::scripted::{Script, ScriptedClient, Step};
use netaclaw_protocol::{
    AgentSpec, ApprovalMode, InfoSource, ModelInfo, RunId, StopReason, ToolStatus,
};
use netaclaw_runtime::prompt::{Environment, PromptSources};
use netaclaw_runtime::{AgentSettings, ModelAccess, PendingCalls, RunInput, RunReport, run_agent};
use netaclaw_tools::contract::ShortMemory;
use netaclaw_tools::skills::SkillDirs;
use netaclaw_tools::spawn::Spawner;
use netaclaw_tools::{ToolRegistry, Workspace};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use tokio_util::sync::CancellationToken;

/// The settings of tools outside the agent.
#[derive(Default)]
pub(crate) struct Say {
    pub(crate) global: BTreeMap<String, ToolStatus>,
    pub(crate) environment: BTreeMap<String, String>,
}

/// Everything a test may change about a run before it starts.
pub(crate) struct World {
    pub(crate) host: RecordingHost,
    pub(crate) script: Script,
    pub(crate) client: Arc<dyn ModelClient>,
    pub(crate) info: ModelInfo,
    pub(crate) agent: AgentSettings,
    /// Whose tools the run gets.
    pub(crate) spec: AgentSpec,
    /// The tools during the run, if others than at its start.
    pub(crate) current_tools: Option<Arc<dyn CurrentTools>>,
    pub(crate) told_tools: Option<Vec<String>>,
    pub(crate) pending: Option<PendingCalls>,
    /// In place of what the agent's settings give it.
    pub(crate) tools: Option<ResolvedTools>,
    pub(crate) cancel: CancellationToken,
    pub(crate) workspace: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let (client, script) = ScriptedClient::new("channel");
        let spec = AgentSpec {
            approval: ApprovalMode::Never,
            ..AgentSpec::default()
        };
        Self {
            host: RecordingHost::new("What is in the box?"),
            script,
            client: Arc::new(client),
            info: ModelInfo {
                name: "scripted".into(),
                context_window: 100_000,
                max_output: 1000,
                vision: true,
                tools: true,
                thinking: true,
                price: None,
                chat: true,
                source: InfoSource::Channel,
            },
            agent: AgentSettings {
                system_prompt: "You look into boxes.".into(),
                ..AgentSettings::default()
            },
            spec,
            current_tools: None,
            told_tools: None,
            pending: None,
            tools: None,
            cancel: CancellationToken::new(),
            workspace: tempfile::tempdir().unwrap(),
        }
    }

    /// Prepares an answer of the model.
    pub(crate) fn answer(&self, steps: impl IntoIterator<Item = Step>) -> &Self {
        self.script.prepare(steps);
        self
    }

    /// Made once: its tools keep nothing, and their schemas take a while.
    fn registry() -> Arc<ToolRegistry> {
        static MADE: LazyLock<Arc<ToolRegistry>> =
            LazyLock::new(|| Arc::new(World::make_registry()));
        Arc::clone(&MADE)
    }

    fn make_registry() -> ToolRegistry {
        let mut registry = ToolRegistry::builtin();
        for tool in test_tools() {
            registry.add(tool).unwrap();
        }
        registry
    }

    /// The tools of the agent, some of which an administrator has switched off.
    pub(crate) fn tools_without(&self, off: &[&str]) -> ResolvedTools {
        let off = off
            .iter()
            .map(|name| ((*name).to_owned(), ToolStatus::Disabled));
        let say = Say {
            global: off.collect(),
            ..Say::default()
        };
        self.resolve(&say, ToolScope::Main)
    }

    /// The tools of the agent, or of one it delegates to, if others have this to say.
    pub(crate) fn resolve(&self, say: &Say, seat: ToolScope<'_>) -> ResolvedTools {
        ToolResolver::resolve(&ResolveInput {
            catalogue: &Self::registry().catalogue(),
            global: &say.global,
            agent: &self.spec,
            model: ModelAbilities {
                tools: self.info.tools,
                vision: self.info.vision,
            },
            environment: &say.environment,
            seat,
        })
    }

    pub(crate) fn input(&self) -> RunInput {
        let registry = Self::registry();
        let tools = match &self.tools {
            Some(tools) => tools.clone(),
            None => self.tools_without(&[]),
        };
        let current_tools = match &self.current_tools {
            Some(current) => current.clone(),
            None => Arc::new(tools.clone()),
        };
        RunInput {
            run_id: RunId::new("run"),
            session_id: "session".into(),
            skills: SkillDirs::default(),
            agent: self.agent.clone(),
            prompt: PromptSources {
                environment: Environment {
                    date: "2026-11-03".into(),
                    ..Environment::default()
                },
                ..PromptSources::default()
            },
            model: ModelAccess {
                client: self.client.clone(),
                info: self.info.clone(),
                provider: "channel".into(),
                tools_refused: None,
            },
            registry,
            tools,
            current_tools,
            spawner: Spawner::closed(),
            told_tools: self.told_tools.clone(),
            pending: self.pending.clone(),
            workspace: Arc::new(Workspace::new(self.workspace.path(), &[]).unwrap()),
            memory: Arc::new(ShortMemory::default()),
            cancel: self.cancel.clone(),
            clock: Arc::new(TestClock::default()),
        }
    }

    /// Runs to the end, and checks what every run must leave behind.
    pub(crate) async fn run(&mut self) -> RunReport {
        let input = self.input();
        let report = run_agent(input, &mut self.host).await;
        check_legal(&self.host);
        report
    }
}

pub(crate) fn text(text: &str) -> Step {
    Step::Text(text.into())
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> Step {
    Step::ToolCall {
        id: id.into(),
        name: name.into(),
        arguments,
    }
}

pub(crate) fn finish() -> Step {
    Step::Finish(StopReason::Stop)
}

/// `completed`, or the outcome with its reason.
pub(crate) fn ending(report: &RunReport) -> String {
    let outcome = serde_json::to_value(report.outcome).unwrap();
    let outcome = outcome.as_str().unwrap_or_default();
    match &report.reason {
        None => outcome.to_owned(),
        Some(reason) => format!("{outcome}: {}", reason.kind().as_str()),
    }
}
