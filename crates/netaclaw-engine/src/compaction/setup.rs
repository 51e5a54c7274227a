//! The compaction settings of a session's agent.

use netaclaw_compaction::{Limits, SummaryModel};
use netaclaw_protocol::ModelInfo;
use std::collections::HashSet;

/// How a session is compacted, and by which model.
#[derive(Clone)]
pub struct CompactionSetup {
    /// The model that the conversation is held with.
    pub model: ModelInfo,
    /// As in [`crate::PreparedRun`].
    pub threshold_percent: Option<u8>,
    pub keep_recent: usize,
    /// Who writes the summary.
    pub auxiliary: SummaryModel,
    /// Tools that change nothing.
    pub looks_only: HashSet<String>,
}

impl CompactionSetup {
    pub(crate) fn limits(&self, overhead_tokens: u64) -> Limits {
        Limits {
            window: self.model.context_window,
            threshold_percent: self.threshold_percent.unwrap_or(0),
            keep_recent: self.keep_recent,
            overhead_tokens,
        }
    }
}

/// What every request of a session's agent carries besides the messages, in tokens by estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Instructions, without the list of skills.
    pub system: u64,
    pub tools: u64,
    pub skills: u64,
}

impl Overhead {
    pub fn total(&self) -> u64 {
        self.system + self.tools + self.skills
    }
}
