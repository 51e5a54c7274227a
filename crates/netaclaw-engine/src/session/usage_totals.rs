//! A cache of the usage totals of a session, extended with each entry.
//!
//! A session only grows, so counts stay valid: the next computation reads only newer entries.
//! Reading all of it at every run would make a long session slower with every message.

use netaclaw_protocol::{TokenTotals, Usage};
use netaclaw_session::{Entry, EntryId, EntryKind, Role, SessionTree};
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) session: TokenTotals,
    pub(crate) branch: TokenTotals,
    pub(crate) last_call: Option<TokenTotals>,
    /// Of summaries.
    pub(crate) auxiliary: TokenTotals,
}

/// Remembers what was counted last.
#[derive(Debug, Default)]
pub(crate) struct UsageTotals {
    counted: Mutex<Option<CountedUsage>>,
}

/// The totals of the first `entries` entries, at one leaf.
#[derive(Debug)]
struct CountedUsage {
    entries: usize,
    last: Option<EntryId>,
    leaf: Option<EntryId>,
    totals: Totals,
}

impl UsageTotals {
    /// The totals at a place of the session.
    pub(crate) fn at(&self, tree: &SessionTree, leaf: Option<&EntryId>) -> Totals {
        // A panic while counting leaves no cached totals.
        let mut kept = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.take().and_then(|known| known.extended(tree, leaf));
        let counted = known.unwrap_or_else(|| CountedUsage::of(tree, leaf));
        kept.insert(counted).totals.clone()
    }
}

impl CountedUsage {
    fn of(tree: &SessionTree, leaf: Option<&EntryId>) -> Self {
        // A path that is damaged has a session around it all the same.
        let path = leaf.and_then(|leaf| tree.path(leaf).ok());
        let nothing = Self {
            entries: 0,
            last: None,
            leaf: None,
            totals: Totals::default(),
        };
        nothing.add(tree, leaf, &path.unwrap_or_default())
    }

    /// The same totals extended by newer entries; `None` if the leaf is not below.
    fn extended(self, tree: &SessionTree, leaf: Option<&EntryId>) -> Option<Self> {
        let before = self.entries.checked_sub(1).map(|at| tree.entries().get(at));
        if before.map(|entry| entry.map(Entry::id)) != Some(self.last.as_ref()) {
            return None;
        }
        let mut path = Vec::new();
        let mut at = leaf;
        while at != self.leaf.as_ref() {
            let position = tree.index().position(at?)?;
            let entry = tree.entries().get(position)?;
            if position < self.entries {
                return None;
            }
            path.push(entry);
            at = entry.parent_id();
        }
        path.reverse();
        Some(self.add(tree, leaf, &path))
    }

    /// Adds the entries that are not counted yet, and those of them on the path to the branch.
    fn add(mut self, tree: &SessionTree, leaf: Option<&EntryId>, path: &[&Entry]) -> Self {
        let on_path: HashSet<&EntryId> = path.iter().map(|entry| entry.id()).collect();
        let totals = &mut self.totals;
        let mut last_call = None;
        for entry in &tree.entries()[self.entries..] {
            let Some((summaries, usage)) = spent_on(entry) else {
                continue;
            };
            if summaries > 0 {
                totals.auxiliary.add(&usage, summaries);
                continue;
            }
            totals.session.add(&usage, 1);
            if on_path.contains(entry.id()) {
                totals.branch.add(&usage, 1);
                last_call = of_one_call(&usage).or(last_call);
            }
        }
        totals.last_call = last_call.or(totals.last_call.take());
        self.entries = tree.entries().len();
        self.last = tree.entries().last().map(|entry| entry.id().clone());
        self.leaf = leaf.cloned();
        self
    }
}

/// What an entry cost, and how many requests for a summary that was; 0 if it is an answer.
fn spent_on(entry: &Entry) -> Option<(u64, Usage)> {
    #[derive(Deserialize)]
    struct StoredUsage {
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
    let StoredUsage { usage, requests } = serde_json::from_str(json).ok()?;
    match entry.role() {
        Role::Assistant => Some((0, usage)),
        // What other programs wrote says nothing of requests, and one that was quoted took none.
        _ => of_one_call(&usage).map(|_| (requests.unwrap_or(1).max(1), usage)),
    }
}

pub(crate) fn of_one_call(usage: &Usage) -> Option<TokenTotals> {
    let mut call = TokenTotals::default();
    call.add(usage, 1);
    (call.total_tokens > 0).then_some(call)
}

pub(crate) trait AddUsage {
    fn add(&mut self, usage: &Usage, calls: u64);
}

impl AddUsage for TokenTotals {
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

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_session::SessionLog;
    use proptest::prelude::*;
    use serde_json::json;

    /// A line of a session: an answer, a summary, or something that costs nothing.
    fn line(at: usize, parent: Option<usize>, kind: u8, tokens: u64) -> String {
        let name = |at: usize| format!("e{at}");
        let usage = json!({"input": tokens, "output": 1, "cacheRead": 0, "cacheWrite": 0,
            "totalTokens": tokens + 1, "cost": {"input": 0.0, "output": 0.0, "cacheRead": 0.0,
            "cacheWrite": 0.0, "total": 0.25}});
        let mut entry = json!({"type": "message", "id": name(at), "parentId": parent.map(name),
            "timestamp": "2026-01-01T00:00:00.000Z"});
        match kind {
            0 => {
                entry["message"] = json!({"role": "user", "content": "Hello", "timestamp": 0});
            }
            1 => {
                entry["type"] = json!("branch_summary");
                entry["fromId"] = json!("root");
                entry["summary"] = json!("…");
                entry["details"] = json!({"usage": usage, "requests": 2});
            }
            _ => {
                entry["message"] = json!({"role": "assistant", "content": [], "usage": usage,
                    "stopReason": "stop", "api": "a", "provider": "p", "model": "m", "timestamp": 0});
            }
        }
        entry.to_string()
    }

    fn tree(lines: &[String]) -> SessionTree {
        let header = json!({"type": "session", "version": 3, "id": "s", "cwd": "",
            "timestamp": "2026-01-01T00:00:00.000Z"});
        let text = format!("{header}\n{}\n", lines.join("\n"));
        SessionTree::new(SessionLog::parse(text.into()).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn counting_on_is_counting_anew(
            steps in prop::collection::vec((any::<prop::sample::Index>(), 0u8..5, 1u64..99, any::<bool>()), 1..40)
        ) {
            let usage_totals = UsageTotals::default();
            let mut lines = Vec::new();
            let mut leaf: Option<usize> = None;
            for (at, (elsewhere, kind, tokens, jumps)) in steps.iter().enumerate() {
                if *jumps && at > 0 {
                    leaf = Some(elsewhere.index(at));
                }
                lines.push(line(at, leaf, *kind, *tokens));
                leaf = Some(at);
                let tree = tree(&lines);
                let place = EntryId::new(format!("e{at}"));
                // Looked at twice, and not always at once.
                if tokens % 3 > 0 {
                    let counted = usage_totals.at(&tree, Some(&place));
                    prop_assert_eq!(&counted, &UsageTotals::default().at(&tree, Some(&place)));
                    prop_assert_eq!(&counted, &usage_totals.at(&tree, Some(&place)));
                }
            }
        }
    }
}
