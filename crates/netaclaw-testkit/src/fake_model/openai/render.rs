//! Answers in the words of chat completions.

use crate::fake_model::body::{Frame, FrameRole};
use crate::fake_model::reply::{CallShape, Part, Reply, TokenCounts, pieces};
use crate::fake_model::tokens_in;
use serde_json::{Value, json};

/// The events of a streamed answer.
pub(crate) fn frames(request: &Value, reply: &Reply) -> Vec<Frame> {
    let mut stream = Stream {
        model: request["model"].as_str().unwrap_or_default(),
        frames: Vec::new(),
    };
    stream.delta(
        json!({"role": "assistant", "content": ""}),
        FrameRole::Frame,
    );
    let field = reply
        .reasoning_field
        .as_deref()
        .unwrap_or("reasoning_content");
    let mut calls = Vec::new();
    for part in reply.said() {
        match part {
            Part::Text(text) => stream.pieces("content", text),
            Part::Thinking(text) | Part::RedactedThinking(text) => stream.pieces(field, text),
            Part::ToolCall {
                id,
                name,
                arguments,
            } => calls.push(Call {
                id,
                name,
                arguments,
            }),
        }
    }
    stream.calls(&calls, reply.call_shape);
    stream.choice(json!({}), Some(finish_reason(reply)), FrameRole::End);
    if request["stream_options"]["include_usage"] == json!(true) {
        let usage = usage(reply.counts(prompt_tokens(request)));
        stream.chunk(json!([]), Some(usage), FrameRole::End);
    }
    stream
        .frames
        .push(Frame::new("data: [DONE]\n\n".into(), FrameRole::End));
    stream.frames
}

struct Call<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

struct Stream<'a> {
    model: &'a str,
    frames: Vec<Frame>,
}

impl Stream<'_> {
    /// A text, piece by piece. The same words again are the same bytes: who measures how soon an
    /// answer begins must not wait until all of it is written.
    fn pieces(&mut self, field: &str, text: &str) {
        let mut last = None;
        for piece in pieces(text) {
            if last != Some(piece) {
                self.delta(json!({field: piece}), FrameRole::Token);
                last = Some(piece);
            } else if let Some(frame) = self.frames.last().cloned() {
                self.frames.push(frame);
            }
        }
    }

    fn delta(&mut self, delta: Value, role: FrameRole) {
        self.choice(delta, None, role);
    }

    fn choice(&mut self, delta: Value, finish_reason: Option<&str>, role: FrameRole) {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": finish_reason}]);
        self.chunk(choices, None, role);
    }

    fn chunk(&mut self, choices: Value, usage: Option<Value>, role: FrameRole) {
        let mut chunk = json!({
            "id": "chatcmpl-fake",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": self.model,
            "choices": choices,
        });
        if let Some(usage) = usage {
            chunk["usage"] = usage;
        }
        self.frames
            .push(Frame::new(format!("data: {chunk}\n\n"), role));
    }

    fn call(&mut self, call: Value) {
        self.delta(json!({"tool_calls": [call]}), FrameRole::Token);
    }

    fn calls(&mut self, calls: &[Call<'_>], shape: CallShape) {
        match shape {
            CallShape::Documented => {
                for (index, call) in calls.iter().enumerate() {
                    self.call(start(index, call));
                    for piece in pieces(call.arguments) {
                        self.call(fragment(index, piece));
                    }
                }
            }
            CallShape::Interleaved => {
                for (index, call) in calls.iter().enumerate() {
                    self.call(start(index, call));
                }
                let mut rests: Vec<_> = calls.iter().map(|call| pieces(call.arguments)).collect();
                while rests
                    .iter_mut()
                    .enumerate()
                    .fold(false, |any, (index, rest)| {
                        let piece = rest.next();
                        if let Some(piece) = piece {
                            self.call(fragment(index, piece));
                        }
                        any | piece.is_some()
                    })
                {}
            }
            CallShape::WithoutIndex => {
                for call in calls {
                    self.call(json!({"id": call.id, "type": "function", "function": {
                        "name": call.name, "arguments": call.arguments,
                    }}));
                }
            }
            CallShape::SameIndex => {
                for call in calls {
                    self.call(start(0, call));
                    for piece in pieces(call.arguments) {
                        self.call(fragment(0, piece));
                    }
                }
            }
            CallShape::NameLast => {
                for (index, call) in calls.iter().enumerate() {
                    for piece in pieces(call.arguments) {
                        self.call(fragment(index, piece));
                    }
                    self.call(json!({"index": index, "id": call.id, "function": {
                        "name": call.name,
                    }}));
                }
            }
        }
    }
}

fn start(index: usize, call: &Call<'_>) -> Value {
    json!({"index": index, "id": call.id, "type": "function", "function": {
        "name": call.name, "arguments": "",
    }})
}

fn fragment(index: usize, piece: &str) -> Value {
    json!({"index": index, "function": {"arguments": piece}})
}

/// A whole answer in one piece.
pub(crate) fn whole(request: &Value, reply: &Reply) -> Value {
    let mut content = String::new();
    let mut reasoning = String::new();
    let mut calls = Vec::new();
    for part in reply.said() {
        match part {
            Part::Text(text) => content += text,
            Part::Thinking(text) | Part::RedactedThinking(text) => reasoning += text,
            Part::ToolCall {
                id,
                name,
                arguments,
            } => calls.push(json!({"id": id, "type": "function", "function": {
                "name": name, "arguments": arguments,
            }})),
        }
    }
    let mut message = json!({"role": "assistant", "content": content});
    if !reasoning.is_empty() {
        message["reasoning_content"] = json!(reasoning);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(reply)}],
        "usage": usage(reply.counts(prompt_tokens(request))),
    })
}

pub(crate) fn error_event() -> String {
    let error = json!({"error": {
        "message": "The server had an error while processing your request.",
        "type": "server_error",
        "code": null,
    }});
    format!("data: {error}\n\n")
}

pub(crate) fn model_list(names: &[String]) -> Value {
    let data: Vec<Value> = names
        .iter()
        .map(|name| {
            json!({"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "fake"})
        })
        .collect();
    json!({"object": "list", "data": data})
}

fn finish_reason(reply: &Reply) -> &str {
    match &reply.stop {
        Some(stop) => stop,
        None if reply.has_calls() => "tool_calls",
        None => "stop",
    }
}

fn usage(counts: TokenCounts) -> Value {
    let prompt = counts.input + counts.cache_read + counts.cache_write;
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": counts.output,
        "total_tokens": prompt + counts.output,
        "prompt_tokens_details": {
            "cached_tokens": counts.cache_read,
            "cache_write_tokens": counts.cache_write,
        },
    })
}

/// Everything the model would read, by its characters.
pub(super) fn prompt_tokens(request: &Value) -> u64 {
    let tools = match request.get("tools") {
        Some(tools) => tokens_in(&tools.to_string()),
        None => 0,
    };
    tools + tokens_in(&request["messages"].to_string())
}
