//! Paths that neither file tools nor programs may access, wherever a workspace is.
//!
//! File tools and the sandbox of programs share one list, so that neither can bypass the other.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{ffi::OsStr, io};

/// The list of hidden places. Cloning it is cheap.
///
/// A root strictly inside a hidden place stays usable: the server names such a root on purpose, for
/// example the folder of a skill in the data directory.
#[derive(Clone, Debug, Default)]
pub struct Hidden(Arc<[PathBuf]>);

impl Hidden {
    /// Resolves links in the given paths. A place that does not exist yet is hidden as well.
    /// Blocks.
    pub fn new(places: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut all: Vec<PathBuf> = places.into_iter().flat_map(names_of).collect();
        all.sort();
        all.dedup();
        Self(all.into())
    }

    pub fn places(&self) -> &[PathBuf] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a path without links is hidden from tools that reached it through `root`.
    pub fn hides(&self, path: &Path, root: &Path) -> bool {
        self.for_root(root).any(|place| path.starts_with(place))
    }

    /// Whether a path without links is a hidden path or inside one.
    pub fn contains(&self, path: &Path) -> bool {
        self.0.iter().any(|place| path.starts_with(place))
    }

    /// What is hidden below `dir`, relative to it.
    pub(crate) fn below(&self, dir: &Path, root: &Path) -> Vec<PathBuf> {
        let places = self.for_root(root);
        places
            .filter_map(|place| Some(place.strip_prefix(dir).ok()?.to_owned()))
            .filter(|rest| !rest.as_os_str().is_empty())
            .collect()
    }

    fn for_root<'a>(&'a self, root: &'a Path) -> impl Iterator<Item = &'a PathBuf> {
        let is_inside = move |place: &Path| root != place && root.starts_with(place);
        self.0.iter().filter(move |place| !is_inside(place))
    }
}

/// A path by its own name and by what it points at, both without links above them.
fn names_of(path: PathBuf) -> Vec<PathBuf> {
    let by_name = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.clone(),
    };
    vec![by_name, resolved(&path)]
}

/// Resolves as much of a path as exists.
fn resolved(path: &Path) -> PathBuf {
    let mut missing: Vec<&OsStr> = Vec::new();
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            return missing
                .iter()
                .rev()
                .fold(real, |real, name| real.join(name));
        }
        missing.extend(ancestor.file_name());
    }
    path.to_owned()
}

/// The kernel's path of an open file. No link swapped in later changes it.
pub fn real_path(file: &impl AsRawFd) -> io::Result<PathBuf> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    // The kernel marks a file that was removed after it was opened.
    let text = path.as_os_str().as_encoded_bytes();
    let removed = text.strip_suffix(b" (deleted)").filter(|_| !path.exists());
    Ok(match removed {
        Some(name) => std::os::unix::ffi::OsStrExt::from_bytes(name),
        None => path.as_os_str(),
    }
    .into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_missing_places_are_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(home.join("real/keys")).unwrap();
        symlink(home.join("real"), home.join("link")).unwrap();
        symlink(home.join("real/keys"), home.join(".ssh")).unwrap();
        let hidden = Hidden::new(["link/later/key", ".ssh"].map(|name| home.join(name)));
        for (path, expected) in [
            ("real/later/key", true),
            ("real/later/key/below", true),
            ("real/later/keys", false),
            (".ssh", true),
            ("real/keys/id", true),
            ("real", false),
        ] {
            assert_eq!(hidden.hides(&home.join(path), &home), expected, "{path}");
        }
        // A root inside a hidden place was named on purpose; the place itself was not.
        let keys = home.join("real/keys");
        assert!(!hidden.hides(&keys.join("skill/file"), &keys.join("skill")));
        assert!(hidden.hides(&keys.join("id"), &keys));
        assert_eq!(hidden.below(&home.join("real"), &home).len(), 2);
    }
}
