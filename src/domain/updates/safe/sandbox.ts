/**
 * Looks at a site as a user who exists in one request only, in the sandbox of its guard: opened for a run, and only
 * with what worked there before the update.
 */

import { ChildFailure } from '../../../outbound/child/port.js';
import { GuardFailure } from '../../../outbound/guard/failure.js';
import type { Ctx } from '../../context.js';
import { ACCEPTED, type Baseline, isComparable, LOGGED_IN } from './compare-health.js';
import { IN_CART } from './compare-shops.js';
import { isInside, keyOf, LOGIN, type LookedPage, listedAs, type PageKind, SANDBOX } from './looked-pages.js';
import { furtherPages, type SafeRun } from './run-state.js';

/** In no update: logged-in users may meet what is broken there. */
export const MEMBERS = 'logged-in users and wp-admin';

/** How long the guard answers such looks. */
const OPEN_SECONDS = 600;
const RENEW_MS = 60_000;

export interface Sandbox {
  pages: readonly LookedPage[];
  /** What cannot be looked at, each with the reason. */
  unseen: readonly string[];
  /** Until when the guard answers, by the clock that only goes forward; null = not at all. */
  openUntil: number | null;
}

/** Why a guard has none, by its own codes. */
const REASONS: Readonly<Record<string, string>> = {
  multisite: 'the site belongs to a network',
  no_sandbox: 'the guard could not keep a check from storing anything',
};

/** Opens the sandbox; a guard that has none, or refuses, is no reason not to update. */
export async function openSandbox({ ctx, guard }: Pick<SafeRun, 'ctx' | 'guard'>): Promise<Sandbox> {
  if (guard === null) return { pages: [], unseen: [MEMBERS], openUntil: null };
  const openUntil = ctx.clock.elapsed() + OPEN_SECONDS * 1_000;
  try {
    const looks = await guard.sandbox(OPEN_SECONDS, { signal: ctx.signal });
    const [can, cannot] = [true, false].map((so) =>
      Object.entries(SANDBOX).flatMap(([name, page]) => (looks.includes(name) === so ? [page] : [])),
    );
    return { pages: can ?? [], unseen: (cannot ?? []).map((page) => `${listedAs(page)}: ${NOT_SHOWN}`), openUntil };
  } catch (error) {
    return { pages: [], unseen: [`${MEMBERS}: ${reasonOf(ctx, error)}`], openUntil: null };
  }
}

const NOT_SHOWN = 'there is nothing to show it with';

function reasonOf(ctx: Ctx, error: unknown): string {
  if (ctx.signal.aborted || !(error instanceof GuardFailure || error instanceof ChildFailure)) throw error;
  return (error instanceof GuardFailure && REASONS[error.code]) || 'the guard did not open its sandbox';
}

/** Looks in the sandbox that show nearly all that these show. */
const COVERED: Readonly<Partial<Record<PageKind, PageKind>>> = { ajax: 'member_ajax', collection: 'member_rest' };

/** Whether a page for visitors need not be looked at, because another look shows what it would. */
export function isCovered({ kind }: LookedPage, { pages }: Pick<Sandbox, 'pages'>): boolean {
  return pages.some((page) => page.kind === COVERED[kind]);
}

/** The guard closes it with the last item that is disarmed, and after a while. */
export async function keepOpen(run: SafeRun, pages: readonly LookedPage[]): Promise<void> {
  if (!pages.some(isInside) || (run.openUntil ?? 0) - run.ctx.clock.elapsed() > RENEW_MS) return;
  run.openUntil = (await openSandbox(run)).openUntil;
}

/** Those that work, and what is not looked at because it did not work before the update either. */
export function workingOf({ pages, unseen }: Sandbox, before: Baseline): Pick<Sandbox, 'pages' | 'unseen'> {
  const failing = pages.filter((page) => !worked(page, before));
  return {
    pages: pages.filter((page) => !failing.includes(page)),
    unseen: [...unseen, ...failing.map((page) => `${listedAs(page)}: it did not work before either`)],
  };
}

function worked(page: LookedPage, { first, second }: Baseline): boolean {
  return [first, second].every(({ pages }) => {
    const facts = pages[keyOf(page)];
    // Some are looked at once.
    if (facts === undefined) return true;
    if (facts.inside === undefined || facts.status !== 200 || facts.errors.length > 0) return false;
    if (page.kind === 'password') return facts.says === ACCEPTED;
    if (page.kind === 'member_ajax') return facts.says === LOGGED_IN;
    return page.kind !== 'dashboard' && page.kind !== 'editor' ? true : (facts.parts ?? []).includes('wpbody-content');
  });
}

/** What did not answer before, and what logged-in users meet and was not looked at after the updates of this run. */
export function unseenIn({ unseen = [], facts, looked, long = new Set() }: SafeRun): readonly string[] {
  const silent = [LOGIN, ...furtherPages(facts)].filter((page) => !isInside(page) && !isComparable(page, facts.before));
  const inside = (facts.pages ?? []).filter(isInside);
  const left = inside.filter((page) => !looked.has(listedAs(page)));
  return [
    ...silent.map((page) => `${listedAs(page)}: it did not work before either`),
    ...unseen,
    ...[...long].map((page) => `${page}, after its first megabyte`),
    // After a quick check that found something broken there is nothing to look at in it.
    ...(facts.shop && !looked.has(IN_CART) ? ['the shop'] : []),
    ...(left.length > 0 && left.length === inside.length ? [MEMBERS] : left.map(listedAs)),
  ];
}
