//! Uploaded files in the data directory: `attachments/<owner>/<hash>/`, with the content and what
//! is known about it. A directory appears whole or not at all.
//!
//! Several servers of one deployment have to share the directory. What models need of a file that
//! was sent is in the session; only downloads depend on it.

use crate::instance::is_old;
use crate::{blocking, private};
use async_trait::async_trait;
use bytes::Bytes;
use netaclaw_engine::{AttachmentError, AttachmentStore, StoredFile, inspect};
use netaclaw_protocol::UploadedFile;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What the names of directories begin with that are not complete yet.
const TEMPORARY: &str = ".new";
const CONTENT: &str = "content";
const ABOUT: &str = "about.json";
/// Its presence says that a message has the file.
const SENT: &str = "sent";
/// Files of one owner that may wait to be sent; a further one is refused.
const UNSENT_MAX: usize = 64;
/// Attachments that were not sent by then are removed when their owner uploads another file.
const UNSENT_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const NAME_CHARS_MAX: usize = 200;
const HASH_CHARS: usize = 32;

type Result<T> = std::result::Result<T, AttachmentError>;

pub struct FileAttachments {
    dir: PathBuf,
    /// What the files of one owner may take, those that were sent included; 0 means no limit.
    owner_bytes_max: u64,
}

impl FileAttachments {
    pub fn new(dir: PathBuf) -> Self {
        Self {
            dir,
            owner_bytes_max: 0,
        }
    }

    /// Bounds what one owner keeps here.
    pub fn with_owner_bytes_max(self, owner_bytes_max: u64) -> Self {
        Self {
            owner_bytes_max,
            ..self
        }
    }

    /// The path of a file. Only names that cannot lead elsewhere are accepted.
    fn place(&self, id: &str) -> Result<PathBuf> {
        let (owner, hash) = id.rsplit_once('.').ok_or(AttachmentError::NotFound)?;
        let is_hash = hash.len() == HASH_CHARS && hash.bytes().all(|b| b.is_ascii_hexdigit());
        match is_hash && is_plain(owner) {
            true => Ok(self.dir.join(owner).join(hash)),
            false => Err(AttachmentError::NotFound),
        }
    }
}

#[async_trait]
impl AttachmentStore for FileAttachments {
    async fn put(&self, owner: &str, name: &str, content: Bytes) -> Result<UploadedFile> {
        let name = plain_name(name);
        let (mime_type, kind) = inspect(&content);
        let file = UploadedFile {
            id: format!("{owner}.{}", hash(&name, &content)),
            name,
            mime_type: mime_type.to_owned(),
            bytes: content.len() as u64,
            kind,
        };
        let place = self.place(&file.id)?;
        let bytes_max = self.owner_bytes_max;
        blocking(move || {
            if !place.join(ABOUT).exists() {
                let drawer = place.parent().expect("the owner's directory");
                private::create_dir_all(drawer)?;
                let kept = tidy(drawer)?;
                if kept.unsent >= UNSENT_MAX {
                    return Err(AttachmentError::TooMany);
                }
                if bytes_max != 0 && kept.bytes + file.bytes > bytes_max {
                    return Err(AttachmentError::NoRoom {
                        used_mb: kept.bytes.div_ceil(1 << 20),
                        max_mb: bytes_max >> 20,
                    });
                }
                write_whole(drawer, &place, &file, &content)?;
            }
            Ok(file)
        })
        .await
    }

    async fn open(&self, id: &str) -> Result<StoredFile> {
        let place = self.place(id)?;
        blocking(move || {
            let about = fs::read(place.join(ABOUT))?;
            let file = serde_json::from_slice(&about).map_err(io::Error::from)?;
            let content = fs::read(place.join(CONTENT))?.into();
            Ok(StoredFile { file, content })
        })
        .await
    }

    async fn mark_sent(&self, id: &str) -> Result<()> {
        let place = self.place(id)?;
        blocking(move || Ok(private::write(&place.join(SENT), b"")?)).await
    }

    async fn remove_leftovers(&self) -> Result<()> {
        let dir = self.dir.clone();
        blocking(move || Ok(remove_cut_off(&dir)?)).await
    }

    async fn delete(&self, id: &str) -> Result<()> {
        let place = self.place(id)?;
        blocking(move || match place.join(SENT).exists() {
            true => Err(AttachmentError::Sent),
            false => Ok(fs::remove_dir_all(place)?),
        })
        .await
    }
}

/// Removes uploads that were cut off when their process was killed.
fn remove_cut_off(dir: &Path) -> io::Result<()> {
    let drawers = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        drawers => drawers?,
    };
    for drawer in drawers {
        let drawer = drawer?;
        if !drawer.file_type()?.is_dir() {
            continue;
        }
        for item in fs::read_dir(drawer.path())? {
            let item = item?;
            let is_temporary = item.file_name().to_string_lossy().starts_with(TEMPORARY);
            if is_temporary && is_old(&item.path()) {
                fs::remove_dir_all(item.path())?;
            }
        }
    }
    Ok(())
}

/// What an owner has here.
#[derive(Default)]
struct OwnerFiles {
    unsent: usize,
    bytes: u64,
}

/// Removes what was not sent for long, and counts the rest.
fn tidy(drawer: &Path) -> Result<OwnerFiles> {
    let mut kept = OwnerFiles::default();
    let now = SystemTime::now();
    for item in fs::read_dir(drawer)? {
        let item = item?;
        if !item.path().join(SENT).exists() {
            let age = now.duration_since(item.metadata()?.modified()?);
            if age.is_ok_and(|age| age > UNSENT_KEPT) {
                fs::remove_dir_all(item.path())?;
                continue;
            }
            kept.unsent += 1;
        }
        // One that is being written or removed at this moment has none.
        let content = fs::metadata(item.path().join(CONTENT));
        kept.bytes += content.map_or(0, |content| content.len());
    }
    Ok(kept)
}

/// Writes a temporary directory and renames it.
fn write_whole(drawer: &Path, place: &Path, file: &UploadedFile, content: &[u8]) -> io::Result<()> {
    let fresh = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(drawer)?;
    let mut out = private::create(&fresh.path().join(CONTENT))?;
    out.write_all(content)?;
    out.sync_all()?;
    private::write(&fresh.path().join(ABOUT), &serde_json::to_vec(file)?)?;
    match fs::rename(fresh.path(), place) {
        // Another upload of the same file was faster.
        Err(_) if place.join(ABOUT).exists() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => {
            // It was moved to another path; there is nothing to clean up.
            drop(fresh.keep());
            Ok(())
        }
    }
}

fn hash(name: &str, content: &[u8]) -> String {
    let mut hash = Sha256::new();
    // The length keeps name and content apart.
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
    hash.update(content);
    let digest = hash.finalize();
    let hex = digest.iter().map(|byte| format!("{byte:02x}"));
    hex.take(HASH_CHARS / 2).collect()
}

/// A name for users: the last part of a path, without control characters.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = last.chars().filter(|c| !c.is_control()).collect();
    let name: String = name.trim().chars().take(NAME_CHARS_MAX).collect();
    match name.as_str() {
        "" | "." | ".." => "file".to_owned(),
        _ => name,
    }
}

/// Whether a text can be the name of a directory as it is.
fn is_plain(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    !text.is_empty() && text.len() <= 128 && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, FileAttachments) {
        let dir = tempfile::tempdir().unwrap();
        let store = FileAttachments::new(dir.path().join("files"));
        (dir, store)
    }

    #[tokio::test]
    async fn what_one_owner_keeps_is_bounded_with_what_was_sent() {
        let (_dir, store) = store();
        let store = store.with_owner_bytes_max(3 << 20);
        let put = |owner: &'static str, name: &'static str| {
            store.put(owner, name, Bytes::from(vec![b'x'; 1 << 20]))
        };
        for name in ["a", "b", "c"] {
            let file = put("ann", name).await.unwrap();
            store.mark_sent(&file.id).await.unwrap();
        }
        let refused = put("ann", "d").await.unwrap_err();
        assert!(matches!(
            refused,
            AttachmentError::NoRoom {
                used_mb: 3,
                max_mb: 3
            }
        ));
        // The same file again takes no room, and others have their own.
        put("ann", "a").await.unwrap();
        put("bob", "d").await.unwrap();
    }

    #[tokio::test]
    async fn a_file_is_kept_once_and_gone_when_it_is_taken_back() {
        let (_dir, store) = store();
        let put = || store.put("ann", "a/b\\c.txt", Bytes::from_static(b"hello"));
        let first = put().await.unwrap();
        assert_eq!(first.name, "c.txt");
        assert_eq!(put().await.unwrap(), first);
        let other = store
            .put("bob", "c.txt", Bytes::from_static(b"hello"))
            .await;
        assert_ne!(other.unwrap().id, first.id);
        let opened = store.open(&first.id).await.unwrap();
        assert_eq!(
            (opened.file, &opened.content[..]),
            (first.clone(), &b"hello"[..])
        );
        store.delete(&first.id).await.unwrap();
        let gone = store.open(&first.id).await.unwrap_err();
        assert!(matches!(gone, AttachmentError::NotFound));
    }

    #[tokio::test]
    async fn what_was_sent_stays_and_does_not_count_as_waiting() {
        let (_dir, store) = store();
        let put = |number: usize| store.put("ann", "x", Bytes::from(number.to_string()));
        let first = put(0).await.unwrap();
        for number in 1..UNSENT_MAX {
            put(number).await.unwrap();
        }
        assert!(matches!(
            put(UNSENT_MAX).await,
            Err(AttachmentError::TooMany)
        ));
        store.mark_sent(&first.id).await.unwrap();
        assert!(matches!(
            store.delete(&first.id).await,
            Err(AttachmentError::Sent)
        ));
        put(UNSENT_MAX).await.unwrap();
    }

    #[tokio::test]
    async fn what_was_not_sent_for_long_is_forgotten() {
        let (_dir, store) = store();
        let old = store
            .put("ann", "old", Bytes::from_static(b"x"))
            .await
            .unwrap();
        let place = fs::File::open(store.place(&old.id).unwrap()).unwrap();
        let then = SystemTime::now() - UNSENT_KEPT - Duration::from_secs(60);
        place.set_modified(then).unwrap();
        store
            .put("ann", "new", Bytes::from_static(b"y"))
            .await
            .unwrap();
        assert!(matches!(
            store.open(&old.id).await,
            Err(AttachmentError::NotFound)
        ));
    }

    #[tokio::test]
    async fn ids_lead_nowhere_else() {
        let (_dir, store) = store();
        let hash = "0".repeat(HASH_CHARS);
        for id in [
            "",
            "x",
            "..",
            &format!("../x.{hash}"),
            &format!(".{hash}"),
            "ann./etc/passwd",
        ] {
            assert!(
                matches!(store.open(id).await, Err(AttachmentError::NotFound)),
                "{id}"
            );
        }
    }
}
