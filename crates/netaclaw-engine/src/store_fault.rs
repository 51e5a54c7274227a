//! Why a store cannot be used, as text that a client may see: no paths, no addresses, no
//! statements.

use netaclaw_protocol::Words;
use netaclaw_session::SessionError;
use std::error::Error;
use std::io::{self, ErrorKind};
use thiserror::Error;

/// What is wrong with the disk or the database behind a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFault {
    Full,
    ReadOnly,
    Denied,
    /// A file has reached the limit that the system sets for the process.
    FileTooLarge,
    /// The database cannot be reached.
    Away,
    Damaged,
    /// Another fault; the log has it.
    Failed,
}

/// An error of a store other than the session store, marked so that [`StoreFault::of`] finds it.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct StoreFailure(#[source] Box<dyn Error + Send + Sync>);

impl StoreFailure {
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Box::new(error))
    }
}

/// What databases say, as their errors have no types here.
const TEXTS: [(&str, StoreFault); 9] = [
    ("database or disk is full", StoreFault::Full),
    ("error 28 from storage engine", StoreFault::Full),
    ("is full", StoreFault::Full),
    ("readonly database", StoreFault::ReadOnly),
    ("--read-only option", StoreFault::ReadOnly),
    ("malformed", StoreFault::Damaged),
    ("is not a database", StoreFault::Damaged),
    ("pool timed out", StoreFault::Away),
    ("closed pool", StoreFault::Away),
];

impl StoreFault {
    /// The fault behind an error of a store; `None` if no store has failed.
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut is_store = false;
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(fault) = error.downcast_ref::<io::Error>().and_then(of_io) {
                return Some(fault);
            }
            is_store |= error.is::<StoreFailure>()
                || matches!(
                    error.downcast_ref::<SessionError>(),
                    Some(SessionError::Store { .. })
                );
            cause = error.source();
        }
        is_store.then(|| Self::by_text(error))
    }

    /// The fault behind the error of a store that is known to have failed.
    pub fn behind(error: &(dyn Error + 'static)) -> Self {
        let mut causes = std::iter::successors(Some(error), |&error| error.source());
        causes
            .find_map(|error| error.downcast_ref::<io::Error>().and_then(of_io))
            .unwrap_or_else(|| Self::by_text(error))
    }

    fn by_text(error: &dyn Error) -> Self {
        let text = error.to_string();
        let known = TEXTS.iter().find(|(part, _)| text.contains(part));
        known.map_or(Self::Failed, |(_, fault)| *fault)
    }

    pub fn words(self) -> Words {
        let (zh, en) = match self {
            Self::Full => (
                "服务器磁盘已满，内容没有保存；请清理磁盘空间后重试",
                "the server's disk is full, and nothing was stored; free some space and try again",
            ),
            Self::ReadOnly => (
                "服务器的存储为只读，内容没有保存；请管理员检查后重试",
                "the server's storage is read-only, and nothing was stored; an administrator has to \
                 make it writable",
            ),
            Self::Denied => (
                "服务器没有读写其数据的权限；请管理员检查数据目录的权限",
                "the server is not permitted to use its data; an administrator has to check the \
                 permissions of the data directory",
            ),
            Self::FileTooLarge => (
                "服务器的文件已达到系统的大小上限，内容没有保存；请管理员提高上限（ulimit -f）",
                "a file of the server has reached the system's size limit, and nothing was stored; an \
                 administrator has to raise the limit (ulimit -f)",
            ),
            Self::Away => (
                "服务器的数据库没有响应；请稍后重试",
                "the server's database does not answer; try again later",
            ),
            Self::Damaged => (
                "服务器的数据库已损坏；请管理员恢复备份",
                "the server's database is damaged; an administrator has to restore a backup",
            ),
            Self::Failed => (
                "服务器的存储出错，已记入日志；请稍后重试",
                "the server's storage failed, which has been logged; try again later",
            ),
        };
        Words::new(zh, en)
    }
}

fn of_io(error: &io::Error) -> Option<StoreFault> {
    Some(match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreFault::Full,
        ErrorKind::ReadOnlyFilesystem => StoreFault::ReadOnly,
        ErrorKind::PermissionDenied => StoreFault::Denied,
        ErrorKind::FileTooLarge => StoreFault::FileTooLarge,
        ErrorKind::ConnectionRefused
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::NotConnected
        | ErrorKind::BrokenPipe
        | ErrorKind::TimedOut
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::UnexpectedEof => StoreFault::Away,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(source: impl Into<Box<dyn Error + Send + Sync>>) -> Option<StoreFault> {
        let error = SessionError::store("cannot write session /var/lib/s", source);
        StoreFault::of(&error)
    }

    #[test]
    fn reasons_are_told_apart() {
        for (kind, fault) in [
            (ErrorKind::StorageFull, StoreFault::Full),
            (ErrorKind::ReadOnlyFilesystem, StoreFault::ReadOnly),
            (ErrorKind::PermissionDenied, StoreFault::Denied),
            (ErrorKind::FileTooLarge, StoreFault::FileTooLarge),
            (ErrorKind::ConnectionRefused, StoreFault::Away),
            (ErrorKind::Other, StoreFault::Failed),
        ] {
            assert_eq!(stored(io::Error::from(kind)), Some(fault), "{kind}");
        }
        let full = io::Error::other("(code: 13) database or disk is full");
        assert_eq!(StoreFault::behind(&full), StoreFault::Full);
        assert_eq!(StoreFault::of(&full), None);
        let marked = StoreFailure::new(full);
        assert_eq!(StoreFault::of(&marked), Some(StoreFault::Full));
        assert_eq!(stored("as told"), Some(StoreFault::Failed));
        let other = SessionError::Invalid("is full".to_owned());
        assert_eq!(StoreFault::of(&other), None);
    }
}
