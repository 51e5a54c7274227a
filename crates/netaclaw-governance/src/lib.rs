#![doc = include_str!("../README.md")]

mod approval;
mod decide;
mod manifest;
mod names;
mod policy;
mod resolve;
#[cfg(test)]
mod tests;

pub use approval::{Approval, ApprovalRequest, CallHash, Consent};
pub use decide::{
    ApprovedCall, AskedCall, CurrentTools, Decision, ProposedCall, Undecided, decide, refusal,
};
pub use manifest::{Concurrency, ModelAbility, ToolManifest, WorkerUse};
pub use resolve::{ModelAbilities, ResolveInput, ResolvedTool, ResolvedTools, Seat, ToolResolver};
