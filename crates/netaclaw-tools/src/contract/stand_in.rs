//! Surroundings for tools under test.

use crate::context::{ImageUse, ToolContext, Updates};
use crate::registry::ToolRegistry;
use crate::service::{
    Clarifier, ClarifyAnswer, ClarifyQuestion, MemoryError, MemoryFact, MemoryService, Provenance,
    ServiceError, TodoService,
};
use crate::skills::SkillDirs;
use crate::spawn::Spawner;
use crate::workspace::Workspace;
use async_trait::async_trait;
use netaclaw_governance::{
    ApprovedCall, Decision, ModelAbilities, ProposedCall, ResolveInput, ToolResolver, ToolScope,
    decide,
};
use netaclaw_protocol::{AgentSpec, ApprovalMode, ForeignContent, TodoItem, TodoList, ToolChoice};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// A context whose workspace is `root`, with a list in memory and without a user.
pub fn context(root: &Path) -> ToolContext {
    ToolContext {
        workspace: Arc::new(Workspace::new(root, &[]).expect("the directory exists")),
        cancel: CancellationToken::new(),
        updates: Updates::ignored(),
        images: ImageUse::Seen,
        spawner: Spawner::closed(),
        todo: Arc::new(MemoryTodo::default()),
        clarifier: Arc::new(NoAnswers),
        memory: Arc::new(ShortMemory::default()),
        skills: SkillDirs::default(),
    }
}

/// A ticket for a call, as for an agent with every tool and without approvals.
pub fn approve(registry: &ToolRegistry, tool_name: &str, args: Value) -> ApprovedCall {
    let agent = AgentSpec {
        approval: ApprovalMode::Never,
        ..AgentSpec::default()
    };
    match judge(registry, agent, &ForeignContent::default(), tool_name, args) {
        Decision::Allow(approved) => approved,
        other => panic!("{other:?}"),
    }
}

/// What governance says to a call of an agent that has every tool, in a session that has read this.
pub fn judge(
    registry: &ToolRegistry,
    agent: AgentSpec,
    foreign: &ForeignContent,
    tool_name: &str,
    args: Value,
) -> Decision {
    let agent = AgentSpec {
        tools: ToolChoice {
            enabled: vec!["*".to_owned()],
            disabled: Vec::new(),
        },
        ..agent
    };
    let tools = ToolResolver::resolve(&ResolveInput {
        catalogue: &registry.catalogue(),
        global: &BTreeMap::new(),
        agent: &agent,
        model: ModelAbilities {
            tools: true,
            vision: true,
        },
        environment: &BTreeMap::new(),
        seat: ToolScope::Main,
    });
    let call = ProposedCall {
        tool_call_id: "call-1".to_owned(),
        tool_name: tool_name.to_owned(),
        args,
    };
    decide(&tools, Ok(&tools), foreign, call)
}

/// A to-do list that lives as long as the test.
#[derive(Debug, Default)]
pub struct MemoryTodo(Mutex<TodoList>);

#[async_trait]
impl TodoService for MemoryTodo {
    async fn list(&self) -> TodoList {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn replace(&self, items: Vec<TodoItem>) -> Result<TodoList, ServiceError> {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.revision += 1;
        list.items = items;
        Ok(list.clone())
    }
}

/// A memory that lives as long as the test and finds what holds the query.
#[derive(Debug, Default)]
pub struct ShortMemory(Mutex<Vec<MemoryFact>>);

#[async_trait]
impl MemoryService for ShortMemory {
    async fn save(
        &self,
        text: &str,
        replaces: Option<&str>,
        provenance: Provenance,
    ) -> Result<MemoryFact, MemoryError> {
        let mut facts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |fact: &MemoryFact| Some(fact.id.as_str()) == replaces;
        let place = facts.iter().position(known);
        if replaces.is_some() && place.is_none() {
            return Err(MemoryError::Refused("there is no such fact".to_owned()));
        }
        let fact = MemoryFact {
            id: place.unwrap_or(facts.len()).to_string(),
            text: text.to_owned(),
            day: "2026-11-03".to_owned(),
            pending: provenance == Provenance::Foreign,
        };
        match place {
            Some(place) => facts[place] = fact.clone(),
            None => facts.push(fact.clone()),
        }
        Ok(fact)
    }

    async fn search(
        &self,
        query: &str,
        _provenance: Provenance,
    ) -> Result<Vec<MemoryFact>, MemoryError> {
        let facts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = facts.iter().filter(|fact| fact.text.contains(query));
        Ok(found.cloned().collect())
    }
}

/// Questions are never answered.
#[derive(Debug)]
pub struct NoAnswers;

#[async_trait]
impl Clarifier for NoAnswers {
    async fn ask(&self, _question: ClarifyQuestion) -> Result<ClarifyAnswer, ServiceError> {
        std::future::pending().await
    }
}

/// Gives the same answer to every question and records the questions.
#[derive(Debug)]
pub struct ScriptedAnswers {
    answer: Result<ClarifyAnswer, ServiceError>,
    asked: Mutex<Vec<ClarifyQuestion>>,
}

impl ScriptedAnswers {
    pub fn new(answer: Result<ClarifyAnswer, ServiceError>) -> Self {
        Self {
            answer,
            asked: Mutex::new(Vec::new()),
        }
    }

    pub fn asked(&self) -> Vec<ClarifyQuestion> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait]
impl Clarifier for ScriptedAnswers {
    async fn ask(&self, question: ClarifyQuestion) -> Result<ClarifyAnswer, ServiceError> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(question);
        self.answer.clone()
    }
}
