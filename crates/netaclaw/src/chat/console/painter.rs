//! The lower end of the terminal: a block of rows that changes, below a transcript that does not.
//! What is written above the block scrolls away like the output of any program, so that the
//! terminal's own search, selection and scrolling work.

use super::line::Line;
use std::io::{self, Write};

/// A terminal shows what is between these at once, if it knows them.
const BEGIN_UPDATE: &str = "\u{1b}[?2026h";
const END_UPDATE: &str = "\u{1b}[?2026l";
const CLEAR_BELOW: &str = "\u{1b}[J";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::chat) struct Size {
    pub(in crate::chat) columns: usize,
    pub(in crate::chat) rows: usize,
}

/// The rows that change, and where the cursor is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) rows: Vec<Line>,
    pub(super) cursor_row: usize,
    pub(super) cursor_column: usize,
}

pub(super) struct Painter<W> {
    out: W,
    with_style: bool,
    size: Size,
    /// What is on the screen now.
    shown: Block,
}

impl<W: Write> Painter<W> {
    pub(super) fn new(out: W, with_style: bool, size: Size) -> Self {
        Self {
            out,
            with_style,
            size,
            shown: Block::default(),
        }
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    pub(super) fn with_style(&self) -> bool {
        self.with_style
    }

    /// The terminal has another size. It has broken the rows of the block anew.
    pub(super) fn resized(&mut self, size: Size) -> io::Result<()> {
        let columns = size.columns.max(1);
        let lines_of = |width: usize| width.div_ceil(columns).max(1);
        let above = self.shown.rows.iter().take(self.shown.cursor_row);
        let above: usize = above.map(|row| lines_of(row.width())).sum();
        self.shown.cursor_row = above + self.shown.cursor_column / columns;
        self.size = size;
        let mut bytes = String::new();
        self.erase(&mut bytes);
        self.shown = Block::default();
        self.write(&bytes)
    }

    /// Writes lines above the block, and the block anew.
    pub(super) fn paint(&mut self, above: &[Line], block: Block) -> io::Result<()> {
        if above.is_empty() && block == self.shown {
            return Ok(());
        }
        let mut bytes = String::from(BEGIN_UPDATE);
        self.erase(&mut bytes);
        for line in above {
            bytes.push_str(&line.written(self.with_style));
            bytes.push_str("\r\n");
        }
        for (at, row) in block.rows.iter().enumerate() {
            if at > 0 {
                bytes.push_str("\r\n");
            }
            bytes.push_str(&row.written(self.with_style));
        }
        let up = block.rows.len().saturating_sub(1 + block.cursor_row);
        if up > 0 {
            bytes.push_str(&format!("\u{1b}[{up}A"));
        }
        bytes.push('\r');
        if block.cursor_column > 0 {
            bytes.push_str(&format!("\u{1b}[{}C", block.cursor_column));
        }
        bytes.push_str(END_UPDATE);
        self.shown = block;
        self.write(&bytes)
    }

    /// Empties the screen. What was written before is in the scrollback.
    pub(super) fn clear_screen(&mut self) -> io::Result<()> {
        self.shown = Block::default();
        self.write("\u{1b}[2J\u{1b}[H")
    }

    fn erase(&self, bytes: &mut String) {
        if self.shown.cursor_row > 0 {
            bytes.push_str(&format!("\u{1b}[{}A", self.shown.cursor_row));
        }
        bytes.push('\r');
        bytes.push_str(CLEAR_BELOW);
    }

    fn write(&mut self, bytes: &str) -> io::Result<()> {
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }
}
