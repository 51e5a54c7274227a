//! What a listing shows of a session, kept up to date without reading it again.

use netaclaw_session::{
    Entry, EntryId, EntryKind, ProviderKind, Role, SessionId, SessionMeta, SessionTree,
};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// How much of the first message a listing shows.
const FIRST_MESSAGE_CHARS_MAX: usize = 200;

#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    message_count: u64,
    first_message: Option<String>,
    updated_at: Option<String>,
}

impl Summary {
    pub(super) fn of(tree: &SessionTree) -> Self {
        let messages = tree
            .entries()
            .iter()
            .filter(|e| e.kind() == EntryKind::Message);
        Self {
            message_count: messages.clone().count() as u64,
            first_message: messages.clone().find_map(opening_text),
            updated_at: tree
                .entries()
                .last()
                .map(|entry| entry.timestamp().into_owned()),
        }
    }

    pub(super) fn push(&mut self, entry: &Entry, timestamp: &str) {
        self.touch(timestamp);
        if entry.kind() == EntryKind::Message {
            self.message_count += 1;
            if self.first_message.is_none() {
                self.first_message = opening_text(entry);
            }
        }
    }

    pub(super) fn touch(&mut self, timestamp: &str) {
        let updated_at = self.updated_at.get_or_insert_default();
        updated_at.clear();
        updated_at.push_str(timestamp);
    }

    pub(super) fn meta(&self, tree: &SessionTree, path: &Path) -> SessionMeta {
        let header = tree.header();
        let created_at = header.timestamp().into_owned();
        let text =
            |value: Option<std::borrow::Cow<'_, str>>| value.map(std::borrow::Cow::into_owned);
        SessionMeta {
            session_id: header.id().clone(),
            provider: ProviderKind::File,
            root_entry_id: root(tree),
            leaf_entry_id: tree.leaf().cloned(),
            cwd: text(header.cwd()).unwrap_or_default(),
            session_file: Some(path.to_string_lossy().into_owned()),
            parent_session_id: parent_session(tree),
            agent_id: tree
                .meta()
                .agent_id
                .clone()
                .or_else(|| text(header.agent_id())),
            user_id: text(header.user_id()),
            title: tree.name().map(str::to_owned),
            status: tree.meta().status.unwrap_or_default(),
            metadata: tree
                .meta()
                .metadata
                .clone()
                .unwrap_or_else(|| Arc::new(header.metadata())),
            message_count: self.message_count,
            first_message: self.first_message.clone(),
            updated_at: self
                .updated_at
                .clone()
                .unwrap_or_else(|| created_at.clone()),
            created_at,
        }
    }
}

fn root(tree: &SessionTree) -> Option<EntryId> {
    tree.entries()
        .iter()
        .find(|entry| entry.parent_id().is_none())
        .map(|entry| entry.id().clone())
}

/// The session this one was forked from: named by NetaClaw, or by the file name Pi keeps.
fn parent_session(tree: &SessionTree) -> Option<SessionId> {
    let header = tree.header();
    header
        .parent_session_id()
        .or_else(|| super::layout::id_in_name(Path::new(header.parent_session()?.as_ref())))
}

/// The first words of a user's message.
fn opening_text(entry: &Entry) -> Option<String> {
    if entry.role() != Role::User {
        return None;
    }
    let message: Value = serde_json::from_str(entry.message_json()?).ok()?;
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join(" "),
        _ => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(FIRST_MESSAGE_CHARS_MAX).collect())
}
