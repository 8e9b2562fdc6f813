/** Tells a post or page that somebody took off the site from one that fails: anyone who writes posts may do so at any time. */

import type { Page } from '../../../outbound/child/port.js';
import { parsedOrNull } from '../../../runtime/plain-json.js';
import type { LoadedSite } from '../../sites/load.js';
import type { Finding, SiteCheck } from './compare-health.js';
import { pathOf } from './find-pages.js';
import { keyOf, type LookedPage, type PageKind } from './looked-pages.js';

/** The newest ones, of which the pages that are looked at were found. */
const LISTS: Readonly<Partial<Record<PageKind, string>>> = {
  post: '?rest_route=/wp/v2/posts&per_page=100&_fields=link',
  page: '?rest_route=/wp/v2/pages&per_page=100&_fields=link',
};
const GONE: readonly number[] = [404, 410];

/**
 * The findings, of which one that a single post or page is gone no longer counts if the site does not list it any more. If
 * several are gone, it is more than one person's decision.
 * @param read a page of the site, past its caches
 */
export async function withoutWithdrawn(
  findings: Finding[],
  target: LoadedSite,
  pages: readonly LookedPage[],
  now: SiteCheck,
  read: (path: string) => Promise<Page>,
): Promise<Finding[]> {
  const gone = pages.filter((page) => GONE.includes(now.pages[keyOf(page)]?.status ?? 0));
  const [page, ...others] = gone.filter((one) => findings.some(({ path }) => path === keyOf(one)));
  const list = page === undefined ? undefined : LISTS[page.kind];
  if (page === undefined || list === undefined || others.length > 0) return findings;
  const { status, body, cut } = await read(list);
  const listed = status === 200 && !cut ? parsedOrNull(body) : null;
  if (!Array.isArray(listed)) return findings;
  const paths = listed.map((item: { link?: unknown } | null) =>
    typeof item?.link === 'string' ? pathOf(item.link, target) : null,
  );
  if (paths.includes(page.path)) return findings;
  return findings.map((finding) =>
    finding.path === keyOf(page)
      ? { ...finding, severity: 'suspect', what: `${finding.what} The site no longer lists it.`, hearsay: true }
      : finding,
  );
}
