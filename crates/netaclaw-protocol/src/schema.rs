//! JSON values and texts that are shared by many requests.

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A JSON Schema as a value and as text. Every request to a model carries those of all tools: the text
/// is encoded once, and copies share both. Cheap to clone.
#[derive(Clone)]
pub struct SharedSchema(Arc<Both>);

struct Both {
    value: Value,
    text: Box<RawValue>,
    weight: OnceLock<u64>,
}

/// A text that goes into many requests: it is encoded as JSON once, and copies share it. Cheap to
/// clone.
#[derive(Clone, Default)]
pub struct SharedText(Arc<Written>);

#[derive(Default)]
struct Written {
    text: String,
    json: OnceLock<Box<RawValue>>,
}

impl SharedText {
    /// As a JSON string.
    pub fn json(&self) -> &RawValue {
        self.0.json.get_or_init(|| {
            serde_json::value::to_raw_value(&self.0.text).expect("a text can be written as JSON")
        })
    }
}

impl From<String> for SharedText {
    fn from(text: String) -> Self {
        let json = OnceLock::new();
        Self(Arc::new(Written { text, json }))
    }
}

impl From<&str> for SharedText {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.text
    }
}

impl PartialEq for SharedText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.text == other.0.text
    }
}

impl Eq for SharedText {}

impl PartialEq<str> for SharedText {
    fn eq(&self, other: &str) -> bool {
        self.0.text == other
    }
}

impl PartialEq<&str> for SharedText {
    fn eq(&self, other: &&str) -> bool {
        self.0.text == *other
    }
}

impl fmt::Debug for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.text, f)
    }
}

impl fmt::Display for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl Serialize for SharedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.text)
    }
}

impl SharedSchema {
    /// As compact JSON.
    pub fn text(&self) -> &RawValue {
        &self.0.text
    }

    /// The size of the text in tokens, which is computed once.
    pub fn weight(&self, weigh: impl FnOnce(&str) -> u64) -> u64 {
        *self.0.weight.get_or_init(|| weigh(self.0.text.get()))
    }
}

impl From<Value> for SharedSchema {
    fn from(value: Value) -> Self {
        let text = serde_json::value::to_raw_value(&value).expect("a value is JSON");
        let weight = OnceLock::new();
        Self(Arc::new(Both {
            value,
            text,
            weight,
        }))
    }
}

impl Deref for SharedSchema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.value
    }
}

impl PartialEq for SharedSchema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.value == other.0.value
    }
}

impl fmt::Debug for SharedSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.text.get())
    }
}

impl Serialize for SharedSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.value.serialize(serializer)
    }
}
