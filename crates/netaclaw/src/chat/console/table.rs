//! Tables that fit the width of a terminal: cells wrap, and where even that has no room, each row
//! becomes a list of its cells.

use super::line::{BOLD, DIM, Line};
use pulldown_cmark::Alignment;

/// A column is not made narrower than this.
const COLUMN_WIDTH_MIN: usize = 6;
const BETWEEN: &str = " │ ";
const BETWEEN_WIDTH: usize = 3;

pub(super) struct Table {
    alignments: Vec<Alignment>,
    /// The first one is the head.
    rows: Vec<Vec<Line>>,
    row: Vec<Line>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self {
            alignments,
            rows: Vec::new(),
            row: Vec::new(),
        }
    }

    pub(super) fn cell(&mut self, cell: Line) {
        self.row.push(cell);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    pub(super) fn lines(self, width: usize) -> Vec<Line> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        match self.widths(columns, width) {
            Some(widths) => self.grid(&widths),
            None => self.records(width),
        }
    }

    /// The width of each column; `None` if there is no room for a grid. The widest columns give
    /// way first.
    fn widths(&self, columns: usize, width: usize) -> Option<Vec<usize>> {
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(Line::width).max().unwrap_or(0).max(1)
        };
        let mut widths: Vec<usize> = (0..columns).map(widest).collect();
        let room = width.checked_sub(BETWEEN_WIDTH * columns.saturating_sub(1))?;
        while widths.iter().sum::<usize>() > room {
            let widest = widths.iter_mut().max()?;
            if *widest <= COLUMN_WIDTH_MIN {
                return None;
            }
            *widest -= 1;
        }
        Some(widths)
    }

    fn grid(&self, widths: &[usize]) -> Vec<Line> {
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<Line>> = widths
                .iter()
                .enumerate()
                .map(|(column, width)| match row.get(column) {
                    Some(cell) => cell.wrapped(*width),
                    None => Vec::new(),
                })
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0);
            for level in 0..height {
                let mut line = Line::default();
                for (column, width) in widths.iter().enumerate() {
                    if column > 0 {
                        line.push(BETWEEN, DIM);
                    }
                    let cell = cells[column].get(level).cloned().unwrap_or_default();
                    let is_last = column + 1 == widths.len();
                    line.append(self.aligned(column, cell, *width, is_last));
                }
                lines.push(line);
            }
            if at == 0 {
                let ruled: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::of(&ruled.join("─┼─"), DIM));
            }
        }
        lines
    }

    fn aligned(&self, column: usize, cell: Line, width: usize, is_last: bool) -> Line {
        let missing = width.saturating_sub(cell.width());
        let before = match self.alignments.get(column) {
            Some(Alignment::Right) => missing,
            Some(Alignment::Center) => missing / 2,
            _ => 0,
        };
        let mut line = Line::plain(&" ".repeat(before));
        line.append(cell);
        match is_last {
            true => line,
            false => line.padded(width),
        }
    }

    fn records(self, width: usize) -> Vec<Line> {
        let mut rows = self.rows.into_iter();
        let heads = rows.next().unwrap_or_default();
        let mut lines = Vec::new();
        for row in rows {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            for (column, cell) in row.into_iter().enumerate() {
                let mut line = Line::default();
                if let Some(head) = heads.get(column) {
                    line.push(&head.written(false), BOLD);
                    line.push(": ", BOLD);
                }
                line.append(cell);
                lines.extend(line.wrapped(width));
            }
        }
        lines
    }
}
