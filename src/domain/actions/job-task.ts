/** A job as the call that queued it sees it: how far it is, and what it has done, site by site. */

import type { Origin } from '../../runtime/events.js';
import { timestampOf } from '../../runtime/iso-time.js';
import type { JobItemRow, OutcomeCounts } from '../../store/jobs/jobs.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { jobNotFound, TIMED_OUT } from './jobs.js';

type SiteHead = Pick<SiteRow, 'id' | 'url' | 'name' | 'status'>;

interface KnownJob {
  /** The operation that queued it; '' = none. */
  operation: string;
  /** Why it was ended before all of its sites were finished; '' = it was not. */
  reason: string;
  total: number;
  succeeded: number;
  failed: number;
  run_id: string;
  queued_at: string;
  changed_at: string;
}

/** A job that has ended, with the first of each list. */
export interface EndedJob extends KnownJob {
  /** `cancelled`: before all of its sites were finished; `failed`: its time was up, or no site succeeded. */
  state: 'cancelled' | 'done' | 'failed';
  /** Milliseconds from its queueing to its deletion. */
  kept_ms: number;
  /** The only plugin that it switches. */
  plugin?: { slug: string; name: string };
  sites: SiteHead[];
  done: SiteItem[];
  undone: SiteItem[];
  errors: SiteItem[];
  counts: OutcomeCounts;
  /** Done items by type. */
  types: Record<string, number>;
}

export type JobTask = EndedJob | (KnownJob & { state: 'working'; kept_ms: null });

/** One thing that was done on a site, or failed there; a site that is gone has only its id. */
export interface SiteItem {
  site_id: number;
  site_url: string;
  site_name: string;
  [fact: string]: unknown;
}

/** Entries of each list. What a model reads is shorter in any case. */
const LISTED = 200;
const PLUGIN = 0;

/** What was done is read only of a job that has ended: before that, no answer shows it. Throws `svc_job_not_found`. */
export async function jobTask(ctx: Ctx, id: string): Promise<JobTask> {
  const { jobs } = ctx.store;
  const job = await jobs.find(id);
  if (job === undefined) throw jobNotFound();
  const { created_at, started_at, completed_at } = job;
  const changed_at = completed_at ?? (await jobs.lastFinishedAt(id)) ?? started_at ?? created_at;
  const known = {
    operation: job.origin === '' ? '' : (JSON.parse(job.origin) as Origin).operation,
    reason: job.timed_out === 1 ? TIMED_OUT : '',
    ...{ total: job.total, succeeded: job.succeeded, failed: job.failed, run_id: job.run_id },
    queued_at: timestampOf(created_at),
    changed_at: timestampOf(changed_at),
  };
  if (completed_at === null) return { ...known, state: 'working', kept_ms: null };
  const { sites, done, undone, errors, counts, types, cancelled } = await jobs.outcome(id, LISTED);
  const heads = await headsOf(ctx, [...sites, ...[...done, ...undone, ...errors].map(({ site_id }) => site_id)]);
  const onSite = (site_id: number, facts: object): SiteItem => {
    const { url = '', name = '' } = heads.get(site_id) ?? {};
    return { site_id, site_url: url, site_name: name, ...facts };
  };
  const itemOf = ({ site_id, facts }: JobItemRow) => onSite(site_id, JSON.parse(facts) as object);
  const plugin = job.type === 'extension' ? await pluginOf(ctx, JSON.parse(job.params) as Switched) : undefined;
  return {
    ...known,
    state: cancelled ? 'cancelled' : job.status === 'failed' ? 'failed' : 'done',
    kept_ms: completed_at - created_at + ctx.config.job_ttl_ms,
    ...(plugin === undefined ? {} : { plugin }),
    sites: sites.flatMap((site_id) => heads.get(site_id) ?? []),
    done: done.map(itemOf),
    undone: undone.map(itemOf),
    errors: errors.map(({ site_id, code, message }) => onSite(site_id, { code, message })),
    counts,
    types: Object.fromEntries(types),
  };
}

async function headsOf(ctx: Ctx, ids: readonly number[]): Promise<Map<number, SiteHead>> {
  const rows = await ctx.store.sites.candidates([...new Set(ids)]);
  return new Map(rows.map(({ id, url, name, status }) => [id, { id, url, name, status }]));
}

/** Of the parameters of such a job. */
interface Switched {
  kind: string;
  slugs: readonly string[];
}

/** Undefined for themes, and for a change of several plugins. */
async function pluginOf(ctx: Ctx, { kind, slugs }: Switched): Promise<EndedJob['plugin']> {
  const [slug, ...others] = slugs;
  if (kind !== 'plugin' || slug === undefined || others.length > 0) return undefined;
  const known = await ctx.store.fleetSearch.packages(PLUGIN);
  return { slug, name: known.find((item) => item.slug === slug)?.name ?? slug };
}
