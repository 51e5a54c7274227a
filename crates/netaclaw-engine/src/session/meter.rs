//! Counts the token usage of a session and the size of its context.

use crate::session::usage_totals::{AddUsage, Totals, of_one_call};
use crate::source::{AgentSource, ChosenModel};
use netaclaw_compaction::{Used, fresh_tokens, used_tokens};
use netaclaw_protocol::{
    CompactionDetails, ContextMeter, ModelInfo, SessionMeta, TokenUpdate, Usage,
};
use netaclaw_session::{
    ContextMessage, EntryId, SessionContext, SessionTree, build_session_context,
};

/// Counts what the answers of a session reported.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    totals: Totals,
    window: Option<ContextWindow>,
    threshold_percent: Option<u8>,
}

#[derive(Clone, Debug)]
struct ContextWindow {
    tokens: u64,
    source: netaclaw_protocol::InfoSource,
}

impl Meter {
    /// Goes on from what the answers up to a place in the session have cost.
    pub(crate) fn new(totals: Totals) -> Self {
        Self {
            totals,
            ..Self::default()
        }
    }

    /// The same for another place with the same model.
    pub(crate) fn recount(&mut self, totals: Totals) {
        self.totals = totals;
    }

    pub(crate) fn for_model(mut self, model: &ModelInfo, threshold_percent: Option<u8>) -> Self {
        self.window = Some(ContextWindow {
            tokens: model.context_window,
            source: model.source,
        });
        self.threshold_percent = threshold_percent;
        self
    }

    /// One more answer at the end of the path.
    pub(crate) fn count(&mut self, usage: &Usage) {
        self.totals.session.add(usage, 1);
        self.totals.branch.add(usage, 1);
        if let Some(call) = of_one_call(usage) {
            self.totals.last_call = Some(call);
        }
    }

    /// Right after an answer its own usage says how full the context is. An answer that was stopped
    /// or failed may report none; then the last numbers stay, if any were shown.
    pub(crate) fn update_after(
        &self,
        usage: &Usage,
        shown: Option<&ContextMeter>,
    ) -> Option<TokenUpdate> {
        match usage.input + usage.cache_read + usage.cache_write + usage.output {
            0 => shown.map(|shown| self.update(shown.used_tokens, shown.estimated)),
            used => Some(self.update(used, false)),
        }
    }

    /// The numbers for a position in the session. Right after a compaction no supplier has counted
    /// what is left, so it is the estimate of the compaction until the next answer, the same that
    /// its message shows. `overhead_tokens` is used where there is no count.
    pub(crate) fn update_at(
        &self,
        tree: &SessionTree,
        leaf: Option<&EntryId>,
        overhead_tokens: u64,
    ) -> TokenUpdate {
        match build_session_context(tree, leaf) {
            Ok(context) => {
                let Used {
                    tokens, estimated, ..
                } = shown_tokens(&context, overhead_tokens);
                self.update(tokens, estimated)
            }
            Err(_) => self.update(overhead_tokens, true),
        }
    }

    fn update(&self, used_tokens: u64, estimated: bool) -> TokenUpdate {
        let max_tokens = self.window.as_ref().map_or(0, |window| window.tokens);
        let percent = match max_tokens {
            0 => 0,
            max => (used_tokens as f64 * 100.0 / max as f64)
                .clamp(0.0, 100.0)
                .round() as u8,
        };
        TokenUpdate {
            current: self.totals.session.clone(),
            branch: self.totals.branch.clone(),
            last_call: self.totals.last_call.clone(),
            auxiliary: self.totals.auxiliary.clone(),
            context: ContextMeter {
                used_tokens,
                max_tokens,
                percent,
                threshold_percent: self.threshold_percent,
                estimated,
                window_source: self.window.as_ref().map(|window| window.source),
            },
        }
    }
}

/// What instructions and tools take of a context. Readings of answers have it in them, and a
/// compaction has noted it; only where there is neither is the agent looked at.
pub(crate) async fn overhead_at(
    context: &SessionContext<'_>,
    source: &dyn AgentSource,
    session: &SessionMeta,
    model: Option<ChosenModel>,
) -> u64 {
    match overhead_noted(context) {
        0 if used_tokens(context, || 0).reading.is_none() => {
            // An agent that cannot run has nothing to add; the next run says why.
            let overhead = source.overhead(session, model).await;
            overhead.map_or(0, |overhead| overhead.total())
        }
        noted => noted,
    }
}

/// How full a context is, as people are shown it. After a compaction, what the compaction has
/// estimated for its own message counts until a supplier counts.
pub(crate) fn shown_tokens(context: &SessionContext<'_>, overhead_tokens: u64) -> Used {
    let used = used_tokens(context, || overhead_tokens);
    match tokens_after_compaction(context).filter(|_| used.reading.is_none()) {
        Some(tokens) => Used {
            tokens,
            estimated: true,
            ..used
        },
        None => used,
    }
}

/// The size of instructions and tools when the context was last compacted.
pub(crate) fn overhead_noted(context: &SessionContext<'_>) -> u64 {
    compaction_in(context).map_or(0, |details| details.overhead_tokens)
}

/// What the compaction of a context left, and what came after it; `None` without a compaction, or
/// if the context was edited since.
fn tokens_after_compaction(context: &SessionContext<'_>) -> Option<u64> {
    let left = compaction_in(context)?.tokens_after;
    let mut messages = context.messages.iter();
    let is_edited = messages.any(|message| matches!(message, ContextMessage::Edited { .. }));
    (left > 0 && !is_edited).then(|| left + fresh_tokens(context))
}

fn compaction_in(context: &SessionContext<'_>) -> Option<CompactionDetails> {
    let compaction = context.messages.iter().find_map(|message| match message {
        ContextMessage::CompactionSummary(entry) => entry.field("details"),
        _ => None,
    });
    compaction.and_then(|json| serde_json::from_str(json).ok())
}
