//! The ending of a run that wrote none itself: a path that records how far it came and why it
//! ended, and that any model accepts.

use crate::error::EngineError;
use crate::session::recover::close_calls;
use crate::session::writer::{SessionWriter, Writing};
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, LocalizedError, Message, RunTrouble, StopReason, Usage, now_ms,
};
use netaclaw_session::{Entry, EntryBody, NewEntry, Role, SessionTree};

/// How a run ended, as the last answer of its path records it.
#[derive(Clone, Debug)]
pub(crate) struct RunEnding {
    stop_reason: StopReason,
    /// Why; a stop by the user needs no reason.
    trouble: Option<LocalizedError>,
}

impl RunEnding {
    /// The server ended under the run.
    pub(crate) fn interrupted() -> Self {
        Self {
            stop_reason: StopReason::Aborted,
            trouble: Some(RunTrouble::Interrupted.into()),
        }
    }

    /// It could not continue.
    pub(crate) fn failed(trouble: LocalizedError) -> Self {
        Self {
            stop_reason: StopReason::Error,
            trouble: Some(trouble),
        }
    }

    /// A user stopped it. It may have been dropped, and then there is a reason.
    pub(crate) fn stopped(trouble: Option<LocalizedError>) -> Self {
        Self {
            stop_reason: StopReason::Aborted,
            trouble,
        }
    }

    fn error_message(&self) -> Option<String> {
        self.trouble
            .as_ref()
            .map(|trouble| trouble.words.en.clone())
    }

    /// Closes the path of a run that is over in this process: the streamed part of an answer stays,
    /// every call has a result, and the last answer contains the error that users saw.
    pub(crate) async fn close(
        &self,
        writer: &SessionWriter,
        writing: &mut Writing<'_>,
    ) -> Result<(), EngineError> {
        self.close_partial(writer, writing).await?;
        // The calls of an answer that failed were never made.
        if matches!(
            LastMessage::read(&*writer.tree().await?),
            LastMessage::Open(_)
        ) {
            close_calls(writer, writing).await?;
        }
        self.say(writer, writing).await
    }

    /// Appends it, unless the path has an ending that says the same.
    pub(crate) async fn say(
        &self,
        writer: &SessionWriter,
        writing: &mut Writing<'_>,
    ) -> Result<(), EngineError> {
        let tree = writer.tree().await?;
        let last = LastMessage::read(&tree);
        if self.is_recorded(&last) {
            return Ok(());
        }
        let message = Message::Assistant(self.answer(last));
        let new = NewEntry::at_leaf(EntryBody::message(&message));
        writing.append(new).await?;
        Ok(())
    }

    /// That a run was cut off needs no words where an answer has its end.
    fn is_recorded(&self, last: &LastMessage) -> bool {
        match last {
            LastMessage::Nothing => true,
            LastMessage::Open(_) => false,
            LastMessage::Ended(_) if self.stop_reason == StopReason::Aborted => true,
            LastMessage::Ended(answer) => {
                let said = answer.trouble.as_ref();
                let why = self.trouble.as_ref();
                said.map(|said| &said.words) == why.map(|why| &why.words)
            }
        }
    }

    /// An answer that will not be completed becomes one that failed.
    async fn close_partial(
        &self,
        writer: &SessionWriter,
        writing: &mut Writing<'_>,
    ) -> Result<(), EngineError> {
        let Some(partial) = writer.provider.in_flight_entry(&writer.id).await? else {
            return Ok(());
        };
        let json = partial.message_json();
        let message = json.and_then(|json| serde_json::from_str(json).ok());
        let Some(Message::Assistant(answer)) = message else {
            return Ok(());
        };
        let message = Message::Assistant(AssistantMessage {
            stop_reason: self.stop_reason,
            error_message: self.error_message(),
            trouble: self.trouble.clone().map(Box::new),
            ..answer
        });
        // Stored before, by an attempt with an unknown outcome, or by another process that closed
        // it: then it has its end.
        if writer.tree().await?.contains(partial.id()) {
            return Ok(());
        }
        let parent = partial.parent_id().cloned();
        let new = NewEntry::below(parent, EntryBody::message(&message));
        writing.append(new.with_id(partial.id().clone())).await?;
        Ok(())
    }

    /// An answer of nothing but this, by the model of the last answer.
    fn answer(&self, last: LastMessage) -> AssistantMessage {
        let by = match last {
            LastMessage::Ended(answer) | LastMessage::Open(Some(answer)) => Some(answer),
            LastMessage::Nothing | LastMessage::Open(None) => None,
        };
        let by = by.map(|answer| (answer.api, answer.provider, answer.model));
        let (api, provider, model) = by.unwrap_or_default();
        AssistantMessage {
            content: Vec::new(),
            api,
            provider,
            model,
            usage: Usage::default(),
            stop_reason: self.stop_reason,
            error_message: self.error_message(),
            trouble: self.trouble.clone().map(Box::new),
            netaclaw: None,
            timestamp: now_ms(),
        }
    }
}

/// The last message on the active path.
enum LastMessage {
    Nothing,
    /// A message, or an answer whose calls a run has to continue from.
    Open(Option<Box<AssistantMessage>>),
    Ended(Box<AssistantMessage>),
}

impl LastMessage {
    fn read(tree: &SessionTree) -> Self {
        let path = tree.active_path().unwrap_or_default();
        let said = |entry: &&&Entry| matches!(entry.role(), Role::User | Role::Assistant);
        let Some(last) = path.iter().rev().find(said) else {
            return Self::Nothing;
        };
        let json = last.message_json();
        let message = json.and_then(|json| serde_json::from_str(json).ok());
        let Some(Message::Assistant(answer)) = message else {
            return Self::Open(None);
        };
        let failed = matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted);
        let mut blocks = answer.content.iter();
        let calls = blocks.any(|block| matches!(block, ContentBlock::ToolCall { .. }));
        match calls && !failed {
            true => Self::Open(Some(Box::new(answer))),
            false => Self::Ended(Box::new(answer)),
        }
    }
}
