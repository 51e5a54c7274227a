//! The error texts for users: what happened, to which channel and model, and what to do. Live, in
//! the stored entry and at the end of the run the text is the same.

use crate::world::{APIS, KEY, Setting, World};
use netaclaw_admin::{Actor, ChannelStore, Expect};
use netaclaw_models::Timeouts;
use netaclaw_protocol::{LocalizedError, LocalizedErrorKind, Supplier};
use netaclaw_testkit::engine::{ann, within};
use netaclaw_testkit::fake_model::{Fault, Limits, Reply};
use serde_json::Value;
use std::time::Duration;

/// Runs one message and checks everything that reports its failure.
async fn check(world: &World, expected: LocalizedErrorKind, en: &str, zh: &str) -> LocalizedError {
    let (session, client) = world.session().await;
    world.chat(&session, "Hello?").await;
    let done = within(client.done(1)).await.remove(0);
    let name = expected.as_str();
    assert_eq!(done["data"]["outcome"], "error", "{name}: {done}");
    assert_eq!(done["data"]["reason"], name, "{done}");
    let trouble = read(&done["data"]["trouble"]);
    let words = &trouble.words;
    assert_eq!(trouble.kind, expected);
    assert!(words.en.contains(en), "{name}: {}", words.en);
    assert!(words.zh.contains(zh), "{name}: {}", words.zh);
    for text in [&words.en, &words.zh] {
        assert!(
            text.contains("fake") && text.contains("fake-model"),
            "{text}"
        );
    }

    let events = client.events();
    let of = |name: &str| {
        let mut of_name = events.iter().filter(|event| event["type"] == name);
        of_name
            .find(|event| event["data"]["severity"] != "warning")
            .unwrap()
    };
    let error = &of("error")["data"];
    assert_eq!(error["severity"], "error");
    assert_eq!(read(&error["trouble"]), trouble);
    assert_eq!(error["message"], words.en);
    assert_eq!(
        read(&of("assistant_stream_end")["data"]["trouble"]),
        trouble
    );
    let provider = &world.engine.providers().file;
    let path = provider.get_active_path(&session).await.unwrap();
    let stored: Value = serde_json::from_str(path.last().unwrap().message_json().unwrap()).unwrap();
    assert_eq!(stored["stopReason"], "error");
    assert_eq!(stored["errorMessage"], words.en);
    assert_eq!(read(&stored["trouble"]), trouble);
    let everything = format!("{events:?} {stored}");
    assert!(!everything.contains(KEY), "{name}: the key leaks");
    trouble
}

fn read(value: &Value) -> LocalizedError {
    serde_json::from_value(value.clone()).unwrap()
}

fn body(status: u16, body: &str) -> Reply {
    Reply::failing(Fault::Body {
        status,
        content_type: "application/json",
        body: body.to_owned(),
    })
}

#[tokio::test]
async fn refusals_of_the_supplier_are_reported_with_a_text() {
    for supplier in APIS {
        let world = World::start(supplier).await;
        let script = world.script();
        let late = Reply::failing(Fault::Status {
            status: 429,
            retry_after: Some("3600".to_owned()),
        });
        let quota = match supplier {
            Supplier::Anthropic => body(
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
            ),
            _ => body(
                429,
                r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            ),
        };
        let forbidden = body(
            403,
            r#"{"error":{"type":"permission_error","message":"Your API key does not have permission to use this model."}}"#,
        );
        let too_long = body(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#,
        );
        let refused = body(
            400,
            r#"{"error":{"code":"content_filter","message":"The response was filtered due to the content management policy."}}"#,
        );
        let page = Reply::failing(Fault::Body {
            status: 404,
            content_type: "text/html",
            body: "<html><title>404 Not Found</title></html>".to_owned(),
        });
        let table = [
            (
                forbidden,
                LocalizedErrorKind::Auth,
                "Check the API key",
                "请检查该渠道的密钥",
            ),
            (
                quota,
                LocalizedErrorKind::Quota,
                "Top up the account",
                "请充值",
            ),
            (
                late,
                LocalizedErrorKind::RateLimited,
                "Try again in 60 minutes",
                "60 分钟",
            ),
            (
                Reply::status(529),
                LocalizedErrorKind::Overloaded,
                "Try again in a moment",
                "请稍后重试",
            ),
            (
                Reply::status(500),
                LocalizedErrorKind::Overloaded,
                "has an outage",
                "出现故障",
            ),
            (
                too_long,
                LocalizedErrorKind::ContextTooLong,
                "Compact the session",
                "请压缩会话",
            ),
            (
                refused,
                LocalizedErrorKind::Refused,
                "Rephrase",
                "换一种说法",
            ),
            (
                page,
                LocalizedErrorKind::WrongAddress,
                "base URL",
                "接口地址",
            ),
            (
                Reply::failing(Fault::CutAfter(3)),
                LocalizedErrorKind::StreamBroken,
                "The part that was received is kept",
                "会保留",
            ),
            (
                Reply::failing(Fault::GarbageAfter(2)),
                LocalizedErrorKind::Protocol,
                "supplier matches",
                "供应商类型",
            ),
        ];
        for (reply, kind, en, zh) in table {
            script.push(reply);
            let trouble = check(&world, kind, en, zh).await;
            if kind == LocalizedErrorKind::RateLimited {
                assert_eq!(trouble.retry_after_ms, Some(3_600_000));
            }
        }

        script.set_key("another");
        let trouble = check(
            &world,
            LocalizedErrorKind::Auth,
            "Check the API key",
            "密钥",
        )
        .await;
        assert!(
            trouble.said.unwrap().contains("[key]"),
            "the supplier quotes it"
        );
        script.set_key(KEY);
        script.set_models(["another"]);
        check(
            &world,
            LocalizedErrorKind::UnknownModel,
            "Check the name of the model",
            "请检查渠道中的模型名称",
        )
        .await;
        script.set_models(["fake-model"]);
        script.set_limits(Limits {
            strict: true,
            window: Some(10),
        });
        check(
            &world,
            LocalizedErrorKind::ContextTooLong,
            "longer than this model's context window",
            "上下文",
        )
        .await;
    }
}

#[tokio::test]
async fn an_unreachable_server_is_reported_with_a_text() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    for supplier in APIS {
        let fake = World::start(supplier).await;
        let plain = fake.fake.openai_url().replace("http://", "https://");
        for (url, kind, en, zh) in [
            (
                format!("http://127.0.0.1:{port}"),
                LocalizedErrorKind::Unreachable,
                "cannot be reached",
                "无法连接",
            ),
            (
                "http://no-such-host.invalid/v1".to_owned(),
                LocalizedErrorKind::NameNotFound,
                "was not found",
                "找不到",
            ),
            (
                plain,
                LocalizedErrorKind::TlsFailed,
                "secure connection",
                "安全连接",
            ),
        ] {
            let world = World::with(Setting {
                base_url: Some(url),
                ..Setting::of(supplier)
            })
            .await;
            check(&world, kind, en, zh).await;
        }
    }
}

#[tokio::test]
async fn a_silent_model_is_reported_with_a_text() {
    for supplier in APIS {
        let world = World::with(Setting {
            timeouts: Timeouts {
                first_byte: Duration::from_millis(500),
                idle: Duration::from_millis(500),
                ..Timeouts::default()
            },
            ..Setting::of(supplier)
        })
        .await;
        world.script().push(Reply::failing(Fault::HangBeforeHead));
        check(
            &world,
            LocalizedErrorKind::Timeout,
            "did not start to answer",
            "没有开始回答",
        )
        .await;
        world.script().push(Reply::failing(Fault::HangAfter(4)));
        check(
            &world,
            LocalizedErrorKind::Timeout,
            "sent nothing",
            "没有输出",
        )
        .await;
    }
}

/// The wordings of Ollama, vLLM, llama.cpp and others.
const NO_TOOLS: [(u16, &str); 5] = [
    (
        400,
        r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error","param":null,"code":null}}"#,
    ),
    (
        400,
        r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}"#,
    ),
    (
        500,
        r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
    ),
    (
        404,
        r#"{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit the documentation.","code":404}}"#,
    ),
    (
        400,
        r#"{"error":{"message":"`tool calling` is not supported with this model","type":"invalid_request_error"}}"#,
    ),
];

#[tokio::test]
async fn a_model_that_refuses_tools_runs_without_them_with_a_warning() {
    for supplier in APIS {
        for (status, refusal) in NO_TOOLS {
            let world = World::start(supplier).await;
            world.script().push(body(status, refusal));
            let (session, client) = world.session().await;
            world.chat(&session, "Hello?").await;
            let done = within(client.done(1)).await.remove(0);
            assert_eq!(done["data"]["outcome"], "completed", "{refusal}: {done}");
            let warning = within(client.wait("error", |data| data["severity"] == "warning")).await;
            let trouble = read(&warning["data"]["trouble"]);
            assert_eq!(trouble.kind, LocalizedErrorKind::NoToolSupport);
            assert!(
                trouble
                    .words
                    .en
                    .contains("Choose a model with tool support")
            );
            assert!(trouble.words.zh.contains("请换用支持工具的模型"));
            assert!(trouble.said.is_some(), "what the supplier said");
            let requests = world.requests();
            assert!(requests[0].body["tools"].is_array() && requests[1].body["tools"].is_null());
            assert_eq!(
                world.path(&session).await,
                ["user: Hello?", "assistant: Hello from the fake model."]
            );

            // It is known now: neither tried again nor reported again.
            world.chat(&session, "Still there?").await;
            within(client.done(2)).await;
            let requests = world.requests();
            assert_eq!(requests.len(), 3);
            assert!(requests[2].body["tools"].is_null());
            let warned = client.events();
            let warned = warned.iter().filter(|event| event["type"] == "error");
            assert_eq!(warned.count(), 1);
            // Another session is warned in the same words.
            let (other, client) = world.session().await;
            world.chat(&other, "Hello?").await;
            let again = within(client.wait("error", |data| data["severity"] == "warning")).await;
            assert_eq!(read(&again["data"]["trouble"]), trouble);
            within(client.done(1)).await;
            assert_eq!(world.requests().len(), 4);

            // Refused without tools too: then it is an error, and says what to do.
            world.script().push(body(status, refusal));
            let en = "Choose a model with tool support";
            check(
                &world,
                LocalizedErrorKind::NoToolSupport,
                en,
                "请换用支持工具的模型",
            )
            .await;
        }
    }
}

#[tokio::test]
async fn a_warning_is_sent_once_until_it_changes() {
    let world = World::with(Setting {
        tools: Some(false),
        ..Setting::of(Supplier::Openai)
    })
    .await;
    let (session, client) = world.session().await;
    let mut runs = 0;
    let mut run = async |text: &str| {
        world.chat(&session, text).await;
        runs += 1;
        within(client.done(runs)).await;
        let warned = client.events();
        let warned = warned.iter().filter(|event| event["type"] == "error");
        warned
            .map(|event| {
                event["data"]["trouble"]["kind"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect::<Vec<_>>()
    };
    let no_tools = "no_tool_support";
    assert_eq!(run("one").await, [no_tools]);
    assert!(
        world.requests()[0].body["tools"].is_null(),
        "none are offered"
    );
    assert_eq!(run("two").await, [no_tools]);
    let (_, opened) = world.open(&session).await;
    let warnings = opened.snapshot.unwrap().warnings;
    assert_eq!(warnings.len(), 1, "a later run sees it too");
    assert_eq!(warnings[0].kind, LocalizedErrorKind::NoToolSupport);

    world
        .change_agent(|spec| spec.tools.enabled.push("reed".to_owned()))
        .await;
    assert_eq!(run("three").await, [no_tools, "unknown_tools"]);
    assert_eq!(run("four").await, [no_tools, "unknown_tools"]);
    world.change_agent(|spec| spec.tools.enabled.clear()).await;
    assert_eq!(run("five").await, [no_tools, "unknown_tools"]);
    world
        .change_agent(|spec| spec.tools.enabled.push("reed".to_owned()))
        .await;
    let all = run("six").await;
    assert_eq!(
        all,
        [no_tools, "unknown_tools", "unknown_tools"],
        "it came back"
    );
}

#[tokio::test]
async fn an_agent_that_is_not_set_up_says_what_to_do() {
    let world = World::start(Supplier::Openai).await;
    let (session, client) = world.session().await;
    let nowhere = world.work_dir().join("nowhere");
    world
        .change_agent(|spec| spec.model_config.model = None)
        .await;
    // What is not there cannot be chosen, but it can go away afterwards.
    let channel = world.add_channel("short-lived", Supplier::Openai).await;
    let choice = netaclaw_protocol::SetModel {
        session_id: session.clone(),
        channel_id: channel.to_string(),
        model_id: "fake-model".to_owned(),
        request_id: None,
    };
    world.engine.execute(&ann(), choice).await.unwrap();
    let by = Actor::system();
    let gone = world.admin.delete_channel(&by, &channel, Expect::Any).await;
    gone.unwrap();
    world.chat(&session, "Hello?").await;
    let done = within(client.done(1)).await.remove(0);
    assert_eq!(done["data"]["reason"], "not_ready", "{done}");
    let trouble = read(&done["data"]["trouble"]);
    assert!(
        trouble.words.en.contains("choose another one"),
        "{trouble:?}"
    );
    assert!(trouble.words.zh.contains("请另选一个渠道"), "{trouble:?}");

    world
        .change_agent(|spec| spec.workspace = Some(nowhere.to_string_lossy().into_owned()))
        .await;
    let (session, client) = world.session().await;
    world.chat(&session, "Hello?").await;
    let done = within(client.done(1)).await.remove(0);
    let trouble = read(&done["data"]["trouble"]);
    assert!(
        trouble.words.en.contains("settings of the agent"),
        "{trouble:?}"
    );
    assert!(trouble.words.zh.contains("工作区"), "{trouble:?}");
    assert!(
        !done.to_string().contains("nowhere"),
        "no path of the server"
    );
}
