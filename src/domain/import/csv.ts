/** Parses CSV as spreadsheets write it: quoted cells, doubled quotes, any line end. Pure. */

export interface CsvRow {
  /** The line it begins on, counted from 1. */
  line: number;
  cells: string[];
}

/** Rows with the line each begins on. Blank lines and lines that begin with `#` are skipped. */
export function parseCsv(text: string): { rows: CsvRow[]; problem: { line: number; message: string } | null } {
  const source = text.replace(/^\uFEFF/, '');
  const rows: CsvRow[] = [];
  const cell = /"((?:[^"]|"")*)"[ \t]*|([^,\r\n]*)/y;
  let line = 1;
  let at = 0;
  while (at < source.length) {
    if (source[at] === '#') {
      const end = source.slice(at).search(/[\r\n]/);
      at = end < 0 ? source.length : at + end;
    }
    const row: CsvRow = { line, cells: [] };
    for (;;) {
      // A blank between the comma and a quote is not part of the cell.
      const blanks = /[ \t]*(?=")/y;
      blanks.lastIndex = at;
      at += blanks.exec(source)?.[0].length ?? 0;
      cell.lastIndex = at;
      const [whole = '', quoted, plain = ''] = cell.exec(source) ?? [];
      if (quoted === undefined && whole.startsWith('"'))
        return { rows, problem: { line, message: 'A quote is opened and not closed.' } };
      row.cells.push((quoted === undefined ? plain : quoted.replaceAll('""', '"')).trim());
      at += whole.length;
      line += whole.match(/\r\n|\r|\n/g)?.length ?? 0;
      if (source[at] !== ',') break;
      at += 1;
    }
    if (at < source.length && !/[\r\n]/.test(source[at] ?? ''))
      return { rows, problem: { line, message: 'Text stands behind a closing quote.' } };
    if (row.cells.some((text) => text !== '')) rows.push(row);
    if (at < source.length) at += source.startsWith('\r\n', at) ? 2 : 1;
    line += 1;
  }
  return { rows, problem: null };
}

/** One line of CSV; cells are quoted where necessary. */
export function csvLine(cells: readonly string[]): string {
  const written = cells.map((text) =>
    /[",\r\n]|^[ \t#]|[ \t]$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text,
  );
  return `${written.join(',')}\r\n`;
}
