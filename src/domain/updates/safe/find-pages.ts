/** Finds pages that stand for the others of a site: a post, a page, an archive, and the fixed addresses of WordPress. */

import { parseUrl } from '../../../../schemas/url.js';
import type { Ctx } from '../../context.js';
import { type LoadedSite, requireConnection } from '../../sites/load.js';
import { bareHost } from '../../sites/urls.js';
import type { Baseline } from './compare-health.js';
import { isBelow, keyOf, type LookedPage, type PageKind } from './looked-pages.js';
import { isVisitors, shownMarkup } from './page-markup.js';
import { attribute } from './tag-attributes.js';

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
/** A post names the archive that it is in. */
const POSTS = '?rest_route=/wp/v2/posts&per_page=3&_embed=wp:term&_fields=link,_links,_embedded';
const PAGES = '?rest_route=/wp/v2/pages&per_page=3&_fields=link';
/** Of WordPress, and of most plugins that make one. */
const SITEMAPS = ['wp-sitemap.xml', 'sitemap_index.xml'] as const;
/** How long found pages are used before they are searched for again. */
const KEPT_MS = 7 * 24 * 3_600_000;
const TIMEOUT_MS = 10_000;
const LINK = /<a\b([^<>]{0,1000})>/gi;
/** An address that may change something, or shows each visitor something else. */
const CHANGES =
  /wp-(?:admin|login)|log-?(?:in|out)|sign-?(?:in|out)|register|account|cart|checkout|basket|action|delete|download|feed/i;
/** Parameters of WordPress without permalinks. */
const PLAIN = /^(?:(?:p|page_id|cat)=\d{1,10}|product=[\w%-]{1,200})$/;

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
  const [posts, pages] = await Promise.all([POSTS, PAGES].map(async (route) => listOf(await read(ctx, target, route))));
  const found = [
    ...firstOf('post', (posts ?? []).map(linkOf), target),
    ...firstOf('page', (pages ?? []).map(linkOf), target),
    ...firstOf('archive', (posts ?? []).flatMap(archivesOf), target),
  ];
  if (found.length > 0) return found;
  const mapped = await pagesOfSitemap(ctx, target);
  return mapped.length > 0 ? mapped : linkedPages(await read(ctx, target, ''), target);
}

/** The first of these addresses that may be looked at. */
function firstOf(kind: PageKind, links: readonly string[], target: LoadedSite): LookedPage[] {
  const path = links.map((link) => pathOf(link, target)).find((one) => one !== null);
  return path === undefined || path === null ? [] : [{ kind, path }];
}

/** Where the REST interface is closed: one page of each kind that the sitemap lists. */
async function pagesOfSitemap(ctx: Ctx, target: LoadedSite): Promise<LookedPage[]> {
  for (const path of SITEMAPS) {
    const parts = locationsOf(await read(ctx, target, path));
    if (parts.length === 0) continue;
    const lists = await Promise.all(
      SITEMAP_KINDS.map(async ([kind, name]) => {
        const part = parts.find((one) => name.test(one) && isOwn(one, target));
        return part === undefined ? [] : firstOf(kind, locationsOf(await read(ctx, target, part)), target);
      }),
    );
    return lists.flat();
  }
  return [];
}

/** As WordPress and the plugins call the parts of a sitemap. */
const SITEMAP_KINDS: readonly (readonly [PageKind, RegExp])[] = [
  ['post', /\bposts?-(?:post-|sitemap)[^/]{0,20}\.xml$/i],
  ['page', /\b(?:posts-)?page-[^/]{0,20}\.xml$/i],
  ['archive', /\b(?:taxonomies-)?category-[^/]{0,20}\.xml$/i],
];
const MOST_LOCATIONS = 50;

function locationsOf(body: string): string[] {
  const found: string[] = [];
  for (const [, address = ''] of body.matchAll(/<loc>\s{0,20}([^<\s]{1,500})\s{0,20}<\/loc>/gi)) {
    found.push(address.replaceAll('&amp;', '&'));
    if (found.length === MOST_LOCATIONS) break;
  }
  return found;
}

async function read(ctx: Ctx, target: LoadedSite, path: string): Promise<string> {
  const address = new URL(path, target.site.url).href;
  const options = { signal: ctx.signal, timeoutMs: TIMEOUT_MS };
  const { status, body } = await ctx.child.page(requireConnection(target), address, options);
  return status === 200 ? body : '';
}

type Listed = { link?: unknown; _embedded?: { 'wp:term'?: unknown } } | null;

function listOf(body: string): Listed[] {
  try {
    const items: unknown = JSON.parse(body);
    return Array.isArray(items) ? (items as Listed[]) : [];
  } catch {
    return [];
  }
}

function linkOf(item: Listed): string {
  return typeof item?.link === 'string' ? item.link : '';
}

function archivesOf(post: Listed): string[] {
  const terms = post?._embedded?.['wp:term'];
  return Array.isArray(terms) ? (terms.flat() as Listed[]).map(linkOf) : [];
}

/**
 * Where the REST interface is closed: the first two pages that the front page leads to, by links that no visitor has
 * left: who chooses a page could have an update undone by removing it.
 */
function linkedPages(body: string, target: LoadedSite): LookedPage[] {
  const paths = new Set<string>();
  for (const [, attributes = ''] of shownMarkup(body).matchAll(LINK)) {
    const link = isVisitors(attributes) ? '' : attribute(attributes, 'href');
    const path = pathOf(link.replaceAll('&amp;', '&').replaceAll('&#038;', '&'), target);
    if (path !== null) paths.add(path);
    if (paths.size === 2) break;
  }
  return [...paths].map((path) => ({ kind: 'page', path }));
}

function isOwn(link: string, { site }: LoadedSite): boolean {
  const own = new URL(site.url);
  const url = parseUrl(link, site.url);
  if (url === null || !/^https?:$/.test(url.protocol) || bareHost(url.hostname) !== bareHost(own.hostname))
    return false;
  return url.port === own.port && url.pathname.startsWith(own.pathname);
}

/**
 * Below the address of the site; null for the front page, another site, and what may change something.
 * @param shop pages of a shop that are known to change nothing are fine
 */
export function pathOf(link: string, target: LoadedSite, shop = false): string | null {
  const own = new URL(target.site.url);
  const url = link === '' || !isOwn(link, target) ? null : parseUrl(link, target.site.url);
  if (url === null) return null;
  const path = `${url.pathname.slice(own.pathname.length)}${url.search}`;
  // `/https://other.example/` is a page of the site; what is left of it as a path is another site.
  if (!isBelow(path)) return null;
  const query = url.search.slice(1);
  if (path === '' || path.length > 300 || (!shop && CHANGES.test(path))) return null;
  return query === ''
    ? /\.(?!html?$|php$)\w{1,8}$/i.test(url.pathname)
      ? null
      : path
    : PLAIN.test(query)
      ? path
      : null;
}
