use super::events::{LINE_BYTES_MAX, LineSplitter, StderrLine};
use super::*;
use netaclaw_protocol::{ProcessLevel, ProcessSource, ProcessStatus};
use proptest::prelude::*;
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::sync::Arc;

fn lines_of(bytes: &[u8], size: usize) -> (Vec<StderrLine>, u64) {
    let (mut lines, mut found) = (LineSplitter::default(), Vec::new());
    for piece in bytes.chunks(size.max(1)) {
        lines.push(piece, |line| found.push(line));
    }
    lines.finish(|line| found.push(line));
    (found, lines.dropped)
}

#[test]
fn an_event_is_one_line_of_json_with_a_type_and_nothing_else_is() {
    let event = json!({
        "type": "process_event", "stage": "hash", "status": "done", "level": "warn",
        "message": "Hashing", "batch": 3, "totalBatches": 12, "time": "2026-11-16T10:00:00+08:00",
        "operationId": "tool-of-another", "sequence": 99, "files": 7
    });
    let text = format!("plain\n{event}\n{{\"type\":\"other\"}}\n{{\"process_event\": 1}}\r\nend");
    let (lines, dropped) = lines_of(text.as_bytes(), 7);
    let StderrLine::Event(update) = &lines[1] else {
        panic!("{lines:?}");
    };
    assert_eq!(update.source, ProcessSource::Skill);
    assert_eq!(update.stage.as_deref(), Some("hash"));
    assert_eq!(update.status, ProcessStatus::Completed);
    assert_eq!(update.level, ProcessLevel::Warning);
    assert_eq!((update.current, update.total), (Some(3), Some(12)));
    assert_eq!(
        update.timestamp.as_deref(),
        Some("2026-11-16T02:00:00.000Z")
    );
    assert_eq!(
        serde_json::Value::Object(update.payload.clone()),
        json!({"files": 7})
    );
    let logs = [0, 2, 3, 4].map(|at| match &lines[at] {
        StderrLine::Log(text) => text.as_str(),
        StderrLine::Event(_) => panic!("{lines:?}"),
    });
    assert_eq!(
        logs,
        [
            "plain",
            "{\"type\":\"other\"}",
            "{\"process_event\": 1}",
            "end"
        ]
    );
    assert_eq!(dropped, 0);
}

#[test]
fn an_event_needs_words_and_its_time_comes_before_its_timestamp() {
    let event = |more: serde_json::Value| {
        let mut event = json!({"type": "process_event"});
        event
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        lines_of(format!("{event}\n").as_bytes(), 64).0.remove(0)
    };
    let silent = event(json!({"status": "running", "current": 3}));
    assert!(matches!(silent, StderrLine::Log(_)), "{silent:?}");
    let times = |time: &str| {
        let both = json!({"stage": "hash", "time": time, "timestamp": "2026-11-16T12:00:00Z"});
        match event(both) {
            StderrLine::Event(update) => update.timestamp.unwrap(),
            StderrLine::Log(text) => panic!("{text}"),
        }
    };
    assert_eq!(times("2026-11-16T10:00:00Z"), "2026-11-16T10:00:00.000Z");
    assert_eq!(times("ten o'clock"), "2026-11-16T12:00:00.000Z");
}

#[test]
fn of_a_line_that_is_too_long_the_beginning_is_kept() {
    let mut text = vec![b'x'; LINE_BYTES_MAX + 1000];
    text.extend_from_slice(b"\nnext\n");
    let (lines, dropped) = lines_of(&text, 64 << 10);
    assert_eq!(lines.len(), 2);
    assert_eq!(dropped, 1000);
    let StderrLine::Log(first) = &lines[0] else {
        panic!("a log");
    };
    assert!(first.ends_with(" [… 1000 bytes …]"));
    assert_eq!(lines[1], StderrLine::Log("next".to_owned()));
}

proptest! {
    #[test]
    fn it_does_not_matter_how_lines_arrive(bytes: Vec<u8>, size in 1usize..9) {
        prop_assert_eq!(lines_of(&bytes, size), lines_of(&bytes, bytes.len()));
    }
}

/// A directory with skills, each with the content of its file.
struct SkillDir(tempfile::TempDir);

impl SkillDir {
    fn new(skills: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for (name, text) in skills {
            let dir = place.0.path().join(name);
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join(SKILL_FILE), text).unwrap();
        }
        place
    }

    fn find(&self) -> Vec<Skill> {
        self.places().find()
    }

    fn places(&self) -> SkillDirs {
        SkillDirs {
            data: Some(self.0.path().to_owned()),
            environment: Arc::new(vec![(
                OsString::from("PATH"),
                OsString::from("/bin:/usr/bin"),
            )]),
            ..SkillDirs::default()
        }
    }
}

#[track_caller]
fn check(text: &str, state: SkillState, expected: &str) {
    let place = SkillDir::new(&[("one", text)]);
    let skill = place.find().remove(0);
    let said = skill.problems.iter().chain(&skill.warnings);
    let said: Vec<String> = said.map(ToString::to_string).collect();
    assert_eq!((skill.state, said.join("; ")), (state, expected.to_owned()));
}

#[test]
fn each_fault_is_named_and_only_the_bad_ones_keep_a_skill_from_being_used() {
    use SkillState::{Invalid, Ready, Unavailable};
    let front = |more: &str| format!("---\nname: one\ndescription: Does it.\n{more}---\nBody");
    check(&front(""), Ready, "");
    check(
        "Body only",
        Invalid,
        "SKILL.md does not start with YAML between two lines of ---",
    );
    check(
        "---\nname: one\n---\nBody",
        Invalid,
        "it has no description, so models cannot know when to use it",
    );
    check(
        "---\ndescription: Does it.\n---\n",
        Ready,
        "it has no name; the name of the folder is used",
    );
    check(
        "---\nname: Two Words\ndescription: Does it.\n---\n",
        Ready,
        "its name \"Two Words\" is not valid (use lower-case letters, digits and hyphens); the name of the folder is used",
    );
    check(
        &front("metadata:\n  entry: ../main.py\n"),
        Invalid,
        "`entry` must be a relative path inside of the folder",
    );
    check(
        &front("metadata:\n  entry: main.py\n"),
        Invalid,
        "`entry` names a file that does not exist: main.py",
    );
    check(
        &front("metadata:\n  requires:\n    bins: [sh, no-such-program]\n    env: [NO_SUCH]\n"),
        Unavailable,
        "it needs the program `no-such-program`, which was not found; it needs the environment variable `NO_SUCH`, which is not set",
    );
    check(
        &front("metadata:\n  env: [NETACLAW_SECRET_KEY]\n  timeoutSeconds: soon\n"),
        Ready,
        "`timeoutSeconds` must be a whole number from 1 to 86400; these environment variables are not passed to it: NETACLAW_SECRET_KEY",
    );
}

#[test]
fn one_name_is_one_skill_and_people_come_before_what_is_shipped() {
    let text = |what: &str| format!("---\nname: one\ndescription: {what}\n---\n{what}");
    let (own, shipped) = (
        SkillDir::new(&[("one", &text("Own"))]),
        SkillDir::new(&[("one", &text("Shipped"))]),
    );
    let mut places = SkillDirs {
        shipped: Some(shipped.0.path().to_owned()),
        ..own.places()
    };
    let states: Vec<_> = places.find().iter().map(|s| (s.source, s.state)).collect();
    let expected = [
        (SkillSource::Data, SkillState::Ready),
        (SkillSource::Shipped, SkillState::Shadowed),
    ];
    assert_eq!(states, expected);
    assert_eq!(places.ready("one").unwrap().body(), "Own");
    // Files are read again each time.
    fs::write(own.0.path().join("one").join(SKILL_FILE), text("New")).unwrap();
    assert_eq!(places.ready("one").unwrap().body(), "New");
    places.chosen = vec!["two".to_owned()];
    let why = places.ready("one").unwrap_err().to_string();
    assert!(why.contains("the agent does not select it"), "{why}");
}

#[test]
fn what_lies_in_a_workspace_gets_no_variables_of_the_server() {
    let workspace = tempfile::tempdir().unwrap();
    let dir = workspace.path().join(".claude/skills/one");
    fs::create_dir_all(&dir).unwrap();
    let text = "---\nname: one\ndescription: Does it.\nmetadata:\n  env: [HOME_KEY]\n---\n";
    fs::write(dir.join(SKILL_FILE), text).unwrap();
    let places = SkillDirs {
        workspace: Some(workspace.path().to_owned()),
        ..SkillDirs::default()
    };
    let skill = places.ready("one").unwrap();
    assert!(skill.env.is_empty());
    assert_eq!(skill.warnings.len(), 1);
}

#[test]
fn a_new_skill_is_a_valid_one() {
    let place = tempfile::tempdir().unwrap();
    let dir = new_skill(place.path(), "greet", "Says \"hello\": politely.").unwrap();
    let environment = vec![("PATH".into(), "/bin:/usr/bin:/usr/local/bin".into())];
    let skill = check_skill(&dir, environment).unwrap();
    assert_eq!(skill.description, "Says \"hello\": politely.");
    assert!(skill.is_ready() && skill.warnings.is_empty(), "{skill:?}");
    assert!(matches!(
        new_skill(place.path(), "greet", "x"),
        Err(TemplateError::Exists(_))
    ));
    assert!(matches!(
        new_skill(place.path(), "../x", "x"),
        Err(TemplateError::BadName(_))
    ));
}
