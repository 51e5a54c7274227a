//! The entry that replaces what was compacted.

use crate::failure::CompactionFailure;
use crate::plan::Plan;
use crate::summarize::{Summary, SummaryModel};
use netaclaw_models::tokens::{MESSAGE_TOKENS, estimate_text};
use netaclaw_protocol::CompactionDetails;
use netaclaw_session::{EntryBody, raw_json};

/// The size of the text around a summary in a request.
const FRAME_TOKENS: u64 = MESSAGE_TOKENS + 30;

/// An entry ready to be appended.
#[derive(Clone, Debug)]
pub struct Assembled {
    pub summary: String,
    pub details: CompactionDetails,
    pub tokens_before: u64,
    pub body: EntryBody,
}

/// Makes the entry, unless it would save too little.
pub fn assemble(
    plan: &Plan,
    summary: Summary,
    model: &SummaryModel,
    duration_ms: u64,
) -> Result<Assembled, CompactionFailure> {
    let facts = plan.facts.text(plan.summary_tokens / 2);
    let text = match facts.is_empty() {
        true => summary.text,
        false => format!("{}\n\n{facts}", summary.text),
    };
    let before = plan.tokens.before;
    let after = plan.tokens.after(estimate_text(&text) + FRAME_TOKENS);
    if !plan.tokens.gains(after) {
        return Err(CompactionFailure::NoGain { before, after });
    }
    let details = CompactionDetails {
        read_files: plan.facts.read_files.clone(),
        modified_files: plan.facts.modified_files.clone(),
        reason: Some(plan.reason),
        tokens_after: after,
        compacted_count: plan.folded_count() as u64,
        kept_count: plan.kept_count as u64,
        pruned_count: plan.pruned_count as u64,
        channel: Some(model.channel.clone()),
        model: Some(model.model.clone()),
        usage: summary.usage,
        requests: summary.requests,
        duration_ms,
        instructions: plan.instructions.clone(),
        goal: plan.facts.goal.clone(),
        ledger: plan.facts.ledger.clone(),
        split_turn: plan.split_turn.is_some(),
        overhead_tokens: plan.tokens.overhead,
    };
    Ok(Assembled {
        body: EntryBody::Compaction {
            summary: text.clone(),
            first_kept_entry_id: plan.first_kept.clone(),
            tokens_before: before,
            details: Some(raw_json(&details)),
        },
        summary: text,
        details,
        tokens_before: before,
    })
}
