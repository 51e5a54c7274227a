//! Clients for the contract suite, and the servers behind them.

use futures::FutureExt;
use futures::future::BoxFuture;
use netaclaw_models::contract::{ContractHarness, Ending, Scene, ScenePart};
use netaclaw_models::scripted::{Script, ScriptedClient, Step};
use netaclaw_models::{
    AnthropicClient, Channel, DemoClient, Detail, ModelClient, ModelError, OpenaiClient, Timeouts,
    Transport,
};
use netaclaw_protocol::{ChannelModel, StopReason, Supplier};
use netaclaw_testkit::fake_model::{Chunking, FakeModel, Fault, Part, Reply, TokenCounts};
use std::sync::Arc;
use std::time::Duration;

/// A channel to a fake server, whose only model has all features.
pub(crate) fn channel(server: &FakeModel, supplier: Supplier) -> Channel {
    let url = match supplier {
        Supplier::Anthropic => server.anthropic_url(),
        _ => server.openai_url(),
    };
    channel_at(url, supplier)
}

pub(crate) fn channel_at(url: String, supplier: Supplier) -> Channel {
    let mut channel = Channel::new("test", supplier);
    channel.base_url = Some(url);
    channel.api_key = Some("sk-test-key".into());
    channel.models.push(ChannelModel {
        name: "fake-model".into(),
        context_window: Some(100_000),
        max_output: Some(16_000),
        vision: Some(true),
        tools: Some(true),
        thinking: Some(true),
        chat: None,
        price: None,
    });
    channel
}

pub(crate) fn client(server: &FakeModel, supplier: Supplier) -> Arc<dyn ModelClient> {
    client_with(server, supplier, Timeouts::default())
}

pub(crate) fn client_with(
    server: &FakeModel,
    supplier: Supplier,
    timeouts: Timeouts,
) -> Arc<dyn ModelClient> {
    let channel = Arc::new(channel(server, supplier));
    let transport = Arc::new(Transport::new(timeouts));
    match supplier {
        Supplier::Anthropic => Arc::new(AnthropicClient::new(channel, transport)),
        _ => Arc::new(OpenaiClient::new(channel, transport)),
    }
}

pub(crate) struct HttpHarness {
    server: FakeModel,
    client: Arc<dyn ModelClient>,
    chunking: Chunking,
}

impl HttpHarness {
    pub(crate) async fn new(supplier: Supplier, chunking: Chunking) -> Self {
        let server = FakeModel::start().await;
        Self {
            client: client(&server, supplier),
            server,
            chunking,
        }
    }
}

impl ContractHarness for HttpHarness {
    fn client(&self) -> Arc<dyn ModelClient> {
        self.client.clone()
    }

    fn arrange(&self, scene: Scene) {
        self.server
            .script()
            .push(reply(scene).with_chunking(self.chunking));
    }

    fn hung_up(&self) -> BoxFuture<'_, ()> {
        self.server.script().aborted(1).boxed()
    }

    fn refusal(&self) -> Option<String> {
        self.server.script().last_request().refused
    }

    fn last_request(&self) -> String {
        self.server.script().last_request().body.to_string()
    }
}

fn reply(scene: Scene) -> Reply {
    let mut reply = Reply {
        parts: scene.parts.iter().map(part).collect(),
        usage: scene.usage.map(|usage| TokenCounts {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
        }),
        ..Reply::default()
    };
    match scene.ending {
        Ending::Proper => {}
        // Both APIs understand one of the two words.
        Ending::With(StopReason::Length) => reply.stop = Some("max_tokens".into()),
        Ending::With(_) => reply.stop = Some("stop".into()),
        Ending::Broken => reply.fault = Some(Fault::CutBeforeEnd),
        Ending::Hanging => reply.fault = Some(Fault::HangBeforeEnd),
        Ending::TooLong => {
            reply.fault = Some(Fault::Body {
                status: 400,
                content_type: "application/json",
                body: r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#.into(),
            });
        }
        Ending::RateLimited(seconds) => {
            reply.fault = Some(Fault::Status {
                status: 429,
                retry_after: Some(seconds.to_string()),
            });
        }
    }
    reply
}

fn part(part: &ScenePart) -> Part {
    match part.clone() {
        ScenePart::Text(text) => Part::Text(text),
        ScenePart::Thinking(text) => Part::Thinking(text),
        ScenePart::Call {
            id,
            name,
            arguments,
        } => Part::ToolCall {
            id,
            name,
            arguments: arguments.to_string(),
        },
        ScenePart::BrokenCall {
            id,
            name,
            arguments,
        } => Part::ToolCall {
            id,
            name,
            arguments,
        },
    }
}

pub(crate) struct DemoHarness;

impl ContractHarness for DemoHarness {
    fn client(&self) -> Arc<dyn ModelClient> {
        Arc::new(DemoClient::new("demo").with_pause(Duration::from_micros(100)))
    }

    fn model(&self) -> String {
        "demo".into()
    }

    fn arrange(&self, _: Scene) {}

    fn hung_up(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

pub(crate) struct ScriptedHarness {
    client: Arc<ScriptedClient>,
    script: Script,
}

impl ScriptedHarness {
    pub(crate) fn new() -> Self {
        let (client, script) = ScriptedClient::new("scripted");
        Self {
            client: Arc::new(client),
            script,
        }
    }
}

impl ContractHarness for ScriptedHarness {
    fn client(&self) -> Arc<dyn ModelClient> {
        self.client.clone()
    }

    fn arrange(&self, scene: Scene) {
        let mut steps: Vec<Step> = scene.parts.into_iter().flat_map(steps).collect();
        let usage = scene.usage.unwrap_or(netaclaw_protocol::Usage {
            input: 1,
            output: 1,
            ..Default::default()
        });
        steps.push(Step::Usage(usage));
        match scene.ending {
            Ending::Proper => steps.push(Step::Finish(StopReason::Stop)),
            Ending::With(reason) => steps.push(Step::Finish(reason)),
            Ending::Broken => {}
            Ending::Hanging => steps.push(Step::Hang),
            Ending::TooLong => {
                steps = vec![Step::Fail(ModelError::ContextTooLong(Detail::default()))];
            }
            Ending::RateLimited(seconds) => {
                steps = vec![Step::Fail(ModelError::RateLimited {
                    retry_after: Some(Duration::from_secs(seconds)),
                    detail: Detail::default(),
                })];
            }
        }
        self.script.prepare(steps);
    }

    fn hung_up(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

fn steps(part: ScenePart) -> Vec<Step> {
    match part {
        ScenePart::Text(text) => vec![Step::Text(text)],
        ScenePart::Thinking(text) => {
            vec![
                Step::Thinking(text),
                Step::ThinkingSignature("signed".into()),
            ]
        }
        ScenePart::Call {
            id,
            name,
            arguments,
        } => vec![Step::ToolCall {
            id,
            name,
            arguments,
        }],
        ScenePart::BrokenCall {
            id,
            name,
            arguments,
        } => vec![
            Step::CallStart {
                id: id.clone(),
                name,
            },
            Step::CallFragment {
                id,
                fragment: arguments,
            },
        ],
    }
}
