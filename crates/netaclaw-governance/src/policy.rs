//! One tool walks through the layers.

use crate::manifest::{ModelAbility, ToolManifest, WorkerUse};
use crate::names::{Naming, naming};
use crate::resolve::{ResolveInput, Seat};
use netaclaw_protocol::{DisabledCode, PolicyLayer, ToolRoute, ToolStatus};

/// What the layers said about a tool, and who had the last word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trail {
    pub(crate) off: Option<Off>,
    pub(crate) decided_by: PolicyLayer,
    pub(crate) sources: Vec<String>,
    pub(crate) route: ToolRoute,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Off {
    pub(crate) code: DisabledCode,
    pub(crate) reason: String,
}

/// Asks the layers in their order. A later one wins, except that a global "off" is final and that
/// model, environment and seat can only take away.
pub(crate) fn walk(tool: &ToolManifest, input: &ResolveInput<'_>) -> Trail {
    let mut trail = Trail {
        off: None,
        decided_by: PolicyLayer::Catalogue,
        sources: Vec::new(),
        route: ToolRoute::Main,
    };
    catalogue(tool, &mut trail);
    if input.global.get(&tool.name) == Some(&ToolStatus::Disabled) {
        trail.off(
            PolicyLayer::Global,
            DisabledCode::OffGlobally,
            "an administrator disabled it for all agents",
        );
        return trail;
    }
    global(tool, input, &mut trail);
    agent(tool, input, &mut trail);
    for restrict in [model, environment, seat] {
        if trail.off.is_none() {
            restrict(tool, input, &mut trail);
        }
    }
    trail
}

fn catalogue(tool: &ToolManifest, trail: &mut Trail) {
    match tool.default_status {
        ToolStatus::Enabled => trail.on(PolicyLayer::Catalogue, "on_by_default"),
        ToolStatus::Disabled => trail.off(
            PolicyLayer::Catalogue,
            DisabledCode::OffByDefault,
            "it is disabled by default; an agent or an administrator can enable it",
        ),
    }
}

fn global(tool: &ToolManifest, input: &ResolveInput<'_>, trail: &mut Trail) {
    if input.global.get(&tool.name) == Some(&ToolStatus::Enabled) {
        trail.on(PolicyLayer::Global, "on");
    }
}

fn agent(tool: &ToolManifest, input: &ResolveInput<'_>, trail: &mut Trail) {
    let enabled = naming(&input.agent.tools.enabled, &tool.name);
    let disabled = naming(&input.agent.tools.disabled, &tool.name);
    if disabled > Naming::NotAtAll && disabled >= enabled {
        trail.off(
            PolicyLayer::Agent,
            DisabledCode::OffForAgent,
            "the agent's settings disable it",
        );
    } else if enabled > Naming::NotAtAll {
        trail.on(PolicyLayer::Agent, "enabled");
    }
    if input.agent.tool_overrides.contains_key(&tool.name) {
        trail.sources.push("agent:override".to_owned());
    }
}

fn model(tool: &ToolManifest, input: &ResolveInput<'_>, trail: &mut Trail) {
    if !input.model.tools {
        trail.off(
            PolicyLayer::Model,
            DisabledCode::ModelWithoutTools,
            "the model does not support tools",
        );
    } else if tool.needs.contains(&ModelAbility::Vision) && !input.model.vision {
        trail.off(
            PolicyLayer::Model,
            DisabledCode::ModelWithoutVision,
            "the model does not support images",
        );
    }
}

fn environment(tool: &ToolManifest, input: &ResolveInput<'_>, trail: &mut Trail) {
    if let Some(missing) = input.environment.get(&tool.name) {
        trail.off(
            PolicyLayer::Environment,
            DisabledCode::NotAvailableHere,
            missing,
        );
    }
}

/// A subagent has at most what its parent has and what it was granted, so that delegation cannot
/// widen rights.
fn seat(tool: &ToolManifest, input: &ResolveInput<'_>, trail: &mut Trail) {
    let Seat::Subagent { parent, granted } = input.seat else {
        return;
    };
    let off = |trail: &mut Trail, code, reason| trail.off(PolicyLayer::Subagent, code, reason);
    if parent.get(&tool.name).is_none_or(|tool| !tool.is_enabled()) {
        return off(
            trail,
            DisabledCode::ParentWithout,
            "the agent that started this one does not have it",
        );
    }
    if granted.is_some_and(|granted| naming(granted, &tool.name) == Naming::NotAtAll) {
        return off(
            trail,
            DisabledCode::NotGrantedToSubagent,
            "it is not granted to this subagent",
        );
    }
    match tool.worker {
        WorkerUse::Local => trail.route = ToolRoute::WorkerLocal,
        WorkerUse::Proxy => trail.route = ToolRoute::MainProcessProxy,
        WorkerUse::Never => {
            return off(
                trail,
                DisabledCode::NotForSubagents,
                "subagents cannot use it",
            );
        }
    }
    trail.sources.push("subagent:granted".to_owned());
}

impl Trail {
    fn on(&mut self, layer: PolicyLayer, what: &str) {
        self.off = None;
        self.route = ToolRoute::Main;
        self.decided_by = layer;
        self.sources.push(format!("{}:{what}", layer_name(layer)));
    }

    fn off(&mut self, layer: PolicyLayer, code: DisabledCode, reason: &str) {
        self.off = Some(Off {
            code,
            reason: reason.to_owned(),
        });
        self.route = ToolRoute::Disabled;
        self.decided_by = layer;
        let what = match layer {
            PolicyLayer::Catalogue => "off_by_default",
            _ => "off",
        };
        self.sources.push(format!("{}:{what}", layer_name(layer)));
    }

    /// How an administrator could change it.
    pub(crate) fn how_to_change(&self) -> &'static str {
        match self.off.as_ref().map(|off| off.code) {
            None => "To disable it, add it to the agent's `tools.disabled`.",
            Some(DisabledCode::OffByDefault) => {
                "Add it to the agent's `tools.enabled`, or enable it for all agents on the tools \
                 page."
            }
            Some(DisabledCode::OffGlobally) => {
                "An administrator can enable it on the tools page; agents cannot."
            }
            Some(DisabledCode::OffForAgent) => "Remove it from the agent's `tools.disabled`.",
            Some(DisabledCode::ModelWithoutTools) => {
                "Choose a model that supports tools, or mark this one in its channel as \
                 supporting them."
            }
            Some(DisabledCode::ModelWithoutVision) => {
                "Choose a model that supports images, or mark this one in its channel as \
                 supporting them."
            }
            Some(DisabledCode::NotAvailableHere) => {
                "Provide what is missing; the tool then becomes available automatically."
            }
            Some(DisabledCode::ParentWithout) => "Give the tool to the agent that delegates first.",
            Some(DisabledCode::NotGrantedToSubagent) => {
                "Add it to `subagentConfig.allowedToolNames`."
            }
            Some(DisabledCode::NotForSubagents) => {
                "Let the main agent do this part; subagents cannot run this tool."
            }
        }
    }
}

fn layer_name(layer: PolicyLayer) -> &'static str {
    match layer {
        PolicyLayer::Catalogue => "catalogue",
        PolicyLayer::Global => "global",
        PolicyLayer::Agent => "agent",
        PolicyLayer::Model => "model",
        PolicyLayer::Environment => "environment",
        PolicyLayer::Subagent => "subagent",
    }
}
