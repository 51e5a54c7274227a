//! Whether the data directory can be written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// One block of most file systems, so that a full disk has no room for it.
const PROBE_BYTES: usize = 4096;

/// Writes a small file in the directory, waits until it is on the disk, and removes it. Blocks.
pub fn probe_data_dir(dir: &Path) -> io::Result<()> {
    let path = dir.join(format!(".ready-{}", std::process::id()));
    let written = write(&path);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => written.and(Err(error)),
        _ => written,
    }
}

fn write(path: &Path) -> io::Result<()> {
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(&[b'\n'; PROBE_BYTES])?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        probe_data_dir(dir.path()).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        let gone = probe_data_dir(&dir.path().join("gone")).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }
}
