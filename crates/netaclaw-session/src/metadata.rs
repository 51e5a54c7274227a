//! Changes to a session's metadata, member by member.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Sets or removes one member, however deep it is nested. The other members stay unchanged, also
/// those that only another version understands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetadataChange {
    /// The names of the members that lead to it, the outermost first.
    #[serde(rename = "at")]
    pub path: Vec<String>,
    /// Its new value; `None` removes it.
    #[serde(
        rename = "is",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub value: Option<Value>,
}

impl MetadataChange {
    pub fn set<'a>(path: impl IntoIterator<Item = &'a str>, value: Value) -> Self {
        Self {
            path: path.into_iter().map(str::to_owned).collect(),
            value: Some(value),
        }
    }

    pub fn remove<'a>(path: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            path: path.into_iter().map(str::to_owned).collect(),
            value: None,
        }
    }

    /// Applies the change. A value on the path to a nested member that is not an object is replaced
    /// by an object.
    pub fn apply(self, metadata: &mut Map<String, Value>) {
        let mut path = self.path;
        let Some(name) = path.pop() else { return };
        let mut within = metadata;
        for outer in path {
            if self.value.is_none() && !within.get(&outer).is_some_and(Value::is_object) {
                return;
            }
            let inner = within.entry(outer).or_insert(Value::Null);
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            let Value::Object(object) = inner else {
                unreachable!("it was made an object above");
            };
            within = object;
        }
        match self.value {
            Some(value) => {
                within.insert(name, value);
            }
            None => {
                within.remove(&name);
            }
        }
    }
}

/// A member that is `null` is there; `Option` alone would take it for absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_touches_one_member_and_survives_storing() {
        let mut metadata = json!({"a": {"b": {"c": 1, "odd": [null]}, "list": [1]}, "z": 1});
        let metadata = metadata.as_object_mut().unwrap();
        let changes = [
            MetadataChange::set(["a", "b", "c"], json!(null)),
            MetadataChange::set(["a", "new", "deep"], json!({"x": null})),
            MetadataChange::set(["a", "list", "id"], json!(2)),
            MetadataChange::remove(["z"]),
            MetadataChange::remove(["not", "there"]),
            MetadataChange::remove([]),
        ];
        for change in changes {
            let stored = serde_json::to_string(&change).unwrap();
            let read: MetadataChange = serde_json::from_str(&stored).unwrap();
            assert_eq!(read, change, "{stored}");
            read.apply(metadata);
        }
        let expected = json!({"a": {"b": {"c": null, "odd": [null]}, "list": {"id": 2},
            "new": {"deep": {"x": null}}}});
        assert_eq!(Value::Object(metadata.clone()), expected);
    }
}
