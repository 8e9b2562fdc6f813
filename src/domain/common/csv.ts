/** Writes CSV (RFC 4180) that a spreadsheet reads as text: names of sites come from child sites and may be formulas. */

type Cell = string | number | boolean | null;

/**
 * Beginnings that make a cell a formula, in wide forms too; a tab or a line break may precede one. With apostrophes in
 * front, so that `withoutApostrophe` finds the text again.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
/** What the reader of a list would take for a separator, a comment, or trim. */
const QUOTED = /[",\r\n]|^[ \t#]|[ \t]$/;

/** One line of CSV. A text that would be a formula has an apostrophe in front; cells are quoted where necessary. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: Cell): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value ?? '');
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A cell as it was before `csvLine` wrote it. */
export function withoutApostrophe(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell;
}
