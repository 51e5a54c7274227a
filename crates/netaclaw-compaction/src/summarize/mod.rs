//! Requests the summary from a model and validates it.

use crate::check::{ceiling, summary_of, trimmed};
use crate::conversation::Conversation;
use crate::failure::CompactionFailure;
use crate::plan::Plan;
use crate::prompt::Script;
use netaclaw_models::tokens::estimate_text;
use netaclaw_models::{ModelClient, ModelError, ModelRequest, PromptCache, SystemPrompt, complete};
use netaclaw_protocol::{
    AssistantMessage, CompactionProgress, Message, ThinkingLevel, Usage, UserContent, UserMessage,
};
use netaclaw_redact::redact;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// For one request. Long answers of slow models take minutes, but every request ends.
const WAIT_MAX: Duration = Duration::from_secs(180);
const TEMPERATURE: f64 = 0.3;
/// How often one request is made if its answer is not a summary.
const ATTEMPTS: u32 = 2;

/// Who writes summaries.
#[derive(Clone)]
pub struct SummaryModel {
    pub client: Arc<dyn ModelClient>,
    /// The name for users.
    pub channel: String,
    pub model: String,
    pub window: u64,
    pub max_output: u64,
}

/// Receives the progress, and may cancel.
#[derive(Clone, Copy)]
pub struct Watcher<'a> {
    pub tell: &'a (dyn Fn(CompactionProgress) + Send + Sync),
    pub cancel: &'a CancellationToken,
}

/// What a model wrote, and what it cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub text: String,
    pub usage: Usage,
    pub requests: u32,
}

/// Summarizes the compacted part of a conversation. A failure changes nothing.
///
/// A model that reports a context that is too long has a smaller window than its channel says, and
/// gets one more request in parts of half the size.
pub async fn summarize(
    conversation: &Conversation,
    plan: &Plan,
    model: &SummaryModel,
    watcher: Watcher<'_>,
) -> Result<Summary, CompactionFailure> {
    let mut done = Summary::default();
    let written = write_all(conversation, plan, model, watcher, &mut done).await;
    let text = match written {
        Err(CompactionFailure::Model {
            error: ModelError::ContextTooLong(_),
            ..
        }) => {
            let narrow = SummaryModel {
                window: model.window.min(plan.tokens.before) / 2,
                ..model.clone()
            };
            write_all(conversation, plan, &narrow, watcher, &mut done).await?
        }
        written => written?,
    };
    Ok(Summary { text, ..done })
}

async fn write_all(
    conversation: &Conversation,
    plan: &Plan,
    model: &SummaryModel,
    watcher: Watcher<'_>,
    done: &mut Summary,
) -> Result<String, CompactionFailure> {
    let script = Script::write(conversation, plan, model)?;
    let mut writer = Writer {
        model,
        script: &script,
        watcher,
        done,
    };
    let folded: u64 = conversation.pieces[..plan.cut]
        .iter()
        .map(|piece| piece.tokens)
        .sum();
    let mut so_far = script.previous.clone();
    let parts = script.parts.len();
    for part in 0..parts {
        (watcher.tell)(CompactionProgress::Summarizing {
            part: part as u32 + 1,
            parts: parts as u32,
        });
        let before = so_far.as_deref().map_or(0, estimate_text);
        let replaces = match parts {
            1 => before + folded,
            _ => before + estimate_text(&script.parts[part]),
        };
        let ask = script.ask(part, so_far.as_deref());
        so_far = Some(writer.write(ask, replaces).await?);
    }
    let summary = so_far.filter(|_| !script.parts.is_empty());
    let summary = summary.ok_or(CompactionFailure::NothingToCompress)?;
    writer.bounded(summary).await
}

/// How many requests a summary would take.
pub fn requests_for(
    conversation: &Conversation,
    plan: &Plan,
    model: &SummaryModel,
) -> Result<usize, CompactionFailure> {
    Ok(Script::write(conversation, plan, model)?.parts.len())
}

struct Writer<'a> {
    model: &'a SummaryModel,
    script: &'a Script,
    watcher: Watcher<'a>,
    done: &'a mut Summary,
}

impl Writer<'_> {
    /// One part of the work, twice if the first answer is not a summary.
    async fn write(&mut self, ask: String, replaces: u64) -> Result<String, CompactionFailure> {
        let mut attempt = 1;
        loop {
            let answer = self.request(ask.clone()).await?;
            let flaw = match summary_of(&answer, replaces) {
                Ok(text) => return Ok(redact(&text).into_owned()),
                Err(flaw) => flaw,
            };
            tracing::info!(model = %self.model.model, %flaw, attempt, "a summary was rejected");
            if attempt == ATTEMPTS {
                return Err(CompactionFailure::BadSummary {
                    model: self.model.model.clone(),
                    flaw,
                });
            }
            attempt += 1;
        }
    }

    /// A summary that is far too long is asked for once more, and then cut.
    async fn bounded(&mut self, summary: String) -> Result<String, CompactionFailure> {
        let tokens_max = ceiling(self.script.summary_tokens);
        if estimate_text(&summary) <= tokens_max {
            return Ok(summary);
        }
        (self.watcher.tell)(CompactionProgress::Shortening);
        let ask = self.script.ask_shorter(&summary);
        let answer = match self.request(ask).await {
            Ok(answer) => Some(answer),
            Err(CompactionFailure::Cancelled) => return Err(CompactionFailure::Cancelled),
            // There is a summary, if a long one.
            Err(_) => None,
        };
        let shorter = answer.and_then(|answer| summary_of(&answer, estimate_text(&summary)).ok());
        let text = shorter.map_or(summary, |text| redact(&text).into_owned());
        Ok(match estimate_text(&text) <= tokens_max {
            true => text,
            false => trimmed(&text, tokens_max),
        })
    }

    async fn request(&mut self, ask: String) -> Result<AssistantMessage, CompactionFailure> {
        let request = ModelRequest {
            model: self.model.model.clone(),
            system: SystemPrompt::stable(self.script.system.clone()),
            messages: vec![Message::User(UserMessage {
                content: UserContent::Text(ask),
                timestamp: 0,
            })],
            tools: Vec::new(),
            thinking: ThinkingLevel::Off,
            temperature: Some(TEMPERATURE),
            max_output_tokens: Some(self.script.output_tokens().min(self.model.max_output)),
            cache: PromptCache::Off,
        };
        let cancel = self.watcher.cancel;
        if cancel.is_cancelled() {
            return Err(CompactionFailure::Cancelled);
        }
        let stream = self
            .model
            .client
            .stream(Arc::new(request), cancel.child_token());
        self.done.requests += 1;
        let answered = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(CompactionFailure::Cancelled),
            answered = tokio::time::timeout(WAIT_MAX, complete(stream)) => answered,
        };
        match answered {
            Ok(Ok(answer)) => {
                self.count(&answer.usage);
                Ok(answer)
            }
            Ok(Err(failed)) if failed.error == ModelError::Cancelled => {
                Err(CompactionFailure::Cancelled)
            }
            // Nothing but thinking, or nothing at all, came back.
            Ok(Err(failed)) if failed.error == ModelError::EmptyAnswer => Ok(*failed.partial),
            Ok(Err(failed)) => Err(CompactionFailure::Model {
                channel: self.model.channel.clone(),
                model: self.model.model.clone(),
                error: failed.error,
            }),
            Err(_) => Err(CompactionFailure::TimedOut {
                model: self.model.model.clone(),
            }),
        }
    }

    fn count(&mut self, usage: &Usage) {
        self.done.usage += usage;
    }
}

#[cfg(test)]
mod tests;
