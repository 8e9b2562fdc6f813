/** Clients in the time tracker: hours worked for each, and how much of it is billed (REST §6.9.1). */

import { timestampOf } from '../../runtime/iso-time.js';
import type { ClientFilter, ClientItemRow } from '../../store/clients/rows.js';
import type { PriceGroup } from '../../store/time-tracker/tasks.js';
import { findClient } from '../clients/records.js';
import type { Ctx } from '../context.js';
import { priceOf } from './views.js';

/** Not sent to the client yet. */
const UNBILLED: ReadonlySet<string> = new Set(['unbilled', 'draft']);
/** Abandoned: neither billed nor to be billed. */
const DROPPED: ReadonlySet<string> = new Set(['canceled', 'refunded', 'write_off']);

export async function listTrackerClients(ctx: Ctx, filter: ClientFilter, page: number, perPage: number) {
  const { items, total } = await ctx.store.clients.list(filter, page, perPage);
  return { items: await views(ctx, items), total, page, per_page: perPage };
}

/** Throws `svc_client_not_found`. */
export async function getTrackerClient(ctx: Ctx, ref: number | string) {
  const client = await findClient(ctx, ref);
  const [view] = await views(ctx, [client]);
  return view;
}

async function views(ctx: Ctx, clients: readonly ClientItemRow[]) {
  if (clients.length === 0) return [];
  const ids = clients.map(({ id }) => id);
  const [groups, own, buckets] = await Promise.all([
    ctx.store.timeTasks.clientSums(ids, ctx.clock.now()),
    ctx.store.timeSettings.withOwn(ids),
    ctx.store.timeBuckets.countFor(ids),
  ]);
  const byClient = new Map<number, PriceGroup[]>(ids.map((id) => [id, []]));
  for (const group of groups) byClient.get(group.client_id ?? 0)?.push(group);
  return clients.map((client) => {
    const mine = byClient.get(client.id) ?? [];
    const sum = (pick: (group: PriceGroup) => number) => mine.reduce((total, group) => total + pick(group), 0);
    const last = Math.max(0, ...mine.map((group) => group.last_activity));
    return {
      id: client.id,
      name: client.name,
      email: client.email,
      status: client.suspended === 1 ? 'suspended' : 'active',
      settings_source: own.has(client.id) ? 'client' : 'global',
      tasks_count: sum((group) => group.tasks),
      running_tasks: sum((group) => group.running),
      duration_seconds: sum((group) => group.duration_seconds),
      billable_seconds: sum((group) => group.billable_seconds),
      billed_total: priceOf(mine.filter((g) => !UNBILLED.has(g.payment_status) && !DROPPED.has(g.payment_status))),
      unbilled_total: priceOf(mine.filter((g) => UNBILLED.has(g.payment_status))),
      buckets_count: buckets.get(client.id) ?? 0,
      last_activity_at: last === 0 ? null : timestampOf(last),
    };
  });
}
