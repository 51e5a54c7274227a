//! Applies the policy layers to one tool.

use crate::manifest::{ModelAbility, ToolManifest, WorkerUse};
use crate::names::{NameMatch, naming};
use crate::resolve::{ResolveInput, ToolScope};
use netaclaw_protocol::{DisabledCode, PolicyLayer, ToolRoute, ToolStatus};

/// What the layers said about a tool, and who had the last word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PolicyTrace {
    pub(crate) off: Option<DisabledBy>,
    pub(crate) decided_by: PolicyLayer,
    pub(crate) sources: Vec<String>,
    pub(crate) route: ToolRoute,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DisabledBy {
    pub(crate) code: DisabledCode,
    pub(crate) reason: String,
}

/// Asks the layers in their order. A later one wins, except that a global "off" is final and that
/// model, environment and seat can only take away.
pub(crate) fn walk(tool: &ToolManifest, input: &ResolveInput<'_>) -> PolicyTrace {
    let mut trace = PolicyTrace {
        off: None,
        decided_by: PolicyLayer::Catalogue,
        sources: Vec::new(),
        route: ToolRoute::Main,
    };
    catalogue(tool, &mut trace);
    if input.global.get(&tool.name) == Some(&ToolStatus::Disabled) {
        trace.off(
            PolicyLayer::Global,
            DisabledCode::OffGlobally,
            "an administrator disabled it for all agents",
        );
        return trace;
    }
    global(tool, input, &mut trace);
    agent(tool, input, &mut trace);
    for restrict in [model, environment, seat] {
        if trace.off.is_none() {
            restrict(tool, input, &mut trace);
        }
    }
    trace
}

fn catalogue(tool: &ToolManifest, trace: &mut PolicyTrace) {
    match tool.default_status {
        ToolStatus::Enabled => trace.on(PolicyLayer::Catalogue, "on_by_default"),
        ToolStatus::Disabled => trace.off(
            PolicyLayer::Catalogue,
            DisabledCode::OffByDefault,
            "it is disabled by default; an agent or an administrator can enable it",
        ),
    }
}

fn global(tool: &ToolManifest, input: &ResolveInput<'_>, trace: &mut PolicyTrace) {
    if input.global.get(&tool.name) == Some(&ToolStatus::Enabled) {
        trace.on(PolicyLayer::Global, "on");
    }
}

fn agent(tool: &ToolManifest, input: &ResolveInput<'_>, trace: &mut PolicyTrace) {
    let enabled = naming(&input.agent.tools.enabled, &tool.name);
    let disabled = naming(&input.agent.tools.disabled, &tool.name);
    if disabled > NameMatch::NotAtAll && disabled >= enabled {
        trace.off(
            PolicyLayer::Agent,
            DisabledCode::OffForAgent,
            "the agent's settings disable it",
        );
    } else if enabled > NameMatch::NotAtAll {
        trace.on(PolicyLayer::Agent, "enabled");
    }
    if input.agent.tool_overrides.contains_key(&tool.name) {
        trace.sources.push("agent:override".to_owned());
    }
}

fn model(tool: &ToolManifest, input: &ResolveInput<'_>, trace: &mut PolicyTrace) {
    if !input.model.tools {
        trace.off(
            PolicyLayer::Model,
            DisabledCode::ModelWithoutTools,
            "the model does not support tools",
        );
    } else if tool.needs.contains(&ModelAbility::Vision) && !input.model.vision {
        trace.off(
            PolicyLayer::Model,
            DisabledCode::ModelWithoutVision,
            "the model does not support images",
        );
    }
}

fn environment(tool: &ToolManifest, input: &ResolveInput<'_>, trace: &mut PolicyTrace) {
    if let Some(missing) = input.environment.get(&tool.name) {
        trace.off(
            PolicyLayer::Environment,
            DisabledCode::NotAvailableHere,
            missing,
        );
    }
}

/// A subagent has at most what its parent has and what it was granted, so that delegation cannot
/// widen rights.
fn seat(tool: &ToolManifest, input: &ResolveInput<'_>, trace: &mut PolicyTrace) {
    let ToolScope::Subagent { parent, granted } = input.seat else {
        return;
    };
    let off =
        |trace: &mut PolicyTrace, code, reason| trace.off(PolicyLayer::Subagent, code, reason);
    if parent.get(&tool.name).is_none_or(|tool| !tool.is_enabled()) {
        return off(
            trace,
            DisabledCode::ParentWithout,
            "the agent that started this one does not have it",
        );
    }
    if granted.is_some_and(|granted| naming(granted, &tool.name) == NameMatch::NotAtAll) {
        return off(
            trace,
            DisabledCode::NotGrantedToSubagent,
            "it is not granted to this subagent",
        );
    }
    match tool.worker {
        WorkerUse::Local => trace.route = ToolRoute::WorkerLocal,
        WorkerUse::Proxy => trace.route = ToolRoute::MainProcessProxy,
        WorkerUse::Never => {
            return off(
                trace,
                DisabledCode::NotForSubagents,
                "subagents cannot use it",
            );
        }
    }
    trace.sources.push("subagent:granted".to_owned());
}

impl PolicyTrace {
    fn on(&mut self, layer: PolicyLayer, what: &str) {
        self.off = None;
        self.route = ToolRoute::Main;
        self.decided_by = layer;
        self.sources.push(format!("{}:{what}", layer_name(layer)));
    }

    fn off(&mut self, layer: PolicyLayer, code: DisabledCode, reason: &str) {
        self.off = Some(DisabledBy {
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
