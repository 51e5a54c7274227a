//! Pi's token estimate: a quarter of the UTF-16 length, rounded up for each message.
//!
//! Exact where Pi is exact, so that both programs show the same number for the same context.

use crate::context::{ContextMessage, SessionContext};
use crate::json;

/// What an image counts, in characters.
const IMAGE_CHARS: u64 = 4800;

/// The size of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextTokens {
    /// What the last answer with a usage reading said, 0 without one.
    pub usage: u64,
    /// The estimate of what came after it, or of everything.
    pub trailing: u64,
}

impl ContextTokens {
    pub fn total(self) -> u64 {
        self.usage + self.trailing
    }
}

/// Tokens of a context: the last trustworthy usage reading plus an estimate of what follows.
pub fn estimate_context_tokens(context: &SessionContext<'_>) -> ContextTokens {
    let mut trailing = 0;
    for message in context.messages.iter().rev() {
        let json = message.json();
        if let Some(usage) = usage_of(message, &json) {
            return ContextTokens { usage, trailing };
        }
        trailing += estimate_message_tokens(&json);
    }
    ContextTokens { usage: 0, trailing }
}

/// The usage an answer reported, unless it failed, was stopped, or reported none.
fn usage_of(message: &ContextMessage<'_>, json: &str) -> Option<u64> {
    if message.source().role() != crate::Role::Assistant {
        return None;
    }
    let [usage, stop_reason] = json::pick(json, ["usage", "stopReason"]);
    if matches!(stop_reason, Some(r#""aborted""# | r#""error""#)) {
        return None;
    }
    let number = |name| json::member(usage?, name)?.parse::<f64>().ok();
    let total = match number("totalTokens") {
        Some(total) if total != 0.0 => total,
        _ => ["input", "output", "cacheRead", "cacheWrite"]
            .into_iter()
            .filter_map(number)
            .sum(),
    };
    (total > 0.0).then_some(total as u64)
}

/// Pi's estimate for one message of a context.
pub fn estimate_message_tokens(message: &str) -> u64 {
    let [role, content, command, output, summary] =
        json::pick(message, ["role", "content", "command", "output", "summary"]);
    let chars = match role.and_then(json::string).as_deref() {
        Some("user" | "custom" | "toolResult" | "system") => content_chars(content, Blocks::Plain),
        Some("assistant") => content_chars(content, Blocks::Answer),
        Some("bashExecution") => text_chars(command) + text_chars(output),
        Some("branchSummary" | "compactionSummary") => text_chars(summary),
        _ => 0,
    };
    chars.div_ceil(4)
}

#[derive(Clone, Copy)]
enum Blocks {
    /// Text and images count.
    Plain,
    /// Text, thinking and tool calls count.
    Answer,
}

fn content_chars(content: Option<&str>, blocks: Blocks) -> u64 {
    let Some(content) = content else { return 0 };
    if content.starts_with('"') {
        return utf16_len(content);
    }
    json::elements(content)
        .unwrap_or_default()
        .into_iter()
        .map(|b| block_chars(b, blocks))
        .sum()
}

fn block_chars(block: &str, blocks: Blocks) -> u64 {
    let [kind, text, thinking, name, arguments] =
        json::pick(block, ["type", "text", "thinking", "name", "arguments"]);
    match (kind, blocks) {
        (Some(r#""text""#), _) => text_chars(text),
        (Some(r#""image""#), Blocks::Plain) => IMAGE_CHARS,
        (Some(r#""thinking""#), Blocks::Answer) => text_chars(thinking),
        (Some(r#""toolCall""#), Blocks::Answer) => {
            text_chars(name) + arguments.map_or(0, compact_len)
        }
        _ => 0,
    }
}

fn text_chars(value: Option<&str>) -> u64 {
    value.filter(|v| v.starts_with('"')).map_or(0, utf16_len)
}

/// Length of a JSON string's value in UTF-16 code units.
fn utf16_len(string: &str) -> u64 {
    string_units(string, |_| 1)
}

/// Length of a value written as compact JSON by JavaScript, in UTF-16 code units.
fn compact_len(value: &str) -> u64 {
    if value.starts_with('{') {
        let members = json::members(value).unwrap_or_default();
        let commas = members.len().saturating_sub(1) as u64;
        let inner: u64 = members
            .iter()
            .map(|(key, value)| {
                let mut quoted = String::new();
                json::push_string(&mut quoted, key);
                compact_len(&quoted) + 1 + compact_len(value)
            })
            .sum();
        2 + commas + inner
    } else if value.starts_with('[') {
        let items = json::elements(value).unwrap_or_default();
        2 + items.len().saturating_sub(1) as u64 + items.into_iter().map(compact_len).sum::<u64>()
    } else if value.starts_with('"') {
        2 + string_units(value, escaped_units)
    } else if value.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        number_len(value)
    } else {
        value.len() as u64
    }
}

/// How JavaScript writes a code unit inside a string.
fn escaped_units(unit: u16) -> u64 {
    match unit {
        0x08 | 0x09 | 0x0a | 0x0c | 0x0d | 0x22 | 0x5c => 2,
        0..=0x1f => 6,
        _ => 1,
    }
}

/// Sums a cost over the UTF-16 code units of a JSON string's value.
fn string_units(string: &str, cost: impl Fn(u16) -> u64) -> u64 {
    let inner = &string[1..string.len() - 1];
    let mut total = 0;
    let mut chars = inner.chars();
    let mut buffer = [0; 2];
    while let Some(char) = chars.next() {
        if char != '\\' {
            total += char
                .encode_utf16(&mut buffer)
                .iter()
                .map(|unit| cost(*unit))
                .sum::<u64>();
            continue;
        }
        total += match chars.next() {
            Some('u') => {
                let unit = chars
                    .as_str()
                    .get(..4)
                    .and_then(|hex| u16::from_str_radix(hex, 16).ok());
                chars.by_ref().take(4).for_each(drop);
                cost(unit.unwrap_or(0xfffd))
            }
            Some('b') => cost(8),
            Some('f') => cost(12),
            Some('n') => cost(10),
            Some('r') => cost(13),
            Some('t') => cost(9),
            Some(other) => cost(other as u16),
            None => 0,
        };
    }
    total
}

/// Length of a number as JavaScript prints it.
fn number_len(text: &str) -> u64 {
    let Ok(number) = text.parse::<f64>() else {
        return text.len() as u64;
    };
    let size = number.abs();
    let printed = match size {
        0.0 => "0".to_owned(),
        _ if !(1e-6..1e21).contains(&size) => format!("{number:e}"),
        _ => format!("{number}"),
    };
    // JavaScript writes 1e+21 where Rust writes 1e21.
    let plus = u64::from(size >= 1e21);
    printed.len() as u64 + plus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_utf16_units_rounded_up_for_each_message() {
        let user = |text: &str| {
            estimate_message_tokens(&format!(r#"{{"role":"user","content":"{text}"}}"#))
        };
        assert_eq!(user(""), 0);
        assert_eq!(user("abcd"), 1);
        assert_eq!(user("abcde"), 2);
        assert_eq!(user("😀😀"), 1);
        assert_eq!(user("😀😀a"), 2);
        assert_eq!(user(r"\ud83d\n\t\u0041x"), 2);
    }

    #[test]
    fn images_count_where_a_model_sees_them() {
        let with = |role: &str| {
            estimate_message_tokens(&format!(
                r#"{{"role":"{role}","content":[{{"type":"image","data":"x"}},{{"type":"text","text":"abcd"}}]}}"#
            ))
        };
        assert_eq!(with("user"), 1201);
        assert_eq!(with("toolResult"), 1201);
        assert_eq!(with("assistant"), 1);
    }

    #[test]
    fn arguments_count_as_javascript_would_print_them() {
        for (text, length) in [
            (r#"{ "a" : 1.0 , "b":[ ] }"#, r#"{"a":1,"b":[]}"#.len()),
            ("1e21", 5),
            ("-0", 1),
            ("0.0000001", 4),
            ("1234567890123456789", 19),
            (r#""\u0001\n\"""#, 12),
            (r#""\u2028""#, 3),
        ] {
            assert_eq!(compact_len(text), length as u64, "{text}");
        }
    }
}
