//! The catalogue as a whole: texts in both languages, and codes that stay what they are.

use super::{
    CallEnd, CompactionProblem, FieldProblem, LimitedText, ModelChoiceError, ModelProblem,
    ModelRemedy, NamedBy, NotReady, ReadOnly, Reason, RunTrouble, SessionDamage, SkillProblem,
    StoreFault, StorePart, StuckPattern, SummaryFlaw, UsedBy,
};
use crate::{ChannelId, EntryId, LocalizedError, LocalizedText, RecordKind, SessionId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Display, Write};

/// A parameter for a test. `name` is what it is called.
pub(crate) trait Sample {
    fn sample(name: &str) -> Self;
}

macro_rules! numbers {
    ($($type:ty),+) => {
        $(impl Sample for $type {
            fn sample(_: &str) -> Self {
                7
            }
        })+
    };
}
numbers!(usize, i32, u32, u64, i64);

macro_rules! ids {
    ($($type:ty),+) => {
        $(impl Sample for $type {
            fn sample(name: &str) -> Self {
                Self::new(name)
            }
        })+
    };
}
ids!(ChannelId, EntryId, SessionId);

macro_rules! first {
    ($($type:ty),+) => {
        $(impl Sample for $type {
            fn sample(_: &str) -> Self {
                Self::samples().remove(0)
            }
        })+
    };
}
first!(
    FieldProblem,
    ModelChoiceError,
    ModelProblem,
    NamedBy,
    NotReady,
    ReadOnly,
    SessionDamage,
    SkillProblem,
    StoreFault,
    StuckPattern,
    SummaryFlaw,
    UsedBy
);

impl Sample for String {
    fn sample(name: &str) -> Self {
        name.to_owned()
    }
}

impl Sample for LimitedText {
    fn sample(_: &str) -> Self {
        Self::Title
    }
}

impl Sample for StorePart {
    fn sample(_: &str) -> Self {
        Self::AdminStore
    }
}

impl Sample for RecordKind {
    fn sample(_: &str) -> Self {
        Self::Agent
    }
}

impl Sample for Box<Reason> {
    fn sample(_: &str) -> Self {
        Self::new(Reason::samples().remove(0))
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample(name: &str) -> Self {
        Some(T::sample(name))
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(name: &str) -> Self {
        vec![T::sample(name)]
    }
}

/// A reason, or a part of one, as a client sees it.
struct Entry {
    json: Value,
    words: LocalizedText,
    shown: String,
}

impl Entry {
    fn of<T: Serialize + Display>(reason: &T, words: LocalizedText) -> Self {
        Self {
            json: serde_json::to_value(reason).unwrap(),
            words,
            shown: reason.to_string(),
        }
    }

    fn code(&self) -> &str {
        self.json["code"].as_str().unwrap()
    }

    fn parameters(&self) -> Vec<&str> {
        let fields = self.json.as_object().unwrap().keys();
        fields
            .map(String::as_str)
            .filter(|name| *name != "code")
            .collect()
    }
}

macro_rules! entries {
    ($($type:ty),+) => {
        vec![$((
            stringify!($type),
            <$type>::samples()
                .iter()
                .map(|reason| Entry::of(reason, reason.words()))
                .collect::<Vec<_>>(),
        )),+]
    };
}

/// What parameters of reasons are made of, by name.
fn parts() -> Vec<(&'static str, Vec<Entry>)> {
    entries!(
        FieldProblem,
        SessionDamage,
        StoreFault,
        NamedBy,
        UsedBy,
        SkillProblem
    )
}

fn reasons() -> Vec<Entry> {
    let reasons = Reason::samples();
    let entries = reasons.iter();
    entries
        .map(|reason| Entry::of(reason, reason.words()))
        .collect()
}

/// Reasons outside of refusals: those at the end of a run or of a compaction.
fn told() -> Vec<(&'static str, Vec<Entry>)> {
    entries!(
        RunTrouble,
        ModelProblem,
        CallEnd,
        StuckPattern,
        CompactionProblem,
        SummaryFlaw
    )
}

/// Texts that only stand in other texts.
fn fragments() -> Vec<(&'static str, Vec<Entry>)> {
    entries!(ModelRemedy)
}

fn all() -> Vec<Entry> {
    let others = parts().into_iter().chain(told()).chain(fragments());
    let others = others.flat_map(|(_, entries)| entries);
    reasons().into_iter().chain(others).collect()
}

#[test]
fn every_reason_has_a_text_in_both_languages() {
    for entry in all() {
        let (code, LocalizedText { zh, en }) = (entry.code(), &entry.words);
        assert!(!zh.trim().is_empty() && !en.trim().is_empty(), "{code}");
        let is_chinese = |letter: char| ('\u{4e00}'..='\u{9fff}').contains(&letter);
        assert!(zh.chars().any(is_chinese), "{code}: {zh}");
        // Chinese punctuation, and names such as “x”, may follow a quotation mark only in Chinese.
        assert!(!en.chars().any(is_chinese), "{code}: {en}");
        assert_eq!(entry.shown, *en, "{code}: logs have the English text");
    }
}

#[test]
fn chinese_texts_hold_no_english_sentence() {
    for entry in all() {
        let zh = &entry.words.zh;
        // What is set in code is a value, a name, or what another program said.
        let prose: String = zh.split('`').step_by(2).collect::<Vec<_>>().join("` `");
        let is_word =
            |word: &&str| word.len() > 1 && word.bytes().all(|letter| letter.is_ascii_lowercase());
        let words: Vec<&str> = prose.split(' ').collect();
        let mut pairs = words.windows(2);
        let english = pairs.find(|pair| pair.iter().all(is_word));
        assert_eq!(english, None, "{}: {zh}", entry.code());
        assert_eq!(zh.matches('`').count() % 2, 0, "{}: {zh}", entry.code());
    }
}

#[test]
fn codes_are_unique() {
    let mut known = BTreeMap::new();
    for entry in reasons() {
        let code = entry.code().to_owned();
        // A model that is missing is refused in two ways, with the same words.
        if let Some(other) = known.insert(code.clone(), entry.words.clone()) {
            assert_eq!(other, entry.words, "two reasons have the code {code}");
        }
    }
    for (name, entries) in parts().into_iter().chain(told()) {
        let codes: BTreeSet<&str> = entries.iter().map(Entry::code).collect();
        assert_eq!(codes.len(), entries.len(), "{name}");
    }
}

#[test]
fn a_reason_is_read_as_it_was_written() {
    fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(reason: &T) {
        let json = serde_json::to_string(reason).unwrap();
        assert_eq!(serde_json::from_str::<T>(&json).unwrap(), *reason, "{json}");
    }
    for reason in Reason::samples() {
        match &reason {
            // The code of the refusal tells the two apart.
            Reason::NoModel(reason) => check(reason),
            reason => check(reason),
        }
    }
    RunTrouble::samples().iter().for_each(check);
    CallEnd::samples().iter().for_each(check);
}

#[test]
fn a_reason_of_a_later_version_keeps_its_text() {
    let error = LocalizedError::from(RunTrouble::TurnLimit { turns: 3 });
    let mut json = serde_json::to_value(&error).unwrap();
    assert_eq!(
        json["reason"],
        serde_json::json!({"code": "turn_limit", "turns": 3})
    );
    assert_eq!(
        serde_json::from_value::<LocalizedError>(json.clone()).unwrap(),
        error
    );
    json["reason"] = serde_json::json!({"code": "of_a_later_version"});
    let read: LocalizedError = serde_json::from_value(json).unwrap();
    assert_eq!((read.reason, read.words), (None, error.words));
}

#[test]
fn the_documentation_lists_every_code() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol.md");
    let text = std::fs::read_to_string(file).unwrap();
    let (_, rest) = text.split_once("<!-- reasons -->\n").unwrap();
    let (listed, _) = rest.split_once("<!-- /reasons -->").unwrap();
    let expected = tables();
    assert!(
        listed == expected,
        "docs/protocol.md does not list the reasons as they are; put this between its marks:\n{expected}"
    );
}

fn tables() -> String {
    let mut text = String::from("\n| Reason | Code | Parameters |\n| --- | --- | --- |\n");
    for (reason, entry) in Reason::samples().iter().zip(reasons()) {
        let code = serde_json::to_value(reason.error_code()).unwrap();
        let (code, parameters) = (code.as_str().unwrap(), listed(&entry));
        writeln!(text, "| `{}` | `{code}` | {parameters} |", entry.code()).unwrap();
    }
    text.push_str(
        "\nParameters that are objects have a `code` of their own. `RunTrouble` is the `reason` of a \
         `trouble`, `CallEnd` that of the last step of a tool call; `CompactionProblem` describes a \
         compaction that failed.\n",
    );
    text.push_str("\n| Object | Code | Parameters |\n| --- | --- | --- |\n");
    for (name, entries) in parts().into_iter().chain(told()) {
        for entry in entries {
            let parameters = listed(&entry);
            writeln!(text, "| {name} | `{}` | {parameters} |", entry.code()).unwrap();
        }
    }
    text.push('\n');
    text
}

fn listed(entry: &Entry) -> String {
    let parameters = entry.parameters();
    let quoted: Vec<String> = parameters.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
