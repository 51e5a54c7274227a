//! docs/protocol.md beside the types: each command, event and error code has its place there, and each
//! example can be read.

use netaclaw_protocol::{
    ClientCommand, DeltaEvent, EntryAdded, Envelope, ErrorCode, LegacyEvent, Notice,
    NoticeEnvelope, ReliableEvent,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use ts_rs::{Config, TS};

fn document() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    std::fs::read_to_string(root.join("docs/protocol.md")).unwrap()
}

/// The part of the document below `## title`.
fn chapter<'d>(document: &'d str, title: &str) -> &'d str {
    let heading = format!("\n## {title}\n");
    let (_, after) = document.split_once(&heading).expect(title);
    after.split("\n## ").next().unwrap()
}

/// What stands below each ``### `name` ``.
fn sections(chapter: &str) -> BTreeMap<&str, &str> {
    let sections = chapter.split("\n### `").skip(1);
    sections
        .map(|section| section.split_once('`').unwrap())
        .collect()
}

/// The first example of a section.
fn example(section: &str) -> Option<Value> {
    let (_, after) = section.split_once("```json\n")?;
    let (json, _) = after.split_once("\n```")?;
    Some(serde_json::from_str(json).expect(json))
}

/// The tags of an enum, as TypeScript has them.
fn tags<E: TS>() -> BTreeSet<String> {
    let inline = E::inline(&Config::default());
    let tags = inline.split("\"type\": \"").skip(1);
    tags.map(|tag| tag.split('"').next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_command_has_a_section_with_an_example() {
    let document = document();
    let sections = sections(chapter(&document, "Commands"));
    let documented: BTreeSet<&str> = sections.keys().copied().collect();
    let known: BTreeSet<&str> = ClientCommand::NAMES.iter().copied().collect();
    assert_eq!(documented, known);
    for (name, section) in sections {
        let payload = example(section).unwrap_or_else(|| panic!("{name} has no example"));
        let read = ClientCommand::read(name, payload).unwrap();
        read.unwrap_or_else(|error| panic!("the example of {name}: {error}"));
    }
}

#[test]
fn every_event_has_a_section_with_an_example() {
    let document = document();
    let sections = sections(chapter(&document, "Events"));
    let reliable = tags::<ReliableEvent>();
    let deltas = tags::<DeltaEvent>();
    let notices = tags::<Notice>();
    let documented: BTreeSet<&str> = sections.keys().copied().collect();
    let known = reliable.iter().chain(&deltas).chain(&notices);
    assert_eq!(documented, known.map(String::as_str).collect());
    for (name, section) in sections {
        let event = example(section).unwrap_or_else(|| panic!("{name} has no example"));
        assert_eq!(event["type"], name);
        // An entry is kept as it is stored, which only a parser of text can do.
        if name.starts_with("session_entry_") {
            let data = event["data"].to_string();
            serde_json::from_str::<EntryAdded>(&data).unwrap();
            serde_json::from_value::<Envelope<Value>>(event).unwrap();
            continue;
        }
        let is_session = event.get("sessionId").is_some();
        let read = match is_session {
            true if reliable.contains(name) => {
                assert!(event["seq"].is_u64(), "{name} is numbered");
                serde_json::from_value::<Envelope<ReliableEvent>>(event).map(drop)
            }
            true => serde_json::from_value::<Envelope<DeltaEvent>>(event).map(drop),
            false => serde_json::from_value::<NoticeEnvelope>(event).map(drop),
        };
        read.unwrap_or_else(|error| panic!("the example of {name}: {error}"));
    }
    for older in tags::<LegacyEvent>() {
        assert!(document.contains(&format!("`{older}`")), "{older}");
    }
}

#[test]
fn every_error_code_is_explained() {
    let document = document();
    let errors = chapter(&document, "Errors");
    let codes = ErrorCode::inline(&Config::default());
    let codes: Vec<&str> = codes
        .split(" | ")
        .map(|code| code.trim_matches('"'))
        .collect();
    assert!(codes.len() > 5, "{codes:?}");
    for code in codes {
        assert!(errors.contains(&format!("\n| `{code}` |")), "{code}");
    }
}
