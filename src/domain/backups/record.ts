/** Records the state of a site during a backup, for trial restores to compare with: its front page, and what its guard counts. */

import { parseUrl } from '../../../schemas/url.js';
import { ChildFailure } from '../../outbound/child/port.js';
import { GuardFailure } from '../../outbound/guard/failure.js';
import type { GuardLedger } from '../../outbound/guard/guards.js';
import type { Ctx } from '../context.js';
import { type LoadedSite, requireConnection } from '../sites/load.js';
import { bareHost } from '../sites/urls.js';
import { factsOf } from '../updates/safe/page-facts.js';
import { fresh, UNCACHED } from '../updates/safe/probe.js';
import type { OpenPlugin } from './plugin.js';

/** What a visitor sees there. */
interface FrontPage {
  status: number;
  /** '' = the page has none, but an end. */
  title: string;
  /** Where it is, after redirects within the site. */
  url: string;
}

/** What is to be found again in a restored copy. Null is unknown: `unknown` says why, and it is not compared. */
export interface SiteRecord {
  front: FrontPage | null;
  /** Up to 1,000; 1,001 = more. */
  posts: number | null;
  users: number | null;
  /** Without transients. */
  options: number | null;
  active_plugins: string[] | null;
  /** Tables that had rows. */
  filled: string[] | null;
  php: string;
  unknown: string[];
}

interface Looked {
  front: FrontPage | string;
  ledger: GuardLedger | string;
  php: string;
}

/** So many rows are counted; one more means more. */
export const COUNTED_ROWS = 1_001;
const PAGE_MS = 20_000;
const REDIRECTS = 3;
/** Names of tables that are kept. */
const MOST_TABLES = 500;

/**
 * Looks at the site. What cannot be seen is a text that says why: a backup never fails by that.
 * @param turn is waited for before each request
 */
export async function lookAtSite(
  ctx: Ctx,
  target: LoadedSite,
  { guard, hello }: OpenPlugin,
  turn: () => Promise<void>,
): Promise<Looked> {
  await turn();
  const front = await frontPage(ctx, target);
  await turn();
  return { front, ledger: await ledgerOf(ctx, guard), php: hello.php };
}

async function frontPage(ctx: Ctx, target: LoadedSite): Promise<FrontPage | string> {
  let address = new URL(fresh(''), target.site.url);
  for (let hop = 0; hop <= REDIRECTS; hop++) {
    const page = await ctx.child.page(requireConnection(target), address.href, {
      signal: ctx.signal,
      timeoutMs: PAGE_MS,
      headers: { cookie: UNCACHED },
    });
    const next = page.status >= 300 && page.status < 400 ? parseUrl(page.location, address.href) : null;
    if (next !== null && bareHost(next.hostname) === bareHost(address.hostname)) {
      address = next;
      continue;
    }
    if (page.status !== 200) return page.status === 0 ? 'it did not answer' : `it answered with HTTP ${page.status}`;
    address.searchParams.delete('sitefleet');
    const { title, whole } = factsOf(page, address.href);
    if (title === '' && !whole) return 'it has no title and is cut off';
    return { status: page.status, title, url: address.href };
  }
  return 'it redirects too often';
}

async function ledgerOf(ctx: Ctx, guard: OpenPlugin['guard']): Promise<GuardLedger | string> {
  try {
    return await guard.ledger({ signal: ctx.signal });
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof GuardFailure || error instanceof ChildFailure)) throw error;
    return 'the guard could not count';
  }
}

/** What is known of the whole time of a backup: what was the same at its beginning and at its end. */
export function recordOf(began: Looked, ended: Looked): SiteRecord {
  const unknown: string[] = [];
  const same = <T>(name: string, one: T | string | null, two: T | string | null): T | null => {
    const why =
      typeof one === 'string'
        ? one
        : typeof two === 'string'
          ? two
          : one === null || two === null
            ? 'not counted'
            : null;
    const changed = JSON.stringify(one) !== JSON.stringify(two);
    if (why === null && !changed) return one as T;
    unknown.push(`${name}: ${why ?? 'it changed while the site was read'}`);
    return null;
  };
  const of = <T>(looked: Looked, read: (ledger: GuardLedger) => T): T | string =>
    typeof looked.ledger === 'string' ? looked.ledger : read(looked.ledger);
  const counted = <T>(name: string, read: (ledger: GuardLedger) => T | null) =>
    same<T>(name, of(began, read), of(ended, read));
  const rows = (table: string) => (ledger: GuardLedger) =>
    ledger.tables.find(({ name }) => name === `${ledger.prefix}${table}`)?.rows ?? null;
  const filled = (ledger: GuardLedger) =>
    ledger.tables.flatMap(({ name, rows }) => (rows !== null && rows > 0 ? name : []));
  const later = of(ended, filled);
  const before = of(began, filled);
  return {
    front: same('front page', began.front, ended.front),
    posts: counted('posts', rows('posts')),
    users: counted('users', rows('users')),
    options: counted('options', ({ options }) => options),
    active_plugins: counted('active plugins', ({ active }) => [...active].sort()),
    // Tables come and go: those that had rows at both times.
    filled:
      typeof before === 'string' || typeof later === 'string'
        ? null
        : before.filter((name) => later.includes(name)).slice(0, MOST_TABLES),
    php: ended.php,
    unknown,
  };
}
