//! Reads single members of JSON text without parsing all of it.
//!
//! Values stay slices of the text they came from: numbers keep their digits, strings their
//! escapes, objects their key order. `serde_json` does the parsing; these helpers only find
//! where things are.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The members of a JSON object in their order, values as text. `None` if it is not an object.
pub(crate) fn members(object: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    serde_json::from_str::<Members<'_>>(object)
        .ok()
        .map(|m| m.0)
}

/// One member of an object. When a key is repeated the last one counts, as in JavaScript.
pub(crate) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let all = members(object)?;
    all.into_iter()
        .rev()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value)
}

/// Several members in one pass, in the order of `names`.
pub(crate) fn pick<'a, const N: usize>(object: &'a str, names: [&str; N]) -> [Option<&'a str>; N] {
    let mut found = [None; N];
    for (key, value) in members(object).unwrap_or_default() {
        if let Some(at) = names.iter().position(|name| key == *name) {
            found[at] = Some(value);
        }
    }
    found
}

/// The text of a JSON string. A lone surrogate, which JavaScript can store and UTF-8 cannot,
/// becomes U+FFFD. `None` if the value is not a string.
pub(crate) fn string(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    struct LossyString;
    impl<'de> Visitor<'de> for LossyString {
        type Value = String;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }
        // serde_json hands strings to byte visitors with lone surrogates still in them.
        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
    }
    serde_json::Deserializer::from_str(value)
        .deserialize_bytes(LossyString)
        .ok()
        .map(Cow::Owned)
}

/// The members of an array as text. `None` if the value is not an array.
pub(crate) fn elements(array: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(array).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// `object` with one member replaced, or removed for `None`, every other byte as it was.
pub(crate) fn with_member(object: &str, name: &str, value: Option<&str>) -> String {
    let all = members(object).unwrap_or_default();
    let present = all.iter().rev().find(|(key, _)| key == name);
    match (present, value) {
        (Some((_, old)), Some(new)) => {
            let at = range_within(object, old);
            [&object[..at.start], new, &object[at.end..]].concat()
        }
        (Some(_), None) => {
            let mut out = String::with_capacity(object.len());
            for (key, value) in all.iter().filter(|(key, _)| key != name) {
                out.push(if out.is_empty() { '{' } else { ',' });
                push_string(&mut out, key);
                out.push(':');
                out.push_str(value);
            }
            if out.is_empty() {
                out.push('{');
            }
            out.push('}');
            out
        }
        (None, Some(new)) => {
            let body = object.trim_end().strip_suffix('}').unwrap_or(object);
            let mut out = String::with_capacity(object.len() + name.len() + new.len() + 4);
            out.push_str(body);
            if !all.is_empty() {
                out.push(',');
            }
            push_string(&mut out, name);
            out.push(':');
            out.push_str(new);
            out.push('}');
            out
        }
        (None, None) => object.to_owned(),
    }
}

/// The range of `part`, a slice of `whole`, in it.
pub(crate) fn range_within(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - whole.as_ptr() as usize;
    start..start + part.len()
}

/// Appends `text` as a JSON string.
pub(crate) fn push_string(out: &mut String, text: &str) {
    // Looks at every byte without branching, which the compiler turns into wide steps.
    let simple = text
        .bytes()
        .fold(true, |ok, b| ok & (b >= 0x20) & (b != b'"') & (b != b'\\'));
    if simple {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::Value::from(text).to_string());
    }
}

/// Whether JavaScript would take the value for true.
pub(crate) fn is_truthy(value: &str) -> bool {
    match value {
        "null" | "false" | "\"\"" => false,
        number if number.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            number.parse::<f64>().is_ok_and(|n| n != 0.0)
        }
        _ => true,
    }
}

struct Members<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(8);
                while let Some(Key(key)) = map.next_key()? {
                    members.push((key, map.next_value::<&RawValue>()?.get()));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// A key, borrowed from the text where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// The members every line of a session file is looked at for.
#[derive(Default)]
pub(crate) struct LineHead<'a> {
    pub(crate) kind: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    pub(crate) parent_id: Option<&'a str>,
    pub(crate) custom_type: Option<&'a str>,
    pub(crate) message: Option<&'a str>,
}

impl<'de: 'a, 'a> Deserialize<'de> for LineHead<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(field_identifier, rename_all = "camelCase")]
        enum Field {
            Type,
            Id,
            ParentId,
            CustomType,
            Message,
            #[serde(other)]
            Other,
        }
        struct Head;
        impl<'de> Visitor<'de> for Head {
            type Value = LineHead<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut head = LineHead::default();
                while let Some(field) = map.next_key()? {
                    let slot = match field {
                        Field::Type => &mut head.kind,
                        Field::Id => &mut head.id,
                        Field::ParentId => &mut head.parent_id,
                        Field::CustomType => &mut head.custom_type,
                        Field::Message => &mut head.message,
                        Field::Other => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *slot = Some(map.next_value::<&RawValue>()?.get());
                }
                Ok(head)
            }
        }
        deserializer.deserialize_map(Head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_text_and_the_last_of_a_repeated_key_counts() {
        let object = r#"{"a":1.50,"b":{"x":[1, 2]},"a":2e3}"#;
        assert_eq!(member(object, "a"), Some("2e3"));
        assert_eq!(member(object, "b"), Some(r#"{"x":[1, 2]}"#));
        assert_eq!(member("[1]", "a"), None);
    }

    #[test]
    fn a_member_is_replaced_added_or_removed_and_nothing_else_changes() {
        let object = r#"{"a": 1.0 ,"é":"x"}"#;
        assert_eq!(
            with_member(object, "a", Some("null")),
            r#"{"a": null ,"é":"x"}"#
        );
        assert_eq!(
            with_member(object, "c", Some("3")),
            r#"{"a": 1.0 ,"é":"x","c":3}"#
        );
        assert_eq!(with_member(object, "a", None), r#"{"é":"x"}"#);
        assert_eq!(with_member("{}", "c", Some("3")), r#"{"c":3}"#);
        assert_eq!(with_member(r#"{"c":1}"#, "c", None), "{}");
    }

    #[test]
    fn strings_with_lone_surrogates_are_readable() {
        assert_eq!(
            string(r#""a\ud83d!""#).as_deref(),
            Some("a\u{fffd}\u{fffd}\u{fffd}!")
        );
        assert_eq!(string(r#""\u00e9""#).as_deref(), Some("é"));
        assert_eq!(string("12"), None);
    }
}
