use super::*;
use crate::testing::TestConversation;
use netaclaw_protocol::StopReason;
use proptest::prelude::*;
use serde_json::json;

fn budget(tail_tokens: u64, keep_recent: usize) -> Budget {
    Budget {
        tail_tokens,
        tail_tokens_max: tail_tokens * 5 / 3,
        keep_recent,
        keeps_recent_always: false,
    }
}

fn pieces(talk: TestConversation) -> Vec<ConversationMessage> {
    talk.conversation.pieces
}

#[test]
fn parallel_calls_stay_with_all_of_their_results() {
    let args = json!({});
    let pieces = pieces(
        TestConversation::default()
            .user("go")
            .calls(&[("a", "ls", args.clone()), ("b", "ls", args)])
            .result("b", "ls", "1")
            .result("a", "ls", "2")
            .says("done"),
    );
    assert_eq!(
        legal_cuts(&pieces),
        [true, true, false, false, true, true],
        "between the call and its last result nothing may be cut"
    );
}

#[test]
fn calls_that_still_run_hold_everything_behind_them() {
    let pieces = pieces(
        TestConversation::default()
            .user("go")
            .round(1, "x")
            .calls(&[("a", "ls", json!({})), ("b", "ls", json!({}))])
            .result("a", "ls", "1"),
    );
    assert_eq!(legal_cuts(&pieces), [true, true, false, true, false, false]);
}

#[test]
fn ids_that_models_use_again_belong_to_the_last_answer_that_used_them() {
    let pieces = pieces(
        TestConversation::default()
            .calls(&[("0", "ls", json!({}))])
            .result("0", "ls", "1")
            .calls(&[("0", "ls", json!({}))])
            .result("0", "ls", "2"),
    );
    assert_eq!(legal_cuts(&pieces), [true, false, true, false, true]);
}

#[test]
fn a_short_conversation_has_nothing_to_fold() {
    let pieces = pieces(
        TestConversation::default()
            .user("hi")
            .says("hello")
            .user("bye")
            .says("bye"),
    );
    assert_eq!(cut(&pieces, budget(1000, 4)), None);
    assert_eq!(cut(&[], budget(1000, 4)), None);
}

#[test]
fn the_users_last_message_and_the_last_visible_answer_stay() {
    let mut talk = TestConversation::default();
    for n in 0..20 {
        talk = talk
            .user("a question that takes some room")
            .says(&"an answer ".repeat(20 + n));
    }
    let talk = talk.user("the last question");
    let pieces = pieces(talk);
    let at = cut(&pieces, budget(60, 2)).unwrap();
    assert_eq!(
        at,
        pieces.len() - 3,
        "the turn of the answer before the question is kept"
    );
}

#[test]
fn a_turn_that_is_too_long_alone_is_split_between_rounds() {
    let mut talk = TestConversation::default().user("do it all");
    for n in 0..40 {
        talk = talk.round(n, &"output ".repeat(40));
    }
    let pieces = pieces(talk);
    let at = cut(&pieces, budget(400, 4)).unwrap();
    assert!(at > 1 && at < pieces.len());
    assert_eq!(pieces[at].voice, MessageAuthor::Answer);
    assert_eq!(split_turn(&pieces, at), Some(0));
}

#[test]
fn one_giant_result_at_the_end_is_folded_as_well() {
    let pieces = pieces(
        TestConversation::default()
            .user("read it")
            .round(1, &"word ".repeat(20_000)),
    );
    assert_eq!(cut(&pieces, budget(500, 4)), Some(3));
    assert_eq!(split_turn(&pieces, 3), Some(0));
}

#[derive(Clone, Debug)]
enum TestMessage {
    User(u16),
    Answer(u16),
    Calls(Vec<(u8, u16)>),
    Dead,
    Orphan(u8),
}

fn said() -> impl Strategy<Value = TestMessage> {
    let size = 0..400_u16;
    prop_oneof![
        3 => size.clone().prop_map(TestMessage::User),
        3 => size.clone().prop_map(TestMessage::Answer),
        4 => proptest::collection::vec((0..6_u8, size), 1..4).prop_map(TestMessage::Calls),
        1 => Just(TestMessage::Dead),
        1 => (0..6_u8).prop_map(TestMessage::Orphan),
    ]
}

fn talk(said: &[TestMessage]) -> Vec<ConversationMessage> {
    let words = |count: &u16| "word ".repeat(usize::from(*count));
    let mut talk = TestConversation::default();
    for said in said {
        talk = match said {
            TestMessage::User(count) => talk.user(&words(count)),
            TestMessage::Answer(count) => talk.says(&words(count)),
            TestMessage::Dead => talk.answer(Vec::new(), StopReason::Error),
            TestMessage::Orphan(id) => talk.result(&format!("{id}"), "ls", "lost"),
            TestMessage::Calls(calls) => {
                let ids: Vec<String> = calls.iter().map(|(id, _)| id.to_string()).collect();
                let asked: Vec<_> = ids
                    .iter()
                    .map(|id| (id.as_str(), "ls", json!({})))
                    .collect();
                let mut talk = talk.calls(&asked);
                for (id, count) in calls {
                    talk = talk.result(&id.to_string(), "ls", &words(count));
                }
                talk
            }
        };
    }
    pieces(talk)
}

/// Every result on the kept side whose call is on the compacted side, read the way clients do.
fn torn(pieces: &[ConversationMessage], at: usize) -> Vec<usize> {
    let mut callers: HashMap<&str, usize> = HashMap::new();
    let mut torn = Vec::new();
    for (place, piece) in pieces.iter().enumerate() {
        match &piece.message {
            Message::Assistant(answer) => {
                for block in &answer.content {
                    if let ContentBlock::ToolCall { id, .. } = block {
                        callers.insert(id, place);
                    }
                }
            }
            Message::ToolResult(result) => {
                let caller = callers.get(result.tool_call_id.as_str());
                if place >= at && caller.is_some_and(|caller| *caller < at) {
                    torn.push(place);
                }
            }
            Message::User(_) => {}
        }
    }
    torn
}

proptest! {
    #[test]
    fn no_cut_tears_a_pair_and_the_tail_keeps_its_budget(
        said in proptest::collection::vec(said(), 0..40),
        tail in 50..2000_u64,
        keep_recent in 2..20_usize,
    ) {
        let pieces = talk(&said);
        let untouched = pieces.clone();
        let budget = budget(tail, keep_recent);
        if let Some(at) = cut(&pieces, budget) {
            prop_assert!(at > 0 && at <= pieces.len());
            prop_assert!(torn(&pieces, at).is_empty(), "{at} of {said:?}");
            prop_assert!(at == pieces.len() || pieces[at].voice != MessageAuthor::Result);
            let kept: u64 = pieces[at..].iter().map(|piece| piece.tokens).sum();
            prop_assert!(kept <= budget.tail_tokens_max);
        }
        prop_assert_eq!(pieces, untouched);
    }
}

#[test]
fn turns_stay_whole_where_they_fit() {
    let mut talk = TestConversation::default();
    for n in 0..20 {
        talk = talk
            .user("a question")
            .round(n, &"output ".repeat(20))
            .says("an answer");
    }
    let pieces = pieces(talk);
    let at = cut(&pieces, budget(200, 2)).unwrap();
    assert_eq!(pieces[at].voice, MessageAuthor::User);
    assert_eq!(split_turn(&pieces, at), None);
}
