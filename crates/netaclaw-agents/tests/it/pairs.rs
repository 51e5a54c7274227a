//! Pair safety: whatever a session holds, what reaches a model has every call answered once, no
//! result without its call, and roles in a legal order; suppliers reject anything else, and the
//! session could not continue.
//!
//! Random trees are written through the session provider, as runs, crashes and other programs leave
//! them; then a message is sent through the engine at a random position. The fake is as strict as
//! the suppliers; the test checks once more independently.

use crate::world::World;
use netaclaw_protocol::{Chat, EntryId, SessionId, SetModel, Supplier};
use netaclaw_session::{
    EntryBody, InFlightEntry, NewEntry, SessionPatch, SessionTreeProvider, raw_json,
};
use netaclaw_testkit::engine::{ann, message, within};
use netaclaw_testkit::fake_model::{Recorded, Reply};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// One thing that is done to a session.
#[derive(Clone, Debug)]
enum Step {
    Say {
        blank: bool,
    },
    Answer(Answer),
    /// Results for some calls of the last answer: bit by bit, in one order or the other, once or
    /// twice.
    Results {
        which: u8,
        backwards: bool,
        twice: bool,
    },
    /// A result without a call.
    Orphan,
    /// The leaf goes to an earlier entry.
    Move(u16),
    /// Everything before an earlier entry is summarised.
    Compact(u16),
    LeftBranch,
    Notice,
    Think,
    /// The server dies in the middle of an answer.
    Crash(Answer),
}

#[derive(Clone, Debug)]
struct Answer {
    calls: u8,
    /// Some models count their calls from zero in every answer.
    counted: bool,
    text: &'static str,
    thinking: bool,
    signed: bool,
    /// By the model that will be asked, or by another.
    own: bool,
    stop: &'static str,
    /// Arguments that never became JSON.
    broken: bool,
}

fn answer() -> impl Strategy<Value = Answer> {
    let stop = prop_oneof![
        4 => Just("toolUse"),
        3 => Just("stop"),
        2 => Just("aborted"),
        2 => Just("error"),
        1 => Just("length"),
    ];
    let text = prop_oneof![Just("Said."), Just(""), Just("  "), Just("说了。")];
    let flags = any::<[bool; 5]>();
    (0..4u8, text, stop, flags).prop_map(|(calls, text, stop, flags)| {
        let [counted, thinking, signed, own, broken] = flags;
        Answer {
            calls,
            counted,
            text,
            thinking,
            signed,
            own,
            stop,
            broken,
        }
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<bool>().prop_map(|blank| Step::Say { blank }),
        8 => answer().prop_map(Step::Answer),
        6 => any::<(u8, bool, bool)>().prop_map(|(which, backwards, twice)| Step::Results {
            which,
            backwards,
            twice,
        }),
        1 => Just(Step::Orphan),
        2 => any::<u16>().prop_map(Step::Move),
        2 => any::<u16>().prop_map(Step::Compact),
        1 => Just(Step::LeftBranch),
        1 => Just(Step::Notice),
        1 => Just(Step::Think),
        1 => answer().prop_map(Step::Crash),
    ]
}

/// A tree, where to send a message, whether a run was active when the server died, and which API is
/// asked first.
type Case = (Vec<Step>, Option<u16>, bool, bool);

fn case() -> impl Strategy<Value = Case> {
    let steps = prop::collection::vec(step(), 0..30);
    (steps, any::<Option<u16>>(), any::<bool>(), any::<bool>())
}

#[test]
fn every_call_is_answered_once_whatever_the_session_holds() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (world, anthropic) = runtime.block_on(async {
        let world = World::start(Supplier::Openai).await;
        let anthropic = world
            .add_channel("fake-anthropic", Supplier::Anthropic)
            .await;
        (world, anthropic)
    });
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    };
    let channels = [world.channel.to_string(), anthropic.to_string()];
    TestRunner::new(config)
        .run(&case(), |case| {
            runtime.block_on(check(&world, &channels, case));
            Ok(())
        })
        .unwrap();
    assert!(world.requests().len() > 64, "the model was asked");
}

async fn check(world: &World, channels: &[String; 2], (steps, at, crashed, other): Case) {
    let session = Builder::build(world, &steps, crashed).await;
    let provider = &world.engine.providers().file;
    let before = world.requests().len();
    let order = if other { [1, 0] } else { [0, 1] };
    // Both APIs one after the other, so that each also reads what came by the other.
    for channel in order {
        let choice = SetModel {
            session_id: session.clone(),
            channel_id: channels[channel].clone(),
            model_id: "fake-model".to_owned(),
            request_id: None,
        };
        within(world.engine.execute(&ann(), choice)).await.unwrap();
        world.script().push(
            Reply::text("I look.")
                .and_tool_call("call_0", "ls", "{}")
                .and_tool_call("call_1", "ls", r#"{"path":"."}"#),
        );
        let (client, _) = world.open(&session).await;
        let tree = provider.load_tree(&session).await.unwrap();
        let leaf = at.and_then(|at| pick(tree.entries(), at).map(|entry| entry.id().clone()));
        let chat = Chat {
            leaf_entry_id: leaf,
            ..message(&session, "And now?")
        };
        world.send(chat).await.unwrap();
        let done = within(client.done(1)).await;
        assert_eq!(done[0]["data"]["outcome"], "completed", "{done:?}");
    }
    let requests = world.requests();
    assert_eq!(requests.len() - before, 4);
    for request in &requests[before..] {
        assert_eq!(request.refused, None, "{}", request.body);
        match request.path.as_str() {
            "/v1/messages" => check_anthropic(request),
            _ => check_openai(request),
        }
    }
}

fn pick<T>(all: &[T], at: u16) -> Option<&T> {
    all.get(usize::from(at) % all.len().max(1))
}

/// Writes a session step by step.
struct Builder<'w> {
    provider: &'w Arc<dyn SessionTreeProvider>,
    session: SessionId,
    ids: Vec<EntryId>,
    /// Of the last answer.
    calls: Vec<String>,
    count: usize,
}

impl<'w> Builder<'w> {
    async fn build(world: &'w World, steps: &[Step], crashed: bool) -> SessionId {
        let mut builder = Self {
            provider: &world.engine.providers().file,
            session: world.bare_session().await,
            ids: Vec::new(),
            calls: Vec::new(),
            count: 0,
        };
        for step in steps {
            builder.step(step).await;
        }
        let Self {
            provider, session, ..
        } = builder;
        if crashed {
            let mark = json!({"run": {"runId": "dead", "startedAt": 1}});
            let patch = SessionPatch {
                metadata: Some([("netaclaw".to_owned(), mark)].into_iter().collect()),
                ..SessionPatch::default()
            };
            provider.update_session(&session, patch).await.unwrap();
        }
        provider.release(&session).await.unwrap();
        session
    }

    async fn step(&mut self, step: &Step) {
        match step {
            Step::Say { blank } => {
                let text = if *blank { "  " } else { "Please." };
                self.message(json!({"role": "user", "content": text, "timestamp": 1}))
                    .await;
            }
            Step::Answer(answer) => {
                let message = self.answer(answer);
                self.message(message).await;
            }
            Step::Results {
                which,
                backwards,
                twice,
            } => self.results(*which, *backwards, *twice).await,
            Step::Orphan => self.result("call_nobody_made").await,
            Step::Move(at) => {
                if let Some(leaf) = pick(&self.ids, *at) {
                    self.provider
                        .switch_leaf(&self.session, leaf)
                        .await
                        .unwrap();
                }
            }
            Step::Compact(at) => self.compact(*at).await,
            Step::LeftBranch => {
                self.append(EntryBody::BranchSummary {
                    from_id: self.ids.first().cloned(),
                    summary: "We tried something else.".to_owned(),
                    details: None,
                })
                .await;
            }
            Step::Notice => {
                self.append(EntryBody::CustomMessage {
                    custom_type: "netaclaw.notice".to_owned(),
                    content: raw_json(&"Mind this."),
                    display: true,
                    details: None,
                })
                .await;
            }
            Step::Think => {
                self.append(EntryBody::ThinkingLevelChange {
                    thinking_level: "low".to_owned(),
                })
                .await;
            }
            Step::Crash(answer) => self.crash(answer).await,
        }
    }

    async fn append(&mut self, body: EntryBody) {
        let entry = self
            .provider
            .append_entry(&self.session, NewEntry::at_leaf(body))
            .await
            .unwrap();
        self.ids.push(entry.id().clone());
    }

    async fn message(&mut self, message: Value) {
        self.append(EntryBody::message(&message)).await;
    }

    fn answer(&mut self, answer: &Answer) -> Value {
        self.count += 1;
        let mut content = Vec::new();
        if answer.thinking {
            let mut thinking = json!({"type": "thinking", "thinking": "Let me see."});
            if answer.signed {
                let signature = netaclaw_testkit::fake_model::signature_of("Let me see.");
                thinking["thinkingSignature"] = json!(signature);
            }
            content.push(thinking);
        }
        if !answer.text.is_empty() {
            content.push(json!({"type": "text", "text": answer.text}));
        }
        self.calls = (0..answer.calls)
            .map(|n| match answer.counted {
                true => format!("call_{n}"),
                false => format!("call_{}_{n}", self.count),
            })
            .collect();
        let arguments = match answer.broken {
            true => json!("{\"path\": \"half"),
            false => json!({"path": "."}),
        };
        let calls = self.calls.iter();
        content.extend(
            calls.map(
                |id| json!({"type": "toolCall", "id": id, "name": "ls", "arguments": arguments}),
            ),
        );
        let (api, provider) = match (answer.own, self.count % 2) {
            (true, 0) => ("openai-completions", "fake"),
            (true, _) => ("anthropic-messages", "fake-anthropic"),
            (false, _) => ("another", "another"),
        };
        json!({"role": "assistant", "content": content, "api": api, "provider": provider,
            "model": "fake-model", "usage": {}, "stopReason": answer.stop, "timestamp": 2})
    }

    async fn results(&mut self, which: u8, backwards: bool, twice: bool) {
        let mut chosen: Vec<String> = (0..)
            .zip(&self.calls)
            .filter(|(bit, _)| which & (1 << bit) != 0)
            .map(|(_, id)| id.clone())
            .collect();
        if backwards {
            chosen.reverse();
        }
        for _ in 0..=u8::from(twice) {
            for id in &chosen {
                self.result(id).await;
            }
        }
    }

    async fn result(&mut self, id: &str) {
        self.message(
            json!({"role": "toolResult", "toolCallId": id, "toolName": "ls",
            "content": [{"type": "text", "text": "a.txt"}], "isError": false, "timestamp": 3}),
        )
        .await;
    }

    async fn compact(&mut self, at: u16) {
        let path = self.provider.get_active_path(&self.session).await.unwrap();
        let Some(kept) = pick(&path, at) else { return };
        self.append(EntryBody::Compaction {
            summary: "What was before.".to_owned(),
            first_kept_entry_id: Some(kept.id().clone()),
            tokens_before: 1000,
            details: None,
        })
        .await;
    }

    /// What was in flight is found by the next writer.
    async fn crash(&mut self, answer: &Answer) {
        let leaf = self.provider.load_tree(&self.session).await.unwrap();
        let in_flight = InFlightEntry {
            id: EntryId::new(format!("f{:07x}", self.count)),
            parent_id: leaf.leaf().cloned(),
            message: raw_json(&self.answer(answer)),
        };
        self.provider
            .update_in_flight_entry(&self.session, in_flight)
            .await
            .unwrap();
        self.provider.release(&self.session).await.unwrap();
    }
}

fn check_openai(request: &Recorded) {
    let mut open: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let mut last = "";
    for message in request.body["messages"].as_array().unwrap() {
        let role = message["role"].as_str().unwrap();
        match role {
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap();
                let at = open.iter().position(|call| call == id);
                open.remove(at.unwrap_or_else(|| panic!("no call {id}: {}", request.body)));
            }
            _ => assert_eq!(open, [""; 0], "unanswered: {}", request.body),
        }
        if role == "assistant" {
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let id = call["id"].as_str().unwrap().to_owned();
                assert!(seen.insert(id.clone()), "{id} twice: {}", request.body);
                open.push(id);
            }
        }
        assert!(
            role != "assistant" || last != "assistant",
            "{}",
            request.body
        );
        last = role;
    }
    assert_eq!(open, [""; 0], "unanswered at the end: {}", request.body);
    assert_ne!(last, "assistant", "an answer is due: {}", request.body);
}

fn check_anthropic(request: &Recorded) {
    let of = |message: &Value, kind: &str, id: &str| -> Vec<String> {
        let blocks = message["content"].as_array().into_iter().flatten();
        blocks
            .filter(|block| block["type"] == kind)
            .map(|block| block[id].as_str().unwrap().to_owned())
            .collect()
    };
    let messages = request.body["messages"].as_array().unwrap();
    let mut calls = Vec::new();
    let mut seen = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], expected, "{}", request.body);
        assert_eq!(
            of(message, "tool_result", "tool_use_id"),
            calls,
            "{}",
            request.body
        );
        calls = of(message, "tool_use", "id");
        for id in &calls {
            assert!(seen.insert(id.clone()), "{id} twice: {}", request.body);
        }
    }
    assert!(
        calls.is_empty() && messages.len() % 2 == 1,
        "{}",
        request.body
    );
}
