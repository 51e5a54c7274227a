//! Branches: a request to a model holds the active path and nothing else, because a text of another
//! branch would reveal what the user has left. Every text of these tests is a marker that occurs
//! once.

use crate::world::{APIS, World};
use netaclaw_engine::EngineError;
use netaclaw_protocol::{Chat, Disposition, EntryId, SessionId, Supplier, SwitchLeaf};
use netaclaw_session::{Entry, EntryBody, EntryKind, NewEntry};
use netaclaw_testkit::engine::{ann, message, within};
use netaclaw_testkit::fake_model::Reply;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;

/// The markers of a request, in order.
fn markers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('<') {
        rest = after;
        if let Some((inner, _)) = after.split_once('>')
            && inner.starts_with(['u', 'a', 's'])
            && inner[1..].chars().all(|c| c.is_ascii_digit())
            && inner.len() > 1
        {
            found.push(inner.to_owned());
        }
    }
    found
}

fn asked(world: &World) -> Vec<String> {
    let request = world.script().last_request();
    assert_eq!(request.refused, None);
    markers(&request.body["messages"].to_string())
}

/// A conversation of numbered markers: `<u1>` is answered by `<a1>`.
struct Talk {
    world: World,
    session: SessionId,
    client: netaclaw_testkit::engine::Client,
    said: usize,
    runs: usize,
}

impl Talk {
    async fn new(supplier: Supplier) -> Self {
        let world = World::start(supplier).await;
        let (session, client) = world.session().await;
        Self {
            world,
            session,
            client,
            said: 0,
            runs: 0,
        }
    }

    fn next(&mut self) -> Chat {
        self.said += 1;
        message(&self.session, &format!("<u{}>", self.said))
    }

    /// Sends the next message, here or on another branch, and waits for the answer.
    async fn say(&mut self, at: Option<&EntryId>) {
        let chat = Chat {
            leaf_entry_id: at.cloned(),
            ..self.next()
        };
        let reply = Reply::text(format!("<a{}>", self.said));
        self.world.script().push(reply);
        let ack = self.world.send(chat).await.unwrap();
        assert_eq!(ack.answer.disposition, Disposition::Started);
        self.ended(1).await;
    }

    async fn ended(&mut self, runs: usize) {
        self.runs += runs;
        within(self.client.done(self.runs)).await;
    }

    async fn compact(&mut self, first_kept: &EntryId) {
        self.said += 1;
        let body = EntryBody::Compaction {
            summary: format!("<s{}>", self.said),
            first_kept_entry_id: Some(first_kept.clone()),
            tokens_before: 10,
            details: None,
        };
        let provider = &self.world.engine.providers().file;
        let new = NewEntry::at_leaf(body);
        provider.append_entry(&self.session, new).await.unwrap();
    }

    async fn path(&self) -> Vec<Entry> {
        let provider = &self.world.engine.providers().file;
        provider.get_active_path(&self.session).await.unwrap()
    }

    /// The entry that says this.
    async fn entry(&self, marker: &str) -> EntryId {
        let provider = &self.world.engine.providers().file;
        let tree = provider.load_tree(&self.session).await.unwrap();
        let wanted = format!("<{marker}>");
        let entry = tree
            .entries()
            .iter()
            .find(|entry| entry.json().contains(&wanted));
        entry.unwrap().id().clone()
    }

    async fn switch(&self, leaf: &EntryId) -> Result<(), EngineError> {
        let leaf = Some(leaf.clone());
        self.world
            .engine
            .execute(
                &ann(),
                SwitchLeaf {
                    session_id: self.session.clone(),
                    leaf_entry_id: leaf,
                    follow: false,
                    summarize: false,
                    request_id: None,
                },
            )
            .await
            .map(drop)
    }
}

/// A client that joins later reads the same meter, and so does one that switches to another branch.
#[tokio::test]
async fn the_meter_has_a_window_after_a_reload_and_on_every_branch() {
    let mut talk = Talk::new(Supplier::Openai).await;
    talk.say(None).await;
    let live = within(talk.client.wait("token_update", |_| true)).await;
    let (_, opened) = talk.world.open(&talk.session).await;
    let told = serde_json::to_value(&opened.snapshot.unwrap().tokens).unwrap();
    assert_eq!(told, live["data"]);
    let asked = talk.entry("u1").await;
    talk.switch(&asked).await.unwrap();
    let window = &live["data"]["context"]["maxTokens"];
    let other = |data: &Value| *data != live["data"];
    let moved = within(talk.client.wait("token_update", other)).await;
    assert_eq!(&moved["data"]["context"]["maxTokens"], window);
}

#[tokio::test]
async fn after_a_run_only_the_chosen_branch_is_summarized() {
    for supplier in APIS {
        let mut talk = Talk::new(supplier).await;
        for _ in 0..3 {
            talk.say(None).await;
        }
        assert_eq!(asked(&talk.world), ["u1", "a1", "u2", "a2", "u3"]);

        // Back to an earlier answer, and on from there.
        talk.switch(&talk.entry("a1").await).await.unwrap();
        talk.say(None).await;
        assert_eq!(asked(&talk.world), ["u1", "a1", "u4"]);
        // Editing a message is saying another one in its place.
        let before = talk.entry("a1").await;
        talk.say(Some(&before)).await;
        assert_eq!(asked(&talk.world), ["u1", "a1", "u5"]);
        // The first branch is as it was.
        let old = talk.entry("a3").await;
        talk.say(Some(&old)).await;
        assert_eq!(
            asked(&talk.world),
            ["u1", "a1", "u2", "a2", "u3", "a3", "u6"]
        );
        let nowhere = Chat {
            leaf_entry_id: Some("nowhere0".into()),
            ..talk.next()
        };
        let refused = talk.world.send(nowhere).await;
        assert!(matches!(refused, Err(EngineError::StaleParent(_))));
    }
}

#[tokio::test]
async fn an_ancestor_older_than_a_compaction_knows_nothing_of_it() {
    for supplier in APIS {
        let mut talk = Talk::new(supplier).await;
        for _ in 0..3 {
            talk.say(None).await;
        }
        let kept = talk.entry("u3").await;
        talk.compact(&kept).await;
        talk.say(None).await;
        assert_eq!(asked(&talk.world), ["s4", "u3", "a3", "u5"]);
        let old = talk.entry("a1").await;
        talk.say(Some(&old)).await;
        assert_eq!(asked(&talk.world), ["u1", "a1", "u6"]);
        talk.switch(&talk.entry("a2").await).await.unwrap();
        talk.say(None).await;
        assert_eq!(asked(&talk.world), ["u1", "a1", "u2", "a2", "u7"]);
        let compacted = talk.entry("a5").await;
        talk.say(Some(&compacted)).await;
        assert_eq!(asked(&talk.world), ["s4", "u3", "a3", "u5", "a5", "u8"]);
    }
}

#[tokio::test]
async fn during_a_run_the_branch_waits_and_the_run_keeps_its_own() {
    for supplier in APIS {
        let mut talk = Talk::new(supplier).await;
        talk.say(None).await;
        talk.say(None).await;
        let old = talk.entry("a1").await;
        let call = Reply::tool_call("c1", "slow", "{}");
        talk.world.script().push(call);
        let chat = talk.next();
        talk.world.send(chat).await.unwrap();
        within(talk.client.wait("tool_call_started", |_| true)).await;

        assert!(matches!(talk.switch(&old).await, Err(EngineError::Busy(_))));
        let chat = Chat {
            leaf_entry_id: Some(old.clone()),
            ..talk.next()
        };
        let ack = talk.world.send(chat).await.unwrap();
        assert_eq!(ack.answer.disposition, Disposition::Queued);
        talk.world.script().push(Reply::text("<a3>"));
        talk.world.script().push(Reply::text("<a4>"));
        talk.world.gate.add_permits(1);
        talk.ended(2).await;

        let requests = talk.world.requests();
        let [.., second, third] = requests.as_slice() else {
            panic!("{requests:?}")
        };
        let told = |request: &netaclaw_testkit::fake_model::Recorded| {
            markers(&request.body["messages"].to_string())
        };
        assert_eq!(told(second), ["u1", "a1", "u2", "a2", "u3"]);
        assert_eq!(told(third), ["u1", "a1", "u4"]);
        check_result_parent(&talk).await;
    }
}

/// The result of the tool is a child of the answer that called it, not of the branch the user went
/// to.
async fn check_result_parent(talk: &Talk) {
    let provider = &talk.world.engine.providers().file;
    let tree = provider.load_tree(&talk.session).await.unwrap();
    let json = |entry: &Entry| serde_json::from_str::<Value>(entry.json()).unwrap();
    let result = tree.entries().iter().map(json);
    let mut result = result.filter(|entry| entry["message"]["role"] == "toolResult");
    let result = result.next().unwrap();
    let parent = tree
        .get(&result["parentId"].as_str().unwrap().into())
        .unwrap();
    assert_eq!(json(parent)["message"]["content"][0]["id"], "c1");
}

/// What is done to a conversation, at random.
#[derive(Clone, Debug)]
enum Move {
    Say,
    SayAt(u16),
    Switch(u16),
    Compact(u16),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        3 => Just(Move::Say),
        3 => any::<u16>().prop_map(Move::SayAt),
        2 => any::<u16>().prop_map(Move::Switch),
        2 => any::<u16>().prop_map(Move::Compact),
    ];
    prop::collection::vec(one, 1..14)
}

/// The markers a model should see at the end of a path, computed independently in the simplest way.
fn expected(path: &[Entry]) -> Vec<String> {
    let of = |entries: &[Entry]| -> Vec<String> {
        let messages = entries
            .iter()
            .filter(|entry| entry.kind() == EntryKind::Message);
        messages.flat_map(|entry| markers(entry.json())).collect()
    };
    let last = path
        .iter()
        .rposition(|entry| entry.kind() == EntryKind::Compaction);
    let Some(at) = last else { return of(path) };
    let compaction: Value = serde_json::from_str(path[at].json()).unwrap();
    let kept = compaction["firstKeptEntryId"].as_str().unwrap();
    let from = path.iter().position(|entry| entry.id().as_str() == kept);
    let mut seen = markers(path[at].json());
    seen.extend(of(&path[from.unwrap_or(at)..at]));
    seen.extend(of(&path[at..]));
    seen
}

#[test]
fn no_text_of_another_branch_ever_reaches_the_model() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for supplier in APIS {
        let config = ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(16)
        };
        TestRunner::new(config)
            .run(&moves(), |moves| {
                runtime.block_on(check(supplier, &moves));
                Ok(())
            })
            .unwrap();
    }
}

async fn check(supplier: Supplier, moves: &[Move]) {
    let mut talk = Talk::new(supplier).await;
    talk.say(None).await;
    for step in moves {
        let provider = &talk.world.engine.providers().file;
        let tree = provider.load_tree(&talk.session).await.unwrap();
        let pick = |at: u16| {
            let entries = tree.entries();
            entries[usize::from(at) % entries.len()].id().clone()
        };
        match step {
            Move::Say => talk.say(None).await,
            Move::SayAt(at) => talk.say(Some(&pick(*at))).await,
            Move::Switch(at) => talk.switch(&pick(*at)).await.unwrap(),
            Move::Compact(at) => {
                let path = talk.path().await;
                let kept = path[usize::from(*at) % path.len()].id().clone();
                talk.compact(&kept).await;
            }
        }
        if matches!(step, Move::Say | Move::SayAt(_)) {
            let mut path = expected(&talk.path().await);
            assert_eq!(
                path.pop(),
                Some(format!("a{}", talk.said)),
                "the answer itself"
            );
            assert_eq!(asked(&talk.world), path);
        }
    }
}
