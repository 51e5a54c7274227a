//! What was found, kept in order and within bounds, and how it is shown.

use super::super::search::PageBounds;
use super::shown_path;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reserved for the notes below the lines.
const NOTES_BYTES: usize = 500;

/// What was found in one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileHits {
    pub(super) path: PathBuf,
    pub(super) lines: Vec<HitLine>,
    pub(super) matches: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct HitLine {
    pub(super) number: u64,
    pub(super) text: String,
    pub(super) is_match: bool,
    /// Lines between the one above and this one are not shown.
    pub(super) after_gap: bool,
}

/// The files that come first, with together at least as many matches as are wanted.
#[derive(Debug, Default)]
pub(super) struct TopFiles {
    files: BTreeMap<PathBuf, FileHits>,
    matches: usize,
    wanted: usize,
}

impl TopFiles {
    pub(super) fn new(wanted: usize) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }

    /// Whether matches of this file can be on the page: with one match more than fits, files that
    /// sort after it cannot.
    pub(super) fn wants(&self, path: &Path) -> bool {
        self.matches <= self.wanted
            || self
                .files
                .last_key_value()
                .is_none_or(|(last, _)| path < last.as_path())
    }

    pub(super) fn keep(&mut self, hits: FileHits) {
        self.matches += hits.matches;
        self.files.insert(hits.path.clone(), hits);
        // One more than wanted stays, as a sign that there are more.
        while let Some(last) = self.files.last_entry()
            && self.matches - last.get().matches > self.wanted
        {
            self.matches -= last.remove().matches;
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.wanted = self.wanted.max(other.wanted);
        for hits in other.files.into_values() {
            self.keep(hits);
        }
    }
}

/// A page of results.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ResultPage {
    pub(super) text: String,
    /// Matches, or files if only those are shown.
    pub(super) count: usize,
    pub(super) files: usize,
    pub(super) more: bool,
}

pub(super) fn show(
    kept: &TopFiles,
    held: PageBounds,
    prefix: &str,
    files_only: bool,
    output_cap: usize,
) -> ResultPage {
    let mut page = Page {
        shown: ResultPage::default(),
        skip: held.offset,
        left: held.limit,
        room: output_cap.saturating_sub(NOTES_BYTES),
    };
    for hits in kept.files.values() {
        let goes_on = match files_only {
            true => page.name(prefix, hits),
            false => page.lines(prefix, hits),
        };
        if !goes_on {
            page.shown.more = true;
            break;
        }
    }
    page.shown
}

struct Page {
    shown: ResultPage,
    skip: usize,
    left: usize,
    room: usize,
}

impl Page {
    /// Whether one more result fits. One always does.
    fn has_room(&self, bytes: usize) -> bool {
        self.left > 0 && (self.shown.count == 0 || self.shown.text.len() + bytes <= self.room)
    }

    fn name(&mut self, prefix: &str, hits: &FileHits) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return true;
        }
        let path = shown_path(prefix, &hits.path);
        if !self.has_room(path.len() + 1) {
            return false;
        }
        self.shown.text.push_str(&format!("{path}\n"));
        self.shown.files += 1;
        self.took_one();
        true
    }

    /// Shows the lines of a file, or as many as there is room for.
    fn lines(&mut self, prefix: &str, hits: &FileHits) -> bool {
        if self.skip >= hits.matches {
            self.skip -= hits.matches;
            return true;
        }
        let skipped = after_matches(&hits.lines, std::mem::take(&mut self.skip));
        let mut heading = Some(match self.shown.text.is_empty() {
            true => format!("{}\n", shown_path(prefix, &hits.path)),
            false => format!("\n{}\n", shown_path(prefix, &hits.path)),
        });
        // A match is shown together with the lines around it that come before.
        for group in groups(&hits.lines[skipped..]) {
            let mut text = heading.clone().unwrap_or_default();
            for (at, line) in group.iter().enumerate() {
                // The first line of a page has nothing above it to be apart from.
                if line.after_gap && (at > 0 || heading.is_none()) {
                    text.push_str("--\n");
                }
                let mark = if line.is_match { ':' } else { '-' };
                text.push_str(&format!("{}{mark}{}\n", line.number, line.text));
            }
            let is_match = group.iter().any(|line| line.is_match);
            if is_match && !self.has_room(text.len()) {
                return false;
            }
            self.shown.text.push_str(&text);
            if is_match {
                self.shown.files += usize::from(heading.take().is_some());
                self.took_one();
            }
        }
        true
    }

    fn took_one(&mut self) {
        self.shown.count += 1;
        self.left -= 1;
    }
}

/// The position after this many matches.
fn after_matches(lines: &[HitLine], matches: usize) -> usize {
    let mut seen = 0;
    lines
        .iter()
        .position(|line| {
            let behind = seen == matches;
            seen += usize::from(line.is_match);
            behind
        })
        .unwrap_or(lines.len())
}

/// Each match with the lines before it; what follows the last one is a group of its own.
fn groups(lines: &[HitLine]) -> impl Iterator<Item = &[HitLine]> {
    lines.split_inclusive(|line| line.is_match)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(path: &str, numbers: &[u64]) -> FileHits {
        let line = |&number: &u64| HitLine {
            number,
            text: "x".to_owned(),
            is_match: true,
            after_gap: false,
        };
        FileHits {
            path: path.into(),
            lines: numbers.iter().map(line).collect(),
            matches: numbers.len(),
        }
    }

    fn page(kept: &TopFiles, offset: usize, limit: usize) -> (String, bool) {
        let shown = show(kept, PageBounds { offset, limit }, "", false, 10_000);
        (shown.text, shown.more)
    }

    #[test]
    fn what_comes_first_is_kept_in_whatever_order_it_came() {
        let mut kept = TopFiles::new(3);
        for (path, numbers) in [("d", &[1][..]), ("b", &[1, 2]), ("c", &[5]), ("a", &[7])] {
            if kept.wants(Path::new(path)) {
                kept.keep(hits(path, numbers));
            }
        }
        assert!(!kept.wants(Path::new("e")));
        assert_eq!(page(&kept, 0, 3), ("a\n7:x\n\nb\n1:x\n2:x\n".into(), true));
        assert_eq!(page(&kept, 2, 1), ("b\n2:x\n".into(), true));
    }

    #[test]
    fn the_last_page_says_so() {
        let mut kept = TopFiles::new(3);
        kept.keep(hits("a", &[1, 2]));
        assert_eq!(page(&kept, 0, 3), ("a\n1:x\n2:x\n".into(), false));
        assert_eq!(page(&kept, 1, 2), ("a\n2:x\n".into(), false));
        assert_eq!(page(&kept, 5, 2), (String::new(), false));
    }
}
