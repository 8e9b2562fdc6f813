/** Judges the statement that makes a table, as a site sent it, before it is loaded into a database elsewhere. */

import type { BackedUpTable } from './snapshot.js';

/** The group is the rest of the text, from a literal that has no end: each later quote would read all of it once more. */
export const LITERALS = /'(?:[^'\\]|\\.|'')*'|`(?:[^`]|``)*`|(['`].*)/gs;
/** Read from left to right, as the server does: what looks like the end of a comment in a literal is none. */
const TOKENS = new RegExp(`${LITERALS.source}|/\\*M?!\\d{5,6} | ?\\*/|[{}]`, 'gs');
const HEAD = 'CREATE TABLE ? (';

/** Rows or places that are not those of the table, who loads it, and the one command that the client obeys with `--binary-mode`. */
const ELSEWHERE = /(?<![a-z_])(SELECT|TABLE|DIRECTORY|CONNECTION|UNION|DELIMITER|CURRENT_USER|CURRENT_ROLE)\b/i;
/** A query of literals. In the ranges and lists of partitions the word stands otherwise. */
const VALUES = /(?<![a-z_])VALUES\b(?! (?:LESS THAN|IN)\b)/i;
/** A number with a point, and no name right before or behind it. */
const DECIMAL = /(?<![\w$?.])\d+\.\d+(?:e[+-]?\d+)?(?![\w$?.])/gi;

/** What may be in a comment for servers of some versions, between the parentheses. None of it changes how what follows is read. */
const CONDITIONAL =
  /^ ?(?:INVISIBLE|VISIBLE|NOT ENFORCED|COMPRESSED|COLUMN_FORMAT [a-z]+|STORAGE [a-z]+|SRID \d+|WITH PARSER \?|(?:SECONDARY_)?ENGINE_ATTRIBUTE ?=? ?\?) ?$/i;
/** The parts of a key, or the place that a foreign key refers to. No expression begins behind these words, as they are reserved. */
const KEY = /(?<![\w$])(KEY|INDEX|REFERENCES) \? ?\(/gi;
const PARTS =
  /(?<![\w$])(KEY|INDEX|REFERENCES) ?\((?: ?\?(?: ?\(\d+\))?(?: ASC| DESC)? ?,)* ?\?(?: ?\(\d+\))?(?: ASC| DESC)? ?\)/gi;
/** What stands before a parenthesis: a word or a name calls a function, unless it is of these. */
const CALLS = /(?<![\w$?])([\w$?]*) ?\(/g;

const words = (...lists: string[]) => new Set(lists.join(' ').split(/\s+/));

/** Functions that read only what they are given, and the clock. Others read files of the machine, wait, or run programs. */
const CALLED = words(
  'bit tinyint smallint mediumint int integer bigint decimal numeric dec fixed float double real datetime timestamp time year',
  'char character varchar binary varbinary blob text enum set vector',
  'key index check default as in and or xor not like regexp rlike between interval when then else case div mod is escape of row',
  'hash range list columns than btree rtree system_time current_timestamp localtimestamp now curdate curtime utc_timestamp utc_date',
  'utc_time unix_timestamp from_unixtime to_days from_days to_seconds date day dayofmonth dayofweek dayofyear week weekofyear weekday',
  'yearweek month quarter hour minute second microsecond extract date_format str_to_date timestampdiff timestampadd datediff timediff',
  'date_add date_sub last_day maketime makedate sec_to_time time_to_sec',
  'concat concat_ws lpad rpad addtime subtime lower lcase upper ucase left right substr substring substring_index mid trim ltrim rtrim replace reverse insert',
  'char_length character_length length octet_length bit_length instr locate position strcmp ascii ord hex unhex bin oct conv format field',
  'find_in_set elt quote soundex to_base64 from_base64 md5 sha sha1 sha2 crc32 uuid uuid_short uuid_to_bin bin_to_uuid is_uuid rand',
  'regexp_like regexp_replace regexp_substr regexp_instr weight_string inet_aton inet_ntoa inet6_aton inet6_ntoa is_ipv4 is_ipv6',
  'if ifnull nullif coalesce isnull greatest least cast convert abs sign round floor ceil ceiling truncate pow power sqrt exp ln log',
  'log2 log10 sin cos tan asin acos atan atan2 radians degrees pi bit_count',
  'json_valid json_extract json_unquote json_value json_query json_exists json_quote json_array json_object json_length json_keys',
  'json_type json_contains json_contains_path json_search json_depth json_compact json_schema_valid json_overlaps json_set json_insert json_replace json_remove json_merge_patch json_merge_preserve json_pretty',
  'point st_x st_y st_latitude st_longitude st_srid st_geomfromtext st_geometryfromtext st_pointfromtext st_astext st_distance st_distance_sphere',
);

/** Storage engines that keep rows in the database. Others read files of the machine, or ask other servers. */
const ENGINE =
  'ENGINE ?=? ?(?:InnoDB|MyISAM|Aria|MEMORY|HEAP|ARCHIVE|CSV|BLACKHOLE|RocksDB|TokuDB|Mroonga|ColumnStore|ndb|ndbcluster)';
/** What stands behind the parenthesis: anything else there may be the beginning of a query, which has no word of its own. */
const OPTION = [
  ENGINE,
  '(?:DEFAULT )?(?:CHARSET|CHARACTER SET|COLLATE) ?=? ?\\w+',
  '(?:AUTO_INCREMENT|(?:MIN|MAX)_ROWS|AVG_ROW_LENGTH|KEY_BLOCK_SIZE|PACK_KEYS|(?:TABLE_|PAGE_)?CHECKSUM|DELAY_KEY_WRITE|AUTOEXTEND_SIZE|TRANSACTIONAL|STATS_(?:PERSISTENT|AUTO_RECALC|SAMPLE_PAGES)) ?=? ?(?:\\d+|DEFAULT)',
  'ROW_FORMAT ?=? ?[a-z_]+',
  '(?:COMMENT|COMPRESSION|(?:DEFAULT )?ENCRYPTION) ?=? ?\\?',
  'TABLESPACE \\?(?: STORAGE (?:DISK|MEMORY))?',
  'WITH SYSTEM VERSIONING',
  // An option of the engine, by a quoted name: `PAGE_COMPRESSED`=1
  '\\? ?= ?(?:\\d+|[a-z]+|\\?)',
].join('|');
const PARTITIONED = /^ ?PARTITION BY (?:LINEAR )?(?:HASH|KEY|RANGE|LIST|SYSTEM_TIME)\b/i;
/** A word may not stand right behind a number: `AUTO_INCREMENT=1e0SELECT`. */
const OPTIONS = new RegExp(`^(?: ?(?:${OPTION})(?![\\w$]))* ?`, 'i');

/**
 * Whether the statement that makes a table is one statement, reaches nothing outside of the database, and has nothing that the
 * client of a server would do itself: a site that is controlled by someone else could run programs, or read files, where its
 * dump is loaded. Only what `SHOW CREATE TABLE` prints is known here; everything else is refused.
 */
export function isDumpable({ name, create }: Pick<BackedUpTable, 'name' | 'create'>): boolean {
  const bare = bareOf(create);
  if (bare === undefined || !bare.startsWith(HEAD) || /\p{Cc}/u.test(name)) return false;
  // A name of another database.
  if (ELSEWHERE.test(bare.slice(HEAD.length)) || VALUES.test(bare) || bare.replace(DECIMAL, '0').includes('.'))
    return false;
  const end = endOf(bare, HEAD.length);
  return end !== undefined && isBody(bare.slice(HEAD.length, end)) && isTail(bare.slice(end + 1));
}

/**
 * The statement with `?` for each literal and name, in braces what only servers of some versions read, and single blanks;
 * undefined where something in it is not of a definition.
 */
function bareOf(create: string): string | undefined {
  let [conditional, good] = [false, true];
  const bare = create.replace(TOKENS, (token, endless?: string) => {
    good &&= endless === undefined && token !== '{' && token !== '}';
    const ends = token.endsWith('*/');
    if (token.startsWith('/*') || ends) {
      good &&= conditional === ends;
      conditional = !conditional;
      return ends ? '}' : '{';
    }
    // A server that leaves a conditional comment out sees no literals in it, only its end.
    good &&= !(conditional && /\*\/|\/\*/.test(token));
    // No letter: it would be one word with what stands right behind it.
    return '?';
  });
  const known = good && !conditional && /^[\t\n\r -~]*$/.test(bare) && !/[;\\#'"`@]|--|\/\*|\*\//.test(bare);
  return known ? bare.replace(/\s+/g, ' ') : undefined;
}

/** Where the parenthesis closes that the definition of the columns began with. */
function endOf(bare: string, from: number): number | undefined {
  let depth = 1;
  for (let at = from; at < bare.length; at++) {
    if (bare[at] === '(') depth++;
    if (bare[at] === ')' && --depth === 0) return at;
  }
  return undefined;
}

/** Columns first: in parentheses, a query, or the name of a table to copy, begins with a word. */
function isBody(body: string): boolean {
  let known = /^ ?\? ?[a-z]/i.test(body);
  const plain = body.replace(/\{([^{}]*)\}( ?\()?/g, (_, inner: string, call?: string) => {
    // A server that leaves it out calls the function whose name stands before it.
    known &&= CONDITIONAL.test(inner) && call === undefined;
    return ` ${inner} `;
  });
  return known && !/[{}]/.test(plain) && callsKnown(plain.replace(/ +/g, ' '));
}

function callsKnown(text: string): boolean {
  const parts = text.replace(KEY, '$1 (').replace(PARTS, '$1');
  return [...parts.matchAll(CALLS)].every(([, word = '']) => word === '' || CALLED.has(word.toLowerCase()));
}

/** Options of the table and its partitions. Some servers leave out what is in braces: each part is complete. */
function isTail(tail: string): boolean {
  return tail.split(/[{}]/).every((part) => {
    const options = OPTIONS.exec(part)?.[0] ?? '';
    const rest = part.slice(options.length);
    return rest === '' || (PARTITIONED.test(rest) && isPartitioned(rest));
  });
}

function isPartitioned(rest: string): boolean {
  const engines = [...rest.matchAll(/(?<![a-z_])ENGINE\b/gi)].length;
  const known = [...rest.matchAll(new RegExp(`(?<![\\w$])${ENGINE}(?![\\w$])`, 'gi'))].length;
  return engines === known && callsKnown(rest.replace(/(?<![\w$])((?:SUB)?PARTITIONS) ?=? ?\d+ ?(?=\()/gi, ', '));
}
