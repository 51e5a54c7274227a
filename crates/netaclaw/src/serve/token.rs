//! The access token of a data directory, made once and kept, so that links and open pages still
//! work after a restart.

use secrecy::SecretString;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub(super) fn load_or_create(file: &Path) -> io::Result<SecretString> {
    if let Some(token) = load(file)? {
        return Ok(token);
    }
    // Two random UUIDs hold 244 random bits, in letters that need no escaping in a link.
    let token = format!(
        "{}{}",
        uuid::Uuid::new_v4().simple(),
        uuid::Uuid::new_v4().simple()
    );
    let mut out = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(file)?;
    writeln!(out, "{token}")?;
    Ok(token.into())
}

/// The token of a data directory that has one.
pub(super) fn load(file: &Path) -> io::Result<Option<SecretString>> {
    match std::fs::read_to_string(file) {
        Ok(token) if !token.trim().is_empty() => Ok(Some(token.trim().to_owned().into())),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_is_kept_and_only_its_owner_may_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("access.token");
        let first = load_or_create(&file).unwrap();
        let again = load_or_create(&file).unwrap();
        assert_eq!(first.expose_secret(), again.expose_secret());
        assert_eq!(first.expose_secret().len(), 64);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
