//! The events of a chat completion, one after the other.

use super::calls::Calls;
use super::content::{Chunk, Delta, text_of};
use super::think_tags::{Piece, Splitter};
use crate::answer::Answer;
use crate::catalogue::Quirks;
use crate::error::{Detail, ModelError, Reply, classify};
use crate::http::{Decoder, Progress};
use netaclaw_protocol::{StopReason, Usage};

pub(crate) struct ChatDecoder {
    quirks: &'static Quirks,
    tags: Option<Splitter>,
    calls: Calls,
    /// Where thinking came from, which is where it has to go back to.
    reasoning_field: &'static str,
    usage: Option<Usage>,
    finish: Option<String>,
    /// The server said that this was all, with or without a reason.
    done: bool,
}

impl ChatDecoder {
    pub(crate) fn new(quirks: &'static Quirks) -> Self {
        Self {
            quirks,
            tags: quirks.think_tags.then(Splitter::default),
            calls: Calls::default(),
            reasoning_field: "",
            usage: None,
            finish: None,
            done: false,
        }
    }

    fn chunk(&mut self, data: &str, answer: &mut Answer) -> Result<(), ModelError> {
        let chunk: Chunk = serde_json::from_str(data)
            .map_err(|error| ModelError::Protocol(Detail::text(format!("{error} in {data}"))))?;
        if chunk.is_error() {
            return Err(classify(Reply {
                status: None,
                retry_after: None,
                body: data,
            }));
        }
        if let Some(usage) = chunk.usage {
            self.usage = Some(usage.into());
        }
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(usage) = choice.usage {
                self.usage = Some(usage.into());
            }
            if let Some(delta) = choice.delta.or(choice.message) {
                self.delta(delta, answer);
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish = Some(reason);
            }
        }
        Ok(())
    }

    fn delta(&mut self, delta: Delta, answer: &mut Answer) {
        self.reasoning(&delta, answer);
        let text = delta.content.map(text_of);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.text(&text, answer);
        }
        if let Some(refusal) = delta.refusal {
            self.text(&refusal, answer);
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.flush_tags(answer);
            self.calls.take(call, answer);
        }
    }

    fn reasoning(&mut self, delta: &Delta, answer: &mut Answer) {
        let details: String;
        let (field, text) = match delta {
            Delta {
                reasoning_content: Some(text),
                ..
            } if !text.is_empty() => ("reasoning_content", text.as_str()),
            Delta {
                reasoning: Some(text),
                ..
            } if !text.is_empty() => ("reasoning", text.as_str()),
            Delta {
                reasoning_details: Some(parts),
                ..
            } => {
                let texts = parts.iter().filter_map(|part| part.text.as_deref());
                details = texts.collect();
                ("reasoning_details", details.as_str())
            }
            _ => return,
        };
        if self.reasoning_field.is_empty() {
            self.reasoning_field = field;
            // Where thinking has a field of its own, tags in the text would only repeat it.
            self.flush_tags(answer);
        }
        // One supplier sends the same in two fields, and sometimes all of it again.
        if field != self.reasoning_field {
            return;
        }
        let repeats = self.quirks.repeats_reasoning;
        let (text, begins) = answer.look_at_thinking(|before| {
            let new = text.strip_prefix(before);
            let new = new.filter(|_| repeats && !before.is_empty());
            (new.unwrap_or(text), before.is_empty())
        });
        if text.is_empty() {
            return;
        }
        answer.thinking(text);
        if begins {
            answer.sign(field);
        }
    }

    fn text(&mut self, text: &str, answer: &mut Answer) {
        let Some(tags) = &mut self.tags else {
            return answer.text(text);
        };
        for piece in tags.push(text) {
            show(piece, answer);
        }
    }

    /// Nothing that follows can complete a tag.
    fn flush_tags(&mut self, answer: &mut Answer) {
        if let Some(piece) = self.tags.take().and_then(|mut tags| tags.end()) {
            show(piece, answer);
        }
    }
}

fn show(piece: Piece, answer: &mut Answer) {
    match piece {
        Piece::Thinking(text) => answer.thinking(&text),
        Piece::Text(text) => answer.text(&text),
    }
}

impl Decoder for ChatDecoder {
    fn event(
        &mut self,
        name: Option<&str>,
        data: &str,
        answer: &mut Answer,
    ) -> Result<Progress, ModelError> {
        match data.trim() {
            "" => return Ok(Progress::More),
            "[DONE]" => {
                self.done = true;
                return Ok(Progress::Complete);
            }
            _ => {}
        }
        if name == Some("error") {
            return Err(classify(Reply {
                status: None,
                retry_after: None,
                body: data,
            }));
        }
        self.chunk(data, answer)?;
        Ok(Progress::More)
    }

    fn is_complete(&self) -> bool {
        self.finish.is_some() || self.done
    }

    fn end(&mut self, answer: &mut Answer) -> Result<(), ModelError> {
        self.flush_tags(answer);
        if let Some(usage) = self.usage.take() {
            answer.usage(usage);
        }
        if !self.is_complete() {
            return Err(ModelError::StreamBroken(Detail::default()));
        }
        let reason = stop_reason(self.finish.as_deref().unwrap_or("stop"))?;
        self.calls.end()?;
        answer.finish(reason);
        Ok(())
    }

    fn decode_whole(&mut self, body: &str, answer: &mut Answer) -> Result<(), ModelError> {
        self.chunk(body, answer)?;
        self.end(answer)
    }
}

/// Why an answer ended, by all the names it has.
fn stop_reason(reason: &str) -> Result<StopReason, ModelError> {
    let detail = || Detail::text(format!("finish reason {reason}"));
    match reason {
        "length" | "max_tokens" | "model_context_window_exceeded" => Ok(StopReason::Length),
        "tool_calls" | "function_call" | "tool_use" => Ok(StopReason::ToolUse),
        "content_filter" | "sensitive" | "refusal" => Err(ModelError::Refused(detail())),
        "insufficient_system_resource" => Err(ModelError::Overloaded {
            retry_after: None,
            detail: detail(),
        }),
        "network_error" | "error" => Err(ModelError::StreamBroken(detail())),
        // `stop`, `eos`, `end_turn` and other values of servers.
        _ => Ok(StopReason::Stop),
    }
}
