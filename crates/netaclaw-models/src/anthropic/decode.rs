//! The events of a message, one after the other.

use super::events::{Delta, Event, WholeMessage, WireBlock, WireUsage};
use crate::answer::Answer;
use crate::error::{Detail, ModelError, Reply, classify};
use crate::http::{Decoder, Progress};
use netaclaw_protocol::StopReason;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct MessagesDecoder {
    /// The calls that are open, by the number of their block.
    calls: BTreeMap<usize, OpenCall>,
    stop: Option<String>,
}

struct OpenCall {
    part: usize,
    /// Arguments that came with the start instead of in fragments.
    given: Option<Value>,
}

impl MessagesDecoder {
    fn block_start(&mut self, index: usize, block: WireBlock, answer: &mut Answer) {
        answer.end_current();
        match block {
            WireBlock::Text { text } => answer.text(&text),
            WireBlock::Thinking {
                thinking,
                signature,
            } => {
                answer.thinking(&thinking);
                answer.sign(&signature.unwrap_or_default());
            }
            WireBlock::RedactedThinking { data } => answer.redacted_thinking(&data),
            WireBlock::ToolUse { id, name, input } => {
                let part = answer.call(&id, &name);
                let given = Some(input).filter(|i| i.as_object().is_some_and(|o| !o.is_empty()));
                self.calls.insert(index, OpenCall { part, given });
            }
            WireBlock::Other => {}
        }
    }

    fn block_delta(&mut self, index: usize, delta: Delta, answer: &mut Answer) {
        match delta {
            Delta::Text { text } => answer.text(&text),
            Delta::Thinking { thinking } => answer.thinking(&thinking),
            Delta::Signature { signature } => answer.sign(&signature),
            Delta::InputJson { partial_json } => {
                if let Some(call) = self.calls.get_mut(&index) {
                    call.given = None;
                    answer.arguments(call.part, &partial_json);
                }
            }
            Delta::Other => {}
        }
    }

    fn block_stop(&mut self, index: usize, answer: &mut Answer) {
        match self.calls.remove(&index) {
            Some(call) => {
                if let Some(given) = call.given {
                    answer.arguments(call.part, &given.to_string());
                }
                answer.end(call.part);
            }
            None => answer.end_current(),
        }
    }

    fn usage(&self, wire: Option<WireUsage>, answer: &mut Answer) {
        if let Some(wire) = wire {
            let mut usage = answer.usage_so_far();
            wire.add_to(&mut usage);
            answer.usage(usage);
        }
    }
}

impl Decoder for MessagesDecoder {
    fn event(
        &mut self,
        _name: Option<&str>,
        data: &str,
        answer: &mut Answer,
    ) -> Result<Progress, ModelError> {
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(Progress::More);
        }
        let event = serde_json::from_str(data)
            .map_err(|error| ModelError::Protocol(Detail::text(format!("{error} in {data}"))))?;
        match event {
            Event::MessageStart { message } => self.usage(message.usage, answer),
            Event::ContentBlockStart {
                index,
                content_block,
            } => self.block_start(index, content_block, answer),
            Event::ContentBlockDelta { index, delta } => self.block_delta(index, delta, answer),
            Event::ContentBlockStop { index } => self.block_stop(index, answer),
            Event::MessageDelta { delta, usage } => {
                self.usage(usage, answer);
                self.stop = delta.stop_reason.or(self.stop.take());
            }
            Event::MessageStop => return Ok(Progress::Complete),
            Event::Error => {
                return Err(classify(Reply {
                    status: None,
                    retry_after: None,
                    body: data,
                }));
            }
            Event::Other => {}
        }
        Ok(Progress::More)
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some()
    }

    fn end(&mut self, answer: &mut Answer) -> Result<(), ModelError> {
        let open: Vec<usize> = self.calls.keys().copied().collect();
        for index in open {
            self.block_stop(index, answer);
        }
        let Some(reason) = self.stop.as_deref() else {
            return Err(ModelError::StreamBroken(Detail::default()));
        };
        answer.finish(stop_reason(reason)?);
        Ok(())
    }

    fn decode_whole(&mut self, body: &str, answer: &mut Answer) -> Result<(), ModelError> {
        let whole: WholeMessage = serde_json::from_str(body)
            .map_err(|error| ModelError::Protocol(Detail::text(error.to_string())))?;
        let Some(blocks) = whole.content else {
            return Err(classify(Reply {
                status: None,
                retry_after: None,
                body,
            }));
        };
        for (index, block) in blocks.into_iter().enumerate() {
            self.block_start(index, block, answer);
            self.block_stop(index, answer);
        }
        self.usage(whole.usage, answer);
        self.stop = whole.stop_reason;
        self.end(answer)
    }
}

fn stop_reason(reason: &str) -> Result<StopReason, ModelError> {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Ok(StopReason::Length),
        "tool_use" => Ok(StopReason::ToolUse),
        "refusal" => Err(ModelError::Refused(Detail::text("stop reason refusal"))),
        _ => Ok(StopReason::Stop),
    }
}
