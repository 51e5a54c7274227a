//! Lines of styled text: how wide they are, where they may break, and how they are written to a
//! terminal.

use crate::terminal::harmless;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// How text looks, as far as every terminal can show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) bold: bool,
    pub(super) dim: bool,
    pub(super) italic: bool,
    pub(super) underlined: bool,
    pub(super) crossed: bool,
    pub(super) color: Option<Color>,
}

/// The colors of the terminal's own palette, which fit light and dark backgrounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Color {
    Red,
    Green,
    Yellow,
    Magenta,
    Cyan,
}

pub(super) const PLAIN: Style = Style {
    bold: false,
    dim: false,
    italic: false,
    underlined: false,
    crossed: false,
    color: None,
};
pub(super) const DIM: Style = Style { dim: true, ..PLAIN };
pub(super) const BOLD: Style = Style {
    bold: true,
    ..PLAIN
};

impl Color {
    pub(super) const fn style(self) -> Style {
        Style {
            color: Some(self),
            ..PLAIN
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Magenta => "35",
            Self::Cyan => "36",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    text: String,
    style: Style,
}

/// One line, without a line break. Nothing in it makes a terminal do anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    spans: Vec<Span>,
}

/// What a user sees as one character.
#[derive(Clone, Copy)]
struct Cell<'a> {
    text: &'a str,
    style: Style,
    width: usize,
}

impl Line {
    pub(super) fn of(text: &str, style: Style) -> Self {
        let mut line = Self::default();
        line.push(text, style);
        line
    }

    pub(super) fn plain(text: &str) -> Self {
        Self::of(text, PLAIN)
    }

    /// Appends text. Tabs become spaces, and line breaks too: a line is one line.
    pub(super) fn push(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let text = harmless(text).replace('\t', "    ").replace('\n', " ");
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.text.push_str(&text),
            _ => self.spans.push(Span { text, style }),
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        for span in other.spans {
            self.push(&span.text, span.style);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(super) fn last_char(&self) -> Option<char> {
        self.spans.last().and_then(|span| span.text.chars().last())
    }

    pub(super) fn width(&self) -> usize {
        self.cells().map(|cell| cell.width).sum()
    }

    fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        self.spans.iter().flat_map(|span| {
            span.text.graphemes(true).map(|text| Cell {
                text,
                style: span.style,
                width: text.width(),
            })
        })
    }

    /// The line with spaces up to `width` columns.
    pub(super) fn padded(mut self, width: usize) -> Self {
        let missing = width.saturating_sub(self.width());
        self.push(&" ".repeat(missing), PLAIN);
        self
    }

    /// The line without what does not fit into `width` columns.
    pub(super) fn cut(self, width: usize) -> Self {
        if self.width() <= width {
            return self;
        }
        let mut short = Self::default();
        let mut used = 0;
        for cell in self.cells() {
            used += cell.width;
            if used >= width {
                break;
            }
            short.push(cell.text, cell.style);
        }
        short.push("…", PLAIN);
        short
    }

    /// Lines of at most `width` columns, broken between words, or between Chinese characters where
    /// punctuation allows it.
    pub(super) fn wrapped(&self, width: usize) -> Vec<Self> {
        self.broken(width, may_break)
    }

    /// The same, broken anywhere: for code, where every space counts.
    pub(super) fn split(&self, width: usize) -> Vec<Self> {
        self.broken(width, |_, _| false)
    }

    fn broken(&self, width: usize, may_break: fn(&str, &str) -> bool) -> Vec<Self> {
        let width = width.max(2);
        let cells: Vec<Cell> = self.cells().collect();
        let mut lines = Vec::new();
        let mut start = 0;
        while start < cells.len() {
            let end = line_end(&cells[start..], width, may_break) + start;
            let mut line = Self::default();
            for cell in &cells[start..end] {
                line.push(cell.text, cell.style);
            }
            start = end;
            let breaks_words = may_break(" ", "a");
            if breaks_words && start < cells.len() {
                line.trim_end();
                while cells.get(start).is_some_and(|cell| cell.text == " ") {
                    start += 1;
                }
            }
            lines.push(line);
        }
        if lines.is_empty() {
            lines.push(Self::default());
        }
        lines
    }

    /// The line without spaces at its end.
    pub(super) fn trimmed(mut self) -> Self {
        self.trim_end();
        self
    }

    fn trim_end(&mut self) {
        while let Some(last) = self.spans.last_mut() {
            last.text.truncate(last.text.trim_end_matches(' ').len());
            if !last.text.is_empty() {
                return;
            }
            self.spans.pop();
        }
    }

    /// As it is written to a terminal.
    pub(super) fn written(&self, with_style: bool) -> String {
        let mut out = String::new();
        for span in &self.spans {
            let codes = span.style.codes();
            if !with_style || codes.is_empty() {
                out.push_str(&span.text);
                continue;
            }
            out.push_str("\u{1b}[");
            out.push_str(&codes.join(";"));
            out.push('m');
            out.push_str(&span.text);
            out.push_str("\u{1b}[0m");
        }
        out
    }
}

impl Style {
    fn codes(self) -> Vec<&'static str> {
        let flags = [
            (self.bold, "1"),
            (self.dim, "2"),
            (self.italic, "3"),
            (self.underlined, "4"),
            (self.crossed, "9"),
        ];
        let flags = flags.into_iter().filter(|(on, _)| *on);
        let color = self.color.map(Color::code);
        flags.map(|(_, code)| code).chain(color).collect()
    }
}

/// How many of the cells fit on a line; at least one.
fn line_end(cells: &[Cell], width: usize, may_break: fn(&str, &str) -> bool) -> usize {
    let mut used = 0;
    let mut candidate = None;
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 && may_break(cells[at - 1].text, cell.text) {
            candidate = Some(at);
        }
        used += cell.width;
        // A space that does not fit is dropped anyway.
        if used > width && cell.text != " " {
            return candidate.unwrap_or(at.max(1));
        }
    }
    cells.len()
}

/// Must not begin a line.
const NO_START: &str = "，。、；：？！）】》」』”’〉〕…—·％,.;:?!)]}%";
/// Must not end a line.
const NO_END: &str = "（【《「『“‘〈〔([{";

fn may_break(before: &str, after: &str) -> bool {
    if before == " " {
        return after != " ";
    }
    if after == " " {
        return false;
    }
    let is_wide = |text: &str| text.width() > 1;
    (is_wide(before) || is_wide(after)) && !NO_START.contains(after) && !NO_END.contains(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, width: usize) -> Vec<String> {
        let lines = Line::plain(text).wrapped(width);
        lines.iter().map(|line| line.written(false)).collect()
    }

    #[test]
    fn words_stay_whole_and_chinese_breaks_between_characters() {
        assert_eq!(
            wrapped("the quick brown fox", 10),
            ["the quick", "brown fox"]
        );
        assert_eq!(wrapped("会话树内核的提交", 8), ["会话树内", "核的提交"]);
        assert_eq!(
            wrapped("一二三四，五六", 8),
            ["一二三", "四，五六"],
            "a comma does not begin a line"
        );
        assert_eq!(
            wrapped("一二三（四五）", 8),
            ["一二三", "（四五）"],
            "a bracket does not end one"
        );
        assert_eq!(wrapped("用 NetaClaw 写代码", 12), ["用 NetaClaw", "写代码"]);
        assert_eq!(wrapped("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrapped("", 10), [""]);
    }

    #[test]
    fn every_line_fits_and_nothing_is_lost() {
        let text = "混排 text，with “quotes” 和 a-very-long-word-that-does-not-fit-anywhere 👩‍👩‍👧 end";
        for width in 2..40 {
            let lines = Line::plain(text).wrapped(width);
            assert!(lines.iter().all(|line| line.width() <= width), "{width}");
            let joined: String = lines.iter().map(|line| line.written(false)).collect();
            assert_eq!(joined.replace(' ', ""), text.replace(' ', ""), "{width}");
        }
    }

    #[test]
    fn a_terminal_gets_no_orders_from_a_line() {
        let line = Line::of("a\u{1b}]0;x\u{7}\tb\nc", BOLD);
        assert_eq!(
            line.written(true),
            "\u{1b}[1ma\u{fffd}]0;x\u{fffd}    b c\u{1b}[0m"
        );
        assert_eq!(Line::plain("会话树").cut(5).written(false), "会话…");
    }
}
