//! Entries as rows, and back without losing a byte.

use super::retry::Failure;
use netaclaw_session::{Entry, EntryId, EntryKind, Role, SessionDamage, SessionError, SessionId};
use serde::Deserialize;
use sqlx::mysql::{MySqlConnection, MySqlRow};
use sqlx::{MySql, QueryBuilder, Row};
use std::borrow::Cow;

/// The longest id that its column stores as it is, in bytes.
const ID_MAX: usize = 200;
/// The longest type that its column shows whole, in characters.
const TYPE_MAX: usize = 64;
/// Rows of one statement. Well within what a statement may have of placeholders.
const BATCH_ROWS_MAX: usize = 500;
/// Text of one statement, unless a single entry is larger. Every server takes packets of this
/// size.
const BATCH_BYTES_MAX: usize = 1 << 20;

/// A row to be inserted.
#[derive(Clone, Debug)]
pub(super) struct NewRow<'e> {
    pub(super) seq: i64,
    /// The value of the id column; see [`id_column`].
    pub(super) id: Cow<'e, str>,
    pub(super) entry: &'e Entry,
    /// The client's request that this message answers for; see [`NewRow::with_request`].
    request: Option<String>,
}

/// Who writes rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenBy<'s> {
    pub(super) runtime: &'s str,
    /// Of the claim under which the rows are written; 0 for those of a session that is being made.
    pub(super) fence: u64,
}

impl<'e> NewRow<'e> {
    pub(super) fn completed(seq: i64, entry: &'e Entry) -> Self {
        Self {
            seq,
            id: id_column(entry.id()),
            entry,
            request: None,
        }
    }

    /// The same, for a new message: its request stores it once. An imported message belongs to no
    /// request.
    pub(super) fn with_request(self) -> Self {
        let request = request_of(self.entry);
        let request = request.map(|request| indexed(&request).into_owned());
        Self { request, ..self }
    }

    pub(super) fn in_flight(entry: &'e Entry) -> Self {
        Self::completed(in_flight_seq(entry.id()), entry)
    }
}

/// The place of an entry in flight: outside the log, and the same for every update.
pub(super) fn in_flight_seq(entry: &EntryId) -> i64 {
    -1 - (fingerprint(entry.as_str()) >> 1) as i64
}

/// The id as its column holds it. What the index could not hold or not distinguish from another id
/// gets a fingerprint; what the column adds always begins with a `#`.
pub(super) fn id_column(id: &EntryId) -> Cow<'_, str> {
    indexed(id.as_str())
}

fn indexed(id: &str) -> Cow<'_, str> {
    // Trailing spaces do not count in comparisons of MySQL.
    if id.len() <= ID_MAX && !id.contains('#') && !id.ends_with(' ') {
        return Cow::Borrowed(id);
    }
    let cut = id.floor_char_boundary(ID_MAX);
    Cow::Owned(format!("{}#{:016x}", &id[..cut], fingerprint(id)))
}

/// The client's request that a user's message carries.
fn request_of(entry: &Entry) -> Option<String> {
    #[derive(Deserialize)]
    struct Message {
        netaclaw: Option<Mark>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Mark {
        request_id: Option<String>,
    }
    if entry.role() != Role::User {
        return None;
    }
    let message: Message = serde_json::from_str(entry.message_json()?).ok()?;
    message.netaclaw?.request_id
}

/// FNV-1a. It must never change: it is stored.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Inserts rows in as few statements as the packet size allows.
pub(super) async fn insert_rows(
    connection: &mut MySqlConnection,
    session: &SessionId,
    by: WrittenBy<'_>,
    rows: &[NewRow<'_>],
) -> Result<(), Failure> {
    let mut rest = rows;
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(batch_size(rest));
        let mut insert = insert_statement(session, by, batch);
        // Only the statement of a single append is worth keeping prepared.
        let query = insert.build().persistent(rows.len() == 1);
        query.execute(&mut *connection).await?;
        rest = later;
    }
    Ok(())
}

fn batch_size(rows: &[NewRow<'_>]) -> usize {
    let mut bytes = 0;
    let fitting = rows.iter().take(BATCH_ROWS_MAX).take_while(|row| {
        bytes += row.entry.json().len();
        bytes <= BATCH_BYTES_MAX
    });
    fitting.count().max(1)
}

fn insert_statement(
    session: &SessionId,
    by: WrittenBy<'_>,
    rows: &[NewRow<'_>],
) -> QueryBuilder<MySql> {
    let mut insert = QueryBuilder::new(
        "INSERT INTO neta_agent_session_entry (sessionId, entrySeq, entryId, parentEntryId, type, \
         message, summary, firstKeptEntryId, tokensBefore, thinkingLevel, provider, modelId, \
         customType, data, display, targetEntryId, label, details, sourceRuntime, status, \
         envelope, messageAt, fence, requestId) ",
    );
    insert.push_values(rows, |mut values, row| {
        let text = Split::of(row.entry);
        let copy = ColumnCopies::of(row.entry);
        let type_name = type_name(row.entry);
        values
            .push_bind(session.as_str())
            .push_bind(row.seq)
            .push_bind(row.id.as_ref())
            .push_bind(row.entry.parent_id().map(EntryId::as_str))
            .push_bind(type_name.as_ref())
            .push_bind(text.message)
            .push_bind(copy.summary.as_deref())
            .push_bind(copy.first_kept_entry_id.as_deref())
            .push_bind(copy.tokens_before)
            .push_bind(copy.thinking_level.as_deref())
            .push_bind(copy.provider.as_deref())
            .push_bind(copy.model_id.as_deref())
            .push_bind(copy.custom_type.as_deref())
            .push_bind(copy.data)
            .push_bind(copy.display)
            .push_bind(copy.target_entry_id.as_deref())
            .push_bind(copy.label.as_deref())
            .push_bind(copy.details)
            .push_bind(by.runtime)
            .push_bind(if row.seq < 0 {
                "in_flight"
            } else {
                "completed"
            })
            .push_bind(text.envelope.as_ref())
            .push_bind(text.message_at)
            .push_bind(by.fence)
            .push_bind(row.request.as_deref());
    });
    insert
}

/// An entry's text with the message taken out, so that it is not stored twice.
pub(super) struct Split<'e> {
    pub(super) envelope: Cow<'e, str>,
    pub(super) message: Option<&'e str>,
    pub(super) message_at: Option<u32>,
}

impl<'e> Split<'e> {
    pub(super) fn of(entry: &'e Entry) -> Self {
        let text = entry.json();
        let Some(message) = entry.message_json() else {
            return Self {
                envelope: Cow::Borrowed(text),
                message: None,
                message_at: None,
            };
        };
        let at = message.as_ptr() as usize - text.as_ptr() as usize;
        Self {
            envelope: Cow::Owned([&text[..at], &text[at + message.len()..]].concat()),
            message: Some(message),
            message_at: Some(u32::try_from(at).expect("a line is below 4 GiB")),
        }
    }
}

/// What of an entry the readable columns repeat.
#[derive(Default)]
struct ColumnCopies<'e> {
    summary: Option<Cow<'e, str>>,
    first_kept_entry_id: Option<Cow<'e, str>>,
    tokens_before: Option<u64>,
    thinking_level: Option<Cow<'e, str>>,
    provider: Option<Cow<'e, str>>,
    model_id: Option<Cow<'e, str>>,
    custom_type: Option<Cow<'e, str>>,
    data: Option<&'e str>,
    display: Option<bool>,
    target_entry_id: Option<Cow<'e, str>>,
    label: Option<Cow<'e, str>>,
    details: Option<&'e str>,
}

impl<'e> ColumnCopies<'e> {
    fn of(entry: &'e Entry) -> Self {
        let text = |name| entry.text_field(name);
        match entry.kind() {
            EntryKind::ThinkingLevelChange => Self {
                thinking_level: text("thinkingLevel"),
                ..Self::default()
            },
            EntryKind::ModelChange => Self {
                provider: text("provider"),
                model_id: text("modelId"),
                ..Self::default()
            },
            EntryKind::Compaction => Self {
                summary: text("summary"),
                first_kept_entry_id: text("firstKeptEntryId"),
                tokens_before: entry.field("tokensBefore").and_then(|n| n.parse().ok()),
                details: entry.field("details"),
                ..Self::default()
            },
            EntryKind::BranchSummary => Self {
                summary: text("summary"),
                details: entry.field("details"),
                ..Self::default()
            },
            EntryKind::Custom => Self {
                custom_type: text("customType"),
                data: entry.field("data"),
                ..Self::default()
            },
            EntryKind::CustomMessage => Self {
                custom_type: text("customType"),
                data: entry.field("content"),
                display: entry.field("display").map(|display| display == "true"),
                details: entry.field("details"),
                ..Self::default()
            },
            EntryKind::Label => Self {
                target_entry_id: text("targetId"),
                label: text("label"),
                ..Self::default()
            },
            EntryKind::ContextEdit => Self {
                target_entry_id: text("targetId"),
                ..Self::default()
            },
            EntryKind::Message
            | EntryKind::SessionInfo
            | EntryKind::Usage
            | EntryKind::SubagentBatch
            | EntryKind::SubagentResult
            | EntryKind::Unknown => Self::default(),
        }
    }
}

fn type_name(entry: &Entry) -> Cow<'_, str> {
    // The one kind that can be large, and that need not be read again for its type.
    if entry.kind() == EntryKind::Message {
        return Cow::Borrowed("message");
    }
    let name = entry.type_name();
    match name.char_indices().nth(TYPE_MAX) {
        Some((cut, _)) => Cow::Owned(name[..cut].to_owned()),
        None => name,
    }
}

/// Rows of the log from `from` on, up to but without `to`.
pub(super) async fn read_rows(
    connection: &mut MySqlConnection,
    session: &SessionId,
    from: i64,
    to: i64,
) -> Result<Vec<Entry>, Failure> {
    const SELECT: &str = "SELECT envelope, messageAt, message FROM neta_agent_session_entry \
         WHERE sessionId = ? AND entrySeq >= ? AND entrySeq < ? ORDER BY entrySeq";
    let rows = sqlx::query(SELECT)
        .bind(session.as_str())
        .bind(from)
        .bind(to)
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| entry_in(session, row)).collect()
}

/// The entry of a row that begins with `envelope, messageAt, message`. A row that cannot be read
/// is an error; to leave it out would change what the session says.
pub(super) fn entry_in(session: &SessionId, row: &MySqlRow) -> Result<Entry, Failure> {
    let envelope: &str = row.try_get(0)?;
    let text = match (
        row.try_get::<Option<u32>, _>(1)?,
        row.try_get::<Option<&str>, _>(2)?,
    ) {
        (Some(at), Some(message)) => {
            let (before, after) = envelope
                .split_at_checked(at as usize)
                .unwrap_or((envelope, ""));
            [before, message, after].concat()
        }
        _ => envelope.to_owned(),
    };
    let damaged = || SessionError::Unreadable {
        session: session.clone(),
        reason: SessionDamage::EntryNotReadable,
    };
    Ok(Entry::parse(text).ok_or_else(damaged)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_the_index_would_confuse_stand_apart_in_their_column() {
        let column = |id: &str| id_column(&EntryId::new(id)).into_owned();
        assert_eq!(column("0badcafe"), "0badcafe");
        assert_eq!(column(""), "");
        assert_eq!(column("a "), "a #089c0207b5452844");
        assert_ne!(column("a  "), column("a "));
        assert_ne!(column("a#2"), "a#2");
        let long = "é".repeat(300);
        assert!(column(&long).len() <= 255);
        assert_ne!(column(&long), column(&format!("{long}x")));
    }

    #[test]
    fn an_entry_in_flight_has_its_place_below_the_log() {
        for id in ["", "a", "0badcafe", "ffffffff"] {
            assert!(in_flight_seq(&EntryId::new(id)) < 0);
        }
    }
}
