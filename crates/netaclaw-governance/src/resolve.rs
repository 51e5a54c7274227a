//! Resolves which tools an agent has. The only place that decides it.

use crate::hosts::AllowedHosts;
use crate::manifest::ToolManifest;
use crate::names::{nearest, shown};
use crate::policy::{self, PolicyTrace};
use netaclaw_protocol::{
    AgentSpec, ApprovalMode, DisabledCode, DisabledTool, EffectiveTools, PolicyLayer, SharedSchema,
    ToolDiagnostic, ToolOverride, ToolRisk, ToolRoute, ToolStatus, ToolWarning, ToolsChanged,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Everything that has a say, in the order it is asked.
#[derive(Clone, Copy, Debug)]
pub struct ResolveInput<'a> {
    pub catalogue: &'a [Arc<ToolManifest>],
    /// The global settings of an administrator. Tools without an entry follow the catalog.
    pub global: &'a BTreeMap<String, ToolStatus>,
    /// Its `tools`, `toolOverrides` and `approval` count here. Where both lists name a tool
    /// equally exactly, `disabled` wins.
    pub agent: &'a AgentSpec,
    pub model: ModelAbilities,
    /// Tools that cannot work here and now, each with what is missing.
    pub environment: &'a BTreeMap<String, String>,
    pub seat: ToolScope<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModelAbilities {
    pub tools: bool,
    pub vision: bool,
}

/// The role that the tools are for.
#[derive(Clone, Copy, Debug)]
pub enum ToolScope<'a> {
    Main,
    Subagent {
        parent: &'a ResolvedTools,
        /// `None` grants what the parent has.
        granted: Option<&'a [String]>,
    },
}

/// Pure: the same input always gives the same tools and the same reasons.
#[derive(Clone, Copy, Debug)]
pub struct ToolResolver;

impl ToolResolver {
    pub fn resolve(input: &ResolveInput<'_>) -> ResolvedTools {
        let hosts = AllowedHosts::read(&input.agent.allowed_hosts);
        let places = Arc::new(json!({
            "workspace": input.agent.workspace,
            "extraRoots": input.agent.extra_roots,
            "sandbox": input.agent.sandbox,
            "allowedHosts": input.agent.allowed_hosts,
        }));
        let tools = input.catalogue.iter().map(|manifest| {
            let overrides = input.agent.tool_overrides.get(&manifest.name);
            ResolvedTool {
                trace: policy::walk(manifest, input),
                approval: overrides
                    .and_then(|o| o.approval)
                    .unwrap_or(input.agent.approval),
                pinned: overrides.map(|o| o.arguments.clone()).unwrap_or_default(),
                caution: None,
                hosts: hosts.clone(),
                places: Arc::clone(&places),
                programs_reach_network: input.agent.sandbox.network,
                manifest: match overrides {
                    Some(overrides) => Arc::new(overridden(manifest, overrides)),
                    None => manifest.clone(),
                },
            }
        });
        ResolvedTools {
            tools: Arc::new(tools.collect()),
            warnings: Arc::new(unknown_names(input)),
        }
    }
}

fn overridden(manifest: &ToolManifest, overrides: &ToolOverride) -> ToolManifest {
    let mut manifest = manifest.clone();
    if let Some(description) = &overrides.description {
        manifest.description = description.as_str().into();
    }
    if let Some(risk) = overrides.risk {
        manifest.risk = risk;
    }
    // A tool without a deadline waits for users; a general override must not give it one.
    if let (Some(timeout), Some(ms)) = (&mut manifest.timeout, overrides.timeout_ms) {
        *timeout = Duration::from_millis(ms);
    }
    manifest
}

/// Names in lists that no tool has. They disable nothing: the agent runs, and a warning is shown.
fn unknown_names(input: &ResolveInput<'_>) -> Vec<ToolWarning> {
    let known = || input.catalogue.iter().map(|tool| tool.name.as_str());
    let enabled = input
        .agent
        .tools
        .enabled
        .iter()
        .map(|n| ("tools.enabled", n));
    let disabled = input
        .agent
        .tools
        .disabled
        .iter()
        .map(|n| ("tools.disabled", n));
    let overrides = input
        .agent
        .tool_overrides
        .keys()
        .map(|n| ("toolOverrides", n));
    let granted = match input.seat {
        ToolScope::Subagent {
            granted: Some(granted),
            ..
        } => granted,
        _ => &[],
    };
    let granted = granted
        .iter()
        .map(|n| ("subagentConfig.allowedToolNames", n));
    enabled
        .chain(disabled)
        .chain(overrides)
        .chain(granted)
        // A pattern may wait for tools that come and go, such as those of an MCP server.
        .filter(|(_, name)| !name.ends_with('*') && known().all(|other| other != *name))
        .map(|(place, name)| {
            let nearest = nearest(name, known());
            let name = shown(name);
            let hint = nearest.map(|n| format!("; did you mean `{n}`?"));
            ToolWarning {
                place: place.to_owned(),
                name: name.to_owned(),
                nearest: nearest.map(str::to_owned),
                message: format!(
                    "{place} names `{name}`, which is not a tool{}",
                    hint.unwrap_or_default()
                ),
            }
        })
        .collect()
}

/// The tools of one agent, each with its reason, in the order of the catalogue. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct ResolvedTools {
    tools: Arc<Vec<ResolvedTool>>,
    warnings: Arc<Vec<ToolWarning>>,
}

impl ResolvedTools {
    pub fn get(&self, name: &str) -> Option<&ResolvedTool> {
        self.tools.iter().find(|tool| tool.manifest.name == name)
    }

    pub fn all(&self) -> impl Iterator<Item = &ResolvedTool> {
        self.tools.iter()
    }

    pub fn enabled(&self) -> impl Iterator<Item = &ResolvedTool> {
        self.tools.iter().filter(|tool| tool.is_enabled())
    }

    pub fn warnings(&self) -> &[ToolWarning] {
        &self.warnings
    }

    /// Whether both are the same value. False for equal ones that were resolved apart.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tools, &other.tools)
    }

    /// The same, with a word of caution about one of them.
    pub fn cautioned(mut self, name: &str, caution: String) -> Self {
        let mut tools = Arc::make_mut(&mut self.tools).iter_mut();
        if let Some(tool) = tools.find(|tool| tool.name() == name) {
            tool.caution = Some(caution);
        }
        self
    }

    /// What has changed since the tools were announced, with the reason for everything that is
    /// gone; `None` if nothing has.
    pub fn since(&self, told: &[String]) -> Option<ToolsChanged> {
        let was = |name: &str| told.iter().any(|known| known == name);
        let added = self.enabled().map(ResolvedTool::name);
        let added: Vec<String> = added.filter(|name| !was(name)).map(str::to_owned).collect();
        let gone = |name: &&String| self.get(name).is_none_or(|tool| !tool.is_enabled());
        let removed: Vec<DisabledTool> = told
            .iter()
            .filter(gone)
            .map(|name| self.lost(name))
            .collect();
        let changed = !added.is_empty() || !removed.is_empty();
        changed.then_some(ToolsChanged { added, removed })
    }

    fn lost(&self, name: &str) -> DisabledTool {
        self.get(name)
            .and_then(disabled)
            .unwrap_or_else(|| DisabledTool {
                tool_name: name.to_owned(),
                code: DisabledCode::NotAvailableHere,
                reason: "it is not installed any longer".to_owned(),
                decided_by: PolicyLayer::Environment,
            })
    }

    /// The same facts for users.
    pub fn projection(&self) -> EffectiveTools {
        EffectiveTools {
            tool_names: self.enabled().map(|tool| tool.name().to_owned()).collect(),
            disabled_reasons: self.tools.iter().filter_map(disabled).collect(),
            runtime_diagnostic: self.tools.iter().map(diagnostic).collect(),
            warnings: self.warnings.to_vec(),
        }
    }
}

/// One tool as this agent has it, or has it not.
#[derive(Clone, Debug)]
pub struct ResolvedTool {
    /// With the agent's overrides applied.
    manifest: Arc<ToolManifest>,
    trace: PolicyTrace,
    approval: ApprovalMode,
    pinned: Map<String, Value>,
    caution: Option<String>,
    /// Where its calls may go without asking.
    pub(crate) hosts: AllowedHosts,
    /// The agent's settings about where its tools work.
    places: Arc<Value>,
    /// The agent's sandbox lets programs use the network.
    programs_reach_network: bool,
}

impl ResolvedTool {
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    pub fn manifest(&self) -> &Arc<ToolManifest> {
        &self.manifest
    }

    pub fn is_enabled(&self) -> bool {
        self.trace.off.is_none()
    }

    pub fn route(&self) -> ToolRoute {
        self.trace.route
    }

    pub fn policy_sources(&self) -> &[String] {
        &self.trace.sources
    }

    /// Why it is off; `None` if it is on.
    pub fn blocked_reason(&self) -> Option<&str> {
        self.trace.off.as_ref().map(|off| off.reason.as_str())
    }

    /// A warning about it although it is enabled.
    pub fn caution(&self) -> Option<&str> {
        self.caution.as_deref().filter(|_| self.is_enabled())
    }

    pub fn needs_approval(&self) -> bool {
        match self.approval {
            ApprovalMode::Never => false,
            ApprovalMode::Risky => matches!(self.manifest.risk, ToolRisk::Write | ToolRisk::Exec),
            ApprovalMode::Always => true,
        }
    }

    /// Whether the agent's setting requires approvals at all.
    pub(crate) fn may_ask(&self) -> bool {
        self.approval != ApprovalMode::Never
    }

    /// Programs that nothing confines reach the network as well.
    pub(crate) fn programs_reach_network(&self) -> bool {
        self.programs_reach_network || self.caution.is_some()
    }

    /// The agent's settings that decide what its calls can do.
    pub(crate) fn settings(&self) -> Value {
        json!({ "approval": self.approval, "pinned": self.pinned, "places": &*self.places })
    }

    pub fn pinned(&self) -> &Map<String, Value> {
        &self.pinned
    }

    /// The schema as the model gets it: pinned arguments are not its to choose.
    pub fn model_schema(&self) -> SharedSchema {
        if self.pinned.is_empty() {
            return self.manifest.schema.clone();
        }
        let mut schema = Value::clone(&self.manifest.schema);
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|name, _| !self.pinned.contains_key(name));
        }
        if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| {
                name.as_str()
                    .is_none_or(|name| !self.pinned.contains_key(name))
            });
        }
        schema.into()
    }
}

fn disabled(tool: &ResolvedTool) -> Option<DisabledTool> {
    let off = tool.trace.off.as_ref()?;
    Some(DisabledTool {
        tool_name: tool.name().to_owned(),
        code: off.code,
        reason: off.reason.clone(),
        decided_by: tool.trace.decided_by,
    })
}

fn diagnostic(tool: &ResolvedTool) -> ToolDiagnostic {
    let manifest = &tool.manifest;
    ToolDiagnostic {
        tool_name: manifest.name.clone(),
        tool_label: manifest.label.clone(),
        category: manifest.category,
        risk: manifest.risk,
        status: match tool.is_enabled() {
            true => ToolStatus::Enabled,
            false => ToolStatus::Disabled,
        },
        route: tool.trace.route,
        policy_sources: tool.trace.sources.clone(),
        blocked_reason: tool.blocked_reason().map(str::to_owned),
        code: tool.trace.off.as_ref().map(|off| off.code),
        decided_by: tool.trace.decided_by,
        how_to_change: tool.trace.how_to_change().to_owned(),
        needs_approval: tool.needs_approval(),
        caution: tool.caution().map(str::to_owned),
    }
}
