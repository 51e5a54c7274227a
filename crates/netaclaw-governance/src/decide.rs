//! Allow, deny or ask, for one call. What cannot be decided is denied.

use crate::approval::{Approval, ApprovalRequest, CallHash, Consent};
use crate::manifest::ToolManifest;
use crate::names::{nearest, shown};
use crate::resolve::{ResolvedTool, ResolvedTools};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A call as a model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposedCall {
    pub tool_call_id: String,
    pub tool_name: String,
    pub args: Value,
}

/// The only ticket to execution. Nobody but [`decide`] and the consent of a person makes one, it
/// is good for one call with these arguments, and it is used up by executing.
#[derive(Debug)]
pub struct ApprovedCall {
    call: ProposedCall,
    manifest: Arc<ToolManifest>,
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
    Ask(AskedCall),
}

/// A call that waits for a person.
#[derive(Debug)]
pub struct AskedCall {
    request: ApprovalRequest,
    manifest: Arc<ToolManifest>,
}

impl AskedCall {
    pub fn request(&self) -> &ApprovalRequest {
        &self.request
    }

    /// Takes the answer. Consent to anything but this very call is none.
    pub fn answer(self, approval: &Approval) -> Decision {
        let tool = &self.request.tool_name;
        match &approval.consent {
            Consent::Given if approval.hash == self.request.hash => Decision::Allow(ApprovedCall {
                call: ProposedCall {
                    tool_call_id: self.request.tool_call_id,
                    tool_name: self.request.tool_name,
                    args: self.request.args,
                },
                manifest: self.manifest,
            }),
            Consent::Given => Decision::Deny {
                reason: format!("The consent was given to another call, so `{tool}` was not run."),
            },
            Consent::Refused { reason: None } => Decision::Deny {
                reason: format!("The user refused to let `{tool}` run."),
            },
            Consent::Refused {
                reason: Some(words),
            } => Decision::Deny {
                reason: format!("The user refused to let `{tool}` run: {words}"),
            },
        }
    }
}

/// Looks at a call before it runs. Pure and quick; may know more than the resolver did, such as
/// that an administrator has just switched the tool off.
pub trait Inspector: Send + Sync {
    fn inspect(&self, tool: &ResolvedTool, call: &ProposedCall) -> Result<Verdict, InspectError>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    Deny { reason: String },
    Ask { reason: String },
}

/// An inspector does not know. The text is for the log; the model only learns that it was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectError(pub String);

/// Decides on one call, again at the moment it would run: a tool that was hidden from the model is
/// refused with the reason and never executed (GOV-2).
pub fn decide(
    tools: &ResolvedTools,
    mut call: ProposedCall,
    inspectors: &[Arc<dyn Inspector>],
) -> Decision {
    let Some(tool) = tools.get(&call.tool_name) else {
        return Decision::Deny {
            reason: unknown_tool(tools, &call.tool_name),
        };
    };
    if let Some(reason) = tool.blocked_reason() {
        return Decision::Deny {
            reason: format!("The tool `{}` is not available: {reason}.", tool.name()),
        };
    }
    pin(tool, &mut call.args);
    match inspect(tool, &call, inspectors) {
        Verdict::Deny { reason } => Decision::Deny { reason },
        Verdict::Ask { reason } => Decision::Ask(asked(tool, call, reason)),
        Verdict::Pass if tool.needs_approval() => {
            let reason = format!("calls of `{}` need consent for this agent", tool.name());
            Decision::Ask(asked(tool, call, reason))
        }
        Verdict::Pass => Decision::Allow(ApprovedCall {
            call,
            manifest: tool.manifest().clone(),
        }),
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

/// Arguments that are no object are left to the schema to refuse.
fn pin(tool: &ResolvedTool, args: &mut Value) {
    if let Some(args) = args.as_object_mut() {
        for (name, value) in tool.pinned() {
            args.insert(name.clone(), value.clone());
        }
    }
}

/// The strictest word of all inspectors. One that fails or panics denies.
fn inspect(tool: &ResolvedTool, call: &ProposedCall, inspectors: &[Arc<dyn Inspector>]) -> Verdict {
    let mut asked = None;
    for inspector in inspectors {
        let verdict = catch_unwind(AssertUnwindSafe(|| inspector.inspect(tool, call)));
        match verdict {
            Ok(Ok(Verdict::Pass)) => {}
            Ok(Ok(Verdict::Ask { reason })) => {
                asked.get_or_insert(reason);
            }
            Ok(Ok(deny @ Verdict::Deny { .. })) => return deny,
            failed => {
                let error = failed.map(|error| error.err());
                tracing::warn!(
                    tool.name = tool.name(),
                    ?error,
                    "an inspector failed; call denied"
                );
                return Verdict::Deny {
                    reason: format!(
                        "Whether `{}` may run could not be decided, so it was not run.",
                        tool.name()
                    ),
                };
            }
        }
    }
    asked.map_or(Verdict::Pass, |reason| Verdict::Ask { reason })
}

fn asked(tool: &ResolvedTool, call: ProposedCall, reason: String) -> AskedCall {
    AskedCall {
        request: ApprovalRequest {
            hash: CallHash::of(&call.tool_name, &call.args),
            tool_call_id: call.tool_call_id,
            tool_name: call.tool_name,
            args: call.args,
            reason,
        },
        manifest: tool.manifest().clone(),
    }
}
