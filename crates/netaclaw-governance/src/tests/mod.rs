mod decide;
mod foreign;
mod properties;
mod resolve;
mod standing;

use crate::*;
use netaclaw_protocol::{
    AgentSpec, ApprovalMode, ForeignContent, ToolCategory, ToolLabel, ToolRisk, ToolStatus,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

fn tool(name: &str, change: impl FnOnce(&mut ToolManifest)) -> Arc<ToolManifest> {
    let mut manifest = ToolManifest {
        name: name.into(),
        label: ToolLabel {
            zh: name.into(),
            en: name.into(),
        },
        description: format!("Does {name}.").into(),
        guidance: String::new(),
        category: ToolCategory::Files,
        schema: json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "deep": {"type": "boolean"}},
            "required": ["path"],
        })
        .into(),
        risk: ToolRisk::Read,
        default_status: ToolStatus::Enabled,
        worker: WorkerUse::Local,
        needs: Vec::new(),
        timeout: Some(Duration::from_secs(30)),
        output_cap: 1000,
        concurrency: Concurrency::Parallel,
        outlet: EgressTarget::None,
    };
    change(&mut manifest);
    Arc::new(manifest)
}

fn catalogue() -> Vec<Arc<ToolManifest>> {
    vec![
        tool("read", |_| {}),
        tool("look", |t| t.needs.push(ModelAbility::Vision)),
        tool("bash", |t| {
            t.risk = ToolRisk::Exec;
            t.default_status = ToolStatus::Disabled;
        }),
        tool("memory_save", |t| {
            t.worker = WorkerUse::Proxy;
            t.outlet = EgressTarget::Memory;
        }),
        tool("clarify", |t| {
            t.worker = WorkerUse::Never;
            t.timeout = None;
        }),
    ]
}

/// The input of a test: everything on its default, to be changed one thing at a time.
#[derive(Debug)]
struct World {
    catalogue: Vec<Arc<ToolManifest>>,
    global: BTreeMap<String, ToolStatus>,
    agent: AgentSpec,
    model: ModelAbilities,
    environment: BTreeMap<String, String>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            catalogue: catalogue(),
            global: BTreeMap::new(),
            agent: AgentSpec::default(),
            model: ModelAbilities {
                tools: true,
                vision: true,
            },
            environment: BTreeMap::new(),
        }
    }
}

impl World {
    fn new(change: impl FnOnce(&mut Self)) -> Self {
        let mut world = Self::default();
        change(&mut world);
        world
    }

    fn resolve(&self) -> ResolvedTools {
        self.resolve_for(ToolScope::Main)
    }

    fn resolve_for(&self, seat: ToolScope<'_>) -> ResolvedTools {
        ToolResolver::resolve(&ResolveInput {
            catalogue: &self.catalogue,
            global: &self.global,
            agent: &self.agent,
            model: self.model,
            environment: &self.environment,
            seat,
        })
    }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}
