/** What a page shows about a site's health: facts of one response, small enough to store. Pure. */

import { createHash } from 'node:crypto';
import { parseUrl } from '../../../../schemas/url.js';
import type { Page } from '../../../outbound/child/port.js';
import { WP_DIE } from '../../../outbound/maintenance-page.js';
import { bareHost } from '../../sites/urls.js';
import { markupOf, type PageMarkup, refreshTarget, shownMarkup } from './page-markup.js';
import { type PhpMessages, phpMessages } from './php-messages.js';
import { attribute, forbidsIndex } from './tag-attributes.js';

export interface PageFacts {
  /** 0 = no response. */
  status: number;
  /** Why there was none: the kind of failure. */
  failure: string;
  /** Path or address of a redirect, '' = none. */
  location: string;
  type: string;
  /** It sets cookies. */
  cookies: boolean;
  bytes: number;
  /** Until the headers arrived. */
  ms: number;
  title: string;
  /** The page is complete: it contains `</html>`. */
  whole: boolean;
  /** Signs of a PHP or database failure. */
  errors: string[];
  /** Paths of the site's own scripts and styles. */
  assets: string[];
  /** Hashes of the distinct words of its text. */
  words: number[];
  /** Of a page that is not HTML: that of an empty one. */
  markup: PageMarkup;
  /** Messages of PHP that do not end the page. */
  php: PhpMessages;
  /** Well-formed data: JSON, or a feed; '' = neither. */
  data: 'json' | 'xml' | '';
  /** It says itself that it is away for a while: HTTP 503 with `Retry-After`. */
  away: boolean;
  /** It is longer than what is read of a page: what it lacks may come later. */
  cut: boolean;
  /** Of a page that was made in the guard's sandbox: digests of what it was refused to write, or to ask other servers. */
  inside?: string[];
  /** Parts of wp-admin that it has, and what a page of a few bytes says. */
  parts?: string[];
  says?: string;
  /** The number of the post that an editor has open. */
  editing?: string;
  /** It redirects to another host. */
  elsewhere?: boolean;
  /** Of the REST API: what it consists of; of robots.txt: how many sitemaps it names. */
  namespaces?: string[];
  sitemaps?: number;
}

/**
 * Texts of WordPress' own failures, where no visitor can write them: comments hold any sentence, `<b>` and `<br />`.
 * These are the English ones; other languages are detected by a 5xx.
 */
const FAILURES: readonly (readonly [string, RegExp])[] = [
  ['There has been a critical error', /There has been a critical error on this website/],
  ['Error establishing a database connection', /Error establishing a database connection/],
];
/**
 * Pages of hosts have it in place of the content: as the whole of the first title or heading, over few words, without the parts
 * that a page of the site has. A post, or the subject of a visitor, may be called so, too.
 */
const FIRST = [
  /<title\b[^<>]{0,200}>([^<]{0,100})(<\/title\b)?/i,
  /<h1\b[^<>]{0,200}>([^<]{0,100})(<\/h1\b)?/i,
] as const;
const NO_DATABASE = /^\s{0,50}Error establishing a database connection[.!]?\s{0,50}$/;
const WORDS_OF_AN_ERROR_PAGE = 30;
const PARTS_OF_A_SITE: readonly string[] = ['article', 'section', 'form'];
/**
 * In wp-admin, once its head is out, WordPress ends a page with its message, without a status and a head of its own, in the
 * language of the site. In the content of a page something of the page follows, at least a script or an end tag.
 */
const MESSAGE = '<div class="wp-die-message">';
const ENDED_BY_MESSAGE =
  /^(?:(?!<\/div>)[\s\S]){0,5000}<\/div>(?:\s{0,9}<p><a\b(?:(?!<\/p>)[\s\S]){0,1000}<\/p>){0,2}<\/body>\s{0,9}<\/html>/;
/** With these words PHP ends a page. */
const PHP_FAILURES = ['Fatal error', 'Parse error'] as const;
const END_OF_PHP = / on line (?:<b>)?\d{1,9}(?:<\/b>)?(?:<br \/>)?$/;
/** What each editor of WordPress consists of, that of blocks of scripts, too. */
export const EDITORS: readonly (readonly string[])[] = [
  ['postdivrich'],
  [
    'editor',
    ...['edit-post', 'editor', 'block-editor', 'blocks', 'components', 'core-data', 'data', 'element'].map(
      (name) => `wp-${name}.js`,
    ),
  ],
];
/** Without one of these, wp-admin or its editor does not work. */
const PARTS: readonly string[] = ['adminmenu', 'wpbody-content', ...EDITORS.flat()];
const ANY_TAG = /<([a-z][\w-]{0,30})\b([^<>]{0,10000})>/gi;
/** How the two editors of WordPress name the post that they open. */
const EDITING = /\binitializeEditor\(\s{0,9}'editor', "[\w-]{1,40}", (\d{1,12})\b/;
const EDITED = 'post_ID';
/** WordPress may load scripts several at once; styles, which it loads likewise, have names of scripts. */
const AT_ONCE = /\/load-scripts\.php\?(.{0,9000})/;
/** It cuts the list of names, also within one. */
const NEXT_CHUNK = /&(?:amp;|#0?38;)?load%5Bchunk_[1-9]\d{0,3}%5D=/g;
const FEW_BYTES = 100;
const MAX_REFUSED = 40;
const MAX_NAMESPACES = 200;
const MAX_ASSETS = 100;
export const MAX_WORDS = 1_000;

/**
 * The facts of a response to a request for this page of this site.
 * @param nonce of a look in the guard's sandbox
 */
export function factsOf(page: Page, siteUrl: string, nonce?: string): PageFacts {
  const html = page.content_type === '' || page.content_type.includes('html');
  const text = html ? page.body : '';
  const shown = shownMarkup(text);
  const markup = markupOf(text, shown, siteUrl);
  const refresh = refreshTarget(page.refresh ?? '') || markup.refresh;
  const noindex = markup.noindex || forbidsIndex(page.robots ?? '') || closedToRobots(page);
  const words = wordsOf(shown);
  return {
    status: page.status,
    failure: page.failure?.kind ?? '',
    location: locationOf(page.location || refresh, siteUrl),
    type: page.content_type,
    cookies: page.sets_cookies,
    ms: page.ms,
    bytes: Buffer.byteLength(page.body),
    title: collapse(/<title[^<>]*>([^<]{0,1000})/i.exec(text)?.[1] ?? '').slice(0, 200),
    whole: page.cut || /<\/html\s*>/i.test(text),
    errors: errorsOf(page, isNoDatabase(shown, words.length, markup), nonce === undefined || tellsAll(page)),
    assets: assetsOf(text, siteUrl),
    words,
    markup: { ...markup, noindex },
    php: phpMessages(page.body),
    data: dataOf(page),
    ...partsOfInterfaces(page),
    cut: page.cut,
    away: page.status === 503 && (page.retry_after ?? '') !== '',
    ...(refresh !== '' && { elsewhere: leadsElsewhere(refresh, siteUrl) }),
    ...(nonce !== undefined && insideFacts(page, siteUrl, nonce)),
  };
}

function partsOfInterfaces({ body, content_type, cut }: Page): Pick<PageFacts, 'namespaces' | 'sitemaps'> {
  if (content_type.startsWith('text/plain')) return { sitemaps: body.match(/^sitemap:[ \t]{0,9}\S/gim)?.length ?? 0 };
  // The index of the REST API begins with its members in the order in which they were asked for.
  if (cut || !content_type.includes('json') || !/^\s{0,9}\{"name":/.test(body)) return {};
  try {
    const { namespaces } = JSON.parse(body) as { namespaces?: unknown };
    if (!Array.isArray(namespaces)) return {};
    const names = namespaces.filter((name): name is string => typeof name === 'string' && name.length <= 100);
    return { namespaces: names.slice(0, MAX_NAMESPACES) };
  } catch {
    return {};
  }
}

/**
 * Whether the guard held a look back to the end, and so says all that it was refused. An older one says what it was refused before
 * the head of wp-admin was out: what fails later may fail for the rest.
 */
function tellsAll({ session }: Page): boolean {
  return session?.split(' ')[2] === 'all';
}

function insideFacts({ body, location, session }: Page, siteUrl: string, nonce: string): Partial<PageFacts> {
  const [made, refused] = (session ?? '').split(' ');
  // An answer from a cache has another nonce.
  if (made !== nonce) return {};
  const { parts, edited } = partsOf(body);
  const editing = EDITING.exec(body)?.[1] ?? edited;
  return {
    ...(editing !== undefined && { editing }),
    inside: refused === undefined || refused === '' ? [] : refused.split(',', MAX_REFUSED),
    parts,
    says: body.length <= FEW_BYTES ? body.trim() : '',
    elsewhere: location !== '' && leadsElsewhere(location, siteUrl),
  };
}

/** The parts of wp-admin that a page has, and the post that its form edits. */
function partsOf(body: string): { parts: string[]; edited?: string | undefined } {
  const ids = new Set<string>();
  let edited: string | undefined;
  for (const [, tag = '', attributes = ''] of body.matchAll(ANY_TAG)) {
    const id = attribute(attributes, 'id');
    ids.add(id);
    if (id === EDITED) edited ??= /^\d{1,12}$/.exec(attribute(attributes, 'value'))?.[0];
    const names = tag.toLowerCase() === 'script' ? AT_ONCE.exec(attribute(attributes, 'src'))?.[1] : undefined;
    for (const name of names?.replace(NEXT_CHUNK, '').split(/[,=&]/) ?? []) ids.add(`${name}-js`);
  }
  return { parts: PARTS.filter((part) => ids.has(part.replace(/\.js$/, '-js'))), edited };
}

/** A line of robots.txt that names robots, or says where they may go. All others, and comments, mean nothing to groups. */
const ROBOTS_LINE = /^[ \t\uFEFF]{0,99}(user-agent|allow|disallow)[ \t]{0,99}:([^\r\n#]{0,2000})/gim;
const EVERYTHING = /^(?:\/|\/?\*{1,99}\$?)$/;

/**
 * A robots.txt that sends all robots away from everything. As RFC 9309 has it: names in a row begin a group, and of two
 * rules the longer one holds, of two as long the one that allows.
 */
function closedToRobots({ body, content_type }: Page): boolean {
  if (!content_type.startsWith('text/plain')) return false;
  let ofAll = false;
  let named = false;
  const longest = { allow: 0, disallow: 0 };
  for (const [, word = '', rest = ''] of body.matchAll(ROBOTS_LINE)) {
    const key = word.toLowerCase();
    const value = rest.trim();
    if (key === 'allow' || key === 'disallow') {
      named = false;
      if (ofAll && EVERYTHING.test(value)) longest[key] = Math.max(longest[key], value.length);
    } else {
      ofAll = value === '*' || (named && ofAll);
      named = true;
    }
  }
  return longest.disallow > longest.allow;
}

function dataOf({ body, content_type, cut }: Page): 'json' | 'xml' | '' {
  if (/\bxml\b/.test(content_type)) return isXml(body, cut) ? 'xml' : '';
  if (!content_type.includes('json')) return '';
  if (cut) return /^\s{0,20}[{["]/.test(body) ? 'json' : '';
  try {
    JSON.parse(body);
    return 'json';
  } catch {
    return '';
  }
}

/** What comes before the first element of XML, and its name. */
const XML_HEAD =
  /^<\?xml\b[^<>]{0,500}\?>(?:\s|<[?!][a-z][^<>]{0,500}>|<!--(?:(?!-->)[\s\S]){0,2000}-->){0,500}<([\w:.-]{1,50})/i;

/**
 * Judged by its first element, which must also be the last to end: one that stops in the middle often does so behind
 * some other end tag. Page caches sign with a comment.
 */
function isXml(body: string, cut: boolean): boolean {
  const root = XML_HEAD.exec(body)?.[1];
  if (root === undefined || cut) return root !== undefined;
  const at = body.lastIndexOf(`</${root}`);
  return at >= 0 && /^\s{0,9}>(?:\s|<!--(?:(?!-->)[\s\S]){0,2000}-->){0,500}$/.test(body.slice(at + root.length + 2));
}

/**
 * Signs of a failure that PHP or WordPress itself has written: the last thing on a page, or an error page of its own.
 * @param within a message of WordPress that ends a page counts
 */
function errorsOf({ body, cut }: Page, noDatabase: boolean, within: boolean): string[] {
  // Perhaps behind the beginning of the page that failed.
  const at = body.search(WP_DIE);
  const message = body.slice(body.lastIndexOf(MESSAGE));
  const ended = within && at < 0 && ENDED_BY_MESSAGE.test(message);
  const errorPage = ended ? message : at < 0 ? '' : body.slice(at);
  const byPhp = PHP_FAILURES.filter((name) => {
    const said = Math.max(body.lastIndexOf(`${name}: `), body.lastIndexOf(`<b>${name}</b>:`));
    // The end of what was read of a longer page may be a visitor's text.
    return said >= 0 && (said < at || (!cut && END_OF_PHP.test(body.slice(said).trimEnd().slice(-100))));
  });
  const byWordPress = FAILURES.filter(([, text]) => text.test(errorPage)).map(([name]) => name);
  // In another language, or because of something else.
  if (ended && byWordPress.length === 0) byWordPress.push('wp_die()');
  const byHost = noDatabase ? ['Error establishing a database connection'] : [];
  return [...new Set([...byPhp, ...byWordPress, ...byHost])];
}

function isNoDatabase(shown: string, words: number, { landmarks, structure }: PageMarkup): boolean {
  const called = FIRST.some((first) => {
    const [, text = '', end] = first.exec(shown) ?? [];
    return end !== undefined && NO_DATABASE.test(text);
  });
  const ofSite = landmarks.length > 0 || PARTS_OF_A_SITE.some((name) => (structure[name] ?? 0) > 0);
  return called && !ofSite && words < WORDS_OF_AN_ERROR_PAGE;
}

function locationOf(location: string, siteUrl: string): string {
  if (location === '') return '';
  try {
    const url = new URL(location, siteUrl);
    for (const name of [...url.searchParams.keys()]) if (name === 'sitefleet') url.searchParams.delete(name);
    return url.href.slice(0, 500);
  } catch {
    return 'unreadable';
  }
}

/** Whether an address that a page leads to is on another host than the site. */
function leadsElsewhere(location: string, siteUrl: string): boolean {
  return hostOf(locationOf(location, siteUrl)) !== hostOf(siteUrl);
}

function hostOf(address: string): string {
  const url = parseUrl(address);
  return url === null ? '' : bareHost(url.hostname);
}

function assetsOf(text: string, siteUrl: string): string[] {
  const { origin } = new URL(siteUrl);
  const found = new Set<string>();
  for (const [, attributes = ''] of text.matchAll(/<(?:script|link)\b([^<>]{0,2000})>/gi)) {
    const address = attribute(attributes, 'src') || attribute(attributes, 'href');
    if (address === '' || address.length > 500) continue;
    try {
      const url = new URL(address.replaceAll('&amp;', '&').replaceAll('&#038;', '&'), siteUrl);
      // Versions in the query change with every update.
      if (url.origin === origin && /\.(js|css)$/i.test(url.pathname)) found.add(url.pathname);
    } catch {
      // Not a URL.
    }
    if (found.size >= MAX_ASSETS) break;
  }
  return [...found].sort();
}

function wordsOf(shown: string): number[] {
  const plain = shown.replace(/<[^<>]{0,2000}>/g, ' ');
  const words = new Set<string>();
  const hashes = new Set<number>();
  for (const [found] of plain.matchAll(/\p{L}{2,40}/gu)) {
    const word = found.toLowerCase();
    if (words.has(word)) continue;
    words.add(word);
    hashes.add(createHash('sha256').update(word).digest().readUInt32BE(0));
    if (hashes.size >= MAX_WORDS) break;
  }
  return [...hashes].sort((a, b) => a - b);
}

function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** As by a limit of requests in front of the site; not by its maintenance page. */
export function isTurnedAway({ status, away = false }: Pick<PageFacts, 'status'> & { away?: boolean }): boolean {
  return status === 429 || (status === 503 && !away);
}

/** As by a ban of this machine's address, besides. */
export function isRefused({ status }: Pick<PageFacts, 'status'>): boolean {
  return [403, 429, 503].includes(status);
}
