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
pub use breaker::{AttemptEnd, Blocked, Breaker, BreakerInput, PauseCause};
pub use conversation::{Conversation, ConversationMessage, MessageAuthor, Previous};
pub use facts::Facts;
pub use failure::{CompactionFailure, Flaw};
pub use limits::{Limits, trigger};
pub use measure::{ContextShares, Used, fresh_tokens, message_shares, used_by, used_tokens};
pub use plan::{Plan, PlanRequest, PlanTokens, plan};
pub use summarize::{Summary, SummaryModel, Watcher, requests_for, summarize};
