//! Clients with bad connections end with what an undisturbed one has, and are in step with it
//! wherever the model pauses: losing events, duplicates, reconnects and server restarts must not
//! show.

mod view;
mod watcher;

use crate::whole::{Home, Whole};
use netaclaw_testkit::fake_model::{FakeModel, Hold, Reply};
use serde_json::{Value, json};
use tempfile::TempDir;
use view::View;
use watcher::{Return, Watcher, Weather};

/// Seeds of the storms. One that failed can be put here alone.
const SEEDS: std::ops::Range<u64> = 0..24;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_cut_at_any_event_changes_nothing() {
    let world = World::new().await;
    for after in 1.. {
        let scene = world.begin().await;
        let mut watchers = Vec::new();
        for how in [Return::Knowing, Return::Afresh] {
            watchers.push(scene.watcher(Weather::CutAfter(after, how)).await);
        }
        let scene = scene
            .play(&mut watchers, &format!("cut after {after}"))
            .await;
        scene.end().await;
        if watchers.iter().all(|watcher| watcher.returns == 0) {
            assert!(after > 20, "the run has only {after} events");
            break;
        }
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_in_a_storm_end_with_the_same_state() {
    let world = World::new().await;
    let mut returns = 0;
    for seed in SEEDS {
        let mut chance = fastrand::Rng::with_seed(seed);
        let scene = world.begin().await;
        let mut watchers = Vec::new();
        for _ in 0..3 {
            watchers.push(scene.watcher(Weather::Stormy(chance.fork())).await);
        }
        let scene = scene.play(&mut watchers, &format!("seed {seed}")).await;
        scene.end().await;
        returns += watchers
            .iter()
            .map(|watcher| watcher.returns)
            .sum::<usize>();
    }
    assert!(returns > 20, "only {returns} returns: there was no storm");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_clients_stay_equal_and_one_who_comes_late_or_reads_late_is_equal_too() {
    let world = World::new().await;
    let scene = world.begin().await;
    let mut watchers = Vec::new();
    for _ in 0..3 {
        watchers.push(scene.watcher(Weather::Fair).await);
    }
    // Reads nothing until all is over.
    let mut slow = scene.watcher(Weather::Fair).await;
    let scene = scene.play(&mut watchers, "three clients").await;
    slow.until(|view| view.seq == scene.first.view.seq).await;
    assert_eq!(slow.view.shown(), scene.first.view.shown());
    scene.end().await;
    world.end().await;
}

/// A server and its model.
struct World {
    _dir: TempDir,
    model: FakeModel,
    server: Whole,
}

impl World {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let model = FakeModel::start().await;
        let home = Home::prepared(dir.path(), &model, None).await;
        let server = Whole::start(&home).await;
        Self {
            _dir: dir,
            model,
            server,
        }
    }

    async fn end(self) {
        self.server.stop().await;
    }

    /// Starts a run that thinks, answers and calls tools, and another that waits behind it. The
    /// model pauses in the middle of each answer.
    async fn begin(&self) -> Scene<'_> {
        let todo = r#"{"items": [{"text": "look around", "status": "in_progress"}]}"#;
        let first = Reply::default()
            .and_thinking("The user 想知道 what is here. ")
            .and_text("Let me look 👀 around first. ")
            .and_tool_call("call-ls", "ls", r#"{"path": "."}"#)
            .and_tool_call("call-todo", "todo", todo);
        let mut holds = Vec::new();
        // Where it pauses, by the events of the answer, and the text until then.
        let mut holding = |reply: Reply, after: usize, said: &'static str| {
            let (reply, hold) = reply.holding_after(after);
            holds.push((hold, said));
            reply
        };
        let first = holding(first, 3, "The user ");
        let first = holding(first, 8, "The user 想知道 what is here. Let ");
        let first = holding(
            first,
            16,
            "The user 想知道 what is here. Let me look 👀 around first. {\"path\": ",
        );
        let second = Reply::text("There are notes, 一个文件, and no more.");
        let second = holding(second, 4, "There are notes, ");
        let third = Reply::default().and_thinking("Again? ").and_text("Yes.");
        let third = holding(third, 2, "Again? ");
        let script = self.model.script();
        script.clear();
        for reply in [first, second, third] {
            script.push(reply);
        }
        let mut client = self.server.client().await;
        let one = client
            .call("chat", json!({"content": "What is here?"}))
            .await;
        let session = one["sessionId"].clone();
        let two = json!({"sessionId": session, "content": "And now?"});
        let queued = client.call("chat", two).await;
        assert_eq!(queued["disposition"], "queued", "{queued}");
        let address = self.server.address;
        let first = Watcher::join(address, &session, Weather::Fair).await;
        Scene {
            world: self,
            session,
            holds,
            first,
        }
    }
}

/// One session, from its first message on.
struct Scene<'w> {
    world: &'w World,
    session: Value,
    /// Where the model pauses, and what it has said of its answer by then.
    holds: Vec<(Hold, &'static str)>,
    /// The client whose connection is good.
    first: Watcher,
}

impl Scene<'_> {
    async fn watcher(&self, weather: Weather) -> Watcher {
        Watcher::join(self.world.server.address, &self.session, weather).await
    }

    /// Plays the scene to its end. At every pause all clients have the same view, as has one that
    /// joins at that moment.
    async fn play(mut self, watchers: &mut [Watcher], context: &str) -> Self {
        for (hold, said) in std::mem::take(&mut self.holds) {
            let mut late = self.watcher(Weather::Fair).await;
            late.until(|view| view.streamed() == said).await;
            let context = format!("{context}, at {said:?}");
            self.compare(watchers, &mut late, &context).await;
            hold.release();
        }
        self.first.until(View::is_settled).await;
        let mut late = self.watcher(Weather::Fair).await;
        self.compare(watchers, &mut late, &format!("{context}, at the end"))
            .await;
        self
    }

    /// All have the same view. A title can come at any moment, and a watcher that comes back may be
    /// ahead of the others, so they first agree on the event.
    async fn compare(&mut self, watchers: &mut [Watcher], late: &mut Watcher, context: &str) {
        let said = late.view.streamed();
        let mut all: Vec<&mut Watcher> = watchers.iter_mut().collect();
        all.push(&mut self.first);
        all.push(late);
        loop {
            let seqs = all.iter().map(|watcher| watcher.view.seq);
            let last = seqs.max().unwrap_or_default();
            let there = |view: &View| view.seq >= last && view.streamed() == said;
            for watcher in &mut all {
                watcher.until(there).await;
            }
            if all.iter().all(|watcher| watcher.view.seq == last) {
                break;
            }
        }
        let expected = all[0].view.shown();
        for watcher in &all[1..] {
            assert_eq!(watcher.view.shown(), expected, "{context}");
        }
    }

    async fn end(self) {
        assert_eq!(self.first.returns, 0);
        let requests = self.world.model.script().requests();
        assert!(requests.iter().all(|request| request.refused.is_none()));
    }
}
