#![doc = include_str!("../README.md")]

mod approval;
mod decide;
mod hosts;
mod limits;
mod manifest;
mod names;
mod policy;
mod resolve;
mod standing;
#[cfg(test)]
mod tests;

pub use approval::{Approval, ApprovalRequest, CallHash, Consent};
pub use decide::{
    ApprovedCall, CurrentTools, Decision, PendingCall, ProposedCall, Undecided, decide, refusal,
};
pub use hosts::{HostRule, HostRuleError};
pub use limits::CallLimits;
pub use manifest::{Concurrency, EgressTarget, ModelAbility, ToolManifest, WorkerUse};
pub use resolve::{
    ModelAbilities, ResolveInput, ResolvedTool, ResolvedTools, ToolResolver, ToolScope,
};
pub use standing::{
    ApprovalSeat, CallFacts, CallKind, WORKSPACE, covering, edit_tools, granted, is_below, offers,
    one_tool, sample,
};
