//! The target of a write: its directory, held open, and its name in it.
//!
//! New content is written to a temporary file that takes the name in one step, so that no reader
//! ever sees half of it, and a link that was swapped in is replaced, not followed.

use super::protected::is_protected;
use super::read_stamps::FileStamp;
use super::{PathError, Workspace, do_not_wait, refusal};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use netaclaw_governance::is_below;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

/// A place for a file, found by following links inside of the workspace.
#[derive(Debug)]
pub(crate) struct Place {
    dir: Dir,
    name: OsString,
    /// As the caller wrote it.
    path: String,
}

/// A file that is there.
#[derive(Debug)]
pub(crate) struct Existing {
    file: File,
    metadata: Metadata,
}

/// Why a file was not written, as text for the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error(
        "`{0}` was changed by another program or user during the write. Nothing was written; read \
         it again."
    )]
    Changed(String),
    #[error("Permission to write `{0}` was denied.")]
    NoPermission(String),
    #[error("`{path}` was not written: {problem}. It is unchanged.")]
    Other {
        path: String,
        problem: io::ErrorKind,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingDirs {
    Create,
    Refuse,
}

impl Workspace {
    /// Finds the place of a file that may not be there yet. Directories that lead to it are made
    /// if that is wanted.
    pub(crate) fn place(&self, path: &str, missing: MissingDirs) -> Result<Place, PathError> {
        // Before directories are made: a place that is refused stays as it was.
        self.check_writable(path, &self.plain_name(path))?;
        if let Some(future) = self.future_place(path)? {
            self.check_writable(path, &future)?;
        }
        let (dir, name) = self.reach(path, |dir, rest| locate(dir, rest, missing))?;
        let real = super::real_path(&dir).map_err(|error| refusal(path, &error))?;
        self.check_writable(path, &real.join(&name))?;
        let path = path.to_owned();
        Ok(Place { dir, name, path })
    }

    /// The same, for a write that was approved for a folder of the workspace only. The folder is
    /// compared with the place that is held open, so that no link swapped in meanwhile leads out.
    pub(crate) fn place_in(
        &self,
        path: &str,
        missing: MissingDirs,
        folder: Option<&str>,
    ) -> Result<Place, PathError> {
        let Some(folder) = folder else {
            return self.place(path, missing);
        };
        let outside = || PathError::OutsideFolder {
            path: path.to_owned(),
            folder: folder.to_owned(),
        };
        let is_in = |place: Option<String>| place.is_some_and(|place| is_below(folder, &place));
        // Before directories are made.
        if !is_in(self.edit_place(path)) {
            return Err(outside());
        }
        let place = self.place(path, missing)?;
        let real = super::real_path(&place.dir).map_err(|error| refusal(path, &error))?;
        match is_in(self.in_workspace(&real.join(&place.name))) {
            true => Ok(place),
            false => Err(outside()),
        }
    }

    /// Where a write to this path would put the file, relative to the workspace and without links;
    /// `None` if that is outside of it, or not known. Blocks.
    pub fn edit_place(&self, path: &str) -> Option<String> {
        if Path::new(path)
            .components()
            .any(|part| part == Component::ParentDir)
        {
            return None;
        }
        let real = match self.place(path, MissingDirs::Refuse) {
            Ok(place) => super::real_path(&place.dir).ok()?.join(&place.name),
            Err(PathError::NotFound(_)) if !self.is_there(Path::new(path)) => {
                self.future_place(path).ok()??
            }
            Err(_) => return None,
        };
        self.in_workspace(&real)
    }

    fn in_workspace(&self, real: &Path) -> Option<String> {
        let place = real.strip_prefix(self.root()).ok()?;
        place.to_str().map(str::to_owned)
    }

    /// Where a file would be put if the directories that are missing were made.
    fn future_place(&self, path: &str) -> Result<Option<PathBuf>, PathError> {
        for above in Path::new(path).ancestors().skip(1) {
            let dir = match self.open_dir(&or_here(above).to_string_lossy()) {
                Ok(dir) => dir,
                Err(PathError::Hidden(_)) => return Err(PathError::Hidden(path.to_owned())),
                // What is there and is no directory, such as a dangling link, could lead anywhere.
                Err(_) if self.is_there(above) => return Ok(None),
                Err(_) => continue,
            };
            let real = super::real_path(&dir).map_err(|error| refusal(path, &error))?;
            let rest = Path::new(path).strip_prefix(above);
            return Ok(rest.ok().map(|rest| real.join(rest)));
        }
        Ok(None)
    }

    fn is_there(&self, path: &Path) -> bool {
        let found = self.reach(&path.to_string_lossy(), |dir, rest| {
            dir.symlink_metadata(rest)?;
            Ok((dir.try_clone()?, rest.as_os_str().to_owned()))
        });
        found.is_ok()
    }

    /// Looks at a path without links, as far as it exists.
    fn check_writable(&self, path: &str, whole: &Path) -> Result<(), PathError> {
        let Some((root, rest)) = self.split(whole) else {
            return Ok(());
        };
        if self.hidden.hides(whole, root) {
            return Err(PathError::Hidden(path.to_owned()));
        }
        match is_protected(rest) {
            true => Err(PathError::Protected(path.to_owned())),
            false => Ok(()),
        }
    }
}

fn locate(dir: &Dir, path: &Path, missing: MissingDirs) -> io::Result<(Dir, OsString)> {
    let real = match dir.canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if dir.symlink_metadata(path).is_ok() {
                // The target of a dangling link could be anywhere.
                return Err(error);
            }
            let name = path.file_name().ok_or(error)?;
            let parent = path.parent().unwrap_or(Path::new(""));
            if missing == MissingDirs::Create && !parent.as_os_str().is_empty() {
                dir.create_dir_all(parent)?;
            }
            dir.canonicalize(or_here(parent))?.join(name)
        }
        real => real?,
    };
    let name = real.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let parent = dir.open_dir(or_here(real.parent().unwrap_or(Path::new(""))))?;
    Ok((parent, name.to_owned()))
}

fn or_here(path: &Path) -> &Path {
    match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    }
}

impl Place {
    /// The file at this place, if there is one.
    pub(crate) fn existing(&self) -> Result<Option<Existing>, PathError> {
        let refused = |error: io::Error| refusal(&self.path, &error);
        let mut options = OpenOptions::new();
        options.read(true);
        do_not_wait(&mut options);
        let file = match self.dir.open_with(&self.name, &options) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(refused)?,
        };
        let metadata = file.metadata().map_err(refused)?;
        match (metadata.is_file(), metadata.is_dir()) {
            (true, _) => Ok(Some(Existing { file, metadata })),
            (_, true) => Err(PathError::IsDirectory(self.path.clone())),
            _ => Err(PathError::Special(self.path.clone())),
        }
    }

    /// Puts a file here in one step, in the place of `old` or where nothing was. Keeps mode and
    /// owner of the old one. Fails without a trace if by now something else is there.
    pub(crate) fn put(
        &self,
        bytes: &[u8],
        old: Option<&Existing>,
    ) -> Result<FileStamp, WriteError> {
        let fault = |error: io::Error| self.fault(&error);
        if old.is_some() {
            // Replacing needs leave for the directory only; this asks the file itself.
            let mut options = OpenOptions::new();
            options.write(true);
            do_not_wait(&mut options);
            self.dir.open_with(&self.name, &options).map_err(fault)?;
        }
        let mut beside = Beside::create(&self.dir, old.is_some()).map_err(fault)?;
        beside.fill(bytes, old).map_err(fault)?;
        if self.stamp().map_err(fault)? != old.map(Existing::stamp) {
            return Err(WriteError::Changed(self.path.clone()));
        }
        let stamp = beside.stamp().map_err(fault)?;
        beside.take_name(&self.name).map_err(fault)?;
        Ok(stamp)
    }

    fn stamp(&self) -> io::Result<Option<FileStamp>> {
        match self.dir.symlink_metadata(&self.name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            metadata => Ok(Some(FileStamp::of(&metadata?))),
        }
    }

    fn fault(&self, error: &io::Error) -> WriteError {
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                WriteError::NoPermission(self.path.clone())
            }
            problem => WriteError::Other {
                path: self.path.clone(),
                problem,
            },
        }
    }
}

impl Existing {
    pub(crate) fn bytes(&self) -> u64 {
        self.metadata.len()
    }

    pub(crate) fn stamp(&self) -> FileStamp {
        FileStamp::of(&self.metadata)
    }

    /// The whole content; `None` if it is longer than `max`.
    pub(crate) fn read(&mut self, max: u64) -> io::Result<Option<Vec<u8>>> {
        if self.bytes() > max {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        // The file may have grown since its size was asked for.
        Read::by_ref(&mut self.file)
            .take(max + 1)
            .read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= max).then_some(bytes))
    }
}

/// A file under a name of its own, which goes away unless it is given its real name.
struct Beside<'a> {
    dir: &'a Dir,
    name: String,
    file: File,
    named: bool,
}

impl<'a> Beside<'a> {
    fn create(dir: &'a Dir, replaces: bool) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if replaces {
            // Until it has the mode of the old one, no other account may read it.
            cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        loop {
            let name = format!(".netaclaw-{:016x}.tmp", fastrand::u64(..));
            match dir.open_with(&name, &options) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => {
                    return Ok(Self {
                        dir,
                        name,
                        file: file?,
                        named: false,
                    });
                }
            }
        }
    }

    fn fill(&mut self, bytes: &[u8], old: Option<&Existing>) -> io::Result<()> {
        self.file.write_all(bytes)?;
        if let Some(old) = old {
            keep_owner(&self.file, &old.metadata);
            self.file.set_permissions(old.metadata.permissions())?;
        }
        // Without this a crash could leave an empty file under the old name.
        self.file.sync_all()
    }

    fn stamp(&self) -> io::Result<FileStamp> {
        Ok(FileStamp::of(&self.file.metadata()?))
    }

    fn take_name(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename(&self.name, self.dir, name)?;
        self.named = true;
        Ok(())
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        if !self.named
            && let Err(error) = self.dir.remove_file(&self.name)
        {
            tracing::warn!(%error, "failed to remove a temporary file");
        }
    }
}

/// A file of another account keeps its owner, where the system allows it.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) {
    use cap_std::fs::MetadataExt;
    let owner = rustix::fs::Uid::from_raw(old.uid());
    let group = rustix::fs::Gid::from_raw(old.gid());
    if let Err(error) = rustix::fs::fchown(file, Some(owner), Some(group)) {
        tracing::debug!(%error, "failed to restore the owner of a replaced file");
    }
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _old: &Metadata) {}
