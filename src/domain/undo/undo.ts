/**
 * Undoes changes by restoring what they replaced: one change, those of a call, of a run or a rollout of updates, or all since a
 * time. What was changed again since then, and what is not known, is left as it is, with the reason.
 */

import { cleanLine } from '../../../schemas/text.js';
import type { UndoInput } from '../../../schemas/undo.js';
import { ServiceError } from '../../runtime/errors.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Change, Expanded, Target } from '../action-log/logged-changes.js';
import type { JobHandler } from '../actions/handler.js';
import { runOnSites, runOrQueue } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import { selectionOf } from '../sites/resolve.js';
import { directUndo, planSite, undoHandler } from './handler.js';
import type { StepResult } from './on-site.js';
import { cautionOf, digestOf, type Left, type Plan, planOf, refused, type Step } from './plan.js';
import { recordName, recordStates, undoRecords, undoRecordsLast } from './records.js';
import { changesOf, type Selected, select, type UndoChoice } from './select.js';
import { namesIn, type RecordNames, stepWords } from './words.js';

/** Entries of each list in an answer. */
const LISTED = 20;
/** The same for a person who is to approve it. */
const SHOWN = 200;
const MOST_NAME = 80;

/** What `undoChanges` would do with the same input. Contacts sites where only they know their state; changes nothing. */
export function previewUndo(ctx: Ctx, { page = 1, ...input }: UndoInput) {
  // What would be lost needs a look first.
  return listedUndo(ctx, input, { page, perPage: LISTED, rank: ({ careful, others }) => 2 * careful + others });
}

/**
 * The same for a person who is to approve it: more of it, and first what others than the asker had changed; without what is left
 * as it is, which is no part of what is approved, and another list once the request is in the log.
 */
export async function planUndo(ctx: Ctx, { page: _, ...input }: UndoInput) {
  const plan = await listedUndo(ctx, input, {
    ...{ page: 1, perPage: SHOWN },
    rank: ({ careful, others }) => 2 * others + careful,
  });
  return { ...plan, errors: [], total_errors: 0 };
}

interface Listing {
  page: number;
  perPage: number;
  /** Steps of a higher one come first. @param of 1 = yes, 0 = no */
  rank: (of: { careful: number; others: number }) => number;
}

async function listedUndo(ctx: Ctx, input: UndoChoice, { page, perPage, rank }: Listing) {
  const { plan, urls } = await wholePlan(ctx, await select(ctx, input));
  const listed = <T>(items: readonly T[]) => items.slice((page - 1) * perPage, page * perPage);
  const isOthers = ({ by }: Step) => by.some((name) => name !== ctx.actor.name);
  const isCareful = (step: Step) => cautionOf(step) !== undefined;
  const ranked = (step: Step) => rank({ careful: Number(isCareful(step)), others: Number(isOthers(step)) });
  const steps = listed(plan.steps.toSorted((a, b) => ranked(b) - ranked(a)));
  const names = await namesIn(ctx, steps, plan.steps);
  return {
    dry_run: true as const,
    queued: false,
    digest: digestOf(plan),
    undo: steps.map((step) => stepView(step, urls, names)),
    total_undo: plan.steps.length,
    total_cautions: plan.steps.filter(isCareful).length,
    total_by_others: plan.steps.filter(isOthers).length,
    sites: new Set(plan.steps.flatMap(({ site_id }) => site_id ?? [])).size,
    errors: listed(plan.left).map((left) => leftView(left, urls)),
    total_errors: plan.left.length,
  };
}

/** Only finds what is meant: throws as `select`, and contacts no site. */
export async function requireUndo(ctx: Ctx, input: UndoChoice): Promise<void> {
  await select(ctx, input);
}

/** Throws as `select`, and `svc_undo_plan_changed`. What could not be done is in `errors`, what was tried and failed first. */
export async function undoChanges(ctx: Ctx, { digest, page, ...choice }: UndoInput) {
  if (page !== undefined)
    throw new ServiceError('svc_invalid_input', 'page is only for previews. Nothing changed.', {
      field: 'page',
      advice: 'Remove it, or send dry_run.',
    });
  const selected = await select(ctx, choice);
  if (digest !== undefined) await requireSame(ctx, selected, digest);
  const expanded = await changesOf(ctx, selected);
  const sites = await sitesOf(ctx, expanded);
  const urls = urlsOf(sites);
  const { steps, left } = await recordPlan(ctx, expanded);
  const results = await undoRecords(ctx, steps);
  const answer = await runOrQueue(ctx, directUndo, selectionOf(sites), selected);
  if (!answer.queued)
    for (const { result } of answer.done) {
      results.push(...result.results);
      left.push(...result.left);
    }
  results.push(...(await undoRecordsLast(ctx, steps)));
  const failed = results.filter(({ error }) => error !== null).map(failureOf);
  const onSites = answer.queued
    ? []
    : answer.failures.map(({ site, error }) => siteFailure(site, error.code, error.message));
  const errors = [...failed, ...left, ...goneSites(expanded, urls), ...onSites];
  const done = results.filter(({ error }) => error === null).map(({ step }) => step);
  const job = answer.queued ? answer : answer.continued;
  const shown = done.slice(0, LISTED);
  const names = await namesIn(ctx, shown, done);
  return {
    queued: answer.queued,
    ...(job === undefined ? {} : { job_id: job.job_id, status_url: job.status_url, sites_queued: job.sites_queued }),
    undone: shown.map((step) => stepView(step, urls, names)),
    total_undone: done.length,
    errors: errors.slice(0, LISTED).map((one) => leftView(one, urls)),
    total_errors: errors.length,
  };
}

async function requireSame(ctx: Ctx, selected: Selected, digest: string): Promise<void> {
  const { plan } = await wholePlan(ctx, selected);
  if (digestOf(plan) === digest) return;
  throw new ServiceError('svc_undo_plan_changed', 'The plan no longer has this digest. Nothing changed.', {
    field: 'digest',
    advice: 'Preview with dry_run again, and show what it says now.',
  });
}

type Urls = ReadonlyMap<number, string>;

async function wholePlan(ctx: Ctx, selected: Selected): Promise<{ plan: Plan; urls: Urls }> {
  const expanded = await changesOf(ctx, selected);
  const sites = await sitesOf(ctx, expanded);
  const records = await recordPlan(ctx, expanded);
  const restored = new Set(records.steps.filter(isRestored).map(recordName));
  const planner: JobHandler<Selected, Plan> = {
    type: undoHandler.type,
    failure: undoHandler.failure,
    run: (own, target, meant) => planSite(own, target, meant, { restored }),
  };
  const { done, failures } = await runOnSites(ctx, planner, sites, selected);
  const urls = urlsOf(sites);
  const plans = [...done].sort((a, b) => a.target.site.id - b.target.site.id).map(({ result }) => result);
  return {
    plan: {
      steps: [records, ...plans].flatMap(({ steps }) => steps),
      left: [
        ...[records, ...plans].flatMap(({ left }) => left),
        ...goneSites(expanded, urls),
        ...failures.map(({ site, error }) => siteFailure(site, error.code, error.message)),
      ],
    },
    urls,
  };
}

function isRestored({ field, back_to }: Step): boolean {
  return field === 'record' && back_to !== null;
}

async function recordPlan(ctx: Ctx, { changes, refusals }: Expanded): Promise<Plan> {
  const [records, others] = [changes.filter(isRecord), changes.filter((change) => !isRecord(change))];
  const { steps, left } = planOf(records, await recordStates(ctx, records, others));
  return { steps, left: [...left, ...refusals.filter(isRecord).map(refused)] };
}

function isRecord({ site_id }: Target): boolean {
  return site_id === null;
}

function siteIds({ changes, refusals }: Expanded): number[] {
  return [...new Set([...changes, ...refusals].flatMap(({ site_id }) => site_id ?? []))];
}

/** Those that are still there. */
async function sitesOf(ctx: Ctx, expanded: Expanded): Promise<SiteRow[]> {
  const ids = siteIds(expanded);
  return ids.length === 0 ? [] : ctx.store.sites.candidates(ids);
}

function urlsOf(sites: readonly SiteRow[]): Urls {
  return new Map(sites.map(({ id, url }) => [id, url]));
}

function goneSites(expanded: Expanded, urls: Urls): Left[] {
  const left = [...expanded.changes, ...expanded.refusals] as (Change & { reason?: string })[];
  return left
    .filter(({ site_id }) => site_id !== null && !urls.has(site_id))
    .map(({ site_id, kind, slug, name, entry, change_id }) => {
      return {
        site_id,
        kind,
        slug,
        name,
        entry,
        change_id,
        code: 'svc_site_not_found',
        reason: 'The site was removed.',
      };
    });
}

function siteFailure({ id }: SiteRow, code: Left['code'], reason: string): Left {
  return { site_id: id, kind: 'site', slug: '', name: '', entry: 0, change_id: '', code, reason };
}

function failureOf({ step, error }: StepResult): Left {
  const { site_id, kind, slug, name, entries, change_id } = step;
  const code = error?.code ?? 'svc_operation_failed';
  return { site_id, kind, slug, name, entry: entries[0] ?? 0, change_id, code, reason: error?.message ?? '' };
}

function targetView({ site_id, kind, slug, name }: Target, urls: Urls) {
  return {
    site_id,
    ...(site_id === null ? {} : { site_url: urls.get(site_id) ?? null }),
    kind,
    ...(slug === '' ? {} : { slug }),
    ...(name === '' ? {} : { name: cleanLine(name, MOST_NAME) }),
  };
}

function stepView(step: Step, urls: Urls, names: RecordNames) {
  const { entries, change_id, by } = step;
  const caution = cautionOf(step);
  return {
    ...targetView(step, urls),
    ...stepWords(step, names),
    ...(caution === undefined ? {} : { caution }),
    ...(by.length === 0 ? {} : { by: by.map((name) => cleanLine(name, MOST_NAME)) }),
    action_ids: entries,
    ...(change_id === '' ? {} : { change_id }),
  };
}

function leftView(left: Left, urls: Urls) {
  const { entry, change_id, code, reason } = left;
  return {
    ...targetView(left, urls),
    ...(entry === 0 ? {} : { action_id: entry }),
    ...(change_id === '' ? {} : { change_id }),
    code,
    message: reason,
  };
}
