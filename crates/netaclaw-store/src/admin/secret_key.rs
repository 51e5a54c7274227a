//! The key that encrypts other keys: from the environment, or from a file made at first start.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use thiserror::Error;

pub(super) const KEY_BYTES: usize = 32;

/// 32 random bytes. They decrypt the keys of all channels.
#[derive(Clone)]
pub struct SecretKey(Zeroizing<[u8; KEY_BYTES]>);

#[derive(Debug, Error)]
pub enum SecretKeyError {
    #[error("the secret key must be 32 bytes, written as 64 hex digits or in base64")]
    Format,
    #[error("the secret key file {} does not contain 32 bytes as 64 hex digits; restore the \
             original file, or remove it and set the API keys of all channels again", .0.display())]
    File(PathBuf),
    #[error("the secret key file {}: {source}", .path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl SecretKey {
    /// A key as it is given in the environment.
    pub fn from_text(text: &SecretString) -> Result<Self, SecretKeyError> {
        parse(text.expose_secret()).ok_or(SecretKeyError::Format)
    }

    /// The key in a file, which is made if it is not there. Of several processes that make it at
    /// the same time one does, and all get the same key. Blocks.
    pub fn load_or_create(path: &Path) -> Result<Self, SecretKeyError> {
        let failed = |source| SecretKeyError::Io {
            path: path.to_owned(),
            source,
        };
        match File::open(path) {
            Ok(file) => read(file, path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(path).map_err(failed)?;
                read(File::open(path).map_err(failed)?, path)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// A key for one purpose, from which neither this key nor that of another purpose can be found.
    pub fn derived(&self, purpose: &str) -> SecretSlice<u8> {
        let mut hash = Sha256::new();
        hash.update(*self.0);
        hash.update(purpose.as_bytes());
        hash.finalize().to_vec().into()
    }

    pub(super) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

fn read(mut file: File, path: &Path) -> Result<SecretKey, SecretKeyError> {
    let failed = |source| SecretKeyError::Io {
        path: path.to_owned(),
        source,
    };
    let mode = file.metadata().map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        tracing::warn!(
            file = %path.display(),
            "the secret key was readable by other users; set its mode to 0600"
        );
        file.set_permissions(Permissions::from_mode(0o600))
            .map_err(failed)?;
    }
    let mut text = Zeroizing::new(String::new());
    file.read_to_string(&mut text).map_err(failed)?;
    parse(&text).ok_or_else(|| SecretKeyError::File(path.to_owned()))
}

/// Writes a new key, unless another process has done so first. The file appears with its content.
fn create(path: &Path) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    let mut bytes = Zeroizing::new([0; KEY_BYTES]);
    getrandom::fill(&mut *bytes).map_err(io::Error::other)?;
    let mut text = Zeroizing::new(String::with_capacity(2 * KEY_BYTES + 1));
    for byte in bytes.iter() {
        text.push_str(&format!("{byte:02x}"));
    }
    text.push('\n');
    // Temporary files are their owner's alone.
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => File::open(dir)?.sync_all(),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error),
    }
}

fn parse(text: &str) -> Option<SecretKey> {
    let text = text.trim();
    let base64 = || {
        let standard = BASE64_STANDARD.decode(text);
        let decoded = standard.or_else(|_| BASE64_URL_SAFE_NO_PAD.decode(text));
        decoded.ok()
    };
    let bytes = Zeroizing::new(of_hex(text).or_else(base64)?);
    let bytes: [u8; KEY_BYTES] = bytes.as_slice().try_into().ok()?;
    Some(SecretKey(Zeroizing::new(bytes)))
}

fn of_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 2 * KEY_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..text.len()).step_by(2).map(|at| &text[at..at + 2]);
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_people_write_them() {
        let hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        let expected: [u8; KEY_BYTES] = std::array::from_fn(|at| u8::try_from(at).unwrap());
        for good in [
            hex.to_owned(),
            hex.to_uppercase(),
            format!(" {hex}\n"),
            BASE64_STANDARD.encode(expected),
            BASE64_URL_SAFE_NO_PAD.encode(expected),
        ] {
            assert_eq!(parse(&good).unwrap().bytes(), &expected, "{good}");
        }
        for bad in [
            "",
            "passw0rd",
            &hex[..62],
            &format!("{hex}00"),
            &"é".repeat(32),
        ] {
            assert!(parse(bad).is_none(), "{bad}");
            let error = SecretKey::from_text(&bad.into()).unwrap_err().to_string();
            assert!(bad.is_empty() || !error.contains(bad), "{error}");
        }
    }

    #[test]
    fn a_file_is_made_once_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new").join("secret.key");
        let starters: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || SecretKey::load_or_create(&path).unwrap())
            })
            .collect();
        let keys: Vec<SecretKey> = starters.into_iter().map(|s| s.join().unwrap()).collect();
        assert!(keys.iter().all(|key| key.bytes() == keys[0].bytes()));
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1
        );
        assert_eq!(format!("{:?}", keys[0]), "SecretKey(…)");
    }

    #[test]
    fn a_file_with_something_else_in_it_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret.key");
        std::fs::write(&path, "").unwrap();
        let error = SecretKey::load_or_create(&path).unwrap_err();
        assert!(matches!(error, SecretKeyError::File(_)));
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        std::fs::write(&path, "00".repeat(32)).unwrap();
        SecretKey::load_or_create(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
