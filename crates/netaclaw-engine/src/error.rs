//! Why a command failed, as text that a client may see.

use crate::server::limits::Limited;
use crate::store_fault::store_fault_of;
use netaclaw_protocol::{
    BadRequest, Busy, Conflict, EntryId, ErrorCode, Forbidden, InternalError, LocalizedError,
    LocalizedText, ModelChoiceError, NotFound, NotReady, ReadOnly, Reason, Refusal, RunTrouble,
    StaleParent, TooLarge, TooMany, Unavailable,
};
use netaclaw_session::SessionError;
use std::fmt;

/// A command that was refused. Nothing was written.
#[derive(Debug)]
pub enum EngineError {
    NoSession,
    NotFound(NotFound),
    BadRequest(BadRequest),
    Busy(Busy),
    /// The entry is not in this session.
    StaleParent(EntryId),
    Conflict(Conflict),
    Forbidden(Forbidden),
    TooMany(TooMany),
    /// The user has used up what a user may use; the same command may succeed later.
    Limited(Limited),
    TooLarge(TooLarge),
    /// A newer version wrote the session.
    ReadOnly(ReadOnly),
    Unavailable(Unavailable),
    /// A model was chosen that cannot be.
    WrongChoice(ModelChoiceError),
    /// The agent, its channel or its workspace has to be set right first.
    NotReady(NotReady),
    /// The same, if what is missing is a model.
    NoModel(ModelChoiceError),
    /// The cause is in the log; a client learns that something failed.
    Internal(Box<dyn std::error::Error + Send + Sync>),
}

impl EngineError {
    pub fn reason(&self) -> Reason {
        match self {
            Self::NoSession => NotFound::NoSession.into(),
            Self::NotFound(reason) => reason.clone().into(),
            Self::BadRequest(reason) => reason.clone().into(),
            Self::Busy(reason) => reason.clone().into(),
            Self::StaleParent(entry) => StaleParent::NotInSession {
                entry: entry.clone(),
            }
            .into(),
            Self::Conflict(reason) => reason.clone().into(),
            Self::Forbidden(reason) => reason.clone().into(),
            Self::TooMany(reason) => reason.clone().into(),
            Self::Limited(limited) => limited.reason.clone().into(),
            Self::TooLarge(reason) => reason.clone().into(),
            Self::ReadOnly(reason) => reason.clone().into(),
            Self::Unavailable(reason) => reason.clone().into(),
            Self::WrongChoice(reason) => Reason::WrongModel(reason.clone()),
            Self::NotReady(reason) => reason.clone().into(),
            Self::NoModel(reason) => Reason::NoModel(reason.clone()),
            Self::Internal(cause) => match store_fault_of(&**cause) {
                Some(fault) => fault.into(),
                None => InternalError::Internal.into(),
            },
        }
    }

    pub fn code(&self) -> ErrorCode {
        self.reason().error_code()
    }

    /// What goes over the wire. The cause of an internal error is logged here, once.
    pub fn refusal(&self) -> Refusal {
        self.log();
        Refusal::new(self.reason())
    }

    /// Logs the cause of an internal error, for callers that do not answer with a refusal.
    pub fn log(&self) {
        if let Self::Internal(cause) = self {
            tracing::error!(error = %cause, "a command failed");
        }
    }

    /// The text for users. An error with a reason of its own has that reason in English.
    pub fn words(&self) -> LocalizedText {
        self.reason().words()
    }

    /// For a run that this error keeps from starting or continuing.
    pub(crate) fn trouble(&self) -> LocalizedError {
        match self {
            Self::NotReady(reason) => reason.into(),
            Self::NoModel(reason) => reason.into(),
            Self::Internal(cause) => match store_fault_of(&**cause) {
                Some(fault) => LocalizedError::from(&fault),
                None => RunTrouble::Internal.into(),
            },
            refused => {
                let problem = Box::new(refused.reason());
                RunTrouble::NotStarted { problem }.into()
            }
        }
    }
}

/// In English, for logs and for operators.
impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The log has the cause; clients receive a text without it.
            Self::Internal(_) => InternalError::Internal.fmt(f),
            refused => refused.reason().fmt(f),
        }
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Internal(cause) => Some(&**cause),
            _ => None,
        }
    }
}

macro_rules! from {
    ($($name:ident),+ $(,)?) => {
        $(impl From<$name> for EngineError {
            fn from(reason: $name) -> Self {
                Self::$name(reason)
            }
        })+
    };
}

from!(
    NotFound,
    BadRequest,
    Busy,
    Conflict,
    Forbidden,
    TooMany,
    Limited,
    TooLarge,
    ReadOnly,
    Unavailable,
    NotReady,
);

impl From<SessionError> for EngineError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::NotFound(_) => Self::NoSession,
            SessionError::EntryNotFound { entry, .. } => Self::StaleParent(entry),
            SessionError::LeafConflict {
                session,
                expected,
                actual,
            } => Self::Conflict(Conflict::LeafMoved {
                session,
                expected,
                actual,
            }),
            SessionError::DuplicateEntry { session, entry } => {
                Self::Conflict(Conflict::EntryExists { session, entry })
            }
            SessionError::AlreadyExists(session) => {
                Self::Conflict(Conflict::SessionExists { session })
            }
            SessionError::RepeatedRequest(session) => {
                Self::Conflict(Conflict::RequestRepeated { session })
            }
            // Which process has it is for the machine's own users, not for clients.
            SessionError::Busy { session, .. } => Self::Busy(Busy::OpenElsewhere { session }),
            SessionError::Deposed(session) => Self::Busy(Busy::TakenOver { session }),
            SessionError::NewerFormat {
                found, supported, ..
            } => Self::ReadOnly(ReadOnly::NewerFormat { found, supported }),
            SessionError::InvalidId(session) => Self::BadRequest(BadRequest::NotASessionId {
                id: session.to_string(),
            }),
            SessionError::Unreadable { session, reason } => {
                let damage = reason;
                Self::Unavailable(Unavailable::SessionNotReadable { session, damage })
            }
            SessionError::Path { session, source } => {
                let damage = source.damage();
                Self::Unavailable(Unavailable::SessionNotReadable { session, damage })
            }
            SessionError::Settings(_) | SessionError::Store { .. } => {
                Self::Internal(Box::new(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::SessionId;

    #[test]
    fn a_busy_session_does_not_tell_which_process_has_it() {
        let error = EngineError::from(SessionError::Busy {
            session: SessionId::new("s"),
            owner: "process 4711".to_owned(),
        });
        let words = error.words();
        assert_eq!(error.code(), ErrorCode::SessionBusy);
        assert!(!words.en.contains("4711") && !words.zh.contains("4711"));
    }
}
