//! What was typed before, in this chat and in earlier ones.

use netaclaw_redact::redact;
use netaclaw_store::private;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Entries that are kept.
const ENTRIES_MAX: usize = 1000;
/// The file is rewritten once it has this many.
const FILE_ENTRIES_MAX: usize = 2 * ENTRIES_MAX;
/// What is longer is a document that was pasted.
const ENTRY_BYTES_MAX: usize = 16 << 10;
/// A file that is larger than everything this program writes is not its own.
const FILE_BYTES_MAX: u64 = (FILE_ENTRIES_MAX * ENTRY_BYTES_MAX) as u64;

/// Oldest first. Credentials are not among them: not in memory either, since a key would bring
/// them back to the screen.
#[derive(Debug, Default)]
pub(in crate::chat) struct History {
    entries: Vec<String>,
    file: Option<PathBuf>,
}

impl History {
    /// The history in a file, one JSON string on each line. Without a readable file it begins empty.
    pub(in crate::chat) fn open(file: PathBuf) -> Self {
        let about = std::fs::metadata(&file);
        let is_own = about.is_ok_and(|about| about.is_file() && about.len() <= FILE_BYTES_MAX);
        let content = match is_own {
            true => std::fs::read_to_string(&file).unwrap_or_default(),
            false => String::new(),
        };
        let read = |line: &str| serde_json::from_str::<String>(line).ok();
        let mut entries: Vec<String> = content.lines().filter_map(read).collect();
        if entries.len() > FILE_ENTRIES_MAX {
            entries.drain(..entries.len() - ENTRIES_MAX);
            if let Err(error) = rewrite(&file, &entries) {
                tracing::warn!(%error, "failed to shorten the history of the chat");
            }
        }
        let file = Some(file);
        Self { entries, file }
    }

    /// Adds a line that was sent, unless it repeats the last one, begins with a space, or contains
    /// what looks like a credential.
    pub(super) fn add(&mut self, line: &str) {
        let is_last = self.entries.last().is_some_and(|last| last == line);
        let is_kept = !line.trim().is_empty()
            && !line.starts_with(' ')
            && line.len() <= ENTRY_BYTES_MAX
            && redact(line) == line;
        if is_last || !is_kept {
            return;
        }
        self.entries.push(line.to_owned());
        if let Some(file) = &self.file
            && let Err(error) = append(file, line)
        {
            tracing::warn!(%error, "failed to write the history of the chat");
        }
    }

    pub(super) fn entry(&self, at: usize) -> &str {
        &self.entries[at]
    }

    /// The entry before one, or the newest.
    pub(super) fn older(&self, than: Option<usize>) -> Option<usize> {
        than.unwrap_or(self.entries.len()).checked_sub(1)
    }

    pub(super) fn newer(&self, than: usize) -> Option<usize> {
        (than + 1 < self.entries.len()).then_some(than + 1)
    }

    /// The newest entry with a text in it, before `from`. The case of letters is ignored.
    pub(super) fn find(&self, text: &str, from: Option<usize>) -> Option<usize> {
        let wanted = text.to_lowercase();
        let entries = &self.entries[..from.unwrap_or(self.entries.len())];
        entries
            .iter()
            .rposition(|entry| entry.to_lowercase().contains(&wanted))
    }
}

fn append(file: &Path, line: &str) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    let mut options = private::options();
    let mut file = options.append(true).create(true).open(file)?;
    file.write_all(text.as_bytes())
}

/// Replaces the file in one step: another chat may be reading it.
fn rewrite(file: &Path, entries: &[String]) -> io::Result<()> {
    let dir = file.parent().unwrap_or(Path::new("."));
    // The temporary file is private from the beginning.
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    for entry in entries {
        writeln!(new, "{}", serde_json::to_string(entry)?)?;
    }
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn lines_are_kept_in_a_private_file_without_credentials() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("chat.history");
        let mut history = History::open(file.clone());
        for line in [
            "one",
            "two\nlines",
            "two\nlines",
            " hidden",
            "my key is sk-abcdefghijklmnopqrstuvwx",
            "password=hunter2hunter2",
            "",
        ] {
            history.add(line);
        }
        assert_eq!(history.entries, ["one", "two\nlines"]);
        assert_eq!(History::open(file.clone()).entries, ["one", "two\nlines"]);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let content = std::fs::read_to_string(&file).unwrap();
        assert!(!content.contains("sk-") && !content.contains("hunter2"));
    }

    #[test]
    fn a_long_history_is_shortened_and_stays_private() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("chat.history");
        let lines: String = (0..=FILE_ENTRIES_MAX)
            .map(|at| format!("\"{at}\"\n"))
            .collect();
        std::fs::write(&file, lines + "not JSON\n").unwrap();
        let history = History::open(file.clone());
        assert_eq!(history.entries.len(), ENTRIES_MAX);
        let last = FILE_ENTRIES_MAX.to_string();
        assert_eq!(history.entries.last(), Some(&last));
        assert_eq!(History::open(file.clone()).entries.len(), ENTRIES_MAX);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
