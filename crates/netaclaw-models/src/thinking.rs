//! Token budgets of thinking levels, for APIs that need a number.

use netaclaw_protocol::ThinkingLevel;

/// The budget of a level. `None` disables thinking.
pub(crate) fn budget(level: ThinkingLevel) -> Option<u64> {
    match level {
        ThinkingLevel::Off => None,
        ThinkingLevel::Minimal => Some(1024),
        ThinkingLevel::Low => Some(4096),
        ThinkingLevel::Medium => Some(10_240),
        ThinkingLevel::High => Some(20_480),
        ThinkingLevel::Xhigh => Some(32_000),
    }
}
