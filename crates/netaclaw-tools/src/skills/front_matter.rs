//! The front matter of a skill: YAML between two lines of dashes.

use crate::schema::ArgumentCheck;
use netaclaw_protocol::{SkillProblem, SkillTexts, ToolLabel};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What a skill says of itself, as far as it can be read.
#[derive(Clone, Debug, Default)]
pub(super) struct FrontMatter {
    pub(super) name: Option<String>,
    pub(super) description: String,
    pub(super) metadata: Map<String, Value>,
    /// The input of its program: a schema, or what is wrong with it.
    pub(super) input: Option<Result<Value, String>>,
    /// Why it cannot be used at all.
    pub(super) problems: Vec<SkillProblem>,
    pub(super) warnings: Vec<SkillProblem>,
}

const DESCRIPTION_CHARS_MAX: usize = 500;

/// The YAML and the rest; no YAML if the text does not begin with it.
pub(super) fn split(text: &str) -> (Option<&str>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) = dashes(text) else {
        return (None, text);
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (Some(&rest[..at]), &rest[at + line.len()..]);
        }
        at += line.len();
    }
    (None, text)
}

fn dashes(text: &str) -> Option<&str> {
    let end = text.find('\n')?;
    (text[..end].trim_end() == "---").then(|| &text[end + 1..])
}

pub(super) fn read(text: &str) -> FrontMatter {
    let mut front = FrontMatter::default();
    let Some(yaml) = split(text).0 else {
        front.problems.push(SkillProblem::FrontMatterMissing);
        return front;
    };
    let fields: Map<String, Value> = match serde_saphyr::from_str(yaml) {
        Ok(fields) => fields,
        Err(error) => {
            let error = error.to_string();
            let why = error.lines().next().unwrap_or_default();
            front.problems.push(SkillProblem::FrontMatterNotValid {
                error: why.to_owned(),
            });
            return front;
        }
    };
    front.name = text_of(&fields, "name");
    front.description = text_of(&fields, "description").unwrap_or_default();
    if let Some(Value::Object(metadata)) = fields.get("metadata") {
        front.input = metadata.get("input").map(checked_schema);
        front.metadata = metadata.clone();
    }
    if front.description.is_empty() {
        front.problems.push(SkillProblem::DescriptionMissing);
    } else if front.description.chars().count() > DESCRIPTION_CHARS_MAX {
        front.warnings.push(SkillProblem::DescriptionTooLong {
            max_chars: DESCRIPTION_CHARS_MAX,
        });
    }
    front
}

fn checked_schema(schema: &Value) -> Result<Value, String> {
    ArgumentCheck::compile(schema).map(|_| schema.clone())
}

/// A text under this name, without the space around it.
pub(super) fn text_of(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let text = fields.get(name)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A list of texts, or one text alone.
pub(super) fn texts_of(fields: &Map<String, Value>, name: &str) -> Vec<String> {
    match fields.get(name) {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(items)) => {
            let texts = items.iter().filter_map(|item| item.as_str());
            texts.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// Texts for users by language. What does not have the form of a text is left out.
pub(super) fn translations_of(metadata: &Map<String, Value>) -> BTreeMap<String, SkillTexts> {
    let Some(Value::Object(languages)) = metadata.get("translations") else {
        return BTreeMap::new();
    };
    let read = |texts: &Value| serde_json::from_value(texts.clone()).ok();
    languages
        .iter()
        .filter_map(|(language, texts)| Some((language.clone(), read(texts)?)))
        .collect()
}

/// A name for users, in both languages or in one.
pub(super) fn label_of(metadata: &Map<String, Value>) -> Option<ToolLabel> {
    match metadata.get("label")? {
        Value::String(text) => Some(ToolLabel {
            zh: text.clone(),
            en: text.clone(),
        }),
        Value::Object(label) => {
            let (zh, en) = (text_of(label, "zh"), text_of(label, "en"));
            Some(ToolLabel {
                zh: zh.clone().or(en.clone())?,
                en: en.or(zh)?,
            })
        }
        _ => None,
    }
}
