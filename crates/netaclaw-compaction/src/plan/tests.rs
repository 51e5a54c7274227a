use super::*;
use crate::testing::TestConversation;
use netaclaw_protocol::{TodoItem, TodoStatus};
use serde_json::json;

const LIMITS: Limits = Limits {
    window: 10_000,
    threshold_percent: 70,
    keep_recent: 4,
    overhead_tokens: 500,
};

fn request<'a>(reason: CompactionReason, used: u64, todo: &'a TodoList) -> PlanRequest<'a> {
    PlanRequest {
        reason,
        limits: LIMITS,
        used: Used {
            tokens: used,
            estimated: true,
            ..Used::default()
        },
        todo,
        instructions: Some("  the parser  "),
        looks_only: &|name| name == "read",
    }
}

fn long_talk() -> Conversation {
    let mut talk = TestConversation::default()
        .user("Make the parser fast. The key is sk-abcdefghijklmnopqrstuvwxyz");
    for n in 0..60 {
        talk = talk.round(n, &"a line of output\n".repeat(30));
        let id = format!("w{n}");
        let args = json!({"path": format!("out/{}.txt", n % 3), "content": "x"});
        talk = talk
            .calls(&[(&id, "write", args)])
            .result(&id, "write", "ok");
    }
    talk.says("All written.").user("And now?").conversation
}

#[test]
fn a_plan_folds_the_old_keeps_the_new_and_knows_the_facts() {
    let conversation = long_talk();
    let todo = TodoList {
        revision: 1,
        items: vec![
            TodoItem {
                id: "1".into(),
                text: "measure it".into(),
                status: TodoStatus::InProgress,
            },
            TodoItem {
                id: "2".into(),
                text: "read it".into(),
                status: TodoStatus::Done,
            },
        ],
    };
    let before = conversation.clone();
    let plan = plan(
        &conversation,
        &request(CompactionReason::Auto, 9_000, &todo),
    )
    .unwrap();
    assert_eq!(conversation, before);
    assert_eq!(
        plan.first_kept.as_ref(),
        Some(&conversation.pieces[plan.cut].entry_id)
    );
    assert!(
        plan.kept_count >= 4 && plan.folded_count() > 100,
        "{plan:?}"
    );
    assert_eq!(
        plan.pruned_count,
        60.min(plan.pruned_count),
        "only reads are long"
    );
    assert_eq!(plan.instructions.as_deref(), Some("the parser"));
    let facts = &plan.facts;
    assert_eq!(
        facts.goal.as_deref(),
        Some("Make the parser fast. The key is [redacted]")
    );
    assert_eq!(facts.latest, None, "it is kept");
    assert_eq!(facts.open_todos, ["- [~] measure it"]);
    assert_eq!(
        facts.modified_files,
        ["out/0.txt", "out/1.txt", "out/2.txt"]
    );
    assert_eq!(facts.ledger.len(), 3, "the same call is one line");
    assert!(
        facts
            .ledger
            .iter()
            .all(|line| line.times >= 15 && line.call.starts_with("write("))
    );
    assert!(!facts.read_files.is_empty());
    let text = facts.text(1000);
    assert!(
        text.contains("never repeat") && text.contains("<modified-files>\nout/0.txt"),
        "{text}"
    );
}

#[test]
fn by_hand_a_conversation_far_from_the_threshold_is_folded_too() {
    let mut talk = TestConversation::default();
    for _ in 0..10 {
        talk = talk
            .user("tell me more about that harbour")
            .says(&"The harbour was quiet. ".repeat(10));
    }
    let todo = TodoList::default();
    let conversation = talk.conversation;
    let auto = plan(
        &conversation,
        &request(CompactionReason::Auto, 1_500, &todo),
    );
    assert_eq!(auto, Err(CompactionFailure::NothingToCompress));
    let manual = plan(
        &conversation,
        &request(CompactionReason::Manual, 1_500, &todo),
    )
    .unwrap();
    assert!(
        manual.kept_count >= 4 && manual.kept_count < 10,
        "{manual:?}"
    );
}

#[test]
fn a_split_turn_states_the_users_words_in_full() {
    let mut talk = TestConversation::default()
        .user("first")
        .says("ok")
        .user("Rename every module.");
    for n in 0..60 {
        talk = talk.round(n, &"a line of output\n".repeat(30));
    }
    let todo = TodoList::default();
    let plan = plan(
        &talk.conversation,
        &request(CompactionReason::Overflow, 9_000, &todo),
    )
    .unwrap();
    assert_eq!(plan.split_turn, Some(2));
    assert_eq!(plan.facts.latest.as_deref(), Some("Rename every module."));
    assert_eq!(plan.facts.goal.as_deref(), Some("first"));
}

#[test]
fn a_model_that_says_too_long_has_a_smaller_window_than_we_thought() {
    let conversation = long_talk();
    let todo = TodoList::default();
    let mut asked = request(CompactionReason::Overflow, 6_000, &todo);
    asked.limits.window = 1_000_000;
    let plan = plan(&conversation, &asked).unwrap();
    assert!(plan.tokens.kept <= 2_100, "{plan:?}");
}

#[test]
fn by_hand_the_last_messages_stay_whatever_their_size() {
    let mut talk = TestConversation::default();
    for _ in 0..6 {
        talk = talk
            .user(&"tell me more about that harbour ".repeat(20))
            .says(&"The harbour was quiet. ".repeat(40));
    }
    let todo = TodoList::default();
    let conversation = talk.conversation;
    let kept = |keep_recent| {
        let used = conversation.tokens();
        let mut wanted = request(CompactionReason::Manual, used, &todo);
        wanted.limits.keep_recent = keep_recent;
        plan(&conversation, &wanted).map(|plan| plan.kept_count)
    };
    assert_eq!(kept(10), Ok(10));
    assert_eq!(kept(9), Ok(9), "also where that splits a turn");
    assert_eq!(kept(4), Ok(4));
    let nothing = Err(CompactionFailure::NothingToCompress);
    assert_eq!(kept(12), nothing);
    assert_eq!(kept(20), nothing);
}

#[test]
fn by_hand_no_model_is_asked_for_what_no_summary_can_shorten() {
    let mut talk = TestConversation::default().user(&"word ".repeat(200));
    for _ in 0..10 {
        talk = talk.says(&"The harbour was quiet. ".repeat(40));
    }
    let todo = TodoList::default();
    let mut wanted = request(CompactionReason::Manual, 2_500, &todo);
    wanted.limits.keep_recent = 10;
    let planned = plan(&talk.conversation, &wanted);
    assert_eq!(planned, Err(CompactionFailure::NothingToCompress));
}
