/** A safe run: items of one site that are updated one by one, with everything needed to roll each back. */

import type { GuardLedger, SiteGuard } from '../../../outbound/guard/guards.js';
import type { ChangeFields, ChangeRow, Protection } from '../../../store/safety/changes.js';
import type { Ctx } from '../../context.js';
import type { LoadedSite } from '../../sites/load.js';
import type { SuspectPolicy } from '../params.js';
import { type Applied, type ApplyError, UPDATE_TYPES, type UpdateType } from '../results.js';
import type { Baseline, SiteCheck } from './compare-health.js';
import type { LedgerFinding } from './compare-ledgers.js';
import type { ShopBefore } from './compare-shops.js';
import { isPlain, keyOf, type LookedPage } from './looked-pages.js';
import type { PlaceBefore, SeenAfter, SeenBefore } from './seen-pages.js';

/** What another process needs to finish the run; stored as JSON. */
export interface RunFacts {
  on_suspect: SuspectPolicy;
  /** Further pages of the site to check. */
  paths: readonly string[];
  /** Pages that were found on the site, besides the fixed ones; absent where nothing is compared with how it was before. */
  pages?: readonly LookedPage[];
  before: Baseline;
  /** Slugs of the plugins that were active before; absent = not known. */
  active?: readonly string[];
  /** What was beside the items before the first of them; absent or null = not known. */
  ledger?: GuardLedger | null;
  /** Its shop; absent or null = there is none, or nothing could be bought there. */
  shop?: ShopBefore | null;
}

export interface SafeItem {
  change: string;
  type: UpdateType;
  slug: string;
  name: string;
  old_version: string;
  new_version: string;
  protection: Protection;
  snapshot: string | null;
  /** From when fatal errors count, in unix seconds of the site's clock. */
  faults_since: number | null;
  /** Unix milliseconds. */
  updated_at: number | null;
  applied: Applied | null;
  /** The error reported by the update itself. */
  error: ApplyError | null;
  /** The update was sent but never answered: a process may still be working on the site. */
  unanswered: boolean;
  /** A process was stopped while it was restoring the old version. */
  restoring: boolean;
  /** What was beside the items before this one; null = not known. */
  ledger: GuardLedger | null;
  /** What it has changed besides its own files. */
  outside: readonly LedgerFinding[];
}

/** An item with which nothing was done yet. */
export const UNTRIED = {
  snapshot: null,
  faults_since: null,
  updated_at: null,
  applied: null,
  error: null,
  unanswered: false,
  restoring: false,
  ledger: null,
  outside: [],
} as const satisfies Partial<SafeItem>;

/** Why the rest of a run is left. */
export const UNTRIED_ON_BROKEN = 'It was not tried: the site is unhealthy after the previous update.';

export interface SafeRun {
  id: string;
  ctx: Ctx;
  target: LoadedSite;
  facts: RunFacts;
  guard: SiteGuard | null;
  /** Items that may have been updated and are not finished, in update order. */
  open: SafeItem[];
  /** The pages that were compared after an update, as lists name them. */
  looked: Set<string>;
  /** Those of which only the beginning was, as they are longer than what is read of a page. */
  long?: Set<string>;
  /** The newest ledger; null = none yet. */
  ledger: GuardLedger | null;
  /** What is beside the items was compared after the last one. */
  outside: boolean;
  /** The pages of a quick check that found nothing broken, if nothing was done since. */
  quick?: SiteCheck['pages'] | undefined;
  /** Pages that were broken for visitors only: a cache may go on showing such a copy. */
  plain?: SiteCheck['pages'];
  /** What cannot be looked at in the guard's sandbox, with the reasons; absent in runs that another process began. */
  unseen?: readonly string[];
  /** Until when the guard's sandbox is open; null or absent = it is not. */
  openUntil?: number | null;
  /** Pages that were seen to fail now and then: one good answer does not show that they are well. */
  unsteady?: readonly LookedPage[];
  /** How pages looked in a browser before; absent in runs that another process began. */
  seen?: SeenBefore;
  /** How they looked after the updates. */
  seenAfter?: SeenAfter;
  /** Those that looked wrong: that they are well again is not shown by what the site sends. */
  doubtful?: readonly PlaceBefore[];
  /** Something was found in the shop. */
  shopDoubtful?: boolean;
}

/** The further pages of a run: those that the caller named, and those that were found. */
export function furtherPages({ paths, pages = [] }: Pick<RunFacts, 'paths' | 'pages'>): readonly LookedPage[] {
  const asked = [...new Set(paths)].map((path): LookedPage => ({ kind: 'asked', path }));
  return [...asked, ...pages.filter((page) => !paths.includes(keyOf(page)))];
}

/** Those of them that are looked at as visitors get them. */
export function plainPagesOf({ facts }: Pick<SafeRun, 'facts'>): readonly LookedPage[] {
  return furtherPages(facts).filter(isPlain);
}

/** What is stored about how an item ended. */
export interface Evidence {
  /** Sentences for people. */
  seen: string[];
  /** Who restored the old version. */
  by: 'sitefleet' | 'guard' | null;
  /** From the update until the site was seen to work again. */
  well_after_ms: number | null;
  suspect: string[];
  /** Rolled back together with another item, which was at fault. */
  without_fault?: boolean;
}

/** How long an item stays armed, in seconds: longer than the longest update and its checks. */
export const ARMED_SECONDS = 1_800;

/** When the guard's record is read after an item was kept, in milliseconds. */
const LOOKS_MS = [1, 5, 15, 60, 24 * 60].map((minutes) => minutes * 60_000);

/** The first look after this time; null = it is not watched any more. */
export function nextLook(settledAt: number, after: number): number | null {
  return LOOKS_MS.map((ms) => settledAt + ms).find((at) => at > after) ?? null;
}

/** Records the state of an item. Called before the step is taken. */
export function note(run: SafeRun, item: SafeItem, fields: ChangeFields): Promise<void> {
  return run.ctx.store.safeChanges.note(item.change, fields);
}

/** An item from its stored row. */
export function itemOf(row: ChangeRow, ledger: GuardLedger | null): SafeItem {
  return {
    ...UNTRIED,
    change: row.id,
    type: UPDATE_TYPES[row.type] ?? 'plugin',
    slug: row.slug,
    name: row.name,
    old_version: row.old_version,
    new_version: row.new_version,
    protection: row.protection,
    snapshot: row.snapshot,
    faults_since: row.armed_until === null ? null : row.armed_until - ARMED_SECONDS,
    updated_at: row.updated_at,
    unanswered: row.step === 'update' || row.step === 'restore',
    restoring: row.step === 'restore',
    ledger,
  };
}
