/** Checks a site from outside: its pages, bypassing caches, and whether the child plugin responds. */

import { randomBytes } from 'node:crypto';
import { parseUrl } from '../../../../schemas/url.js';
import { type CallOptions, ChildFailure } from '../../../outbound/child/port.js';
import type { SiteGuard } from '../../../outbound/guard/guards.js';
import { pooled } from '../../../runtime/pool.js';
import type { Ctx } from '../../context.js';
import { type LoadedSite, requireConnection } from '../../sites/load.js';
import { bareHost } from '../../sites/urls.js';
import {
  type Baseline,
  compare,
  doubtfulAssets,
  type Finding,
  problemsOf,
  type SiteCheck,
  TRIED,
} from './compare-health.js';
import { isFailure } from './failure-rates.js';
import { FRONT, isInside, isOwnPlace, isPlain, keyOf, LOGIN, type LookedPage, type PageKind } from './looked-pages.js';
import { factsOf, isTurnedAway, type PageFacts } from './page-facts.js';
import { withoutWithdrawn } from './withdrawn-pages.js';

const PAUSE_MS = 3_000;
/** Between two requests of a page that may fail now and then, and how many there are before. */
const SAMPLE_MS = 900;
const LOOKS_BEFORE = 2;
/** Time limit for a page of a working site. Afterwards it may take that much longer than before. */
const PAGE_TIMEOUT_MS = 20_000;
const SLOWER_MS = 8_000;
/** Within the site. */
const REDIRECTS = 3;
/** Pages that are asked for at once: some servers limit the requests of an address. */
const AT_ONCE = 4;
/** Before each look at a page that was turned away; and pages in a row that were each time, after which the others are left. */
const SLOWLY_MS = [1_000, 3_000] as const;
const ENOUGH_TURNED_AWAY = 2;
/** Name of a parameter that no cache knows. */
const FRESH = 'sitefleet';
/**
 * Page caches that ignore parameters spare visitors with one of these cookies. WordPress itself does not read them: its
 * own end with a hash of the site's address.
 */
export const UNCACHED = 'comment_author_sitefleet=1; wordpress_no_cache=1';
/** Maximum number of new scripts and styles whose existence is checked. */
const MAX_ASSETS = 20;

export type Depth = 'quick' | 'full';

export interface VisitOptions extends Pick<CallOptions, 'timeoutMs' | 'headers'> {
  /** Needed for pages in its sandbox. */
  guard?: SiteGuard | null;
}
/** How each page is visited; without one, how the child plugin is asked. */
export type HowToVisit = (page?: LookedPage) => VisitOptions;
const PATIENT: VisitOptions = { timeoutMs: PAGE_TIMEOUT_MS };
const patiently: HowToVisit = () => PATIENT;

/** The browser of a phone: themes and caches have other pages for it. */
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
/** What every browser sends: a site may compress its pages wrongly, or lead visitors by their language. */
const BROWSER = { 'accept-encoding': 'gzip', 'accept-language': 'en-US,en;q=0.9' };
/** Looked at twice before: what differs on its own is known of them, so smaller differences are judged, too. */
const TWICE: readonly PageKind[] = ['front', 'plain', 'plain_page', 'asked', 'post', 'page', 'product'];

/** Two checks, some seconds apart. `pages` are further ones of the site. */
export async function checkBefore(
  ctx: Ctx,
  target: LoadedSite,
  pages: readonly LookedPage[],
  guard: SiteGuard | null = null,
): Promise<Baseline> {
  const how: HowToVisit = () => ({ ...PATIENT, guard });
  const all = pagesOf('full', pages);
  const pause = ctx.clock.sleep(PAUSE_MS, ctx.signal);
  const between = { requests: 0, failures: 0 };
  const count = (_page: LookedPage, facts: PageFacts) => {
    if (isTurnedAway(facts)) return;
    between.requests++;
    if (isFailure(facts)) between.failures++;
  };
  const [first] = await Promise.all([
    checkSite(ctx, target, all, how),
    sample(ctx, target, { times: LOOKS_BEFORE, how, pages: () => [FRONT], count }),
    pause,
  ]);
  // What is looked at once has a second chance to answer: otherwise nothing would be known of it after the update.
  const again = all.filter((page) => TWICE.includes(page.kind) || gaveNoAnswer(first, page));
  const second = await checkSite(ctx, target, again, how, first.child !== true);
  for (const page of again) {
    if (TWICE.includes(page.kind)) continue;
    const key = keyOf(page);
    first.pages[key] = second.pages[key] as PageFacts;
    delete second.pages[key];
  }
  return { first, second, between };
}

/** Not in time. Errors that come and go are another matter. */
function gaveNoAnswer({ pages }: SiteCheck, page: LookedPage): boolean {
  const status = pages[keyOf(page)]?.status;
  return status === 0 || status === 504;
}

/** The same with those of these pages that were not looked at; each is, once. */
export async function checkMore(
  ctx: Ctx,
  target: LoadedSite,
  { first, ...others }: Baseline,
  wanted: readonly LookedPage[],
): Promise<Baseline> {
  const left = wanted.filter((page) => first.pages[keyOf(page)] === undefined);
  const { pages } = await checkSite(ctx, target, left, patiently, false);
  return { ...others, first: { ...first, pages: { ...first.pages, ...pages } } };
}

/** Requests of pages between two checks. */
export interface Samples {
  times: number;
  how: HowToVisit;
  /** Those of the next time. */
  pages: () => readonly LookedPage[];
  count: (page: LookedPage, facts: PageFacts) => void;
}

/** Looks at pages a few times, spread over the wait for the next check: some fail only now and then. */
export async function sample(ctx: Ctx, target: LoadedSite, { times, how, pages, count }: Samples): Promise<void> {
  for (let time = 0; time < times; time++) {
    await ctx.clock.sleep(SAMPLE_MS, ctx.signal);
    for (const page of pages()) count(page, await visit(ctx, target, page, how(page)));
  }
}

/** What is wrong with a site, regardless of its earlier state. A second check decides. */
export async function ailments(ctx: Ctx, target: LoadedSite): Promise<Finding[]> {
  const found = problemsOf(await checkSite(ctx, target, pagesOf('full', []), patiently));
  if (found.length === 0) return [];
  await ctx.clock.sleep(PAUSE_MS, ctx.signal);
  return problemsOf(await checkSite(ctx, target, pagesOf('full', []), patiently));
}

/** What is wrong with a site in one look of ours; with `tasks`, its scheduled tasks are run as well. */
export async function lookOnce(ctx: Ctx, target: LoadedSite, guard: SiteGuard, tasks: boolean): Promise<Finding[]> {
  const found = problemsOf(
    await checkSite(ctx, target, pagesOf('full', []), () => ({ ...PATIENT, headers: guard.look() })),
  );
  if (tasks) await runTasks(ctx, target, guard);
  return found;
}

/** The pages of a check: the quick one is cheap and most telling. `pages` are further ones of a full check. */
export function pagesOf(depth: Depth, pages: readonly LookedPage[]): readonly LookedPage[] {
  return depth === 'quick' ? [FRONT, ...pages.filter(isPlain)] : [FRONT, LOGIN, ...pages];
}

/** One check; `child` = whether the child plugin is asked. */
async function checkSite(
  ctx: Ctx,
  target: LoadedSite,
  wanted: readonly LookedPage[],
  how: HowToVisit,
  child = true,
): Promise<SiteCheck> {
  const seen = new Map<LookedPage, PageFacts>();
  const look = async (page: LookedPage) => void seen.set(page, await visit(ctx, target, page, how(page)));
  const [answers] = await Promise.all([child ? childAnswers(ctx, target, how()) : null, pooled(wanted, AT_ONCE, look)]);
  const turnedAway = (page: LookedPage) => isTurnedAway(seen.get(page) as PageFacts);
  await slowly(ctx, wanted.filter(turnedAway), look, turnedAway);
  if (answers === 'turned_away') await ctx.clock.sleep(SLOWLY_MS[0], ctx.signal);
  const again = answers === 'turned_away' ? await childAnswers(ctx, target, how()) : answers;
  return {
    at: ctx.clock.now(),
    pages: Object.fromEntries(wanted.map((page) => [keyOf(page), seen.get(page) as PageFacts])),
    child: again === 'turned_away' ? null : again,
  };
}

/**
 * Looks at pages again that were turned away, one after the other: what a limit of requests did to them says nothing of the
 * site. If the first ones are turned away each time, it is none.
 */
async function slowly(
  ctx: Ctx,
  pages: readonly LookedPage[],
  look: (page: LookedPage) => Promise<void>,
  turnedAway: (page: LookedPage) => boolean,
): Promise<void> {
  let inRow = 0;
  for (const page of pages) {
    if (inRow === ENOUGH_TURNED_AWAY) return;
    for (const pause of SLOWLY_MS) {
      if (!turnedAway(page)) break;
      await ctx.clock.sleep(pause, ctx.signal);
      await look(page);
    }
    inRow = turnedAway(page) ? inRow + 1 : 0;
  }
}

export interface Comparison {
  findings: Finding[];
  /** No page responded at all: the site is down, or our own network. */
  silent: boolean;
  /** It says itself that it is away for a while, and nothing else is wrong: an update may be moving its data. */
  away: boolean;
  /** What was seen, by `keyOf`. */
  seen: SiteCheck['pages'];
}

export interface CheckOptions {
  depth: Depth;
  /** Whether the child plugin is asked. */
  child: boolean;
  /** Pages that were looked at a moment ago. */
  known?: SiteCheck['pages'] | undefined;
}

/**
 * Compares pages of a site with how they were before the update; with full depth also checks scripts and styles that are
 * new, or of the updated items. The guard recognizes the requests as ours.
 */
export async function checkAgain(
  ctx: Ctx,
  target: LoadedSite,
  guard: SiteGuard | null,
  before: Baseline,
  pages: readonly LookedPage[],
  { depth, child, known = {} }: CheckOptions,
): Promise<Comparison> {
  const unseen = pages.filter((page) => known[keyOf(page)] === undefined);
  const how = visitsAfter(before, guard);
  const now = await checkSite(ctx, target, unseen, how, child);
  now.pages = { ...known, ...now.pages };
  const read = (path: string) =>
    ctx.child.page(requireConnection(target), new URL(fresh(path), target.site.url).href, {
      signal: ctx.signal,
      timeoutMs: PAGE_TIMEOUT_MS,
      headers: { cookie: UNCACHED, ...how().headers },
    });
  const findings = await withoutWithdrawn(compare(before, now, pages), target, pages, now, read);
  const silent = Object.values(now.pages).every(({ status }) => status === 0);
  const away = isAway(before, now, findings);
  if (depth === 'quick' || findings.some(({ severity }) => severity === 'broken'))
    return { findings, silent, away, seen: now.pages };
  return {
    findings: [...findings, ...(await missingAssets(ctx, target, doubtfulAssets(before, now)))],
    silent,
    away,
    seen: now.pages,
  };
}

/**
 * How pages are visited after an update: each may take some time longer than before. How long the child plugin took before is
 * not known: where it fails it answers soon, and a slow answer is one.
 */
export function visitsAfter({ first, second }: Baseline, guard: SiteGuard | null): HowToVisit {
  const headers = guard?.look();
  const all = Object.values(second.pages).map(({ ms }) => ms);
  return (page) => {
    if (page === undefined || all.length === 0) return { timeoutMs: PAGE_TIMEOUT_MS, headers, guard };
    const own = [first, second].flatMap(({ pages }) => pages[keyOf(page)]?.ms ?? []);
    const longest = Math.max(...(own.length > 0 ? own : all), 0);
    return { timeoutMs: Math.min(SLOWER_MS + longest, PAGE_TIMEOUT_MS), headers, guard };
  };
}

function isAway(before: Baseline, now: SiteCheck, findings: readonly Finding[]): boolean {
  const away = Object.keys(now.pages).filter((key) => now.pages[key]?.away === true && !before.second.pages[key]?.away);
  const also = (path: string | null) => path === null || away.includes(path);
  return away.length > 0 && findings.every(({ severity, path }) => severity !== 'broken' || also(path));
}

/** Runs the scheduled tasks of WordPress, as any visit does; what fails in them is recorded by the guard. */
export async function runTasks(ctx: Ctx, target: LoadedSite, guard: SiteGuard): Promise<void> {
  await visit(
    ctx,
    target,
    { kind: 'asked', path: 'wp-cron.php' },
    { timeoutMs: PAGE_TIMEOUT_MS, headers: guard.look() },
  );
}

/**
 * Loads the administration as any visitor may, unmarked: what a new version does there once is done before it is looked
 * at where nothing can be stored. If it fails, it is requested again as a request of ours, so that what the guard records is
 * not taken for the word of a visitor: the sandbox shows the same address to logged-in users only.
 */
export async function loadAdmin(ctx: Ctx, target: LoadedSite, guard: SiteGuard | null): Promise<void> {
  // Without an action WordPress ends before `admin_init`. This one is for members only, and does nothing.
  const page: LookedPage = { kind: 'ajax', path: 'wp-admin/admin-ajax.php?action=logged-in' };
  const { status } = await visit(ctx, target, page, PATIENT);
  if (status >= 500 && guard !== null) await visit(ctx, target, page, { ...PATIENT, headers: guard.look() });
}

/** What the first of these scripts and styles of a site answer, by path; 0 = nothing. */
export async function assetStatuses(
  ctx: Ctx,
  target: LoadedSite,
  assets: readonly string[],
): Promise<Map<string, number>> {
  const { origin } = new URL(target.site.url);
  const statuses = new Map<string, number>();
  await pooled(assets.slice(0, MAX_ASSETS), AT_ONCE, async (asset) => {
    const { status } = await ctx.child.page(requireConnection(target), `${origin}${asset}`, {
      signal: ctx.signal,
      timeoutMs: SLOWER_MS,
    });
    statuses.set(asset, status);
  });
  return statuses;
}

async function missingAssets(ctx: Ctx, target: LoadedSite, assets: readonly string[]): Promise<Finding[]> {
  const statuses = [...(await assetStatuses(ctx, target, assets)).values()];
  const missing = statuses.some((status) => status === 0 || (status >= 400 && !isTurnedAway({ status })));
  return missing ? [{ severity: 'suspect', path: '', what: 'A page uses a script or style that does not exist.' }] : [];
}

/** A page as a visitor reaches it: redirects within the site are followed. */
async function visit(
  ctx: Ctx,
  target: LoadedSite,
  page: LookedPage,
  { guard, ...options }: VisitOptions,
): Promise<PageFacts> {
  const plain = isPlain(page);
  const browser = {
    ...(page.kind === 'phone' && { 'user-agent': PHONE }),
    ...((plain || page.kind === 'phone') && BROWSER),
  };
  let address = new URL(plain ? page.path : fresh(page.path), target.site.url);
  if (isInside(page)) {
    // Each request is signed for its address, so no redirect is followed.
    const { headers, nonce } = guard?.session(address) ?? { headers: {}, nonce: '' };
    const made = await ctx.child.page(requireConnection(target), address.href, {
      signal: ctx.signal,
      ...options,
      headers: { cookie: UNCACHED, ...options.headers, ...headers },
    });
    // A plugin that hides the login answers before a password can be tried.
    const tried = page.kind !== 'password' || made.body.startsWith(TRIED);
    return factsOf(made, address.href, tried ? nonce : undefined);
  }
  let redirected = '';
  for (let hop = 0; ; hop++) {
    const made = await ctx.child.page(requireConnection(target), address.href, {
      signal: ctx.signal,
      ...options,
      // Who sees the mark of our looks can pass for us for some minutes, and without TLS anyone may read it.
      headers: {
        ...(!plain && { cookie: UNCACHED }),
        ...browser,
        ...(isOwnPlace(target.site.url, address) ? options.headers : {}),
      },
    });
    const facts = factsOf(made, address.href);
    const next =
      hop < REDIRECTS && made.status >= 300 && made.status < 400 ? sameHost(made.location, address, plain) : null;
    if (next === null) return { ...facts, location: facts.location === '' ? redirected : facts.location };
    redirected = facts.location;
    address = next;
  }
}

/** The target of a redirect that stays on the site, bypassing caches unless `plain`; null if it leaves it. */
function sameHost(location: string, from: URL, plain: boolean): URL | null {
  const to = location === '' ? null : parseUrl(location, from.href);
  if (to === null) return null;
  if (!/^https?:$/.test(to.protocol) || bareHost(to.hostname) !== bareHost(from.hostname)) return null;
  if (!plain && !to.searchParams.has(FRESH)) to.searchParams.set(FRESH, randomBytes(6).toString('hex'));
  return to;
}

/** Adds a parameter that no cache knows: a cached page would hide that the site is broken. */
export function fresh(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${FRESH}=${randomBytes(6).toString('hex')}`;
}

/** Unsigned, so it is cheap and changes nothing: WordPress loads every plugin to respond. */
async function childAnswers(ctx: Ctx, target: LoadedSite, options: VisitOptions): Promise<boolean | 'turned_away'> {
  const connection = requireConnection(target);
  try {
    await ctx.child.connectionState(connection, connection.user, { signal: ctx.signal, ...options });
    return true;
  } catch (error) {
    if (!(error instanceof ChildFailure) || error.kind === 'cancelled') throw error;
    return isTurnedAway({ status: error.httpStatus, away: error.kind === 'maintenance' }) && 'turned_away';
  }
}
