//! Token numbers of a session: what was used, and how full the context is.

use netaclaw_compaction::{Used, used_tokens};
use netaclaw_protocol::{
    CompactionDetails, ContextMeter, ModelInfo, TokenTotals, TokenUpdate, Usage,
};
use netaclaw_session::{
    ContextMessage, EntryId, Role, SessionContext, SessionTree, build_session_context,
};
use serde::Deserialize;

/// Counts what the answers of a session reported.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    totals: TokenTotals,
    window: Option<Window>,
    threshold_percent: Option<u8>,
}

#[derive(Clone, Debug)]
struct Window {
    tokens: u64,
    source: netaclaw_protocol::InfoSource,
}

impl Meter {
    /// Adds up the answers of all branches: each was paid for.
    pub(crate) fn read(tree: &SessionTree) -> Self {
        #[derive(Deserialize)]
        struct Answer {
            #[serde(default)]
            usage: Usage,
        }
        let mut meter = Self::default();
        for entry in tree
            .entries()
            .iter()
            .filter(|entry| entry.role() == Role::Assistant)
        {
            let answer = entry
                .message_json()
                .and_then(|json| serde_json::from_str::<Answer>(json).ok());
            if let Some(answer) = answer {
                meter.count(&answer.usage);
            }
        }
        meter
    }

    pub(crate) fn for_model(mut self, model: &ModelInfo, threshold_percent: Option<u8>) -> Self {
        self.window = Some(Window {
            tokens: model.context_window,
            source: model.source,
        });
        self.threshold_percent = threshold_percent;
        self
    }

    pub(crate) fn count(&mut self, usage: &Usage) {
        let totals = &mut self.totals;
        totals.input_tokens += usage.input + usage.cache_read + usage.cache_write;
        totals.output_tokens += usage.output;
        totals.total_tokens = totals.input_tokens + totals.output_tokens;
        totals.api_calls += 1;
        if usage.cost.total > 0.0 {
            *totals.cost.get_or_insert(0.0) += usage.cost.total;
        }
    }

    /// Right after an answer its own usage says how full the context is.
    pub(crate) fn update_after(&self, usage: &Usage) -> TokenUpdate {
        let used = usage.input + usage.cache_read + usage.cache_write + usage.output;
        self.update(used, used == 0)
    }

    /// The numbers for a place in the session. Right after a compaction nobody has counted what is
    /// left, so it is an estimate until the next answer.
    pub(crate) fn update_at(&self, tree: &SessionTree, leaf: Option<&EntryId>) -> TokenUpdate {
        match build_session_context(tree, leaf) {
            Ok(context) => {
                let Used {
                    tokens, estimated, ..
                } = used_tokens(&context, overhead_of(&context));
                self.update(tokens, estimated)
            }
            Err(_) => self.update(0, true),
        }
    }

    fn update(&self, used_tokens: u64, estimated: bool) -> TokenUpdate {
        let max_tokens = self.window.as_ref().map_or(0, |window| window.tokens);
        let percent = match max_tokens {
            0 => 0.0,
            max => (used_tokens as f64 * 100.0 / max as f64).clamp(0.0, 100.0),
        };
        TokenUpdate {
            current: self.totals.clone(),
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

/// What instructions and tools took when the context was last condensed. Before that, the readings
/// of answers have it in them; where there is neither, nobody knows, and it counts from the first
/// answer on.
pub(crate) fn overhead_of(context: &SessionContext<'_>) -> u64 {
    let compaction = context.messages.iter().find_map(|message| match message {
        ContextMessage::CompactionSummary(entry) => entry.field("details"),
        _ => None,
    });
    let details: Option<CompactionDetails> =
        compaction.and_then(|json| serde_json::from_str(json).ok());
    details.map_or(0, |details| details.overhead_tokens)
}
