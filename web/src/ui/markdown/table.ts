/** A drawn table as text for other programs. Pure but for the element that it reads. */

/** The cells of a table, row by row. */
export function cellsOf(table: HTMLTableElement): string[][] {
  return [...table.rows].map((row) =>
    [...row.cells].map((cell) => (cell.textContent ?? '').replace(/\s+/g, ' ').trim()),
  )
}

/** For the clipboard: spreadsheets paste it as cells. */
export const tabbed = (cells: readonly (readonly string[])[]): string => cells.map((row) => row.join('\t')).join('\n')

/**
 * As CSV. A cell that a spreadsheet would take for a formula is written as text: what an agent wrote may come from
 * somewhere else.
 */
export function csv(cells: readonly (readonly string[])[]): string {
  const cell = (text: string) => {
    const safe = /^[=+\-@]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  return cells.map((row) => row.map(cell).join(',')).join('\r\n')
}
