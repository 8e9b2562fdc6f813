/** Site URLs: the stored form, and the identifying form (operations §4.1). Pure. */

import { hasLogin, parseUrl } from '../../../schemas/url.js';
import { ServiceError } from '../../runtime/errors.js';
import { withRealDomains } from '../../runtime/real-domains.js';

export interface StoredUrl {
  /** Scheme, host, port, path, one trailing slash. */
  url: string;
  /**
   * The same without scheme, default port and a leading `www.`: identifies the site and determines the order of lists.
   */
  url_key: string;
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const MAX_URL = 2048;

/** The form in which a new site is stored. Throws `svc_invalid_url` naming the problem. */
export function storedUrl(text: string): StoredUrl {
  const trimmed = text.trim();
  const wrong = (what: string) =>
    new ServiceError('svc_invalid_url', `url ${what}.`, {
      field: 'url',
      advice: 'Send the full URL of the site, such as https://example.com/.',
    });
  if (trimmed.length > MAX_URL) throw wrong(`is longer than ${MAX_URL} characters`);
  if (!SCHEME.test(trimmed)) throw wrong('needs a scheme: http:// or https://');
  const parsed = parseUrl(trimmed);
  if (parsed === null) throw wrong('is not a valid URL');
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') throw wrong('must start with http:// or https://');
  if (hasLogin(trimmed)) throw wrong('must not contain a login: use http_user and http_pass');
  const path = folderOf(parsed.pathname);
  return { url: `${parsed.protocol}//${parsed.host}${path}`, url_key: `${bareHost(parsed.host)}${path}` };
}

export interface UrlReference {
  /** Full URL if the caller wrote a scheme: an exact match takes precedence over several matches of the key. */
  exact: string | null;
  url_key: string;
}

/** A domain or URL as a caller writes it; null if it cannot name any site. */
export function urlReference(text: string): UrlReference | null {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > MAX_URL) return null;
  const hasScheme = SCHEME.test(trimmed);
  const parsed = parseUrl(hasScheme ? trimmed : `http://${trimmed}`);
  if (parsed === null || parsed.host === '') return null;
  const path = folderOf(parsed.pathname);
  return {
    exact: hasScheme ? `${parsed.protocol}//${parsed.host}${path}` : null,
    url_key: `${bareHost(parsed.host)}${path}`,
  };
}

/**
 * The stored URL with `www.` added or removed as the child reports it, or null if anything else differs
 * (operations §4.1).
 */
export function withChildsWww(stored: string, reported: string | undefined): StoredUrl | null {
  if (reported === undefined) return null;
  const ours = parseUrl(stored);
  const theirs = parseUrl(reported);
  if (ours === null || theirs === null || ours.host === theirs.host) return null;
  if (bareHost(ours.host) !== bareHost(theirs.host) || withSlash(theirs.pathname) !== ours.pathname) return null;
  return storedUrl(`${ours.protocol}//${theirs.host}${ours.pathname}`);
}

/**
 * The address of a site that is being added, corrected by what its child reports: as `withChildsWww`, and without folders
 * in which WordPress is not installed, though it answers there as well.
 */
export function ownAddress(typed: StoredUrl, reported: string | undefined): StoredUrl {
  const ours = parseUrl(typed.url);
  const theirs = parseUrl(reported ?? '');
  if (ours === null || theirs === null || bareHost(ours.host) !== bareHost(theirs.host)) return typed;
  const root = withSlash(theirs.pathname);
  return ours.pathname.startsWith(root) ? storedUrl(`${ours.protocol}//${theirs.host}${root}`) : typed;
}

export function hostOf(url: string): string {
  return parseUrl(url)?.hostname ?? '';
}

/** The host in its own script: `bücher.example` for the encoded `xn--bcher-kva.example`. For display only. */
export function shownHost(url: string): string {
  return withRealDomains(hostOf(url));
}

/** How people name a site: `bücher.example/blog`, without scheme, `www.` and the slash at the end. For display only. */
export function siteAddress(url: string): string {
  return withRealDomains(url)
    .replace(/^https?:\/\/(www\.)?/, '')
    .replace(/\/$/, '')
    .slice(0, 70);
}

/** A host, with or without its port, without `www.`. */
export function bareHost(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host;
}

/** Pages of every WordPress, whose addresses people copy: the site is in the folder above. */
const PAGE = /\/(?:wp-admin(?:\/.*)?|wp-login\.php|index\.php)$/i;

function folderOf(path: string): string {
  return withSlash(withSlash(path).slice(0, -1).replace(PAGE, ''));
}

function withSlash(path: string): string {
  // A loop, because a pattern would take quadratic time for a run of slashes elsewhere.
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return `${path.slice(0, end)}/`;
}
