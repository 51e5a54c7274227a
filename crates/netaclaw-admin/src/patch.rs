//! Changes some fields of a record and keeps the others.

use crate::error::{Invalid, Problem};
use crate::nearest::nearest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The record with a JSON merge patch applied: what the patch names is replaced, `null` resets a
/// field to its default. An unknown field is an error and not ignored, so that a typing error is
/// noticed.
pub fn apply_patch<T>(record: &T, patch: &Map<String, Value>) -> Result<T, Invalid>
where
    T: Serialize + DeserializeOwned,
{
    let unreadable = |field: String, error: serde_json::Error| {
        let detail = error.to_string();
        Invalid::new(field, Problem::Unreadable { detail })
    };
    let value =
        |record: &T| serde_json::to_value(record).map_err(|error| unreadable(String::new(), error));
    let before = value(record)?;
    let mut merged = before.clone();
    merge(&mut merged, patch);
    let patched: T = serde_path_to_error::deserialize(merged)
        .map_err(|error| unreadable(error.path().to_string(), error.into_inner()))?;
    // Deserializing has dropped unknown fields.
    find_unknown(patch, &before, &value(&patched)?, "")?;
    Ok(patched)
}

fn merge(target: &mut Value, patch: &Map<String, Value>) {
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let fields = target.as_object_mut().expect("it was made an object above");
    for (name, change) in patch {
        match change {
            Value::Null => {
                fields.remove(name);
            }
            Value::Object(inner) => merge(fields.entry(name).or_insert(Value::Null), inner),
            other => {
                fields.insert(name.clone(), other.clone());
            }
        }
    }
}

fn find_unknown(
    patch: &Map<String, Value>,
    before: &Value,
    after: &Value,
    prefix: &str,
) -> Result<(), Invalid> {
    for (name, change) in patch {
        let field = format!("{prefix}{name}");
        let known = after.get(name).or_else(|| before.get(name));
        match (known, change) {
            (Some(_), Value::Object(inner)) => {
                let part = |value: &Value| value.get(name).cloned().unwrap_or_default();
                find_unknown(inner, &part(before), &part(after), &format!("{field}."))?;
            }
            (Some(_), _) => {}
            (None, _) => {
                let names = after.as_object().into_iter().flat_map(Map::keys);
                let nearest = nearest(name, names.map(String::as_str));
                let nearest = nearest.map(|name| format!("{prefix}{name}"));
                return Err(Invalid::new(field, Problem::NoSuchField { nearest }));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::{AgentSpec, ApprovalMode, ThinkingLevel};
    use serde_json::json;

    fn patched(patch: Value) -> Result<AgentSpec, Invalid> {
        let mut agent = AgentSpec {
            name: "a".to_owned(),
            compaction_threshold: 50,
            ..AgentSpec::default()
        };
        agent.model_config.model = Some("m".to_owned());
        let change = json!({"timeoutMs": 5});
        let change = serde_json::from_value(change).unwrap();
        agent.tool_overrides.insert("bash".to_owned(), change);
        apply_patch(&agent, patch.as_object().unwrap())
    }

    #[test]
    fn what_is_named_changes_and_the_rest_stays() {
        let agent = patched(json!({
            "label": "L",
            "approval": "always",
            "modelConfig": {"thinkLevel": "high", "fallback": {"channelId": "c"}},
            "toolOverrides": {"read": {"description": "d"}},
        }))
        .unwrap();
        assert_eq!((agent.name.as_str(), agent.label.as_str()), ("a", "L"));
        assert_eq!(agent.approval, ApprovalMode::Always);
        assert_eq!(agent.model_config.model.as_deref(), Some("m"));
        assert_eq!(agent.model_config.think_level, ThinkingLevel::High);
        assert_eq!(
            agent.model_config.fallback.unwrap().channel_id.as_str(),
            "c"
        );
        assert_eq!(agent.tool_overrides.len(), 2);
    }

    #[test]
    fn null_puts_a_field_back() {
        let patch = json!({"compactionThreshold": null, "modelConfig": {"model": null},
            "toolOverrides": {"bash": null}});
        let agent = patched(patch).unwrap();
        assert_eq!(agent.compaction_threshold, 70);
        assert_eq!(agent.model_config.model, None);
        assert!(agent.tool_overrides.is_empty());
    }

    #[test]
    fn mistakes_are_named_with_their_field() {
        for (patch, expected) in [
            (
                json!({"systemPromt": "x"}),
                "systemPromt: there is no such field; did you mean \"systemPrompt\"?",
            ),
            (
                json!({"modelConfig": {"temprature": 1}}),
                "did you mean \"modelConfig.temperature\"?",
            ),
            (json!({"nothing": null}), "nothing: there is no such field"),
            (
                json!({"modelConfig": {"temperature": "warm"}}),
                "modelConfig.temperature: invalid type: string \"warm\"",
            ),
            (
                json!({"compactionThreshold": -1}),
                "compactionThreshold: invalid value",
            ),
            (
                json!({"approval": "sometimes"}),
                "approval: unknown variant",
            ),
        ] {
            let error = patched(patch).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
