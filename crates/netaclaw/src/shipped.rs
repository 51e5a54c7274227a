//! The skills that come with NetaClaw: packed into the binary, and unpacked where programs can run.

use netaclaw_store::private;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A file of a skill, by its path below all skills.
struct SkillFile {
    path: &'static str,
    content: &'static [u8],
}

/// Of every folder with instructions, all files; and what names this set of them.
const FILES: &[SkillFile] = include!(concat!(env!("OUT_DIR"), "/skill_files.rs"));
const TAG: &str = include_str!(concat!(env!("OUT_DIR"), "/skill_tag"));

/// Unpacks them below `dir`, unless that was done before, and returns where they are. Older ones
/// are removed. Blocks.
pub(crate) fn unpack(dir: &Path) -> io::Result<PathBuf> {
    let place = dir.join(TAG);
    if place.is_dir() {
        return Ok(place);
    }
    private::create_dir_all(dir)?;
    let fresh = tempfile::Builder::new()
        .prefix(".new")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(dir)?;
    for SkillFile { path, content } in FILES {
        let file = fresh.path().join(path);
        if let Some(parent) = file.parent() {
            private::create_dir_all(parent)?;
        }
        private::write(&file, content)?;
    }
    match fs::rename(fresh.path(), &place) {
        // Another process was faster with the same.
        Err(_) if place.is_dir() => {}
        Err(error) => return Err(error),
        Ok(()) => drop(fresh.keep()),
    }
    remove_older(dir, &place);
    Ok(place)
}

/// A server of an older version that still runs finds its skills gone, and says so when asked.
fn remove_older(dir: &Path, place: &Path) {
    let items = fs::read_dir(dir).into_iter().flatten().flatten();
    for item in items.filter(|item| item.path() != place) {
        if let Err(error) = fs::remove_dir_all(item.path()) {
            tracing::debug!(%error, "failed to remove older built-in skills");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_tools::skills::SkillDirs;

    #[test]
    fn what_is_shipped_is_a_valid_skill_and_is_unpacked_once() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("older")).unwrap();
        let place = unpack(dir.path()).unwrap();
        assert_eq!(unpack(dir.path()).unwrap(), place);
        assert!(!dir.path().join("older").exists());
        let skills = SkillDirs {
            shipped: Some(place),
            ..SkillDirs::default()
        };
        let skills = skills.find();
        let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
        assert_eq!(names, ["folder-audit", "vehicle-damage-inspection"]);
        for skill in &skills {
            assert!(skill.entry.is_some() && skill.label.is_some(), "{skill:?}");
            assert!(skill.warnings.is_empty(), "{:?}", skill.warnings);
        }
    }
}
