//! What is compacted and what is kept. Pure: no clock, no IO, and nothing is changed.

use crate::boundary::{self, Budget};
use crate::conversation::{Conversation, ConversationMessage};
use crate::facts::Facts;
use crate::failure::CompactionFailure;
use crate::limits::Limits;
use crate::measure::Used;
use crate::render::Results;
use netaclaw_protocol::{CompactionReason, EntryId, Message, TodoList};

/// Folding less than this is not worth a request: a summary would be as long.
const FOLDED_TOKENS_MIN: u64 = 100;
/// No summary is shorter.
const SUMMARY_TOKENS_LEAST: u64 = 50;
/// A compaction has to leave at most this much of the context, in percent.
pub(crate) const KEPT_PERCENT_MAX: u64 = 90;

/// What a plan is made by.
#[derive(Clone, Copy)]
pub struct PlanRequest<'a> {
    pub reason: CompactionReason,
    pub limits: Limits,
    /// Calibrated, or plans are as wrong as estimates are.
    pub used: Used,
    pub todo: &'a TodoList,
    /// What the user asked the summary to pay attention to.
    pub instructions: Option<&'a str>,
    /// Tells of a tool by its name that it changes nothing.
    pub looks_only: &'a dyn Fn(&str) -> bool,
}

/// What would be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub reason: CompactionReason,
    /// The position of the first piece that is kept.
    pub cut: usize,
    /// `None` if nothing is kept.
    pub first_kept: Option<EntryId>,
    pub kept_count: usize,
    /// Tool results that the summarising model sees as one line.
    pub pruned_count: usize,
    /// From here to the cut it is the beginning of the turn whose end is kept.
    pub split_turn: Option<usize>,
    /// Results from here on are quoted in full, and not pruned to one line.
    pub(crate) quoted_from: usize,
    pub facts: Facts,
    pub instructions: Option<String>,
    pub tokens: PlanTokens,
    /// How long the summary should be at most.
    pub summary_tokens: u64,
}

/// Sizes as the supplier would count them, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlanTokens {
    pub before: u64,
    /// The size of what the summary replaces, including the previous summary.
    pub folded: u64,
    pub kept: u64,
    pub overhead: u64,
    /// What an estimate is multiplied with.
    pub(crate) scale: f64,
}

impl PlanTokens {
    /// The estimated size of the context with a summary of this many tokens.
    pub(crate) fn after(&self, summary_estimate: u64) -> u64 {
        self.before.saturating_sub(self.folded) + self.scaled(summary_estimate)
    }

    pub(crate) fn scaled(&self, estimate: u64) -> u64 {
        (estimate as f64 * self.scale).round() as u64
    }

    /// Whether a context of this size would be worth it.
    pub(crate) fn gains(&self, after: u64) -> bool {
        after * 100 <= self.before * KEPT_PERCENT_MAX
    }
}

impl Plan {
    pub fn folded_count(&self) -> usize {
        self.cut
    }

    /// The size of the context with a summary as long as it may be.
    pub fn tokens_after_max(&self) -> u64 {
        self.tokens.after(self.summary_tokens)
    }

    /// Whether the summarising model sees this piece as one line.
    pub fn prunes(&self, conversation: &Conversation, at: usize) -> bool {
        at < self.cut.min(self.quoted_from) && is_long_result(&conversation.pieces[at])
    }

    pub(crate) fn results(&self, at: usize) -> Results {
        match at < self.quoted_from {
            true => Results::Pruned,
            false => Results::Quoted,
        }
    }
}

/// Decides what is compacted.
pub fn plan(
    conversation: &Conversation,
    request: &PlanRequest<'_>,
) -> Result<Plan, CompactionFailure> {
    let pieces = &conversation.pieces;
    let limits = effective(request);
    let scale = request.used.scale();
    let estimated = |tokens: u64| (tokens as f64 / scale) as u64;
    let mut budget = Budget {
        tail_tokens: estimated(limits.tail_tokens()),
        tail_tokens_max: estimated(limits.tail_tokens_max()),
        keep_recent: limits.keep_recent,
        keeps_recent_always: request.reason == CompactionReason::Manual,
    };
    if request.reason == CompactionReason::Manual {
        // A user who requests it wants a smaller context, even far from the threshold.
        let all: u64 = pieces.iter().map(|piece| piece.tokens).sum();
        budget.tail_tokens = budget.tail_tokens.min(all * 30 / 100);
        budget.tail_tokens_max = budget.tail_tokens_max.min(all * 60 / 100);
    }
    let cut = boundary::cut(pieces, budget).ok_or(CompactionFailure::NothingToCompress)?;
    let folded: u64 = pieces[..cut].iter().map(|piece| piece.tokens).sum();
    if folded < FOLDED_TOKENS_MIN {
        return Err(CompactionFailure::NothingToCompress);
    }
    let previous = conversation
        .previous
        .as_ref()
        .map_or(0, |previous| previous.tokens);
    let kept: u64 = pieces[cut..].iter().map(|piece| piece.tokens).sum();
    let scaled = |tokens: u64| (tokens as f64 * scale).round() as u64;
    let quoted_from = quoted_from(conversation, cut, budget.tail_tokens);
    let tokens = PlanTokens {
        before: request.used.tokens,
        folded: scaled(folded + previous),
        kept: scaled(kept),
        overhead: limits.overhead_tokens,
        scale,
    };
    let by_hand = request.reason == CompactionReason::Manual;
    if by_hand && !tokens.gains(tokens.after(SUMMARY_TOKENS_LEAST)) {
        return Err(CompactionFailure::NothingToCompress);
    }
    Ok(Plan {
        reason: request.reason,
        cut,
        first_kept: pieces.get(cut).map(|piece| piece.entry_id.clone()),
        kept_count: pieces.len() - cut,
        pruned_count: pruned(conversation, cut.min(quoted_from)),
        split_turn: boundary::split_turn(pieces, cut),
        quoted_from,
        facts: Facts::gather(conversation, cut, request.todo, request.looks_only),
        instructions: request
            .instructions
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::to_owned),
        tokens,
        summary_tokens: limits.summary_tokens(),
    })
}

/// If a model reports “too long”, its window is smaller than the context that was sent, whatever
/// the channel says.
fn effective(request: &PlanRequest<'_>) -> Limits {
    let mut limits = request.limits;
    if request.reason == CompactionReason::Overflow {
        limits.window = limits.window.min(request.used.tokens);
    }
    limits
}

/// The first compacted piece that is within the tail's budget of the end.
fn quoted_from(conversation: &Conversation, cut: usize, tail_tokens: u64) -> usize {
    let pieces = &conversation.pieces;
    let mut sum = 0;
    let mut from = pieces.len();
    for (at, piece) in pieces.iter().enumerate().rev() {
        if sum >= tail_tokens {
            break;
        }
        sum += piece.tokens;
        from = at;
    }
    from.min(cut)
}

fn is_long_result(piece: &ConversationMessage) -> bool {
    matches!(&piece.message, Message::ToolResult(result) if crate::render::is_pruned(result))
}

fn pruned(conversation: &Conversation, to: usize) -> usize {
    let folded = conversation.pieces[..to].iter();
    folded.filter(|piece| is_long_result(piece)).count()
}

#[cfg(test)]
mod tests;
