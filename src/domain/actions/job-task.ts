/** A job as the call that queued it sees it: how far it is, and what it has done, site by site. */

import type { Origin } from '../../runtime/events.js';
import { timestampOf } from '../../runtime/iso-time.js';
import type { JobItemRow, OutcomeCounts } from '../../store/jobs/jobs.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { jobNotFound, TIMED_OUT } from './jobs.js';

type SiteHead = Pick<SiteRow, 'id' | 'url' | 'name' | 'status'>;

/** A job, with the first of each list. */
export interface JobTask {
  /** The operation that queued it; '' = none. */
  operation: string;
  /** `cancelled`: before all of its sites were finished. */
  state: 'working' | 'cancelled' | 'done' | 'failed';
  /** Why it was ended before all of its sites were finished; '' = it was not. */
  reason: string;
  total: number;
  succeeded: number;
  failed: number;
  queued_at: string;
  changed_at: string;
  /** Milliseconds from its queueing to its deletion; null = it has not ended. */
  kept_ms: number | null;
  run_id: string;
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

/** Throws `svc_job_not_found`. */
export async function jobTask(ctx: Ctx, id: string): Promise<JobTask> {
  const job = await ctx.store.jobs.find(id);
  if (job === undefined) throw jobNotFound();
  const { sites, done, undone, errors, counts, types, cancelled, last_at } = await ctx.store.jobs.outcome(id, LISTED);
  const heads = await headsOf(ctx, [...sites, ...[...done, ...undone, ...errors].map(({ site_id }) => site_id)]);
  const onSite = (site_id: number, facts: object): SiteItem => {
    const { url = '', name = '' } = heads.get(site_id) ?? {};
    return { site_id, site_url: url, site_name: name, ...facts };
  };
  const itemOf = ({ site_id, facts }: JobItemRow) => onSite(site_id, JSON.parse(facts) as object);
  const { created_at, started_at, completed_at } = job;
  const ended = completed_at === null ? null : completed_at - created_at;
  const plugin = job.type === 'extension' ? await pluginOf(ctx, JSON.parse(job.params) as Switched) : undefined;
  return {
    operation: job.origin === '' ? '' : (JSON.parse(job.origin) as Origin).operation,
    state: ended === null ? 'working' : cancelled ? 'cancelled' : job.status === 'failed' ? 'failed' : 'done',
    reason: job.timed_out === 1 ? TIMED_OUT : '',
    ...{ total: job.total, succeeded: job.succeeded, failed: job.failed, run_id: job.run_id },
    queued_at: timestampOf(created_at),
    changed_at: timestampOf(Math.max(created_at, started_at ?? 0, completed_at ?? 0, last_at ?? 0)),
    kept_ms: ended === null ? null : ended + ctx.config.job_ttl_ms,
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
async function pluginOf(ctx: Ctx, { kind, slugs }: Switched): Promise<JobTask['plugin']> {
  const [slug, ...others] = slugs;
  if (kind !== 'plugin' || slug === undefined || others.length > 0) return undefined;
  const known = await ctx.store.fleetSearch.packages(PLUGIN);
  return { slug, name: known.find((item) => item.slug === slug)?.name ?? slug };
}
