//! What the rows of all tables have in common, and what every change to one of them does: check the
//! revision that its editor has seen, and enter the audit list in the same transaction.

use super::audit::write_act;
use super::fault::{Fault, Result};
use crate::now_ms;
use netaclaw_admin::{Act, Actor, AdminError, Expect};
use netaclaw_protocol::{
    Agent, AuditAction, ChannelView, DictInfo, DictType, McpServerView, Memory, RecordKind,
    Setting, Stamp, Token, ToolRecord, User,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::AnyConnection;
use uuid::Uuid;

/// A row of the configuration: found by its id, named by its name, and changed at a revision.
pub(super) trait Record: Sync {
    const KIND: RecordKind;

    fn id(&self) -> &str;
    fn name(&self) -> &str;
    fn stamp(&self) -> Stamp;
}

/// Implements [`Record`] for types with a `stamp`.
macro_rules! records {
    ($($record:ident: $kind:ident, $id:expr, $name:expr;)+) => {
        $(impl Record for $record {
            const KIND: RecordKind = RecordKind::$kind;

            fn id(&self) -> &str {
                let id: fn(&Self) -> &str = $id;
                id(self)
            }

            fn name(&self) -> &str {
                let name: fn(&Self) -> &str = $name;
                name(self)
            }

            fn stamp(&self) -> Stamp {
                self.stamp
            }
        })+
    };
}

records! {
    Agent: Agent, |it| it.id.as_str(), |it| &it.spec.name;
    ChannelView: Channel, |it| it.id.as_str(), |it| &it.spec.name;
    DictInfo: DictInfo, |it| it.id.as_str(), |it| &it.spec.name;
    DictType: DictType, |it| it.id.as_str(), |it| &it.spec.key;
    McpServerView: McpServer, |it| it.id.as_str(), |it| &it.spec.name;
    Memory: Memory, |it| it.id.as_str(), |it| it.id.as_str();
    Setting: Setting, |it| &it.name, |it| &it.name;
    Token: Token, |it| it.id.as_str(), |it| &it.spec.label;
    ToolRecord: Tool, |it| &it.name, |it| &it.name;
    User: User, |it| it.id.as_str(), |it| &it.spec.name;
}

/// Refuses a change to a record that is not in the state that its editor has seen.
pub(super) fn expect<R: Record>(expect: Expect, record: &R) -> Result<()> {
    let current = record.stamp().rev;
    match expect {
        Expect::Rev(rev) if rev != current => Err(Fault::Refused(AdminError::Conflict {
            kind: R::KIND,
            name: record.name().to_owned(),
            expected: rev,
            current,
        })),
        _ => Ok(()),
    }
}

/// Enters a record that was created.
pub(super) async fn audit_create<R: Record>(
    writer: &mut AnyConnection,
    by: &Actor,
    record: &R,
) -> Result<()> {
    audit(writer, by, AuditAction::Create, record, Vec::new()).await
}

/// Enters which fields of a record were changed, not their values.
pub(super) async fn audit_update<R: Record>(
    writer: &mut AnyConnection,
    by: &Actor,
    record: &R,
    fields: Vec<String>,
) -> Result<()> {
    audit(writer, by, AuditAction::Update, record, fields).await
}

/// Deletes a record by a statement that takes its id, and enters that.
pub(super) async fn delete<R: Record>(
    writer: &mut AnyConnection,
    by: &Actor,
    record: &R,
    statement: &'static str,
) -> Result<()> {
    let deletion = sqlx::query(statement).bind(record.id());
    deletion.execute(&mut *writer).await?;
    audit(writer, by, AuditAction::Delete, record, Vec::new()).await
}

pub(super) async fn audit<R: Record>(
    writer: &mut AnyConnection,
    by: &Actor,
    action: AuditAction,
    record: &R,
    fields: Vec<String>,
) -> Result<()> {
    let act = act(action, R::KIND, record.id(), record.name(), fields);
    write_act(writer, by, act).await
}

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

/// Databases have only signed numbers.
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
