//! The file provider.

mod contract;
mod crash;
mod damage;
mod leftovers;
mod listing;
mod locking;
mod migration;
mod together;

use netaclaw_session::{Entry, EntryBody, NewEntry, NewSession, SessionId, SessionTreeProvider};
use netaclaw_store::{FileProvider, FileSettings, Fsync};
use serde_json::json;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory of session files.
pub(crate) struct Files {
    pub(crate) dir: TempDir,
}

impl Files {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn open(&self) -> FileProvider {
        self.open_with(Fsync::Off)
    }

    pub(crate) fn open_with(&self, fsync: Fsync) -> FileProvider {
        FileProvider::new(FileSettings {
            dir: self.dir.path().to_owned(),
            fsync,
        })
    }

    /// Puts a file among the sessions under a name of its own.
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

pub(crate) fn user(text: &str) -> NewEntry {
    NewEntry::at_leaf(EntryBody::message(
        &json!({"role": "user", "content": text, "timestamp": 1}),
    ))
}

pub(crate) fn answer(text: &str) -> NewEntry {
    NewEntry::at_leaf(EntryBody::message(&json!({
        "role": "assistant", "content": [{"type": "text", "text": text}], "api": "demo",
        "provider": "demo", "model": "demo-1", "stopReason": "stop", "timestamp": 2,
        "usage": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}},
    })))
}

pub(crate) async fn new_session(provider: &FileProvider) -> SessionId {
    let new = NewSession {
        cwd: "/srv/app".to_owned(),
        ..NewSession::default()
    };
    provider.create_session(new).await.unwrap().session_id
}

pub(crate) async fn file_of(provider: &FileProvider, session: &SessionId) -> PathBuf {
    PathBuf::from(
        provider
            .get_session(session)
            .await
            .unwrap()
            .session_file
            .unwrap(),
    )
}

/// Texts of the entries, as a short form to compare.
pub(crate) fn texts(entries: &[Entry]) -> Vec<String> {
    entries
        .iter()
        .map(|entry| {
            let message: serde_json::Value =
                serde_json::from_str(entry.message_json().unwrap_or("null")).unwrap();
            match &message["content"] {
                serde_json::Value::String(text) => text.clone(),
                blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
            }
        })
        .collect()
}

pub(crate) fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
