//! The replacements themselves, on bytes: what is not replaced stays as it is, whatever it is.

use super::Replacement;
use super::nearest::nearest;
use memchr::memmem;
use std::borrow::Cow;

/// Places that are named when a text is there too often.
const PLACES_NAMED: usize = 5;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replaced {
    pub(super) bytes: Vec<u8>,
    pub(super) count: usize,
}

/// What is wrong with an edit; `edit` counts from 1.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReplaceError {
    #[error("Edit {edit}: `old_text` is empty. Use `write` to create a file.")]
    Empty { edit: usize },
    #[error("Edit {edit}: `old_text` and `new_text` are identical.")]
    Same { edit: usize },
    #[error("Edit {edit}: `old_text` was not found in the file.{hint}")]
    NotFound { edit: usize, hint: String },
    #[error(
        "Edit {edit}: `old_text` occurs {count} times, at line {lines}. Include more of the \
         surrounding lines, or set `replace_all`."
    )]
    Ambiguous {
        edit: usize,
        count: usize,
        lines: String,
    },
    #[error("Edits {first} and {second} overlap. Combine them into one edit.")]
    Overlap { first: usize, second: usize },
}

/// Makes all replacements, or none.
pub(super) fn replace(file: &[u8], edits: &[Replacement]) -> Result<Replaced, ReplaceError> {
    let endings = Endings::of(file);
    let mut spots: Vec<EditRange<'_>> = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        spots.extend(find(file, endings, edit, index + 1)?);
    }
    spots.sort_by_key(|spot| spot.start);
    for pair in spots.windows(2) {
        if pair[1].start < pair[0].end {
            let (first, second) = (pair[0].edit, pair[1].edit);
            return Err(ReplaceError::Overlap {
                first: first.min(second),
                second: first.max(second),
            });
        }
    }
    let mut bytes = Vec::with_capacity(file.len());
    let mut from = 0;
    for spot in &spots {
        bytes.extend_from_slice(&file[from..spot.start]);
        bytes.extend_from_slice(spot.new.as_bytes());
        from = spot.end;
    }
    bytes.extend_from_slice(&file[from..]);
    Ok(Replaced {
        bytes,
        count: spots.len(),
    })
}

/// The position of a text, and its replacement.
struct EditRange<'a> {
    edit: usize,
    start: usize,
    end: usize,
    new: Cow<'a, str>,
}

/// How the lines of a file end, most of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endings {
    Lf,
    CrLf,
}

impl Endings {
    fn of(file: &[u8]) -> Self {
        let all = memchr::memchr_iter(b'\n', file).count();
        let crlf = memmem::find_iter(file, b"\r\n").count();
        match crlf * 2 > all {
            true => Self::CrLf,
            false => Self::Lf,
        }
    }

    /// A text with its lines ending like this.
    fn apply(self, text: &str) -> Cow<'_, str> {
        if !text.contains('\n') {
            return Cow::Borrowed(text);
        }
        let plain = text.replace("\r\n", "\n");
        Cow::Owned(match self {
            Self::Lf => plain,
            Self::CrLf => plain.replace('\n', "\r\n"),
        })
    }

    fn other(self) -> Self {
        match self {
            Self::Lf => Self::CrLf,
            Self::CrLf => Self::Lf,
        }
    }
}

fn find<'a>(
    file: &[u8],
    endings: Endings,
    edit: &'a Replacement,
    number: usize,
) -> Result<Vec<EditRange<'a>>, ReplaceError> {
    if edit.old_text.is_empty() {
        return Err(ReplaceError::Empty { edit: number });
    }
    if edit.old_text == edit.new_text {
        return Err(ReplaceError::Same { edit: number });
    }
    // Models see lines without their endings, so these are the file's; where a file has both
    // kinds, those of the place count.
    let mut found = Vec::new();
    for endings in [endings, endings.other()] {
        let old = endings.apply(&edit.old_text);
        let spots = memmem::find_iter(file, old.as_bytes()).map(|start| EditRange {
            edit: number,
            start,
            end: start + old.len(),
            new: endings.apply(&edit.new_text),
        });
        found.extend(spots);
        if !old.contains('\n') {
            break;
        }
    }
    match found.len() {
        0 => Err(ReplaceError::NotFound {
            edit: number,
            hint: nearest(file, &edit.old_text),
        }),
        1 => Ok(found),
        _ if edit.replace_all => Ok(found),
        count => Err(ReplaceError::Ambiguous {
            edit: number,
            count,
            lines: lines_of(file, &found),
        }),
    }
}

fn lines_of(file: &[u8], spots: &[EditRange<'_>]) -> String {
    let line = |spot: &EditRange<'_>| memchr::memchr_iter(b'\n', &file[..spot.start]).count() + 1;
    let named = spots
        .iter()
        .take(PLACES_NAMED)
        .map(|spot| line(spot).to_string());
    let mut named = named.collect::<Vec<_>>().join(", ");
    if spots.len() > PLACES_NAMED {
        named.push_str(", …");
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edit(old: &str, new: &str) -> Replacement {
        Replacement {
            old_text: old.to_owned(),
            new_text: new.to_owned(),
            replace_all: false,
        }
    }

    #[track_caller]
    fn check(file: &str, edits: &[Replacement], expected: Result<&str, &str>) {
        let replaced = replace(file.as_bytes(), edits);
        let replaced = replaced.map(|replaced| String::from_utf8(replaced.bytes).unwrap());
        match (&replaced, expected) {
            (Ok(text), Ok(expected)) => assert_eq!(text, expected),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            _ => panic!("{replaced:?}"),
        }
    }

    #[test]
    fn one_place_or_none() {
        check("a b c", &[edit("b", "B")], Ok("a B c"));
        check("a b c", &[edit("b ", "")], Ok("a c"));
        check(
            "a\nb\nb\n",
            &[edit("b", "B")],
            Err("2 times, at line 2, 3."),
        );
        check("a", &[edit("", "B")], Err("is empty"));
        check("a", &[edit("a", "a")], Err("are identical"));
        check(
            "a",
            &[edit("x", "B")],
            Err("Edit 1: `old_text` was not found in the file."),
        );
        let all = Replacement {
            replace_all: true,
            ..edit("b", "bb")
        };
        check("b.b.b", &[all], Ok("bb.bb.bb"));
    }

    #[test]
    fn several_edits_speak_of_the_same_file() {
        check("a b", &[edit("a", "b"), edit("b", "a")], Ok("b a"));
        check("a b", &[edit("b", "x"), edit("a", "y")], Ok("y x"));
        check(
            "abc",
            &[edit("ab", "x"), edit("bc", "y")],
            Err("Edits 1 and 2 overlap"),
        );
        check("abc", &[edit("a", "x"), edit("q", "y")], Err("Edit 2"));
    }

    #[test]
    fn line_endings_stay_those_of_the_file() {
        check(
            "a\r\nb\r\nc\r\n",
            &[edit("a\nb\n", "x\ny\nz\n")],
            Ok("x\r\ny\r\nz\r\nc\r\n"),
        );
        check("a\r\nb\r\n", &[edit("b", "x\ny")], Ok("a\r\nx\r\ny\r\n"));
        check("a\nb\n", &[edit("a\r\nb", "x")], Ok("x\n"));
        // In a file with both, each place keeps its own.
        check(
            "a\r\nb\r\nc\r\nd\ne\n",
            &[edit("d\ne", "D\nE")],
            Ok("a\r\nb\r\nc\r\nD\nE\n"),
        );
    }

    #[test]
    fn bytes_that_are_no_text_and_the_mark_stay() {
        let file = b"\xef\xbb\xbfcaf\xe9\nold\n";
        let replaced = replace(file, &[edit("old", "new")]).unwrap();
        assert_eq!(replaced.bytes, b"\xef\xbb\xbfcaf\xe9\nnew\n");
    }

    proptest! {
        /// Bytes outside of the replaced text are untouched.
        #[test]
        fn the_rest_stays(before in "[a-c\r\n]{0,30}", after in "[a-c\r\n]{0,30}", new in "[x-z]{0,5}") {
            let file = format!("{before}<old>{after}");
            let replaced = replace(file.as_bytes(), &[edit("<old>", &new)]).unwrap();
            prop_assert_eq!(replaced.bytes, format!("{before}{new}{after}").into_bytes());
        }
    }
}
