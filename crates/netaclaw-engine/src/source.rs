//! `AgentSource`, the port to agents.

use crate::compaction::{CompactionSetup, Overhead};
use crate::error::EngineError;
use crate::server::Caller;
use crate::session::durable::ModelChoice;
use crate::session::title::TitleModel;
use crate::skills::{SkillCommand, SkillOpening};
use async_trait::async_trait;
use netaclaw_protocol::{
    ApprovalDecision, ApprovalQuestion, EntryId, ModelInfo, ModelRef, NotFound, ProviderKind,
    SessionId, SessionMeta, StandingApproval, ThinkingLevel, Unavailable,
};
use netaclaw_runtime::{PendingCalls, RunHost, RunReport};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The source of agents, and of runs with them. Called for every run, so that a changed agent takes
/// effect with the next message.
#[async_trait]
pub trait AgentSource: Send + Sync + 'static {
    /// Finds an agent by id or name; `None` is the default one.
    async fn find(&self, agent: Option<&str>) -> Result<AgentRef, EngineError>;

    /// Refuses a model that a session of the agent cannot have.
    async fn check_model(
        &self,
        _agent: Option<&str>,
        _model: &ChosenModel,
    ) -> Result<(), EngineError> {
        Ok(())
    }

    /// Opens the agent's model and tools for one run of a session.
    async fn prepare(&self, run: PrepareRun<'_>) -> Result<PreparedRun, EngineError>;

    /// Removes what tools of the session have left outside of it.
    fn session_deleted(&self, _session: &SessionId) {}

    /// How a run begins whose message names a skill. A problem of the skill is an error text for
    /// the user.
    async fn open_skill(
        &self,
        _session: &SessionMeta,
        command: &SkillCommand,
        _message: &EntryId,
    ) -> Result<SkillOpening, EngineError> {
        let name = command.name.clone();
        Err(NotFound::NoSkill { name }.into())
    }

    /// The limits of the session's context: those of the model for its next message. A client that
    /// joins waits for it, so it must be quick and open no tools. `None` without such a model; the
    /// next run reports why.
    async fn measure(
        &self,
        _session: &SessionMeta,
        _model: Option<ChosenModel>,
    ) -> Option<Measure> {
        None
    }

    /// Records who allowed or denied which call. A decision that cannot be recorded does not count.
    async fn record_approval(
        &self,
        _by: &Caller,
        _act: ApprovalAct<'_>,
    ) -> Result<(), EngineError> {
        Ok(())
    }

    /// The standing approvals for the session's agent that its user has granted.
    async fn standing_approvals(
        &self,
        _session: &SessionMeta,
    ) -> Result<Vec<StandingApproval>, EngineError> {
        Ok(Vec::new())
    }

    /// Records who granted a standing approval, and stores one that is valid for the agent. Returns
    /// it with the name of the user. What cannot be recorded is not granted.
    async fn grant_approval(
        &self,
        _by: &Caller,
        new: StandingApproval,
    ) -> Result<StandingApproval, EngineError> {
        Ok(new)
    }

    /// Records who revoked a standing approval of a session.
    async fn record_revoked(
        &self,
        _by: &Caller,
        _approval: &StandingApproval,
    ) -> Result<(), EngineError> {
        Ok(())
    }

    /// The tools of the session's agent, as a standing approval is bound to them.
    async fn tools_to_approve(
        &self,
        _session: &SessionMeta,
        _which: ToolsToApprove<'_>,
    ) -> Result<BTreeMap<String, String>, EngineError> {
        Ok(BTreeMap::new())
    }

    /// How the session's context is compacted, and by which model. A configured model that cannot
    /// be used is an error.
    async fn compaction(
        &self,
        _session: &SessionMeta,
        _model: Option<ChosenModel>,
    ) -> Result<CompactionSetup, EngineError> {
        Err(Unavailable::NoSummaries.into())
    }

    /// What every request of the session's agent carries besides the messages.
    async fn overhead(
        &self,
        _session: &SessionMeta,
        _model: Option<ChosenModel>,
    ) -> Result<Overhead, EngineError> {
        Ok(Overhead::default())
    }

    /// How long a question that is asked now stays open; `None` is until it is answered.
    async fn question_timeout(&self) -> Option<Duration> {
        None
    }

    /// The model for the session's title, if one is configured for titles. Without one the first
    /// line of the first message stays.
    async fn title_model(&self, _session: &SessionMeta) -> Result<Option<TitleModel>, EngineError> {
        Ok(None)
    }
}

/// A user's decision about a call.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalAct<'a> {
    pub session: &'a SessionId,
    pub asked: &'a ApprovalQuestion,
    pub decision: ApprovalDecision,
    pub scope: ApprovalLifetime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalLifetime {
    Once,
    /// What was granted with it, for the rest of the session.
    Session,
    /// The same for all sessions of the user with the agent.
    Agent,
}

/// The tools that a standing approval is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolsToApprove<'a> {
    /// All that edit files.
    Edits,
    /// One, if its calls need approval at all.
    One(&'a str),
}

/// What a session needs of its agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRef {
    pub id: String,
    pub name: String,
    pub provider: ProviderKind,
    /// The directory the agent works in.
    pub cwd: String,
    /// The level a session of the agent begins with.
    pub think_level: ThinkingLevel,
}

pub struct PrepareRun<'a> {
    pub session: &'a SessionMeta,
    pub run_id: &'a netaclaw_protocol::RunId,
    /// The channel and model chosen for this session instead of the agent's.
    pub model: Option<ChosenModel>,
    /// The tools that were last announced to the model, in this session.
    pub told_tools: Option<Vec<String>>,
    /// What the run is to begin with.
    pub pending: Option<PendingCalls>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenModel {
    pub channel_id: String,
    pub model_id: String,
}

impl From<ModelChoice> for ChosenModel {
    fn from(choice: ModelChoice) -> Self {
        Self {
            channel_id: choice.channel_id,
            model_id: choice.model_id,
        }
    }
}

/// How large a context may become.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    pub model: ModelInfo,
    /// The same model, as answers name it.
    pub model_ref: ModelRef,
    /// As in [`PreparedRun`].
    pub threshold_percent: Option<u8>,
}

/// A run ready to start.
pub struct PreparedRun {
    pub model: ModelInfo,
    /// At how many percent of the window the context is compacted; `None` if never.
    pub threshold_percent: Option<u8>,
    pub runner: Box<dyn Runner>,
}

/// The loop with everything it needs but the session.
#[async_trait]
pub trait Runner: Send {
    async fn run(self: Box<Self>, host: &mut dyn RunHost, cancel: CancellationToken) -> RunReport;
}
