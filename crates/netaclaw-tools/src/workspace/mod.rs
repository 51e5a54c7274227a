//! The directories of file tools: the workspace and additional roots.
//!
//! Checking a path and then opening it is a race that a swapped link wins. So nothing here opens
//! a path: files are opened beneath the handle of a root, and the kernel (or `cap-std`, step by
//! step) refuses whatever leads out of it, `..` and links included.

mod hidden;
mod ignore_rules;
mod protected;
mod read_stamps;
mod walk;
mod write_target;

pub use hidden::{Hidden, real_path};
pub(crate) use protected::EXECUTED;
pub(crate) use read_stamps::FileStamp;
pub(crate) use walk::{IgnoreFiles, Kind, Visit, Walk, WalkStart, Walked};
pub(crate) use write_target::{MissingDirs, WriteError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use ignore_rules::IgnoreRules;
use read_stamps::ReadStamps;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The directories an agent may look into. Every method but the simple ones blocks.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Absolute and without links; the first is where relative paths begin.
    roots: Vec<PathBuf>,
    hidden: Hidden,
    seen: ReadStamps,
}

/// Why a path cannot be used, as text for the model.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    #[error("`{0}` is outside of the workspace. Use only paths inside of it.")]
    Outside(String),
    #[error(
        "`{0}` is hidden from tools because it contains keys or data of the server. Nothing in it \
         can be read or written."
    )]
    Hidden(String),
    #[error(
        "Tools cannot write `{0}`, because other programs execute it outside of the sandbox. Show \
         the user what to write there instead."
    )]
    Protected(String),
    #[error(
        "`{path}` is outside of `{folder}`, the folder for which edits were allowed. Make the call \
         again, so that the user can be asked."
    )]
    OutsideFolder { path: String, folder: String },
    #[error("`{0}` does not exist.")]
    NotFound(String),
    #[error("`{0}` is a directory, not a file.")]
    IsDirectory(String),
    #[error("`{0}` is not a directory.")]
    NotDirectory(String),
    #[error("`{0}` is neither a file nor a directory, and reading it might not end.")]
    Special(String),
    #[error("Permission to read `{0}` was denied.")]
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
        Ok(Self::of_roots(roots))
    }

    /// The same directories as those of another workspace, as [`Workspace::roots`] returns them.
    pub fn of_roots(roots: Vec<PathBuf>) -> Self {
        Self {
            roots,
            hidden: Hidden::default(),
            seen: ReadStamps::default(),
        }
    }

    /// Keeps tools out of these places, also where a root contains them.
    pub fn hiding(self, hidden: Hidden) -> Self {
        Self { hidden, ..self }
    }

    /// Adds a root, which must be absolute and without links. It need not exist yet.
    pub fn with_root(mut self, root: PathBuf) -> Self {
        self.roots.push(root);
        self
    }

    pub fn root(&self) -> &Path {
        &self.roots[0]
    }

    /// All of them, without links.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
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

    /// Opens a directory to be walked. Ignore files above it count as well, up to its root.
    pub(crate) fn open_walk(&self, path: &str) -> Result<WalkStart, PathError> {
        let dir = self.open_dir(path)?;
        let refused = |error: io::Error| refusal(path, &error);
        let hidden = self.hidden_below(&dir).map_err(refused)?;
        let whole = self.root().join(path);
        let inner = self.split(&whole).filter(|(_, rest)| is_plain(rest));
        let prefix = match inner {
            Some((root, rest)) if root == self.root() => rest.to_string_lossy().into_owned(),
            _ => path.trim_end_matches('/').to_owned(),
        };
        Ok(WalkStart {
            dir,
            prefix: match prefix.as_str() {
                "" => String::new(),
                prefix => format!("{prefix}/"),
            },
            above: inner.and_then(|(root, rest)| rules_above(root, rest)),
            hidden,
        })
    }

    /// What a walk from `dir` has to leave out, relative to it.
    fn hidden_below(&self, dir: &Dir) -> io::Result<Vec<PathBuf>> {
        if self.hidden.is_empty() {
            return Ok(Vec::new());
        }
        let real = real_path(dir)?;
        let root = self.split(&real).map_or(self.root(), |(root, _)| root);
        Ok(self.hidden.below(&real, root))
    }

    /// Remembers how a file looked when it was read or written.
    pub(crate) fn record_read(&self, path: &str, stamp: FileStamp) {
        self.seen.note(self.plain_name(path), stamp);
    }

    /// Whether a file has changed since the run read or wrote it last. Files without a stamp count
    /// as unchanged.
    pub(crate) fn changed_since_seen(&self, path: &str, stamp: FileStamp) -> bool {
        let seen = self.seen.stamp(&self.plain_name(path));
        seen.is_some_and(|seen| seen != stamp)
    }

    /// One name for a path, however it is written. Links may still give a file several.
    fn plain_name(&self, path: &str) -> PathBuf {
        let mut plain = PathBuf::new();
        for component in self.root().join(path).components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => {
                    plain.pop();
                }
                other => plain.push(other),
            }
        }
        plain
    }

    fn reach<T: RealPath>(
        &self,
        path: &str,
        open: impl Fn(&Dir, &Path) -> io::Result<T>,
    ) -> Result<T, PathError> {
        let beneath = |root: &Path, rest: &Path| {
            let dir = Dir::open_ambient_dir(root, ambient_authority())?;
            let reached = open(
                &dir,
                if rest.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    rest
                },
            )?;
            // Asked of what is open, so that no link swapped in between matters.
            let is_hidden =
                !self.hidden.is_empty() && self.hidden.hides(&reached.real_path()?, root);
            Ok((!is_hidden).then_some(reached))
        };
        let visible =
            |reached: Option<T>| reached.ok_or_else(|| PathError::Hidden(path.to_owned()));
        let whole = self.root().join(path);
        if let Some((root, rest)) = self.split(&whole) {
            match beneath(root, rest) {
                Err(error) if leads_out(&error) => {}
                result => return visible(result.map_err(|error| refusal(path, &error))?),
            }
        }
        // Links may lead from one root into another, or be absolute; and a root may be known by
        // another name. Then the place they really mean counts, and is opened just as carefully.
        let outside = || PathError::Outside(path.to_owned());
        let real = std::fs::canonicalize(&whole).map_err(|_| outside())?;
        let (root, rest) = self.split(&real).ok_or_else(outside)?;
        visible(beneath(root, rest).map_err(|error| refusal(path, &error))?)
    }

    /// The root a path begins with, and the rest of it.
    fn split<'a>(&'a self, path: &'a Path) -> Option<(&'a Path, &'a Path)> {
        self.roots
            .iter()
            .filter_map(|root| Some((root.as_path(), path.strip_prefix(root).ok()?)))
            .min_by_key(|(_, rest)| rest.components().count())
    }
}

/// What was opened beneath a root, and where that really is.
trait RealPath {
    fn real_path(&self) -> io::Result<PathBuf>;
}

impl RealPath for cap_std::fs::File {
    fn real_path(&self) -> io::Result<PathBuf> {
        real_path(self)
    }
}

impl RealPath for Dir {
    fn real_path(&self) -> io::Result<PathBuf> {
        real_path(self)
    }
}

/// A name in a directory, which may not exist yet.
impl RealPath for (Dir, OsString) {
    fn real_path(&self) -> io::Result<PathBuf> {
        Ok(real_path(&self.0)?.join(&self.1))
    }
}

/// Whether a path says where it leads: one with dots does so only together with its links.
fn is_plain(path: &Path) -> bool {
    path.components()
        .all(|component| matches!(component, Component::Normal(_)))
}

/// The rules of the directories from a root down to the one above the last of `rest`.
fn rules_above(root: &Path, rest: &Path) -> Option<Arc<IgnoreRules>> {
    let root = Dir::open_ambient_dir(root, ambient_authority()).ok()?;
    let mut dirs: Vec<&Path> = rest.ancestors().skip(1).collect();
    dirs.reverse();
    dirs.into_iter().fold(None, |above, dir| {
        let on = rest.strip_prefix(dir).unwrap_or(rest);
        IgnoreRules::above(above, &root, dir, on)
    })
}

impl FileStamp {
    pub(crate) fn of_file(file: &File) -> io::Result<Self> {
        Ok(Self::of(&Metadata::from_file(file)?))
    }
}

/// Without this flag, opening a pipe waits for a writer.
pub(crate) fn do_not_wait(options: &mut OpenOptions) {
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
