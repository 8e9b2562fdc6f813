/** Tells how the items of an interrupted guarded run ended, once a later run has finished it, and what it leaves to be tried. */

import { siteWord } from '../../../../schemas/site-text.js';
import type { ChangeRow } from '../../../store/safety/changes.js';
import type { FleetOffer } from '../../../store/updates/updates.js';
import type { Ctx } from '../../context.js';
import type { LoadedSite } from '../../sites/load.js';
import type { UpdateParams } from '../params.js';
import { refusal } from '../plan.js';
import {
  type Applied,
  type ApplyError,
  type ApplyResult,
  applied,
  BROKE,
  failed,
  isHarm,
  type Suspect,
  UPDATE_TYPES,
} from '../results.js';
import { type Evidence, UNTRIED_ON_BROKEN } from './run-state.js';

/**
 * Null if the run had begun no item on the site. Items that are still offered, because they were not sent or were rolled back
 * without being at fault, are in neither list.
 */
export async function finishedRun(ctx: Ctx, target: LoadedSite): Promise<ApplyResult | null> {
  const rows = await ctx.store.safeChanges.ofRun(ctx.run_id, target.site.id);
  if (rows.length === 0) return null;
  return {
    updated: rows.flatMap((row) => (row.outcome === 'kept' ? appliedAs(target, row) : [])),
    errors: rows.flatMap((row) => errorOf(target, row) ?? []),
    suspects: rows.flatMap((row) => suspectOf(target, row) ?? []),
  };
}

/**
 * What a run still tries of these updates. A second pass takes the site as the first one left it for its baseline: what harmed
 * it would pass there. Nothing is tried on a site that was left unhealthy.
 */
export function leftToTry(
  target: LoadedSite,
  { past = [] }: UpdateParams,
  offers: readonly FleetOffer[],
): { offers: FleetOffer[]; refused: ApplyError[] } {
  const harmful = past.filter(({ code }) => isHarm(code));
  const left = offers.filter(
    ({ type, slug }) => !harmful.some((one) => one.type === UPDATE_TYPES[type] && one.slug === slug),
  );
  if (!harmful.some(({ code }) => code === BROKE)) return { offers: left, refused: [] };
  return { offers: [], refused: left.map((offer) => refusal(target, offer, 'svc_site_unhealthy', UNTRIED_ON_BROKEN)) };
}

function appliedAs(target: LoadedSite, row: ChangeRow): Applied {
  return applied(target, UPDATE_TYPES[row.type] ?? 'plugin', row, row.old_version, row.new_version);
}

function suspectOf({ site }: LoadedSite, { id, slug, outcome, evidence }: ChangeRow): Suspect | null {
  const { suspect = [] } = JSON.parse(evidence ?? '{}') as Partial<Evidence>;
  if (outcome !== 'kept' || suspect.length === 0) return null;
  return { site_id: site.id, change_id: id, slug, findings: suspect };
}

function errorOf(target: LoadedSite, row: ChangeRow): ApplyError | null {
  if (row.outcome !== 'rolled_back' && row.outcome !== 'broken') return null;
  const { seen, by, without_fault } = JSON.parse(row.evidence ?? '{}') as Evidence;
  if (without_fault === true) return null;
  const broken = row.outcome === 'broken';
  const what = broken
    ? `After the update to ${siteWord(row.new_version)} the site is unhealthy. A person needs to look at it.`
    : `Version ${siteWord(row.new_version)} was installed and broke the site. ${by === 'guard' ? "The site's guard" : 'Sitefleet'} rolled back to ${siteWord(row.old_version)}.`;
  const entry = failed(
    target,
    UPDATE_TYPES[row.type] ?? 'plugin',
    row.slug,
    broken ? BROKE : 'svc_update_rolled_back',
    [what, ...seen].join(' '),
  );
  return { ...entry, change_id: row.id, evidence: seen };
}
