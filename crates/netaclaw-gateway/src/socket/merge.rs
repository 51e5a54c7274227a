//! Text that waits for a slow client is joined: fewer frames, the same words.

use netaclaw_engine::{EventKind, ServerEvent};
use netaclaw_protocol::{PartDelta, SessionId, ToolOutput};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Joins the events of a stretch that holds nothing but deltas. Different parts count their
/// characters apart, so only the order within a part matters, and that is kept.
pub(super) fn merged(events: Vec<ServerEvent>) -> Vec<ServerEvent> {
    let mut groups: Vec<Group> = Vec::new();
    for event in events {
        let Some(text) = Text::read(&event) else {
            groups.push(Group::Other(event));
            continue;
        };
        let open = groups.iter_mut().rev().find_map(|group| match group {
            Group::Text(first, known) if first.name == event.name && known.continues(&text) => {
                Some(known)
            }
            _ => None,
        });
        match open {
            Some(known) => known.absorb(text),
            None => groups.push(Group::Text(event, Box::new(text))),
        }
    }
    groups.into_iter().map(Group::event).collect()
}

enum Group {
    /// Cannot be joined, or is no text.
    Other(ServerEvent),
    /// The first event of the group, and all its text.
    Text(ServerEvent, Box<Text>),
}

impl Group {
    fn event(self) -> ServerEvent {
        match self {
            Self::Other(event) => event,
            Self::Text(first, text) => match text.json() {
                Some(json) => ServerEvent {
                    json: Arc::from(json),
                    ..first
                },
                None => first,
            },
        }
    }
}

/// The payload of an event that carries text, as the engine writes it.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Payload<D> {
    r#type: String,
    data: D,
    session_id: SessionId,
    epoch: String,
    ts: i64,
}

enum Text {
    Part(Payload<PartDelta>),
    Output(Payload<ToolOutput>),
}

impl Text {
    fn read(event: &ServerEvent) -> Option<Self> {
        if event.kind != EventKind::Delta {
            return None;
        }
        match event.name {
            "assistant_stream_delta" | "thinking_delta" | "token" | "thinking" => {
                payload(event).map(Self::Part)
            }
            "tool_result_streamed" => payload(event).map(Self::Output),
            _ => None,
        }
    }

    /// Whether `next` goes on where this ends.
    fn continues(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::Part(a), Self::Part(b)) => {
                a.session_id == b.session_id
                    && a.epoch == b.epoch
                    && a.data.entry_id == b.data.entry_id
                    && a.data.part == b.data.part
                    && a.data.offset + chars(&a.data.text) == b.data.offset
            }
            (Self::Output(a), Self::Output(b)) => {
                a.session_id == b.session_id
                    && a.epoch == b.epoch
                    && a.data.tool_call_id == b.data.tool_call_id
                    && a.data.offset + chars(&a.data.text) == b.data.offset
            }
            _ => false,
        }
    }

    fn absorb(&mut self, next: Self) {
        match (self, next) {
            (Self::Part(a), Self::Part(b)) => {
                a.data.text.push_str(&b.data.text);
                a.ts = b.ts;
            }
            (Self::Output(a), Self::Output(b)) => {
                a.data.text.push_str(&b.data.text);
                a.ts = b.ts;
            }
            _ => {}
        }
    }

    fn json(&self) -> Option<Box<serde_json::value::RawValue>> {
        match self {
            Self::Part(payload) => serde_json::value::to_raw_value(payload).ok(),
            Self::Output(payload) => serde_json::value::to_raw_value(payload).ok(),
        }
    }
}

fn payload<D: DeserializeOwned>(event: &ServerEvent) -> Option<Payload<D>> {
    serde_json::from_str(event.json.get()).ok()
}

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use netaclaw_engine::EventGroup;
    use serde_json::{Value, json};

    pub(in crate::socket) fn delta(
        name: &'static str,
        part: u32,
        offset: u64,
        text: &str,
    ) -> ServerEvent {
        let payload = json!({
            "type": name,
            "data": {"runId": "r", "entryId": "e", "part": part, "kind": "text", "offset": offset, "text": text},
            "sessionId": "s", "epoch": "p", "ts": 5,
        });
        ServerEvent {
            name,
            json: Arc::from(serde_json::value::to_raw_value(&payload).unwrap()),
            kind: EventKind::Delta,
            group: EventGroup::Current,
        }
    }

    fn texts(events: Vec<ServerEvent>) -> Vec<(String, u64, String)> {
        let read = |event: ServerEvent| {
            let payload: Value = serde_json::from_str(event.json.get()).unwrap();
            let data = &payload["data"];
            let (offset, text) = (data["offset"].as_u64(), data["text"].as_str());
            assert_eq!(payload["type"], event.name);
            (
                event.name.to_owned(),
                offset.unwrap(),
                text.unwrap().to_owned(),
            )
        };
        merged(events).into_iter().map(read).collect()
    }

    fn row(name: &str, offset: u64, text: &str) -> (String, u64, String) {
        (name.to_owned(), offset, text.to_owned())
    }

    #[test]
    fn both_forms_of_the_same_text_are_joined_apart() {
        let (new, old) = ("assistant_stream_delta", "token");
        let events = vec![
            delta(new, 0, 0, "é"),
            delta(old, 0, 0, "é"),
            delta(new, 0, 1, "b"),
            delta(old, 0, 1, "b"),
            delta(new, 1, 0, "c"),
        ];
        assert_eq!(
            texts(events),
            [row(new, 0, "éb"), row(old, 0, "éb"), row(new, 0, "c")]
        );
    }

    #[test]
    fn text_with_a_gap_stays_apart() {
        let name = "thinking_delta";
        let events = vec![delta(name, 0, 0, "ab"), delta(name, 0, 7, "h")];
        assert_eq!(texts(events), [row(name, 0, "ab"), row(name, 7, "h")]);
    }
}
