//! What a joining or returning client sees of a session.

use super::*;
use crate::events::event::{EventGroup, ServerEvent};
use netaclaw_models::StreamPart;
use netaclaw_protocol::{AssistantMessage, EntryId, SessionId, StopReason, Usage};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Records its events.
#[derive(Default)]
struct Ear(Mutex<Vec<Value>>);

impl Subscriber for Ear {
    fn deliver(&self, event: &ServerEvent) {
        let event = serde_json::from_str(event.json.get()).unwrap();
        self.0.lock().unwrap().push(event);
    }

    fn wants(&self, group: EventGroup) -> bool {
        group == EventGroup::Current
    }
}

fn growing() -> GrowingAnswer {
    GrowingAnswer::new(AssistantMessage {
        content: Vec::new(),
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        trouble: None,
        netaclaw: None,
        timestamp: 0,
    })
}

fn part(part: u32, kind: PartKind) -> StreamingPart {
    let called = (kind == PartKind::ToolCall).then(|| "call_1".to_owned());
    StreamingPart {
        part,
        kind,
        text: String::new(),
        tool_name: called.as_ref().map(|_| "ls".to_owned()),
        tool_call_id: called,
        done: false,
        started_at: 0,
        duration_ms: None,
    }
}

#[test]
fn a_run_that_is_being_stopped_does_not_look_as_if_it_ran() {
    let live = TransientState::new(
        Feed::new(SessionId::new("s"), "epoch".to_owned()),
        Vec::new(),
    );
    let run = Some(RunId::new("r"));
    for _ in 0..5000 {
        let phase = Some(RunPhase::Preparing);
        live.run_status(RunState::Running, run.clone(), phase, None);
        let meet = std::sync::Barrier::new(2);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                meet.wait();
                live.phase(RunPhase::RunningTools, None);
            });
            meet.wait();
            live.run_status(RunState::Stopping, run.clone(), None, None);
        });
        assert_eq!(live.lock().run.status().status, RunState::Stopping);
    }
}

#[tokio::test]
async fn a_reconnecting_client_gets_arguments_and_thinking_time() {
    let feed = Feed::new(SessionId::new("s"), "epoch".to_owned());
    let live = TransientState::new(feed.clone(), Vec::new());
    let (run_id, entry_id) = (RunId::new("r"), EntryId::new("e"));
    let text = growing();
    let start = StreamStart {
        run_id: run_id.clone(),
        entry_id: entry_id.clone(),
        parent_id: None,
        provider: "p".to_owned(),
        model: "m".to_owned(),
    };
    live.stream_started(start, text.clone());
    text.start(&StreamPart::Thinking);
    live.part_started(part(0, PartKind::Thinking));
    let done = ThinkingDone {
        run_id: run_id.clone(),
        entry_id: entry_id.clone(),
        part: 0,
        duration_ms: 7,
    };
    live.part_ended(done, PartKind::Thinking);
    let call = text.start(&StreamPart::ToolCall {
        id: "call_1".to_owned(),
        name: "ls".to_owned(),
    });
    live.part_started(part(1, PartKind::ToolCall));
    text.append(call, "{");

    let ear = Arc::new(Ear::default());
    let subscriber: Arc<dyn Subscriber> = ear.clone();
    let joined = live.join(Arc::new(Ear::default()), |_, joined| joined);
    live.resume("epoch", joined.seq, &subscriber).unwrap();
    let heard = ear.0.lock().unwrap();
    let of = |name: &str| heard.iter().find(|event| event["type"] == name);
    let delta = &heard
        .iter()
        .find(|event| event["data"]["part"] == 1)
        .unwrap()["data"];
    assert_eq!(
        (&delta["toolCallId"], &delta["toolName"]),
        (&json!("call_1"), &json!("ls"))
    );
    assert_eq!((&delta["offset"], &delta["text"]), (&json!(0), &json!("{")));
    assert_eq!(of("thinking_done").unwrap()["data"]["durationMs"], 7);
}

/// Records also the older forms of events.
#[derive(Default)]
struct OlderEar(Ear);

impl Subscriber for OlderEar {
    fn deliver(&self, event: &ServerEvent) {
        self.0.deliver(event);
    }

    fn wants(&self, _: EventGroup) -> bool {
        true
    }
}

#[tokio::test]
async fn complete_thinking_is_sent_once_when_it_ends() {
    let live = TransientState::new(
        Feed::new(SessionId::new("s"), "epoch".to_owned()),
        Vec::new(),
    );
    let ear = Arc::new(OlderEar::default());
    live.join(ear.clone(), |_, joined| joined);
    let (run_id, entry_id) = (RunId::new("r"), EntryId::new("e"));
    let text = growing();
    let start = StreamStart {
        run_id: run_id.clone(),
        entry_id: entry_id.clone(),
        parent_id: None,
        provider: "p".to_owned(),
        model: "m".to_owned(),
    };
    live.stream_started(start, text.clone());
    let part_at = text.start(&StreamPart::Thinking);
    live.part_started(part(0, PartKind::Thinking));
    for (offset, piece) in [(0, "Let me "), (7, "think")] {
        text.append(part_at, piece);
        live.part_delta(PartDelta {
            run_id: run_id.clone(),
            entry_id: entry_id.clone(),
            part: 0,
            kind: PartKind::Thinking,
            tool_call_id: None,
            tool_name: None,
            offset,
            text: piece.to_owned(),
        });
    }
    live.part_ended(
        ThinkingDone {
            run_id,
            entry_id,
            part: 0,
            duration_ms: 7,
        },
        PartKind::Thinking,
    );
    let heard = ear.0.0.lock().unwrap();
    let told: Vec<String> = heard[1..]
        .iter()
        .map(|event| format!("{} {}", event["type"], event["data"]["text"]))
        .collect();
    assert_eq!(
        told,
        [
            r#""thinking_delta" "Let me ""#,
            r#""thinking_delta" "think""#,
            r#""thinking" "Let me think""#,
            r#""thinking_done" null"#,
        ]
    );
}

/// A client that handles text as the protocol says: it appends at its length, drops what overlaps,
/// and opens the session again when something is missing.
struct Reader {
    subscription: Arc<Queue>,
    texts: BTreeMap<u64, String>,
    last_seq: u64,
}

/// The events that a reader has not received yet.
#[derive(Default)]
struct Queue(Mutex<VecDeque<Value>>);

impl Subscriber for Queue {
    fn deliver(&self, event: &ServerEvent) {
        let event = serde_json::from_str(event.json.get()).unwrap();
        self.0.lock().unwrap().push_back(event);
    }

    fn wants(&self, group: EventGroup) -> bool {
        group == EventGroup::Current
    }
}

impl Reader {
    fn join(live: &TransientState) -> Self {
        let subscription = Arc::new(Queue::default());
        let (streaming, joined) = live.join(subscription.clone(), |state, joined| {
            (state.streaming(), joined)
        });
        let parts = streaming.into_iter().flat_map(|answer| answer.parts);
        let texts = parts.map(|part| (u64::from(part.part), part.text));
        Self {
            subscription,
            texts: texts.collect(),
            last_seq: joined.seq,
        }
    }

    /// Takes what has arrived; loses some of it, but never what has a number.
    fn read(&mut self, live: &TransientState, mut loses: impl FnMut() -> bool) {
        while let Some(event) = self.next() {
            if let Some(seq) = event["seq"].as_u64() {
                assert_eq!(seq, self.last_seq + 1);
                self.last_seq = seq;
            } else if !loses() && !self.append(&event["data"]) {
                self.resync(live);
            }
        }
    }

    fn next(&self) -> Option<Value> {
        self.subscription.0.lock().unwrap().pop_front()
    }

    /// `false` if something is missing before it.
    fn append(&mut self, data: &Value) -> bool {
        let (Some(text), Some(part)) = (data["text"].as_str(), data["part"].as_u64()) else {
            return true;
        };
        let known = self.texts.entry(part).or_default();
        let offset = usize::try_from(data["offset"].as_u64().unwrap()).unwrap();
        match known.chars().count().checked_sub(offset) {
            Some(overlap) => known.extend(text.chars().skip(overlap)),
            None => return false,
        }
        true
    }

    fn resync(&mut self, live: &TransientState) {
        // The socket's old subscription ends, with all that it has not received.
        self.subscription = Arc::new(Queue::default());
        let subscriber: Arc<dyn Subscriber> = self.subscription.clone();
        let resumed = live.resume("epoch", self.last_seq, &subscriber);
        resumed.expect("the ring has all events");
    }
}

/// Whatever a client loses and whenever it joins, what it shows is a prefix of the answer, and
/// after it has opened the session again it is the answer.
#[tokio::test(start_paused = true)]
async fn offsets_put_the_answer_together_whatever_is_lost() {
    const PIECES: [&str; 5] = ["a", "bc ", "三", "😀", "{\"k\": "];
    for seed in 0..200 {
        let mut chance = fastrand::Rng::with_seed(seed);
        let feed = Feed::new(SessionId::new("s"), "epoch".to_owned());
        let live = TransientState::new(feed.clone(), Vec::new());
        let mut sender = std::pin::pin!(feed.send_when_due());
        let (run_id, entry_id) = (RunId::new("r"), EntryId::new("e"));
        let text = growing();
        let start = StreamStart {
            run_id: run_id.clone(),
            entry_id: entry_id.clone(),
            parent_id: None,
            provider: "p".to_owned(),
            model: "m".to_owned(),
        };
        let mut readers = vec![Reader::join(&live)];
        live.stream_started(start, text.clone());
        // Pieces that the answer has and that no event has carried yet.
        let mut ahead: VecDeque<PartDelta> = VecDeque::new();
        let mut parts = 0;
        for _ in 0..120 {
            match chance.u8(0..10) {
                0 if parts < 4 && ahead.is_empty() => {
                    let (kind, stream) = match chance.u8(0..3) {
                        0 => (PartKind::Text, StreamPart::Text),
                        1 => (PartKind::Thinking, StreamPart::Thinking),
                        _ => {
                            let (id, name) = ("call_1".to_owned(), "ls".to_owned());
                            (PartKind::ToolCall, StreamPart::ToolCall { id, name })
                        }
                    };
                    text.start(&stream);
                    live.part_started(part(parts, kind));
                    parts += 1;
                }
                1 => readers.push(Reader::join(&live)),
                2 => {
                    let wait = Duration::from_millis(chance.u64(0..40));
                    assert!(tokio::time::timeout(wait, sender.as_mut()).await.is_err());
                }
                3 => feed.emit(&ReliableEvent::TodoUpdate(TodoList::default())),
                4 => {
                    let at = chance.usize(..readers.len());
                    readers[at].read(&live, || chance.u8(0..4) == 0);
                }
                5 | 6 => {
                    if let Some(delta) = ahead.pop_front() {
                        live.part_delta(delta);
                    }
                }
                _ if parts > 0 => {
                    let part = chance.u32(0..parts);
                    let piece = PIECES[chance.usize(..PIECES.len())];
                    let offset = text.text_of(part as usize).chars().count() as u64;
                    assert!(text.append(part as usize, piece));
                    ahead.push_back(PartDelta {
                        run_id: run_id.clone(),
                        entry_id: entry_id.clone(),
                        part,
                        kind: PartKind::Text,
                        tool_call_id: None,
                        tool_name: None,
                        offset,
                        text: piece.to_owned(),
                    });
                }
                _ => {}
            }
            for reader in &readers {
                for (part, shown) in &reader.texts {
                    let whole = text.text_of(usize::try_from(*part).unwrap());
                    assert!(
                        whole.starts_with(shown),
                        "seed {seed}: {shown:?} of {whole:?}"
                    );
                }
            }
        }
        for delta in ahead {
            live.part_delta(delta);
        }
        feed.emit(&ReliableEvent::TodoUpdate(TodoList::default()));
        for mut reader in readers {
            reader.read(&live, || false);
            reader.resync(&live);
            reader.read(&live, || false);
            for part in 0..parts {
                let whole = text.text_of(part as usize);
                let shown = reader.texts.get(&u64::from(part));
                assert_eq!(shown, Some(&whole), "seed {seed}");
            }
        }
    }
}
