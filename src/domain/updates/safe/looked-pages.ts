/** The pages of a site that are looked at before and after updates, and what each is called. Pure. */

import { parseUrl } from '../../../../schemas/url.js';

export type PageKind =
  | 'front'
  | 'login'
  /** Named by the caller. */
  | 'asked'
  /** The front page, as a phone gets it. */
  | 'phone'
  | 'post'
  | 'page'
  | 'archive'
  | 'search'
  /** An address that does not exist. */
  | 'missing'
  | 'feed'
  | 'rest'
  | 'collection'
  | 'ajax'
  | 'robots';

export interface LookedPage {
  kind: PageKind;
  /** Below the site's address. */
  path: string;
}

export const FRONT: LookedPage = { kind: 'front', path: '' };
export const LOGIN: LookedPage = { kind: 'login', path: 'wp-login.php' };

const NAMES: Readonly<Partial<Record<PageKind, string>>> = {
  front: 'The front page',
  phone: 'The front page on a phone',
  search: 'The search',
  missing: 'The page for addresses that do not exist',
  feed: 'The feed',
  rest: 'The REST API',
  collection: 'The list of posts in the REST API',
  ajax: 'admin-ajax.php',
  robots: 'robots.txt',
};
const SHORT: Readonly<Partial<Record<PageKind, string>>> = {
  phone: '/ on a phone',
  post: 'a post',
  page: 'a page',
  archive: 'an archive',
  search: 'the search',
  missing: 'a missing page',
  feed: 'the feed',
  rest: 'the REST API',
  collection: 'posts by the REST API',
  ajax: 'admin-ajax.php',
  robots: 'robots.txt',
};

/** What URL parsers drop, wherever it stands or at the beginning: behind it, a path may begin with a scheme. */
const DROPPED = /\p{Cc}|^ /u;

/** Whether a path leads to a page below the address of any site: our look there carries the site's own login. */
export function isBelow(path: string): boolean {
  const base = 'https://example.com/folder/';
  const scheme = /^[a-z][a-z\d+.-]*:/i;
  return !DROPPED.test(path) && !scheme.test(path) && parseUrl(path, base)?.href.startsWith(base) === true;
}

/** The name under which the facts of a page are stored. No path contains `#`. */
export function keyOf({ kind, path }: LookedPage): string {
  return kind === 'phone' ? '#phone' : path;
}

/** The subject of a sentence about a page. */
export function nameOf({ kind, path }: LookedPage): string {
  return NAMES[kind] ?? (kind === 'post' || kind === 'archive' ? `The ${kind} /${path}` : `The page /${path}`);
}

/** A page in a list of those that were looked at. */
export function listedAs({ kind, path }: LookedPage): string {
  const short = SHORT[kind];
  if (short === undefined) return `/${path}`;
  return kind === 'post' || kind === 'page' || kind === 'archive' ? `${short} (/${path})` : short;
}
