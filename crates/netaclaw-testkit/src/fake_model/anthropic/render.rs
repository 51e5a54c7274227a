//! Answers in the words of the Messages API.

use crate::fake_model::body::{Frame, FrameRole};
use crate::fake_model::reply::{Part, Reply, pieces};
use crate::fake_model::{signature_of, tokens_in};
use serde_json::{Value, json};

/// The events of a streamed answer.
pub(crate) fn frames(request: &Value, reply: &Reply) -> Vec<Frame> {
    let counts = reply.counts(prompt_tokens(request));
    let mut stream = Stream::default();
    stream.event(
        json!({"type": "message_start", "message": {
            "id": "msg_fake", "type": "message", "role": "assistant", "content": [],
            "model": request["model"], "stop_reason": null, "stop_sequence": null,
            "usage": {
                "input_tokens": counts.input,
                "cache_creation_input_tokens": counts.cache_write,
                "cache_read_input_tokens": counts.cache_read,
                "output_tokens": 1,
            },
        }}),
        FrameRole::Frame,
    );
    for (index, part) in reply.said().iter().enumerate() {
        stream.block(index, part);
        // The real server pings right after the first block has begun, and now and then.
        if index == 0 {
            stream.event(json!({"type": "ping"}), FrameRole::Frame);
        }
    }
    stream.event(
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null},
            "usage": {"output_tokens": counts.output},
        }),
        FrameRole::End,
    );
    stream.event(json!({"type": "message_stop"}), FrameRole::End);
    stream.frames
}

#[derive(Default)]
struct Stream {
    frames: Vec<Frame>,
}

impl Stream {
    fn event(&mut self, event: Value, role: FrameRole) {
        let name = event["type"].as_str().unwrap_or_default();
        let text = format!("event: {name}\ndata: {event}\n\n");
        self.frames.push(Frame::new(text, role));
    }

    fn start(&mut self, index: usize, block: Value) {
        self.event(
            json!({"type": "content_block_start", "index": index, "content_block": block}),
            FrameRole::Frame,
        );
    }

    fn delta(&mut self, index: usize, delta: Value, role: FrameRole) {
        self.event(
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            role,
        );
    }

    fn block(&mut self, index: usize, part: &Part) {
        match part {
            Part::Text(text) => {
                self.start(index, json!({"type": "text", "text": ""}));
                for piece in pieces(text) {
                    self.delta(
                        index,
                        json!({"type": "text_delta", "text": piece}),
                        FrameRole::Token,
                    );
                }
            }
            Part::Thinking(text) => {
                self.start(
                    index,
                    json!({"type": "thinking", "thinking": "", "signature": ""}),
                );
                for piece in pieces(text) {
                    self.delta(
                        index,
                        json!({"type": "thinking_delta", "thinking": piece}),
                        FrameRole::Token,
                    );
                }
                let signature = signature_of(text);
                self.delta(
                    index,
                    json!({"type": "signature_delta", "signature": signature}),
                    FrameRole::Frame,
                );
            }
            Part::RedactedThinking(data) => {
                self.start(index, json!({"type": "redacted_thinking", "data": data}));
            }
            Part::ToolCall {
                id,
                name,
                arguments,
            } => {
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                self.start(index, block);
                self.delta(
                    index,
                    json!({"type": "input_json_delta", "partial_json": ""}),
                    FrameRole::Frame,
                );
                for piece in pieces(arguments) {
                    let delta = json!({"type": "input_json_delta", "partial_json": piece});
                    self.delta(index, delta, FrameRole::Token);
                }
            }
        }
        self.event(
            json!({"type": "content_block_stop", "index": index}),
            FrameRole::Frame,
        );
    }
}

/// A whole answer in one piece.
pub(crate) fn whole(request: &Value, reply: &Reply) -> Value {
    let counts = reply.counts(prompt_tokens(request));
    let content: Vec<Value> = reply.said().iter().map(block).collect();
    json!({
        "id": "msg_fake", "type": "message", "role": "assistant", "content": content,
        "model": request["model"], "stop_reason": stop_reason(reply), "stop_sequence": null,
        "usage": {
            "input_tokens": counts.input,
            "cache_creation_input_tokens": counts.cache_write,
            "cache_read_input_tokens": counts.cache_read,
            "output_tokens": counts.output,
        },
    })
}

fn block(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Thinking(text) => {
            json!({"type": "thinking", "thinking": text, "signature": signature_of(text)})
        }
        Part::RedactedThinking(data) => json!({"type": "redacted_thinking", "data": data}),
        Part::ToolCall {
            id,
            name,
            arguments,
        } => {
            let input: Value = serde_json::from_str(arguments).unwrap_or_default();
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    }
}

pub(crate) fn error_event() -> String {
    let error = json!({
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
    });
    format!("event: error\ndata: {error}\n\n")
}

pub(crate) fn model_list(names: &[String]) -> Value {
    let data: Vec<Value> = names
        .iter()
        .map(|name| json!({"type": "model", "id": name, "display_name": name}))
        .collect();
    json!({"data": data, "has_more": false, "first_id": null, "last_id": null})
}

fn stop_reason(reply: &Reply) -> &str {
    match &reply.stop {
        Some(stop) => stop,
        None if reply.has_calls() => "tool_use",
        None => "end_turn",
    }
}

/// Everything the model would read, by its characters.
pub(super) fn prompt_tokens(request: &Value) -> u64 {
    ["system", "tools", "messages"]
        .iter()
        .filter_map(|name| request.get(*name))
        .map(|value| tokens_in(&value.to_string()))
        .sum()
}
