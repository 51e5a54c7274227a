//! Words about events that every form of the chat shows.

use crate::terminal::{harmless, one_line};
use crate::text::Lang;
use netaclaw_engine::AGENT_ENTRY;
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

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

/// The agent to which an entry switches its session.
pub(super) fn agent_named(entry: &Value) -> Option<&str> {
    let data = Some(&entry["data"]).filter(|_| entry["customType"] == AGENT_ENTRY)?;
    data["agentName"].as_str().or(data["agentId"].as_str())
}

/// Whether a user stopped this answer. If its process died, it has a text about that.
pub(super) fn was_cut_off(message: &Value) -> bool {
    message["stopReason"] == "aborted" && message["trouble"].is_null()
}

/// How a call ended, where done or failed does not say it.
pub(super) fn tool_ending(lang: Lang, status: &str) -> Option<String> {
    match status {
        "timed_out" => Some(lang.tool_timed_out()),
        "blocked" => Some(lang.tool_blocked()),
        "denied" => Some(lang.tool_denied()),
        "undecided" => Some(lang.tool_undecided()),
        "expired" => Some(lang.tool_expired()),
        "dismissed" => Some(lang.tool_dismissed()),
        "stopped" => Some(lang.chat_stopped()),
        "not_started" => Some(lang.tool_not_run()),
        "interrupted" => Some(lang.chat_interrupted()),
        _ => None,
    }
}

/// Why the model was not reached, and what happens next.
pub(super) fn retry_text(lang: Lang, run: &Value, now_ms: i64) -> Option<String> {
    let retry = run.get("retry").filter(|retry| retry.is_object())?;
    let why = in_language(lang, &retry["trouble"], &run["detail"]);
    let seconds = retry["at"].as_i64().map(|at| (at - now_ms + 999) / 1_000);
    let next = match (retry["fallback"].as_str(), seconds) {
        (Some(channel), _) => lang.chat_fallback(one_line(channel, 64)),
        (None, Some(seconds @ 1..)) => lang.chat_retry_in(seconds),
        (None, _) => lang.chat_retry_now(),
    };
    Some(format!("{why} {next}"))
}

/// Unix time in milliseconds.
pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
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
