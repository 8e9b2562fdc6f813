/**
 * When a rollout stops on its own. An item is halted as its version is quarantined: one site keeps it from the others for
 * a day at most, and only if requests of ours showed it. Harm or failures on several sites halt all, until a person decides.
 */

import { siteWord } from '../../../../schemas/site-text.js';
import { isoTime } from '../../../runtime/iso-time.js';
import type { PlanItem } from '../../../store/rollouts/plans.js';
import type { HaltRow, HarmfulItem, RolloutRow, WaveRow } from '../../../store/rollouts/rollouts.js';
import { loggedStep } from '../../action-log/step.js';
import type { Ctx } from '../../context.js';
import { UPDATE_TYPES } from '../results.js';
import { ONE_SITE_MS } from '../safe/quarantine.js';
import type { Rules } from './rules.js';

/** Applies the rules to what has happened so far; true if the rollout does not go on. */
export async function applyHaltRules(ctx: Ctx, rollout: RolloutRow, wave: number): Promise<boolean> {
  const { rollouts } = ctx.store;
  const { id } = rollout;
  const { halt_sites } = JSON.parse(rollout.rules) as Rules;
  const harm = await rollouts.harm(id, wave);
  for (const item of harm.items) await haltOrRelease(ctx, id, item);
  const bad = new Set([...harm.harmed, ...harm.down]).size;
  if (bad >= halt_sites)
    return halt(ctx, id, `${bad} ${bad === 1 ? 'site' : 'sites'} broke or went down; the limit is ${halt_sites}.`);
  if (!areTooManyFailures(rollout, harm)) return false;
  // What one site says of itself keeps the others waiting for a day, and not until a person comes.
  if (harm.failed === 1 && (await rollouts.anythingLeft(id))) return false;
  return halt(ctx, id, failureWords(rollout, harm, wave));
}

interface Failures {
  failed: number;
  sites: number;
}

function limitOf({ rules }: RolloutRow): number {
  return (JSON.parse(rules) as Rules).halt_percent;
}

function areTooManyFailures(rollout: RolloutRow, { failed, sites }: Failures): boolean {
  return failed > 0 && failed * 100 >= limitOf(rollout) * sites;
}

function failureWords(rollout: RolloutRow, { failed, sites }: Failures, wave: number): string {
  return `Updates failed on ${failed} of ${sites} sites of wave ${wave}; the limit is ${limitOf(rollout)} %.`;
}

/** Halts an item, or lets it go on, as what is known of it says. */
async function haltOrRelease(ctx: Ctx, id: string, item: HarmfulItem): Promise<void> {
  const until = untilOf(ctx, item);
  if (item.halted === 1 && item.until === until) return;
  if (until !== undefined) return haltItem(ctx, id, item, until);
  if (item.halted === 0) return;
  const detail =
    item.until === null
      ? `${wordsOf(item)} is not quarantined on all sites any more: it goes on.`
      : `${wordsOf(item)} broke site ${item.site_id}, and no other site has confirmed it: it goes on.`;
  await loggedStep(ctx, { name: 'rollout.item_released', facts: { rollout_id: id, detail } }, () =>
    ctx.store.rollouts.releaseItem(id, item, ctx.clock.now()),
  );
}

/** Until when an item is halted; null = until a person decides, undefined = it is not. */
function untilOf(ctx: Ctx, { fleet, fleet_until, broken, halted_at }: HarmfulItem): number | null | undefined {
  // Left broken, a site shows nothing of the cause, so its version is not quarantined.
  if ((fleet === 1 && fleet_until === null) || broken > 1) return null;
  if (fleet === 1) return fleet_until;
  if (broken === 0) return undefined;
  const until = (halted_at ?? ctx.clock.now()) + ONE_SITE_MS;
  return hasCome(ctx, until) ? undefined : until;
}

/** A clock that was set forward shortens no wait. */
export function hasCome({ clock }: Ctx, time: number): boolean {
  return clock.now() - clock.steps(ONE_SITE_MS).forward >= time;
}

async function haltItem(
  ctx: Ctx,
  id: string,
  item: Pick<HaltRow, 'type' | 'slug' | 'version' | 'site_id'>,
  until: number | null,
): Promise<void> {
  const what = `${wordsOf(item)} broke site ${item.site_id}: it goes to no further site`;
  const detail = until === null ? `${what}.` : `${what} before ${isoTime(until)}, unless another confirms it.`;
  await loggedStep(ctx, { name: 'rollout.item_halted', facts: { rollout_id: id, detail } }, () =>
    ctx.store.rollouts.haltItem(id, { ...item, until }, ctx.clock.now()),
  );
}

function wordsOf({ type, slug, version }: Pick<HaltRow, 'type' | 'slug' | 'version'>): string {
  return `The ${UPDATE_TYPES[type]} ${siteWord(slug)} ${siteWord(version)}`;
}

/** What the halts of a rollout mean for each of the items: the halt, or undefined if it goes on. */
export async function haltsOf<T extends PlanItem>(
  ctx: Ctx,
  id: string,
  items: readonly T[],
): Promise<{ item: T; halted: HaltRow | undefined }[]> {
  const key = ({ type, slug, version }: Pick<HaltRow, 'type' | 'slug' | 'version'>) =>
    JSON.stringify([type, slug, version]);
  const versions = items.map(({ type, slug, new_version: version }) => ({ type, slug, version }));
  const halts = new Map((await ctx.store.rollouts.halted(id)).map((row) => [key(row), row]));
  // What broke a site outside of this rollout, and is quarantined on all sites for a day, waits here, too.
  for (const row of await ctx.store.quarantine.among(versions)) {
    if (halts.has(key(row)) || row.scope === 'site' || row.fleet_until === null) continue;
    await haltItem(ctx, id, row, row.fleet_until);
    halts.set(key(row), { ...row, at: ctx.clock.now(), until: row.fleet_until });
  }
  return items.map((item, at) => {
    const version = versions[at];
    return { item, halted: version && halts.get(key(version)) };
  });
}

/**
 * Ends a wave that has soaked, unless it shows too little, or too many failures, for the next one to begin. If a single site
 * is the reason, as the only one that failed, or as the only one of the first wave, the next one waits for a day since
 * then, and the rollout goes on. False: nothing happened.
 */
export async function endOrHold(ctx: Ctx, rollout: RolloutRow, row: WaveRow): Promise<boolean> {
  const { rollouts } = ctx.store;
  const { id } = rollout;
  const { wave } = row;
  if (!(await rollouts.anythingLeft(id))) return rollouts.endWave(id, wave);
  const harm = await rollouts.harm(id, wave);
  // Left alone by an ignored update, a cancelled job or a newer version, the first sites have shown nothing.
  const none = wave === 1 && !(await rollouts.hasKept(id, wave));
  const nothing = 'None of the updates of the first wave was made, so nothing is known about them.';
  if (none && !(await rollouts.isOneSitesDoing(id, wave))) return halt(ctx, id, nothing);
  const failures = areTooManyFailures(rollout, harm);
  if (!none && !failures) return rollouts.endWave(id, wave);
  const why = failures ? failureWords(rollout, harm, wave) : nothing;
  const until = (row.worked_at ?? 0) + ONE_SITE_MS;
  const waits = !hasCome(ctx, until);
  const name = waits ? 'rollout.wave_held' : 'rollout.wave_released';
  const detail = waits
    ? `${why} It is one site only: the next wave waits until ${isoTime(until)}.`
    : `${why} It is one site only, and a day has passed: the rollout goes on.`;
  return loggedStep(ctx, { name, facts: { rollout_id: id, detail } }, () =>
    waits ? rollouts.soakOn(id, wave, until) : rollouts.endWave(id, wave),
  );
}

/** Halts a rollout. */
export async function halt(ctx: Ctx, id: string, reason: string): Promise<true> {
  const change = { state: 'halted' as const, reason, at: ctx.clock.now() };
  await loggedStep(ctx, { name: 'rollout.halted', facts: { rollout_id: id, detail: reason } }, () =>
    ctx.store.rollouts.change(id, ['running', 'paused'], change),
  );
  return true;
}
