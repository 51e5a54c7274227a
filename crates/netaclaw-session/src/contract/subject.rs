//! The one place where the suite touches the port in passing; tests call it directly only for
//! what they are about.

use super::ContractHarness;
use crate::{
    Entry, EntryBody, EntryId, ImportSession, NewEntry, NewSession, RawJson, SessionError,
    SessionId, SessionLog, SessionMeta, SessionTree, SessionTreeProvider,
};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A session in the provider under test.
pub(super) struct Subject<'h> {
    harness: &'h dyn ContractHarness,
    pub(super) provider: Arc<dyn SessionTreeProvider>,
    pub(super) id: SessionId,
}

impl<'h> Subject<'h> {
    pub(super) async fn create(harness: &'h dyn ContractHarness) -> Self {
        let provider = harness.open().await;
        let new = NewSession {
            cwd: "/srv/app".to_owned(),
            ..NewSession::default()
        };
        let id = provider.create_session(new).await.unwrap().session_id;
        Self {
            harness,
            provider,
            id,
        }
    }

    pub(super) async fn import(harness: &'h dyn ContractHarness, text: &str) -> Self {
        let provider = harness.open().await;
        let id = import(&provider, text).await.session_id;
        Self {
            harness,
            provider,
            id,
        }
    }

    /// As after an orderly restart.
    pub(super) async fn restart(self) -> Self {
        self.provider.release(&self.id).await.unwrap();
        self.crash().await
    }

    /// As after the death of the process.
    pub(super) async fn crash(self) -> Self {
        let Self {
            harness,
            provider,
            id,
        } = self;
        drop(provider);
        Self {
            harness,
            provider: harness.open().await,
            id,
        }
    }

    pub(super) async fn user(&self, text: &str) -> EntryId {
        self.message(user_message(text)).await
    }

    pub(super) async fn answer(&self, text: &str) -> EntryId {
        self.message(answer_message(text)).await
    }

    async fn message(&self, message: RawJson) -> EntryId {
        let entry = self
            .provider
            .append_message(&self.id, message)
            .await
            .unwrap();
        entry.id().clone()
    }

    pub(super) async fn append(&self, new: NewEntry) -> Result<Entry, SessionError> {
        self.provider.append_entry(&self.id, new).await
    }

    pub(super) async fn label(&self, target: &EntryId, label: Option<&str>) -> Entry {
        self.provider
            .append_label_change(&self.id, target, label)
            .await
            .unwrap()
    }

    pub(super) async fn switch(&self, leaf: &EntryId) {
        self.provider.switch_leaf(&self.id, leaf).await.unwrap();
    }

    pub(super) async fn meta(&self) -> SessionMeta {
        self.provider.get_session(&self.id).await.unwrap()
    }

    pub(super) async fn tree(&self) -> Arc<SessionTree> {
        self.provider.load_tree(&self.id).await.unwrap()
    }

    /// The leaf, on which the tree and the session's data must agree.
    pub(super) async fn leaf(&self) -> Option<EntryId> {
        let leaf = self.tree().await.leaf().cloned();
        assert_eq!(self.meta().await.leaf_entry_id, leaf);
        leaf
    }

    pub(super) async fn entries(&self) -> Vec<Entry> {
        self.provider.list_entries(&self.id).await.unwrap()
    }

    pub(super) async fn path(&self) -> Vec<EntryId> {
        let path = self.provider.get_active_path(&self.id).await.unwrap();
        path.iter().map(|entry| entry.id().clone()).collect()
    }

    /// The whole snapshot as a client gets it.
    pub(super) async fn snapshot(&self) -> Value {
        let snapshot = self.provider.get_snapshot(&self.id).await.unwrap();
        serde_json::to_value(&snapshot).unwrap()
    }

    /// Role and text of each message in the context.
    pub(super) async fn context(&self) -> Vec<String> {
        let snapshot = self.snapshot().await;
        let messages = snapshot["runtimeContext"]["messages"].as_array().unwrap();
        messages.iter().map(spoken).collect()
    }

    pub(super) fn error_for(&self, entry: &EntryId) -> SessionError {
        SessionError::EntryNotFound {
            session: self.id.clone(),
            entry: entry.clone(),
        }
    }
}

pub(super) async fn import(provider: &Arc<dyn SessionTreeProvider>, text: &str) -> SessionMeta {
    let log = parse(text);
    provider
        .import_session(ImportSession { log, id: None })
        .await
        .unwrap()
}

pub(super) fn parse(text: &str) -> SessionLog {
    SessionLog::parse(text.as_bytes().to_vec()).unwrap()
}

/// A session text: a version 3 header for `session` and the given lines.
pub(super) fn session_text(session: &str, lines: &[&str]) -> String {
    let header = format!(
        r#"{{"type":"session","version":3,"id":"{session}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv/app"}}"#
    );
    std::iter::once(header.as_str())
        .chain(lines.iter().copied())
        .flat_map(|line| [line, "\n"])
        .collect()
}

pub(super) fn user_message(text: &str) -> RawJson {
    let text = Value::from(text);
    let message = format!(r#"{{"role":"user","content":{text},"timestamp":1}}"#);
    RawValue::from_string(message).unwrap()
}

/// An answer as a model client stores it.
pub(super) fn answer_message(text: &str) -> RawJson {
    let text = Value::from(text);
    let message = format!(
        r#"{{"role":"assistant","content":[{{"type":"text","text":{text}}}],"api":"demo","provider":"demo","model":"echo","usage":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}}},"stopReason":"stop","timestamp":2}}"#
    );
    RawValue::from_string(message).unwrap()
}

pub(super) fn user_body(text: &str) -> EntryBody {
    EntryBody::Message {
        message: user_message(text),
    }
}

fn spoken(message: &Value) -> String {
    let text = match (&message["content"], &message["summary"]) {
        (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
        (content, _) => content[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    format!("{}: {text}", message["role"].as_str().unwrap())
}

/// The texts of entries with what differs from run to run replaced: ids become `#1`, `#2` … in
/// the order of the log, and times become `T`.
pub(super) fn shape(entries: &[Entry]) -> Vec<String> {
    let mut shapes = Vec::new();
    for entry in entries {
        let time = Value::from(entry.timestamp()).to_string();
        let mut text = entry.json().replace(&time, r#""T""#);
        for (at, other) in entries.iter().enumerate() {
            let id = Value::from(other.id().as_str()).to_string();
            text = text.replace(&id, &format!(r##""#{}""##, at + 1));
        }
        shapes.push(text);
    }
    shapes
}

/// Fails unless the call was refused with exactly this error.
#[track_caller]
pub(super) fn refused<T: std::fmt::Debug>(
    result: Result<T, SessionError>,
    expected: &SessionError,
) {
    let error = result.expect_err("this must be refused");
    assert_eq!(format!("{error:?}"), format!("{expected:?}"));
}
