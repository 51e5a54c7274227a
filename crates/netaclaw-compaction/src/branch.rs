//! The summary of a branch that is left.

use crate::conversation::Conversation;
use crate::facts::Facts;
use crate::limits::Limits;
use crate::plan::{Plan, PlanTokens};
use crate::render::{Results, paragraphs};
use crate::summarize::Summary;
use netaclaw_models::tokens::estimate_text;
use netaclaw_protocol::{CompactionReason, EntryId, TodoList};
use std::collections::HashSet;

/// A branch up to this size is quoted in full.
const QUOTED_TOKENS_MAX: u64 = 250;
/// The summary of a branch is shorter than that of the active path.
const SUMMARY_TOKENS_MAX: u64 = 2048;

impl Conversation {
    /// Only what these entries say.
    pub fn of(mut self, entries: &HashSet<&EntryId>, compaction: Option<&EntryId>) -> Self {
        self.pieces
            .retain(|piece| entries.contains(&piece.entry_id));
        if compaction.is_none_or(|compaction| !entries.contains(compaction)) {
            self.previous = None;
        }
        self
    }
}

/// Folds all of a branch. `None` if it says nothing.
pub fn plan_branch(
    conversation: &Conversation,
    limits: Limits,
    looks_only: &dyn Fn(&str) -> bool,
) -> Option<Plan> {
    let cut = conversation.pieces.len();
    let tokens = conversation.tokens();
    (cut > 0 || conversation.previous.is_some()).then(|| Plan {
        reason: CompactionReason::Manual,
        cut,
        first_kept: None,
        kept_count: 0,
        pruned_count: 0,
        split_turn: None,
        quoted_from: cut,
        facts: Facts {
            // It is what the branch was about; nothing continues from here.
            latest: None,
            ..Facts::gather(conversation, cut, &TodoList::default(), looks_only)
        },
        instructions: None,
        tokens: PlanTokens {
            before: tokens,
            folded: tokens,
            scale: 1.0,
            ..PlanTokens::default()
        },
        summary_tokens: limits.summary_tokens().min(SUMMARY_TOKENS_MAX),
    })
}

/// A branch so short that no model is needed for its summary.
pub fn quote_branch(conversation: &Conversation) -> Option<Summary> {
    if conversation.previous.is_some() {
        return None;
    }
    let pieces = conversation.pieces.iter();
    let said: Vec<String> = pieces
        .flat_map(|piece| paragraphs(piece, Results::Pruned))
        .collect();
    let text = said.join("\n\n");
    (estimate_text(&text) <= QUOTED_TOKENS_MAX).then(|| Summary {
        text,
        ..Summary::default()
    })
}

/// The summary as it is stored: the model's text, and the facts that code derives.
pub fn branch_text(plan: &Plan, summary: &Summary) -> String {
    let facts = plan.facts.text(plan.summary_tokens / 2);
    match facts.is_empty() {
        true => summary.text.clone(),
        false => format!("{}\n\n{facts}", summary.text),
    }
}
