//! Conversations for tests.

use crate::conversation::{Conversation, ConversationMessage, MessageAuthor};
use netaclaw_models::tokens::estimate_message;
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, EntryId, Message, StopReason, ToolResultMessage, Usage,
    UserContent, UserMessage,
};
use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct TestConversation {
    pub(crate) conversation: Conversation,
}

impl TestConversation {
    pub(crate) fn user(mut self, text: &str) -> Self {
        let content = UserContent::Text(text.to_owned());
        let message = Message::User(UserMessage {
            content,
            timestamp: 0,
        });
        self.push(MessageAuthor::User, message);
        self
    }

    pub(crate) fn says(self, text: &str) -> Self {
        let text = ContentBlock::Text {
            text: text.to_owned(),
        };
        self.answer(vec![text], StopReason::Stop)
    }

    /// An answer with calls, by id, name and arguments.
    pub(crate) fn calls(self, calls: &[(&str, &str, Value)]) -> Self {
        let calls = calls
            .iter()
            .map(|(id, name, arguments)| ContentBlock::ToolCall {
                id: (*id).to_owned(),
                name: (*name).to_owned(),
                arguments: arguments.clone(),
            });
        self.answer(calls.collect(), StopReason::ToolUse)
    }

    pub(crate) fn result(mut self, id: &str, name: &str, text: &str) -> Self {
        let text = text.to_owned();
        let message = Message::ToolResult(ToolResultMessage {
            tool_call_id: id.to_owned(),
            tool_name: name.to_owned(),
            content: vec![ContentBlock::Text { text }],
            details: None,
            is_error: false,
            timestamp: 0,
        });
        self.push(MessageAuthor::Result, message);
        self
    }

    /// A round: a call and its result.
    pub(crate) fn round(self, n: usize, text: &str) -> Self {
        let id = format!("c{n}");
        let path = json!({"path": format!("src/f{n}.rs")});
        self.calls(&[(&id, "read", path)]).result(&id, "read", text)
    }

    pub(crate) fn answer(mut self, content: Vec<ContentBlock>, stop_reason: StopReason) -> Self {
        let voice = match stop_reason {
            StopReason::Error | StopReason::Aborted => MessageAuthor::DeadAnswer,
            _ => MessageAuthor::Answer,
        };
        let message = Message::Assistant(AssistantMessage {
            content,
            api: String::new(),
            provider: String::new(),
            model: String::new(),
            usage: Usage::default(),
            stop_reason,
            error_message: None,
            trouble: None,
            netaclaw: None,
            timestamp: 0,
        });
        self.push(voice, message);
        self
    }

    fn push(&mut self, voice: MessageAuthor, message: Message) {
        let pieces = &mut self.conversation.pieces;
        let tokens = match voice {
            MessageAuthor::DeadAnswer => 0,
            _ => estimate_message(&message),
        };
        pieces.push(ConversationMessage {
            entry_id: EntryId::new(format!("e{}", pieces.len())),
            voice,
            message,
            tokens,
        });
    }
}
