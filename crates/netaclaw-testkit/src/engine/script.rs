//! The agent of the tests: it does what a test tells it, one act after the other.

use super::answer::{Answer, ask, await_consent, call, need_consent, pour, report};
use async_trait::async_trait;
use netaclaw_engine::{AgentRef, AgentSource, EngineError, PrepareRun, PreparedRun, Runner};
use netaclaw_protocol::{
    ContentBlock, InfoSource, ModelInfo, NotFound, ProviderKind, RecordKind, RunId, RunOutcome,
    StopReason, ThinkingLevel,
};
use netaclaw_runtime::{PendingCalls, RunHost, RunReport};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What the agent does next.
#[derive(Clone, Debug)]
pub enum Act {
    Say(&'static str),
    /// Ends the answer and the run.
    End,
    /// An answer with one call, and its result.
    Call(&'static str),
    /// A tool that runs says so many characters, three bytes each.
    Pour(usize),
    /// An answer that asks the user, and waits.
    Ask(&'static str),
    /// Waits for consent to a call.
    NeedConsent(&'static str),
    /// Waits until it is stopped.
    Hang,
    Panic,
}

/// The agent's script, which the test feeds while the run waits for it.
#[derive(Clone)]
pub struct Script {
    acts: mpsc::UnboundedSender<Act>,
    source: Arc<ScriptedSource>,
}

pub struct ScriptedSource {
    acts: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Act>>>,
    question_timeout: Mutex<Option<Duration>>,
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl Script {
    pub fn new() -> Self {
        let (acts, receiver) = mpsc::unbounded_channel();
        let source = ScriptedSource {
            acts: Arc::new(tokio::sync::Mutex::new(receiver)),
            question_timeout: Mutex::default(),
        };
        Self {
            acts,
            source: Arc::new(source),
        }
    }

    pub fn source(&self) -> Arc<dyn AgentSource> {
        Arc::clone(&self.source) as _
    }

    /// Questions that are asked from now on stay open for so long.
    pub fn ask_for(&self, time: Duration) {
        *self.source.question_timeout.lock().unwrap() = Some(time);
    }

    pub fn act(&self, acts: impl IntoIterator<Item = Act>) {
        for act in acts {
            self.acts.send(act).unwrap();
        }
    }
}

#[async_trait]
impl AgentSource for ScriptedSource {
    async fn find(&self, agent: Option<&str>) -> Result<AgentRef, EngineError> {
        match agent {
            None | Some("default" | "second") => Ok(AgentRef {
                id: agent.unwrap_or("default").to_owned(),
                name: agent.unwrap_or("default").to_owned(),
                provider: ProviderKind::File,
                cwd: "/srv/app".to_owned(),
                think_level: ThinkingLevel::Off,
            }),
            Some(other) => Err(NotFound::NoRecord {
                kind: RecordKind::Agent,
                name: other.to_owned(),
                nearest: None,
            }
            .into()),
        }
    }

    async fn question_timeout(&self) -> Option<Duration> {
        *self.question_timeout.lock().unwrap()
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
                pending: run.pending,
            }),
        })
    }
}

struct ScriptedRunner {
    acts: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Act>>>,
    run_id: RunId,
    /// Calls to begin with.
    pending: Option<PendingCalls>,
}

#[async_trait]
impl Runner for ScriptedRunner {
    async fn run(self: Box<Self>, host: &mut dyn RunHost, cancel: CancellationToken) -> RunReport {
        let Self {
            acts,
            pending,
            run_id,
        } = *self;
        let mut acts = acts.lock().await;
        for call in pending.into_iter().flat_map(|pending| pending.calls) {
            let ContentBlock::ToolCall { id, name, .. } = call else {
                panic!("only calls are pending");
            };
            if !await_consent(host, &id, &name, &cancel).await {
                return report(RunOutcome::Stopped);
            }
        }
        let mut answer = Answer::new(run_id.clone());
        let mut poured = 0;
        loop {
            host.context().await.unwrap();
            let act = tokio::select! {
                act = acts.recv() => act.unwrap_or(Act::Hang),
                () = cancel.cancelled() => return answer.stop(host).await,
            };
            match act {
                Act::Say(text) => answer.say(host, text),
                Act::End => {
                    answer.store(host, StopReason::Stop).await;
                    return match host.insert_steering().await {
                        Ok(_) => report(RunOutcome::Completed),
                        Err(_) => report(RunOutcome::Error),
                    };
                }
                Act::Call(name) => call(host, name).await,
                Act::Pour(chars) => pour(host, &run_id, &mut poured, chars),
                Act::NeedConsent(tool) => {
                    if !need_consent(host, tool, &cancel).await {
                        return report(RunOutcome::Stopped);
                    }
                }
                Act::Ask(question) => {
                    if !ask(host, question, &cancel).await {
                        return report(RunOutcome::Stopped);
                    }
                }
                Act::Hang => {
                    cancel.cancelled().await;
                    return answer.stop(host).await;
                }
                Act::Panic => panic!("as told"),
            }
        }
    }
}
