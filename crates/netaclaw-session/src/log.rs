//! A session file as text, read into a header and entries. Writing is the provider's part.
//!
//! Reading is lenient: an unreadable line is skipped and counted, nothing else is lost. NetaClaw's
//! own bookkeeping lines (the leaf's moves, changed session data) are applied here and do not
//! appear as entries.

use crate::entry::parent_of;
use crate::error::LogError;
use crate::header::Header;
use crate::json::{self, LineHead};
use crate::metadata::MetadataChange;
use crate::migrate::{self, Line};
use crate::{Entry, EntryKind, FORMAT_VERSION};
use bytestring::ByteString;
use netaclaw_protocol::{EntryId, SessionStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

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
    pub metadata: Option<Arc<Map<String, Value>>>,
    /// What changed in the metadata since the record before. Records that are merged have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<MetadataChange>,
}

impl MetaRecord {
    /// Takes in a later record. The header has the metadata of a session that never changed it.
    pub fn merge(&mut self, later: MetaRecord, header: &Header) {
        self.status = later.status.or(self.status);
        self.agent_id = later.agent_id.or(self.agent_id.take());
        self.metadata = later.metadata.or(self.metadata.take());
        if later.changes.is_empty() {
            return;
        }
        let metadata = self
            .metadata
            .get_or_insert_with(|| Arc::new(header.metadata()));
        let metadata = Arc::make_mut(metadata);
        for change in later.changes {
            change.apply(metadata);
        }
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
    /// Lines end at `\n` only. Invalid UTF-8 becomes U+FFFD, as in Pi.
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
        let lines = match needs_migration {
            true => migrate::to_current(declared_version, lines),
            false => lines,
        };
        // A newer version stays what it is, so that such a session is never written.
        let header = match declared_version < FORMAT_VERSION {
            true => header.upgraded(),
            false => header,
        };
        let view = View::through_markers(lines, &header);
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
    // A byte order mark is valid only at the very beginning; elsewhere it makes its line invalid.
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

/// A bookkeeping line that was taken out.
struct Marker {
    /// Its parent entry.
    parent: Option<EntryId>,
    /// Itself and the markers right above it.
    ids: Vec<EntryId>,
    /// Its children in the file.
    children: HashSet<EntryId>,
}

impl View {
    fn through_markers(lines: Vec<Line>, header: &Header) -> Self {
        let mut view = View {
            entries: Vec::with_capacity(lines.len()),
            ..View::default()
        };
        let mut markers: HashMap<EntryId, Marker> = HashMap::new();
        let mut last: Option<EntryId> = None;
        for line in lines {
            match line {
                Line::Header(_) | Line::Nameless(_) => {}
                Line::Marker(entry) => {
                    if let Some(record) = meta_record(&entry) {
                        view.meta.merge(record, header);
                    }
                    let marker = Marker::new(&entry, &markers);
                    last = marker.parent.clone();
                    markers.insert(entry.id().clone(), marker);
                }
                Line::Entry(entry) => {
                    last = Some(entry.id().clone());
                    let entry = match markers.is_empty() {
                        true => entry,
                        false => view.without_markers(entry, &mut markers),
                    };
                    view.entries.push(entry);
                }
            }
        }
        view.last = last;
        view
    }

    /// The entry as it would have been written had there been no markers.
    fn without_markers(&self, entry: Entry, markers: &mut HashMap<EntryId, Marker>) -> Entry {
        let above = entry.parent_id().and_then(|id| markers.get(id));
        let entry = match above.map(|marker| (marker.parent.clone(), marker.ids.clone())) {
            None => entry,
            Some((parent, ids)) => {
                for id in ids {
                    if let Some(marker) = markers.get_mut(&id) {
                        marker.children.insert(entry.id().clone());
                    }
                }
                entry.below(parent.as_ref())
            }
        };
        self.kept_from_entry(&entry, markers).unwrap_or(entry)
    }

    /// Pi may let a compaction keep from a marker on, which to it is an entry like any other. Here
    /// that means from the entry below the marker on, on the compaction's own path.
    fn kept_from_entry(&self, entry: &Entry, markers: &HashMap<EntryId, Marker>) -> Option<Entry> {
        if entry.kind() != EntryKind::Compaction {
            return None;
        }
        let marker = markers.get(entry.text_field("firstKeptEntryId")?.as_ref())?;
        let by_id: HashMap<&EntryId, &Entry> = self
            .entries
            .iter()
            .map(|entry| (entry.id(), entry))
            .collect();
        let up = |entry: &&Entry| entry.parent_id().and_then(|id| by_id.get(id).copied());
        let first = std::iter::successors(up(&entry), up)
            .take(self.entries.len())
            .find(|entry| marker.children.contains(entry.id()))?;
        let id = Value::from(first.id().as_str()).to_string();
        Some(entry.with_field("firstKeptEntryId", &id))
    }
}

impl Marker {
    fn new(entry: &Entry, markers: &HashMap<EntryId, Marker>) -> Self {
        let above = entry.parent_id().and_then(|id| markers.get(id));
        let mut ids = above.map_or_else(Vec::new, |marker| marker.ids.clone());
        ids.push(entry.id().clone());
        Self {
            parent: match above {
                Some(marker) => marker.parent.clone(),
                None => entry.parent_id().cloned(),
            },
            ids,
            children: HashSet::new(),
        }
    }
}

fn meta_record(marker: &Entry) -> Option<MetaRecord> {
    if marker.text_field("customType")? != META_RECORD {
        return None;
    }
    let data = marker.field("data")?;
    let record = serde_json::from_str(data).ok();
    record.or_else(|| readable_part(data))
}

/// The members of a record that this version can read: one that it cannot costs only itself.
fn readable_part(data: &str) -> Option<MetaRecord> {
    fn member<T: serde::de::DeserializeOwned>(
        record: &mut Map<String, Value>,
        name: &str,
    ) -> Option<T> {
        serde_json::from_value(record.remove(name)?).ok()
    }
    let mut record: Map<String, Value> = serde_json::from_str(data).ok()?;
    Some(MetaRecord {
        status: member(&mut record, "status"),
        agent_id: member(&mut record, "agentId"),
        metadata: member(&mut record, "metadata"),
        changes: member(&mut record, "changes").unwrap_or_default(),
    })
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
