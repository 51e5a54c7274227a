//! A dry run of a compaction.

use super::attempt::{PlanOptions, PreparedAttempt, prepare};
use crate::error::EngineError;
use crate::source::{AgentSource, ChosenModel};
use netaclaw_compaction::{ConversationMessage, requests_for};
use netaclaw_protocol::{CompactionReason, EntryId, LocalizedText, SessionMeta};
use netaclaw_session::SessionTree;

/// A plan for display.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactionPreview {
    /// In their order; the summary would replace them.
    pub folded: Vec<PreviewedMessage>,
    pub kept: Vec<PreviewedMessage>,
    /// A turn is too long to be kept whole.
    pub split_turn: bool,
    pub tokens_before: u64,
    /// With a summary as long as it may be.
    pub tokens_after: u64,
    pub window: u64,
    pub summary_tokens: u64,
    /// Who would write the summary.
    pub channel: String,
    pub model: String,
    pub requests: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PreviewedMessage {
    pub entry_id: EntryId,
    /// By estimate.
    pub tokens: u64,
    /// The summarising model would see it as one line.
    pub pruned: bool,
}

/// The outcome of a preview.
#[derive(Clone, Debug, PartialEq)]
pub enum PreviewOutcome {
    Plan(Box<CompactionPreview>),
    /// Nothing would be done, and why.
    Nothing(LocalizedText),
}

pub(crate) async fn preview(
    source: &dyn AgentSource,
    session: &SessionMeta,
    model: Option<ChosenModel>,
    tree: &SessionTree,
    instructions: Option<&str>,
) -> Result<PreviewOutcome, EngineError> {
    let wish = PlanOptions {
        reason: CompactionReason::Manual,
        instructions,
        overhead_tokens: None,
    };
    let prepared = prepare(source, session, model, (tree, tree.leaf()), wish);
    let PreparedAttempt {
        setup,
        conversation,
        plan,
        ..
    } = prepared.await?;
    let plan = match plan {
        Ok(plan) => plan,
        Err(failure) => return Ok(PreviewOutcome::Nothing(failure.words())),
    };
    let requests = match requests_for(&conversation, &plan, &setup.auxiliary) {
        Ok(requests) => requests,
        Err(failure) => return Ok(PreviewOutcome::Nothing(failure.words())),
    };
    let shown = |(at, piece): (usize, &ConversationMessage)| PreviewedMessage {
        entry_id: piece.entry_id.clone(),
        tokens: piece.tokens,
        pruned: plan.prunes(&conversation, at),
    };
    let mut messages: Vec<_> = conversation.pieces.iter().enumerate().map(shown).collect();
    let kept = messages.split_off(plan.cut);
    Ok(PreviewOutcome::Plan(Box::new(CompactionPreview {
        folded: messages,
        kept,
        split_turn: plan.split_turn.is_some(),
        tokens_before: plan.tokens.before,
        tokens_after: plan.tokens_after_max(),
        window: setup.model.context_window,
        summary_tokens: plan.summary_tokens,
        channel: setup.auxiliary.channel,
        model: setup.auxiliary.model,
        requests,
    })))
}
