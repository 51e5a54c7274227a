//! A project's instructions for agents, in files of its own.

use netaclaw_runtime::prompt::InstructionFile;
use netaclaw_tools::real_path;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Where one directory has both, in this order.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// More than the prompt has room for; the prompt mentions what is left out.
const BYTES_MAX: u64 = 256 << 10;

/// The files from the top of the project down to the workspace; blocks. The top is the repository
/// of the workspace, or else the workspace itself: directories above it may belong to other users,
/// and must not instruct.
pub(crate) fn instruction_files(workspace: &Path) -> Vec<InstructionFile> {
    let mut dirs: Vec<&Path> = project_dirs(workspace);
    dirs.reverse();
    let last = dirs.len().saturating_sub(1);
    let top = dirs.first().copied().unwrap_or(workspace);
    let mut files: Vec<InstructionFile> = Vec::new();
    for (at, dir) in dirs.into_iter().enumerate() {
        let mut here: Vec<InstructionFile> = Vec::new();
        for name in NAMES {
            let Ok(text) = read_text(&dir.join(name), top) else {
                continue;
            };
            // One of them is often a link to the other, or a copy.
            if !here.iter().any(|file| file.text == text) {
                let up: PathBuf = std::iter::repeat_n("..", last - at).collect();
                let name = up.join(name).to_string_lossy().into_owned();
                here.push(InstructionFile { name, text });
            }
        }
        files.extend(here);
    }
    files
}

/// The workspace and what is above it in the same repository, from below.
fn project_dirs(workspace: &Path) -> Vec<&Path> {
    let top = workspace
        .ancestors()
        .position(|dir| dir.join(".git").exists())
        .unwrap_or(0);
    workspace.ancestors().take(top + 1).collect()
}

/// A link is followed inside of the project only: a program of the sandbox may have created it, and
/// must not choose which file of the machine is sent to the model.
fn read_text(path: &Path, top: &Path) -> io::Result<String> {
    // A pipe would be waited for.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = File::open(path)?;
    if !real_path(&file)?.starts_with(top) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn check(workspace: &Path, expected: &[(&str, &str)]) {
        let files = instruction_files(workspace);
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|file| (file.name.as_str(), file.text.as_str()))
            .collect();
        assert_eq!(files, expected);
    }

    #[test]
    fn the_repository_speaks_and_what_is_above_it_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let repository = dir.path().join("repository");
        let workspace = repository.join("crates/inner");
        fs::create_dir_all(&workspace).unwrap();
        fs::write(dir.path().join("AGENTS.md"), "from outside").unwrap();
        fs::write(repository.join("AGENTS.md"), "top").unwrap();
        fs::write(repository.join("crates/CLAUDE.md"), "middle").unwrap();
        fs::write(workspace.join("AGENTS.md"), "\u{feff}near").unwrap();
        check(&workspace, &[("AGENTS.md", "near")]);

        fs::create_dir(repository.join(".git")).unwrap();
        check(
            &workspace,
            &[
                ("../../AGENTS.md", "top"),
                ("../CLAUDE.md", "middle"),
                ("AGENTS.md", "near"),
            ],
        );
        check(&repository, &[("AGENTS.md", "top")]);
    }

    #[test]
    fn a_repeated_statement_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("AGENTS.md"), "same").unwrap();
        std::os::unix::fs::symlink("AGENTS.md", dir.path().join("CLAUDE.md")).unwrap();
        check(dir.path(), &[("AGENTS.md", "same")]);
        fs::remove_file(dir.path().join("CLAUDE.md")).unwrap();
        fs::write(dir.path().join("CLAUDE.md"), "other").unwrap();
        check(dir.path(), &[("AGENTS.md", "same"), ("CLAUDE.md", "other")]);
    }

    #[test]
    fn a_link_out_of_the_project_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        fs::create_dir(&project).unwrap();
        fs::write(dir.path().join("secret.key"), "secret").unwrap();
        std::os::unix::fs::symlink("../secret.key", project.join("AGENTS.md")).unwrap();
        check(&project, &[]);
    }

    #[test]
    fn only_a_bounded_part_of_a_plain_file_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let huge = File::create(dir.path().join("AGENTS.md")).unwrap();
        huge.set_len(500 << 20).unwrap();
        fs::create_dir(dir.path().join("CLAUDE.md")).unwrap();
        let files = instruction_files(dir.path());
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].text.len() as u64, BYTES_MAX);
    }
}
