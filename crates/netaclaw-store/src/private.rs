//! Files and directories that only their owner may use, whatever the umask and the directory
//! around them allow. Everything NetaClaw writes into its data directory is made here.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const OTHERS: u32 = 0o077;

/// Creates a directory with mode 0700, and those above it that do not exist.
pub fn create_dir_all(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Options with which a new file gets mode 0600.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Creates a file, or empties the one that is there.
pub fn create(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(true).open(path)
}

pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    create(path)?.write_all(content)
}

/// Takes the rights of others away from a directory and everything below it. The directory itself
/// comes last: one that is private already was done before and costs a single call. A directory
/// that does not exist is fine; what cannot be changed is logged and left. Blocks.
pub fn restrict(dir: &Path) -> io::Result<()> {
    let about = match fs::metadata(dir) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !about.is_dir() || about.permissions().mode() & OTHERS == 0 {
        return Ok(());
    }
    let mut failed = 0;
    restrict_below(dir, &mut failed)?;
    take_rights(dir, &about.permissions(), &mut failed);
    match failed {
        0 => {
            tracing::info!(
                directory = %dir.display(),
                "other users had access to these files; restricted it to their owner"
            );
        }
        _ => {
            tracing::warn!(
                directory = %dir.display(),
                failed,
                "other users still have access to some files; change their modes to 0600"
            );
        }
    }
    Ok(())
}

fn restrict_below(dir: &Path, failed: &mut u64) -> io::Result<()> {
    for item in fs::read_dir(dir)? {
        let item = item?;
        // Does not follow links. A file that vanished in the meantime is not an error.
        let Ok(about) = item.metadata() else {
            continue;
        };
        if about.is_dir() {
            restrict_below(&item.path(), failed)?;
        }
        if about.is_dir() || about.is_file() {
            take_rights(&item.path(), &about.permissions(), failed);
        }
    }
    Ok(())
}

fn take_rights(path: &Path, now: &Permissions, failed: &mut u64) {
    let mode = now.mode();
    if mode & OTHERS == 0 {
        return;
    }
    match fs::set_permissions(path, Permissions::from_mode(mode & 0o7777 & !OTHERS)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => *failed += 1,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_was_open_to_others_is_closed_once_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (top, outside) = (dir.path().join("top"), dir.path().join("outside"));
        fs::create_dir_all(top.join("below")).unwrap();
        fs::write(top.join("below/file"), "x").unwrap();
        fs::write(&outside, "x").unwrap();
        for path in [&top, &top.join("below")] {
            fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
        for path in [&top.join("below/file"), &outside] {
            fs::set_permissions(path, Permissions::from_mode(0o744)).unwrap();
        }
        std::os::unix::fs::symlink(&outside, top.join("link")).unwrap();
        restrict(&top).unwrap();
        assert_eq!(mode(&top), 0o700);
        assert_eq!(mode(&top.join("below")), 0o700);
        assert_eq!(mode(&top.join("below/file")), 0o700);
        assert_eq!(mode(&outside), 0o744);
        restrict(&dir.path().join("absent")).unwrap();
    }
}
