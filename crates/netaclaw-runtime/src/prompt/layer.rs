//! One layer of the prompt, within its budget.

use netaclaw_models::tokens::estimate_text;

/// A part of the prompt as it goes to the model; empty if there is nothing to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    pub name: LayerName,
    pub text: String,
    /// What the layer may have, in characters.
    pub budget: usize,
    /// What did not fit: names where there are names, else the amount.
    pub omitted: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerName {
    Identity,
    Rules,
    Environment,
    Instructions,
    Memory,
    Skills,
    Tools,
    /// The volatile ones.
    Today,
    Todo,
}

impl LayerName {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Rules => "rules",
            Self::Environment => "environment",
            Self::Instructions => "instructions",
            Self::Memory => "memory",
            Self::Skills => "skills",
            Self::Tools => "tools",
            Self::Today => "today",
            Self::Todo => "todo",
        }
    }
}

impl Layer {
    pub(super) fn new(
        name: LayerName,
        budget: usize,
        mut text: String,
        omitted: Vec<String>,
    ) -> Self {
        text.truncate(text.trim_end().len());
        Self {
            name,
            text,
            budget,
            omitted,
        }
    }

    pub fn chars(&self) -> usize {
        self.text.chars().count()
    }

    /// An estimate.
    pub fn tokens(&self) -> u64 {
        estimate_text(&self.text)
    }

    /// A layer that is one text, cut where the budget ends.
    pub(super) fn of_text(name: LayerName, budget: usize, text: &str) -> Self {
        let (text, omitted) = cut(text.trim(), budget);
        Self::new(name, budget, text, omitted.into_iter().collect())
    }

    /// A heading and as many whole items as the budget allows; the others are named.
    pub(super) fn of_items(name: LayerName, budget: usize, heading: &str, items: Items) -> Self {
        if items.0.is_empty() {
            return Self::new(name, budget, String::new(), Vec::new());
        }
        let mut text = heading.to_owned();
        let mut left = budget.saturating_sub(heading.chars().count());
        let mut omitted = Vec::new();
        for (item_name, item) in items.0 {
            let needed = item.chars().count() + 1;
            match needed <= left {
                true => {
                    left -= needed;
                    text.push('\n');
                    text.push_str(&item);
                }
                false => omitted.push(item_name),
            }
        }
        if !omitted.is_empty() {
            text.push_str(&format!("\n({} more are not listed.)", omitted.len()));
        }
        Self::new(name, budget, text, omitted)
    }
}

/// Items with the names they go by if they do not fit.
pub(super) struct Items(pub(super) Vec<(String, String)>);

/// The beginning of a text, with a note if that is not all; and what is missing.
pub(super) fn cut(text: &str, chars_max: usize) -> (String, Option<String>) {
    let Some(at) = end_of(text, chars_max) else {
        return (text.to_owned(), None);
    };
    let missing = text[at..].chars().count();
    let note = format!("the last {missing} characters");
    (
        format!("{}\n[Truncated: {note} are omitted]", &text[..at]),
        Some(note),
    )
}

/// The end of the first `chars_max` characters, if there are more. A text has at most as many
/// characters as bytes, so that most need not be counted.
pub(super) fn end_of(text: &str, chars_max: usize) -> Option<usize> {
    if text.len() <= chars_max {
        return None;
    }
    text.char_indices().nth(chars_max).map(|(at, _)| at)
}
