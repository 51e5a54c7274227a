//! The size of a context, measured and estimated.

use crate::conversation::{Conversation, read_message, sent_tokens};
use netaclaw_protocol::{AssistantMessage, Message, StopReason};
use netaclaw_session::{ContextMessage, SessionContext};
use std::borrow::Borrow;

/// The size of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub tokens: u64,
    /// Whether anything in it was not counted by the supplier.
    pub estimated: bool,
    /// What the supplier said about the last request and its answer, if that still holds.
    pub reading: Option<u64>,
    /// What the same messages would have been by estimate, with the overhead. 0 without a reading.
    pub reading_estimate: u64,
}

impl Used {
    /// The error of estimates for this conversation, as far as it is known. Clamped: a supplier
    /// that counts wrongly must not distort a plan.
    pub(crate) fn scale(&self) -> f64 {
        match (self.reading, self.reading_estimate) {
            (Some(reading), estimate) if estimate > 0 => {
                (reading as f64 / estimate as f64).clamp(0.5, 3.0)
            }
            _ => 1.0,
        }
    }
}

/// The last usage that an answer on this path reported, and the estimate of what came after it.
/// What was reported before the last compaction or edit does not count: it was true of another
/// context.
///
/// `overhead_tokens` is what instructions and tools take; it counts where nothing was reported,
/// because a reading has it in it.
pub fn used_tokens(context: &SessionContext<'_>, overhead_tokens: impl FnOnce() -> u64) -> Used {
    let messages = context.messages.iter().enumerate().rev();
    let read = messages.filter_map(|(at, message)| {
        let message = read_message(message)?;
        Some((at >= context.fresh_from, message))
    });
    used_of(read, overhead_tokens)
}

/// What came after the last compaction or edit, by estimate.
pub fn fresh_tokens(context: &SessionContext<'_>) -> u64 {
    let fresh = context.messages[context.fresh_from..].iter();
    let fresh = fresh.filter_map(read_message);
    fresh.map(|message| sent_tokens(&message)).sum()
}

/// The same for messages that have been read. Those from `fresh_from` on came after the last
/// compaction or edit.
pub fn used_by(
    messages: &[Message],
    fresh_from: usize,
    overhead_tokens: impl FnOnce() -> u64,
) -> Used {
    let messages = messages.iter().enumerate().rev();
    let messages = messages.map(|(at, message)| (at >= fresh_from, message));
    used_of(messages, overhead_tokens)
}

/// The messages come last one first, each with whether it is fresh.
fn used_of<M: Borrow<Message>>(
    messages: impl Iterator<Item = (bool, M)>,
    overhead_tokens: impl FnOnce() -> u64,
) -> Used {
    let mut trailing = 0;
    for (fresh, message) in messages {
        let message = message.borrow();
        if fresh
            && let Message::Assistant(answer) = message
            && let Some(reading) = reading(answer)
        {
            return Used {
                tokens: reading + trailing,
                estimated: trailing > 0,
                reading: Some(reading),
                reading_estimate: 0,
            };
        }
        trailing += sent_tokens(message);
    }
    Used {
        tokens: overhead_tokens() + trailing,
        estimated: true,
        reading: None,
        reading_estimate: 0,
    }
}

impl Conversation {
    /// The same as [`used_tokens`] for one that has been read, with what is needed to compute the
    /// error of estimates.
    pub fn used(&self, overhead_tokens: u64) -> Used {
        let all = overhead_tokens + self.tokens();
        let mut trailing = 0;
        for piece in self.pieces[self.fresh_from..].iter().rev() {
            if let Message::Assistant(answer) = &piece.message
                && let Some(reading) = reading(answer)
            {
                return Used {
                    tokens: reading + trailing,
                    estimated: trailing > 0,
                    reading: Some(reading),
                    reading_estimate: all - trailing,
                };
            }
            trailing += piece.tokens;
        }
        Used {
            tokens: all,
            estimated: true,
            ..Used::default()
        }
    }
}

/// What a context is made of, by estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextShares {
    pub summary: u64,
    pub messages: u64,
    pub tool_results: u64,
}

pub fn message_shares(context: &SessionContext<'_>) -> ContextShares {
    let mut shares = ContextShares::default();
    for source in &context.messages {
        let Some(message) = read_message(source) else {
            continue;
        };
        let tokens = sent_tokens(&message);
        match (source, &message) {
            (ContextMessage::CompactionSummary(_), _) => shares.summary += tokens,
            (_, Message::ToolResult(_)) => shares.tool_results += tokens,
            _ => shares.messages += tokens,
        }
    }
    shares
}

/// The size of request and answer together, as the supplier counted it.
fn reading(answer: &AssistantMessage) -> Option<u64> {
    if matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted) {
        return None;
    }
    let usage = &answer.usage;
    let total = match usage.total_tokens {
        0 => usage.input + usage.output + usage.cache_read + usage.cache_write,
        total => total,
    };
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_session::{SessionLog, SessionTree};
    use serde_json::json;

    /// Both computations agree, wherever the last reading is.
    #[test]
    fn a_conversation_knows_its_size_as_its_context_does() {
        let answer = |tokens: u64| json!({"role": "assistant", "content": [{"type": "text", "text": "An answer."}], "api": "x", "provider": "x", "model": "m", "usage": {"totalTokens": tokens}, "stopReason": "stop", "timestamp": 0});
        let user = json!({"role": "user", "content": "A question of some length.", "timestamp": 0});
        let said = |message: &serde_json::Value| json!({"type": "message", "message": message});
        let compaction = json!({"type": "compaction", "summary": "What was.", "firstKeptEntryId": "e1", "tokensBefore": 900});
        for entries in [
            vec![said(&user)],
            vec![said(&user), said(&answer(700)), said(&user)],
            vec![said(&user), said(&answer(0))],
            vec![
                said(&user),
                said(&answer(700)),
                compaction.clone(),
                said(&user),
            ],
            vec![said(&user), said(&answer(700)), compaction.clone()],
            vec![
                said(&user),
                said(&answer(700)),
                compaction,
                said(&answer(90)),
                said(&user),
            ],
        ] {
            let mut lines = vec![json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}).to_string()];
            for (n, mut entry) in entries.into_iter().enumerate() {
                entry["id"] = json!(format!("e{n}"));
                entry["parentId"] = json!((n > 0).then(|| format!("e{}", n - 1)));
                entry["timestamp"] = json!("2026-01-01T00:00:00.000Z");
                lines.push(entry.to_string());
            }
            let text = lines.join("\n") + "\n";
            let tree = SessionTree::new(SessionLog::parse(text.into_bytes()).unwrap());
            let context = tree.context().unwrap();
            let read = Conversation::read(&context).used(50);
            let direct = used_tokens(&context, || 50);
            assert_eq!(
                (read.tokens, read.estimated, read.reading),
                (direct.tokens, direct.estimated, direct.reading)
            );
        }
    }
}
