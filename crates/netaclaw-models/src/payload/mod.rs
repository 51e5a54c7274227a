//! From a session's context to something that a model's API accepts.
//!
//! Sessions hold everything that happened: answers that failed, calls without a result, results
//! whose call was compacted away, thinking of another model. APIs reject a request for any of
//! these. [`read_context`] turns stored messages into plain ones, and [`turns`] makes them legal.
//! What it returns cannot be illegal: a call and its result are one value.
//!
//! Pure: no clock, no IO, and the same input gives the same bytes, on which prompt caches rely.

mod context;
mod ids;
mod turns;

pub use context::{ContextPayload, read_context};
pub use turns::turns;
pub(crate) use turns::unseen_images;

use crate::catalogue::ApiFamily;
use serde_json::Value;
use std::borrow::Cow;

/// The receiver of the turns.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    pub api: ApiFamily,
    pub provider: &'a str,
    pub model: &'a str,
    /// Whether the model reads images; if not, a text mentions each image.
    pub vision: bool,
    /// Whether the request offers tools.
    pub tools: bool,
}

/// The conversation as a model sees it. The first turn is the user's, two of the same kind never
/// follow each other, and the last one waits for an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn<'a> {
    /// Never empty.
    User(Vec<UserPart<'a>>),
    Exchange(Exchange<'a>),
}

/// An answer, and the results of the tools it called.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange<'a> {
    /// Never empty.
    pub answer: Vec<AnswerPart<'a>>,
    /// One for each call of the answer, in the order of the calls.
    pub results: Vec<CallResult<'a>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum UserPart<'a> {
    /// Never blank.
    Text(Cow<'a, str>),
    Image {
        data: &'a str,
        mime_type: &'a str,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum AnswerPart<'a> {
    /// Never blank.
    Text(Cow<'a, str>),
    /// Thinking of the very model the turns are made for.
    Thinking {
        text: &'a str,
        signature: &'a str,
        redacted: bool,
    },
    Call {
        /// Unique among all calls of the turns, and of a form the API accepts.
        id: String,
        name: Cow<'a, str>,
        /// Always an object.
        arguments: Cow<'a, Value>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct CallResult<'a> {
    pub id: String,
    pub name: Cow<'a, str>,
    /// Never empty.
    pub parts: Vec<UserPart<'a>>,
    pub is_error: bool,
}

#[cfg(test)]
mod tests;
