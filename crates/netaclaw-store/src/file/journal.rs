//! The streamed part of an answer, stored next to the session until the answer is complete.
//!
//! The file stays when the answer is complete: creating and removing it costs more than all writes
//! to it. Readers ignore a journal about an entry that the session has.

use super::layout::sidecar;
use crate::private;
use netaclaw_session::{Entry, EntryId};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A crash loses at most this much of what was streamed.
pub(super) const JOURNAL_INTERVAL: Duration = Duration::from_millis(250);
/// A journal of several times its last line, and of this size, is rewritten.
const JOURNAL_BYTES: u64 = 256 << 10;
const LINES_KEPT: u64 = 8;

/// The journal of one session: a line for each state of the answer, of which the last whole one
/// counts. Lines are added rather than replaced because that is a single call; replacing a file
/// has the file system make it durable at once. Calls block, but for [`Journal::add`].
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    open: Mutex<OpenJournal>,
}

#[derive(Debug, Default)]
struct OpenJournal {
    /// The entry in flight. A write that comes after its completion must not bring it back.
    entry: Option<EntryId>,
    /// The file and its length, once there is one.
    file: Option<(File, u64)>,
}

impl Journal {
    pub(super) fn sidecar(session_file: &Path) -> Self {
        Self {
            path: sidecar(session_file, ".inflight"),
            open: Mutex::default(),
        }
    }

    pub(super) fn begin(&self, entry: EntryId) {
        self.lock().entry = Some(entry);
    }

    /// Adds a line to a journal that has room. As short a call as any append to a session.
    /// `false` if it takes [`Journal::write`].
    pub(super) fn add(&self, entry: &Entry) -> bool {
        let mut open = self.lock();
        if open.entry.as_ref() != Some(entry.id()) {
            return true;
        }
        let Some((file, len)) = &mut open.file else {
            return false;
        };
        let line = line(entry);
        let full = *len > JOURNAL_BYTES && *len > LINES_KEPT * line.len() as u64;
        if full || file.write_all(&line).is_err() {
            return false;
        }
        *len += line.len() as u64;
        true
    }

    /// Rewrites the journal with `entry`, if it is still in flight. An existing one is replaced as
    /// a whole.
    pub(super) fn write(&self, entry: &Entry) -> io::Result<()> {
        let mut open = self.lock();
        if open.entry.as_ref() != Some(entry.id()) {
            return Ok(());
        }
        let line = line(entry);
        let temporary = open.file.is_some().then(|| sidecar(&self.path, ".tmp"));
        let mut file = private::options()
            .append(true)
            .create(true)
            .open(temporary.as_ref().unwrap_or(&self.path))?;
        // The journal of a dead writer was recovered when the session was opened.
        file.set_len(0)?;
        file.write_all(&line)?;
        if let Some(temporary) = temporary {
            std::fs::rename(&temporary, &self.path)?;
        }
        open.file = Some((file, line.len() as u64));
        Ok(())
    }

    /// Ends the entry in flight: the session has it.
    pub(super) fn finish(&self) {
        self.lock().entry = None;
    }

    /// Removes the file. Only for who holds the session's lock: without it the file may be that of
    /// another process.
    pub(super) fn remove(&self) -> io::Result<()> {
        *self.lock() = OpenJournal::default();
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes the file if this process has created it and nothing is in flight; otherwise it is
    /// for the next writer. Called when the session is closed, under the same lock.
    pub(super) fn tidy(&self) {
        let of_use = {
            let open = self.lock();
            open.file.is_none() || open.entry.is_some()
        };
        if of_use {
            return;
        }
        if let Err(error) = self.remove() {
            tracing::debug!(%error, "failed to remove a journal");
        }
    }

    /// What a writer left behind. A damaged journal is none: it was never acknowledged.
    pub(super) fn read(&self) -> Option<Entry> {
        let text = std::fs::read(&self.path).ok()?;
        let mut lines = text.rsplit(|byte| *byte == b'\n');
        lines.find_map(|line| Entry::parse(std::str::from_utf8(line).ok()?.to_owned()))
    }

    fn lock(&self) -> MutexGuard<'_, OpenJournal> {
        // A panic cannot leave more behind than a line that is not whole.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn line(entry: &Entry) -> Vec<u8> {
    let text = entry.json();
    let mut line = Vec::with_capacity(text.len() + 1);
    line.extend_from_slice(text.as_bytes());
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, text: &str) -> Entry {
        Entry::parse(format!(
            r#"{{"type":"message","id":"{id}","text":"{text}"}}"#
        ))
        .unwrap()
    }

    fn keep(journal: &Journal, entry: &Entry) {
        if !journal.add(entry) {
            journal.write(entry).unwrap();
        }
    }

    /// A journal that the next process reads.
    fn left_in(dir: &Path) -> Journal {
        Journal::sidecar(&dir.join("s.jsonl"))
    }

    #[test]
    fn the_last_whole_line_counts_wherever_the_file_is_cut() {
        let dir = tempfile::tempdir().unwrap();
        let journal = left_in(dir.path());
        journal.begin("a".into());
        let states = ["eins", "eins, zwei", "eins, zwei, drei 🦀"].map(|text| entry("a", text));
        for state in &states {
            keep(&journal, state);
        }
        let whole = std::fs::read(&journal.path).unwrap();
        let [one, two, three] = states.map(|state| state.json().to_owned());
        for cut in 0..=whole.len() {
            std::fs::write(&journal.path, &whole[..cut]).unwrap();
            let read = left_in(dir.path()).read();
            let expected = match cut {
                _ if cut < one.len() => None,
                _ if cut < one.len() + 1 + two.len() => Some(&one),
                _ if cut < one.len() + two.len() + 2 + three.len() => Some(&two),
                _ => Some(&three),
            };
            assert_eq!(read.as_ref().map(Entry::json), expected.map(String::as_str));
        }
    }

    #[test]
    fn a_long_answer_does_not_fill_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let journal = left_in(dir.path());
        journal.begin("a".into());
        let mut text = String::new();
        for _ in 0..400 {
            text.push_str(&"word ".repeat(20));
            keep(&journal, &entry("a", &text));
        }
        let last = entry("a", &text);
        let len = std::fs::metadata(&journal.path).unwrap().len();
        assert!(len <= (LINES_KEPT + 1) * last.json().len() as u64 + JOURNAL_BYTES);
        assert_eq!(left_in(dir.path()).read().unwrap().json(), last.json());
    }

    #[test]
    fn what_comes_after_the_end_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let journal = left_in(dir.path());
        journal.begin("a".into());
        keep(&journal, &entry("a", "one"));
        journal.finish();
        let before = std::fs::read(&journal.path).unwrap();
        keep(&journal, &entry("a", "one two"));
        assert_eq!(std::fs::read(&journal.path).unwrap(), before);
        journal.begin("b".into());
        keep(&journal, &entry("a", "one two"));
        keep(&journal, &entry("b", "new"));
        assert_eq!(left_in(dir.path()).read().unwrap().id().as_str(), "b");
    }

    #[test]
    fn only_its_own_file_goes_with_a_session() {
        let dir = tempfile::tempdir().unwrap();
        let journal = left_in(dir.path());
        journal.begin("a".into());
        keep(&journal, &entry("a", "one"));
        let other = left_in(dir.path());
        other.tidy();
        assert!(journal.path.exists(), "another process has written it");
        journal.tidy();
        assert!(journal.path.exists(), "the next writer needs it");
        journal.finish();
        journal.tidy();
        assert!(!journal.path.exists());
        journal.tidy();
    }
}
