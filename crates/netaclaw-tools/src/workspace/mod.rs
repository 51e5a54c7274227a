//! Where file tools may go: the workspace, and the roots given in addition.
//!
//! Checking a path and then opening it is a race that a swapped link wins. So nothing here opens
//! a path: files are opened beneath the handle of a root, and the kernel (or `cap-std`, step by
//! step) refuses whatever leads out of it, `..` and links included.

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The directories an agent may look into. Every method but the simple ones blocks.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Absolute and without links; the first is where relative paths begin.
    roots: Vec<PathBuf>,
}

/// Why a path cannot be used, in words for the model.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    #[error("`{0}` is outside of the workspace. Only paths inside of it can be used.")]
    Outside(String),
    #[error("`{0}` does not exist.")]
    NotFound(String),
    #[error("`{0}` is a directory, not a file.")]
    IsDirectory(String),
    #[error("`{0}` is not a directory.")]
    NotDirectory(String),
    #[error("`{0}` is neither a file nor a directory, and reading it might never end.")]
    Special(String),
    #[error("There is no permission to read `{0}`.")]
    NoPermission(String),
    #[error("`{path}` cannot be opened: {problem}.")]
    Other {
        path: String,
        problem: io::ErrorKind,
    },
}

impl Workspace {
    /// Fails if one of the directories does not exist.
    pub fn new(workspace: &Path, extra_roots: &[PathBuf]) -> io::Result<Self> {
        let all = std::iter::once(workspace).chain(extra_roots.iter().map(PathBuf::as_path));
        let roots = all.map(std::fs::canonicalize).collect::<io::Result<_>>()?;
        Ok(Self { roots })
    }

    pub fn root(&self) -> &Path {
        &self.roots[0]
    }

    /// Opens a regular file for reading, wherever below a root its links lead.
    pub fn open_file(&self, path: &str) -> Result<File, PathError> {
        let mut options = OpenOptions::new();
        options.read(true);
        do_not_wait(&mut options);
        let file = self
            .reach(path, |dir, path| dir.open_with(path, &options))?
            .into_std();
        let kind = file
            .metadata()
            .map_err(|error| refusal(path, &error))?
            .file_type();
        match (kind.is_file(), kind.is_dir()) {
            (true, _) => Ok(file),
            (_, true) => Err(PathError::IsDirectory(path.to_owned())),
            _ => Err(PathError::Special(path.to_owned())),
        }
    }

    /// Opens a directory; nothing above it can be reached through what is returned.
    pub fn open_dir(&self, path: &str) -> Result<Dir, PathError> {
        self.reach(path, |dir, path| dir.open_dir(path))
    }

    fn reach<T>(
        &self,
        path: &str,
        open: impl Fn(&Dir, &Path) -> io::Result<T>,
    ) -> Result<T, PathError> {
        let beneath = |root: &Path, rest: &Path| {
            let dir = Dir::open_ambient_dir(root, ambient_authority())?;
            open(
                &dir,
                if rest.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    rest
                },
            )
        };
        let whole = self.root().join(path);
        if let Some((root, rest)) = self.split(&whole) {
            match beneath(root, rest) {
                Err(error) if leads_out(&error) => {}
                result => return result.map_err(|error| refusal(path, &error)),
            }
        }
        // Links may lead from one root into another, or be absolute; and a root may be known by
        // another name. Then the place they really mean counts, and is opened just as carefully.
        let outside = || PathError::Outside(path.to_owned());
        let real = std::fs::canonicalize(&whole).map_err(|_| outside())?;
        let (root, rest) = self.split(&real).ok_or_else(outside)?;
        beneath(root, rest).map_err(|error| refusal(path, &error))
    }

    /// The root a path begins with, and the rest of it.
    fn split<'a>(&'a self, path: &'a Path) -> Option<(&'a Path, &'a Path)> {
        self.roots
            .iter()
            .filter_map(|root| Some((root.as_path(), path.strip_prefix(root).ok()?)))
            .min_by_key(|(_, rest)| rest.components().count())
    }
}

/// Opening a pipe waits for somebody to write into it, unless asked not to.
fn do_not_wait(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// `cap-std` reports an escape as a lack of permission of its own making; a real one has a code
/// of the system.
fn leads_out(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

fn refusal(path: &str, error: &io::Error) -> PathError {
    let path = path.to_owned();
    match error.kind() {
        _ if leads_out(error) => PathError::Outside(path),
        io::ErrorKind::NotFound => PathError::NotFound(path),
        io::ErrorKind::PermissionDenied => PathError::NoPermission(path),
        io::ErrorKind::NotADirectory => PathError::NotDirectory(path),
        io::ErrorKind::IsADirectory => PathError::IsDirectory(path),
        problem => PathError::Other { path, problem },
    }
}

#[cfg(all(test, unix))]
mod tests;
