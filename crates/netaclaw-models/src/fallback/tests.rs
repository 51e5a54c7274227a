use super::*;
use crate::error::{Detail, ModelError};
use crate::scripted::{Script, ScriptedClient, Step};
use netaclaw_protocol::StopReason;

fn route(channel: &str) -> (Route, Script) {
    let (client, script) = ScriptedClient::new(channel);
    let route = Route {
        client: Arc::new(client),
        channel: channel.into(),
        model: format!("{channel}-model"),
    };
    (route, script)
}

async fn events(client: &FallbackClient) -> Vec<ModelEvent> {
    client
        .stream(Arc::default(), CancellationToken::new())
        .collect()
        .await
}

#[tokio::test]
async fn the_second_channel_answers_when_the_first_cannot() {
    let ((first, one), (second, two)) = (route("one"), route("two"));
    one.prepare([Step::Fail(ModelError::Auth(Detail::default()))]);
    two.prepare([Step::Text("hi".into()), Step::Finish(StopReason::Stop)]);
    let events = events(&FallbackClient::new(first, [second])).await;
    let ModelEvent::FallingBack { from, to, reason } = &events[0] else {
        panic!("{events:?}")
    };
    assert_eq!(
        (from.as_str(), to.as_str(), reason.code()),
        ("one/one-model", "two/two-model", "auth")
    );
    let Some(ModelEvent::Done(message)) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(
        (message.provider.as_str(), message.model.as_str()),
        ("two", "two-model")
    );
    assert_eq!(one.requests()[0].model, "one-model");
}

#[tokio::test]
async fn the_last_failure_is_reported_when_all_fail() {
    let ((first, one), (second, two)) = (route("one"), route("two"));
    one.prepare([Step::Fail(ModelError::Quota(Detail::default()))]);
    two.prepare([Step::Fail(ModelError::EmptyAnswer)]);
    let events = events(&FallbackClient::new(first, [second])).await;
    assert!(matches!(
        events.as_slice(),
        [
            ModelEvent::FallingBack { .. },
            ModelEvent::Failed {
                error: ModelError::EmptyAnswer,
                ..
            },
        ]
    ));
}

#[tokio::test]
async fn a_bad_request_or_a_begun_answer_stays_where_it_is() {
    for steps in [
        vec![Step::Fail(ModelError::ContextTooLong(Detail::default()))],
        vec![Step::Fail(ModelError::BadRequest(Detail::default()))],
        vec![Step::Fail(ModelError::Cancelled)],
        vec![
            Step::Text("half".into()),
            Step::Fail(ModelError::StreamBroken(Detail::default())),
        ],
    ] {
        let ((first, one), (second, two)) = (route("one"), route("two"));
        one.prepare(steps);
        let events = events(&FallbackClient::new(first, [second])).await;
        assert!(matches!(events.last(), Some(ModelEvent::Failed { .. })));
        assert_eq!(two.requests().len(), 0);
    }
}
