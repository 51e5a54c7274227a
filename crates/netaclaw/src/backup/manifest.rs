//! The list of what a backup holds. A directory is a backup only if this file is in it.

use serde::{Deserialize, Serialize};
use std::path::{Component, Path};

pub(super) const MANIFEST: &str = "manifest.json";
/// Raised when an older program could not restore what a newer one wrote.
pub(super) const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) format: u32,
    /// The version of NetaClaw that made the backup.
    pub(super) netaclaw: String,
    pub(super) created: String,
    /// `sqlite`, or `mysql` if agents, channels and users are in a database that is backed up by
    /// its own means.
    pub(super) admin_store: String,
    /// Whether a database with sessions was configured. Its sessions are not in the backup.
    pub(super) mysql_configured: bool,
    /// `file`, or `environment` if the key has to be provided again.
    pub(super) secret_key: String,
    pub(super) files: Vec<Item>,
    /// Top-level files and directories that NetaClaw does not know.
    pub(super) left_out: Vec<String>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    /// Below the data directory, with `/` between the parts.
    pub(super) path: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// Permission bits, in octal.
    pub(super) mode: String,
}

impl Item {
    /// Whether the path leads to a place below the directory and nowhere else.
    pub(super) fn is_safe(&self) -> bool {
        let mut parts = Path::new(&self.path).components();
        let is_first = self.path != MANIFEST && !self.path.is_empty();
        is_first && parts.all(|part| matches!(part, Component::Normal(_)))
    }

    pub(super) fn mode(&self) -> Option<u32> {
        let mode = u32::from_str_radix(&self.mode, 8).ok()?;
        (mode <= 0o777).then_some(mode)
    }
}

impl Manifest {
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|item| item.bytes).sum()
    }

    pub(super) fn sessions(&self) -> u64 {
        let is_session =
            |item: &&Item| item.path.starts_with("sessions/") && item.path.ends_with(".jsonl");
        self.files.iter().filter(is_session).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_nowhere_else() {
        let item = |path: &str| Item {
            path: path.to_owned(),
            bytes: 0,
            sha256: String::new(),
            mode: "600".to_owned(),
        };
        assert!(item("sessions/a/b.jsonl").is_safe());
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "./x",
            "manifest.json",
        ] {
            assert!(!item(path).is_safe(), "{path}");
        }
    }
}
