//! A request to a model.

use netaclaw_protocol::{Message, SharedSchema, SharedText, ThinkingLevel};
use serde::Serialize;

/// One request for one answer. Clients take it shared, so that a retry or a fallback copies
/// nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    /// The model's name at its supplier.
    pub model: String,
    pub system: SystemPrompt,
    /// The conversation in order. It need not be legal for the model's API: every client makes it
    /// so with [`crate::payload::turns`].
    pub messages: Vec<Message>,
    pub tools: Vec<ToolDefinition>,
    pub thinking: ThinkingLevel,
    pub temperature: Option<f64>,
    /// `None` leaves the limit to the model.
    pub max_output_tokens: Option<u64>,
    pub cache: PromptCache,
}

impl ModelRequest {
    /// Writes a body that is about as long as the instructions and tools, which are most of a short
    /// conversation, without growing step by step.
    pub(crate) fn write(&self, body: &impl Serialize) -> Vec<u8> {
        let system = self.system.stable.len() + self.system.volatile.len();
        let tools = self
            .tools
            .iter()
            .map(|tool| tool.name.len() + tool.description.len() + tool.schema.text().get().len());
        let about = (system + tools.sum::<usize>()) * 5 / 4 + 4096;
        let mut written = Vec::with_capacity(about);
        serde_json::to_writer(&mut written, body).expect("plain data with text keys");
        written
    }
}

/// The instructions, split by how often they change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    /// The same bytes in every request of a session, so that a supplier can cache them.
    pub stable: SharedText,
    /// May differ from request to request; comes after the stable part and is not cached.
    pub volatile: String,
}

impl SystemPrompt {
    pub fn stable(text: impl Into<SharedText>) -> Self {
        Self {
            stable: text.into(),
            volatile: String::new(),
        }
    }

    /// The parts that say something, in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        [&*self.stable, self.volatile.as_str()]
            .into_iter()
            .filter(|part| !part.trim().is_empty())
    }
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    pub name: String,
    pub description: SharedText,
    /// JSON Schema of the arguments; its type is `object`.
    pub schema: SharedSchema,
}

/// Whether the supplier is asked to keep the beginning of the request for the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptCache {
    #[default]
    On,
    /// For requests without a successor, such as a summary.
    Off,
}
