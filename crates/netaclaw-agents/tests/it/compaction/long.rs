//! A very long session: it is never refused, and early facts are still known.

use super::*;
use netaclaw_models::ApiFamily;
use netaclaw_models::payload::{Target, read_context, turns};
use netaclaw_session::{ImportSession, SessionTree, SessionTreeProvider};
use netaclaw_store::{FileProvider, FileSettings, Fsync, MysqlProvider, MysqlSettings};
use netaclaw_testkit::MariaDb;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls a tool, and answers after its result; the markers come in the first answers.
fn agent(body: &Value, turn: &AtomicUsize) -> Reply {
    let messages = body["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    let answers_tool = last["role"] == "tool"
        || last["content"]
            .as_array()
            .is_some_and(|parts| parts.iter().any(|part| part["type"] == "tool_result"));
    if !answers_tool {
        let n = turn.fetch_add(1, Ordering::Relaxed);
        let id = format!("call_{n}");
        return Reply::tool_call(&id, "read", r#"{"path":"notes.txt"}"#).and_tool_call(
            &format!("{id}b"),
            "ls",
            "{}",
        );
    }
    let n = turn.load(Ordering::Relaxed);
    let marker = match n {
        1..=5 => format!("MARKER-fact-{n}"),
        _ => String::new(),
    };
    Reply::text(words(&format!("Answer {n}. {marker}")))
}

async fn go_on(supplier: Supplier, turns: usize) -> (World, SessionId) {
    let world = world(supplier).await;
    std::fs::write(
        world.work_dir().join("notes.txt"),
        "A note about the harbour.\n".repeat(30),
    )
    .unwrap();
    let turn = AtomicUsize::new(0);
    world
        .script()
        .otherwise_asked(move |body| agent(body, &turn));
    let (session, client) = world.session().await;
    talk(&world, &session, &client, turns).await;
    assert_eq!(refusals(&world), Vec::<String>::new(), "never refused");
    let made = compactions(&world, &session).await;
    assert!(made.len() >= 5, "{}", made.len());
    for (at, compaction) in made.iter().enumerate() {
        let summary = compaction["summary"].as_str().unwrap();
        for n in 1..=5 {
            let marker = format!("MARKER-fact-{n}");
            assert!(
                summary.contains(&marker),
                "{marker} is missing in summary {at}"
            );
        }
        assert!(summary.contains("> Question 0."), "the goal is carried on");
        assert_eq!(compaction["details"]["reason"], "auto");
    }
    (world, session)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_hundred_turns_are_never_refused_and_payloads_are_the_same_everywhere() {
    let (world, session) = go_on(Supplier::Openai, 400).await;
    let tree = world
        .engine
        .providers()
        .file
        .load_tree(&session)
        .await
        .unwrap();
    let here = payloads(&tree);

    // After a restart.
    world
        .engine
        .shut_down(std::time::Duration::from_secs(5))
        .await;
    let again = FileProvider::new(FileSettings {
        dir: world.sessions_dir(),
        fsync: Fsync::Off,
    });
    assert_eq!(payloads(&again.load_tree(&session).await.unwrap()), here);

    // From MySQL.
    let server = MariaDb::start().unwrap();
    let database = server.fresh_database().unwrap();
    let mysql = MysqlProvider::connect(MysqlSettings::new(database.url()))
        .await
        .unwrap();
    let import = ImportSession {
        log: tree.to_log(),
        id: None,
    };
    mysql.import_session(import).await.unwrap();
    assert_eq!(payloads(&mysql.load_tree(&session).await.unwrap()), here);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anthropic_never_refuses_either() {
    go_on(Supplier::Anthropic, 150).await;
}

/// What each API would be sent.
fn payloads(tree: &SessionTree) -> Vec<String> {
    let context = build_session_context(tree, tree.leaf()).unwrap();
    let json: Vec<_> = context
        .messages
        .iter()
        .map(|message| message.json())
        .collect();
    let payload = read_context(json.iter().map(|json| json.as_ref()));
    [ApiFamily::OpenaiChat, ApiFamily::AnthropicMessages]
        .map(|api| {
            let target = Target {
                api,
                provider: "fake",
                model: "fake-model",
                vision: true,
                tools: true,
            };
            format!("{:?}", turns(&payload.messages, &target))
        })
        .to_vec()
}
