//! Why a request to the admin store was not carried out, by what the caller does next.

use crate::resolve::ModelChoiceError;
use netaclaw_protocol::RecordKind;
use std::fmt;
use thiserror::Error;

pub type Result<T, E = AdminError> = std::result::Result<T, E>;

/// A request that was not carried out. Nothing was written.
#[derive(Debug, Error)]
pub enum AdminError {
    /// Ask for another name.
    #[error("there is no {kind} {name:?}{}", did_you_mean(.nearest))]
    NotFound {
        kind: RecordKind,
        name: String,
        nearest: Option<String>,
    },
    /// Read it again, and repeat the change on what is there now.
    #[error("{kind} {name:?} was changed elsewhere: it is at revision {current}, not {expected}")]
    Conflict {
        kind: RecordKind,
        name: String,
        expected: u64,
        current: u64,
    },
    /// Choose another name.
    #[error("the name {name:?} is already used by another {kind}")]
    Taken { kind: RecordKind, name: String },
    /// Change what uses it first.
    #[error("{kind} {name:?} is used by {}", listed(.by))]
    InUse {
        kind: RecordKind,
        name: String,
        by: Vec<UsedBy>,
    },
    /// Correct the field.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Choose another model or channel.
    #[error(transparent)]
    Model(#[from] ModelChoiceError),
    /// Put the right secret key back, or give the channel its API key again.
    #[error(
        "the API key of channel {channel:?} cannot be decrypted: it was stored with another \
         secret key, or modified since; restore the secret key it was stored with, or set the API \
         key again"
    )]
    Sealed { channel: String },
    /// The same for an MCP server.
    #[error(
        "the secrets of MCP server {server:?} cannot be decrypted: they were stored with another \
         secret key, or modified since; restore the secret key they were stored with, or set the \
         secrets again"
    )]
    McpSealed { server: String },
    /// The store itself failed; the message is fit for an operator, not for a client.
    #[error("{what}: {source}")]
    Store {
        what: String,
        #[source]
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
}

/// What a record cannot be taken away from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsedBy {
    Agent { name: String },
    DictEntry { group: String, name: String },
}

impl fmt::Display for UsedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent { name } => write!(f, "agent {name:?}"),
            Self::DictEntry { group, name } => write!(f, "the dictionary entry {group}.{name}"),
        }
    }
}

fn listed(by: &[UsedBy]) -> String {
    by.iter()
        .map(UsedBy::to_string)
        .collect::<Vec<_>>()
        .join(", ")
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

/// What is wrong with a value. Typed, so that it can be said in any language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    Empty,
    TooLong {
        chars_max: usize,
    },
    TooShort {
        chars_min: usize,
    },
    /// Names are letters, digits, and `.`, `_`, `-` or a space between them.
    NotAName,
    OutOfRange {
        min: i64,
        max: i64,
    },
    /// The same thing twice in a list.
    Twice(String),
    /// A tool that is both switched on and off.
    OnAndOff(String),
    NoSuchChannel(String),
    NoSuchUser(String),
    NoSuchAgent(String),
    NotAnAddress,
    /// An address must not contain a user and password: it is shown to users.
    SecretInAddress,
    /// The supplier has no address of its own.
    AddressNeeded,
    NotAbsolute,
    /// A line of an agent's allowed hosts that names none.
    NotAHost(String),
    /// Keys and the sessions of all users are kept in the data directory.
    AtDataDirectory,
    NoSuchField {
        nearest: Option<String>,
    },
    /// The error text of the parser.
    Unreadable(String),
    /// The default agent stays the default until another one is.
    DefaultNeeded,
    /// At least one administrator must remain.
    LastAdmin,
    InThePast,
    /// Environment and headers: letters, digits, `_` and `-`, and nothing that steers how programs
    /// are loaded.
    NotAVariable,
    NotOneLine,
    /// A secret that was to stay as it is, and is not there.
    NothingToKeep,
    /// The maximum number is reached.
    TooMany {
        max: usize,
    },
    /// Too many wait for the user already.
    TooManyPending {
        max: usize,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("must not be empty"),
            Self::TooLong { chars_max } => {
                write!(f, "must not be longer than {chars_max} characters")
            }
            Self::TooShort { chars_min } => write!(f, "must have at least {chars_min} characters"),
            Self::NotAName => f.write_str(
                "must start and end with a letter or digit, with only letters, digits, spaces, \
                 '.', '_' and '-' in between",
            ),
            Self::OutOfRange { min, max } => write!(f, "must be from {min} to {max}"),
            Self::Twice(value) => write!(f, "contains {value:?} twice"),
            Self::OnAndOff(tool) => write!(f, "{tool:?} is both enabled and disabled"),
            Self::NoSuchChannel(id) => write!(f, "there is no channel {id:?}"),
            Self::NoSuchUser(id) => write!(f, "there is no user {id:?}"),
            Self::NoSuchAgent(id) => write!(f, "there is no agent {id:?}"),
            Self::NotAnAddress => f.write_str(
                "must be an address that starts with http:// or \
                                               https://",
            ),
            Self::SecretInAddress => {
                f.write_str("must not contain a user or password; use the API key instead")
            }
            Self::AddressNeeded => f.write_str("this supplier has no default address; specify one"),
            Self::NotAbsolute => f.write_str("must be an absolute path"),
            Self::NotAHost(rule) => write!(
                f,
                "{rule:?} is not a host; use the form example.com, *.example.com or \
                 http://example.com:8080"
            ),
            Self::AtDataDirectory => f.write_str(
                "must not contain the data directory of the server or be inside it, because keys \
                 and the sessions of all users are stored there; choose another directory",
            ),
            Self::NoSuchField { nearest } => {
                write!(f, "there is no such field{}", did_you_mean(nearest))
            }
            Self::Unreadable(error) => f.write_str(error),
            Self::DefaultNeeded => {
                f.write_str("one agent must be the default; make another agent the default instead")
            }
            Self::LastAdmin => f.write_str("at least one administrator must remain"),
            Self::InThePast => f.write_str("must be in the future"),
            Self::NotAVariable => f.write_str(
                "must consist of letters, digits, '_' and '-', and must not start with LD_, DYLD_ \
                 or NETACLAW_",
            ),
            Self::NotOneLine => f.write_str("must be a single line"),
            Self::NothingToKeep => f.write_str("has no value yet; enter one"),
            Self::TooManyPending { max } => write!(
                f,
                "{max} facts already wait for the user's confirmation; confirm or discard some \
                 first"
            ),
            Self::TooMany { max } => write!(f, "there are already {max}; delete some first"),
        }
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}
