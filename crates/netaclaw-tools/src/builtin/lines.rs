//! A window onto the lines of a file of any size, in memory that does not depend on it.

use std::borrow::Cow;
use std::io::{self, BufRead};

/// After the window the rest is read only so far, to be able to say how many lines there are.
const COUNT_BYTES_MAX: usize = 8 << 20;
/// The number in front of a line, its tab and its line break.
const LINE_FRAME: usize = 12;

/// What to show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The first line, counted from 1.
    pub(super) first: u64,
    pub(super) lines_max: u64,
    pub(super) bytes_max: usize,
    pub(super) line_bytes_max: usize,
}

/// What is to be seen.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Lines with their numbers.
    pub(super) text: String,
    pub(super) shown: u64,
    /// How many lines the file has, if that was found out.
    pub(super) total: Option<u64>,
    pub(super) cut_lines: u64,
    pub(super) invalid_utf8: bool,
    pub(super) crlf: bool,
}

/// Reads a page. Lines end at `\n` and nowhere else. `Ok(None)` if it was cancelled.
pub(super) fn read_page(
    mut reader: impl BufRead,
    window: Window,
    called_off: impl Fn() -> bool,
) -> io::Result<Option<Page>> {
    let mut page = Page::default();
    let mut line = Vec::new();
    let mut number = 1;
    loop {
        let wanted = number >= window.first;
        if wanted && page.is_full(window) {
            break;
        }
        let keep = if wanted { window.line_bytes_max } else { 0 };
        match take_line(&mut reader, &mut line, keep, &called_off)? {
            LineRead::CalledOff => return Ok(None),
            LineRead::End => {
                page.total = Some(number - 1);
                return Ok(Some(page));
            }
            LineRead::Line { length } if wanted => page.push(number, &line, length),
            LineRead::Line { .. } => {}
        }
        number += 1;
    }
    page.total = count_rest(&mut reader, &called_off)?.map(|rest| number - 1 + rest);
    Ok(Some(page))
}

impl Page {
    /// Whether the next line might not fit. One line always does.
    fn is_full(&self, window: Window) -> bool {
        let room = window.line_bytes_max + LINE_FRAME + 40;
        self.shown > 0
            && (self.shown >= window.lines_max || self.text.len() + room > window.bytes_max)
    }

    fn push(&mut self, number: u64, line: &[u8], length: usize) {
        let cut = length - line.len();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let plain = line.strip_suffix(b"\r").unwrap_or(line);
        self.crlf |= plain.len() < line.len();
        let (text, valid) = decode(plain, cut > 0);
        self.invalid_utf8 |= !valid;
        let text = match number {
            1 => text.strip_prefix('\u{feff}').unwrap_or(&text),
            _ => &text,
        };
        self.text.push_str(&format!("{number:>6}\t{text}"));
        if cut > 0 {
            self.cut_lines += 1;
            self.text
                .push_str(&format!("… [{cut} more bytes in this line]"));
        }
        self.text.push('\n');
        self.shown += 1;
    }
}

enum LineRead {
    /// Its whole length, with the line break.
    Line {
        length: usize,
    },
    End,
    CalledOff,
}

/// Takes one line and keeps the first `keep` bytes of it.
fn take_line(
    reader: &mut impl BufRead,
    line: &mut Vec<u8>,
    keep: usize,
    called_off: impl Fn() -> bool,
) -> io::Result<LineRead> {
    line.clear();
    let mut length = 0;
    loop {
        if called_off() {
            return Ok(LineRead::CalledOff);
        }
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok(match length {
                0 => LineRead::End,
                length => LineRead::Line { length },
            });
        }
        let end = memchr::memchr(b'\n', chunk).map(|at| at + 1);
        let taken = end.unwrap_or(chunk.len());
        let room = keep.saturating_sub(line.len()).min(taken);
        line.extend_from_slice(&chunk[..room]);
        length += taken;
        reader.consume(taken);
        if end.is_some() {
            return Ok(LineRead::Line { length });
        }
    }
}

/// How many lines follow; `None` if that would take too long to find out.
fn count_rest(reader: &mut impl BufRead, called_off: impl Fn() -> bool) -> io::Result<Option<u64>> {
    let (mut lines, mut bytes, mut open) = (0, 0, false);
    while bytes < COUNT_BYTES_MAX && !called_off() {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok(Some(lines + u64::from(open)));
        }
        lines += memchr::memchr_iter(b'\n', chunk).count() as u64;
        open = chunk.last() != Some(&b'\n');
        let taken = chunk.len();
        bytes += taken;
        reader.consume(taken);
    }
    Ok(None)
}

/// Text of bytes, and whether it was text. A character that was cut in half is left out.
fn decode(bytes: &[u8], was_cut: bool) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), true),
        Err(error) if was_cut && error.error_len().is_none() => {
            (String::from_utf8_lossy(&bytes[..error.valid_up_to()]), true)
        }
        Err(_) => (String::from_utf8_lossy(bytes), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read, repeat};

    const WINDOW: Window = Window {
        first: 1,
        lines_max: 3,
        bytes_max: 1000,
        line_bytes_max: 10,
    };

    fn page(bytes: &[u8], window: Window) -> Page {
        // A tiny buffer, so that lines and characters lie across its ends.
        let reader = BufReader::with_capacity(3, bytes);
        read_page(reader, window, || false).unwrap().unwrap()
    }

    #[test]
    fn lines_are_numbered_and_counted() {
        let all = page("a\nb\u{2028}c\r\n\nd".as_bytes(), WINDOW);
        assert_eq!(all.text, "     1\ta\n     2\tb\u{2028}c\n     3\t\n");
        assert_eq!((all.shown, all.total, all.crlf), (3, Some(4), true));
        let rest = page(b"a\nb\nc\nd", Window { first: 4, ..WINDOW });
        assert_eq!((rest.text.as_str(), rest.total), ("     4\td\n", Some(4)));
        let beyond = page(b"a\n", Window { first: 9, ..WINDOW });
        assert_eq!((beyond.shown, beyond.total), (0, Some(1)));
        assert_eq!(page(b"", WINDOW).total, Some(0));
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let cut = page("水水水水水\nb\n".as_bytes(), WINDOW);
        assert_eq!(
            cut.text,
            "     1\t水水水… [6 more bytes in this line]\n     2\tb\n"
        );
        assert!(!cut.invalid_utf8);
        assert_eq!(cut.cut_lines, 1);
    }

    #[test]
    fn what_is_no_utf8_is_shown_and_said() {
        let page = page(b"caf\xe9\n", WINDOW);
        assert_eq!(page.text, "     1\tcaf\u{fffd}\n");
        assert!(page.invalid_utf8);
    }

    #[test]
    fn a_page_ends_where_its_bytes_do() {
        let window = Window {
            lines_max: 1000,
            bytes_max: 100,
            ..WINDOW
        };
        let page = page("line\n".repeat(100).as_bytes(), window);
        assert!(page.text.len() <= 100 && page.shown > 1, "{page:?}");
        assert_eq!(page.total, Some(100));
    }

    #[test]
    fn an_endless_line_costs_no_memory_and_can_be_called_off() {
        let endless = || BufReader::new(repeat(b'x').take(100 << 20));
        let page = read_page(endless(), WINDOW, || false).unwrap().unwrap();
        assert_eq!((page.shown, page.total), (1, Some(1)));
        assert!(page.text.len() < 100);
        assert_eq!(read_page(endless(), WINDOW, || true).unwrap(), None);
    }
}
