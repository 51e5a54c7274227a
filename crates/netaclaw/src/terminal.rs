//! What makes text fit a terminal: colours where they are wanted, columns that stay straight with
//! Chinese text, and nothing from a session that the terminal would obey.

use std::borrow::Cow;
use std::io::IsTerminal;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Colours on a terminal, unless `NO_COLOR` says otherwise.
    pub(crate) fn for_stdout(no_color: bool) -> Self {
        Self {
            on: !no_color && std::io::stdout().is_terminal(),
        }
    }

    /// No colours, for text that something else will paint.
    pub(crate) fn none() -> Self {
        Self { on: false }
    }

    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    pub(crate) fn bold(self, text: &str) -> Cow<'_, str> {
        self.with("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> Cow<'_, str> {
        self.with("2", text)
    }

    /// For people: questions, and where one is in the tree.
    pub(crate) fn accent(self, text: &str) -> Cow<'_, str> {
        self.with("36", text)
    }

    pub(crate) fn good(self, text: &str) -> Cow<'_, str> {
        self.with("32", text)
    }

    pub(crate) fn warning(self, text: &str) -> Cow<'_, str> {
        self.with("33", text)
    }

    pub(crate) fn bad(self, text: &str) -> Cow<'_, str> {
        self.with("31", text)
    }

    fn with<'a>(self, code: &str, text: &'a str) -> Cow<'a, str> {
        match self.on {
            true => Cow::Owned(format!("\u{1b}[{code}m{text}\u{1b}[0m")),
            false => Cow::Borrowed(text),
        }
    }
}

/// The text without anything a terminal would act on: control characters become U+FFFD, and so do
/// the marks that turn the direction of text around. Line breaks and tabs stay.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace(is_harmful, "\u{fffd}"))
}

fn is_harmful(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => char.is_control(),
    }
}

/// The text on one line of at most `width` columns.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
            used += 1;
        }
        for char in harmless(word).chars() {
            used += char.width().unwrap_or(0);
            line.push(char);
        }
        // A whole file on one line need not be looked at to its end.
        if used > width {
            return cut(&line, width);
        }
    }
    line
}

/// A line of at most `width` columns, with its spaces as they are.
pub(crate) fn shortened(line: &str, width: usize) -> Cow<'_, str> {
    match line.width() > width {
        true => Cow::Owned(cut(line, width)),
        false => Cow::Borrowed(line),
    }
}

fn cut(line: &str, width: usize) -> String {
    let mut short = String::new();
    let mut used = 0;
    for char in line.chars() {
        used += char.width().unwrap_or(0);
        if used >= width {
            break;
        }
        short.push(char);
    }
    short.push('…');
    short
}

/// The text with spaces after it up to `width` columns.
pub(crate) fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

/// The columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// A time for people: `2026-01-01T00:00:01.002Z` becomes `2026-01-01 00:00:01`.
pub(crate) fn clock(timestamp: &str) -> String {
    match (
        timestamp.get(..10),
        timestamp.get(10..11),
        timestamp.get(11..19),
    ) {
        (Some(day), Some("T"), Some(time)) => format!("{day} {time}"),
        _ => one_line(timestamp, 24),
    }
}

/// A number with its thousands apart: `12,345`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_by_columns_and_not_by_characters() {
        assert_eq!(one_line("a  b\n c", 10), "a b c");
        assert_eq!(one_line("会话树内核", 10), "会话树内核");
        assert_eq!(one_line("会话树内核", 9), "会话树内…");
        assert_eq!(one_line("会话树内核", 8), "会话树…");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(columns(&pad("会话", 6)), 6);
    }

    #[test]
    fn a_terminal_is_not_given_orders() {
        assert_eq!(
            harmless("a\u{1b}[31mb\r\n\tc\u{7}"),
            "a\u{fffd}[31mb\n\tc\u{fffd}"
        );
        assert_eq!(harmless("a\u{202e}b"), "a\u{fffd}b");
        assert!(matches!(harmless("plain\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn numbers_and_times_are_readable() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(clock("2026-01-01T00:00:01.002Z"), "2026-01-01 00:00:01");
        assert_eq!(clock("yesterday"), "yesterday");
    }
}
