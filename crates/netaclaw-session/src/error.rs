//! Errors of sessions, by who has to act.

use netaclaw_protocol::{EntryId, SessionDamage, SessionId};
use std::fmt;
use thiserror::Error;

/// A walk through the tree that could not be finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathError {
    MissingLeaf(EntryId),
    MissingParent { entry: EntryId, parent: EntryId },
    Cycle(EntryId),
}

impl PathError {
    /// In the words of the catalog.
    pub fn damage(&self) -> SessionDamage {
        match self.clone() {
            Self::MissingLeaf(entry) => SessionDamage::MissingEntry { entry },
            Self::MissingParent { entry, parent } => SessionDamage::MissingParent { entry, parent },
            Self::Cycle(entry) => SessionDamage::Circle { entry },
        }
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.damage().fmt(f)
    }
}

impl std::error::Error for PathError {}

/// A text that is no session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogError {
    Empty,
    NoHeader { readable: u32, unreadable: u32 },
}

impl LogError {
    /// In the words of the catalog.
    pub fn damage(&self) -> SessionDamage {
        match *self {
            Self::Empty => SessionDamage::EmptyLog,
            Self::NoHeader {
                readable,
                unreadable,
            } => SessionDamage::NoHeader {
                readable,
                unreadable,
            },
        }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.damage().fmt(f)
    }
}

impl std::error::Error for LogError {}

/// Why a store cannot be used as it is configured; the text is fit for an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    #[error(
        "the database URL cannot be read: it must be mysql://user:password@host:port/database, \
         with special characters of the password percent-encoded"
    )]
    UrlNotReadable,
    #[error(
        "the database URL names no database: add one, as in mysql://user:password@host:port/netaclaw"
    )]
    NoDatabase,
    #[error("another process has been changing the tables for two minutes: wait for it, or end it")]
    MigrationLocked,
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
    Unreadable {
        session: SessionId,
        reason: SessionDamage,
    },
    /// A file name cannot be made from it.
    #[error(
        "{0:?} is not a valid session id: it must start and end with a letter or digit, with only letters, digits, . _ and - in between"
    )]
    InvalidId(SessionId),
    /// The store cannot be used as it is configured.
    #[error(transparent)]
    Settings(SettingsError),
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
