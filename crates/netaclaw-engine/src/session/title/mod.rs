//! A short title for a session that has none: the first line at once, and later that of a model
//! where one is configured for titles.

mod ask;

pub use ask::TitleModel;
pub(crate) use ask::{Beginning, ask};

use netaclaw_session::{Role, SessionTree};
use serde_json::Value;

const TITLE_CHARS_MAX: usize = 60;

/// The first line of the first message, cut at a word where there are words.
pub(crate) fn title_of(tree: &SessionTree) -> Option<String> {
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
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(shortened(line))
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
