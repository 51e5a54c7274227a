//! Why a request to the admin store was not carried out, by what the caller does next.

use netaclaw_protocol::{
    BadRequest, Conflict, ModelChoiceError, NotFound, NotReady, Reason, RecordKind,
};
pub use netaclaw_protocol::{FieldProblem as Problem, UsedBy};
use std::fmt;
use thiserror::Error;

pub type Result<T, E = AdminError> = std::result::Result<T, E>;

/// A request that was not carried out. Nothing was written.
#[derive(Debug)]
pub enum AdminError {
    /// Ask for another name.
    NotFound {
        kind: RecordKind,
        name: String,
        nearest: Option<String>,
    },
    /// Read it again, and repeat the change on what is there now.
    Conflict {
        kind: RecordKind,
        name: String,
        expected: u64,
        current: u64,
    },
    /// Choose another name.
    Taken { kind: RecordKind, name: String },
    /// Change what uses it first.
    InUse {
        kind: RecordKind,
        name: String,
        by: Vec<UsedBy>,
    },
    /// Correct the field.
    Invalid(Invalid),
    /// Choose another model or channel.
    Model(ModelChoiceError),
    /// Put the right secret key back, or give the channel its API key again.
    Sealed { channel: String },
    /// The same for an MCP server.
    McpSealed { server: String },
    /// The store itself failed; the message is fit for an operator, not for a client.
    Store {
        what: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl AdminError {
    pub fn store(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Store {
            what: what.into(),
            source: source.into(),
        }
    }

    /// What a client may know; `None` if the store failed.
    pub fn reason(&self) -> Option<Reason> {
        Some(match self {
            Self::NotFound {
                kind,
                name,
                nearest,
            } => NotFound::NoRecord {
                kind: *kind,
                name: name.clone(),
                nearest: nearest.clone(),
            }
            .into(),
            Self::Conflict {
                kind,
                name,
                expected,
                current,
            } => Conflict::RecordChanged {
                kind: *kind,
                name: name.clone(),
                expected: *expected,
                current: *current,
            }
            .into(),
            Self::Taken { kind, name } => Conflict::NameTaken {
                kind: *kind,
                name: name.clone(),
            }
            .into(),
            Self::InUse { kind, name, by } => Conflict::RecordInUse {
                kind: *kind,
                name: name.clone(),
                by: by.clone(),
            }
            .into(),
            Self::Invalid(invalid) => BadRequest::from(invalid.clone()).into(),
            Self::Model(error) => Reason::WrongModel(error.clone()),
            Self::Sealed { channel } => NotReady::ChannelSealed {
                channel: channel.clone(),
            }
            .into(),
            Self::McpSealed { server } => NotReady::McpSealed {
                server: server.clone(),
            }
            .into(),
            Self::Store { .. } => return None,
        })
    }
}

impl fmt::Display for AdminError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store { what, source } => write!(f, "{what}: {source}"),
            refused => refused.reason().iter().try_for_each(|reason| reason.fmt(f)),
        }
    }
}

impl std::error::Error for AdminError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

impl From<Invalid> for AdminError {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

impl From<ModelChoiceError> for AdminError {
    fn from(error: ModelChoiceError) -> Self {
        Self::Model(error)
    }
}

/// A field that cannot have the value it was given.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {problem}")]
pub struct Invalid {
    /// As it is called on the wire, such as `modelConfig.temperature`.
    pub field: String,
    pub problem: Problem,
}

impl Invalid {
    pub fn new(field: impl Into<String>, problem: Problem) -> Self {
        Self {
            field: field.into(),
            problem,
        }
    }
}

impl From<Invalid> for BadRequest {
    fn from(Invalid { field, problem }: Invalid) -> Self {
        Self::FieldNotValid { field, problem }
    }
}
