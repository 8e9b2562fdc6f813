/**
 * Facts about a statement, from its text. Both drivers use this first, so that a statement which one of them would
 * silently misinterpret (a second statement, a missing argument) is refused by both with the same message.
 */
export interface SqlFacts {
  /** First keyword in lower case; for `WITH …` the keyword of the main statement. */
  verb: string;
  /** True when the statement cannot change anything, so that it may be repeated after a dropped connection. */
  reads: boolean;
  /** True for INSERT, UPDATE, DELETE and REPLACE: only these have a change count worth reporting. */
  counts: boolean;
  /** True for INSERT and REPLACE: only these have a new row id. */
  inserts: boolean;
  /** How many positional arguments it takes. */
  parameters: number;
}

// Comments, strings and quoted names are matched as wholes, so that nothing inside them is taken for syntax.
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"|`[^`]*`|\[[^\]]*\]|\?\d*|[:@$][A-Za-z_]\w*|[A-Za-z_]\w*|\d\w*|[^\s\w]/g;

const READING = new Set(['select', 'values', 'explain']);
/** Others change something, or may. */
const READING_PRAGMA = /^PRAGMA (?:foreign_key_check|integrity_check|wal_autocheckpoint)$/;
const COUNTING = new Set(['insert', 'update', 'delete', 'replace']);
const MAIN_OF_WITH = new Set([...READING, ...COUNTING]);
const TRANSACTION = new Set(['begin', 'commit', 'end', 'rollback', 'savepoint', 'release']);

function* tokens(sql: string): Generator<string> {
  for (const [token] of sql.matchAll(TOKEN)) {
    if (!token.startsWith('--') && !token.startsWith('/*')) yield token;
  }
}

/** Shortened text for error messages. Arguments are bound, never written into SQL, so it carries no values. */
export function excerpt(sql: string): string {
  const flat = sql.replace(/\s+/g, ' ').trim();
  return flat.length > 100 ? `${flat.slice(0, 100)}…` : flat;
}

/**
 * Facts of one statement.
 * @throws TypeError for an empty text, a second statement, named parameters, and transaction control (which belongs
 *   to `batch`, `read` and `script`: a lone BEGIN would be undone or, worse, kept open by the driver).
 */
export function inspectSql(sql: string): SqlFacts {
  if (typeof sql !== 'string') throw new TypeError('The SQL must be a string.');
  const words: string[] = [];
  let verb = '';
  let depth = 0;
  let ended = false;
  let highest = 0;
  for (const token of tokens(sql)) {
    if (token === ';' && depth === 0) ended = true;
    else if (ended && !isTrigger(words)) throw new TypeError(`One statement at a time: ${excerpt(sql)}`);
    else if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (token.startsWith('?')) {
      // A bare `?` takes the number after the highest so far, as in SQLite.
      highest = token === '?' ? highest + 1 : Math.max(highest, Number(token.slice(1)));
    } else if (/^[:@$]\w/.test(token)) {
      throw new TypeError(`Arguments are positional (?), not named (${token}): ${excerpt(sql)}`);
    } else if (/^[A-Za-z_]/.test(token)) {
      if (words.length < 4) words.push(token.toLowerCase());
      if (verb === '') verb = token.toLowerCase();
      else if (verb === 'with' && depth === 0 && MAIN_OF_WITH.has(token.toLowerCase())) verb = token.toLowerCase();
    }
  }
  if (verb === '') throw new TypeError('The SQL is empty.');
  if (TRANSACTION.has(verb)) throw new TypeError(`Use batch, read or script instead of ${verb.toUpperCase()}.`);
  return {
    verb,
    reads: READING.has(verb) || READING_PRAGMA.test(sql),
    counts: COUNTING.has(verb),
    inserts: verb === 'insert' || verb === 'replace',
    parameters: highest,
  };
}

/**
 * Refuses a script that would leave the transaction it runs in. Bodies of triggers are not restricted.
 * @throws TypeError
 */
export function assertScript(sql: string): void {
  let words: string[] = [];
  let inTrigger = false;
  for (const token of tokens(sql)) {
    if (token === ';') {
      inTrigger ||= isTrigger(words);
      words = [];
      continue;
    }
    const word = token.toLowerCase();
    if (words.length === 0 && TRANSACTION.has(word)) {
      if (!inTrigger || word !== 'end') throw new TypeError(`A script may not contain ${word.toUpperCase()}.`);
      inTrigger = false;
    }
    if (words.length < 4) words.push(word);
  }
}

function isTrigger(words: readonly string[]): boolean {
  if (words[0] !== 'create') return false;
  return words[1] === 'trigger' || (/^temp(orary)?$/.test(words[1] ?? '') && words[2] === 'trigger');
}
