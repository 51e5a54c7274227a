//! Internal errors of a request to the admin store.

use netaclaw_admin::{AdminError, Invalid, nearest};
use netaclaw_protocol::RecordKind;

pub(super) type Result<T, E = Fault> = std::result::Result<T, E>;

#[derive(Debug)]
pub(super) enum Fault {
    /// The request cannot be carried out.
    Refused(AdminError),
    Database(sqlx::Error),
}

impl From<AdminError> for Fault {
    fn from(error: AdminError) -> Self {
        Self::Refused(error)
    }
}

impl From<Invalid> for Fault {
    fn from(invalid: Invalid) -> Self {
        Self::Refused(invalid.into())
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<Fault> for AdminError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(error) => error,
            Fault::Database(error) => Self::store("the admin store failed", error),
        }
    }
}

/// The record, or the error that names it and what may have been meant.
pub(super) fn found<'a, T>(
    record: Option<T>,
    kind: RecordKind,
    name: &str,
    others: impl IntoIterator<Item = &'a str>,
) -> Result<T> {
    record.ok_or_else(|| {
        let nearest = nearest(name, others).map(str::to_owned);
        Fault::Refused(AdminError::NotFound {
            kind,
            name: name.to_owned(),
            nearest,
        })
    })
}

/// The answer to a write that may meet a name that is there already.
pub(super) fn or_name_taken<T>(
    result: Result<T, sqlx::Error>,
    kind: RecordKind,
    name: &str,
) -> Result<T> {
    result.map_err(|error| match error.as_database_error() {
        Some(inner) if inner.is_unique_violation() => Fault::Refused(AdminError::Taken {
            kind,
            name: name.to_owned(),
        }),
        _ => Fault::Database(error),
    })
}

/// A row that is not what this program writes. It is reported and never passed over.
pub(super) fn unreadable(kind: RecordKind, name: &str, error: serde_json::Error) -> Fault {
    let what = format!("the row of {kind} {name:?} cannot be read");
    Fault::Refused(AdminError::store(what, error))
}
