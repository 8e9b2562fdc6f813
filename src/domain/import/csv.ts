/** Parses CSV as spreadsheets write it: quoted cells, doubled quotes, any line end. Pure. */

export interface CsvRow {
  /** The line it begins on, counted from 1. */
  line: number;
  cells: string[];
}

/** Maximum characters of one cell; the longest that a site has are notes. */
const MAX_CELL = 100_000;

/** Rows with the line each begins on. Blank lines and lines that begin with `#` are skipped. */
export function parseCsv(text: string): { rows: CsvRow[]; problem: { line: number; message: string } | null } {
  const source = text.replace(/^\uFEFF/, '');
  const rows: CsvRow[] = [];
  let line = 1;
  let at = 0;
  while (at < source.length) {
    if (source[at] === '#') at = endOfPlain(source, at, /[\r\n]/g);
    const row: CsvRow = { line, cells: [] };
    for (;;) {
      const cell = readCell(source, at);
      if (cell === null) return { rows, problem: { line, message: 'A quote is opened and not closed.' } };
      const whole = source.slice(at, cell.end);
      if (whole.length > MAX_CELL)
        return { rows, problem: { line, message: `A cell is longer than ${MAX_CELL} characters.` } };
      row.cells.push(cell.text.trim());
      at = cell.end;
      line += whole.match(/\r\n|\r|\n/g)?.length ?? 0;
      if (source[at] !== ',') break;
      at += 1;
    }
    if (at < source.length && !/[\r\n]/.test(source[at] ?? ''))
      return { rows, problem: { line, message: 'There is text after a closing quote.' } };
    if (row.cells.some((text) => text !== '')) rows.push(row);
    if (at < source.length) at += source.startsWith('\r\n', at) ? 2 : 1;
    line += 1;
  }
  return { rows, problem: null };
}

/**
 * The cell that begins at a position, and where it ends; null if its quote is never closed. Scanned, because a pattern
 * with a choice in a repetition takes a level of the call stack for each character.
 */
function readCell(source: string, at: number): { text: string; end: number } | null {
  const start = afterBlanks(source, at);
  // A blank between the comma and a quote is not part of the cell.
  if (source[start] !== '"') {
    const end = endOfPlain(source, at, /[,\r\n]/g);
    return { text: source.slice(at, end), end };
  }
  let close = source.indexOf('"', start + 1);
  while (close >= 0 && source[close + 1] === '"') close = source.indexOf('"', close + 2);
  if (close < 0) return null;
  return { text: source.slice(start + 1, close).replaceAll('""', '"'), end: afterBlanks(source, close + 1) };
}

function afterBlanks(source: string, at: number): number {
  let next = at;
  while (source[next] === ' ' || source[next] === '\t') next += 1;
  return next;
}

function endOfPlain(source: string, at: number, end: RegExp): number {
  end.lastIndex = at;
  return end.exec(source)?.index ?? source.length;
}
