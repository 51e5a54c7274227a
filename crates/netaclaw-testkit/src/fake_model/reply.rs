//! What the fake answers to one request.

use super::hold::Hold;
use std::time::Duration;

/// One answer: its parts, and every fault in the way it arrives.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    pub parts: Vec<Part>,
    /// `None` counts characters.
    pub usage: Option<TokenCounts>,
    /// The reason given for the end, in the words of the API; `None` is the fitting one.
    pub stop: Option<String>,
    pub fault: Option<Fault>,
    pub chunking: Chunking,
    pub call_shape: CallShape,
    /// The member with the thinking, for chat completions.
    pub reasoning_field: Option<String>,
    /// Pieces of text in a second; `None` is as fast as it goes.
    pub pace: Option<f64>,
    /// Where the answer waits for the test, by the number of events before.
    pub holds: Vec<(usize, Hold)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Thinking(String),
    RedactedThinking(String),
    ToolCall {
        id: String,
        name: String,
        /// JSON text, sent as it is.
        arguments: String,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounts {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// The fault. Numbers count the events of the stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A status with the body the real server sends with it.
    Status {
        status: u16,
        retry_after: Option<String>,
    },
    /// A status with a body of the test's own.
    Body {
        status: u16,
        content_type: &'static str,
        body: String,
    },
    /// The connection breaks after this many events.
    CutAfter(usize),
    /// The connection breaks after the last piece of the answer, before the final event.
    CutBeforeEnd,
    /// The body ends cleanly after this many events.
    EndAfter(usize),
    /// Not even a head.
    HangBeforeHead,
    /// A head, and then nothing after this many events.
    HangAfter(usize),
    /// Nothing comes after the last piece of the answer.
    HangBeforeEnd,
    SlowFirstByte(Duration),
    /// An event that is not JSON, after this many valid ones.
    GarbageAfter(usize),
    /// An error inside the stream, after this many events.
    ErrorAfter(usize),
    /// A proper answer without a word in it.
    Empty,
}

/// How the bytes of the stream are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chunking {
    /// One write for each event.
    #[default]
    Events,
    /// Writes of this many bytes, across characters and line ends, with carriage returns and
    /// comments between the events.
    Hostile(usize),
}

/// How tool calls are streamed by chat completions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallShape {
    /// As documented: id and name first, then fragments by index.
    #[default]
    Documented,
    /// All calls at once, their fragments mixed and known by index only.
    Interleaved,
    /// Every call whole in one event, with no index at all.
    WithoutIndex,
    /// Every call has the index 0.
    SameIndex,
    /// The name comes after the arguments.
    NameLast,
}

impl Reply {
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().and(Part::Text(text.into()))
    }

    pub fn tool_call(id: &str, name: &str, arguments: &str) -> Self {
        Self::default().and_tool_call(id, name, arguments)
    }

    /// So many pieces of text, for measurements.
    pub fn tokens(count: usize) -> Self {
        Self::text("word ".repeat(count))
    }

    pub fn failing(fault: Fault) -> Self {
        Self::text("This is what would have been said.").with_fault(fault)
    }

    pub fn status(status: u16) -> Self {
        Self::failing(Fault::Status {
            status,
            retry_after: None,
        })
    }

    pub fn and(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    pub fn and_text(self, text: &str) -> Self {
        self.and(Part::Text(text.into()))
    }

    pub fn and_thinking(self, text: &str) -> Self {
        self.and(Part::Thinking(text.into()))
    }

    pub fn and_tool_call(self, id: &str, name: &str, arguments: &str) -> Self {
        self.and(Part::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        })
    }

    pub fn with_usage(self, usage: TokenCounts) -> Self {
        Self {
            usage: Some(usage),
            ..self
        }
    }

    pub fn with_fault(self, fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..self
        }
    }

    pub fn with_chunking(self, chunking: Chunking) -> Self {
        Self { chunking, ..self }
    }

    pub fn with_call_shape(self, call_shape: CallShape) -> Self {
        Self { call_shape, ..self }
    }

    pub fn with_pace(self, tokens_per_second: f64) -> Self {
        Self {
            pace: Some(tokens_per_second),
            ..self
        }
    }

    /// Pauses the answer after this many events until the test releases it.
    pub fn holding_after(mut self, events: usize) -> (Self, Hold) {
        let hold = Hold::default();
        self.holds.push((events, hold.clone()));
        (self, hold)
    }

    /// The parts that are sent; an empty answer sends none.
    pub(crate) fn said(&self) -> &[Part] {
        match self.fault {
            Some(Fault::Empty) => &[],
            _ => &self.parts,
        }
    }

    pub(crate) fn has_calls(&self) -> bool {
        let is_call = |part: &Part| matches!(part, Part::ToolCall { .. });
        self.said().iter().any(is_call)
    }

    /// What is counted when the test does not say.
    pub(crate) fn counts(&self, prompt: u64) -> TokenCounts {
        self.usage.unwrap_or_else(|| TokenCounts {
            input: prompt,
            output: self.said().iter().map(Part::tokens).sum(),
            ..TokenCounts::default()
        })
    }
}

impl Part {
    fn tokens(&self) -> u64 {
        match self {
            Self::Text(text) | Self::Thinking(text) | Self::RedactedThinking(text) => {
                super::tokens_in(text)
            }
            Self::ToolCall { arguments, .. } => 4 + super::tokens_in(arguments),
        }
    }
}

/// A text in the pieces it is streamed in: words, or a few characters where there are none.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut chars = 0;
        let end = rest.char_indices().find_map(|(at, c)| {
            chars += 1;
            (c == ' ' || chars == 8).then_some(at + c.len_utf8())
        });
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
