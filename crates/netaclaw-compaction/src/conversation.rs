//! The context as the input of planning.

use netaclaw_models::payload::read_context;
use netaclaw_models::tokens::estimate_message;
use netaclaw_protocol::{CompactionDetails, EntryId, Message, StopReason};
use netaclaw_session::{ContextMessage, Role, SessionContext};

/// What may be compacted, in order, and the summary before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    pub pieces: Vec<ConversationMessage>,
    pub previous: Option<Previous>,
    /// Pieces from here on came after the last compaction or edit: the context size in earlier
    /// answers is obsolete.
    pub(crate) fresh_from: usize,
}

/// One message and the entry it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationMessage {
    pub entry_id: EntryId,
    pub voice: MessageAuthor,
    pub message: Message,
    /// Its estimated size in a request. 0 if it is not sent.
    pub tokens: u64,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageAuthor {
    User,
    /// A message for the model that is not the user's: a command the user ran, a branch, an
    /// extension.
    Told,
    Answer,
    /// An answer that failed or was stopped: users see it, models do not.
    DeadAnswer,
    Result,
}

impl MessageAuthor {
    /// Whether a turn begins here, in the sense in which Pi splits turns.
    pub(crate) fn begins_turn(self) -> bool {
        matches!(self, Self::User | Self::Told)
    }
}

/// The compaction that the context begins with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Previous {
    pub summary: String,
    /// Empty if another program wrote it.
    pub details: CompactionDetails,
    /// Its estimated size in a request.
    pub tokens: u64,
}

impl Conversation {
    pub fn read(context: &SessionContext<'_>) -> Self {
        let mut conversation = Self::default();
        for (at, message) in context.messages.iter().enumerate() {
            if at <= context.fresh_from {
                conversation.fresh_from = conversation.pieces.len();
            }
            if let ContextMessage::CompactionSummary(entry) = message {
                conversation.previous = Some(Previous {
                    summary: entry.text_field("summary").unwrap_or_default().into_owned(),
                    details: entry
                        .field("details")
                        .and_then(|json| serde_json::from_str(json).ok())
                        .unwrap_or_default(),
                    tokens: message_tokens(message),
                });
                continue;
            }
            conversation.pieces.extend(read_piece(message));
        }
        if context.fresh_from >= context.messages.len() {
            conversation.fresh_from = conversation.pieces.len();
        }
        conversation
    }

    /// By estimate, without what comes on top of the messages.
    pub fn tokens(&self) -> u64 {
        let previous = self.previous.as_ref().map_or(0, |previous| previous.tokens);
        let pieces: u64 = self.pieces.iter().map(|piece| piece.tokens).sum();
        previous + pieces
    }
}

/// One message of a context as a model gets it, unless it is none.
pub(crate) fn read_message(message: &ContextMessage<'_>) -> Option<Message> {
    let json = message.json();
    let mut payload = read_context([json.as_ref()]);
    payload.messages.pop()
}

fn message_tokens(message: &ContextMessage<'_>) -> u64 {
    read_message(message).map_or(0, |message| sent_tokens(&message))
}

/// The size of a message in a request: failed answers are left out of it.
pub(crate) fn sent_tokens(message: &Message) -> u64 {
    match message {
        Message::Assistant(answer) if is_dead(answer.stop_reason) => 0,
        message => estimate_message(message),
    }
}

fn read_piece(source: &ContextMessage<'_>) -> Option<ConversationMessage> {
    let message = read_message(source)?;
    let voice = match &message {
        Message::User(_) if source.source().role() == Role::User => MessageAuthor::User,
        Message::User(_) => MessageAuthor::Told,
        Message::Assistant(answer) if is_dead(answer.stop_reason) => MessageAuthor::DeadAnswer,
        Message::Assistant(_) => MessageAuthor::Answer,
        Message::ToolResult(_) => MessageAuthor::Result,
    };
    Some(ConversationMessage {
        entry_id: source.source().id().clone(),
        voice,
        tokens: sent_tokens(&message),
        message,
    })
}

fn is_dead(stop_reason: StopReason) -> bool {
    matches!(stop_reason, StopReason::Error | StopReason::Aborted)
}
