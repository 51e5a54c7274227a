//! The answer as server-sent events.

use super::complete::{completion_id, failed, finish_reason, usage};
use super::run::{Piece, Run};
use super::transcript::AnswerEnding;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, StreamExt};
use netaclaw_protocol::now_ms;
use serde_json::{Value, json};
use std::convert::Infallible;

/// Streams the run. The run belongs to the stream: when the reader goes, both end.
pub(super) fn streamed(run: Run, model: String, wants_usage: bool) -> Response {
    let frame = Frame {
        id: completion_id(&run),
        created: now_ms() / 1000,
        model,
    };
    let first = frame.chunk(json!({ "role": "assistant", "content": "" }), Value::Null);
    let rest = stream::unfold((run, frame), move |(mut run, frame)| async move {
        let events = match run.next().await? {
            Piece::Text(text) => vec![frame.chunk(json!({ "content": text }), Value::Null)],
            Piece::End(ending) => frame.end(&run, ending, wants_usage),
        };
        Some((stream::iter(events), (run, frame)))
    });
    let events = stream::iter([first]).chain(rest.flatten());
    Sse::new(events.map(Ok::<_, Infallible>))
        .keep_alive(KeepAlive::default())
        .into_response()
}

/// What all chunks of an answer share.
struct Frame {
    id: String,
    created: i64,
    model: String,
}

impl Frame {
    fn chunk(&self, delta: Value, finish_reason: Value) -> Event {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
        self.with(json!([choice]), Value::Null)
    }

    fn end(&self, run: &Run, ending: AnswerEnding, wants_usage: bool) -> Vec<Event> {
        let done = Event::default().data("[DONE]");
        if let AnswerEnding::Failed(reason) = ending {
            return vec![event(&failed(reason).body()), done];
        }
        let mut events = vec![self.chunk(json!({}), json!(finish_reason(&ending)))];
        if wants_usage {
            events.push(self.with(json!([]), usage(run.usage())));
        }
        events.push(done);
        events
    }

    fn with(&self, choices: Value, usage: Value) -> Event {
        event(&json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
            "usage": usage,
        }))
    }
}

fn event(body: &Value) -> Event {
    Event::default().data(body.to_string())
}
