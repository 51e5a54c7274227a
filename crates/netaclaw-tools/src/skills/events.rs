//! The error output of a skill: process events in JSON, and everything else as a log.

use crate::update::ProcessUpdate;
use netaclaw_protocol::{ProcessLevel, ProcessSource, ProcessStatus};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Of a line that is longer the rest is dropped.
pub(super) const LINE_BYTES_MAX: usize = 256 << 10;

/// Cuts what comes through a pipe into lines, however it arrives.
#[derive(Debug, Default)]
pub(super) struct LineSplitter {
    line: Vec<u8>,
    /// Bytes that were dropped, of this line and of all.
    over: usize,
    pub(super) dropped: u64,
}

impl LineSplitter {
    /// Gives every line that these bytes complete to `take`.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(StderrLine)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.extend(&bytes[..end]);
            bytes = &bytes[end + 1..];
            self.complete(&mut take);
        }
        self.extend(bytes);
    }

    /// What is left when nothing more comes.
    pub(super) fn finish(&mut self, mut take: impl FnMut(StderrLine)) {
        if !self.line.is_empty() {
            self.complete(&mut take);
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX - self.line.len();
        let kept = bytes.len().min(room);
        self.line.extend_from_slice(&bytes[..kept]);
        self.over += bytes.len() - kept;
    }

    fn complete(&mut self, take: &mut impl FnMut(StderrLine)) {
        let over = std::mem::take(&mut self.over);
        self.dropped += over as u64;
        take(StderrLine::read(&self.line, over));
        self.line.clear();
    }
}

/// A line of the skill's errors.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StderrLine {
    Event(Box<ProcessUpdate>),
    Log(String),
}

impl StderrLine {
    fn read(bytes: &[u8], over: usize) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches('\r');
        // Other lines cannot be events, and most lines of a log need not be parsed.
        let may_be = over == 0 && text.starts_with('{') && text.contains("process_event");
        let event = may_be.then(|| serde_json::from_str(text).ok()).flatten();
        match event.and_then(event_of) {
            Some(update) => Self::Event(Box::new(update)),
            None if over > 0 => Self::Log(format!("{text} [… {over} bytes …]")),
            None => Self::Log(text.to_owned()),
        }
    }
}

/// Fields with a meaning; all others are payload. A skill cannot choose whose step it is.
const RESERVED: [&str; 22] = [
    "type",
    "version",
    "operationId",
    "parentOperationId",
    "targetType",
    "source",
    "taskId",
    "stage",
    "status",
    "level",
    "message",
    "detail",
    "current",
    "total",
    "percent",
    "payload",
    "timestamp",
    "time",
    "sequence",
    "batch",
    "totalBatches",
    "toolCallId",
];

fn event_of(mut fields: Map<String, Value>) -> Option<ProcessUpdate> {
    if fields.get("type")?.as_str()? != "process_event" {
        return None;
    }
    let text = |name: &str| {
        let text = fields.get(name)?.as_str()?;
        (!text.is_empty()).then(|| text.to_owned())
    };
    let count = |name: &str| {
        let number = fields.get(name)?.as_f64()?;
        (0.0..9e15)
            .contains(&number)
            .then_some(number.round() as u64)
    };
    let mut update = ProcessUpdate {
        source: ProcessSource::Skill,
        task_id: text("taskId"),
        stage: text("stage"),
        status: named(fields.get("status")).unwrap_or_default(),
        level: named(fields.get("level")).unwrap_or_default(),
        message: text("message")
            .or_else(|| text("stage"))
            .unwrap_or_default(),
        detail: text("detail"),
        current: count("current").or_else(|| count("batch")),
        total: count("total").or_else(|| count("totalBatches")),
        percent: fields.get("percent").and_then(Value::as_f64),
        timestamp: ["time", "timestamp"]
            .into_iter()
            .find_map(|name| text(name).and_then(time)),
        payload: Map::new(),
    };
    // It says nothing that people could read.
    if update.message.is_empty() {
        return None;
    }
    if let Some(Value::Object(payload)) = fields.get("payload") {
        update.payload = payload.clone();
    }
    fields.retain(|name, _| !RESERVED.contains(&name.as_str()));
    update.payload.extend(fields);
    Some(update)
}

/// A time in the one format that is stored; an invalid one counts as now.
fn time(text: String) -> Option<String> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    Some(format!("{moment:.3}"))
}

/// A word that is one of a few; others count as none, because a skill must not fail over a word.
fn named<T: DeserializeOwned + EventNamed>(value: Option<&Value>) -> Option<T> {
    let word = value?.as_str()?.to_ascii_lowercase();
    let word = T::synonym(&word).unwrap_or(&word);
    T::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new(word)).ok()
}

trait EventNamed: for<'de> Deserialize<'de> {
    fn synonym(word: &str) -> Option<&'static str>;
}

impl EventNamed for ProcessStatus {
    fn synonym(word: &str) -> Option<&'static str> {
        match word {
            "done" | "success" | "succeeded" | "finished" => Some("completed"),
            "error" => Some("failed"),
            "canceled" => Some("cancelled"),
            "progress" | "in_progress" => Some("running"),
            _ => None,
        }
    }
}

impl EventNamed for ProcessLevel {
    fn synonym(word: &str) -> Option<&'static str> {
        match word {
            "warn" => Some("warning"),
            "fatal" | "critical" => Some("error"),
            "trace" => Some("debug"),
            _ => None,
        }
    }
}
