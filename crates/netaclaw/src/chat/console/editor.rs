//! The line that is being typed: text of one or more lines, a cursor, and the keys that change
//! them. What the keys mean is what shells have taught people.

use super::history::History;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};
use unicode_width::UnicodeWidthStr;

/// Steps that can be undone.
const UNDO_MAX: usize = 200;

/// What a key has led to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// The text or the cursor may have changed.
    Edited,
    /// The text is complete.
    Submitted(String),
    /// The key is not one of the editor.
    Other,
}

#[derive(Debug, Default)]
pub(super) struct Editor {
    text: String,
    /// A byte position between two graphemes.
    cursor: usize,
    /// What was cut last.
    cut: String,
    undo: Vec<(String, usize)>,
    /// The last key typed a character; the next one belongs to the same step of undoing.
    is_typing: bool,
    pub(super) history: History,
    /// The entry of the history that is shown, and the text from before.
    recalled: Option<(usize, String)>,
    search: Option<Search>,
}

/// A search through the history, from the newest entry backwards.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) wanted: String,
    pub(super) found: Option<usize>,
    before: String,
}

/// The text as rows of a given width, and where the cursor is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) rows: Vec<String>,
    pub(super) row: usize,
    pub(super) column: usize,
}

impl Editor {
    pub(super) fn new(history: History) -> Self {
        Self {
            history,
            ..Self::default()
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.cursor == self.text.len()
    }

    pub(super) fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// Replaces the text, with the cursor at its end.
    pub(super) fn set(&mut self, text: &str) {
        self.remember();
        self.text = text.to_owned();
        self.cursor = self.text.len();
    }

    pub(super) fn clear(&mut self) {
        self.set("");
        self.recalled = None;
        self.search = None;
    }

    /// Inserts text that came in one piece. Line breaks stay; other control characters would be
    /// keys that were not pressed.
    pub(super) fn paste(&mut self, text: &str) {
        self.end_search();
        self.remember();
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = text.replace('\t', "    ");
        let text = text.replace(|char: char| char.is_control() && char != '\n', "");
        self.insert(&text);
    }

    /// Handles a key. `width` is that of a row, for keys that move between rows.
    pub(super) fn key(&mut self, key: KeyEvent, width: usize) -> Typed {
        if self.search.is_some() {
            return self.search_key(key, width);
        }
        let is_typing = std::mem::take(&mut self.is_typing);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter if alt || key.modifiers.contains(KeyModifiers::SHIFT) => {
                self.remember();
                self.insert("\n");
            }
            KeyCode::Char('j') if control => {
                self.remember();
                self.insert("\n");
            }
            KeyCode::Enter if self.text[..self.cursor].ends_with('\\') => {
                self.remember();
                self.remove(self.cursor - 1..self.cursor);
                self.insert("\n");
            }
            KeyCode::Enter => return Typed::Submitted(self.take()),
            KeyCode::Left if control || alt => self.cursor = self.word_left(),
            KeyCode::Right if control || alt => self.cursor = self.word_right(),
            KeyCode::Left => self.cursor = self.left(),
            KeyCode::Right => self.cursor = self.right(),
            KeyCode::Home => self.cursor = self.line_start(),
            KeyCode::End => self.cursor = self.line_end(),
            KeyCode::Up => self.up(width),
            KeyCode::Down => self.down(width),
            KeyCode::Backspace if control || alt => self.cut_to(self.word_left()),
            KeyCode::Backspace => {
                self.remember();
                self.remove(self.left()..self.cursor);
            }
            KeyCode::Delete => {
                self.remember();
                self.remove(self.cursor..self.right());
            }
            KeyCode::Char(char) if control => match char {
                'a' => self.cursor = self.line_start(),
                'e' => self.cursor = self.line_end(),
                'b' => self.cursor = self.left(),
                'f' => self.cursor = self.right(),
                'p' => self.up(width),
                'n' => self.down(width),
                'h' => {
                    self.remember();
                    self.remove(self.left()..self.cursor);
                }
                'd' => {
                    self.remember();
                    self.remove(self.cursor..self.right());
                }
                'w' => self.cut_to(self.space_left()),
                'u' => self.cut_to(self.line_start()),
                'k' => self.cut_to(self.line_end().max(self.right_of_line_end())),
                'y' => {
                    self.remember();
                    let cut = self.cut.clone();
                    self.insert(&cut);
                }
                't' => self.transpose(),
                '_' | '7' | '/' => self.undo(),
                'r' => self.begin_search(),
                _ => return Typed::Other,
            },
            KeyCode::Char(char) if alt => match char {
                'b' => self.cursor = self.word_left(),
                'f' => self.cursor = self.word_right(),
                'd' => self.cut_to(self.word_right()),
                _ => return Typed::Other,
            },
            KeyCode::Char(char) => {
                if !is_typing {
                    self.remember();
                }
                self.is_typing = true;
                self.insert(char.encode_utf8(&mut [0; 4]));
            }
            _ => return Typed::Other,
        }
        Typed::Edited
    }

    fn take(&mut self) -> String {
        self.cursor = 0;
        self.recalled = None;
        self.undo.clear();
        std::mem::take(&mut self.text)
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    fn remove(&mut self, range: std::ops::Range<usize>) {
        self.text.replace_range(range.clone(), "");
        self.cursor = range.start;
    }

    /// Cuts what is between the cursor and another place.
    fn cut_to(&mut self, other: usize) {
        let range = self.cursor.min(other)..self.cursor.max(other);
        if range.is_empty() {
            return;
        }
        self.remember();
        self.cut = self.text[range.clone()].to_owned();
        self.remove(range);
    }

    fn remember(&mut self) {
        let state = (self.text.clone(), self.cursor);
        if self.undo.last() != Some(&state) {
            self.undo.push(state);
        }
        if self.undo.len() > UNDO_MAX {
            self.undo.remove(0);
        }
    }

    fn undo(&mut self) {
        while let Some((text, cursor)) = self.undo.pop() {
            if text != self.text {
                (self.text, self.cursor) = (text, cursor);
                return;
            }
        }
    }

    fn transpose(&mut self) {
        let before = self.left();
        let after = self.right();
        if before == self.cursor || after == self.cursor {
            return;
        }
        self.remember();
        let moved = self.text[before..self.cursor].to_owned();
        self.text.replace_range(before..self.cursor, "");
        self.text.insert_str(before + (after - self.cursor), &moved);
        self.cursor = after;
    }

    fn left(&self) -> usize {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        let found = cursor.prev_boundary(&self.text, 0);
        found.ok().flatten().unwrap_or(0)
    }

    fn right(&self) -> usize {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        let found = cursor.next_boundary(&self.text, 0);
        found.ok().flatten().unwrap_or(self.text.len())
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        match self.text[self.cursor..].find('\n') {
            Some(at) => self.cursor + at,
            None => self.text.len(),
        }
    }

    /// At the end of a line, the line break is what there is to cut.
    fn right_of_line_end(&self) -> usize {
        match self.line_end() == self.cursor {
            true => self.right(),
            false => self.cursor,
        }
    }

    fn word_left(&self) -> usize {
        let mut words = self.text[..self.cursor].unicode_word_indices();
        words.next_back().map_or(0, |(at, _)| at)
    }

    fn word_right(&self) -> usize {
        let mut words = self.text[self.cursor..].unicode_word_indices();
        match words.next() {
            Some((at, word)) => self.cursor + at + word.len(),
            None => self.text.len(),
        }
    }

    /// The beginning of the word, of whatever it consists.
    fn space_left(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        let start = before.rfind(char::is_whitespace);
        start.map_or(0, |at| at + 1)
    }

    /// One row up, or to an older entry of the history.
    fn up(&mut self, width: usize) {
        let rows = self.rows(width);
        match rows.row {
            0 => self.recall_older(),
            row => self.cursor = self.place(width, row - 1, rows.column),
        }
    }

    fn down(&mut self, width: usize) {
        let rows = self.rows(width);
        match rows.row + 1 < rows.rows.len() {
            true => self.cursor = self.place(width, rows.row + 1, rows.column),
            false => self.recall_newer(),
        }
    }

    fn recall_older(&mut self) {
        let at = self.recalled.as_ref().map(|(at, _)| *at);
        let Some(older) = self.history.older(at) else {
            return;
        };
        let text = self.history.entry(older).to_owned();
        let before = match self.recalled.take() {
            Some((_, before)) => before,
            None => self.text.clone(),
        };
        self.set(&text);
        self.recalled = Some((older, before));
    }

    fn recall_newer(&mut self) {
        let Some((at, before)) = self.recalled.take() else {
            self.cursor = self.text.len();
            return;
        };
        match self.history.newer(at) {
            Some(newer) => {
                let text = self.history.entry(newer).to_owned();
                self.set(&text);
                self.recalled = Some((newer, before));
            }
            None => self.set(&before),
        }
    }

    fn begin_search(&mut self) {
        self.search = Some(Search {
            before: self.text.clone(),
            ..Search::default()
        });
    }

    /// Keeps what was found.
    fn end_search(&mut self) {
        self.search = None;
    }

    fn search_key(&mut self, key: KeyEvent, width: usize) -> Typed {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let Some(search) = &mut self.search else {
            return Typed::Other;
        };
        let mut from = None;
        match key.code {
            KeyCode::Char('r') if control => from = search.found,
            KeyCode::Char('g' | 'c') if control => return self.leave_search(),
            KeyCode::Esc => return self.leave_search(),
            KeyCode::Backspace => {
                search.wanted.pop();
            }
            KeyCode::Char(char) if key.modifiers.difference(KeyModifiers::SHIFT).is_empty() => {
                search.wanted.push(char);
            }
            // What was found is in the line; the key goes on with it.
            KeyCode::Enter => {
                self.end_search();
                return Typed::Edited;
            }
            _ => {
                self.end_search();
                return self.key(key, width);
            }
        }
        let wanted = search.wanted.clone();
        if wanted.is_empty() {
            return Typed::Edited;
        }
        let found = self.history.find(&wanted, from);
        if let Some(search) = &mut self.search {
            search.found = found.or(search.found);
        }
        if let Some(at) = found {
            self.text = self.history.entry(at).to_owned();
            self.cursor = self.text.len();
        }
        Typed::Edited
    }

    fn leave_search(&mut self) -> Typed {
        if let Some(search) = self.search.take() {
            self.set(&search.before);
        }
        Typed::Edited
    }

    /// The text in rows of at most `width` columns.
    pub(super) fn rows(&self, width: usize) -> Rows {
        let mut laid = Rows {
            rows: vec![String::new()],
            row: 0,
            column: 0,
        };
        self.lay_out(width, |laid_row, column, at, text| {
            if at == self.cursor {
                (laid.row, laid.column) = (laid_row, column);
            }
            while laid.rows.len() <= laid_row {
                laid.rows.push(String::new());
            }
            if let Some(row) = laid.rows.last_mut() {
                row.push_str(text);
            }
        });
        laid
    }

    /// The place in the text that is shown at a row and a column, or the last one before it.
    fn place(&self, width: usize, row: usize, column: usize) -> usize {
        let mut best = 0;
        self.lay_out(width, |laid_row, laid_column, at, _| {
            if laid_row < row || (laid_row == row && laid_column <= column) {
                best = at;
            }
        });
        best
    }

    /// Calls `visit` with row, column, place and text of each grapheme, and with the end.
    fn lay_out(&self, width: usize, mut visit: impl FnMut(usize, usize, usize, &str)) {
        let width = width.max(2);
        let (mut row, mut column) = (0, 0);
        for (at, grapheme) in self.text.grapheme_indices(true) {
            if grapheme == "\n" {
                visit(row, column, at, "");
                (row, column) = (row + 1, 0);
                continue;
            }
            let wide = grapheme.width();
            if column + wide > width {
                (row, column) = (row + 1, 0);
            }
            visit(row, column, at, grapheme);
            column += wide;
        }
        // The cursor needs a place of its own behind a full row.
        if column >= width {
            (row, column) = (row + 1, 0);
        }
        visit(row, column, self.text.len(), "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 10;

    fn press(editor: &mut Editor, code: KeyCode, modifiers: KeyModifiers) -> Typed {
        editor.key(KeyEvent::new(code, modifiers), WIDTH)
    }

    /// Words between `<` and `>` are keys.
    fn typed(editor: &mut Editor, keys: &str) {
        let mut rest = keys;
        while !rest.is_empty() {
            if let Some((name, after)) = rest.strip_prefix('<').and_then(|r| r.split_once('>')) {
                let (modifiers, name) = match name.split_once('-') {
                    Some(("C", name)) => (KeyModifiers::CONTROL, name),
                    Some(("A", name)) => (KeyModifiers::ALT, name),
                    _ => (KeyModifiers::NONE, name),
                };
                let code = match name {
                    "left" => KeyCode::Left,
                    "right" => KeyCode::Right,
                    "up" => KeyCode::Up,
                    "down" => KeyCode::Down,
                    "home" => KeyCode::Home,
                    "end" => KeyCode::End,
                    "back" => KeyCode::Backspace,
                    "del" => KeyCode::Delete,
                    "enter" => KeyCode::Enter,
                    "esc" => KeyCode::Esc,
                    char => KeyCode::Char(char.chars().next().unwrap()),
                };
                press(editor, code, modifiers);
                rest = after;
                continue;
            }
            let char = rest.chars().next().unwrap();
            press(editor, KeyCode::Char(char), KeyModifiers::NONE);
            rest = &rest[char.len_utf8()..];
        }
    }

    fn after(keys: &str) -> (String, usize) {
        let mut editor = Editor::default();
        typed(&mut editor, keys);
        (editor.text.clone(), editor.cursor)
    }

    #[test]
    fn keys_do_what_shells_have_taught() {
        for (keys, text, cursor) in [
            ("abc<left><left>X", "aXbc", 2),
            ("会话<left>树", "会树话", 6),
            ("👩‍👩‍👧x<left><back>", "x", 0),
            ("one two three<C-w>", "one two ", 8),
            ("one two<A-b><A-b><A-d>", " two", 0),
            ("one two<home><C-k>x<C-y>", "xone two", 8),
            ("one<C-u>two<C-y>", "twoone", 6),
            ("a<A-enter>b<C-a>x", "a\nxb", 3),
            ("a\\<enter>b", "a\nb", 3),
            ("abc<C-w><C-_>", "abc", 3),
            ("ab<left><C-t>", "ba", 2),
            ("abc<home><del><C-d>", "c", 0),
            ("a b<C-left><C-right>!", "a b!", 4),
        ] {
            assert_eq!(after(keys), (text.to_owned(), cursor), "{keys}");
        }
    }

    #[test]
    fn a_wide_line_wraps_and_the_cursor_moves_between_its_rows() {
        let mut editor = Editor::default();
        typed(&mut editor, "一二三四五六七");
        assert_eq!(
            editor.rows(WIDTH),
            Rows {
                rows: vec!["一二三四五".to_owned(), "六七".to_owned()],
                row: 1,
                column: 4
            }
        );
        typed(&mut editor, "<up>x");
        assert_eq!(editor.text(), "一二x三四五六七");
        // A full row puts the cursor on the next.
        let mut editor = Editor::default();
        typed(&mut editor, "0123456789");
        let rows = editor.rows(WIDTH);
        assert_eq!((rows.row, rows.column, rows.rows.len()), (1, 0, 2));
        let mut editor = Editor::default();
        typed(&mut editor, "ab<A-enter>cdef<up><down>x");
        assert_eq!(editor.text(), "ab\ncdxef");
    }

    #[test]
    fn the_history_is_walked_and_what_was_typed_comes_back() {
        let mut editor = Editor::default();
        editor.history.add("first");
        editor.history.add("second\nline");
        typed(&mut editor, "new<up>");
        assert_eq!(editor.text(), "second\nline");
        typed(&mut editor, "<up><up>");
        assert_eq!(editor.text(), "first");
        typed(&mut editor, "<up>");
        assert_eq!(editor.text(), "first", "there is none before");
        typed(&mut editor, "<down><down>");
        assert_eq!(editor.text(), "new");
    }

    #[test]
    fn the_history_is_searched() {
        let mut editor = Editor::default();
        for line in ["cargo test", "cargo build", "git push"] {
            editor.history.add(line);
        }
        typed(&mut editor, "draft<C-r>carg");
        assert_eq!(editor.text(), "cargo build");
        typed(&mut editor, "<C-r>");
        assert_eq!(editor.text(), "cargo test");
        typed(&mut editor, "<esc>");
        assert_eq!(editor.text(), "draft");
        typed(&mut editor, "<C-r>git<enter>!");
        assert_eq!(editor.text(), "git push!");
    }

    #[test]
    fn a_paste_is_text_and_never_keys() {
        let mut editor = Editor::default();
        editor.paste("one\r\ntwo\rthree\u{1b}[A\u{3}\tx");
        assert_eq!(editor.text(), "one\ntwo\nthree[A    x");
        let sent = press(&mut editor, KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(sent, Typed::Submitted("one\ntwo\nthree[A    x".to_owned()));
        assert!(editor.is_empty());
    }
}
