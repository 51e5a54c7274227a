//! Schemas of arguments: made from Rust types, compiled once, and words for what does not fit.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Faults named at a time; more do not help a model.
const FAULTS_MAX: usize = 5;
const FAULT_CHARS_MAX: usize = 300;

/// The schema of a type as models get it: one object without references, and without what only
/// generators need.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Some(root) = schema.as_object_mut() {
        root.remove("title");
        // A tool without arguments has no properties, but suppliers require the member.
        root.entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
    }
    simplify(&mut schema);
    schema
}

/// Removes what some suppliers refuse: formats of Rust's numbers, and `null` as a second type. An
/// argument that may be absent need not be null as well; where a model sends it, it counts as
/// absent.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let rust_number = |format: &Value| {
                let format = format.as_str().unwrap_or_default();
                ["uint", "int", "float", "double"]
                    .iter()
                    .any(|prefix| format.starts_with(prefix))
            };
            if members.get("format").is_some_and(rust_number) {
                members.remove("format");
            }
            if members.get("default") == Some(&Value::Null) {
                members.remove("default");
            }
            if let Some(Value::Array(types)) = members.get_mut("type") {
                types.retain(|name| name != "null");
                if types.len() == 1 {
                    let only = types.remove(0);
                    members.insert("type".to_owned(), only);
                }
            }
            members.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// A schema ready to check arguments.
#[derive(Debug)]
pub(crate) struct ArgumentCheck(jsonschema::Validator);

impl ArgumentCheck {
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        jsonschema::validator_for(schema)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    /// `Err` is a text for the model: what to repair, where, and what was expected there.
    pub(crate) fn check(&self, args: &Value) -> Result<(), String> {
        if let Value::String(text) = args {
            return Err(not_json(text));
        }
        if self.0.is_valid(args) || self.0.is_valid(&without_nulls(args)) {
            return Ok(());
        }
        let mut faults: Vec<String> = self
            .0
            .iter_errors(args)
            .take(FAULTS_MAX + 1)
            .map(|error| {
                let path = error.instance_path().to_string();
                let place = if path.is_empty() { "/" } else { &path };
                format!("- at `{place}`: {}", cut(&error.to_string()))
            })
            .collect();
        if faults.len() > FAULTS_MAX {
            faults[FAULTS_MAX] = "- and more".to_owned();
        }
        Err(format!(
            "The arguments do not match the schema of the tool:\n{}\nCorrect them and call it \
             again.",
            faults.join("\n")
        ))
    }
}

/// The value is a text, because it was not valid JSON.
fn not_json(text: &str) -> String {
    let problem = match serde_json::from_str::<Value>(text) {
        Err(error) => error.to_string(),
        Ok(_) => "expected a JSON object, not a string".to_owned(),
    };
    format!(
        "The arguments are not valid JSON: {problem}. They start with `{}`. Send one JSON object \
         and call the tool again.",
        cut(text)
    )
}

/// Models write `null` where they mean nothing.
fn without_nulls(args: &Value) -> Value {
    let mut args = args.clone();
    if let Value::Object(members) = &mut args {
        members.retain(|_, value| !value.is_null());
    }
    args
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(FAULT_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    /// Looks somewhere.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the schema of it is used")]
    struct Input {
        /// Where to look.
        path: String,
        /// How many lines.
        #[serde(default)]
        limit: Option<u32>,
        #[serde(default)]
        kinds: Vec<Kind>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Big,
        Small,
    }

    #[test]
    fn schemas_are_plain_enough_for_every_supplier() {
        assert_eq!(
            schema_of::<Input>(),
            json!({
                "type": "object",
                "description": "Looks somewhere.",
                "properties": {
                    "path": {"type": "string", "description": "Where to look."},
                    "limit": {"type": "integer", "minimum": 0, "description": "How many lines."},
                    "kinds": {
                        "type": "array",
                        "items": {"type": "string", "enum": ["big", "small"]},
                    },
                },
                "required": ["path"],
                "additionalProperties": false,
            })
        );
    }

    #[track_caller]
    fn check(args: Value, expected: Result<(), &str>) {
        let check = ArgumentCheck::compile(&schema_of::<Input>()).unwrap();
        match (check.check(&args), expected) {
            (Ok(()), Ok(())) => {}
            (Err(text), Err(part)) => assert!(text.contains(part), "{text}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_place() {
        check(json!({"path": "a", "limit": 3, "kinds": ["big"]}), Ok(()));
        check(json!({"path": "a", "limit": null}), Ok(()));
        check(
            json!({"path": null}),
            Err("- at `/path`: null is not of type \"string\""),
        );
        check(json!({}), Err("- at `/`: \"path\" is a required property"));
        check(
            json!({"path": "a", "limit": "many"}),
            Err("- at `/limit`: \"many\" is not of type \"integer\""),
        );
        check(
            json!({"path": "a", "kinds": ["big", "odd"]}),
            Err("- at `/kinds/1`:"),
        );
        check(
            json!({"path": "a", "limt": 1}),
            Err("'limt' was unexpected"),
        );
        check(json!([1]), Err("is not of type \"object\""));
        check(
            json!({"path": "x".repeat(5000), "limit": -1}),
            Err("/limit"),
        );
    }

    #[test]
    fn what_is_no_json_is_quoted() {
        check(
            json!("{\"path\": "),
            Err("not valid JSON: EOF while parsing a value"),
        );
        check(json!("{\"path\": "), Err("They start with `{\"path\": `"));
        check(json!("\"just a text\""), Err("expected a JSON object"));
    }
}
