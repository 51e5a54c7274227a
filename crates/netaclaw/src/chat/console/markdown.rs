//! Markdown as lines for a terminal.

use super::code;
use super::line::{BOLD, Color, DIM, Line, PLAIN, Style};
use super::table::Table;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Where text is too wide to be read, whatever the window is.
const PROSE_WIDTH_MAX: usize = 110;

/// How Markdown is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextLayout {
    pub(super) width: usize,
    /// Without styles, marks say what styles would have said.
    pub(super) with_style: bool,
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// The lines of a text.
pub(super) fn render(text: &str, sheet: TextLayout) -> Vec<Line> {
    let mut page = Page {
        sheet,
        lines: Vec::new(),
        inline: Line::default(),
        styles: Vec::new(),
        indents: Vec::new(),
        lists: Vec::new(),
        links: Vec::new(),
        code: None,
        table: None,
        needs_gap: false,
        wrote_any: false,
    };
    for event in Parser::new_ext(text, options()) {
        page.event(event);
    }
    page.flush();
    page.lines
}

/// Where the last block of a text begins: what is before it does not change when the text grows.
///
/// A line that is not complete decides nothing yet: `|` may begin a row of a table.
pub(super) fn settled(text: &str) -> usize {
    let complete = text.rfind('\n').map_or(0, |at| at + 1);
    let text = &text[..complete];
    let mut depth = 0_usize;
    let mut last = 0;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(_) => {
                if depth == 0 {
                    last = range.start;
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ if depth == 0 => last = range.start,
            _ => {}
        }
    }
    // Blocks begin at the start of a line; spaces before them belong to them.
    text[..last].rfind('\n').map_or(0, |at| at + 1)
}

/// What stands before the lines of a block inside another.
struct Indent {
    /// Of its next line, if that is the first one.
    first: Option<Line>,
    rest: Line,
}

struct Page {
    sheet: TextLayout,
    lines: Vec<Line>,
    /// The paragraph, heading or cell that is being put together.
    inline: Line,
    styles: Vec<Style>,
    indents: Vec<Indent>,
    /// The number of the next item; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// Addresses of links, and where their text begins.
    links: Vec<(String, String)>,
    code: Option<(String, String)>,
    table: Option<Table>,
    /// A block has ended; an empty line is due before the next.
    needs_gap: bool,
    wrote_any: bool,
}

impl Page {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => self.inline_code(&code),
            Event::InlineHtml(html) | Event::Html(html) => self.html(&html),
            Event::SoftBreak => self.soft_break(),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.gap();
                let width = self.room().min(PROSE_WIDTH_MAX).min(40);
                self.emit(Line::of(&"─".repeat(width), DIM));
                self.needs_gap = true;
            }
            Event::TaskListMarker(done) => {
                self.inline.push(if done { "[x] " } else { "[ ] " }, PLAIN);
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                let marks = "#".repeat(depth(level));
                let style = heading_style();
                self.styles.push(style);
                self.inline.push(&format!("{marks} "), style);
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.indents.push(Indent {
                    first: None,
                    rest: Line::of("│ ", DIM),
                });
            }
            Tag::CodeBlock(kind) => {
                self.gap();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        let word = info.split([' ', ',', '{']).next();
                        word.unwrap_or_default().to_lowercase()
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => {
                // A list inside an item follows its text.
                match self.lists.is_empty() {
                    true => self.gap(),
                    false => self.flush(),
                }
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Table(alignments) => {
                self.gap();
                self.table = Some(Table::new(alignments));
            }
            Tag::Emphasis => self.styled(|style| style.italic = true),
            Tag::Strong => self.styled(|style| style.bold = true),
            Tag::Strikethrough => self.styled(|style| style.crossed = true),
            Tag::Link { dest_url, .. } => {
                self.links.push((dest_url.into_string(), String::new()));
                self.styled(|style| style.underlined = true);
            }
            Tag::Image { dest_url, .. } => {
                self.inline.push("🖼 ", PLAIN);
                self.links.push((dest_url.into_string(), String::new()));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.block_ends(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.block_ends();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.indents.pop();
                self.needs_gap = true;
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::List(_) => {
                self.lists.pop();
                self.needs_gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                self.indents.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    for line in table.lines(self.room()) {
                        self.emit(line);
                    }
                }
                self.needs_gap = true;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link => {
                self.styles.pop();
                self.address();
            }
            TagEnd::Image => self.address(),
            _ => {}
        }
    }

    fn item(&mut self) {
        self.flush();
        if self.needs_gap {
            self.gap();
        }
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number += 1;
                mark
            }
            _ => "• ".to_owned(),
        };
        let rest = Line::plain(&" ".repeat(Line::plain(&mark).width()));
        self.indents.push(Indent {
            first: Some(Line::of(&mark, Color::Cyan.style())),
            rest,
        });
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn styled(&mut self, change: impl FnOnce(&mut Style)) {
        let mut style = self.style();
        change(&mut style);
        self.styles.push(style);
    }

    fn text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
            return;
        }
        if let Some((_, shown)) = self.links.last_mut() {
            shown.push_str(text);
        }
        let style = self.style();
        self.inline.push(text, style);
    }

    fn inline_code(&mut self, code: &str) {
        match self.sheet.with_style {
            true => {
                let style = Style {
                    color: Some(Color::Cyan),
                    ..self.style()
                };
                self.inline.push(code, style);
            }
            false => self.inline.push(&format!("`{code}`"), PLAIN),
        }
    }

    fn html(&mut self, html: &str) {
        let mut lines = html.split('\n');
        let last = lines.next_back();
        for line in lines {
            self.inline.push(line, DIM);
            self.flush();
        }
        self.inline.push(last.unwrap_or_default(), DIM);
    }

    /// A line break of the source is a space, but not between two Chinese characters.
    fn soft_break(&mut self) {
        let is_wide = |char: char| unicode_width::UnicodeWidthChar::width(char) == Some(2);
        if !self.inline.last_char().is_some_and(is_wide) {
            self.inline.push(" ", PLAIN);
        }
    }

    /// The address of a link whose text does not say it.
    fn address(&mut self) {
        if let Some((address, shown)) = self.links.pop()
            && !address.is_empty()
            && address != shown
            && address.strip_prefix("mailto:") != Some(&shown)
        {
            self.inline.push(&format!(" ({address})"), DIM);
        }
    }

    fn code_block(&mut self) {
        let Some((language, text)) = self.code.take() else {
            return;
        };
        let width = self.room().saturating_sub(2);
        for line in code::highlighted(&language, text.trim_end_matches('\n')) {
            for piece in line.split(width) {
                let mut shown = Line::plain("  ");
                shown.append(piece);
                self.emit(shown);
            }
        }
        self.needs_gap = true;
    }

    fn block_ends(&mut self) {
        self.flush();
        self.needs_gap = true;
    }

    /// Writes the text that is there as lines.
    fn flush(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        if inline.is_empty() {
            return;
        }
        for line in inline.wrapped(self.room().min(PROSE_WIDTH_MAX)) {
            self.emit(line);
        }
    }

    /// An empty line between two blocks.
    fn gap(&mut self) {
        self.flush();
        // The text of an item begins beside its mark.
        let after_mark = self
            .indents
            .last()
            .is_some_and(|indent| indent.first.is_some());
        if std::mem::take(&mut self.needs_gap) && self.wrote_any && !after_mark {
            let mut line = Line::default();
            for indent in &self.indents {
                line.append(indent.rest.clone());
            }
            self.lines.push(line.trimmed());
        }
    }

    fn room(&self) -> usize {
        let used: usize = self.indents.iter().map(|indent| indent.rest.width()).sum();
        self.sheet.width.saturating_sub(used).max(8)
    }

    fn emit(&mut self, line: Line) {
        let mut whole = Line::default();
        for indent in &mut self.indents {
            match indent.first.take() {
                Some(first) => whole.append(first),
                None => whole.append(indent.rest.clone()),
            }
        }
        whole.append(line);
        self.lines.push(whole.trimmed());
        self.wrote_any = true;
    }
}

fn heading_style() -> Style {
    Style {
        color: Some(Color::Magenta),
        ..BOLD
    }
}

fn depth(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// What people read, compared with files that people reviewed. `UPDATE_GOLDEN=1` writes them.
    #[test]
    fn the_forms_for_people() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let text = std::fs::read_to_string(golden.join("markdown.md")).unwrap();
        for (name, width, with_style) in [
            ("markdown.80.txt", 80, false),
            ("markdown.32.txt", 32, false),
            ("markdown.styled.txt", 80, true),
        ] {
            let lines = render(&text, TextLayout { width, with_style });
            assert!(lines.iter().all(|line| line.width() <= width), "{name}");
            let shown = lines.iter().map(|line| line.written(with_style) + "\n");
            let shown = shown.collect::<String>().replace('\u{1b}', "^");
            let file = golden.join(name);
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::write(&file, &shown).unwrap();
            }
            let expected = std::fs::read_to_string(&file).unwrap_or_default();
            assert_eq!(shown, expected, "{name} differs; see UPDATE_GOLDEN");
        }
    }

    #[test]
    fn what_is_settled_does_not_change_when_the_text_grows() {
        let text = "# One\n\nA *paragraph*\nof two lines.\n\n- a\n- b\n\n  - c\n\n```rust\nfn main() {}\n\n// end\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nlast words\n===\nmore";
        let sheet = TextLayout {
            width: 40,
            with_style: false,
        };
        let whole = |text: &str| {
            let lines = render(text, sheet);
            lines
                .iter()
                .map(|line| line.written(false))
                .collect::<Vec<_>>()
        };
        let all = whole(text);
        for (end, _) in text.char_indices() {
            let at = settled(&text[..end]);
            let begin = whole(&text[..at]);
            let rest = whole(&text[at..]);
            let mut joined = begin.clone();
            if !begin.is_empty() && !rest.is_empty() {
                joined.push(String::new());
            }
            joined.extend(rest);
            assert_eq!(joined, all, "split at {at}");
        }
    }
}
