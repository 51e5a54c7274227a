//! The summary of a session above its content.

use super::forest::{Detail, Forest};
use super::source::Loaded;
use super::transcript::{self, Row};
use crate::terminal::{clock, grouped, one_line};
use crate::text::Lang;
use netaclaw_session::{EntryKind, Role, SessionTree, estimate_context_tokens};

pub(crate) struct Overview {
    /// The name, else the first question, else the id.
    pub(crate) title: String,
    pub(crate) id: String,
    pub(crate) created: String,
    pub(crate) updated: String,
    pub(crate) cwd: String,
    pub(crate) entries: u64,
    pub(crate) messages: u64,
    pub(crate) branches: u64,
    /// Of the context at the leaf; `None` if the path to it is damaged.
    pub(crate) context: Option<ContextOverview>,
    /// Warnings for the reader.
    pub(crate) warnings: Vec<String>,
}

pub(crate) struct ContextOverview {
    pub(crate) messages: u64,
    pub(crate) tokens: u64,
    pub(crate) model: Option<String>,
    pub(crate) thinking_level: String,
}

/// Columns of a title.
const TITLE_WIDTH: usize = 100;

impl Overview {
    pub(crate) fn of(loaded: &Loaded, lang: Lang) -> Self {
        let tree = &loaded.tree;
        let header = tree.header();
        let id = header.id().to_string();
        let created = clock(&header.timestamp());
        let last = tree.entries().last().map(|entry| clock(&entry.timestamp()));
        let messages = tree
            .entries()
            .iter()
            .filter(|e| e.kind() == EntryKind::Message);
        let mut warnings = Vec::new();
        if tree.skipped_lines() > 0 {
            warnings.push(lang.unreadable_lines(tree.skipped_lines().into()));
        }
        if loaded.in_flight.is_some() {
            warnings.push(lang.answer_in_flight());
        }
        let context = context_of(tree, lang, &mut warnings);
        Self {
            title: title(tree).unwrap_or_else(|| id.clone()),
            id,
            updated: last.unwrap_or_else(|| created.clone()),
            created,
            cwd: header.cwd().unwrap_or_default().into_owned(),
            entries: tree.entries().len() as u64,
            messages: messages.count() as u64,
            branches: Forest::new(tree, Detail::Readable).tips() as u64,
            context,
            warnings,
        }
    }

    /// The facts as pairs of a label and a value.
    pub(crate) fn facts(&self, lang: Lang) -> Vec<(String, String)> {
        let mut facts = vec![
            (lang.session_word(), self.id.clone()),
            (lang.created(), format!("{} UTC", self.created)),
            (lang.updated(), format!("{} UTC", self.updated)),
        ];
        if !self.cwd.is_empty() {
            facts.push((lang.directory(), self.cwd.clone()));
        }
        let counts = lang.counts(self.entries, self.messages, self.branches);
        facts.push((lang.content(), counts));
        if let Some(context) = &self.context {
            let tokens = grouped(context.tokens);
            facts.push((lang.context(), lang.context_size(context.messages, tokens)));
            let model = context.model.as_deref().unwrap_or("–");
            facts.push((
                lang.model(),
                lang.model_and_level(model, &context.thinking_level),
            ));
        }
        facts
    }
}

fn context_of(
    tree: &SessionTree,
    lang: Lang,
    warnings: &mut Vec<String>,
) -> Option<ContextOverview> {
    match tree.context() {
        Ok(context) => {
            warnings.extend(
                context
                    .broken_compaction
                    .iter()
                    .map(|id| lang.keeps_nothing(id)),
            );
            Some(ContextOverview {
                messages: context.messages.len() as u64,
                tokens: estimate_context_tokens(&context).total(),
                model: context
                    .model()
                    .map(|m| format!("{}/{}", m.provider, m.model_id)),
                thinking_level: context.thinking_level.to_string(),
            })
        }
        Err(error) => {
            warnings.push(lang.path_damaged(error));
            None
        }
    }
}

fn title(tree: &SessionTree) -> Option<String> {
    if let Some(name) = tree.name() {
        return Some(one_line(name, TITLE_WIDTH));
    }
    let questions = tree
        .entries()
        .iter()
        .filter(|entry| entry.role() == Role::User);
    let mut texts = questions.filter_map(|entry| match transcript::project(entry) {
        Row::User(parts) => Some(one_line(&transcript::plain_text(&parts), TITLE_WIDTH)),
        _ => None,
    });
    texts.find(|text| !text.is_empty())
}
