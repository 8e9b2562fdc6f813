/** The pages of a site that are looked at before and after updates, and what each is called. Pure. */

import { siteWord } from '../../../../schemas/site-text.js';
import { parseUrl } from '../../../../schemas/url.js';

export type PageKind =
  | 'front'
  | 'login'
  /** Named by the caller. */
  | 'asked'
  /** The front page, as a phone gets it. */
  | 'phone'
  /** The front page and another one as visitors get them: without what makes caches and optimizers step aside. */
  | 'plain'
  | 'plain_page'
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
  | 'robots'
  /** Of a shop only. */
  | 'product'
  | 'sitemap'
  /** From here on in the guard's sandbox: the front page for a logged-in user, whether a right password is accepted, ... */
  | 'member'
  | 'password'
  | 'dashboard'
  | 'editor'
  | 'member_ajax'
  | 'member_rest';

export interface LookedPage {
  kind: PageKind;
  /** Below the site's address. */
  path: string;
}

export const FRONT: LookedPage = { kind: 'front', path: '' };
export const LOGIN: LookedPage = { kind: 'login', path: 'wp-login.php' };

/** What the guard can show as a user who exists in one request only, by its own names. Addresses are as the guard has them. */
export const SANDBOX: Readonly<Record<string, LookedPage>> = {
  front: { kind: 'member', path: '' },
  passwords: { kind: 'password', path: 'wp-login.php' },
  dashboard: { kind: 'dashboard', path: 'wp-admin/' },
  editor: { kind: 'editor', path: 'wp-admin/post.php?action=edit' },
  ajax: { kind: 'member_ajax', path: 'wp-admin/admin-ajax.php?action=logged-in' },
  rest: { kind: 'member_rest', path: '?rest_route=/wp/v2/users/me&context=edit' },
};

/** Whether a page is looked at in the guard's sandbox. */
export function isInside({ kind }: LookedPage): boolean {
  return Object.values(SANDBOX).some((page) => page.kind === kind);
}

const PLAIN: readonly PageKind[] = ['plain', 'plain_page'];
/** Those of which one is looked at as visitors get it. */
const ARTICLE: readonly PageKind[] = ['post', 'page', 'product'];

/** Whether a page is looked at as visitors get it, perhaps from a cache. */
export function isPlain({ kind }: LookedPage): boolean {
  return PLAIN.includes(kind);
}

/** Two pages of a site as visitors get them, of those that were found on it; one where none was. */
export function plainPages(found: readonly LookedPage[]): LookedPage[] {
  const article = found.find(({ kind }) => ARTICLE.includes(kind));
  const second: LookedPage[] = article === undefined ? [] : [{ kind: 'plain_page', path: article.path }];
  return [{ kind: 'plain', path: '' }, ...second];
}

const NAMES: Readonly<Partial<Record<PageKind, string>>> = {
  front: 'The front page',
  phone: 'The front page on a phone',
  plain: 'The front page that visitors get',
  search: 'The search',
  missing: 'The page for addresses that do not exist',
  feed: 'The feed',
  rest: 'The REST API',
  collection: 'The list of posts in the REST API',
  ajax: 'admin-ajax.php',
  robots: 'robots.txt',
  sitemap: 'The sitemap',
  member: 'The front page of logged-in users',
  password: 'The check of passwords',
  dashboard: 'The dashboard',
  editor: 'The editor',
  member_ajax: 'admin-ajax.php of logged-in users',
  member_rest: 'The REST API of logged-in users',
};
const SHORT: Readonly<Partial<Record<PageKind, string>>> = {
  phone: '/ on a phone',
  plain: '/ with caches',
  plain_page: 'another page with caches',
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
  product: 'a product',
  sitemap: 'the sitemap',
  member: '/ for logged-in users',
  password: 'the login with a right password',
  dashboard: 'the dashboard',
  editor: 'the editor',
  member_ajax: 'admin-ajax.php for logged-in users',
  member_rest: 'the REST API for logged-in users',
};

/** What URL parsers drop, wherever it stands or at the beginning: behind it, a path may begin with a scheme. */
const DROPPED = /\p{Cc}|^ /u;

/** A slash or backslash in an escaped form: servers that read it as one may find the folder of another site behind `..%2f`. */
const HIDDEN_SLASH = /^[^?#]*%(?:25)*(?:2f|5c)/i;

/** Whether a path leads to a page below the address of any site: our look there carries the site's own login. */
export function isBelow(path: string): boolean {
  const base = 'https://example.com/folder/';
  const scheme = /^[a-z][a-z\d+.-]*:/i;
  if (HIDDEN_SLASH.test(path)) return false;
  return !DROPPED.test(path) && !scheme.test(path) && parseUrl(path, base)?.href.startsWith(base) === true;
}

/** The name under which the facts of a page are stored. No path contains `#`. */
export function keyOf(page: LookedPage): string {
  return page.kind === 'phone' || isPlain(page) || isInside(page) ? `#${page.kind}` : page.path;
}

/** Of these a site has many. */
const ARTICLES: readonly PageKind[] = ['post', 'archive', 'product'];

/** The subject of a sentence about a page. The site chooses its paths: they are its words. */
export function nameOf({ kind, path }: LookedPage): string {
  if (kind === 'plain_page') return `The page ${siteWord(`/${path}`)} that visitors get`;
  return NAMES[kind] ?? `The ${ARTICLES.includes(kind) ? kind : 'page'} ${siteWord(`/${path}`)}`;
}

/** A page in a list of those that were looked at. */
export function listedAs({ kind, path }: LookedPage): string {
  const short = SHORT[kind];
  const place = siteWord(`/${path}`);
  if (short === undefined) return place;
  return kind === 'page' || ARTICLES.includes(kind) ? `${short} (${place})` : short;
}

/**
 * Whether an address is below that of a site, on the same server: others may have the rest of a host, its other ports, or
 * the name with `www.`.
 */
export function isOwnPlace(siteUrl: string, to: URL): boolean {
  const site = new URL(siteUrl);
  const below = to.pathname.startsWith(site.pathname) && !HIDDEN_SLASH.test(to.pathname);
  return below && to.host === site.host && !(site.protocol === 'https:' && to.protocol === 'http:');
}
