//! What the rows of all tables have in common.

use crate::now_ms;
use netaclaw_admin::Act;
use netaclaw_protocol::{AuditAction, RecordKind, Stamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

/// An id: UUID v7, so that ids sort by the time they were made.
pub(super) fn new_id() -> String {
    Uuid::now_v7().to_string()
}

pub(super) fn first_stamp() -> Stamp {
    let now = now_ms();
    Stamp {
        rev: 1,
        created_at: now,
        updated_at: now,
    }
}

pub(super) fn next_stamp(before: Stamp) -> Stamp {
    Stamp {
        rev: before.rev + 1,
        created_at: before.created_at,
        // Clocks go back at times; a record does not.
        updated_at: now_ms().max(before.updated_at),
    }
}

pub(super) fn stamp_of(rev: i64, created_at: i64, updated_at: i64) -> Stamp {
    Stamp {
        rev: number(rev),
        created_at,
        updated_at,
    }
}

/// Databases know only signed numbers.
pub(super) fn column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn number(column: i64) -> u64 {
    u64::try_from(column).unwrap_or_default()
}

/// A value of a closed list as the word it has on the wire.
pub(super) fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => unreachable!("the types of word columns are lists of plain words"),
    }
}

pub(super) fn of_word<T: DeserializeOwned>(word: String) -> serde_json::Result<T> {
    serde_json::from_value(Value::String(word))
}

pub(super) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("records have text keys and finite numbers")
}

pub(super) fn act(
    action: AuditAction,
    kind: RecordKind,
    id: &str,
    name: &str,
    fields: Vec<String>,
) -> Act {
    Act {
        action,
        kind,
        target_id: id.to_owned(),
        target_name: name.to_owned(),
        fields,
    }
}
