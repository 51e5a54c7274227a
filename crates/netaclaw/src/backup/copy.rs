//! Copies of files that others may be writing, with their checksums.

use super::manifest::Item;
use netaclaw_store::private;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

const BLOCK_BYTES: usize = 256 << 10;

/// How much of a file belongs to the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    /// Up to the last line that is complete: the file is being appended to.
    Lines,
}

/// Copies files from one directory to the same places in another.
pub(super) struct Copier<'a> {
    pub(super) from: &'a Path,
    pub(super) to: &'a Path,
    pub(super) items: Vec<Item>,
}

impl Copier<'_> {
    /// Copies one file. `false` if it does not exist, or has been removed.
    pub(super) fn file(&mut self, path: &str, extent: Extent) -> io::Result<bool> {
        let source = match File::open(self.from.join(path)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            opened => opened?,
        };
        let about = source.metadata()?;
        let bytes = match extent {
            Extent::Whole => about.len(),
            Extent::Lines => lines_end(&source, about.len())?,
        };
        let target = self.to.join(path);
        if let Some(parent) = target.parent() {
            private::create_dir_all(parent)?;
        }
        let (bytes, sha256) = copy(source.take(bytes), &target)?;
        let mode = about.permissions().mode() & 0o700;
        fs::set_permissions(&target, fs::Permissions::from_mode(mode))?;
        self.items.push(Item {
            path: path.to_owned(),
            bytes,
            sha256,
            mode: format!("{mode:03o}"),
        });
        Ok(true)
    }

    /// Copies every file below a directory that `extent` wants. Links are not followed. Returns
    /// whether nothing vanished meanwhile.
    pub(super) fn tree(
        &mut self,
        dir: &str,
        extent: &dyn Fn(&str) -> Option<Extent>,
    ) -> io::Result<bool> {
        let mut complete = true;
        for (name, kind) in names(&self.from.join(dir))? {
            let path = format!("{dir}/{name}");
            if kind.is_dir() {
                complete &= self.tree(&path, extent)?;
            } else if kind.is_file()
                && let Some(extent) = extent(&name)
            {
                complete &= self.file(&path, extent)?;
            }
        }
        Ok(complete)
    }

    /// Takes back what was copied of a directory.
    pub(super) fn drop_tree(&mut self, dir: &str) -> io::Result<()> {
        let below = format!("{dir}/");
        self.items.retain(|item| !item.path.starts_with(&below));
        match fs::remove_dir_all(self.to.join(dir)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }
}

/// Names and kinds of what is in a directory, sorted. None if it does not exist. A name that is not
/// Unicode was not given by NetaClaw.
pub(super) fn names(dir: &Path) -> io::Result<Vec<(String, fs::FileType)>> {
    let listed = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut names = Vec::new();
    for item in listed {
        let item = item?;
        if let Ok(name) = item.file_name().into_string() {
            names.push((name, item.file_type()?));
        }
    }
    names.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(names)
}

/// Writes all that can be read to a new file, and says how much it was.
pub(super) fn copy(source: impl Read, target: &Path) -> io::Result<(u64, String)> {
    let mut options = private::options();
    let out = options.write(true).create_new(true).open(target)?;
    hashed(source, out)
}

/// The size and the checksum of a file.
pub(super) fn checksum(path: &Path) -> io::Result<(u64, String)> {
    hashed(File::open(path)?, io::sink())
}

fn hashed(mut source: impl Read, mut out: impl Write) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let mut block = vec![0; BLOCK_BYTES];
    let mut bytes = 0;
    loop {
        let read = match source.read(&mut block) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            break;
        }
        hash.update(&block[..read]);
        out.write_all(&block[..read])?;
        bytes += read as u64;
    }
    let digest = hash.finalize();
    Ok((
        bytes,
        digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    ))
}

/// Where the last complete line of the first `len` bytes ends.
fn lines_end(file: &File, len: u64) -> io::Result<u64> {
    let mut block = vec![0; BLOCK_BYTES];
    let mut end = len;
    while end > 0 {
        let start = end.saturating_sub(BLOCK_BYTES as u64);
        let size = usize::try_from(end - start).unwrap_or(BLOCK_BYTES);
        file.read_exact_at(&mut block[..size], start)?;
        if let Some(at) = block[..size].iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_ends_with_a_complete_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let long = "x".repeat(BLOCK_BYTES);
        for (text, expected) in [
            (String::new(), 0),
            ("torn".to_owned(), 0),
            ("one\ntwo\n".to_owned(), 8),
            ("one\ntorn".to_owned(), 4),
            (format!("one\n{long}"), 4),
            (format!("{long}\n"), BLOCK_BYTES as u64 + 1),
        ] {
            fs::write(&path, &text).unwrap();
            let file = File::open(&path).unwrap();
            assert_eq!(lines_end(&file, text.len() as u64).unwrap(), expected);
        }
    }
}
