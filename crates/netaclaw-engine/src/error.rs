//! Why a command failed, as text that a client may see.

use crate::server::limits::Limited;
use crate::session::writer::ReadOnly;
use crate::store_fault::StoreFault;
use netaclaw_protocol::{ErrorCode, Refusal, Trouble, TroubleKind, Words};
use netaclaw_session::SessionError;
use thiserror::Error;

/// A command that was refused. Nothing was written.
#[derive(Debug, Error)]
pub enum EngineError {
    #[error("there is no such session")]
    NoSession,
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    BadRequest(String),
    #[error("the session is busy: {0}")]
    Busy(String),
    #[error("entry {0} is not in this session; reload and try again")]
    StaleParent(String),
    #[error("{0}")]
    Conflict(String),
    #[error("{0}")]
    TooMany(String),
    /// The user has used up what a user may use; the same command may succeed later.
    #[error("{}", .0.words.en)]
    Limited(Box<Limited>),
    #[error("{}", .0.en)]
    TooLarge(Box<Words>),
    /// A newer version wrote the session.
    #[error("{}", .0.en)]
    ReadOnly(Box<Words>),
    #[error("{0}")]
    Unavailable(String),
    /// Something was chosen that is not there to be chosen.
    #[error("{}", .0.en)]
    WrongChoice(Box<Words>),
    /// The agent, its channel or its workspace has to be set right first.
    #[error("{}", .0.words.en)]
    NotReady(Box<Trouble>),
    /// The cause is in the log; a client learns that something failed.
    #[error("something went wrong on the server; it has been logged")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl EngineError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoSession | Self::NotFound(_) => ErrorCode::NotFound,
            Self::BadRequest(_) | Self::WrongChoice(_) => ErrorCode::BadRequest,
            Self::Busy(_) => ErrorCode::SessionBusy,
            Self::StaleParent(_) => ErrorCode::StaleParent,
            Self::Conflict(_) | Self::ReadOnly(_) => ErrorCode::Conflict,
            Self::TooMany(_) | Self::Limited(_) => ErrorCode::RateLimited,
            Self::TooLarge(_) => ErrorCode::TooLarge,
            Self::Unavailable(_) | Self::NotReady(_) => ErrorCode::Unavailable,
            // Sent again later, the same command may succeed.
            Self::Internal(cause) => match StoreFault::of(&**cause) {
                Some(_) => ErrorCode::Unavailable,
                None => ErrorCode::Internal,
            },
        }
    }

    /// What goes over the wire. The cause of an internal error is logged here, once.
    pub fn refusal(&self) -> Refusal {
        if let Self::Internal(cause) = self {
            tracing::error!(error = %cause, "a command failed");
        }
        Refusal::new(self.code(), self.words())
    }

    /// The text for users. An error with a reason of its own has that reason in English.
    pub fn words(&self) -> Words {
        let zh = match self {
            Self::NoSession => "没有这个会话".to_owned(),
            Self::StaleParent(entry) => format!("条目 {entry} 不在此会话中；请刷新后重试"),
            Self::NotFound(why) => format!("找不到所指的内容（{why}）"),
            Self::BadRequest(why) => format!("请求有误（{why}）"),
            Self::Busy(why) => format!("会话正忙（{why}）"),
            Self::Conflict(why) => format!("与已有内容冲突（{why}）"),
            Self::Unavailable(why) => format!("暂时无法完成（{why}）"),
            Self::TooMany(why) => format!("数量过多（{why}）"),
            Self::WrongChoice(words) | Self::TooLarge(words) | Self::ReadOnly(words) => {
                words.zh.clone()
            }
            Self::Limited(limited) => limited.words.zh.clone(),
            Self::NotReady(trouble) => trouble.words.zh.clone(),
            Self::Internal(cause) => match StoreFault::of(&**cause) {
                Some(fault) => return fault.words(),
                None => "服务器内部出错，已记入日志".to_owned(),
            },
        };
        Words::new(zh, self.to_string())
    }

    /// In more than one language, where there is more to say than the code does.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        match self {
            Self::NotReady(trouble) => Some(trouble.as_ref().clone()),
            Self::Internal(cause) => Some(match StoreFault::of(&**cause) {
                Some(fault) => {
                    let words = fault.words();
                    Trouble::new(TroubleKind::SessionUnavailable, words.zh, words.en)
                }
                None => internal_trouble(),
            }),
            _ => None,
        }
    }
}

pub(crate) fn internal_trouble() -> Trouble {
    Trouble::new(
        TroubleKind::Internal,
        "服务器内部出错，已记入日志。请重试；若仍出现，请查看服务器日志。",
        "Something failed inside the server; it has been logged. Try again, and look at the \
         server's log if it stays so.",
    )
}

impl From<Limited> for EngineError {
    fn from(limited: Limited) -> Self {
        Self::Limited(Box::new(limited))
    }
}

impl From<SessionError> for EngineError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::NotFound(_) => Self::NoSession,
            SessionError::EntryNotFound { entry, .. } => Self::StaleParent(entry.to_string()),
            SessionError::LeafConflict { .. }
            | SessionError::DuplicateEntry { .. }
            | SessionError::AlreadyExists(_)
            | SessionError::RepeatedRequest(_) => Self::Conflict(error.to_string()),
            // Which process has it is for the machine's own users, not for clients.
            SessionError::Busy { session, .. } => Self::Busy(format!(
                "session {session} is open for writing in another process"
            )),
            SessionError::Deposed(_) => Self::Busy(error.to_string()),
            SessionError::NewerFormat { found, .. } => ReadOnly::Format { found }.refusal(),
            SessionError::Invalid(reason) => Self::BadRequest(reason),
            SessionError::Unreadable { .. } | SessionError::Path { .. } => {
                Self::Unavailable(error.to_string())
            }
            SessionError::Store { .. } => Self::Internal(Box::new(error)),
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
