//! Detects live and dead processes on a data directory.

use crate::private;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use uuid::Uuid;

/// A live process is done with a temporary file long before this.
const TEMPORARY_MAX: Duration = Duration::from_secs(10 * 60);

/// This process, as others can see it: a file that the kernel keeps locked for as long as the
/// process lives, however it ends.
#[derive(Debug)]
pub struct Instance {
    id: String,
    path: PathBuf,
    lock: File,
}

/// Processes whose files were left behind.
#[derive(Debug)]
pub struct DeadInstances {
    dir: PathBuf,
    ids: Vec<String>,
}

impl Instance {
    /// Registers this process in a directory that is for nothing else, and finds dead processes.
    /// Blocks.
    pub fn register(dir: &Path) -> io::Result<(Self, DeadInstances)> {
        private::create_dir_all(dir)?;
        // The dead first; otherwise this process would have to exclude itself.
        let mut ids = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            let Ok(id) = entry.file_name().into_string() else {
                continue;
            };
            if Uuid::parse_str(&id).is_ok() && is_dead(&entry.path())? {
                ids.push(id);
            } else if id.ends_with(".new") && is_old(&entry.path()) {
                // A process died between making its file and giving it its name.
                std::fs::remove_file(entry.path()).unwrap_or_default();
            }
        }
        let id = Uuid::now_v7().to_string();
        let path = dir.join(&id);
        // A process that looks between the creation of the file and the lock must not take it for
        // dead.
        let temporary = dir.join(format!("{id}.new"));
        let lock = private::create(&temporary)?;
        lock.lock()?;
        std::fs::rename(&temporary, &path)?;
        let instance = Self { id, path, lock };
        let dir = dir.to_owned();
        Ok((instance, DeadInstances { dir, ids }))
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Says on one line what this process is, for others on the same directory. Blocks.
    pub fn describe(&mut self, words: &str) -> io::Result<()> {
        self.lock.set_len(0)?;
        self.lock.rewind()?;
        self.lock.set_len(0)?;
        self.lock.rewind()?;
        self.lock.write_all(words.as_bytes())
    }

    /// What the other processes that live said of themselves; nothing for one that said nothing.
    /// Blocks.
    pub fn others(&self) -> io::Result<Vec<String>> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let mut others = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            let path = entry?.path();
            let is_other = path.file_name() != self.path.file_name()
                && path.extension().is_none()
                && !is_dead(&path)?;
            if is_other && let Ok(words) = std::fs::read_to_string(&path) {
                others.push(words);
            }
        }
        Ok(others)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // What is left behind counts as a death, which is looked into in vain.
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(%error, "failed to remove the instance file of this process");
        }
    }
}

impl DeadInstances {
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Forgets them, once what they left was seen to. Blocks.
    pub fn forget(self) -> io::Result<()> {
        for id in &self.ids {
            match std::fs::remove_file(self.dir.join(id)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether a temporary file or directory is so old that its maker must be dead. One that cannot be
/// looked at is not. Blocks.
pub(crate) fn is_old(path: &Path) -> bool {
    let modified = std::fs::symlink_metadata(path).and_then(|about| about.modified());
    let age = modified.map(|modified| SystemTime::now().duration_since(modified));
    age.is_ok_and(|age| age.is_ok_and(|age| age > TEMPORARY_MAX))
}

fn is_dead(path: &Path) -> io::Result<bool> {
    let file = match OpenOptions::new().write(true).open(path) {
        Ok(file) => file,
        // It ended properly while we looked.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_finds_out_who_else_works_here() {
        let dir = tempfile::tempdir().unwrap();
        let (mut first, _) = Instance::register(dir.path()).unwrap();
        first.describe("a much longer description").unwrap();
        first.describe("server").unwrap();
        std::fs::write(dir.path().join(Uuid::now_v7().to_string()), "dead").unwrap();
        let (second, _) = Instance::register(dir.path()).unwrap();
        assert_eq!(second.others().unwrap(), ["server"]);
        drop(first);
        assert_eq!(second.others().unwrap(), [""; 0]);
    }

    #[test]
    fn live_processes_are_distinguished_until_dead_ones_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let (first, dead) = Instance::register(dir.path()).unwrap();
        assert_eq!(dead.ids(), [""; 0]);
        let died = Uuid::now_v7().to_string();
        std::fs::write(dir.path().join(&died), "").unwrap();
        let (second, dead) = Instance::register(dir.path()).unwrap();
        assert_eq!(
            dead.ids(),
            std::slice::from_ref(&died),
            "not {}",
            first.id()
        );
        drop((first, second));
        let (_third, still) = Instance::register(dir.path()).unwrap();
        assert_eq!(still.ids(), [died], "who ended properly is not dead");
        dead.forget().unwrap();
        still.forget().unwrap();
        let (_fourth, dead) = Instance::register(dir.path()).unwrap();
        assert_eq!(dead.ids(), [""; 0]);
    }
}
