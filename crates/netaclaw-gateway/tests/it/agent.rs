//! An agent that follows a test's script while it runs.

use async_trait::async_trait;
use netaclaw_engine::{AgentRef, AgentSource, EngineError, PrepareRun, PreparedRun, Runner};
use netaclaw_models::GrowingAnswer;
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, EntryId, InfoSource, Message, ModelInfo, NotFound, PartDelta,
    PartKind, ProviderKind, RecordKind, RunId, RunOutcome, StopReason, ThinkingLevel, Usage,
};
use netaclaw_runtime::{RunEvent, RunHost, RunReport};
use netaclaw_session::EntryBody;
use netaclaw_tools::ClarifyQuestion;
use std::sync::Arc;
use tokio::sync::{Mutex, Notify, mpsc};
use tokio_util::sync::CancellationToken;

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Say(String),
    /// Ends the answer, and begins another in the same run.
    Turn,
    /// Ends the answer and the run.
    End,
    Ask(&'static str),
    Fail(&'static str),
}

pub(crate) fn say(text: &str) -> Act {
    Act::Say(text.to_owned())
}

/// Feeds the runs, one after the other.
#[derive(Clone)]
pub(crate) struct Script {
    acts: mpsc::UnboundedSender<Act>,
    pub(crate) source: Arc<ScriptedSource>,
}

pub(crate) struct ScriptedSource {
    acts: Arc<Mutex<mpsc::UnboundedReceiver<Act>>>,
    /// Lets the agent `slow` be found.
    pub(crate) found: Notify,
}

impl Script {
    pub(crate) fn new() -> Self {
        let (acts, receiver) = mpsc::unbounded_channel();
        let source = ScriptedSource {
            acts: Arc::new(Mutex::new(receiver)),
            found: Notify::new(),
        };
        Self {
            acts,
            source: Arc::new(source),
        }
    }

    pub(crate) fn act(&self, acts: impl IntoIterator<Item = Act>) {
        for act in acts {
            self.acts.send(act).unwrap();
        }
    }
}

#[async_trait]
impl AgentSource for ScriptedSource {
    async fn find(&self, agent: Option<&str>) -> Result<AgentRef, EngineError> {
        match agent {
            Some("missing") => {
                let missing = NotFound::NoRecord {
                    kind: RecordKind::Agent,
                    name: "missing".to_owned(),
                    nearest: None,
                };
                return Err(missing.into());
            }
            Some("broken") => panic!("the test asked for it"),
            Some("slow") => {
                self.found.notified().await;
                // Once released, it stays so: a first message looks its agent up more than once.
                self.found.notify_one();
            }
            _ => {}
        }
        let named = agent.filter(|name| ["7", "second"].contains(name));
        Ok(AgentRef {
            id: named.unwrap_or("default").to_owned(),
            name: named.unwrap_or("default").to_owned(),
            provider: ProviderKind::File,
            cwd: "/srv/app".to_owned(),
            think_level: ThinkingLevel::Off,
        })
    }

    async fn prepare(&self, run: PrepareRun<'_>) -> Result<PreparedRun, EngineError> {
        Ok(PreparedRun {
            model: ModelInfo {
                name: "scripted".to_owned(),
                context_window: 1000,
                max_output: 100,
                vision: false,
                tools: true,
                thinking: false,
                price: None,
                chat: true,
                source: InfoSource::Channel,
            },
            threshold_percent: Some(70),
            runner: Box::new(ScriptedRunner {
                acts: Arc::clone(&self.acts),
                run_id: run.run_id.clone(),
            }),
        })
    }
}

struct ScriptedRunner {
    acts: Arc<Mutex<mpsc::UnboundedReceiver<Act>>>,
    run_id: RunId,
}

#[async_trait]
impl Runner for ScriptedRunner {
    async fn run(self: Box<Self>, host: &mut dyn RunHost, cancel: CancellationToken) -> RunReport {
        let mut answer = Answer::new(self.run_id.clone());
        let mut acts = tokio::select! {
            acts = self.acts.lock() => acts,
            () = cancel.cancelled() => return answer.stop(host).await,
        };
        host.context().await.unwrap();
        loop {
            let act = tokio::select! {
                biased;
                () = cancel.cancelled() => return answer.stop(host).await,
                act = acts.recv() => act.unwrap(),
            };
            match act {
                Act::Say(text) => answer.say(host, &text),
                Act::Turn => answer.store(host, StopReason::Stop, None).await,
                Act::End => {
                    answer.store(host, StopReason::Stop, None).await;
                    return report(RunOutcome::Completed);
                }
                Act::Fail(reason) => {
                    answer.store(host, StopReason::Error, Some(reason)).await;
                    return report(RunOutcome::Error);
                }
                Act::Ask(question) => {
                    let question = ClarifyQuestion {
                        tool_call_id: "call-1".to_owned(),
                        question: question.to_owned(),
                        options: vec!["red".to_owned(), "blue".to_owned()],
                        multi: false,
                    };
                    let reply = host.open_question(question).await.unwrap();
                    tokio::select! {
                        _ = reply => answer.say(host, "thanks"),
                        () = cancel.cancelled() => return answer.stop(host).await,
                    }
                }
            }
        }
    }
}

struct Answer {
    run_id: RunId,
    open: Option<(EntryId, GrowingAnswer)>,
}

impl Answer {
    fn new(run_id: RunId) -> Self {
        let open = None;
        Self { run_id, open }
    }

    fn say(&mut self, host: &mut dyn RunHost, text: &str) {
        let (id, growing) = self.open.get_or_insert_with(|| {
            let id = host.next_entry_id();
            let growing = GrowingAnswer::new(message(Vec::new(), StopReason::Stop, None));
            host.emit(RunEvent::AnswerStarted {
                entry_id: id.clone(),
                provider: "scripted".to_owned(),
                model: "scripted".to_owned(),
                text: growing.clone(),
            });
            let kind = netaclaw_models::StreamPart::Text;
            growing.start(&kind);
            host.emit(RunEvent::PartStarted {
                entry_id: id.clone(),
                part: 0,
                kind,
            });
            (id, growing)
        });
        let offset = growing.text_of(0).chars().count() as u64;
        growing.append(0, text);
        host.emit(RunEvent::PartDelta(PartDelta {
            run_id: self.run_id.clone(),
            entry_id: id.clone(),
            part: 0,
            kind: PartKind::Text,
            tool_call_id: None,
            tool_name: None,
            offset,
            text: text.to_owned(),
        }));
    }

    async fn store(&mut self, host: &mut dyn RunHost, stop: StopReason, error: Option<&str>) {
        let open = self.open.take();
        let text = open.as_ref().map(|(_, growing)| growing.text_of(0));
        let text = text.unwrap_or_default();
        let id = open.map_or_else(|| host.next_entry_id(), |(id, _)| id);
        let message = message(vec![ContentBlock::Text { text }], stop, error);
        let usage = message.usage.clone();
        let body = EntryBody::message(&Message::Assistant(message));
        host.append(Some(id.clone()), body).await.unwrap();
        host.emit(RunEvent::AnswerFinished {
            entry_id: id,
            stop_reason: stop,
            error_message: error.map(str::to_owned),
            trouble: None,
            usage,
        });
    }

    async fn stop(&mut self, host: &mut dyn RunHost) -> RunReport {
        self.store(host, StopReason::Aborted, None).await;
        report(RunOutcome::Stopped)
    }
}

fn report(outcome: RunOutcome) -> RunReport {
    RunReport {
        outcome,
        reason: None,
        trouble: None,
        usage: Usage::default(),
        turns: 1,
        tools_refused: None,
    }
}

fn message(
    content: Vec<ContentBlock>,
    stop_reason: StopReason,
    error: Option<&str>,
) -> AssistantMessage {
    AssistantMessage {
        content,
        api: "scripted".to_owned(),
        provider: "scripted".to_owned(),
        model: "scripted".to_owned(),
        usage: Usage {
            input: 90,
            output: 10,
            total_tokens: 100,
            ..Usage::default()
        },
        stop_reason,
        error_message: error.map(str::to_owned),
        trouble: None,
        netaclaw: None,
        timestamp: 2,
    }
}
