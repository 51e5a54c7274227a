//! Allow, deny or ask, for one call. What cannot be decided is denied.

use crate::approval::{Approval, ApprovalRequest, CallHash, Consent};
use crate::limits::{self, CallLimits};
use crate::manifest::ToolManifest;
use crate::names::{nearest, shown};
use crate::resolve::{ResolvedTool, ResolvedTools};
use crate::standing::{CallFacts, CallKind, covering};
use async_trait::async_trait;
use netaclaw_protocol::{ApprovalScope, ApprovalUse, ForeignContent, StandingApproval};
use serde_json::Value;
use std::sync::Arc;

/// A call as a model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposedCall {
    pub tool_call_id: String,
    pub tool_name: String,
    pub args: Value,
}

/// The only ticket to execution. Only [`decide`] and the approval of a user create one, it is good
/// for one call with these arguments, and it is used up by executing.
#[derive(Debug)]
pub struct ApprovedCall {
    call: ProposedCall,
    manifest: Arc<ToolManifest>,
    limits: CallLimits,
    allowed_by: Vec<ApprovalUse>,
}

impl ApprovedCall {
    pub fn tool_call_id(&self) -> &str {
        &self.call.tool_call_id
    }

    pub fn tool_name(&self) -> &str {
        &self.call.tool_name
    }

    /// With pinned arguments in place.
    pub fn args(&self) -> &Value {
        &self.call.args
    }

    /// The tool with the limits that hold for this agent.
    pub fn manifest(&self) -> &ToolManifest {
        &self.manifest
    }

    /// How far it may go.
    pub fn limits(&self) -> &CallLimits {
        &self.limits
    }

    /// The standing approvals that allowed it. Empty if it needed none, or a user was asked.
    pub fn allowed_by(&self) -> &[ApprovalUse] {
        &self.allowed_by
    }

    pub fn into_args(self) -> Value {
        self.call.args
    }
}

/// The answer to the question whether a call may run.
#[derive(Debug)]
pub enum Decision {
    Allow(ApprovedCall),
    Deny {
        /// For the model, which reads it as the result.
        reason: String,
    },
    Ask(PendingCall),
}

/// A call that waits for a user.
#[derive(Debug)]
pub struct PendingCall {
    request: ApprovalRequest,
    foreign: ForeignContent,
}

impl PendingCall {
    pub fn request(&self) -> &ApprovalRequest {
        &self.request
    }

    /// The path that an edit names; `None` for other calls.
    pub fn edited_path(&self) -> Option<&str> {
        match self.request.facts.kind {
            CallKind::Edit => self.request.args.get("path")?.as_str(),
            CallKind::Other | CallKind::Shell => None,
        }
    }

    /// Adds where the file of an edit is, as the file system says at this moment: relative to the
    /// workspace and without links. Without it no approval for a folder covers the call.
    #[must_use]
    pub fn at(mut self, place: Option<String>) -> Self {
        self.request.facts.place = place;
        self
    }

    /// Takes the answer. An approval of anything but this very call is none, and users take their
    /// time: tools that were disabled or pinned differently in the meantime count.
    pub fn answer(
        self,
        approval: &Approval,
        current: Result<&ResolvedTools, &Undecided>,
    ) -> Decision {
        let Self { request, foreign } = self;
        let tool = &request.tool_name;
        let deny = |reason| Decision::Deny { reason };
        let mut standing = None;
        match &approval.consent {
            Consent::Given if approval.hash == request.hash => {}
            Consent::Standing { seat, approvals } if approval.hash == request.hash => {
                standing = Some((seat, approvals));
            }
            Consent::Given | Consent::Standing { .. } => {
                return deny(format!(
                    "The approval was given for another call, so `{tool}` was not run."
                ));
            }
            Consent::Refused { reason } => return deny(refusal(tool, reason.as_deref())),
        }
        let changed = || {
            deny(format!(
                "The settings of `{tool}` changed while the call waited for approval, so it was \
                 not run. Make the call again."
            ))
        };
        let tool = match still_available(current, tool) {
            Ok(now) if is_as_pinned(now, &request.args) => now,
            Ok(_) => return changed(),
            Err(reason) => return deny(reason),
        };
        let mut limits = CallLimits::of(tool, &request.args, &foreign, true);
        let mut allowed_by = Vec::new();
        if let Some((seat, approvals)) = standing {
            let (Ok(tools), from_outside) = (current, request.facts.from_outside) else {
                return changed();
            };
            let now = ApprovalRequest {
                facts: CallFacts {
                    place: request.facts.place.clone(),
                    ..CallFacts::of(tools, tool, from_outside)
                },
                ..request.clone()
            };
            let Some(covering) = covering(approvals, seat, &now) else {
                return changed();
            };
            limits = limits.in_folder(folder_of(&covering));
            allowed_by = covering.into_iter().map(StandingApproval::shown).collect();
        }
        Decision::Allow(ApprovedCall {
            limits,
            allowed_by,
            manifest: tool.manifest().clone(),
            call: ProposedCall {
                tool_call_id: request.tool_call_id,
                tool_name: request.tool_name,
                args: request.args,
            },
        })
    }
}

/// The result for the model of a call that a user denied.
pub fn refusal(tool: &str, words: Option<&str>) -> String {
    match words {
        None => format!("The user denied the call of `{tool}`."),
        Some(words) => format!("The user denied the call of `{tool}`: {words}"),
    }
}

/// Returns the tools of the agent at this moment: with every change since they were announced to
/// the model.
#[async_trait]
pub trait CurrentTools: Send + Sync {
    async fn current(&self) -> Result<ResolvedTools, Undecided>;
}

/// Tools that never change.
#[async_trait]
impl CurrentTools for ResolvedTools {
    async fn current(&self) -> Result<ResolvedTools, Undecided> {
        Ok(self.clone())
    }
}

/// It cannot be known which tools the agent has. The text is for the log; the model only learns
/// that its call was not run.
#[derive(Debug, thiserror::Error)]
pub enum Undecided {
    #[error("the configuration of the agent cannot be read: {0}")]
    NotReadable(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("looking up the tools of the agent panicked")]
    Panicked,
    #[error("looking up the tools of the agent timed out")]
    TimedOut,
}

/// Decides on one call, at the moment it would run: a tool that was hidden from the model is
/// refused with the reason and never executed, and so is one that has been disabled since, because
/// an administrator expects a change to take effect at once. `offered` is what was announced to the
/// model, `foreign` the external content that it has read: after that, calls that carry something
/// out of the session need approval, unless they go to an allowed host of the agent.
pub fn decide(
    offered: &ResolvedTools,
    current: Result<&ResolvedTools, &Undecided>,
    foreign: &ForeignContent,
    mut call: ProposedCall,
) -> Decision {
    if let Err(reason) = available(offered, &call.tool_name) {
        return Decision::Deny { reason };
    }
    let tool = match still_available(current, &call.tool_name) {
        Ok(tool) => tool,
        Err(reason) => return Decision::Deny { reason },
    };
    pin(tool, &mut call.args);
    let because_foreign = limits::needs_approval(tool, &call.args, foreign);
    if tool.needs_approval() || because_foreign {
        let facts = match current {
            Ok(tools) => CallFacts::of(tools, tool, because_foreign),
            Err(_) => CallFacts::default(),
        };
        let reason = match because_foreign {
            true => format!(
                "this session has read external content, and `{}` could send data elsewhere",
                tool.name()
            ),
            false => format!("calls of `{}` need approval for this agent", tool.name()),
        };
        return Decision::Ask(PendingCall {
            request: request(tool, foreign, reason, call, facts),
            foreign: foreign.clone(),
        });
    }
    Decision::Allow(ApprovedCall {
        limits: CallLimits::of(tool, &call.args, foreign, false),
        allowed_by: Vec::new(),
        call,
        manifest: tool.manifest().clone(),
    })
}

/// The tool, or what the model is to read instead of a result.
fn available<'a>(tools: &'a ResolvedTools, name: &str) -> Result<&'a ResolvedTool, String> {
    let Some(tool) = tools.get(name) else {
        return Err(unknown_tool(tools, name));
    };
    match tool.blocked_reason() {
        Some(reason) => Err(format!("The tool `{name}` is not available: {reason}.")),
        None => Ok(tool),
    }
}

fn still_available<'a>(
    current: Result<&'a ResolvedTools, &Undecided>,
    name: &str,
) -> Result<&'a ResolvedTool, String> {
    match current {
        Ok(tools) => available(tools, name),
        Err(error) => {
            tracing::warn!(
                tool.name = name,
                %error,
                "failed to decide about a tool call; denied it"
            );
            Err(format!(
                "The call of `{name}` was not run, because the decision about it failed."
            ))
        }
    }
}

fn unknown_tool(tools: &ResolvedTools, name: &str) -> String {
    let known = || tools.enabled().map(ResolvedTool::name);
    let name = shown(name);
    let available = match known().collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "No tools are available.".to_owned(),
        names => format!("Available tools: {names}."),
    };
    match nearest(name, known()) {
        Some(near) => format!("There is no tool `{name}`. Did you mean `{near}`? {available}"),
        None => format!("There is no tool `{name}`. {available}"),
    }
}

fn is_as_pinned(tool: &ResolvedTool, args: &Value) -> bool {
    let pinned = tool.pinned();
    pinned
        .iter()
        .all(|(name, value)| args.get(name) == Some(value))
}

/// Arguments that are not an object are left to the schema to refuse.
fn pin(tool: &ResolvedTool, args: &mut Value) {
    if let Some(args) = args.as_object_mut() {
        for (name, value) in tool.pinned() {
            args.insert(name.clone(), value.clone());
        }
    }
}

fn request(
    tool: &ResolvedTool,
    foreign: &ForeignContent,
    reason: String,
    call: ProposedCall,
    facts: CallFacts,
) -> ApprovalRequest {
    ApprovalRequest {
        hash: CallHash::of(&call.tool_name, &call.args),
        tool_call_id: call.tool_call_id,
        tool_label: tool.manifest().label.clone(),
        risk: tool.manifest().risk,
        reason,
        foreign: limits::note(tool, &call.args, foreign),
        tool_name: call.tool_name,
        args: call.args,
        facts,
    }
}

/// The folder that the approval of an edit is about.
fn folder_of(covering: &[&StandingApproval]) -> Option<String> {
    covering.iter().find_map(|approval| match &approval.scope {
        ApprovalScope::Edits { folder } => Some(folder.clone()),
        _ => None,
    })
}
