//! Tables, aligned also with Chinese text.

use crate::app::App;
use crate::error::Result;
use crate::terminal::{columns, pad};
use std::io::Write;

/// One line of text that a terminal can be given.
pub(crate) type Cell = String;

/// Writes a table. The last column takes what it needs.
pub(crate) fn write<const COLUMNS: usize>(
    app: &mut App,
    heads: [Cell; COLUMNS],
    rows: &[[Cell; COLUMNS]],
) -> Result<()> {
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| columns(&row[column]));
        cells.chain([columns(&heads[column])]).max().unwrap_or(0)
    });
    let head = line(&heads, &widths);
    writeln!(app.out, "{}", app.paint.bold(&head))?;
    for row in rows {
        writeln!(app.out, "{}", line(row, &widths))?;
    }
    Ok(())
}

fn line<const COLUMNS: usize>(cells: &[Cell; COLUMNS], widths: &[usize; COLUMNS]) -> String {
    let cells = cells
        .iter()
        .zip(widths)
        .map(|(cell, width)| pad(cell, *width));
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}
