//! Arguments for a tool, made from its schema: the demo has no code for particular tools.

use serde_json::{Map, Value, json};

/// What the user's words have to offer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ArgumentHints {
    /// What it is about, in the user's words.
    pub(super) text: String,
    pub(super) path: Option<String>,
    pub(super) url: Option<String>,
    pub(super) command: Option<String>,
    /// A list in the user's words.
    pub(super) items: Vec<String>,
    /// The text to replace, and its replacement.
    pub(super) replacement: Option<(String, String)>,
}

/// An object that fits the schema as far as it can be guessed.
pub(super) fn fill(schema: &Value, hints: &ArgumentHints) -> Value {
    Filler {
        root: schema,
        hints,
    }
    .object(schema, 0)
}

struct Filler<'a> {
    root: &'a Value,
    hints: &'a ArgumentHints,
}

/// Schemas may refer to themselves.
const DEPTH_MAX: usize = 6;

impl Filler<'_> {
    fn object(&self, schema: &Value, depth: usize) -> Value {
        let schema = self.resolve(schema);
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut object = Map::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let known = self.by_name(name, property, depth);
            let value = match known {
                None if required.contains(&name.as_str()) => {
                    Some(self.by_type(property, &self.hints.text, depth))
                }
                known => known,
            };
            if let Some(value) = value {
                object.insert(name.clone(), value);
            }
        }
        Value::Object(object)
    }

    /// Names say more than types.
    fn by_name(&self, name: &str, schema: &Value, depth: usize) -> Option<Value> {
        let text = |text: &str| Some(json!(text));
        match name.to_lowercase().as_str() {
            "path" | "file" | "file_path" | "filepath" | "filename" | "dir" | "directory" => {
                self.hints.path.as_deref().and_then(text)
            }
            "url" => self.hints.url.as_deref().and_then(text),
            "command" | "cmd" => self.hints.command.as_deref().and_then(text),
            "question" | "pattern" | "query" | "task" | "fact" => text(&self.hints.text),
            "old_text" => self
                .hints
                .replacement
                .as_ref()
                .and_then(|(old, _)| text(old)),
            "new_text" => self
                .hints
                .replacement
                .as_ref()
                .and_then(|(_, new)| text(new)),
            "edits" if self.hints.replacement.is_some() => {
                let edit = &self.resolve(schema)["items"];
                Some(json!([self.object(edit, depth + 1)]))
            }
            "options" | "choices" | "items" | "todos" | "tasks" if !self.hints.items.is_empty() => {
                let item = &self.resolve(schema)["items"];
                let items = self.hints.items.iter();
                Some(
                    items
                        .map(|words| self.by_type(item, words, depth + 1))
                        .collect(),
                )
            }
            _ => None,
        }
    }

    fn by_type(&self, schema: &Value, words: &str, depth: usize) -> Value {
        let schema = self.resolve(schema);
        if depth > DEPTH_MAX {
            return Value::Null;
        }
        if let Some(value) = choice(schema) {
            return value;
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.first().and_then(Value::as_str),
            kind => kind.as_str(),
        };
        match kind {
            Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
            Some("boolean") => json!(false),
            Some("array") => json!([]),
            Some("object") => {
                let hints = ArgumentHints {
                    text: words.to_owned(),
                    ..ArgumentHints::default()
                };
                let inner = Filler {
                    root: self.root,
                    hints: &hints,
                };
                inner.object(schema, depth + 1)
            }
            _ => json!(words),
        }
    }

    /// Follows references, and the first real one of several possibilities.
    fn resolve<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        for _ in 0..DEPTH_MAX {
            let next = if let Some(reference) = schema["$ref"].as_str() {
                self.root.pointer(reference.trim_start_matches('#'))
            } else {
                let several = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
                several
                    .filter(|_| choice(schema).is_none())
                    .and_then(|all| all.iter().find(|one| one["type"] != "null"))
            };
            match next {
                Some(next) => schema = next,
                None => break,
            }
        }
        schema
    }
}

/// One of the values a schema allows. The words for beginning something come first.
fn choice(schema: &Value) -> Option<Value> {
    let listed = schema["enum"].as_array().cloned().unwrap_or_default();
    let one_of = schema["oneOf"].as_array().into_iter().flatten();
    let constants = one_of.filter_map(|one| one.get("const").cloned());
    let values: Vec<Value> = schema
        .get("const")
        .cloned()
        .into_iter()
        .chain(listed)
        .chain(constants)
        .collect();
    let first_words = ["pending", "open", "set", "write", "add", "create"];
    first_words
        .iter()
        .find_map(|word| values.iter().find(|value| *value == word))
        .or(values.first())
        .cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_fit_an_unknown_schema() {
        let schema = json!({
            "type": "object",
            "properties": {
                "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
                "note": {"type": "string"},
            },
            "required": ["items"],
            "$defs": {
                "Item": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "integer", "minimum": 1},
                        "text": {"type": "string"},
                        "status": {"oneOf": [{"const": "done"}, {"const": "pending"}]},
                        "due": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    },
                    "required": ["id", "text", "status"],
                },
            },
        });
        let hints = ArgumentHints {
            items: vec!["milk".into(), "bread".into()],
            ..ArgumentHints::default()
        };
        assert_eq!(
            fill(&schema, &hints),
            json!({"items": [
                {"id": 1, "text": "milk", "status": "pending"},
                {"id": 1, "text": "bread", "status": "pending"},
            ]})
        );
    }

    #[test]
    fn optional_members_appear_only_when_the_words_say_something() {
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        });
        assert_eq!(fill(&schema, &ArgumentHints::default()), json!({}));
        let hints = ArgumentHints {
            path: Some("src".into()),
            ..ArgumentHints::default()
        };
        assert_eq!(fill(&schema, &hints), json!({"path": "src"}));
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({
            "type": "object",
            "properties": {"child": {"$ref": "#"}},
            "required": ["child"],
        });
        assert!(fill(&schema, &ArgumentHints::default()).is_object());
    }
}
