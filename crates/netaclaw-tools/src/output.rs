//! The result of a call.

use crate::process::ProcessEnd;
use netaclaw_protocol::ContentBlock;
use serde_json::Value;

/// The result of a call. A failure is a result too: the model reads it and may do better.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// Text and pictures, for the model.
    pub content: Vec<ContentBlock>,
    /// For users only.
    pub details: Option<Value>,
    pub is_error: bool,
    /// How its steps end, where that says more than whether it failed.
    pub process_end: Option<ProcessEnd>,
}

impl ToolOutput {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::Text { text: text.into() }],
            details: None,
            is_error: false,
            process_end: None,
        }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The texts of the content, each on lines of its own.
    pub fn joined_text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}
