//! Three tabs that connect and disconnect, send, stop and switch branches at random end with the
//! same page, because a user may have any number of them open.

use netaclaw_engine::SubscriptionId;
use netaclaw_protocol::{
    Chat, ChatMode, EntryId, QueueChange, QueueEdit, SessionId, SessionOpen, Stop, SwitchLeaf,
};
use netaclaw_testkit::engine::{Act, Client, Server, ann};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

const TABS: usize = 3;
/// The parent of the first entries, in a snapshot.
const ROOT: &str = "__root__";

#[derive(Clone, Debug)]
enum Step {
    /// A tab connects, with its earlier state or without; a connected one disconnects.
    Toggle {
        tab: usize,
        resumes: bool,
    },
    Send(ChatMode),
    Stop,
    GoOn,
    /// Moves the leaf to the entry of this number.
    Switch(usize),
    Say,
    Call,
    End,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..TABS, any::<bool>()).prop_map(|(tab, resumes)| Step::Toggle { tab, resumes }),
        2 => Just(Step::Send(ChatMode::Auto)),
        1 => Just(Step::Send(ChatMode::Queue)),
        1 => Just(Step::Send(ChatMode::Steer)),
        1 => Just(Step::Stop),
        1 => Just(Step::GoOn),
        2 => (0..100_usize).prop_map(Step::Switch),
        3 => Just(Step::Say),
        1 => Just(Step::Call),
        2 => Just(Step::End),
    ]
}

/// What a tab shows.
#[derive(Clone, Debug, Default)]
struct Page {
    /// Those that were sent; others are asked for when they are looked at.
    entries: BTreeMap<String, Value>,
    parents: BTreeMap<String, String>,
    path: Vec<String>,
    queue: Value,
    status: Value,
    streaming: Option<(String, String)>,
}

impl Page {
    fn of(snapshot: &Value) -> Self {
        let entries = snapshot["entries"].as_array().unwrap().iter();
        let streaming = &snapshot["streaming"];
        let children = snapshot["childrenByParentId"].as_object().unwrap();
        let parents = children.iter().flat_map(|(parent, children)| {
            let children = ids(children).into_iter();
            children.map(|child| (child, parent.clone()))
        });
        Self {
            parents: parents.collect(),
            entries: entries
                .map(|entry| (id(&entry["id"]), entry.clone()))
                .collect(),
            path: ids(&snapshot["activePath"]),
            queue: snapshot["queue"].clone(),
            status: snapshot["run"]["status"].clone(),
            streaming: streaming.is_object().then(|| {
                let text = streaming["parts"][0]["text"].as_str().unwrap_or_default();
                (id(&streaming["entryId"]), text.to_owned())
            }),
        }
    }

    fn apply(&mut self, event: &Value) {
        let data = &event["data"];
        match event["type"].as_str().unwrap() {
            "session_entry_added" => {
                let entry = &data["entry"];
                self.entries.insert(id(&entry["id"]), entry.clone());
                if let Some(parent) = entry["parentId"].as_str() {
                    self.parents.insert(id(&entry["id"]), parent.to_owned());
                }
                self.path = self.path_to(&data["leafEntryId"]);
                if self
                    .streaming
                    .as_ref()
                    .is_some_and(|open| open.0 == id(&entry["id"]))
                {
                    self.streaming = None;
                }
            }
            "session_entry_updated" => {
                let entry = &data["entry"];
                self.entries.insert(id(&entry["id"]), entry.clone());
            }
            "session_leaf_changed" => self.path = ids(&data["activePath"]),
            "queue_update" => self.queue = netaclaw_testkit::queue_after(&self.queue, data),
            "run_status" => {
                self.status = data["status"].clone();
                if self.status == "idle" {
                    self.streaming = None;
                }
            }
            "assistant_stream_start" => {
                self.streaming = Some((id(&data["entryId"]), String::new()));
            }
            "assistant_stream_delta" => {
                let open = self.streaming.as_mut();
                if let Some((_, text)) = open.filter(|open| open.0 == id(&data["entryId"])) {
                    let offset = usize::try_from(data["offset"].as_u64().unwrap()).unwrap();
                    let known = text.chars().count().checked_sub(offset).expect("a gap");
                    text.extend(data["text"].as_str().unwrap().chars().skip(known));
                }
            }
            _ => {}
        }
    }

    fn path_to(&self, leaf: &Value) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = leaf.as_str();
        while let Some(id) = at.filter(|id| *id != ROOT) {
            path.insert(0, id.to_owned());
            at = self.parents.get(id).map(String::as_str);
        }
        path
    }

    fn check_same(&self, other: &Self) {
        assert_eq!(self.path, other.path);
        assert_eq!(self.queue, other.queue);
        assert_eq!(self.status, other.status);
        assert_eq!(self.streaming, other.streaming);
        for id in &self.path {
            if let (Some(mine), Some(theirs)) = (self.entries.get(id), other.entries.get(id)) {
                assert_eq!(mine, theirs);
            }
        }
    }
}

fn id(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn ids(values: &Value) -> Vec<String> {
    values.as_array().unwrap().iter().map(id).collect()
}

/// What a tab has, also while it is away.
#[derive(Default)]
struct Tab {
    page: Page,
    epoch: Option<String>,
    seq: u64,
    joined: Option<(Client, SubscriptionId)>,
}

impl Tab {
    async fn come(&mut self, server: &Server, session: &SessionId, resumes: bool) {
        let client = Client::default();
        let epoch = self.epoch.clone().filter(|_| resumes);
        let seq = epoch.as_ref().map(|_| self.seq);
        let caller = ann();
        let opening = server.engine.open(
            &caller,
            SessionOpen {
                session_id: session.clone(),
                epoch,
                last_seq: seq,
            },
            client.subscriber(),
        );
        let (opened, subscription) = opening.await.unwrap();
        self.epoch = Some(opened.epoch);
        if let Some(snapshot) = opened.snapshot {
            self.page = Page::of(&serde_json::to_value(snapshot).unwrap());
            self.seq = opened.seq;
        }
        self.joined = Some((client, subscription));
    }

    /// Takes in what has arrived: numbered events once and in order, text where it belongs.
    fn look(&mut self) {
        let Some((client, _)) = &self.joined else {
            return;
        };
        for event in client.events() {
            if let Some(seq) = event["seq"].as_u64() {
                if seq <= self.seq {
                    continue;
                }
                assert_eq!(seq, self.seq + 1, "no event is missing");
                self.seq = seq;
            }
            self.page.apply(&event);
        }
        client.clear();
    }

    async fn go(&mut self, server: &Server, session: &SessionId) {
        self.look();
        if let Some((_, subscription)) = self.joined.take() {
            server.engine.close(session, subscription).await;
        }
    }
}

async fn play(steps: Vec<Step>) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let mut tabs: [Tab; TABS] = Default::default();
    for step in steps {
        let (engine, caller) = (&server.engine, ann());
        match step {
            Step::Toggle { tab, resumes } => match tabs[tab].joined {
                None => tabs[tab].come(&server, &session, resumes).await,
                Some(_) => tabs[tab].go(&server, &session).await,
            },
            Step::Send(mode) => {
                let chat = Chat {
                    session_id: Some(session.clone()),
                    content: "more".to_owned(),
                    mode,
                    ..Chat::default()
                };
                server.send(chat).await.unwrap();
            }
            Step::Stop => drop(engine.execute(&caller, Stop::of(&session)).await.unwrap()),
            Step::GoOn => {
                let resumed = engine.execute(
                    &caller,
                    QueueEdit {
                        session_id: session.clone(),
                        change: QueueChange::Resume,
                        request_id: None,
                    },
                );
                resumed.await.unwrap();
            }
            Step::Switch(number) => {
                let entries = engine
                    .providers()
                    .file
                    .list_entries(&session)
                    .await
                    .unwrap();
                let leaf: EntryId = entries[number % entries.len()].id().clone();
                // While a run writes it is refused.
                let moved = engine.execute(
                    &caller,
                    SwitchLeaf {
                        session_id: session.clone(),
                        leaf_entry_id: Some(leaf),
                        follow: false,
                        summarize: false,
                        request_id: None,
                    },
                );
                drop(moved.await);
            }
            Step::Say => server.script.act([Act::Say("😀 word ")]),
            Step::Call => server.script.act([Act::Call("look")]),
            Step::End => server.script.act([Act::End]),
        }
        tabs.iter_mut().for_each(Tab::look);
    }
    for tab in &mut tabs {
        if tab.joined.is_none() {
            tab.come(&server, &session, true).await;
        }
    }
    // Joining sends what waits to all, so that every tab has every event by now.
    let mut fresh = Tab::default();
    fresh.come(&server, &session, false).await;
    // All tabs receive the events since then.
    fresh.look();
    for tab in &mut tabs {
        tab.look();
        tab.page.check_same(&fresh.page);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn end_with_the_same_page(steps in prop::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(steps));
    }
}
