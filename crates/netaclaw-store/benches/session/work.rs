//! The work both sides do: the same messages, of the same length.

use netaclaw_session::{EntryBody, NewEntry};
use serde_json::json;
use std::time::{Duration, Instant};

pub(crate) fn cut(text: &str, chars: usize) -> String {
    text.chars().cycle().take(chars).collect()
}

/// What entry number `at` says: questions and answers in turn.
pub(crate) fn entry(at: usize) -> NewEntry {
    let timestamp = 1_767_225_600_000_u64 + at as u64;
    let message = if at.is_multiple_of(2) {
        let text = cut("a question of one hundred and twenty characters ", 120);
        json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": timestamp})
    } else {
        let text = cut("an answer of two hundred characters, as plain text ", 200);
        json!({
            "role": "assistant", "content": [{"type": "text", "text": text}],
            "api": "openai-completions", "provider": "demo", "model": "demo-1",
            "usage": {"input": 100, "output": 50, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 150,
                "cost": {"input": 0.001, "output": 0.002, "cacheRead": 0, "cacheWrite": 0, "total": 0.003}},
            "stopReason": "stop", "timestamp": timestamp,
        })
    };
    NewEntry::at_leaf(EntryBody::message(&message))
}

pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(crate) fn ms(milliseconds: f64) -> Duration {
    Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default()
}
