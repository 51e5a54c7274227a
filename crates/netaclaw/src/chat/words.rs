//! Words about events that every form of the chat shows.

use crate::terminal::{harmless, one_line};
use crate::text::Lang;
use serde_json::Value;

/// An error in the user's language, if it has a text in it.
pub(super) fn in_language(lang: Lang, trouble: &Value, otherwise: &Value) -> String {
    let words = trouble["words"][language(lang)].as_str();
    words.unwrap_or_else(|| text(otherwise)).to_owned()
}

fn language(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "en",
        Lang::Zh => "zh",
    }
}

/// Tools that came and went.
pub(super) fn tool_changes(data: &Value) -> String {
    let added = data["added"].as_array().into_iter().flatten();
    let added = added.map(|name| format!("+{}", one_line(text(name), 64)));
    let removed = data["removed"].as_array().into_iter().flatten();
    let removed = removed.map(|tool| format!("−{}", one_line(text(&tool["toolName"]), 64)));
    added.chain(removed).collect::<Vec<_>>().join(" ")
}

/// How a compaction ended, and whether that is good.
pub(super) fn compaction_note(lang: Lang, event: &Value) -> Option<(bool, String)> {
    let data = &event["data"];
    match text(&event["type"]) {
        "compaction_done" if data["success"] == true => {
            let count = data["compactedCount"].as_u64().unwrap_or(0);
            let thousands = |name: &str| match data[name].as_u64().unwrap_or(0) {
                tokens @ ..10_000 => tokens.to_string(),
                tokens => format!("{}k", tokens / 1_000),
            };
            let (before, after) = (thousands("tokensBefore"), thousands("tokensAfter"));
            Some((true, lang.chat_compacted(count, before, after)))
        }
        "compaction_error" => {
            let words = data["words"][language(lang)].as_str();
            let words = words.unwrap_or_else(|| text(&data["message"]));
            Some((false, lang.chat_not_compacted(words)))
        }
        _ => None,
    }
}

/// Why a call needs approval although it would not have needed it before: what the session has
/// read, and where the call would go.
pub(super) fn foreign_notes(lang: Lang, note: &Value) -> Vec<String> {
    let Some(sources) = note["sources"].as_array() else {
        return Vec::new();
    };
    let named = sources.iter().map(|source| {
        let name = harmless(text(&source["name"])).into_owned();
        match text(&source["kind"]) {
            "mcp" => lang.chat_foreign_mcp(name),
            "file" if name.is_empty() => lang.chat_foreign_image(),
            "file" => lang.chat_foreign_file(name),
            "program" => lang.chat_foreign_program(name),
            _ => name,
        }
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let mut notes = vec![lang.chat_consent_foreign(named)];
    if let Some(address) = note["destination"].as_str() {
        notes.push(lang.chat_consent_goes_to(harmless(address)));
    }
    notes
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
