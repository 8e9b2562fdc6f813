/** Writes CSV (RFC 4180) that a spreadsheet reads as text: names of sites come from child sites and may be formulas. */

type Cell = string | number | boolean | null;

/**
 * Beginnings that make a cell a formula, in wide forms too; a tab or a line break may precede one. With apostrophes in
 * front, so that `withoutApostrophes` finds the text again.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
/**
 * The same within a text, where spreadsheets of many countries separate cells by semicolons, or by tabs: quotes that do
 * not begin such a cell mean nothing to them, so line breaks end it as well.
 */
const INNER = /(?<=[;\t\r\n])(?='*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;
const INNER_WRITTEN = /(?<=[;\t\r\n])'(?='*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;
/** What the reader of a list would take for a separator, a comment, or trim. */
const QUOTED = /[",;\t\r\n]|^[ #]| $/;

/** One line of CSV. What would be a formula in a text has an apostrophe in front; cells are quoted where necessary. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: Cell): string {
  const text = typeof value === 'string' ? withApostrophes(value) : String(value ?? '');
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function withApostrophes(text: string): string {
  return `${FORMULA.test(text) ? "'" : ''}${text.replace(INNER, "'")}`;
}

/** A cell as it was before `csvLine` wrote it. */
export function withoutApostrophes(cell: string): string {
  const text = cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell;
  return text.replace(INNER_WRITTEN, '');
}
