//! JSON that is looked into here and sent elsewhere.

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A JSON Schema as a value and as text. Every request to a model carries those of all tools: the text
/// is written once, and copies share both. Cheap to clone.
#[derive(Clone)]
pub struct SharedSchema(Arc<Both>);

struct Both {
    value: Value,
    text: Box<RawValue>,
    weight: OnceLock<u64>,
}

impl SharedSchema {
    /// As compact JSON.
    pub fn text(&self) -> &RawValue {
        &self.0.text
    }

    /// What the text weighs, which is found out once.
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
