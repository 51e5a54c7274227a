//! Traces as a collector gets them.

use crate::served::World;
use crate::settings::serve;
use netaclaw_testkit::fake_model::{Fault, Reply};
use netaclaw_testkit::{Collector, Traced};
use rustix::process::Signal;
use serde_json::json;

fn named<'t>(spans: &'t [Traced], name: &str) -> &'t Traced {
    let mut found = spans.iter().filter(|span| span.name == name);
    let first = found.next();
    first.unwrap_or_else(|| panic!("no span {name:?} in {spans:#?}"))
}

#[tokio::test]
async fn a_run_is_a_trace_of_its_questions_and_its_tools_and_of_no_words() {
    let world = World::new().await;
    let collector = Collector::start().await;
    let file = format!("[telemetry]\notlp_endpoint = '{}'", collector.url());
    let server = serve(&world, &file, &[]).await;
    let call = Reply::text("secret words").and_tool_call("c1", "ls", r#"{"path":"."}"#);
    world.model.script().push(call);
    world.model.script().push(Reply::text("secret answer"));
    let (session, mut client) = server.session("secret question").await;
    client.wait("done", |_| true).await;
    // The end of the server sends what it still has.
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.code(), Some(0));
    let spans = collector.spans(4).await;
    let run = named(&spans, "invoke_agent");
    assert!(run.parent_id.is_empty());
    assert_eq!(run.attributes["gen_ai.conversation.id"], json!(session));
    assert_eq!(run.attributes["netaclaw.run.outcome"], "completed");
    for span in &spans {
        assert_eq!(span.trace_id, run.trace_id);
        assert!(!span.failed, "{span:?}");
        assert!(!format!("{span:?}").contains("secret"), "{span:?}");
        if span.id != run.id {
            assert_eq!(span.parent_id, run.id);
        }
    }
    let tool = named(&spans, "execute_tool ls");
    assert_eq!(tool.attributes["gen_ai.tool.name"], "ls");
    assert_eq!(tool.attributes["gen_ai.tool.call.id"], "c1");
    let models: Vec<&Traced> = spans
        .iter()
        .filter(|span| span.attributes["gen_ai.operation.name"] == "chat")
        .collect();
    assert_eq!(models.len(), 2);
    let finish = |at: usize| &models[at].attributes["gen_ai.response.finish_reasons"];
    assert_eq!(
        (finish(0), finish(1)),
        (&json!(["tool_calls"]), &json!(["stop"]))
    );
    for model in models {
        assert!(model.name.starts_with("chat "), "{model:?}");
        assert_eq!(model.events, ["first_token"]);
        let tokens = model.attributes["gen_ai.usage.output_tokens"].as_i64();
        assert!(tokens > Some(0), "{model:?}");
    }
}

#[tokio::test]
async fn failures_are_marked_and_a_missing_collector_delays_nothing() {
    let world = World::new().await;
    let collector = Collector::start().await;
    let url = collector.url();
    let server = serve(&world, "", &[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)]).await;
    world.model.script().push(Reply::failing(Fault::Status {
        status: 401,
        retry_after: None,
    }));
    let (_, mut client) = server.session("hello").await;
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "error");
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.code(), Some(0));
    let spans = collector.spans(2).await;
    let run = named(&spans, "invoke_agent");
    assert!(
        run.failed && run.attributes["error.type"] == "auth",
        "{run:?}"
    );
    assert!(spans.iter().all(|span| span.failed), "{spans:?}");
    assert!(spans.iter().all(|span| span.events.is_empty()), "{spans:?}");

    drop(collector);
    let variables = [
        ("NETACLAW_OTLP_ENDPOINT", url.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "10"),
    ];
    let mut server = serve(&world, "", &variables).await;
    let mut log = server.log();
    let (_, mut client) = server.session("hello").await;
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "completed");
    let line = log.next_line().await.unwrap().unwrap();
    assert!(
        line.contains("the collector does not accept traces"),
        "{line}"
    );
    assert!(line.contains("refused") && !line.contains(&url), "{line}");
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.code(), Some(0));
}
