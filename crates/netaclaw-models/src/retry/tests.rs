use super::*;
use crate::error::{Detail, NetworkStage};
use crate::scripted::{Script, ScriptedClient, Step};
use netaclaw_protocol::StopReason;
use tokio::time::Instant;

fn overloaded() -> ModelError {
    ModelError::Overloaded {
        retry_after: None,
        detail: Detail::new(Some(529), "Overloaded"),
    }
}

fn limited(seconds: u64) -> ModelError {
    ModelError::RateLimited {
        retry_after: Some(Duration::from_secs(seconds)),
        detail: Detail::default(),
    }
}

fn client(policy: RetryPolicy) -> (RetryClient, Script) {
    let (inner, script) = ScriptedClient::new("test");
    (RetryClient::new(Arc::new(inner), policy), script)
}

async fn events(client: &RetryClient, cancel: &CancellationToken) -> Vec<ModelEvent> {
    client
        .stream(Arc::default(), cancel.clone())
        .collect()
        .await
}

#[tokio::test(start_paused = true)]
async fn a_failure_before_the_answer_is_tried_again_and_told() {
    let (client, script) = client(RetryPolicy::default());
    script.prepare([Step::Fail(overloaded())]);
    script.prepare([Step::Fail(ModelError::Network {
        stage: NetworkStage::Connect,
        detail: Detail::default(),
    })]);
    script.prepare([Step::Text("hi".into()), Step::Finish(StopReason::Stop)]);
    let start = Instant::now();
    let events = events(&client, &CancellationToken::new()).await;
    let waits: Vec<(u32, u64)> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Retrying {
                attempt, after_ms, ..
            } => Some((*attempt, *after_ms)),
            _ => None,
        })
        .collect();
    let [(1, first), (2, second)] = waits[..] else {
        panic!("{waits:?}")
    };
    assert!(
        (500..=1000).contains(&first) && (1000..=2000).contains(&second),
        "{waits:?}"
    );
    assert!(start.elapsed().as_millis() as u64 >= first + second);
    assert!(matches!(events.last(), Some(ModelEvent::Done(_))));
    assert_eq!(script.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn attempts_are_bounded() {
    let (client, script) = client(RetryPolicy::default());
    for _ in 0..9 {
        script.prepare([Step::Fail(overloaded())]);
    }
    let events = events(&client, &CancellationToken::new()).await;
    assert_eq!(script.requests().len(), 4);
    assert!(matches!(
        events.as_slice(),
        [
            ModelEvent::Retrying { attempt: 1, .. },
            ModelEvent::Retrying { attempt: 2, .. },
            ModelEvent::Retrying { attempt: 3, .. },
            ModelEvent::Failed {
                error: ModelError::Overloaded { .. },
                ..
            },
        ]
    ));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_after_its_first_word_is_not_asked_for_again() {
    let (client, script) = client(RetryPolicy::default());
    script.prepare([
        Step::Text("half".into()),
        Step::Fail(ModelError::StreamBroken(Detail::default())),
    ]);
    let events = events(&client, &CancellationToken::new()).await;
    assert_eq!(script.requests().len(), 1);
    let Some(ModelEvent::Failed { partial, .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(partial.content.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_get_better_is_not_tried_again() {
    for error in [
        ModelError::Auth(Detail::default()),
        ModelError::Quota(Detail::default()),
        ModelError::ContextTooLong(Detail::default()),
        ModelError::BadRequest(Detail::default()),
        ModelError::UnknownModel(Detail::default()),
        ModelError::Protocol(Detail::default()),
        ModelError::Cancelled,
    ] {
        let (client, script) = client(RetryPolicy::default());
        script.prepare([Step::Fail(error.clone())]);
        let events = events(&client, &CancellationToken::new()).await;
        assert_eq!(events.len(), 1, "{error}");
        assert_eq!(script.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_suppliers_wish_is_followed_up_to_a_limit() {
    let (client, script) = client(RetryPolicy::default());
    script.prepare([Step::Fail(limited(30))]);
    script.prepare([Step::Text("hi".into()), Step::Finish(StopReason::Stop)]);
    let start = Instant::now();
    let events = events(&client, &CancellationToken::new()).await;
    assert!(matches!(
        events[0],
        ModelEvent::Retrying {
            after_ms: 30_000..=30_200,
            ..
        }
    ));
    assert!(start.elapsed() >= Duration::from_secs(30));

    let (client, script) = self::client(RetryPolicy::default());
    script.prepare([Step::Fail(limited(3600))]);
    let events = self::events(&client, &CancellationToken::new()).await;
    let [ModelEvent::Failed { error, .. }] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
}

#[tokio::test(start_paused = true)]
async fn a_stop_during_the_wait_ends_it_at_once() {
    let (client, script) = client(RetryPolicy::default());
    script.prepare([Step::Fail(limited(30))]);
    let cancel = CancellationToken::new();
    let mut stream = client.stream(Arc::default(), cancel.clone());
    assert!(matches!(
        stream.next().await,
        Some(ModelEvent::Retrying { .. })
    ));
    let start = Instant::now();
    cancel.cancel();
    assert!(matches!(
        stream.next().await,
        Some(ModelEvent::Failed {
            error: ModelError::Cancelled,
            ..
        })
    ));
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(stream.next().await.is_none());
    assert_eq!(script.requests().len(), 1);
}

#[test]
fn waits_grow_to_a_limit_and_are_spread() {
    let policy = RetryPolicy {
        attempts: 10,
        ..RetryPolicy::default()
    };
    let wait = |attempt, chance| policy.wait(attempt, &overloaded(), chance).unwrap();
    assert_eq!(wait(1, 1.0), Duration::from_secs(1));
    assert_eq!(wait(1, 0.0), Duration::from_millis(500));
    assert_eq!(wait(3, 1.0), Duration::from_secs(4));
    assert_eq!(wait(9, 1.0), Duration::from_secs(20));
    assert_eq!(policy.wait(10, &overloaded(), 0.0), None);
}
