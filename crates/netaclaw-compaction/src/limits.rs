//! Token budgets: the kept messages and the length of a summary.

/// The threshold for budgets where automatic compaction is off.
const THRESHOLD_USUAL: u8 = 70;
const SUMMARY_TOKENS_MIN: u64 = 1024;

/// What an agent's settings and its model allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of the model that the conversation is held with.
    pub window: u64,
    /// In percent of the window; 0 disables automatic compaction.
    pub threshold_percent: u8,
    /// Messages that are kept at least.
    pub keep_recent: usize,
    /// The estimated size of instructions and tools in every request.
    pub overhead_tokens: u64,
}

/// The fill level of a window at which automatic compaction begins; `None` if it is disabled.
pub fn trigger(window: u64, threshold_percent: u8) -> Option<u64> {
    (threshold_percent > 0 && window > 0).then(|| window * u64::from(threshold_percent) / 100)
}

impl Limits {
    pub(crate) fn threshold_tokens(&self) -> u64 {
        let percent = match self.threshold_percent {
            0 => THRESHOLD_USUAL,
            percent => percent,
        };
        trigger(self.window, percent).unwrap_or(0)
    }

    /// What is kept word for word, if single messages allow.
    pub(crate) fn tail_tokens(&self) -> u64 {
        self.threshold_tokens() * 30 / 100
    }

    /// What is kept word for word at the very most: behind a summary it must fit with room to
    /// spare, or the next request would be over the threshold again.
    pub(crate) fn tail_tokens_max(&self) -> u64 {
        let taken = self.overhead_tokens + self.summary_tokens();
        let room = self.threshold_tokens().saturating_sub(taken) * 80 / 100;
        let half = self.threshold_tokens() / 2;
        self.tail_tokens().max(room.min(half))
    }

    /// What a summary should have at most.
    pub(crate) fn summary_tokens(&self) -> u64 {
        (self.threshold_tokens() * 15 / 100).max(SUMMARY_TOKENS_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_follow_the_threshold() {
        let limits = Limits {
            window: 100_000,
            threshold_percent: 70,
            keep_recent: 4,
            overhead_tokens: 5_000,
        };
        assert_eq!(
            trigger(limits.window, limits.threshold_percent),
            Some(70_000)
        );
        assert_eq!(limits.tail_tokens(), 21_000);
        assert_eq!(limits.summary_tokens(), 10_500);
        let off = Limits {
            threshold_percent: 0,
            ..limits
        };
        assert_eq!(trigger(off.window, off.threshold_percent), None);
        assert_eq!(off.tail_tokens(), 21_000, "by hand it is the usual budget");
        let tiny = Limits {
            window: 4_000,
            ..limits
        };
        assert_eq!(tiny.summary_tokens(), 1024);
    }
}
