//! What is wrong with a session. Pure: it looks at bytes and entries and says what it found.

use super::finding::{Finding, Report};
use crate::json::Json;
use crate::session::forest::Links;
use netaclaw_session::{
    Entry, EntryId, EntryKind, FORMAT_VERSION, Header, Role, SessionLog, SessionTree,
};
use serde::de::IgnoredAny;
use std::collections::{HashMap, HashSet};

/// What the bytes of a file reveal; nothing for a session that is stored elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    version: Option<u32>,
    findings: Vec<Finding>,
}

impl Audit {
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let (mut unreadable, mut invalid) = (Vec::new(), Vec::new());
        let mut version = None;
        let mut last_is_readable = true;
        for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
            let text = String::from_utf8_lossy(line);
            if text.trim().is_empty() {
                continue;
            }
            last_is_readable = is_object(&text);
            match last_is_readable {
                false => unreadable.push(number),
                true if std::str::from_utf8(line).is_err() => invalid.push(number),
                true => {}
            }
            if version.is_none() && last_is_readable {
                version = Header::parse(text.into_owned()).map(|header| header.version());
            }
        }
        let mut findings = Vec::new();
        let is_open = !bytes.is_empty() && !bytes.ends_with(b"\n");
        match (is_open, last_is_readable) {
            (true, false) => findings.push(Finding::TornTail),
            (true, true) => findings.push(Finding::NoLastLineBreak),
            _ => {}
        }
        push_some(&mut findings, unreadable, Finding::UnreadableLines);
        push_some(&mut findings, invalid, Finding::InvalidUtf8);
        match version {
            Some(version) if version < FORMAT_VERSION => {
                findings.push(Finding::OldVersion(version))
            }
            Some(version) if version > FORMAT_VERSION => {
                findings.push(Finding::NewerVersion(version))
            }
            _ => {}
        }
        Self { version, findings }
    }

    /// For bytes that hold no session.
    pub(crate) fn without_session(mut self, finding: Finding) -> Report {
        self.findings.insert(0, finding);
        Report {
            session_id: None,
            version: None,
            entries: 0,
            findings: self.findings,
        }
    }

    pub(crate) fn with_log(mut self, log: SessionLog) -> Report {
        let last = log.last.clone();
        let version = self.version.unwrap_or_else(|| log.header.version());
        let tree = SessionTree::new(log);
        let links = Links::new(&tree);
        let ids = |at: &usize| tree.entries()[*at].id().clone();
        let found = &mut self.findings;
        push_some(found, orphans(&tree), Finding::Orphans);
        push_some(found, duplicates(&tree), Finding::DuplicateIds);
        push_some(
            found,
            links.circular.iter().map(ids).collect(),
            Finding::Circles,
        );
        push_some(
            found,
            missing_first_kept(&tree, &links),
            Finding::MissingFirstKept,
        );
        push_some(found, missing_messages(&tree), Finding::MissingMessage);
        found.extend(
            last.filter(|last| !tree.contains(last))
                .map(Finding::MissingLeaf),
        );
        push_some(
            found,
            results_without_call(&tree),
            Finding::ResultsWithoutCall,
        );
        Report {
            session_id: Some(tree.header().id().to_string()),
            version: Some(version),
            entries: tree.entries().len() as u64,
            findings: self.findings,
        }
    }
}

fn push_some<T>(
    findings: &mut Vec<Finding>,
    places: Vec<T>,
    finding: impl FnOnce(Vec<T>) -> Finding,
) {
    if !places.is_empty() {
        findings.push(finding(places));
    }
}

fn is_object(line: &str) -> bool {
    line.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok()
}

fn ids_of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<EntryId> {
    entries.map(|entry| entry.id().clone()).collect()
}

fn orphans(tree: &SessionTree) -> Vec<EntryId> {
    let is_missing = |id: &EntryId| !tree.contains(id);
    ids_of(
        tree.entries()
            .iter()
            .filter(|entry| entry.parent_id().is_some_and(is_missing)),
    )
}

fn duplicates(tree: &SessionTree) -> Vec<EntryId> {
    let mut counts: HashMap<&EntryId, u32> = HashMap::new();
    let mut repeated = Vec::new();
    for entry in tree.entries() {
        let count = counts.entry(entry.id()).or_default();
        *count += 1;
        if *count == 2 {
            repeated.push(entry.id().clone());
        }
    }
    repeated
}

fn missing_messages(tree: &SessionTree) -> Vec<EntryId> {
    let messages = tree
        .entries()
        .iter()
        .filter(|entry| entry.kind() == EntryKind::Message);
    ids_of(messages.filter(|entry| entry.message_json().is_none()))
}

/// Compactions whose first kept entry is not on the path before them. One that names itself keeps
/// nothing on purpose.
fn missing_first_kept(tree: &SessionTree, links: &Links) -> Vec<EntryId> {
    // An entry is above another if its stretch of the order, itself and all below it, holds the
    // other: no path has to be walked.
    let order = links.preorder();
    let mut place = vec![0; tree.entries().len()];
    let mut size = vec![1; tree.entries().len()];
    for (nth, at) in order.iter().enumerate() {
        place[*at] = nth;
    }
    for at in order.iter().rev() {
        if let Some(parent) = links.parents[*at] {
            size[parent] += size[*at];
        }
    }
    let is_sound = |at: usize| {
        let compaction = &tree.entries()[at];
        let Some(first) = compaction.text_field("firstKeptEntryId") else {
            return false;
        };
        let Some(kept) = tree.index().position(&EntryId::new(first)) else {
            return false;
        };
        (place[kept]..place[kept] + size[kept]).contains(&place[at])
    };
    let compactions = order
        .iter()
        .filter(|at| tree.entries()[**at].kind() == EntryKind::Compaction);
    ids_of(
        compactions
            .filter(|at| !is_sound(**at))
            .map(|at| &tree.entries()[*at]),
    )
}

fn results_without_call(tree: &SessionTree) -> Vec<EntryId> {
    let mut calls: HashSet<String> = HashSet::new();
    let mut lonely = Vec::new();
    for entry in tree.active_path().unwrap_or_default() {
        let Some(message) = entry
            .message_json()
            .map(|message| Json::new(message).object())
        else {
            continue;
        };
        match entry.role() {
            Role::Assistant => {
                let blocks = message.get("content").map(Json::items).unwrap_or_default();
                let blocks = blocks.into_iter().map(Json::object);
                let made = blocks.filter(|block| block.text("type").as_deref() == Some("toolCall"));
                calls.extend(made.filter_map(|call| Some(call.text("id")?.into_owned())));
            }
            Role::ToolResult => {
                let call = message.text("toolCallId").unwrap_or_default();
                if !calls.contains(call.as_ref()) {
                    lonely.push(entry.id().clone());
                }
            }
            _ => {}
        }
    }
    lonely
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"session","version":3,"id":"s"}"#;

    fn audit(text: &[u8]) -> Vec<Finding> {
        let audit = Audit::of_bytes(text);
        audit
            .with_log(SessionLog::parse(text.to_vec()).unwrap())
            .findings
    }

    fn check(lines: &[&str], expected: &[Finding]) {
        let text = format!("{HEADER}\n{}\n", lines.join("\n"));
        assert_eq!(audit(text.as_bytes()), expected, "{text}");
    }

    fn ids(ids: &[&str]) -> Vec<EntryId> {
        ids.iter().map(|id| EntryId::new(*id)).collect()
    }

    #[test]
    fn a_sound_session_has_no_findings() {
        check(
            &[
                r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"x"}}"#,
                r#"{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read"}]}}"#,
                r#"{"type":"message","id":"c","parentId":"b","message":{"role":"toolResult","toolCallId":"c1"}}"#,
                r#"{"type":"compaction","id":"d","parentId":"c","firstKeptEntryId":"b"}"#,
                r#"{"type":"compaction","id":"e","parentId":"d","firstKeptEntryId":"e"}"#,
            ],
            &[],
        );
    }

    #[test]
    fn each_kind_of_damage_is_named() {
        check(
            &["{", "nonsense", "[1]"],
            &[Finding::UnreadableLines(vec![2, 3, 4])],
        );
        check(
            &[r#"{"type":"x","id":"a","parentId":"gone"}"#],
            &[Finding::Orphans(ids(&["a"]))],
        );
        check(
            &[
                r#"{"type":"x","id":"a"}"#,
                r#"{"type":"x","id":"a"}"#,
                r#"{"type":"x","id":"a"}"#,
            ],
            &[Finding::DuplicateIds(ids(&["a"]))],
        );
        check(
            &[
                r#"{"type":"x","id":"a","parentId":"b"}"#,
                r#"{"type":"x","id":"b","parentId":"a"}"#,
            ],
            &[Finding::Circles(ids(&["a", "b"]))],
        );
        check(
            &[r#"{"type":"message","id":"a"}"#],
            &[Finding::MissingMessage(ids(&["a"]))],
        );
        check(
            &[
                r#"{"type":"x","id":"a"}"#,
                r#"{"type":"x","id":"side","parentId":"a"}"#,
                r#"{"type":"compaction","id":"b","parentId":"a","firstKeptEntryId":"side"}"#,
                r#"{"type":"compaction","id":"c","parentId":"b"}"#,
            ],
            &[Finding::MissingFirstKept(ids(&["b", "c"]))],
        );
        check(
            &[r#"{"type":"message","id":"a","message":{"role":"toolResult","toolCallId":"c1"}}"#],
            &[Finding::ResultsWithoutCall(ids(&["a"]))],
        );
        check(
            &[r#"{"type":"custom","customType":"netaclaw.leaf","id":"m","parentId":"gone"}"#],
            &[Finding::MissingLeaf("gone".into())],
        );
    }

    #[test]
    fn the_end_of_the_file_and_its_bytes_are_looked_at() {
        let torn = format!("{HEADER}\n{{\"type\":\"mess");
        assert_eq!(
            audit(torn.as_bytes()),
            [Finding::TornTail, Finding::UnreadableLines(vec![2])]
        );
        assert_eq!(audit(HEADER.as_bytes()), [Finding::NoLastLineBreak]);
        assert!(!Finding::NoLastLineBreak.is_damage());
        let mut bytes = format!("{HEADER}\n{{\"type\":\"x\",\"id\":\"").into_bytes();
        bytes.extend_from_slice(b"\xff\"}\n");
        assert_eq!(audit(&bytes), [Finding::InvalidUtf8(vec![2])]);
        assert_eq!(
            audit(b"{\"type\":\"session\",\"id\":\"s\"}\n"),
            [Finding::OldVersion(1)]
        );
    }
}
