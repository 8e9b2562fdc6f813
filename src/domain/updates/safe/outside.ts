/**
 * What updates change besides their own files: the guard's ledger is compared after each item and at the end of the
 * run, and with a roll-back the guard restores what it can.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { ChildFailure } from '../../../outbound/child/port.js';
import { GuardFailure } from '../../../outbound/guard/failure.js';
import type { GuardLedger, Mendable } from '../../../outbound/guard/guards.js';
import { compareLedgers, KINDS, type LedgerFinding, OTHERS } from './compare-ledgers.js';
import type { SafeItem, SafeRun } from './run-state.js';

type Guarded = Pick<SafeRun, 'ctx' | 'guard'>;

/** Null if the site has no guard, or one that keeps no ledger: nothing is known then. */
export function takeLedger({ ctx, guard }: Guarded): Promise<GuardLedger | null> {
  return guard === null ? Promise.resolve(null) : orNull(ctx, guard.ledger({ signal: ctx.signal }));
}

/** What an item has changed, as far as is known right after its update. */
export async function lookOutside(run: SafeRun, item: SafeItem): Promise<readonly LedgerFinding[]> {
  item.outside = await changesSince(run, [item]);
  return item.outside;
}

/**
 * What the open items have changed by the end of the run: of the earlier findings those that still hold, and the later
 * ones, which belong to all. Returns the later ones.
 */
export async function lookOutsideAtEnd(run: SafeRun): Promise<readonly LedgerFinding[]> {
  const late = await changesSince(run, run.open);
  for (const item of run.open) {
    const still = new Set(compared(run, item.ledger, run.ledger, [item]).map(({ key }) => key));
    const lasts = (key: string) => item.ledger === null || still.has(key) || still.has(OTHERS);
    item.outside = [...item.outside.filter(({ key }) => lasts(key)), ...late];
    await nextTurn();
  }
  return late;
}

/** Has the guard restore what an item has changed, once its old version is back. Returns each change. */
export async function mendOutside(run: SafeRun, item: SafeItem): Promise<OutsideChange[]> {
  const { ctx, guard } = run;
  const findings = item.ledger === null ? [] : compared(run, item.ledger, await renewed(run), [item]);
  const wanted: Mendable = { files: [], options: [], events: [] };
  for (const kind of KINDS) wanted[kind] = findings.flatMap(({ mend }) => mend?.[kind] ?? []);
  if (guard === null || item.snapshot === null || KINDS.every((kind) => wanted[kind].length === 0))
    return findings.map(({ what }) => ({ what, undone: false }));
  const mended = await orNull(ctx, guard.mend(item.snapshot, wanted, { signal: ctx.signal }));
  const now = await renewed(run);
  const done = new Set(KINDS.flatMap((kind) => mended?.[kind].map((one) => `${kind} ${one}`) ?? []));
  // Some are undone with another: who may administer, with the roles.
  const left = now === null ? null : new Set(compared(run, item.ledger, now, [item]).map(({ key }) => key));
  return findings.map(({ key, what, mend }) => ({
    what,
    undone:
      left === null || key === OTHERS || left.has(OTHERS)
        ? mend !== undefined && KINDS.every((kind) => mend[kind]?.every((one) => done.has(`${kind} ${one}`)) ?? true)
        : !left.has(key),
  }));
}

export interface OutsideChange {
  what: string;
  undone: boolean;
}

/** Each may be a megabyte, and an item of a site that has many updates waits for the last of them. */
const MOST_LEDGERS = 100;

/** What is beside the items before the next one; null for the last of very many, which cannot be restored then. */
export function ledgerBefore({ open, ledger }: SafeRun): GuardLedger | null {
  const kept = new Set(open.map((item) => item.ledger));
  return kept.size < MOST_LEDGERS ? ledger : null;
}

/** The share of tables that may be unreadable: where the guard ran out of time, it is not said that they were compared. */
const UNCOUNTED = 0.1;

/** Compares with the last ledger, and renews it. */
async function changesSince(run: SafeRun, items: readonly SafeItem[]): Promise<LedgerFinding[]> {
  const before = run.ledger;
  return before === null ? [] : compared(run, before, await renewed(run), items);
}

/** The ledger now; one that cannot be had leaves the last one. */
async function renewed(run: SafeRun): Promise<GuardLedger | null> {
  const now = await takeLedger(run);
  run.outside = now !== null && now.tables.filter(({ rows }) => rows === null).length <= now.tables.length * UNCOUNTED;
  run.ledger = now ?? run.ledger;
  return now;
}

function compared(
  { open }: SafeRun,
  before: GuardLedger | null,
  now: GuardLedger | null,
  items: readonly SafeItem[],
): LedgerFinding[] {
  if (before === null || now === null) return [];
  return compareLedgers(before, now, {
    slugs: items.flatMap(({ slug, error }) => [slug, error?.slug ?? slug]),
    // Of any item: to mend one must not bring the old files of WordPress back into a new one.
    core: [...open, ...items].some(({ type }) => type === 'core'),
  });
}

async function orNull<T>(ctx: SafeRun['ctx'], call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof GuardFailure || error instanceof ChildFailure)) throw error;
    return null;
  }
}
