//! The files of the repository, read once, so that checks are plain functions.

use anyhow::Context;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Directories that are made and not written.
const SKIPPED: [&str; 5] = [".cache", ".git", "target", "node_modules", "dist"];

/// Contents by path from the root, with `/` between the parts.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl Repository {
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut repository = Self::default();
        let mut waiting: Vec<PathBuf> = vec![root.to_owned()];
        while let Some(dir) = waiting.pop() {
            let items = std::fs::read_dir(&dir).with_context(|| dir.display().to_string())?;
            for item in items {
                let item = item?;
                let kind = item.file_type()?;
                if kind.is_dir() && !SKIPPED.iter().any(|name| item.file_name() == **name) {
                    waiting.push(item.path());
                } else if kind.is_file() {
                    let path = item.path();
                    let contents =
                        std::fs::read(&path).with_context(|| path.display().to_string())?;
                    let name = path
                        .strip_prefix(root)?
                        .to_string_lossy()
                        .replace('\\', "/");
                    repository.files.insert(name, contents);
                }
            }
        }
        Ok(repository)
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(path)?).ok()
    }

    /// Path and text of every package manifest; the root's only declares versions.
    pub(crate) fn manifests(&self) -> impl Iterator<Item = (&str, &str)> {
        let manifests = self
            .files
            .keys()
            .filter(|path| path.ends_with("/Cargo.toml"));
        manifests.filter_map(|path| Some((path.as_str(), self.text(path)?)))
    }
}

#[cfg(test)]
impl Repository {
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        Self {
            files: files.collect(),
        }
    }
}
