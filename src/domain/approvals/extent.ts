/** Finds which sites a change would affect, before it is made. */

import type { Change, ChangeKind } from '../../../schemas/approval.js';
import type { SiteRow } from '../../store/sites/sites.js';
import { movingSites } from '../clients/clients.js';
import type { ClientRef } from '../clients/records.js';
import type { AskedChange, Ctx } from '../context.js';
import { getSite, lowestSite, resolveSites, type SiteRef } from '../sites/resolve.js';
import type { Extent } from './rules.js';

/** Kinds that act on sites: without a word on which, it may be any number. */
const ON_SITES: ReadonlySet<ChangeKind> = new Set([
  'updates',
  'rollouts',
  'installs',
  'connections',
  'disconnections',
  'content',
]);

/** Kinds that nothing but a connected site can be the object of. */
const ON_CONNECTED: ReadonlySet<ChangeKind> = new Set(['updates', 'rollouts', 'installs', 'disconnections', 'content']);

/** What of an input names sites, in operations and in routes. */
interface Naming {
  site_id_or_domain?: SiteRef;
  id_or_domain?: SiteRef;
  site_ids_or_domains?: readonly SiteRef[];
  include?: readonly number[];
  /** Of a client: all its sites from now on. */
  selected_sites?: readonly number[] | null;
  client_id_or_email?: ClientRef;
  id_or_email?: ClientRef;
}

/** What of a plan says how many sites it covers. */
interface Plan {
  would_affect?: { sites?: unknown; unguarded_sites?: unknown };
  /** Of rollouts: how many, and how many of these have no guard. */
  sites?: unknown;
  unguarded_sites?: unknown;
  /** Of routes with `dry_run`, which list sites. */
  total?: unknown;
  data?: unknown;
}

export interface Named {
  /** Null: the call names none. */
  sites: SiteRow[] | null;
}

/** The sites that a call names. Throws for a single one that does not exist. */
export async function namedSites(ctx: Ctx, input: unknown): Promise<Named> {
  const named = (input ?? {}) as Naming;
  const { site_id_or_domain, id_or_domain, site_ids_or_domains, include, selected_sites } = named;
  if (site_id_or_domain !== undefined) return { sites: [await getSite(ctx, site_id_or_domain)] };
  if (id_or_domain !== undefined) return { sites: [await lowestSite(ctx, id_or_domain, 'id_or_domain')] };
  const client = named.client_id_or_email ?? named.id_or_email;
  if (selected_sites !== undefined && client !== undefined) {
    const { joining, leaving } = await movingSites(ctx, client, selected_sites ?? []);
    return { sites: (await resolveSites(ctx, [...joining, ...leaving])).sites };
  }
  const several = site_ids_or_domains ?? include ?? selected_sites ?? undefined;
  if (several === undefined || several.length === 0) return { sites: null };
  return { sites: (await resolveSites(ctx, several)).sites };
}

interface ExtentOf extends Named, Pick<AskedChange, 'covers'> {
  /** What would be done, undefined if that is not known. */
  plan: unknown;
}

export function extentOf(ctx: Ctx, change: Change, { sites, covers, plan }: ExtentOf): Extent {
  const { would_affect, sites: listed, unguarded_sites, total, data } = (plan ?? {}) as Plan;
  const planned = typeof listed === 'number' ? listed : undefined;
  const told = would_affect?.sites ?? planned ?? (data === undefined ? undefined : total);
  const counted = typeof told === 'number' ? told : sites?.length;
  const whole = change.sites === 'all';
  const count = typeof change.sites === 'number' ? change.sites : counted;
  return {
    sites: whole ? null : (count ?? (ON_SITES.has(change.kind) ? null : 0)),
    async all() {
      if (whole) return true;
      // Named or not: what covers each site covers all.
      if (sites !== null) return coversFleet(ctx, change.kind, ids(sites));
      if (typeof change.sites === 'number' && covers === undefined) return false;
      if (change.sites === undefined) return told !== undefined;
      const covered = covers === undefined ? 'all' : await covers(change.kind);
      return covered === 'all' || coversFleet(ctx, change.kind, covered);
    },
    async unguarded() {
      if (ctx.config.safe_updates === 'off') return sites === null || sites.length > 0;
      const bare = would_affect?.unguarded_sites ?? unguarded_sites;
      if (typeof bare === 'number') return bare > 0;
      return sites === null || (await ctx.store.approvals.unguarded(ids(sites))) > 0;
    },
  };
}

const ids = (sites: readonly SiteRow[]) => sites.map(({ id }) => id);

/**
 * Whether no site is missing on which such a change could do anything: leaving out only the others must not make less of
 * the call. Of a fleet of one site, that site is named for itself.
 */
async function coversFleet(ctx: Ctx, kind: ChangeKind, covered: readonly number[]): Promise<boolean> {
  const { sites } = ctx.store;
  const coversAll = async (status?: 'connected') =>
    (await sites.count({ status })) > 1 && (await sites.count({ status, exclude: covered })) === 0;
  return (await coversAll()) || (ON_CONNECTED.has(kind) && coversAll('connected'));
}
