//! What holds for every client, whatever it answers.

use super::subject::{asking, chat, done, failed, said, stream, until_content, user};
use super::{ContractHarness, Ending, Scene, subject};
use crate::client::{ModelEvent, StreamPart};
use crate::error::ModelError;
use futures::StreamExt;
use netaclaw_protocol::{ContentBlock, StopReason};
use tokio_util::sync::CancellationToken;

pub(super) async fn there_is_one_last_event_and_it_is_the_end(harness: &dyn ContractHarness) {
    let events = chat(harness).await;
    assert!(events.len() > 3, "{events:?}");
    assert!(events.last().unwrap().is_last(), "{events:?}");
    assert_eq!(events.iter().filter(|event| event.is_last()).count(), 1);
}

pub(super) async fn parts_start_in_order_and_end_before_the_last_event(
    harness: &dyn ContractHarness,
) {
    let mut open: Vec<bool> = Vec::new();
    let mut started = false;
    for event in chat(harness).await {
        match event {
            ModelEvent::AnswerStart(_) => assert!(!std::mem::replace(&mut started, true)),
            ModelEvent::PartStart { index, .. } => {
                assert!(started);
                assert_eq!(index, open.len());
                open.push(true);
            }
            ModelEvent::PartDelta { index, delta } => {
                assert!(open[index] && !delta.is_empty());
            }
            ModelEvent::PartEnd { index, .. } => assert!(std::mem::take(&mut open[index])),
            ModelEvent::Done(message) => {
                assert_eq!(message.content.len(), open.len());
                assert!(open.iter().all(|open| !open));
            }
            _ => {}
        }
    }
}

pub(super) async fn the_message_is_what_the_events_showed(harness: &dyn ContractHarness) {
    let events = chat(harness).await;
    let message = done(events.clone());
    let growing = events.iter().find_map(|event| match event {
        ModelEvent::AnswerStart(growing) => Some(growing.to_message().content),
        _ => None,
    });
    assert_eq!(growing.as_ref(), Some(&message.content));
    let mut shown = vec![String::new(); message.content.len()];
    for event in events {
        match event {
            ModelEvent::PartStart { index, part } => {
                let block = &message.content[index];
                let fits = matches!(
                    (&part, block),
                    (StreamPart::Text, ContentBlock::Text { .. })
                        | (StreamPart::Thinking, ContentBlock::Thinking { .. })
                        | (StreamPart::ToolCall { .. }, ContentBlock::ToolCall { .. })
                );
                assert!(fits, "{part:?} {block:?}");
            }
            ModelEvent::PartDelta { index, delta } => shown[index] += &delta,
            ModelEvent::PartEnd { index, block } => assert_eq!(message.content[index], block),
            _ => {}
        }
    }
    for (block, shown) in message.content.iter().zip(shown) {
        match block {
            ContentBlock::Text { text } => assert_eq!(*text, shown),
            ContentBlock::Thinking { thinking, .. } => assert_eq!(*thinking, shown),
            _ => {}
        }
    }
    assert_eq!(message.stop_reason, StopReason::Stop);
    assert_eq!(message.model, harness.model());
    assert!(!message.api.is_empty() && !message.provider.is_empty());
    assert!(message.timestamp > 0);
}

pub(super) async fn a_cancelled_stream_says_so_once(harness: &dyn ContractHarness) {
    harness.arrange(Scene::default().ending(Ending::Hanging));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let request = asking(harness, vec![user("Hello")]);
    let events: Vec<ModelEvent> = stream(harness, request, &cancel).collect().await;
    assert_eq!(events.len(), 1, "{events:?}");
    let (error, partial) = failed(events);
    assert_eq!(error, ModelError::Cancelled);
    assert_eq!(partial.stop_reason, StopReason::Aborted);
}

pub(super) async fn a_cancelled_stream_keeps_what_had_arrived(harness: &dyn ContractHarness) {
    harness.arrange(
        Scene::with_text([subject::text("The first words of a long story. ")])
            .ending(Ending::Hanging),
    );
    let cancel = CancellationToken::new();
    let request = asking(harness, vec![user("Tell me a story.")]);
    let mut stream = stream(harness, request, &cancel);
    let first = until_content(&mut stream).await;
    cancel.cancel();
    let rest: Vec<ModelEvent> = stream.collect().await;
    let (error, partial) = failed(rest);
    assert_eq!(error, ModelError::Cancelled);
    assert_eq!(partial.stop_reason, StopReason::Aborted);
    assert!(said(&partial).starts_with(&first));
}

pub(super) async fn a_dropped_stream_leaves_the_client_usable(harness: &dyn ContractHarness) {
    harness.arrange(Scene::with_text([subject::text("One. ")]).ending(Ending::Hanging));
    let cancel = CancellationToken::new();
    let request = asking(harness, vec![user("Hello")]);
    let mut dropped = stream(harness, request, &cancel);
    until_content(&mut dropped).await;
    drop(dropped);
    done(chat(harness).await);
}

pub(super) async fn usage_is_counted(harness: &dyn ContractHarness) {
    let events = chat(harness).await;
    let last = events.iter().rev().find_map(|event| match event {
        ModelEvent::Usage(usage) => Some(usage.clone()),
        _ => None,
    });
    let message = done(events);
    assert_eq!(last.as_ref(), Some(&message.usage));
    let usage = &message.usage;
    assert!(usage.input > 0 && usage.output > 0, "{usage:?}");
    let sum = usage.input + usage.output + usage.cache_read + usage.cache_write;
    assert_eq!(usage.total_tokens, sum);
}

pub(super) async fn streams_do_not_mix(harness: &dyn ContractHarness) {
    let alone = said(&done(chat(harness).await));
    for _ in 0..4 {
        harness.arrange(Scene::with_text([subject::text(
            "Good morning, and welcome back.",
        )]));
    }
    let one = || async {
        let request = asking(harness, vec![user("Good morning!")]);
        said(&done(subject::events(harness, request).await))
    };
    let together = futures::future::join_all([one(), one(), one(), one()]).await;
    assert_eq!(together, vec![alone; 4]);
}
