//! Reads JSON of any origin without assumptions about its shape.
//!
//! Messages come from other programs and other times: a field may be absent, of another type, or
//! hold text that is not Unicode. Values are therefore read as slices of their text, and what does
//! not fit is `None` instead of an error.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A JSON value, as a slice of the text it stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self(text.trim())
    }

    pub(crate) fn raw(self) -> &'a str {
        self.0
    }

    /// The members of an object; none for other values.
    pub(crate) fn object(self) -> Object<'a> {
        serde_json::from_str(self.0).unwrap_or_default()
    }

    /// The value of a string. Lone surrogates become U+FFFD.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        if !inner.contains('\\') {
            return Some(Cow::Borrowed(inner));
        }
        let text: Lossy<'_> = serde_json::from_str(self.0).ok()?;
        Some(Cow::Owned(text.0.into_owned()))
    }

    /// The items of an array; nothing for other values.
    pub(crate) fn items(self) -> Vec<Self> {
        let items: Vec<&RawValue> = serde_json::from_str(self.0).unwrap_or_default();
        items
            .into_iter()
            .map(|item| Self::new(item.get()))
            .collect()
    }

    /// The same value on several lines, with every number and string as it was written.
    pub(crate) fn pretty(self) -> String {
        let mut out = String::with_capacity(self.0.len() * 2);
        let mut depth = 0_usize;
        let mut in_string = false;
        let mut escaped = false;
        let mut chars = self.0.chars().peekable();
        while let Some(char) = chars.next() {
            if in_string {
                out.push(char);
                in_string = escaped || char != '"';
                escaped = !escaped && char == '\\';
                continue;
            }
            match char {
                ' ' | '\t' | '\r' | '\n' => {}
                '{' | '[' => {
                    out.push(char);
                    while chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
                    match chars.next_if(|c| matches!(c, '}' | ']')) {
                        Some(end) => out.push(end),
                        None => {
                            depth += 1;
                            new_line(&mut out, depth);
                        }
                    }
                }
                '}' | ']' => {
                    depth = depth.saturating_sub(1);
                    new_line(&mut out, depth);
                    out.push(char);
                }
                ',' => {
                    out.push(',');
                    new_line(&mut out, depth);
                }
                ':' => out.push_str(": "),
                _ => {
                    in_string = char == '"';
                    out.push(char);
                }
            }
        }
        out
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    // No reader goes past some levels, and a value that is all brackets must not grow
    // quadratically.
    for _ in 0..depth.min(32) {
        out.push_str("  ");
    }
}

/// The members of an object in their order, taken apart once.
#[derive(Debug, Default)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Object<'a> {
    /// A member; of a repeated key the last counts.
    pub(crate) fn get(&self, name: &str) -> Option<Json<'a>> {
        let found = self.0.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| *value)
    }

    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.text()
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.0.parse().ok()
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.0 == "true")
    }
}

/// A string decoded as far as it can be.
struct Lossy<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Lossy<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        // As bytes, serde_json hands over strings with lone surrogates instead of refusing.
        impl<'de> Visitor<'de> for Bytes {
            type Value = Lossy<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes)))
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned().into()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(Lossy(key)) = map.next_key()? {
                    members.push((key, Json::new(map.next_value::<&RawValue>()?.get())));
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_does_not_fit_is_none() {
        let text = r#"{"a":"x\n\ud800y","n":1.50,"list":[1,"2"],"a\u0062":true}"#;
        let value = Json::new(text).object();
        assert_eq!(
            value.text("a").as_deref(),
            Some("x\n\u{fffd}\u{fffd}\u{fffd}y")
        );
        assert_eq!(value.number("n"), Some(1.5));
        assert!(value.is_true("ab"));
        assert_eq!(value.text("n"), None);
        assert_eq!(value.get("list").map(|list| list.items().len()), Some(2));
        assert!(Json::new("{broken").object().get("a").is_none());
        assert!(Json::new("null").items().is_empty());
    }

    #[test]
    fn pretty_changes_only_white_space() {
        let text = r#"{"a":1.50,"b":[],"c":{ },"d":["x, \"{y}\"",{"e":null}]}"#;
        let expected = "{\n  \"a\": 1.50,\n  \"b\": [],\n  \"c\": {},\n  \"d\": [\n    \"x, \\\"{y}\\\"\",\n    {\n      \"e\": null\n    }\n  ]\n}";
        assert_eq!(Json::new(text).pretty(), expected);
    }
}
