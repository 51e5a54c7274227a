//! Why a store cannot be used, as text that a client may see: no paths, no addresses, no
//! statements.

use netaclaw_protocol::StoreFault;
use netaclaw_session::SessionError;
use std::error::Error;
use std::io::{self, ErrorKind};
use thiserror::Error;

/// An error of a store other than the session store, marked so that [`store_fault_of`] finds it.
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
    ("database or disk is full", StoreFault::DiskFull),
    ("error 28 from storage engine", StoreFault::DiskFull),
    ("is full", StoreFault::DiskFull),
    ("readonly database", StoreFault::StorageReadOnly),
    ("--read-only option", StoreFault::StorageReadOnly),
    ("malformed", StoreFault::DatabaseDamaged),
    ("is not a database", StoreFault::DatabaseDamaged),
    ("pool timed out", StoreFault::DatabaseAway),
    ("closed pool", StoreFault::DatabaseAway),
];

/// The fault behind an error of a store; `None` if no store has failed.
pub(crate) fn store_fault_of(error: &(dyn Error + 'static)) -> Option<StoreFault> {
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
    is_store.then(|| by_text(error))
}

/// The fault behind the error of a store that is known to have failed.
pub fn store_fault_behind(error: &(dyn Error + 'static)) -> StoreFault {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes
        .find_map(|error| error.downcast_ref::<io::Error>().and_then(of_io))
        .unwrap_or_else(|| by_text(error))
}

fn by_text(error: &dyn Error) -> StoreFault {
    let text = error.to_string();
    let known = TEXTS.iter().find(|(part, _)| text.contains(part));
    known.map_or(StoreFault::StorageFailed, |(_, fault)| *fault)
}

fn of_io(error: &io::Error) -> Option<StoreFault> {
    Some(match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreFault::DiskFull,
        ErrorKind::ReadOnlyFilesystem => StoreFault::StorageReadOnly,
        ErrorKind::PermissionDenied => StoreFault::StorageDenied,
        ErrorKind::FileTooLarge => StoreFault::FileSizeLimit,
        ErrorKind::ConnectionRefused
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::NotConnected
        | ErrorKind::BrokenPipe
        | ErrorKind::TimedOut
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::UnexpectedEof => StoreFault::DatabaseAway,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_session::SettingsError;

    fn stored(source: impl Into<Box<dyn Error + Send + Sync>>) -> Option<StoreFault> {
        let error = SessionError::store("cannot write session /var/lib/s", source);
        store_fault_of(&error)
    }

    #[test]
    fn reasons_are_distinguished() {
        for (kind, fault) in [
            (ErrorKind::StorageFull, StoreFault::DiskFull),
            (ErrorKind::ReadOnlyFilesystem, StoreFault::StorageReadOnly),
            (ErrorKind::PermissionDenied, StoreFault::StorageDenied),
            (ErrorKind::FileTooLarge, StoreFault::FileSizeLimit),
            (ErrorKind::ConnectionRefused, StoreFault::DatabaseAway),
            (ErrorKind::Other, StoreFault::StorageFailed),
        ] {
            assert_eq!(stored(io::Error::from(kind)), Some(fault), "{kind}");
        }
        let full = io::Error::other("(code: 13) database or disk is full");
        assert_eq!(store_fault_behind(&full), StoreFault::DiskFull);
        assert_eq!(store_fault_of(&full), None);
        let marked = StoreFailure::new(full);
        assert_eq!(store_fault_of(&marked), Some(StoreFault::DiskFull));
        assert_eq!(stored("as told"), Some(StoreFault::StorageFailed));
        let other = SessionError::Settings(SettingsError::NoDatabase);
        assert_eq!(store_fault_of(&other), None);
    }
}
