/** Imports a fleet: every site ends up in exactly one list, and running it again completes the rest. */

import type { FleetIgnored } from '../../../schemas/fleet.js';
import { ServiceError } from '../../runtime/errors.js';
import { pooled } from '../../runtime/pool.js';
import type { Ctx } from '../context.js';
import { addIgnoredEverywhere } from '../updates/ignored-everywhere.js';
import { type Count, ignoredItems, ignoredRows, linkCosts, linkFleet } from './links.js';
import { type Fleet, type Invalid, placeOf } from './read.js';
import { shownAddress } from './record.js';
import { importSite, type Outcome, type Prepared, prepare } from './site.js';

type Of<L extends Outcome['list']> = Omit<Extract<Outcome, { list: L }>, 'list'>;

export interface ImportReport {
  dry_run: boolean;
  /** The sites are on trial: read here, still changed by the other dashboard. */
  parallel: boolean;
  source: Fleet['source'];
  /** `site_id` null in a dry run. */
  imported: { site_id: number | null; url: string; name: string }[];
  exists: Of<'exists'>[];
  unreachable: Of<'unreachable'>[];
  invalid: Invalid[];
  /** Not reached because the run was ended early. */
  pending: Of<'pending'>[];
  tags: Count;
  clients: Count;
  costs: Count;
  /** How many entries are ignored on every site from now on, and which. */
  ignored_everywhere: number;
  ignored: FleetIgnored[];
  warnings: string[];
}

/**
 * Imports a fleet: tags and clients first, then the sites, in parallel within the limits of the child connection, then
 * the costs, which refer to sites. In a dry run nothing is written and no site is contacted.
 */
export async function importFleet(
  ctx: Ctx,
  fleet: Fleet,
  { dryRun, parallel }: { dryRun: boolean; parallel: boolean },
): Promise<ImportReport> {
  const { ready, invalid } = prepareAll(fleet);
  const known = await knownSites(ctx, ready);
  const links = await linkFleet(ctx, fleet, dryRun);
  const ignored = await addIgnoredEverywhere(ctx, ignoredRows(fleet.ignored), dryRun);
  const outcomes = new Map<Prepared, Outcome>();
  let done = 0;
  await pooled(ready, ctx.config.concurrency, async (site) => {
    const stored = known.get(site.address.url_key);
    const outcome = dryRun
      ? foreseen(site, stored)
      : ctx.signal.aborted
        ? { list: 'pending' as const, url: site.address.url }
        : await importSite(ctx, site, stored, links, parallel);
    outcomes.set(site, outcome);
    ctx.progress({ done: ++done, total: ready.length, message: site.address.url });
  });
  const siteIds = new Map(
    ready.flatMap((site) => {
      const outcome = outcomes.get(site);
      return outcome !== undefined && 'site_id' in outcome && outcome.site_id !== null
        ? [[site.key, outcome.site_id] as const]
        : [];
    }),
  );
  // A run that was ended early leaves the costs to the next one.
  const costs = ctx.signal.aborted
    ? { count: { added: 0, exists: 0 }, warnings: [] }
    : await linkCosts(ctx, fleet, links, siteIds, dryRun);
  const all = ready.flatMap((site) => outcomes.get(site) ?? []);
  const list = <L extends Outcome['list']>(name: L) =>
    all.flatMap((outcome) => {
      const { list: its, ...rest } = outcome;
      return its === name ? [rest as unknown as Of<L>] : [];
    });
  const refused = ready.flatMap((site) => {
    const outcome = outcomes.get(site);
    if (outcome?.list !== 'invalid') return [];
    return [{ where: placeOf(site.key), url: outcome.url, message: outcome.message }];
  });
  return {
    dry_run: dryRun,
    parallel,
    source: { ...fleet.source, url: shownAddress(fleet.source.url) },
    imported: dryRun ? list('imported').map((site) => ({ ...site, site_id: null })) : list('imported'),
    exists: list('exists'),
    unreachable: list('unreachable'),
    invalid: [...invalid, ...refused],
    pending: list('pending'),
    ...links.counts,
    costs: costs.count,
    ignored_everywhere: ignored.length,
    ignored: ignoredItems(ignored),
    warnings: [...fleet.warnings, ...links.warnings, ...costs.warnings],
  };
}

/** Addresses and keys in stored form. If two records have one address, the first counts. */
function prepareAll(fleet: Fleet): { ready: Prepared[]; invalid: Invalid[] } {
  const invalid = [...fleet.invalid];
  const ready = new Map<string, Prepared>();
  for (const site of fleet.sites) {
    try {
      const prepared = prepare(site);
      const { url_key, url } = prepared.address;
      if (ready.has(url_key))
        invalid.push({ where: placeOf(site.key), url, message: 'url: the file has this site twice.' });
      else ready.set(url_key, prepared);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      invalid.push({ where: placeOf(site.key), url: shownAddress(site.url), message: error.message });
    }
  }
  return { ready: [...ready.values()], invalid };
}

async function knownSites(ctx: Ctx, sites: readonly Prepared[]) {
  const rows = await ctx.store.siteImport.known(sites.map((site) => site.address.url_key));
  return new Map(rows.map((row) => [row.url_key, row]));
}

function foreseen(site: Prepared, known: { id: number; url: string; name: string } | undefined): Outcome {
  if (known !== undefined) return { list: 'exists', site_id: known.id, url: known.url, name: known.name };
  return { list: 'imported', site_id: 0, url: site.address.url, name: site.name };
}
