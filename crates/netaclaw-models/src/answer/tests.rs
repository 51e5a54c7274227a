use super::growing::read_arguments;
use super::*;
use netaclaw_protocol::ContentBlock;
use serde_json::json;

fn answer() -> Answer {
    Answer::new(AnswerMeta {
        api: "test",
        provider: "p".into(),
        model: "m".into(),
        unseen_images: 0,
        price: Some(ModelPrice {
            input: 1.0,
            output: 2.0,
            cache_read: 0.5,
            cache_write: 0.0,
        }),
    })
}

fn events(mut answer: Answer) -> Vec<ModelEvent> {
    std::iter::from_fn(|| answer.next_event()).collect()
}

#[test]
fn parts_start_in_order_and_end_before_the_last_event() {
    let mut answer = answer();
    answer.thinking("hm");
    answer.sign("sig");
    answer.text("a");
    answer.text("b");
    let first = answer.call("1", "ls");
    let second = answer.call("2", "read");
    answer.arguments(second, r#"{"path""#);
    answer.arguments(first, "{}");
    answer.arguments(second, r#": 1}"#);
    answer.finish(StopReason::Stop);
    let all = events(answer);
    let starts: Vec<usize> = all
        .iter()
        .filter_map(|event| match event {
            ModelEvent::PartStart { index, .. } => Some(*index),
            _ => None,
        })
        .collect();
    assert_eq!(starts, [0, 1, 2, 3]);
    let Some(ModelEvent::Done(message)) = all.last() else {
        panic!("{all:?}")
    };
    assert_eq!(message.stop_reason, StopReason::ToolUse);
    for event in &all {
        if let ModelEvent::PartEnd { index, block } = event {
            assert_eq!(&message.content[*index], block);
        }
    }
    assert_eq!(
        message.content[3],
        ContentBlock::ToolCall {
            id: "2".into(),
            name: "read".into(),
            arguments: json!({"path": 1}),
        }
    );
}

#[test]
fn nothing_at_all_is_an_error_but_a_cut_is_not() {
    let mut empty = answer();
    empty.finish(StopReason::Stop);
    assert!(matches!(
        events(empty).as_slice(),
        [ModelEvent::Failed {
            error: ModelError::EmptyAnswer,
            ..
        }]
    ));
    let mut cut = answer();
    cut.finish(StopReason::Length);
    assert!(matches!(events(cut).as_slice(), [ModelEvent::Done(_)]));
}

#[test]
fn a_failure_keeps_what_arrived() {
    let mut answer = answer();
    answer.text("half a sent");
    answer.fail(ModelError::Cancelled);
    answer.fail(ModelError::EmptyAnswer);
    let all = events(answer);
    let Some(ModelEvent::Failed { error, partial }) = all.last() else {
        panic!("{all:?}")
    };
    assert_eq!(*error, ModelError::Cancelled);
    assert_eq!(partial.stop_reason, StopReason::Aborted);
    assert_eq!(all.iter().filter(|event| event.is_last()).count(), 1);
    assert!(matches!(all[3], ModelEvent::PartEnd { index: 0, .. }));
}

#[test]
fn arguments_that_are_no_json_stay_as_text() {
    assert_eq!(read_arguments(String::new()), json!({}));
    assert_eq!(read_arguments(" null ".into()), json!({}));
    assert_eq!(read_arguments("{\"a\":".into()), json!("{\"a\":"));
    assert_eq!(read_arguments(r#""{\"a\":1}""#.into()), json!({"a": 1}));
}

#[test]
fn usage_is_summed_and_priced() {
    let mut answer = answer();
    answer.usage(Usage {
        input: 1_000_000,
        output: 500_000,
        cache_read: 2_000_000,
        ..Usage::default()
    });
    let usage = answer.usage_so_far();
    assert_eq!(usage.total_tokens, 3_500_000);
    assert_eq!(usage.cost.total, 3.0);
}
