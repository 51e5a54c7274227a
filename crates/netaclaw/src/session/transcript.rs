//! Entries as users read them. Every format for users is made from these rows; none of them parses
//! a message itself.

use crate::json::{Json, Object};
use crate::text::Lang;
use netaclaw_engine::AGENT_ENTRY;
use netaclaw_session::{Entry, EntryKind};
use std::borrow::Cow;

type Text<'a> = Cow<'a, str>;

/// What an entry says.
#[derive(Debug)]
pub(crate) enum Row<'a> {
    User(Vec<Part<'a>>),
    Assistant(Answer<'a>),
    ToolResult {
        tool: Text<'a>,
        failed: bool,
        parts: Vec<Part<'a>>,
    },
    System(Vec<Part<'a>>),
    Bash(Bash<'a>),
    /// A message an extension put into the context.
    Custom {
        custom_type: Text<'a>,
        parts: Vec<Part<'a>>,
    },
    OtherMessage {
        role: Text<'a>,
        parts: Vec<Part<'a>>,
    },
    Compaction {
        summary: Text<'a>,
        tokens_before: u64,
    },
    BranchSummary(Text<'a>),
    Model {
        provider: Text<'a>,
        model: Text<'a>,
    },
    ThinkingLevel(Text<'a>),
    /// The agent that answers from here on.
    Agent(Text<'a>),
    Label {
        target: Text<'a>,
        /// `None` clears.
        label: Option<Text<'a>>,
    },
    Name(Option<Text<'a>>),
    ContextEdit {
        target: Text<'a>,
        omits: bool,
    },
    /// Bookkeeping of others, and types NetaClaw does not know.
    Note {
        kind: Text<'a>,
        detail: Option<Text<'a>>,
    },
    /// A `message` entry without a message.
    Damaged,
}

#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) parts: Vec<Part<'a>>,
    pub(crate) provider: Text<'a>,
    pub(crate) model: Text<'a>,
    pub(crate) usage: Option<Usage>,
    pub(crate) stop_reason: Text<'a>,
    /// The process that wrote it died; no user stopped it.
    pub(crate) is_interrupted: bool,
    pub(crate) error: Option<ErrorText<'a>>,
}

/// An error, as far as it is stored in both languages.
#[derive(Debug)]
pub(crate) struct ErrorText<'a> {
    english: Text<'a>,
    chinese: Option<Text<'a>>,
}

impl ErrorText<'_> {
    pub(crate) fn text(&self, lang: Lang) -> &str {
        match (lang, &self.chinese) {
            (Lang::Zh, Some(chinese)) => chinese,
            _ => &self.english,
        }
    }
}

impl Answer<'_> {
    /// How it ended, unless it is complete.
    pub(crate) fn ending(&self, lang: Lang) -> Option<String> {
        match self.stop_reason.as_ref() {
            "aborted" if self.is_interrupted => Some(lang.answer_interrupted()),
            "aborted" => Some(lang.answer_stopped()),
            "error" => Some(lang.failed()),
            "length" => Some(lang.answer_cut_off()),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Bash<'a> {
    pub(crate) command: Text<'a>,
    pub(crate) output: Text<'a>,
    pub(crate) exit_code: Option<f64>,
    pub(crate) cancelled: bool,
}

/// Tokens that one answer cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    pub(crate) total: u64,
    pub(crate) cost: f64,
}

#[derive(Debug)]
pub(crate) enum Part<'a> {
    Text(Text<'a>),
    Thinking(Text<'a>),
    ToolCall { name: Text<'a>, arguments: Json<'a> },
    Image { mime: Text<'a>, data: Text<'a> },
    Other(Text<'a>),
}

/// Reads an entry. Whatever it lacks is shown as empty, never as an error.
pub(crate) fn project(entry: &Entry) -> Row<'_> {
    if entry.kind() == EntryKind::Message {
        let message = entry
            .message_json()
            .map(|message| Json::new(message).object());
        return message.map_or(Row::Damaged, |message| message_row(&message));
    }
    let fields = Json::new(entry.json()).object();
    let text = |name: &str| fields.text(name).unwrap_or_default();
    match entry.kind() {
        EntryKind::CustomMessage => Row::Custom {
            custom_type: text("customType"),
            parts: parts_of(fields.get("content")),
        },
        EntryKind::Compaction => Row::Compaction {
            summary: text("summary"),
            tokens_before: fields.number("tokensBefore").unwrap_or(0.0) as u64,
        },
        EntryKind::BranchSummary => Row::BranchSummary(text("summary")),
        EntryKind::ModelChange => Row::Model {
            provider: text("provider"),
            model: text("modelId"),
        },
        EntryKind::ThinkingLevelChange => Row::ThinkingLevel(text("thinkingLevel")),
        EntryKind::Label => Row::Label {
            target: text("targetId"),
            label: fields.text("label").filter(|label| !label.is_empty()),
        },
        EntryKind::SessionInfo => {
            Row::Name(fields.text("name").filter(|name| !name.trim().is_empty()))
        }
        EntryKind::ContextEdit => Row::ContextEdit {
            target: text("targetId"),
            omits: fields.get("replacement").is_none_or(|r| r.raw() == "null"),
        },
        EntryKind::Custom if fields.text("customType").as_deref() == Some(AGENT_ENTRY) => {
            let data = fields.get("data").map(Json::object).unwrap_or_default();
            let name = data.text("agentName").or_else(|| data.text("agentId"));
            Row::Agent(name.unwrap_or_default())
        }
        EntryKind::Custom
        | EntryKind::Usage
        | EntryKind::SubagentBatch
        | EntryKind::SubagentResult
        | EntryKind::Unknown
        | EntryKind::Message => Row::Note {
            kind: text("type"),
            detail: fields.text("customType").or_else(|| fields.text("kind")),
        },
    }
}

fn message_row<'a>(message: &Object<'a>) -> Row<'a> {
    let text = |name: &str| message.text(name).unwrap_or_default();
    let role = text("role");
    let parts = parts_of(message.get("content"));
    let member =
        |object: &Object<'a>, name: &str| object.get(name).map(Json::object).unwrap_or_default();
    let trouble = member(message, "trouble");
    let words = member(&trouble, "words");
    match role.as_ref() {
        "user" => Row::User(parts),
        "assistant" => Row::Assistant(Answer {
            parts,
            provider: text("provider"),
            model: text("model"),
            usage: message.get("usage").and_then(usage_of),
            stop_reason: text("stopReason"),
            is_interrupted: trouble.text("kind").as_deref() == Some("interrupted"),
            error: message
                .text("errorMessage")
                .filter(|error| !error.is_empty())
                .map(|english| ErrorText {
                    english,
                    chinese: words.text("zh"),
                }),
        }),
        "toolResult" => Row::ToolResult {
            tool: text("toolName"),
            failed: message.is_true("isError"),
            parts,
        },
        "system" => Row::System(parts),
        "bashExecution" => Row::Bash(Bash {
            command: text("command"),
            output: text("output"),
            exit_code: message.number("exitCode"),
            cancelled: message.is_true("cancelled"),
        }),
        "custom" | "hookMessage" => Row::Custom {
            custom_type: text("customType"),
            parts,
        },
        _ => Row::OtherMessage { role, parts },
    }
}

fn usage_of(usage: Json<'_>) -> Option<Usage> {
    let usage = usage.object();
    let count = |name: &str| usage.number(name).unwrap_or(0.0).max(0.0) as u64;
    let (input, output) = (count("input"), count("output"));
    let (cache_read, cache_write) = (count("cacheRead"), count("cacheWrite"));
    let total = match count("totalTokens") {
        0 => input + output + cache_read + cache_write,
        total => total,
    };
    let cost = usage
        .get("cost")
        .and_then(|cost| cost.object().number("total"));
    (total > 0).then_some(Usage {
        input,
        output,
        cache_read,
        cache_write,
        total,
        cost: cost.unwrap_or(0.0),
    })
}

fn parts_of(content: Option<Json<'_>>) -> Vec<Part<'_>> {
    let Some(content) = content else {
        return Vec::new();
    };
    match content.text() {
        Some(text) => vec![Part::Text(text)],
        None => content.items().into_iter().map(part_of).collect(),
    }
}

fn part_of(block: Json<'_>) -> Part<'_> {
    let block = block.object();
    let text = |name: &str| block.text(name).unwrap_or_default();
    let kind = text("type");
    match kind.as_ref() {
        "text" => Part::Text(text("text")),
        "thinking" => Part::Thinking(text("thinking")),
        "toolCall" => Part::ToolCall {
            name: text("name"),
            arguments: block.get("arguments").unwrap_or(Json::new("{}")),
        },
        "image" => Part::Image {
            mime: text("mimeType"),
            data: text("data"),
        },
        _ => Part::Other(kind),
    }
}

impl Row<'_> {
    /// The author, or the kind.
    pub(crate) fn title(&self, lang: Lang) -> String {
        match self {
            Self::User(_) => lang.user(),
            Self::Assistant(_) => lang.assistant(),
            Self::ToolResult { .. } => lang.tool_result(),
            Self::System(_) => lang.system(),
            Self::Bash(_) => lang.shell(),
            Self::Custom { .. } => lang.extension(),
            Self::OtherMessage { role, .. } => role.to_string(),
            Self::Compaction { .. } => lang.compaction(),
            Self::BranchSummary(_) => lang.branch_summary(),
            Self::Model { .. } => lang.model(),
            Self::ThinkingLevel(_) => lang.thinking_level(),
            Self::Agent(_) => lang.agent(),
            Self::Label { .. } => lang.label(),
            Self::Name(_) => lang.name(),
            Self::ContextEdit { .. } => lang.context_edit(),
            Self::Note { kind, .. } => kind.to_string(),
            Self::Damaged => lang.damaged(),
        }
    }

    /// The same at the beginning of a line.
    pub(crate) fn heading(&self, lang: Lang) -> String {
        let title = self.title(lang);
        // Names that others gave stay as they gave them.
        if matches!(self, Self::Note { .. } | Self::OtherMessage { .. }) {
            return title;
        }
        let mut chars = title.chars();
        match chars.next() {
            Some(first) => first.to_uppercase().chain(chars).collect(),
            None => title,
        }
    }

    /// What it says, for a place where only one line of it fits. May hold line breaks.
    pub(crate) fn gist(&self, lang: Lang) -> Text<'_> {
        match self {
            Self::User(parts)
            | Self::System(parts)
            | Self::Custom { parts, .. }
            | Self::OtherMessage { parts, .. } => first_words(parts, lang),
            Self::Assistant(answer) => match (&answer.error, first_words(&answer.parts, lang)) {
                (Some(error), words) if words.is_empty() => Text::Borrowed(error.text(lang)),
                (_, words) => words,
            },
            Self::ToolResult { tool, parts, .. } => {
                Text::Owned(format!("{tool}: {}", first_words(parts, lang)))
            }
            Self::Bash(bash) => Text::Owned(format!("$ {}", bash.command)),
            Self::Compaction { summary, .. } | Self::BranchSummary(summary) => {
                Text::Borrowed(summary.as_ref())
            }
            Self::Model { provider, model } => Text::Owned(format!("{provider}/{model}")),
            Self::ThinkingLevel(level) => Text::Borrowed(level.as_ref()),
            Self::Agent(name) => Text::Borrowed(name.as_ref()),
            Self::Label {
                target,
                label: Some(label),
            } => Text::Owned(lang.label_set(target, label)),
            Self::Label {
                target,
                label: None,
            } => Text::Owned(lang.label_cleared(target)),
            Self::Name(Some(name)) => Text::Borrowed(name.as_ref()),
            Self::Name(None) => Text::Owned(lang.name_cleared()),
            Self::ContextEdit {
                target,
                omits: true,
            } => Text::Owned(lang.edit_omits(target)),
            Self::ContextEdit {
                target,
                omits: false,
            } => Text::Owned(lang.edit_replaces(target)),
            Self::Note { detail, .. } => Text::Borrowed(detail.as_deref().unwrap_or_default()),
            Self::Damaged => Text::Owned(lang.no_message()),
        }
    }

    /// Settings and bookkeeping, which a reader of the conversation can pass over.
    pub(crate) fn is_bookkeeping(&self) -> bool {
        matches!(
            self,
            Self::Model { .. }
                | Self::ThinkingLevel(_)
                | Self::Agent(_)
                | Self::Label { .. }
                | Self::Name(_)
                | Self::ContextEdit { .. }
                | Self::Note { .. }
                | Self::Damaged
        )
    }
}

fn first_words<'p>(parts: &'p [Part<'_>], lang: Lang) -> Text<'p> {
    let text = parts.iter().find_map(|part| match part {
        Part::Text(text) if !text.trim().is_empty() => Some(Text::Borrowed(text.as_ref())),
        _ => None,
    });
    let other = || {
        parts.iter().rev().find_map(|part| match part {
            Part::ToolCall { name, arguments } => {
                Some(Text::Owned(format!("→ {name} {}", arguments.raw())))
            }
            Part::Image { mime, .. } => Some(Text::Owned(lang.image(mime))),
            Part::Thinking(text) => Some(Text::Owned(lang.thinking_of(text))),
            Part::Other(kind) => Some(Text::Borrowed(kind.as_ref())),
            Part::Text(_) => None,
        })
    };
    text.or_else(other).unwrap_or_default()
}

/// The text parts joined, as a listing or a title needs them.
pub(crate) fn plain_text(parts: &[Part<'_>]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gist(entry: &str) -> (String, String) {
        let entry = Entry::parse(entry.to_owned()).unwrap();
        let row = project(&entry);
        (row.title(Lang::En), row.gist(Lang::En).into_owned())
    }

    #[test]
    fn every_entry_has_a_title_and_a_gist() {
        for (entry, title, text) in [
            (
                r#"{"type":"message","id":"a","message":{"role":"user","content":"hi"}}"#,
                "user",
                "hi",
            ),
            (
                r#"{"type":"message","id":"a","message":{"role":"assistant","content":[{"type":"toolCall","name":"read","arguments":{"path":"x"}}]}}"#,
                "assistant",
                r#"→ read {"path":"x"}"#,
            ),
            (
                r#"{"type":"message","id":"a","message":{"role":"assistant","content":[],"errorMessage":"overloaded"}}"#,
                "assistant",
                "overloaded",
            ),
            (
                r#"{"type":"model_change","id":"a","provider":"p","modelId":"m"}"#,
                "model",
                "p/m",
            ),
            (
                r#"{"type":"custom","id":"a","customType":"x.y"}"#,
                "custom",
                "x.y",
            ),
            (r#"{"type":"later","id":"a"}"#, "later", ""),
        ] {
            assert_eq!(gist(entry), (title.to_owned(), text.to_owned()), "{entry}");
        }
    }

    #[test]
    fn nothing_in_a_message_can_be_so_wrong_that_it_is_not_shown() {
        for message in [
            "5",
            "null",
            "{}",
            r#"{"role":7,"content":{}}"#,
            r#"{"role":"user","content":null}"#,
            r#"{"role":"assistant","content":[1,null,"x",{"type":9}],"usage":"none"}"#,
            r#"{"role":"user","content":"\ud800"}"#,
        ] {
            gist(&format!(
                r#"{{"type":"message","id":"a","message":{message}}}"#
            ));
        }
    }

    #[test]
    fn usage_without_a_total_is_added_up() {
        let usage = |text| usage_of(Json::new(text));
        assert_eq!(
            usage(r#"{"input":1,"output":2,"cacheRead":3}"#).map(|u| u.total),
            Some(6)
        );
        assert_eq!(
            usage(r#"{"totalTokens":9,"input":1}"#).map(|u| u.total),
            Some(9)
        );
        assert_eq!(usage(r#"{"totalTokens":0}"#), None);
    }
}
