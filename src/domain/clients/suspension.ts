/** Suspends clients along with their sites, and ends that (operations §8.2 C10, C11). */

import type { FieldChanges } from '../../runtime/events.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { SuspensionChange } from '../../store/sites/status.js';
import { answerOnSites } from '../actions/run-on-sites.js';
import { reconnectHandler } from '../connection/handlers.js';
import type { Ctx } from '../context.js';
import { type ResolveError, selectionOf } from '../sites/resolve.js';
import { withStorageError } from '../storage-messages.js';
import { type ClientHead, type ClientRef, clientHead, findClient, notFound } from './records.js';

/**
 * Returns how many of the client's sites are suspended now, and how many changed. Throws `svc_client_not_found`.
 * @param only these of its sites; default: all
 */
export async function suspendClient(ctx: Ctx, ref: ClientRef, only?: readonly number[]) {
  const { changed, ...marked } = await markClient(ctx, ref, true, only);
  return { ...marked, sites: changed.length };
}

const SITES_SHOWN = 20;

/** The client and the sites that a suspension, or its end, concerns. Throws `svc_client_not_found`. */
export async function previewSuspension(ctx: Ctx, ref: ClientRef) {
  const client = await findClient(ctx, ref);
  const ids = (await ctx.store.clients.owners(client.id, [])).map(({ id }) => id);
  const shown = await ctx.store.sites.candidates(ids.slice(0, SITES_SHOWN));
  return {
    ...clientHead(client),
    would_affect: { sites: ids.length },
    sites: shown.map(({ id, url, name }) => ({ id, url, name })),
    site_ids: ids.join(', '),
  };
}

/** The sites of a client that were disconnected when its suspension ended. */
export interface ReconnectedSites {
  sites_reconnected: number;
  /** Those that could not be reconnected, or not yet. */
  errors: ResolveError[];
  /** The job that goes on with the others. */
  job_id?: string;
  status_url?: string;
  sites_queued?: number;
}

export interface ReleasedClient extends ClientHead {
  /** How many sites are no longer suspended. */
  sites: number;
  /** Absent if none of them was disconnected. */
  reconnected?: ReconnectedSites;
}

/**
 * Lifts the suspension of a client and all its sites, and then reconnects those that were disconnected: one that does
 * not answer is an entry of `errors`. Throws `svc_client_not_found`.
 */
export async function unsuspendClient(ctx: Ctx, ref: ClientRef, only?: readonly number[]): Promise<ReleasedClient> {
  const { changed, suspended: _none, ...head } = await markClient(ctx, ref, false, only);
  const released = { ...head, sites: changed.length };
  const disconnected = (await ctx.store.sites.candidates(changed)).filter(({ status }) => status === 'disconnected');
  return disconnected.length === 0 ? released : { ...released, reconnected: await reconnect(ctx, disconnected) };
}

async function reconnect(ctx: Ctx, sites: SiteRow[]): Promise<ReconnectedSites> {
  const answer = await answerOnSites(ctx, reconnectHandler, selectionOf(sites));
  const { errors, job_id, status_url, sites_queued } = answer;
  return {
    sites_reconnected: answer.queued ? 0 : answer.sites.length,
    errors,
    ...(job_id === undefined ? {} : { job_id, status_url, sites_queued }),
  };
}

/** Sets or lifts the suspension of a client and its sites in one transaction. */
async function markClient(
  ctx: Ctx,
  ref: ClientRef,
  suspended: boolean,
  only?: readonly number[],
): Promise<ClientHead & { changed: number[]; suspended: number }> {
  const client = await findClient(ctx, ref);
  const marked = await withStorageError(
    'svc_client_update_failed',
    'The client was not changed. Nothing changed.',
    () => ctx.store.clients.mark(client.id, suspended, ctx.clock.now(), only),
  );
  if (marked === undefined) throw notFound(ref);
  const { changed } = marked;
  const wasSuspended = client.suspended === 1;
  if (wasSuspended !== suspended) {
    const name = suspended ? 'client.suspended' : 'client.unsuspended';
    const sites = changed.map(({ id }) => id);
    const changes: FieldChanges = { suspended: [!suspended, suspended], sites: [sites, []] };
    ctx.events.emit({ name, facts: { ...clientHead(client), sites: changed.length }, changed: changes });
  }
  emitSuspensions(ctx, changed, client.id);
  return { ...clientHead(client), changed: changed.map(({ id }) => id), suspended: marked.suspended };
}

/** Emits the events of sites that a change of their client suspended or released. */
function emitSuspensions(ctx: Ctx, changes: readonly SuspensionChange[], clientId: number): void {
  for (const { id, url, suspended } of changes) {
    const name = suspended ? 'site.suspended' : 'site.unsuspended';
    ctx.events.emit({ name, site_id: id, facts: { url, client_id: clientId } });
  }
}
