/** Runs of updates as callers read them: one with its items, and the list. */

import type { RUN_STATES, runEntry, runResult, shownRunItem } from '../../../../schemas/run.js';
import { siteWord } from '../../../../schemas/site-text.js';
import { cut } from '../../../../schemas/text.js';
import type { z } from '../../../../schemas/zod.js';
import { type ErrorCode, ServiceError } from '../../../runtime/errors.js';
import type { Origin } from '../../../runtime/events.js';
import { isoTime } from '../../../runtime/iso-time.js';
import type { ChangeOutcome } from '../../../store/safety/changes.js';
import type { CountedRun, RunItemState, RunTrouble, ToldRunItem } from '../../../store/updates/runs.js';
import { pastTime } from '../../common/past-time.js';
import type { Ctx } from '../../context.js';
import { getSite, type SiteRef } from '../../sites/resolve.js';
import { siteAddress } from '../../sites/urls.js';
import { BROKE, UPDATE_TYPES } from '../results.js';
import type { Evidence } from '../safe/run-state.js';
import { type Asked, MOST_ITEMS } from './call.js';
import { rollBackMember } from './can-roll-back.js';
import { countsOf, standingOf } from './standing.js';

type Entry = z.output<ReturnType<typeof runEntry>>;
type Item = z.output<ReturnType<typeof shownRunItem>>;
type Result = z.output<ReturnType<typeof runResult>>;

/** Longest reason in an answer, in characters, and most findings: what a page of items may take is bounded. */
const LONGEST = 240;
const FINDINGS = 3;
/** Longest reason of a run in a list of them. */
const REASON = 180;

/** One run with a page of its items. Throws `svc_run_not_found`. */
export async function getRun(
  ctx: Ctx,
  id: string,
  states: readonly RunItemState[],
  page: number,
  perPage: number,
): Promise<Entry & { items: Item[]; total: number; page: number; per_page: number }> {
  const run = await knownRun(ctx, id);
  const [{ items, total }, by_site] = await Promise.all([
    ctx.store.updateRuns.items(id, states, page, perPage),
    standingOf(ctx, run),
  ]);
  return {
    ...entryOf(run),
    by_site: countsOf(by_site),
    items: items.map((item) => itemOf(item, ctx.clock.now())),
    total,
    page,
    per_page: perPage,
  };
}

/** What a run came to. */
export async function resultOf({ store }: Ctx, id: string): Promise<Result> {
  const { worst, ...counts } = await store.updateRuns.result(id);
  if (worst === undefined) return { ...counts, worst: null };
  const { ms: restored_after_ms, ...item } = worst;
  return { ...counts, worst: { ...item, restored_after_ms } };
}

/** Throws `svc_run_not_found`. */
export async function knownRun(ctx: Ctx, id: string): Promise<CountedRun> {
  // A NUL cannot be bound, and no id contains one.
  const run = id.includes('\0') ? undefined : await ctx.store.updateRuns.find(id);
  if (run !== undefined) return run;
  throw new ServiceError('svc_run_not_found', 'There is no run with this id. Runs are kept for 180 days.', {
    field: 'run_id',
    advice: 'list-runs-v1 has the ids.',
  });
}

export function isRunning(run: CountedRun): boolean {
  const { queued = 0, updating = 0, checking = 0 } = JSON.parse(run.counts) as Entry['counts'];
  return run.ended_at === null || queued + updating + checking > 0;
}

export interface RunsAsked {
  /** ISO 8601. */
  since?: string | undefined;
  site_id_or_domain?: SiteRef | undefined;
  /** Name of the user or key. */
  actor?: string | undefined;
  state?: (typeof RUN_STATES)[number] | undefined;
}

/** Newest first, one page. */
export async function listRuns(ctx: Ctx, asked: RunsAsked, page: number, perPage: number) {
  const { since, site_id_or_domain: ref, actor, state } = asked;
  const found = await ctx.store.updateRuns.page(
    {
      since: since === undefined ? undefined : pastTime('since', since, ctx.clock.now(), 'all of them'),
      site_id: ref === undefined ? undefined : (await getSite(ctx, ref)).id,
      actor,
      ...(state === 'running' || state === 'ended' ? { running: state === 'running' } : { item_state: state }),
    },
    page,
    perPage,
  );
  return { runs: found.items.map(entryOf), total: found.total, page, per_page: perPage };
}

function entryOf(run: CountedRun): Entry {
  const { via, operation } = JSON.parse(run.origin) as Origin;
  const counts = JSON.parse(run.counts) as Entry['counts'];
  const running = isRunning(run);
  return {
    run_id: run.id,
    state: running ? 'running' : 'ended',
    started_at: isoTime(run.started_at) ?? '',
    ended_at: running ? null : isoTime(run.ended_at),
    by: run.actor,
    via,
    operation,
    job_id: run.job_id,
    ...askedFields(JSON.parse(run.asked) as Asked),
    sites: run.sites,
    ...(running && run.waiting_sites > 0 && { waiting_sites: run.waiting_sites }),
    counts,
    ...reasonMember(run.trouble, counts),
  };
}

/** Why not all was kept: what became of the worst item, and how many others there are. */
function reasonMember(trouble: string | null, counts: Entry['counts']): { reason?: string } {
  if (trouble === null) return {};
  const { name, code, message, site_url, outcome, seen } = JSON.parse(trouble) as RunTrouble;
  const { failed = 0, rolled_back = 0, unknown = 0, skipped = 0 } = counts;
  const others = failed + rolled_back + unknown + skipped - 1;
  const where = site_url === null ? 'a site that was removed' : siteAddress(site_url);
  const item = name === '' ? where : `${siteWord(name)} on ${where}`;
  const why = message || seen || code || codeOf({ outcome });
  return { reason: `${cut(`${item}: ${why}`, REASON)}${others > 0 ? ` And ${others} more.` : ''}` };
}

function askedFields({ types, specific_items, limits }: Asked) {
  // A filter names items, too.
  const named = [...specific_items, ...(limits?.slugs ?? [])].slice(0, MOST_ITEMS);
  return { types: types.flatMap((number) => UPDATE_TYPES[number] ?? []), specific_items: named };
}

function itemOf(row: ToldRunItem, now: number): Item {
  const { seen = [], suspect = [], by = null, well_after_ms } = JSON.parse(row.evidence ?? '{}') as Partial<Evidence>;
  const evidence = [...seen, ...suspect].slice(0, FINDINGS).map(short);
  const code = row.code || codeOf(row);
  return {
    site_id: row.site_id,
    site_url: row.site_url,
    site_name: row.site_name,
    type: UPDATE_TYPES[row.type] ?? 'site',
    slug: row.slug,
    name: row.name,
    state: row.state,
    old_version: row.old_version,
    new_version: row.new_version,
    protection: row.protection,
    change_id: row.change_id,
    ...(row.backup_id == null ? {} : { backup_id: row.backup_id }),
    ...rollBackMember(row, now),
    ...(code === '' ? {} : { code }),
    ...(row.message === '' ? {} : { message: short(row.message) }),
    ...(evidence.length === 0 ? {} : { evidence }),
    ...(row.state === 'rolled_back' && by !== null ? { rolled_back_by: by } : {}),
    ...(row.outcome === null && row.step === 'restore' ? { restoring: true } : {}),
    ...(row.state === 'rolled_back' && typeof well_after_ms === 'number' ? { restored_after_ms: well_after_ms } : {}),
    finished_at: isoTime(row.finished_at === null ? row.settled_at : Math.max(row.finished_at, row.settled_at ?? 0)),
  };
}

/** Of an item that was finished after its call had ended: by its steps, or while it was watched. */
function codeOf({ outcome }: Pick<ToldRunItem, 'outcome'>): string {
  return outcome === null ? '' : CODES[outcome];
}

const CODES = {
  kept: '',
  rolled_back: 'svc_update_rolled_back',
  not_updated: 'svc_update_failed',
  broken: BROKE,
} as const satisfies Record<ChangeOutcome, ErrorCode | ''>;

function short(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}
