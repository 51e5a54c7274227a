//! A session file as text, read into a header and entries. Writing lives with the provider.
//!
//! Reading forgives: a line that cannot be read is skipped and counted, nothing else is lost.
//! NetaClaw's own bookkeeping lines (where the leaf was moved to, changed session data) are
//! taken in here and do not appear as entries.

use crate::entry::parent_of;
use crate::error::LogError;
use crate::header::Header;
use crate::json::{self, LineHead};
use crate::migrate::{self, Line};
use crate::{Entry, EntryKind, FORMAT_VERSION};
use bytestring::ByteString;
use netaclaw_protocol::{EntryId, SessionStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// `customType` of the line that records a leaf move; its parent is the entry moved to.
pub const LEAF_MARKER: &str = "netaclaw.leaf";
/// `customType` of the line that records changed session data.
pub const META_RECORD: &str = "netaclaw.meta";

/// What a session file says.
#[derive(Clone, Debug)]
pub struct SessionLog {
    pub header: Header,
    pub entries: Vec<Entry>,
    /// The entry written last, or the one a marker after it points to.
    pub last: Option<EntryId>,
    pub meta: MetaRecord,
    /// The version the file says it has.
    pub declared_version: u32,
    /// Lines that could not be read. They stay in the file.
    pub skipped_lines: u32,
    /// Set if the file must be rewritten before anything can be appended, because its lines are
    /// not the entries shown here.
    pub needs_migration: bool,
}

/// Session data that changed after the header was written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MetaRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SessionStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

impl MetaRecord {
    pub fn merge(&mut self, later: MetaRecord) {
        self.status = later.status.or(self.status);
        self.agent_id = later.agent_id.or(self.agent_id.take());
        self.metadata = later.metadata.or(self.metadata.take());
    }
}

impl SessionLog {
    /// A session made here, its leaf at the end.
    pub fn new(header: Header, entries: Vec<Entry>) -> Self {
        Self {
            header,
            last: entries.last().map(|entry| entry.id().clone()),
            entries,
            meta: MetaRecord::default(),
            declared_version: FORMAT_VERSION,
            skipped_lines: 0,
            needs_migration: false,
        }
    }

    /// Reads the bytes of a session file.
    ///
    /// Lines end at `\n` only. Bytes that are no UTF-8 become U+FFFD, as in Pi.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, LogError> {
        Self::from_chunks([LogChunk::parse(bytes)])
    }

    /// Puts together what was read in pieces.
    pub fn from_chunks(chunks: impl IntoIterator<Item = LogChunk>) -> Result<Self, LogError> {
        let whole = chunks.into_iter().reduce(LogChunk::and).unwrap_or_default();
        let lines = whole.lines;
        let readable = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        let header = match lines.first() {
            Some(Line::Header(raw)) => Header::parse(raw.clone()),
            _ => None,
        };
        let Some(header) = header else {
            return Err(match whole.bytes {
                0 => LogError::Empty,
                _ => LogError::NoHeader {
                    readable,
                    unreadable: whole.skipped,
                },
            });
        };
        let declared_version = header.version();
        let needs_migration = declared_version < FORMAT_VERSION
            || lines.iter().any(|line| matches!(line, Line::Nameless(_)));
        let (header, lines) = match needs_migration {
            true => (
                header.upgraded(),
                migrate::to_current(declared_version, lines),
            ),
            false => (header, lines),
        };
        let view = View::through_markers(lines);
        Ok(SessionLog {
            header,
            entries: view.entries,
            last: view.last,
            meta: view.meta,
            declared_version,
            skipped_lines: whole.skipped,
            needs_migration,
        })
    }
}

/// A piece of a session file that begins and ends with a line. Pieces can be read side by side.
#[derive(Default)]
pub struct LogChunk {
    lines: Vec<Line>,
    skipped: u32,
    bytes: usize,
}

impl LogChunk {
    pub fn parse(bytes: Vec<u8>) -> Self {
        let text = ByteString::from(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(damaged) => String::from_utf8_lossy(damaged.as_bytes()).into_owned(),
        });
        let mut chunk = Self {
            bytes: text.len(),
            ..Self::default()
        };
        for line in lines(&text) {
            chunk.line(&text, line);
        }
        chunk
    }

    fn line(&mut self, text: &ByteString, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let Ok(head) = serde_json::from_str::<LineHead<'_>>(line) else {
            self.skipped += 1;
            return;
        };
        let raw = text.slice_ref(line.trim_end_matches('\r'));
        self.lines.push(match head.kind {
            Some(r#""session""#) => Line::Header(raw),
            _ => read_entry(&raw, &head),
        });
    }

    fn and(mut self, next: Self) -> Self {
        self.lines.extend(next.lines);
        self.skipped += next.skipped;
        self.bytes += next.bytes;
        self
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    // A byte order mark can only stand at the very beginning; elsewhere it spoils its line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut start = 0;
    memchr::memchr_iter(b'\n', text.as_bytes())
        .chain(std::iter::once(text.len()))
        .map(move |end| {
            let line = &text[start..end.max(start)];
            start = end + 1;
            line
        })
}

fn read_entry(raw: &ByteString, head: &LineHead<'_>) -> Line {
    let Some(id) = head.id.and_then(json::string) else {
        return Line::Nameless(raw.clone());
    };
    let entry = Entry::from_head(raw, head, EntryId::new(id), parent_of(head));
    match head.custom_type {
        Some(r#""netaclaw.leaf""# | r#""netaclaw.meta""#) if entry.kind() == EntryKind::Custom => {
            Line::Marker(entry)
        }
        _ => Line::Entry(entry),
    }
}

/// The entries with NetaClaw's bookkeeping lines looked through.
#[derive(Default)]
struct View {
    entries: Vec<Entry>,
    last: Option<EntryId>,
    meta: MetaRecord,
}

impl View {
    fn through_markers(lines: Vec<Line>) -> Self {
        let mut view = View {
            entries: Vec::with_capacity(lines.len()),
            ..View::default()
        };
        let mut markers: HashMap<EntryId, Option<EntryId>> = HashMap::new();
        let mut last: Option<EntryId> = None;
        for line in lines {
            match line {
                Line::Header(_) | Line::Nameless(_) => {}
                Line::Marker(marker) => {
                    let parent = match marker.parent_id().and_then(|id| markers.get(id)) {
                        Some(seen_through) => seen_through.clone(),
                        None => marker.parent_id().cloned(),
                    };
                    if let Some(record) = meta_record(&marker) {
                        view.meta.merge(record);
                    }
                    markers.insert(marker.id().clone(), parent.clone());
                    last = parent;
                }
                Line::Entry(entry) => {
                    let entry = match entry.parent_id().and_then(|id| markers.get(id)) {
                        Some(parent) => entry.below(parent.as_ref()),
                        None => entry,
                    };
                    last = Some(entry.id().clone());
                    view.entries.push(entry);
                }
            }
        }
        view.last = last;
        view
    }
}

fn meta_record(marker: &Entry) -> Option<MetaRecord> {
    (marker.text_field("customType")? == META_RECORD)
        .then(|| serde_json::from_str(marker.field("data")?).ok())
        .flatten()
}

/// The line that records a leaf move to `leaf`. A Pi that opens the file takes it for the last
/// entry of that path and so lands on the same context.
pub fn encode_leaf_marker(id: &EntryId, leaf: Option<&EntryId>, timestamp: &str) -> String {
    encode_record(LEAF_MARKER, id, leaf, timestamp, None)
}

/// The line that records changed session data without moving the leaf.
pub fn encode_meta_record(
    id: &EntryId,
    leaf: Option<&EntryId>,
    timestamp: &str,
    record: &MetaRecord,
) -> String {
    encode_record(META_RECORD, id, leaf, timestamp, Some(record))
}

fn encode_record(
    custom_type: &str,
    id: &EntryId,
    parent_id: Option<&EntryId>,
    timestamp: &str,
    data: Option<&MetaRecord>,
) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Record<'a> {
        r#type: &'static str,
        custom_type: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a MetaRecord>,
        id: &'a EntryId,
        parent_id: Option<&'a EntryId>,
        timestamp: &'a str,
    }
    let record = Record {
        r#type: "custom",
        custom_type,
        data,
        id,
        parent_id,
        timestamp,
    };
    serde_json::to_string(&record).expect("a record is plain data")
}
