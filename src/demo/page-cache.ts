/** A page cache in front of a site, as hosts configure it: it ignores parameters, and spares visitors with cookies of WordPress. */

import type { Answer } from './http-answer.js';
import type { DemoSite } from './site.js';

interface PageRequest {
  method: string;
  /** Below the site's address. */
  path: string;
  cookie?: string | undefined;
  /** It has parameters. */
  asks: boolean;
}

/** Cookies of visitors for whom WordPress may make a page of their own. */
const PERSONAL = /(?:^|;\s*)(?:comment_author|wordpress_logged_in|wp-postpass)_/;

const PAGES = new WeakMap<DemoSite, Map<string, Answer>>();

/** The cached page of this request, or the one that the site makes now and the cache keeps. */
export function cached(site: DemoSite, request: PageRequest, make: () => Answer): Answer {
  const skipped = request.method !== 'GET' || /^wp-(?:admin|login)/.test(request.path);
  const asked = site.faults.pageCache !== true && request.asks;
  if (!site.faults.pageCache || skipped || asked || PERSONAL.test(request.cookie ?? '')) return make();
  const pages = PAGES.get(site) ?? new Map<string, Answer>();
  PAGES.set(site, pages);
  const known = pages.get(request.path);
  if (known !== undefined) return known;
  const made = make();
  if (made.status === 200) pages.set(request.path, made);
  return made;
}

/** As a person, or a plugin, empties it. */
export function emptyCache(site: DemoSite): void {
  PAGES.delete(site);
}
