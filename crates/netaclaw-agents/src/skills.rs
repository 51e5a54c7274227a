//! The skills of agents: their directories, and messages that name a skill.

use crate::headless::NoSession;
use crate::snapshot::AgentSnapshot;
use crate::source::AdminAgentSource;
use netaclaw_engine::{
    EngineError, SKILL_ENTRY, SkillCommand, SkillInput, SkillOpening, skill_call_id,
};
use netaclaw_protocol::{
    AgentSpec, AssistantMessage, ContentBlock, EntryId, Message, NotFound, NotReady, SkillDetail,
    SkillView, StopReason, Usage,
};
use netaclaw_runtime::prompt::SkillLine;
use netaclaw_session::{EntryBody, raw_json};
use netaclaw_tools::skills::{Skill, SkillDirs, SkillRun, SkillScan, check_skill, run_skill};
use netaclaw_tools::{
    EXECUTE_SKILL, ImageUse, ToolContext, ToolOutput, Updates, blocking, skill_instructions,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const SKILL_TOOLS: [&str; 3] = ["list_skills", "read_skill", EXECUTE_SKILL];

/// Where skills are that belong to no agent.
#[derive(Clone, Debug, Default)]
pub struct SharedSkillDirs {
    /// In the data directory; users put theirs here.
    pub data: Option<PathBuf>,
    /// Those that come with NetaClaw.
    pub shipped: Option<PathBuf>,
    /// The server's variables, which programs may need.
    pub environment: Vec<(OsString, OsString)>,
}

/// Where skills are looked for. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Skills {
    home: Arc<SharedSkillDirs>,
    environment: Arc<Vec<(OsString, OsString)>>,
}

/// What decides which skills an agent has: its directories, its workspace, and the names it uses.
pub(crate) type SkillKey = (Vec<PathBuf>, Option<PathBuf>, Vec<String>);

impl Skills {
    pub(crate) fn new(home: SharedSkillDirs) -> Self {
        Self {
            environment: Arc::new(home.environment.clone()),
            home: Arc::new(home),
        }
    }

    /// Items of the agent's `skills` with a slash are directories, all others are names.
    pub(crate) fn places(&self, spec: &AgentSpec, workspace: &Path) -> SkillDirs {
        let (dirs, chosen): (Vec<&String>, Vec<&String>) =
            spec.skills.iter().partition(|item| item.contains('/'));
        SkillDirs {
            agent: dirs.into_iter().map(|dir| workspace.join(dir)).collect(),
            data: self.home.data.clone(),
            workspace: Some(workspace.to_owned()),
            shipped: self.home.shipped.clone(),
            chosen: chosen.into_iter().cloned().collect(),
            environment: Arc::clone(&self.environment),
            vision: None,
        }
    }
}

impl AgentSnapshot {
    /// The skills at these places, usable or not.
    pub(crate) async fn skills_at(&self, places: &SkillDirs) -> Arc<Vec<Skill>> {
        let place = (
            places.agent.clone(),
            places.workspace.clone(),
            places.chosen.clone(),
        );
        let scan = |before: Option<SkillScan>| {
            let (places, before) = (places.clone(), before.unwrap_or_default());
            async { Ok::<_, Infallible>(blocking(move || places.scan(&before)).await) }
        };
        match self.skills.get(place, scan).await {
            Ok(scan) => scan.skills,
            Err(never) => match never {},
        }
    }

    /// The index for the prompt: users' skills before shipped ones.
    pub(crate) async fn skill_lines(&self, places: &SkillDirs) -> Vec<SkillLine> {
        let skills = self.skills_at(places).await;
        let ready = skills.iter().filter(|skill| skill.is_ready());
        let line = |skill: &Skill| SkillLine {
            name: skill.name.clone(),
            description: skill.description.clone(),
        };
        ready.map(line).collect()
    }
}

/// Why tools for skills are of no use, by tool.
pub(crate) fn missing(skills: &[Skill]) -> BTreeMap<String, String> {
    let mut ready = skills.iter().filter(|skill| skill.is_ready());
    let reason = |tool: &str, why: &str| (tool.to_owned(), why.to_owned());
    if ready.clone().next().is_none() {
        let none = SKILL_TOOLS.map(|tool| reason(tool, "no skill can be used"));
        return none.into_iter().collect();
    }
    match ready.any(|skill| skill.entry.is_some()) {
        true => BTreeMap::new(),
        false => {
            let why = "no skill that can be used has a program";
            BTreeMap::from([reason(EXECUTE_SKILL, why)])
        }
    }
}

impl AdminAgentSource {
    /// Skills that belong to no agent are found there.
    pub fn with_skills(mut self, home: SharedSkillDirs) -> Self {
        self.sources.skills = Skills::new(home);
        self
    }

    /// Every skill that an agent finds, with what keeps it from using one; `None` is the default
    /// agent.
    pub(crate) async fn skill_views(
        &self,
        agent: Option<&str>,
    ) -> Result<Vec<SkillView>, EngineError> {
        let found = self.skills_of(agent).await?;
        Ok(found.iter().map(Skill::view).collect())
    }

    pub(crate) async fn skill_detail(
        &self,
        agent: Option<&str>,
        name: &str,
    ) -> Result<SkillDetail, EngineError> {
        let found = self.skills_of(agent).await?;
        let mut named = found.iter().filter(|skill| skill.name == name);
        let best = named.clone().find(|skill| skill.is_ready());
        let skill = best.or_else(|| named.next()).cloned();
        match skill {
            Some(skill) => Ok(blocking(move || skill.detail()).await),
            None => {
                let name = name.to_owned();
                Err(NotFound::NoSkill { name }.into())
            }
        }
    }

    async fn skills_of(&self, agent: Option<&str>) -> Result<Vec<Skill>, EngineError> {
        let spec = self.agent_named(agent).await?.spec;
        let places = self.sources.skills.places(&spec, &self.cwd_of(&spec));
        // The page must show what was just changed.
        Ok(blocking(move || places.find()).await)
    }
}

/// A skill that a user runs directly, without an agent.
pub struct SkillByHand {
    /// Whose limits it has; `None` is the default agent.
    pub agent: Option<String>,
    /// A name, or a folder.
    pub skill: String,
    pub input: Value,
    pub workspace: PathBuf,
    pub updates: Updates,
    pub cancel: CancellationToken,
}

impl AdminAgentSource {
    /// The caller has approved what is run.
    pub async fn run_skill_by_hand(&self, run: SkillByHand) -> Result<ToolOutput, EngineError> {
        let spec = self.agent_named(run.agent.as_deref()).await?.spec;
        let (workspace, _) = self.open_workspace(run.workspace, Vec::new()).await?;
        let mut places = self.sources.skills.places(&spec, workspace.root());
        let folder = PathBuf::from(&run.skill);
        let mut name = run.skill;
        if let Some(skill) = check_skill(&folder, self.sources.skills.home.environment.clone()) {
            places.agent = vec![skill.dir.clone()];
            places.chosen.clear();
            name = skill.name;
        }
        let no_session = Arc::new(NoSession);
        let context = ToolContext {
            workspace: Arc::new(workspace),
            cancel: run.cancel,
            updates: run.updates,
            images: ImageUse::Unseen,
            spawner: self.sources.spawner(&spec, "skills by hand"),
            todo: Arc::clone(&no_session) as _,
            clarifier: Arc::clone(&no_session) as _,
            memory: no_session,
            skills: places.clone(),
        };
        let call = SkillRun {
            name,
            input: run.input,
            tool_call_id: Uuid::now_v7().to_string(),
        };
        Ok(run_skill(call, &places, &context).await)
    }
}

/// `Err` is for the user: the skill is not there, or cannot be used.
pub(crate) async fn opening(
    command: &SkillCommand,
    places: &SkillDirs,
    message: &EntryId,
    now_ms: i64,
) -> Result<SkillOpening, EngineError> {
    let (wanted, looked) = (command.name.clone(), places.clone());
    let found = blocking(move || {
        let skill = looked.ready(&wanted)?;
        let text = skill_instructions(&skill);
        Ok::<_, NotReady>((skill, text))
    });
    let (skill, text) = found.await?;
    match (&command.input, &skill.entry) {
        (SkillInput::Json(input), Some(_)) => {
            let call = ContentBlock::ToolCall {
                id: skill_call_id(message),
                name: EXECUTE_SKILL.to_owned(),
                arguments: json!({ "name": skill.name, "input": input }),
            };
            Ok(SkillOpening::Call {
                answer: EntryBody::message(&Message::Assistant(answer_with(call.clone(), now_ms))),
                call,
            })
        }
        _ => {
            let words = format!(
                "[System notice, not from the user] The user requests the skill `{}`. Its \
                 instructions:\n\n{text}",
                skill.name
            );
            Ok(SkillOpening::Instructions(EntryBody::CustomMessage {
                custom_type: SKILL_ENTRY.to_owned(),
                content: raw_json(&words),
                display: false,
                details: None,
            }))
        }
    }
}

/// As if a model had called the skill; the user did.
fn answer_with(call: ContentBlock, now_ms: i64) -> AssistantMessage {
    AssistantMessage {
        content: vec![call],
        api: String::new(),
        provider: "netaclaw".to_owned(),
        model: "skill".to_owned(),
        usage: Usage::default(),
        stop_reason: StopReason::ToolUse,
        error_message: None,
        trouble: None,
        netaclaw: None,
        timestamp: now_ms,
    }
}
