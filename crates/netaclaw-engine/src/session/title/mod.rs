//! A short title for a session that has none: the first line at once, and later that of a model.

mod ask;

pub use ask::TitleModel;
pub(crate) use ask::{FirstExchange, ask};

use crate::skills::{SkillCommand, SkillInput};
use netaclaw_session::{Role, SessionTree};
use serde_json::Value;

const TITLE_CHARS_MAX: usize = 60;

/// The first line of the first message, cut at a word where there are words.
pub(crate) fn title_of(tree: &SessionTree) -> Option<String> {
    let text = first_text(tree)?;
    title_for(&text)
}

fn first_text(tree: &SessionTree) -> Option<String> {
    let first = tree
        .entries()
        .iter()
        .find(|entry| entry.role() == Role::User)?;
    let message: Value = serde_json::from_str(first.message_json()?).ok()?;
    let text = match &message["content"] {
        Value::String(text) => text.as_str(),
        blocks => blocks
            .as_array()?
            .iter()
            .find_map(|block| block["text"].as_str())?,
    };
    Some(text.to_owned())
}

fn title_for(text: &str) -> Option<String> {
    if let Some(SkillCommand { name, input }) = SkillCommand::read(text) {
        return Some(shortened(&match input {
            SkillInput::Json(_) => name,
            SkillInput::Words => skill_with_words(text, &name),
        }));
    }
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(shortened(line))
}

/// The name, and what the user wrote behind it.
fn skill_with_words(text: &str, name: &str) -> String {
    let words = text.split_once(name).map_or("", |(_, words)| words.trim());
    match words.lines().next() {
        Some(line) if !line.is_empty() => format!("{name}: {line}"),
        _ => name.to_owned(),
    }
}

/// Whether the first message ran a program of a skill: its name is the title, and there is nothing
/// for a model to name.
pub(crate) fn is_skill_run(tree: &SessionTree) -> bool {
    let first = first_text(tree);
    let command = first.as_deref().and_then(SkillCommand::read);
    command.is_some_and(|command| matches!(command.input, SkillInput::Json(_)))
}

fn shortened(line: &str) -> String {
    if line.chars().count() <= TITLE_CHARS_MAX {
        return line.to_owned();
    }
    let cut: String = line.chars().take(TITLE_CHARS_MAX).collect();
    // Chinese has no spaces; there the cut may fall anywhere.
    let end = cut
        .rfind(' ')
        .filter(|at| *at > cut.len() / 2)
        .unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_run_is_named_by_its_skill() {
        for (text, title) in [
            (
                "/skill folder-audit {\"folder\":\".\",\"bigFileBytes\":1}",
                "folder-audit",
            ),
            (
                "/skill weekly-report\nfor last week\nplease",
                "weekly-report: for last week",
            ),
            ("/skill weekly-report", "weekly-report"),
            ("/skillful people", "/skillful people"),
        ] {
            assert_eq!(title_for(text).as_deref(), Some(title), "{text}");
        }
    }

    #[test]
    fn titles_are_short_and_end_with_a_word() {
        assert_eq!(shortened("Fix the build"), "Fix the build");
        let long = "Please look at the build and find out why it fails on the second machine";
        assert_eq!(
            shortened(long),
            "Please look at the build and find out why it fails on the…"
        );
        let chinese = "请".repeat(80);
        assert_eq!(shortened(&chinese).chars().count(), 61);
    }
}
