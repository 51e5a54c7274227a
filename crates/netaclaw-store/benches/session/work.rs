//! The work both sides do: the same messages, of the same length.

use netaclaw_protocol::{
    AssistantMessage, ContentBlock, Cost, Message, StopReason, Usage, UserContent, UserMessage,
};
use netaclaw_session::{EntryBody, NewEntry};
use std::time::{Duration, Instant};

pub(crate) fn cut(text: &str, chars: usize) -> String {
    text.chars().cycle().take(chars).collect()
}

/// What entry number `at` says: questions and answers in turn, their fields in the order that
/// Pi and NetaClaw write them.
pub(crate) fn entry(at: usize) -> NewEntry {
    let timestamp = 1_767_225_600_000 + at as i64;
    let message = if at.is_multiple_of(2) {
        Message::User(UserMessage {
            content: UserContent::Blocks(text(
                "a question of one hundred and twenty characters ",
                120,
            )),
            timestamp,
        })
    } else {
        Message::Assistant(AssistantMessage {
            content: text("an answer of two hundred characters, as plain text ", 200),
            api: "openai-completions".to_owned(),
            provider: "demo".to_owned(),
            model: "demo-1".to_owned(),
            usage: Usage {
                input: 120,
                output: 50,
                total_tokens: 170,
                cost: Cost {
                    input: 0.000_12,
                    output: 0.000_1,
                    total: 0.000_22,
                    ..Cost::default()
                },
                ..Usage::default()
            },
            stop_reason: StopReason::Stop,
            error_message: None,
            trouble: None,
            netaclaw: None,
            timestamp,
        })
    };
    NewEntry::at_leaf(EntryBody::message(&message))
}

fn text(sentence: &str, chars: usize) -> Vec<ContentBlock> {
    vec![ContentBlock::Text {
        text: cut(sentence, chars),
    }]
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
