//! Token numbers of a session: what was used, and how full the context is.

use crate::source::{AgentSource, ChosenModel};
use netaclaw_compaction::{Used, used_tokens};
use netaclaw_protocol::{
    CompactionDetails, ContextMeter, ModelInfo, SessionMeta, TokenTotals, TokenUpdate, Usage,
};
use netaclaw_session::{
    ContextMessage, Entry, EntryId, EntryKind, Role, SessionContext, SessionTree,
    build_session_context,
};
use serde::Deserialize;
use std::collections::HashSet;

/// Counts what the answers of a session reported.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    totals: Totals,
    window: Option<Window>,
    threshold_percent: Option<u8>,
}

#[derive(Clone, Debug, Default)]
struct Totals {
    session: TokenTotals,
    branch: TokenTotals,
    last_call: Option<TokenTotals>,
    auxiliary: TokenTotals,
}

#[derive(Clone, Debug)]
struct Window {
    tokens: u64,
    source: netaclaw_protocol::InfoSource,
}

impl Meter {
    /// The numbers for a place in a session. Reads what every answer says, so it is for when a
    /// session is looked at and when a run begins; [`Meter::count`] goes on from there.
    pub(crate) fn read(tree: &SessionTree, leaf: Option<&EntryId>) -> Self {
        let mut meter = Self::default();
        meter.recount(tree, leaf);
        meter
    }

    /// The same for a place with the same model.
    pub(crate) fn recount(&mut self, tree: &SessionTree, leaf: Option<&EntryId>) {
        // A path that is damaged has a session around it all the same.
        let path = leaf.and_then(|leaf| tree.path(leaf).ok());
        let path = path.unwrap_or_default();
        let on_path: HashSet<&EntryId> = path.iter().map(|entry| entry.id()).collect();
        let mut totals = Totals::default();
        for entry in tree.entries() {
            let (summaries, usage) = match spent_on(entry) {
                None => continue,
                Some(spent) => spent,
            };
            if summaries > 0 {
                totals.auxiliary.add(&usage, summaries);
                continue;
            }
            totals.session.add(&usage, 1);
            if on_path.contains(entry.id()) {
                totals.branch.add(&usage, 1);
            }
        }
        let answers = path
            .iter()
            .rev()
            .filter(|entry| entry.role() == Role::Assistant);
        let mut usages = answers.filter_map(|entry| spent_on(entry));
        totals.last_call = usages.find_map(|(_, usage)| of_one_call(&usage));
        self.totals = totals;
    }

    pub(crate) fn for_model(mut self, model: &ModelInfo, threshold_percent: Option<u8>) -> Self {
        self.window = Some(Window {
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

    /// Right after an answer its own usage says how full the context is.
    pub(crate) fn update_after(&self, usage: &Usage) -> TokenUpdate {
        let used = usage.input + usage.cache_read + usage.cache_write + usage.output;
        self.update(used, used == 0)
    }

    /// The numbers for a place in the session. Right after a compaction nobody has counted what is
    /// left, so it is an estimate until the next answer. `overhead_tokens` counts where nobody has.
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
                } = used_tokens(&context, overhead_tokens);
                self.update(tokens, estimated)
            }
            Err(_) => self.update(overhead_tokens, true),
        }
    }

    fn update(&self, used_tokens: u64, estimated: bool) -> TokenUpdate {
        let max_tokens = self.window.as_ref().map_or(0, |window| window.tokens);
        let percent = match max_tokens {
            0 => 0.0,
            max => (used_tokens as f64 * 100.0 / max as f64).clamp(0.0, 100.0),
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
        0 if used_tokens(context, 0).reading.is_none() => {
            // An agent that cannot run has nothing to add; the next run says why.
            let overhead = source.overhead(session, model).await;
            overhead.map_or(0, |overhead| overhead.total())
        }
        noted => noted,
    }
}

/// What instructions and tools took when the context was last condensed.
pub(crate) fn overhead_noted(context: &SessionContext<'_>) -> u64 {
    let compaction = context.messages.iter().find_map(|message| match message {
        ContextMessage::CompactionSummary(entry) => entry.field("details"),
        _ => None,
    });
    let details: Option<CompactionDetails> =
        compaction.and_then(|json| serde_json::from_str(json).ok());
    details.map_or(0, |details| details.overhead_tokens)
}

/// What an entry cost, and how many requests for a summary that was; 0 if it is an answer.
fn spent_on(entry: &Entry) -> Option<(u64, Usage)> {
    #[derive(Deserialize)]
    struct Spent {
        #[serde(default)]
        usage: Usage,
        /// Of a summary.
        requests: Option<u64>,
    }
    let json = match (entry.role(), entry.kind()) {
        (Role::Assistant, _) => entry.message_json()?,
        (_, EntryKind::Compaction | EntryKind::BranchSummary) => entry.field("details")?,
        _ => return None,
    };
    let Spent { usage, requests } = serde_json::from_str(json).ok()?;
    match entry.role() {
        Role::Assistant => Some((0, usage)),
        // What other programs wrote says nothing of requests, and one that was quoted took none.
        _ => of_one_call(&usage).map(|_| (requests.unwrap_or(1).max(1), usage)),
    }
}

fn of_one_call(usage: &Usage) -> Option<TokenTotals> {
    let mut call = TokenTotals::default();
    call.add(usage, 1);
    (call.total_tokens > 0).then_some(call)
}

trait Sum {
    fn add(&mut self, usage: &Usage, calls: u64);
}

impl Sum for TokenTotals {
    fn add(&mut self, usage: &Usage, calls: u64) {
        self.input_tokens += usage.input + usage.cache_read + usage.cache_write;
        self.output_tokens += usage.output;
        self.total_tokens = self.input_tokens + self.output_tokens;
        self.api_calls += calls;
        if usage.cost.total > 0.0 {
            *self.cost.get_or_insert(0.0) += usage.cost.total;
        }
    }
}
