#![doc = include_str!("../README.md")]

mod assemble;
mod boundary;
mod branch;
mod breaker;
mod check;
mod conversation;
mod facts;
mod failure;
mod limits;
mod measure;
mod plan;
mod prompt;
mod render;
mod summarize;
#[cfg(test)]
mod testing;

pub use assemble::{Assembled, assemble};
pub use branch::{branch_text, plan_branch, quote_branch};
pub use breaker::{Blocked, Breaker, Ended, Moment, PauseCause};
pub use conversation::{Conversation, Piece, Previous, Voice};
pub use facts::Facts;
pub use failure::{CompactionFailure, Flaw};
pub use limits::{Limits, trigger};
pub use measure::{Shares, Used, fresh_tokens, message_shares, used_by, used_tokens};
pub use plan::{Plan, PlanRequest, PlanTokens, plan};
pub use summarize::{Summary, SummaryModel, Watcher, requests_for, summarize};
