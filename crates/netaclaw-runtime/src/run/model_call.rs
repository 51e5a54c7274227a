//! One call of the model, from the context to the stored answer.

use super::Driver;
use super::calls::OpenCall;
use super::live::LiveAnswer;
use super::start::mark_calls;
use crate::answer::{empty_answer, interrupted};
use crate::event::RunEvent;
use crate::host::{HostError, ModelCall, Overflow, RunContext};
use crate::machine::Answered;
use futures::StreamExt;
use netaclaw_models::{
    Detail, GrowingAnswer, ModelError, ModelEvent, ModelRequest, PromptCache, SystemPrompt,
};
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, EntryId, Message, RunPhase, RunTrouble, StopReason,
    ThinkingLevel,
};
use netaclaw_session::EntryBody;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a stream may take to end itself after a stop. Then it is dropped.
const STREAM_GRACE: Duration = Duration::from_millis(300);

/// How often an answer that grows is offered to be kept, and so how much of it a crash loses.
const KEEP_INTERVAL: Duration = Duration::from_millis(250);

/// An answer that is whole, or as whole as it gets.
pub(super) struct FinalAnswer {
    id: EntryId,
    message: AssistantMessage,
    /// People have seen it begin.
    shown: bool,
}

impl Driver<'_> {
    pub(super) async fn call_model(&mut self, turn: u32) -> Result<Answered, HostError> {
        if self.input.cancel.is_cancelled() {
            return Ok(Answered::NotAsked);
        }
        self.refresh_tools(turn).await?;
        self.host.emit(RunEvent::Phase {
            phase: RunPhase::WaitingForModel,
            detail: None,
        });
        let system = self.prompt.system(&self.todo.get());
        let call = ModelCall {
            turn,
            model: &self.input.model.info,
            system: &system,
            tools: &self.definitions,
            cancel: &self.input.cancel,
        };
        self.host.before_model_call(&call).await?;
        let mut context = self.host.context().await?;
        self.foreign = std::mem::take(&mut context.foreign);
        if self.input.cancel.is_cancelled() {
            return Ok(Answered::NotAsked);
        }
        self.report_unreadable(context.payload.unreadable);
        let request = self.request(system, context);
        self.turns += 1;
        let (mut held, error) = self.stream(request).await;
        if let Some(error) = &error {
            self.add_error_text(&mut held.message, error);
        }
        let answered = self.classify(&held, error);
        self.answer = Some(held);
        Ok(answered)
    }

    pub(super) async fn handle_overflow(&mut self, turn: u32) -> Result<Overflow, HostError> {
        let Some(error) = &self.model_error else {
            return Ok(Overflow::GiveUp);
        };
        let system = self.prompt.system(&self.todo.get());
        let call = ModelCall {
            turn,
            model: &self.input.model.info,
            system: &system,
            tools: &self.definitions,
            cancel: &self.input.cancel,
        };
        self.host.on_overflow(&call, error).await
    }

    pub(super) async fn append_answer(&mut self) -> Result<(), HostError> {
        let held = self
            .answer
            .take()
            .expect("the machine appends what was answered");
        if !held.shown {
            self.host.emit(RunEvent::AnswerStarted {
                entry_id: held.id.clone(),
                provider: held.message.provider.clone(),
                model: held.message.model.clone(),
                text: GrowingAnswer::new(held.message.clone()),
            });
        }
        let (stop_reason, error_message, trouble, usage) = (
            held.message.stop_reason,
            held.message.error_message.clone(),
            held.message.trouble.clone(),
            held.message.usage.clone(),
        );
        let mut message = held.message;
        mark_calls(&self.input.tools, &mut message);
        let body = EntryBody::message(&Message::Assistant(message));
        self.host.append(Some(held.id.clone()), body).await?;
        self.add_usage(&usage);
        self.host.emit(RunEvent::AnswerFinished {
            entry_id: held.id,
            stop_reason,
            error_message,
            trouble,
            usage,
        });
        Ok(())
    }

    fn request(&mut self, system: SystemPrompt, context: RunContext) -> ModelRequest {
        // What is on the path counts, and may be another list than the last one this run has seen.
        let system = match self.todo.get() == context.todo {
            true => system,
            false => self.prompt.system(&context.todo),
        };
        self.todo.set(context.todo);
        let (agent, info) = (&self.input.agent, &self.input.model.info);
        ModelRequest {
            model: info.name.clone(),
            system,
            messages: context.payload.messages,
            tools: self.definitions.clone(),
            thinking: match info.thinking {
                true => agent.thinking.unwrap_or(context.thinking),
                false => ThinkingLevel::Off,
            },
            temperature: agent.temperature,
            max_output_tokens: agent.max_output_tokens,
            cache: PromptCache::On,
        }
    }

    /// Listens to the answer, and passes every piece on before it waits for the next.
    async fn stream(&mut self, request: ModelRequest) -> (FinalAnswer, Option<ModelError>) {
        let model = &self.input.model;
        let clock = self.input.clock.clone();
        let id = self.host.next_entry_id();
        let frame = empty_answer(&model.provider, &model.info.name, clock.unix_ms());
        let mut live = LiveAnswer::new(self.input.run_id.clone(), id.clone(), frame);
        let turn = self.input.cancel.child_token();
        let mut stream = model.client.stream(Arc::new(request), turn);
        let overdue = overdue(self.input.cancel.clone());
        let keep = tokio::time::sleep(KEEP_INTERVAL);
        tokio::pin!(overdue, keep);
        let (mut message, error) = loop {
            let event = tokio::select! {
                biased;
                () = &mut overdue => break unfinished(&live, ModelError::Cancelled),
                // Also during a pause: text that arrived before it must not wait for its end.
                () = &mut keep, if live.has_grown() => {
                    live.keep(self.host);
                    continue;
                }
                event = stream.next() => event,
            };
            match event {
                Some(ModelEvent::Done(message)) => break (message, None),
                Some(ModelEvent::Failed { error, partial }) => break (partial, Some(error)),
                Some(event) => {
                    let had_grown = live.has_grown();
                    live.show(event, self.host, clock.as_ref());
                    if !had_grown && live.has_grown() {
                        keep.as_mut().reset(Instant::now() + KEEP_INTERVAL);
                    }
                }
                None => break unfinished(&live, ModelError::StreamBroken(Detail::default())),
            }
        };
        message.netaclaw = live.so_far().mark(message.netaclaw.as_deref());
        let shown = live.has_started();
        (FinalAnswer { id, message, shown }, error)
    }

    /// A failed answer says what happened, where, and what to do about it.
    fn add_error_text(&mut self, message: &mut AssistantMessage, error: &ModelError) {
        if !message.provider.is_empty() {
            self.asked = (message.provider.clone(), message.model.clone());
        }
        if *error == ModelError::Cancelled {
            if self.host.is_shutting_down() {
                interrupted(message);
            }
            return;
        }
        let (channel, model) = &self.asked;
        let trouble = error.trouble(channel, model);
        message.error_message = Some(trouble.words.en.clone());
        message.trouble = Some(Box::new(trouble));
    }

    fn classify(&mut self, held: &FinalAnswer, error: Option<ModelError>) -> Answered {
        let message = &held.message;
        let Some(error) = error else {
            return self.classify_whole(held);
        };
        let answered = match &error {
            ModelError::Cancelled => Answered::Aborted,
            ModelError::ContextTooLong(_) => Answered::TooLong,
            ModelError::NoToolSupport(_) => Answered::NoToolSupport,
            ModelError::EmptyAnswer => Answered::Empty,
            _ => Answered::Failed,
        };
        tracing::debug!(error = %error, parts = message.content.len(), "the answer is incomplete");
        self.model_error = Some(error);
        answered
    }

    fn classify_whole(&mut self, held: &FinalAnswer) -> Answered {
        let message = &held.message;
        let cut = message.stop_reason == StopReason::Length;
        let calls: Vec<OpenCall> = message.content.iter().filter_map(OpenCall::read).collect();
        if !calls.is_empty() {
            let facts = self.open_calls(held.id.clone(), calls, cut);
            return Answered::Calls(facts);
        }
        let says_something = message
            .content
            .iter()
            .any(|block| matches!(block, ContentBlock::Text { text } if !text.trim().is_empty()));
        match says_something || cut {
            true => Answered::Words { cut },
            false => Answered::Empty,
        }
    }

    fn report_unreadable(&mut self, count: usize) {
        if count == 0 || std::mem::replace(&mut self.unreadable_told, true) {
            return;
        }
        let unreadable = RunTrouble::MessagesNotReadable { count };
        self.host.emit(RunEvent::Warning(unreadable.into()));
    }
}

/// Ready when a stop has been ignored for too long.
async fn overdue(cancel: CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(STREAM_GRACE).await;
}

/// The partial answer of a stream that ended without a final event.
fn unfinished(live: &LiveAnswer, error: ModelError) -> (AssistantMessage, Option<ModelError>) {
    let message = AssistantMessage {
        stop_reason: match error {
            ModelError::Cancelled => StopReason::Aborted,
            _ => StopReason::Error,
        },
        error_message: Some(error.to_string()),
        ..live.so_far().to_message()
    };
    (message, Some(error))
}
