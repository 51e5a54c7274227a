//! What a slash command can be completed to.

use super::super::commands::{Argument, COMMANDS, find_command};
use crate::text::Lang;

/// Rows of the menu that are shown at once.
pub(super) const ROWS_MAX: usize = 7;

/// Names that commands take. Refreshed by the chat.
#[derive(Clone, Debug, Default)]
pub(in crate::chat) struct Choices {
    /// Name and description.
    pub(in crate::chat) agents: Vec<(String, String)>,
    /// `channel/model`.
    pub(in crate::chat) models: Vec<(String, String)>,
    /// Id and title.
    pub(in crate::chat) sessions: Vec<(String, String)>,
    pub(in crate::chat) skills: Vec<(String, String)>,
    pub(in crate::chat) levels: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// The whole line after it was chosen.
    pub(super) line: String,
    pub(super) name: String,
    pub(super) hint: String,
    /// The line can be sent as it is.
    pub(super) is_complete: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Menu {
    pub(super) items: Vec<Item>,
    pub(super) chosen: Option<usize>,
}

impl Menu {
    /// The menu for a line, or an empty one.
    pub(super) fn of(line: &str, choices: &Choices, lang: Lang) -> Self {
        let items = match line.strip_prefix('/') {
            Some(rest) if !rest.starts_with('/') && !line.contains('\n') => {
                items(line, choices, lang)
            }
            _ => Vec::new(),
        };
        Self {
            items,
            chosen: None,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.items.is_empty()
    }

    /// Moves the choice by one, around the ends.
    pub(super) fn step(&mut self, forward: bool) {
        let count = self.items.len();
        if count == 0 {
            return;
        }
        self.chosen = Some(match (self.chosen, forward) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        });
    }

    /// The rows that are shown: where they begin.
    pub(super) fn first_row(&self, rows: usize) -> usize {
        let chosen = self.chosen.unwrap_or(0);
        chosen.saturating_sub(rows.saturating_sub(1))
    }
}

fn items(line: &str, choices: &Choices, lang: Lang) -> Vec<Item> {
    let Some((word, argument)) = line.split_once(' ') else {
        return commands(line, lang);
    };
    let Some(command) = find_command(word) else {
        return Vec::new();
    };
    let names = match command.argument {
        Argument::Agent => &choices.agents,
        Argument::Model => &choices.models,
        Argument::Session => &choices.sessions,
        Argument::Skill => &choices.skills,
        Argument::Level => &choices.levels,
        Argument::None | Argument::Words => return Vec::new(),
    };
    let wanted = argument.trim_start().to_lowercase();
    // What begins so comes before what contains it, and names before descriptions.
    let rank = |name: &str, hint: &str| {
        let (name, hint) = (name.to_lowercase(), hint.to_lowercase());
        if name == wanted {
            None
        } else if name.starts_with(&wanted) {
            Some(0)
        } else if name.contains(&wanted) {
            Some(1)
        } else {
            hint.contains(&wanted).then_some(2)
        }
    };
    let found = names
        .iter()
        .filter_map(|(name, hint)| Some((rank(name, hint)?, name, hint)));
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(rank, ..)| *rank);
    found
        .into_iter()
        .map(|(_, name, hint)| Item {
            line: match command.argument {
                Argument::Skill => format!("{} {name} ", command.name),
                _ => format!("{} {name}", command.name),
            },
            name: name.clone(),
            hint: hint.clone(),
            is_complete: !matches!(command.argument, Argument::Skill),
        })
        .collect()
}

fn commands(line: &str, lang: Lang) -> Vec<Item> {
    let wanted = line.to_lowercase();
    let found = COMMANDS
        .iter()
        .filter(|command| command.name.starts_with(&wanted) && command.name != wanted);
    found
        .map(|command| {
            let takes_more = !matches!(command.argument, Argument::None);
            Item {
                line: match takes_more {
                    true => format!("{} ", command.name),
                    false => command.name.to_owned(),
                },
                name: command.usage(lang),
                hint: command.hint(lang),
                is_complete: !takes_more,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices() -> Choices {
        let pair = |name: &str, hint: &str| (name.to_owned(), hint.to_owned());
        Choices {
            agents: vec![pair("default", "General"), pair("coder", "Writes code")],
            models: vec![pair("fake/alpha", ""), pair("fake/beta", "")],
            ..Choices::default()
        }
    }

    fn lines(line: &str) -> Vec<String> {
        let menu = Menu::of(line, &choices(), Lang::En);
        menu.items.into_iter().map(|item| item.line).collect()
    }

    #[test]
    fn commands_and_names_are_completed() {
        assert_eq!(lines("/th"), ["/thinking "]);
        assert_eq!(lines("/TH"), ["/thinking "]);
        assert!(lines("/").len() >= 12);
        assert_eq!(lines("/model be"), ["/model fake/beta"]);
        assert_eq!(lines("/agent "), ["/agent default", "/agent coder"]);
        assert_eq!(lines("/agent de"), ["/agent default", "/agent coder"]);
        assert_eq!(lines("/agent writes"), ["/agent coder"], "by description");
        for nothing in [
            "",
            "text",
            "//help",
            "/help",
            "/model fake/beta",
            "/etc/hosts",
            "/a\nb",
        ] {
            assert!(lines(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn the_choice_goes_around() {
        let mut menu = Menu::of("/model ", &choices(), Lang::En);
        menu.step(false);
        assert_eq!(menu.chosen, Some(1));
        menu.step(true);
        assert_eq!(menu.chosen, Some(0));
    }
}
