/** Compares the restored copy of a site with what was recorded about the site during its backup. */

import { siteWord, siteWords } from '../../../schemas/site-text.js';
import type { CopyAnswer } from '../../outbound/copies/copies.js';
import { factsOf } from '../updates/safe/page-facts.js';
import { COUNTED_ROWS, type SiteRecord } from './record.js';

/** What was found in the copy. */
export interface CopyFacts {
  /** Rows of each table; null = it is not there. */
  rows: ReadonlyMap<string, number | null>;
  /** Without transients. */
  options: number | null;
  active_plugins: string[];
  /** Null: the page was not asked for. */
  page: CopyAnswer | null;
}

/** A table as the backup has it. */
interface ExpectedTable {
  name: string;
  rows: number;
  /** Rows that the backup does not have, by their keys. */
  left_out: readonly string[];
}

interface Comparison {
  /** Points that agree. */
  compared: string[];
  /** What differs, in words. */
  different: string[];
  not_compared: string[];
  /** Only the page differs, which the PHP here may be the cause of. */
  page: boolean;
}

/** Cases of a difference that are named. */
const NAMED = 3;

export function compareCopy(
  record: SiteRecord,
  prefix: string,
  tables: readonly ExpectedTable[],
  copy: CopyFacts,
): Comparison {
  const found: Comparison = { compared: [], different: [], not_compared: [...record.unknown], page: false };
  const point = (name: string, differences: readonly string[]) => {
    if (differences.length === 0) found.compared.push(name);
    else found.different.push(...differences);
  };
  const lacking = tables.filter(({ left_out }) => left_out.length > 0);
  for (const { name, left_out } of lacking)
    found.not_compared.push(
      ...named(left_out, (row) => `table ${siteWord(name)}, ${siteWord(row)}: not in the backup`, 'rows'),
    );
  const lacks = (name: string) => lacking.some((table) => table.name === name);
  const wrong = tables.filter(({ name, rows }) => copy.rows.get(name) !== rows);
  point(
    'rows of tables',
    named(
      wrong,
      ({ name, rows }) => `table ${siteWord(name)} has ${copy.rows.get(name) ?? 'no'} rows, ${rows} in the backup`,
      'tables',
    ),
  );
  const count = (name: string, wanted: number | null) => {
    const table = `${prefix}${name}`;
    if (wanted === null || lacks(table)) return;
    const shown = Math.min(copy.rows.get(table) ?? 0, COUNTED_ROWS);
    point(name, shown === Math.min(wanted, COUNTED_ROWS) ? [] : [`${shown} ${name}, ${wanted} were recorded`]);
  };
  count('posts', record.posts);
  count('users', record.users);
  if (record.options !== null && !lacks(`${prefix}options`))
    point(
      'options',
      copy.options === record.options ? [] : [`${copy.options ?? 'no'} options, ${record.options} were recorded`],
    );
  if (record.filled !== null) {
    const emptied = record.filled.filter((name) => (copy.rows.get(name) ?? 0) === 0 && !lacks(name));
    point(
      'tables with rows',
      named(emptied, (name) => `table ${siteWord(name)} is empty, but was not on the site`, 'tables'),
    );
  }
  if (record.active_plugins !== null) {
    const [was, is] = [record.active_plugins, copy.active_plugins];
    const gone = was.filter((slug) => !is.includes(slug)).map((slug) => `plugin ${siteWord(slug)} is not active`);
    const more = is
      .filter((slug) => !was.includes(slug))
      .map((slug) => `plugin ${siteWord(slug)} is active, but was not active on the site`);
    point('active plugins', [...gone, ...more].slice(0, NAMED));
  }
  if (record.front !== null && copy.page !== null) comparePage(record.front, copy.page, found, point);
  return found;
}

function comparePage(
  front: NonNullable<SiteRecord['front']>,
  page: CopyAnswer,
  found: Comparison,
  point: (name: string, differences: readonly string[]) => void,
): void {
  const facts = factsOf({ ...page, location: '', sets_cookies: false, cut: false, ms: 0, failure: null }, front.url);
  const before = found.different.length;
  const error = page.errors.at(-1);
  const why = error === undefined ? '' : ` (${siteWords(error, 200)})`;
  point(
    'front page status',
    facts.status === front.status
      ? []
      : [`the front page answered with HTTP ${facts.status}, ${front.status} was recorded${why}`],
  );
  if (facts.status === front.status && front.title === '' && !facts.whole)
    point('front page', ['the front page is cut off']);
  else if (facts.status === front.status)
    point(
      'front page title',
      facts.title === front.title
        ? []
        : [`the title of the front page is ${siteWord(facts.title)}, ${siteWord(front.title)} was recorded`],
    );
  found.page = before === 0 && found.different.length > 0;
}

/** The first of them, and how many more there are. */
export function named<T>(all: readonly T[], text: (one: T) => string, what: string): string[] {
  const first = all.slice(0, NAMED).map(text);
  return all.length <= NAMED ? first : [...first, `${all.length - NAMED} more ${what}`];
}
