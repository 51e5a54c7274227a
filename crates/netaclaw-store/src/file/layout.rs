//! Where session files lie: Pi's directories and names.

use netaclaw_session::SessionId;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The directory for a working directory: `/srv/app` becomes `--srv-app--`. Not injective; the
/// header's `cwd` is the truth.
pub(super) fn directory_name(cwd: &str) -> String {
    let inner = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    let mut name = format!("--{}--", inner.replace(['/', '\\', ':', '\0'], "-"));
    // File systems end names at 255 bytes; a deep directory still needs a place.
    if name.len() > 200 {
        let cut = (0..=200)
            .rev()
            .find(|at| name.is_char_boundary(*at))
            .unwrap_or(0);
        name.truncate(cut);
        name.push_str("--");
    }
    name
}

/// `<stamp>_<session id>.jsonl`, the stamp being the time of creation.
pub(super) fn file_name(timestamp: &str, session: &SessionId) -> String {
    format!("{}_{session}.jsonl", timestamp.replace([':', '.'], "-"))
}

/// The session id that a conventional file name carries.
pub(super) fn id_in_name(path: &Path) -> Option<SessionId> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let (_, id) = stem.split_once('_')?;
    Some(SessionId::new(id)).filter(SessionId::is_safe)
}

/// A sidecar of a session file: its name and a suffix.
pub(super) fn sidecar(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_and_names_are_pis() {
        assert_eq!(directory_name("/srv/app"), "--srv-app--");
        assert_eq!(directory_name(r"C:\work"), "--C--work--");
        assert_eq!(directory_name("../../etc"), "--..-..-etc--");
        assert!(directory_name(&"/深".repeat(200)).len() <= 202);
        let id = SessionId::new("a-1");
        let name = file_name("2026-01-01T00:00:00.000Z", &id);
        assert_eq!(name, "2026-01-01T00-00-00-000Z_a-1.jsonl");
        assert_eq!(id_in_name(Path::new(&name)), Some(id));
    }
}
