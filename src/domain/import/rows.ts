/**
 * Parses lists of sites in CSV: with a header row that names the columns, or with the ten columns of the original's own
 * import in their order. Errors name line and column, and do not affect other rows. Pure.
 */

import { type FleetRow, fleetRow } from '../../../schemas/fleet.js';
import { ownMember } from '../../runtime/own-member.js';
import { withoutApostrophes } from '../common/csv.js';
import { parseCsv } from './csv.js';
import type { Invalid } from './read.js';
import { sentence, shownAddress } from './record.js';
import { unusable } from './sealed.js';

export type SiteRow = FleetRow & { line: number };

const COLUMNS = [
  'name',
  'url',
  'admin',
  'password',
  'tags',
  'unique_id',
  'http_user',
  'http_pass',
  'ssl_verify',
  'ssl_version',
] as const;
type Column = (typeof COLUMNS)[number];

/** Headings of the original, in the order of `COLUMNS`. */
export const ORIGINAL_HEADINGS = [
  'Site Name',
  'Url',
  'Admin Name',
  'Admin Password',
  'Tag',
  'Security ID',
  'HTTP Username',
  'HTTP Password',
  'Verify Certificate',
  'SSL Version',
] as const;

/** Maximum rows of one list. */
const MAX_ROWS = 20_000;

const VERIFY: Readonly<Record<string, boolean>> = {
  '': true,
  '1': true,
  true: true,
  yes: true,
  '0': false,
  false: false,
  no: false,
};
/** The original's own letters, with its own meaning. */
const ORIGINAL_VERIFY: Readonly<Record<string, boolean>> = { ...VERIFY, t: true, y: false };
const TLS: Readonly<Record<string, 0 | 6 | 7>> = {
  '': 0,
  auto: 0,
  '1.x': 0,
  '1': 0,
  '2': 0,
  '3': 0,
  '1.0': 0,
  '1.1': 0,
  '1.2': 6,
  '1.3': 7,
};

/** Throws `svc_invalid_input` if the text as a whole is not such a list. */
export function readRows(text: string): { rows: SiteRow[]; invalid: Invalid[] } {
  const { rows: lines, problem } = parseCsv(text);
  if (problem !== null) throw unusable(`Line ${problem.line}: ${problem.message}`);
  if (lines.length > MAX_ROWS) throw unusable(`It has more than ${MAX_ROWS} rows.`);
  const [first] = lines;
  if (first === undefined) throw unusable('It has no rows.');
  const { columns, original, header } = columnsOf(first.cells);
  const rows: SiteRow[] = [];
  const invalid: Invalid[] = [];
  for (const { line, cells } of header ? lines.slice(1) : lines) {
    const values = Object.fromEntries(COLUMNS.map((name) => [name, cells[columns.indexOf(name)] ?? ''])) as Values;
    const wrong = (name: Column, message: string) =>
      invalid.push({ where: placeOf(line, columns, name), url: shownAddress(values.url), message });
    if (cells.length > columns.length) {
      const where = `line ${line}, column ${columns.length + 1}`;
      invalid.push({ where, url: shownAddress(values.url), message: 'There are more cells than columns.' });
      continue;
    }
    const verify = ownMember(original ? ORIGINAL_VERIFY : VERIFY, values.ssl_verify.toLowerCase());
    const version = ownMember(TLS, values.ssl_version.toLowerCase());
    if (verify === undefined) wrong('ssl_verify', 'must be 1 or 0.');
    else if (version === undefined) wrong('ssl_version', 'must be auto, 1.2 or 1.3.');
    else {
      const parsed = fleetRow().safeParse(rowOf(values, verify, version));
      if (parsed.success) rows.push({ ...parsed.data, line });
      else {
        const [issue] = parsed.error.issues;
        wrong((issue?.path[0] as Column | undefined) ?? 'url', `${issue?.message ?? 'cannot be used'}.`);
      }
    }
  }
  return { rows, invalid };
}

type Values = Record<Column, string>;

function rowOf(values: Values, ssl_verify: boolean, ssl_version: 0 | 6 | 7) {
  const url = withoutApostrophes(values.url);
  return {
    ...values,
    name: withoutApostrophes(values.name),
    admin: withoutApostrophes(values.admin),
    ssl_verify,
    ssl_version,
    // The original's list also contains addresses without a scheme.
    url: url === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `https://${url}`,
    tags: withoutApostrophes(values.tags)
      .split(/[;,]/)
      .flatMap((tag) => (tag.trim() === '' ? [] : [tag.trim()])),
    http_user: values.http_user === '' ? null : values.http_user,
    http_pass: values.http_pass === '' ? null : values.http_pass,
  };
}

/** The position of a column, as both a spreadsheet and an editor show it. */
function placeOf(line: number, columns: readonly Column[], name: Column): string {
  const index = columns.indexOf(name);
  return index < 0 ? `line ${line} (${name})` : `line ${line}, column ${index + 1} (${name})`;
}

/** The columns of a header row, or the original's if the first row is not one. */
function columnsOf(cells: readonly string[]): { columns: Column[]; original: boolean; header: boolean } {
  const names = cells.map((cell) => cell.toLowerCase());
  const headings = ORIGINAL_HEADINGS.map((heading) => heading.toLowerCase());
  if (!names.includes('url')) return { columns: [...COLUMNS], original: true, header: false };
  const columns = names.map((name, index) => {
    const known = COLUMNS.find((column) => column === name) ?? COLUMNS[headings.indexOf(name)];
    if (known === undefined)
      throw unusable(
        `Line 1, column ${index + 1}: ${JSON.stringify(sentence(name))} is not a known column. Known: ${COLUMNS.join(', ')}.`,
      );
    return known;
  });
  if (new Set(columns).size < columns.length) throw unusable('A column appears twice in its first line.');
  if (!columns.includes('admin')) throw unusable('Its first line has no admin column.');
  return { columns, original: names.includes('verify certificate'), header: true };
}
