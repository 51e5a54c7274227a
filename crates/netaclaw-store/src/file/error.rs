//! Errors of files, turned into those of the port.

use netaclaw_session::{LogError, SessionError, SessionId};
use std::io;
use thiserror::Error;

/// A file that could not be read as a session.
#[derive(Debug, Error)]
pub enum ReadFileError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("not a session: {0}")]
    Log(#[from] LogError),
}

impl ReadFileError {
    pub(super) fn of(self, session: &SessionId) -> SessionError {
        match self {
            Self::Io(source) if source.kind() == io::ErrorKind::NotFound => {
                SessionError::NotFound(session.clone())
            }
            Self::Io(source) => io_error("read", session)(source),
            Self::Log(error) => SessionError::Unreadable {
                session: session.clone(),
                reason: error.damage(),
            },
        }
    }
}

/// Says what could not be done with which session. No path: the message may reach a client.
pub(super) fn io_error(verb: &str, session: &SessionId) -> impl FnOnce(io::Error) -> SessionError {
    move |source| SessionError::store(format!("cannot {verb} session {session}"), source)
}
