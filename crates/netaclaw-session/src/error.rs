//! What can go wrong, by who has to do something about it.

use netaclaw_protocol::{EntryId, SessionId};
use thiserror::Error;

/// A walk through the tree that could not be finished.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PathError {
    #[error("this session has no entry {0}")]
    MissingLeaf(EntryId),
    #[error("the parent of entry {entry}, {parent}, is not in this session")]
    MissingParent { entry: EntryId, parent: EntryId },
    #[error("the parents of entry {0} form a cycle")]
    Cycle(EntryId),
}

/// A text that is not a session.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LogError {
    #[error("the file is empty")]
    Empty,
    #[error(
        "the first readable line is not a session header ({readable} readable and {unreadable} \
         unreadable lines, all left unchanged)"
    )]
    NoHeader { readable: u32, unreadable: u32 },
}

/// A request to a session provider that was not carried out. Nothing was written.
#[derive(Debug, Error)]
pub enum SessionError {
    #[error("session {0} does not exist")]
    NotFound(SessionId),
    #[error("session {session} has no entry {entry}")]
    EntryNotFound { session: SessionId, entry: EntryId },
    #[error("session {session} already has an entry {entry}")]
    DuplicateEntry { session: SessionId, entry: EntryId },
    #[error("session {0} already exists")]
    AlreadyExists(SessionId),
    #[error(
        "session {session} has changed: its leaf is {}, not {}",
        shown(.actual), shown(.expected)
    )]
    LeafConflict {
        session: SessionId,
        expected: Option<EntryId>,
        actual: Option<EntryId>,
    },
    #[error("another process is writing to session {session} ({owner})")]
    Busy { session: SessionId, owner: String },
    /// What this process has cached of the session must not be written.
    #[error("another process has taken over session {0}; open it again to load its current state")]
    Deposed(SessionId),
    #[error("session {0} already has a message with this request id; use a new one")]
    RepeatedRequest(SessionId),
    /// The session can be read, and is never written by this version.
    #[error(
        "session {session} was written by a newer version (format {found}; this program writes \
         {supported}); it can be read but not changed: update NetaClaw to change it"
    )]
    NewerFormat {
        session: SessionId,
        found: u32,
        supported: u32,
    },
    #[error("session {session} cannot be read: {reason}")]
    Unreadable { session: SessionId, reason: String },
    #[error("{0}")]
    Invalid(String),
    #[error("session {session}: {source}")]
    Path {
        session: SessionId,
        #[source]
        source: PathError,
    },
    /// The store itself failed; the message is fit for an operator, not for a client.
    #[error("{what}: {source}")]
    Store {
        what: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl SessionError {
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

fn shown(leaf: &Option<EntryId>) -> &str {
    leaf.as_ref().map_or("the root", EntryId::as_str)
}
