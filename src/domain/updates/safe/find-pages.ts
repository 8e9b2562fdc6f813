/** Finds pages that stand for the others of a site: a post, a page, an archive, and the fixed addresses of WordPress. */

import { parseUrl } from '../../../../schemas/url.js';
import type { Ctx } from '../../context.js';
import { type LoadedSite, requireConnection } from '../../sites/load.js';
import { bareHost } from '../../sites/urls.js';
import type { Baseline } from './compare-health.js';
import { isBelow, keyOf, type LookedPage, type PageKind } from './looked-pages.js';
import { isVisitors, shownMarkup } from './page-markup.js';

/** Of every WordPress. None changes anything. */
const FIXED: readonly LookedPage[] = [
  { kind: 'phone', path: '' },
  { kind: 'search', path: '?s=a' },
  { kind: 'missing', path: '?p=2147483647' },
  { kind: 'feed', path: '?feed=rss2' },
  { kind: 'rest', path: '?rest_route=/&_fields=name,namespaces' },
  { kind: 'collection', path: '?rest_route=/wp/v2/posts&per_page=1&_fields=id,title' },
  { kind: 'ajax', path: 'wp-admin/admin-ajax.php' },
  { kind: 'robots', path: 'robots.txt' },
];
const COLLECTIONS = { post: 'posts', page: 'pages', archive: 'categories' } as const satisfies Partial<
  Record<PageKind, string>
>;
/** How long found pages are used before they are searched for again. */
const KEPT_MS = 7 * 24 * 3_600_000;
const TIMEOUT_MS = 10_000;
const LINK = /<a\b([^<>]{0,1000})>/gi;
const HREF = /\bhref=["']([^"'<>]{1,500})["']/i;
/** An address that may change something, or shows each visitor something else. */
const CHANGES =
  /wp-(?:admin|login)|log-?(?:in|out)|sign-?(?:in|out)|register|account|cart|checkout|basket|action|delete|download|feed/i;
/** Parameters of WordPress without permalinks. */
const PLAIN = /^(?:p|page_id|cat)=\d{1,10}$/;

/** The pages to look at besides the front page and the login. Searched for once a week. */
export async function pagesOfSite(ctx: Ctx, target: LoadedSite): Promise<LookedPage[]> {
  const now = ctx.clock.now();
  const known = await ctx.store.sitePages.find(target.site.id, now - KEPT_MS);
  if (known !== null) return [...FIXED, ...(JSON.parse(known) as LookedPage[])];
  const found = await findPages(ctx, target);
  await ctx.store.sitePages.save(target.site.id, JSON.stringify(found), now);
  return [...FIXED, ...found];
}

/** Pages that are gone are searched for again next time. */
export async function forgetGone(ctx: Ctx, { site }: LoadedSite, { second }: Baseline): Promise<void> {
  const pages = await ctx.store.sitePages.find(site.id, 0);
  const found = JSON.parse(pages ?? '[]') as LookedPage[];
  if (found.some((page) => (second.pages[keyOf(page)]?.status ?? 0) >= 400)) await ctx.store.sitePages.forget(site.id);
}

async function findPages(ctx: Ctx, target: LoadedSite): Promise<LookedPage[]> {
  const kinds = Object.keys(COLLECTIONS) as (keyof typeof COLLECTIONS)[];
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const route = `?rest_route=/wp/v2/${COLLECTIONS[kind]}&per_page=3&_fields=link`;
      const paths = linksOf(await read(ctx, target, route)).flatMap((link) => pathOf(link, target) ?? []);
      return { kind, path: paths[0] };
    }),
  );
  const found = lists.flatMap(({ kind, path }) => (path === undefined ? [] : [{ kind, path }]));
  return found.length > 0 ? found : linkedPages(await read(ctx, target, ''), target);
}

async function read(ctx: Ctx, target: LoadedSite, path: string): Promise<string> {
  const address = new URL(path, target.site.url).href;
  const options = { signal: ctx.signal, timeoutMs: TIMEOUT_MS };
  const { status, body } = await ctx.child.page(requireConnection(target), address, options);
  return status === 200 ? body : '';
}

function linksOf(body: string): string[] {
  try {
    const items: unknown = JSON.parse(body);
    if (!Array.isArray(items)) return [];
    return items.flatMap((item: { link?: unknown } | null) => (typeof item?.link === 'string' ? [item.link] : []));
  } catch {
    return [];
  }
}

/**
 * Where the REST interface is closed: the first two pages that the front page leads to, by links that no visitor has
 * left: who chooses a page could have an update undone by removing it.
 */
function linkedPages(body: string, target: LoadedSite): LookedPage[] {
  const paths = new Set<string>();
  for (const [, attributes = ''] of shownMarkup(body).matchAll(LINK)) {
    const link = isVisitors(attributes) ? '' : (HREF.exec(attributes)?.[1] ?? '');
    const path = pathOf(link.replaceAll('&amp;', '&').replaceAll('&#038;', '&'), target);
    if (path !== null) paths.add(path);
    if (paths.size === 2) break;
  }
  return [...paths].map((path) => ({ kind: 'page', path }));
}

/** Below the address of the site; null for the front page, another site, and what may change something. */
function pathOf(link: string, { site }: LoadedSite): string | null {
  const own = new URL(site.url);
  const url = parseUrl(link, site.url);
  if (url === null || !/^https?:$/.test(url.protocol) || bareHost(url.hostname) !== bareHost(own.hostname)) return null;
  if (url.port !== own.port || !url.pathname.startsWith(own.pathname)) return null;
  const path = `${url.pathname.slice(own.pathname.length)}${url.search}`;
  // `/https://other.example/` is a page of the site; what is left of it as a path is another site.
  if (!isBelow(path)) return null;
  const query = url.search.slice(1);
  if (path === '' || path.length > 300 || CHANGES.test(path)) return null;
  return query === ''
    ? /\.(?!html?$|php$)\w{1,8}$/i.test(url.pathname)
      ? null
      : path
    : PLAIN.test(query)
      ? path
      : null;
}
