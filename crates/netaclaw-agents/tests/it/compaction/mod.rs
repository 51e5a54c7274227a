//! Condensing contexts, with real clients against suppliers that refuse what is illegal or too
//! long.

mod automatic;
mod by_hand;
mod failing;
mod long;
mod numbers;
mod tree;

use crate::world::{Setting, World};
use netaclaw_engine::EngineError;
use netaclaw_protocol::{Compact, CompactStatus, SessionId, Supplier};
use netaclaw_session::{EntryKind, build_session_context};
use netaclaw_testkit::engine::{Client, ann, within};
use netaclaw_testkit::fake_model::{Limits, Recorded, Reply};
use serde_json::Value;

/// What every request for a summary ends with, and no other.
const SUMMARY: &str = "<task> Write the summary now. </task>";
const WINDOW: u64 = 30_000;

/// A server whose models accept so much and whose summaries are good.
async fn world(supplier: Supplier) -> World {
    let world = World::with(Setting {
        window: WINDOW,
        ..Setting::of(supplier)
    })
    .await;
    world.script().set_limits(Limits {
        strict: true,
        window: Some(WINDOW),
    });
    world.script().when_asked(SUMMARY, good_summary);
    world
}

/// A summary with every marker that the model was shown.
fn good_summary(body: &Value) -> Reply {
    let shown = body["messages"].to_string();
    let mut markers: Vec<&str> = shown
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|word| word.starts_with("MARKER-"))
        .collect();
    markers.sort_unstable();
    markers.dedup();
    Reply::text(format!(
        "## Goal of the user\nTo keep talking about the harbour.\n\n## Key findings\n- {}\n\n## Done\n{}",
        markers.join("\n- "),
        "- The harbour was described at length, and nothing came of it.\n".repeat(5)
    ))
}

/// Talks until the context is so large; every message and every answer takes some 300 tokens.
async fn talk(world: &World, session: &SessionId, client: &Client, turns: usize) {
    for n in 0..turns {
        client.clear();
        world.chat(session, &words(&format!("Question {n}."))).await;
        let done = within(client.done(1)).await;
        assert_eq!(done[0]["data"]["outcome"], "completed", "{done:?}");
    }
}

fn words(first: &str) -> String {
    format!(
        "{first} {}",
        "The harbour was quiet that morning. ".repeat(33)
    )
}

fn answers_at_length(world: &World) {
    world.script().otherwise(Reply::text(words("An answer.")));
}

async fn compact(world: &World, session: &SessionId) -> Result<CompactStatus, EngineError> {
    compact_with(world, session, None).await
}

async fn compact_with(
    world: &World,
    session: &SessionId,
    instructions: Option<&str>,
) -> Result<CompactStatus, EngineError> {
    let instructions = instructions.map(str::to_owned);
    let caller = ann();
    let asked = world.engine.execute(
        &caller,
        Compact {
            session_id: session.clone(),
            instructions,
            request_id: None,
        },
    );
    within(asked).await.map(|ack| ack.answer.status)
}

async fn compacted(client: &Client) -> Value {
    within(client.wait("compaction_done", |_| true)).await["data"].clone()
}

async fn refused(client: &Client) -> Value {
    within(client.wait("compaction_error", |_| true)).await["data"].clone()
}

fn names(client: &Client) -> Vec<String> {
    let events = client.events();
    let names = events.iter().map(|event| event["type"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

fn count(client: &Client, name: &str) -> usize {
    names(client).iter().filter(|known| *known == name).count()
}

fn summaries(world: &World) -> Vec<Recorded> {
    let requests = world.requests().into_iter();
    requests
        .filter(|request| request.last_user_text().contains(SUMMARY))
        .collect()
}

fn refusals(world: &World) -> Vec<String> {
    let requests = world.requests().into_iter();
    requests.filter_map(|request| request.refused).collect()
}

/// The session as it is stored, byte for byte, without its metadata.
async fn stored(world: &World, session: &SessionId) -> Vec<String> {
    let tree = world
        .engine
        .providers()
        .file
        .load_tree(session)
        .await
        .unwrap();
    tree.entries()
        .iter()
        .map(|entry| entry.json().to_owned())
        .collect()
}

async fn compactions(world: &World, session: &SessionId) -> Vec<Value> {
    let tree = world
        .engine
        .providers()
        .file
        .load_tree(session)
        .await
        .unwrap();
    let path = tree.active_path().unwrap();
    path.iter()
        .filter(|entry| entry.kind() == EntryKind::Compaction)
        .map(|entry| serde_json::from_str(entry.json()).unwrap())
        .collect()
}

/// What a model would be sent at the leaf.
async fn context(world: &World, session: &SessionId) -> String {
    let tree = world
        .engine
        .providers()
        .file
        .load_tree(session)
        .await
        .unwrap();
    let context = build_session_context(&tree, tree.leaf()).unwrap();
    serde_json::to_string(&context).unwrap()
}
