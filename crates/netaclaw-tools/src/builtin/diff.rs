//! The changes of a file, for users.

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use std::borrow::Cow;
use std::time::Duration;

/// Of a longer diff users see the beginning.
const DIFF_BYTES_MAX: usize = 64 << 10;
const CONTEXT_LINES: usize = 3;
/// After that long a diff need not be the shortest.
const TIME_MAX: Duration = Duration::from_millis(500);

/// The lines that went and came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) added: usize,
    pub(super) removed: usize,
    /// The first line that is different, counted from 1 in the new text.
    pub(super) first_line: usize,
    unified: String,
    is_cut: bool,
}

impl Change {
    pub(super) fn between(old: &[u8], new: &[u8]) -> Self {
        let (old, new) = (shown(old), shown(new));
        let (old, new) = without_same_returns(&old, &new);
        let diff = TextDiff::configure()
            .timeout(TIME_MAX)
            .diff_lines(old.as_ref(), new.as_ref());
        let mut change = Self::default();
        let mut line = 1;
        for each in diff.iter_all_changes() {
            let is_first = change.added + change.removed == 0;
            match each.tag() {
                ChangeTag::Equal => line += 1,
                ChangeTag::Delete => change.removed += 1,
                ChangeTag::Insert => change.added += 1,
            }
            if is_first && each.tag() != ChangeTag::Equal {
                change.first_line = line;
            }
        }
        for hunk in diff
            .unified_diff()
            .context_radius(CONTEXT_LINES)
            .iter_hunks()
        {
            let hunk = hunk.to_string();
            let room = DIFF_BYTES_MAX - change.unified.len();
            let cut = cut_at_line(&hunk, room);
            change.unified.push_str(cut);
            if cut.len() < hunk.len() {
                change.is_cut = true;
                break;
            }
        }
        change
    }

    /// Puts the diff into the details of a result.
    pub(super) fn tell(&self, details: &mut Value) {
        details["added"] = json!(self.added);
        details["removed"] = json!(self.removed);
        if !self.unified.is_empty() {
            details["firstLine"] = json!(self.first_line);
            details["diff"] = json!(self.unified);
        }
        if self.is_cut {
            details["diffIsCut"] = json!(true);
        }
    }

    /// The counts, as they follow a name.
    pub(super) fn counts(&self) -> String {
        format!("+{} −{} lines", self.added, self.removed)
    }
}

fn shown(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    String::from_utf8_lossy(bytes)
}

/// If lines end with CRLF before and after, the diff leaves it out.
fn without_same_returns<'a>(old: &'a str, new: &'a str) -> (Cow<'a, str>, Cow<'a, str>) {
    let plain = |text: &'a str| Cow::Owned(text.replace("\r\n", "\n"));
    match old.contains("\r\n") && new.contains("\r\n") {
        true => (plain(old), plain(new)),
        false => (Cow::Borrowed(old), Cow::Borrowed(new)),
    }
}

/// As many whole lines as there is room for.
fn cut_at_line(text: &str, room: usize) -> &str {
    if text.len() <= room {
        return text;
    }
    let room = text.floor_char_boundary(room);
    let end = text[..room].rfind('\n').map_or(0, |at| at + 1);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_shown_with_their_surroundings() {
        let old = "a\nb\nc\nd\ne\nf\n";
        let change = Change::between(old.as_bytes(), old.replace("e\n", "E\nE\n").as_bytes());
        assert_eq!((change.added, change.removed, change.first_line), (2, 1, 5));
        assert_eq!(
            change.unified,
            "@@ -2,5 +2,6 @@\n b\n c\n d\n-e\n+E\n+E\n f\n"
        );
        let mut details = json!({});
        change.tell(&mut details);
        assert_eq!(details["firstLine"], 5);
        assert_eq!(details.get("diffIsCut"), None);
    }

    #[test]
    fn line_endings_that_stay_are_no_change() {
        let change = Change::between(b"\xef\xbb\xbfa\r\nb\r\n", b"\xef\xbb\xbfa\r\nB\r\n");
        assert_eq!(change.unified, "@@ -1,2 +1,2 @@\n a\n-b\n+B\n");
        assert_eq!(Change::between(b"a\n", b"a\r\n").removed, 1);
    }

    #[test]
    fn a_long_diff_is_cut_between_lines() {
        let new = "水水水水\n".repeat(100_000);
        let change = Change::between(b"", new.as_bytes());
        assert_eq!((change.added, change.is_cut), (100_000, true));
        assert!(change.unified.len() <= DIFF_BYTES_MAX && change.unified.ends_with('\n'));
    }

    #[test]
    fn nothing_changed_is_no_diff() {
        assert_eq!(Change::between(b"a\n", b"a\n"), Change::default());
    }
}
