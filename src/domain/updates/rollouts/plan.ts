/**
 * Plans of updates: which items on which sites, in which waves, what protects each, and what is left out and why. Contacts
 * no site and changes nothing; the plan is kept for a day, so that exactly what was shown can be started.
 */

import { createHash, randomUUID } from 'node:crypto';
import { fold } from '../../../../schemas/fold.js';
import { MOST_WAVES, type planInput, type planShape, WEEKDAYS } from '../../../../schemas/rollout.js';
import { levelName } from '../../../../schemas/search.js';
import { siteWord } from '../../../../schemas/site-text.js';
import type { z } from '../../../../schemas/zod.js';
import { credentialOf } from '../../../runtime/actor.js';
import { ServiceError } from '../../../runtime/errors.js';
import { groupBy } from '../../../runtime/group-by.js';
import { timestampOf } from '../../../runtime/iso-time.js';
import { turnForEach } from '../../../runtime/turns.js';
import type { PlanItem, PlanRow } from '../../../store/rollouts/plans.js';
import type { FleetOffer } from '../../../store/updates/updates.js';
import { chooseSites } from '../../actions/run-on-sites.js';
import { counted, sentences } from '../../common/question.js';
import type { Ctx } from '../../context.js';
import { slugForms } from '../../extensions/names.js';
import { limitsOf, narrowingOf, narrowSites, requireOwners, withinLimits } from '../../extensions/offer-filters.js';
import { guidanceFor, guidanceWords } from '../../guidance/guidance.js';
import { resolveSites } from '../../sites/resolve.js';
import { allSites } from '../../sites/sites.js';
import { fixesOf } from '../../vulnerabilities/fixes.js';
import { backupsAhead, needsBackup, REQUIRED } from '../backup-first.js';
import { usableSites } from '../preview.js';
import { releasedAmong, releasedWords } from '../released.js';
import { awaitsCore, coreBySite, isBeyond, MISSING } from '../requirements.js';
import { UPDATE_TYPES } from '../results.js';
import { typeNumbers } from '../updates.js';
import { canaryWords, meritsOf, noneKnown } from './canary-choice.js';
import { AWAITS_WORDPRESS, leftOutWords, protectionWords, risksWords, wavesWords } from './plan-words.js';
import {
  concernedBy,
  keysOf,
  protectionCounts,
  protectionOf,
  type Risk,
  riskCounts,
  versionKey,
  withRisks,
} from './risks.js';
import type { Rules } from './rules.js';
import { startAhead } from './start.js';
import { canariesAsked, divided } from './waves.js';

/** How long a site on which alone an update failed comes last in rollouts. */
const TROUBLED_DAYS = 30;
const DAY_MS = 86_400_000;
/** How long a plan can be started. */
const LIFE_MS = DAY_MS;
/** Items counted one by one. */
export const ITEMS = 5;
/** Sites named per reason. */
const NAMED = 5;
/** Anyone who may read may plan, and the thread that plans also does the work of others: they come in between. */
const turn = turnForEach();

export type PlanInput = z.output<z.ZodObject<ReturnType<typeof planInput>>> & {
  /** Of policies: fixes of known vulnerabilities may be of any age. */
  vulnerable_at_once?: boolean;
  /** Of the settings: of plugins and themes only these, and nothing on sites that take no automatic updates. */
  trusted?: { plugins: readonly string[]; themes: readonly string[] } | undefined;
  /** Of policies: the only sites; a person is asked for others apart. */
  agreed?: ReadonlySet<number> | undefined;
};
type Plan = z.input<ReturnType<typeof planShape>>;

/** An item with what only its plan shows. */
interface Planned extends PlanItem {
  risks: Risk[];
  age: number | null;
}
interface LeftOut {
  site_id: number;
  /** False: the whole site, of which no update is known. */
  update: boolean;
  reason: string;
}

/** Plans, keeps the plan, and returns a page of it. */
export async function planUpdatesOf(ctx: Ctx, input: PlanInput, page: number, perPage: number): Promise<Plan> {
  const drawn = await drawnUp(ctx, input);
  const { id: plan_id, digest, expires_at } = await kept(ctx, drawn.rules, drawn.items);
  const { items, view } = await guidedView(ctx, drawn);
  const needs_approval = items.length === 0 ? null : await startAhead(ctx, { plan_id, digest });
  const summary = sentences(view.summary, needs_approval ?? '');
  return {
    ...{ plan_id, digest, expires_at: timestampOf(expires_at) },
    ...{ ...view, summary, needs_approval },
    ...pageOf(items, page, perPage),
  };
}

/** What the same plan would say, without its items: nothing is kept, so it cannot be started. */
export async function previewPlan(ctx: Ctx, input: PlanInput) {
  return (await guidedView(ctx, await drawnUp(ctx, input))).view;
}

/** With what is said of these sites: our own words tell to heed only what a person has said. */
async function guidedView(ctx: Ctx, drawn: Drawn) {
  const guidance = await guidanceFor(ctx, [...new Set(drawn.items.map(({ site_id }) => site_id))]);
  if (guidance === undefined) return { items: drawn.items, view: planView(drawn) };
  const { lines, said } = guidance;
  const concerned = concernedBy(drawn.items, said, drawn.clientOf);
  const items = drawn.items.map((item): Planned => {
    return concerned.has(item) ? { ...item, risks: [...item.risks, 'guidance'] } : item;
  });
  const view = planView({ ...drawn, items });
  const summary = sentences(view.summary, ...guidanceWords(guidance));
  return { items, view: { ...view, summary, guidance: lines } };
}

interface Drawn {
  rules: Rules;
  items: readonly Planned[];
  left: readonly LeftOut[];
  /** Clients of the sites. */
  clientOf: ReadonlyMap<number, number | null>;
  /** Which sites were chosen to be the first, and why; '' = by their versions. */
  canaries: string;
  /** What is known of versions that were quarantined before. */
  released: readonly string[];
  /** Sites of which a backup is made first. */
  backups: number;
}

async function drawnUp(ctx: Ctx, input: PlanInput): Promise<Drawn> {
  const rules = rulesOf(input);
  const { offers, left, ageOf, down, guarded, elsewhere, clientOf, backups } = await chosenOffers(ctx, input);
  const { waves, canaries } = await wavesOf(ctx, input, offers, down, guarded);
  const waveOf = new Map(waves.flatMap((ids, at) => ids.map((id) => [id, at + 1] as const)));
  const planned = offers.map((offer) => {
    const { site_id, type, slug, name, current_version: old_version, new_version, level = null } = offer;
    return {
      ...{ site_id, type, slug, name, old_version, new_version, level },
      protection: protectionOf(type, site_id, guarded),
      wave: waveOf.get(site_id) ?? 1,
      age: ageOf(offer),
    };
  });
  const released = await releasedAmong(ctx, planned);
  const items: Planned[] = withRisks(planned, { down, elsewhere, before: keysOf(released) });
  items.sort((a, b) => a.wave - b.wave || a.site_id - b.site_id || a.type - b.type || (a.slug < b.slug ? -1 : 1));
  return { rules, items, left, canaries, clientOf, released: releasedWords(released), backups };
}

/** Throws as planning would for what names nothing, and for what contradicts itself. */
export async function checkPlanInput(ctx: Ctx, input: PlanInput): Promise<void> {
  rulesOf(input);
  const { slugs, exclude_slugs, tag_ids, client_ids, site_ids_or_domains: refs } = input;
  await narrowingOf(ctx, { slug: slugs, exclude_slugs, tag_ids, client_ids }, 'slugs');
  await requireSites(ctx, refs, 'site_ids_or_domains');
  await excludedSites(ctx, input);
  await candidatesOf(ctx, input.waves.canary_tag_ids, input.waves.canary_sites);
  if (input.waves.sizes.length > MOST_WAVES - 2) throw tooManyWaves(input.waves.sizes.length + 2);
}

function rulesOf(input: PlanInput): Rules {
  const { waves, window } = input;
  const { soak_minutes, approve: approve_waves, halt_sites, halt_percent } = waves;
  if (window !== undefined && window.from === window.to)
    throw new ServiceError('svc_invalid_input', 'window.from and window.to are the same: the window would be empty.', {
      field: 'window',
      advice: 'Give it a length, or leave it out for all day.',
    });
  const days = window?.days.map((day) => WEEKDAYS.indexOf(day)) ?? [];
  const all = days.length === 0 ? WEEKDAYS.map((_, day) => day) : [...new Set(days)].sort();
  return {
    ...{ soak_minutes, approve_waves, halt_sites, halt_percent },
    window: window === undefined ? null : { days: all, from: window.from, to: window.to },
    every_site: !isOfSomeSites(input),
  };
}

/** Whether something narrows the plan to some sites. What only narrows the updates still means every site. */
function isOfSomeSites(input: PlanInput): boolean {
  const { site_ids_or_domains, tag_ids, client_ids, exclude_sites, exclude_tag_ids, exclude_client_ids } = input;
  const lists = [site_ids_or_domains, tag_ids, client_ids, exclude_sites, exclude_tag_ids, exclude_client_ids];
  return input.trusted !== undefined || lists.some(({ length }) => length > 0);
}

/** What the filters match, divided into what is planned and what is left out. */
async function chosenOffers(ctx: Ctx, input: PlanInput) {
  const { store } = ctx;
  await turn();
  const { site_ids_or_domains: refs, types: groups, slugs, exclude_slugs, tag_ids, client_ids, level } = input;
  const narrowing = await narrowingOf(ctx, { slug: slugs, exclude_slugs, tag_ids, client_ids, level }, 'slugs');
  const types = typeNumbers(groups);
  const selection = await chooseSites(ctx, refs, { whenEmpty: (own) => allSites(own, {}) });
  const sites =
    narrowing === undefined ? selection.sites : await narrowSites(ctx, selection.sites, narrowing, types, true);
  const ids = sites.map(({ id }) => id);
  const limits = narrowing === undefined ? {} : limitsOf(narrowing);
  const [open, ignored, { usable, errors }, down, guarded, seen, held, willing, excluded] = await Promise.all([
    store.updates.ofSites(ids, types),
    store.updates.ignoredOf(ids, types),
    usableSites(ctx, sites),
    store.rolloutPlans.down(ids),
    store.updatePlans.guarded(),
    store.rolloutPlans.firstSeen(),
    store.rolloutPlans.quarantined(),
    willingSites(ctx, input),
    excludedSites(ctx, input),
  ]);
  const may = new Set(usable);
  const trusts = trustOf(input);
  const obstacles = new Map(errors.map(({ site_id, code }) => [site_id, code]));
  const now = ctx.clock.now();
  const dates = new Map(seen.map((one) => [versionKey({ ...one, new_version: one.version }), one]));
  const ageOf = (offer: FleetOffer): number | null => {
    const date = dates.get(versionKey(offer));
    const since = date?.first_site === offer.site_id ? date.first_seen : (date?.second_seen ?? null);
    return since === null ? null : (now - since) / DAY_MS;
  };
  const fits = (offer: FleetOffer) => withinLimits(offer, limits) && trusts(offer);
  const found = open.filter(fits);
  const young = input.vulnerable_at_once === true && input.minimum_age_days > 0;
  const fixes = input.only_vulnerable || young ? await fixesOf(ctx, found) : new Map<number, string[]>();
  const reasonOf = (offer: FleetOffer, at: number): string | undefined => {
    const asked = excluded.get(offer.site_id);
    if (asked !== undefined) return asked;
    if (willing?.has(offer.site_id) === false) return 'automatic_update_off';
    if (!may.has(offer.site_id)) return reason(obstacles.get(offer.site_id) ?? 'svc_site_not_found');
    if (offer.quarantined === 1) return reason('svc_version_quarantined');
    if (input.agreed?.has(offer.site_id) === false) return 'asked_apart';
    if (isBeyond(offer)) return reason(MISSING);
    if (input.only_vulnerable && !fixes.has(at)) return 'no_known_fix';
    if (young && fixes.has(at)) return undefined;
    const age = ageOf(offer);
    if (input.minimum_age_days > 0 && age === null) return 'age_unknown';
    return age !== null && age < input.minimum_age_days ? 'too_young' : undefined;
  };
  const first = found.map(reasonOf);
  const backups = await backupsAhead(
    ctx,
    found.filter((_, at) => first[at] === undefined),
  );
  const why = found.map((offer, at) =>
    first[at] === undefined && needsBackup(offer) && backups.refused.has(offer.site_id) ? reason(REQUIRED) : first[at],
  );
  const offers = found.filter((_, at) => why[at] === undefined);
  const cores = coreBySite(offers);
  const left: LeftOut[] = selection.errors.map(({ site_id, code }) => {
    return { site_id: site_id ?? 0, update: false, reason: reason(code) };
  });
  for (const [at, offer] of found.entries()) {
    const code = why[at];
    if (code === undefined) continue;
    const awaits = code === reason(MISSING) && awaitsCore(offer, cores);
    left.push({ site_id: offer.site_id, update: true, reason: awaits ? AWAITS_WORDPRESS : code });
  }
  for (const offer of ignored) if (fits(offer)) left.push({ site_id: offer.site_id, update: true, reason: 'ignored' });
  const elsewhere = keysOf(held);
  const clientOf = new Map(sites.map(({ id, client_id }) => [id, client_id]));
  return { offers, left, ageOf, down, guarded, elsewhere, clientOf, backups: backups.made.size };
}

/** By id the sites that are to be left out, and by what. Throws for a site, tag or client that there is not. */
async function excludedSites(
  ctx: Ctx,
  { exclude_sites, exclude_tag_ids: tags, exclude_client_ids: clients }: PlanInput,
): Promise<ReadonlyMap<number, string>> {
  await requireOwners(ctx, tags, [], 'exclude_tag_ids');
  await requireOwners(ctx, [], clients, 'exclude_client_ids');
  const { narrowedUpdates } = ctx.store;
  const [named, tagged, owned] = await Promise.all([
    requireSites(ctx, exclude_sites, 'exclude_sites'),
    tags.length === 0 ? [] : narrowedUpdates.sitesOf({ tags }),
    clients.length === 0 ? [] : narrowedUpdates.sitesOf({ clients }),
  ]);
  const by = (reason: string, ids: Iterable<number>) => [...ids].map((id) => [id, reason] as const);
  return new Map([
    ...by('excluded_client', owned),
    ...by('excluded_tag', tagged),
    ...by(
      'excluded_site',
      named.map(({ id }) => id),
    ),
  ]);
}

/** Sites that take automatic updates; undefined if that is not asked for. */
async function willingSites(
  { store }: Ctx,
  { trusted }: Pick<PlanInput, 'trusted'>,
): Promise<ReadonlySet<number> | undefined> {
  return trusted === undefined ? undefined : store.policies.willingSites();
}

/** Whether an item may be updated without being looked at. Goes by slugs: items choose their names themselves. */
export function trustOf({ trusted }: Pick<PlanInput, 'trusted'>): (item: { type: number; slug: string }) => boolean {
  if (trusted === undefined) return () => true;
  const forms = { plugin: new Set(trusted.plugins.map(fold)), theme: new Set(trusted.themes.map(fold)) };
  return ({ type, slug }) => {
    const word = UPDATE_TYPES[type];
    return (word !== 'plugin' && word !== 'theme') || slugForms(slug).some((form) => forms[word].has(form));
  };
}

/** `version_quarantined` for `svc_version_quarantined`. */
function reason(code: string): string {
  return code.replace(/^svc_/, '');
}

/** None of the sites that were chosen as the first has an update, or can be told from the others. */
export class NoFirstSite extends ServiceError {}

async function wavesOf(
  ctx: Ctx,
  input: PlanInput,
  offers: readonly FleetOffer[],
  down: ReadonlySet<number>,
  guarded: ReadonlySet<number>,
): Promise<{ waves: number[][]; canaries: string }> {
  await turn();
  const { canaries, canary_choice: choice, canary_tag_ids: tags, canary_sites: refs, sizes } = input.waves;
  const bySite = groupBy(offers, ({ site_id }) => site_id);
  const merits = choice === undefined ? undefined : await meritsOf(ctx, choice, [...bySite.keys()]);
  const troubled = await ctx.store.rolloutPlans.troubled(ctx.clock.now() - TROUBLED_DAYS * DAY_MS);
  const sites = [...bySite].map(([site_id, own]) => {
    const rank = merits?.ranks.get(site_id);
    const state = { down: down.has(site_id), guarded: guarded.has(site_id), troubled: troubled.has(site_id) };
    return { site_id, items: own.map(versionKey), ...state, rank };
  });
  sites.sort((a, b) => a.site_id - b.site_id);
  const candidates = tags.length + refs.length === 0 ? undefined : await candidatesOf(ctx, tags, refs);
  if (candidates !== undefined && sites.length > 0 && !sites.some(({ site_id }) => candidates.has(site_id)))
    throw new NoFirstSite('svc_invalid_input', 'None of the canaries has an update of this plan.', {
      field: refs.length > 0 ? 'waves.canary_sites' : 'waves.canary_tag_ids',
      advice: 'Choose others, or give a number with canaries.',
    });
  const { able, count: asked } = canariesAsked(sites, canaries, candidates);
  if (merits !== undefined && able.length > 0 && !able.some(({ rank }) => rank !== undefined)) {
    const { message, advice } = noneKnown(merits.choice);
    throw new NoFirstSite('svc_invalid_input', message, { field: 'waves.canary_choice', advice });
  }
  const waves = divided(sites, { canaries, candidates, sizes, ranked: merits !== undefined });
  if (waves.length > MOST_WAVES) throw tooManyWaves(waves.length);
  const [first] = waves;
  if (merits === undefined || first === undefined) return { waves, canaries: '' };
  return { waves, canaries: canaryWords(merits, first, asked) };
}

function tooManyWaves(waves: number): ServiceError {
  return new ServiceError('svc_invalid_input', `The plan would have ${waves} waves.`, {
    field: 'waves.sizes',
    advice: `Give at most ${MOST_WAVES - 2} sizes.`,
  });
}

async function candidatesOf(
  ctx: Ctx,
  tags: readonly number[],
  refs: PlanInput['waves']['canary_sites'],
): Promise<ReadonlySet<number>> {
  await requireOwners(ctx, tags, [], 'waves.canary_tag_ids');
  const sites = await requireSites(ctx, refs, 'waves.canary_sites');
  const tagged = tags.length === 0 ? [] : await ctx.store.narrowedUpdates.sitesOf({ tags });
  return new Set([...tagged, ...sites.map(({ id }) => id)]);
}

/** The sites; throws for one that there is not. */
export async function requireSites(ctx: Ctx, refs: PlanInput['site_ids_or_domains'], field: string) {
  if (refs.length === 0) return [];
  const { sites, errors } = await resolveSites(ctx, refs, field);
  const [error] = errors;
  if (error !== undefined)
    throw new ServiceError('svc_invalid_input', error.message, {
      field,
      advice: 'Find the id or domain with list-sites-v1.',
    });
  return sites;
}

/** Keeps a plan; one of the same caller with the same digest that still lives for half of its time is the same plan. */
async function kept(ctx: Ctx, rules: Rules, items: readonly PlanItem[]): Promise<PlanRow> {
  await turn();
  const now = ctx.clock.now();
  const parts = items.map((i) => [i.wave, i.site_id, i.type, i.slug, i.old_version, i.new_version, i.protection]);
  const digest = createHash('sha256')
    .update(JSON.stringify([rules, parts]))
    .digest('hex')
    .slice(0, 32);
  const maker = credentialOf(ctx.actor);
  const known = await ctx.store.rolloutPlans.alike({ digest, maker }, now + LIFE_MS / 2);
  if (known !== undefined) return known;
  const plan = {
    id: `plan_${randomUUID()}`,
    digest,
    maker,
    maker_name: ctx.actor.name,
    created_at: now,
    expires_at: now + LIFE_MS,
    rules: JSON.stringify(rules),
  };
  await ctx.store.rolloutPlans.save(plan, items);
  return plan;
}

function planView({ rules, items, left, canaries, released, backups }: Drawn) {
  const protection = protectionCounts(items);
  const sites = distinct(items);
  const versions = groupBy(items, versionKey);
  const common = [...versions.values()].sort(
    (a, b) => b.length - a.length || (versionKey(head(a)) < versionKey(head(b)) ? -1 : 1),
  );
  const waves = [...groupBy(items, ({ wave }) => wave)].map(([wave, own]) => {
    return { wave, sites: distinct(own), updates: own.length };
  });
  const risks = riskCounts(items);
  const left_out = [...groupBy(left, ({ reason }) => reason)].map(([reason, own]) => {
    const ids = [...new Set(own.map(({ site_id }) => site_id))].sort((a, b) => a - b);
    const updates = own.filter(({ update }) => update).length;
    return { reason, updates, sites: ids.length, site_ids: ids.slice(0, NAMED) };
  });
  const by_item = common.slice(0, ITEMS).map((own) => {
    const { type, slug, new_version } = head(own);
    const least = (youngest: number | null, { age }: Planned) =>
      youngest === null || age === null ? null : Math.min(youngest, age);
    const age = own.reduce(least, Number.POSITIVE_INFINITY);
    const age_days = age === null ? null : Math.floor(age);
    return { type: UPDATE_TYPES[type] ?? ('plugin' as const), slug, new_version, sites: own.length, age_days };
  });
  const summary = [
    items.length === 0 ? 'Nothing is to be updated.' : wavesWords(items.length, sites, waves, rules),
    canaries,
    ...(items.length === 0
      ? []
      : [
          `Most: ${by_item
            .slice(0, 3)
            .map((one) => `${itemWord(one)} ${siteWord(one.new_version)} (${one.sites})`)
            .join(', ')}.`,
        ]),
    protectionWords(protection),
    risksWords(risks),
    backups > 0 && `A backup of ${counted(backups, 'site')} is made first.`,
    ...released,
    leftOutWords(left_out),
    'Nothing was changed.',
  ];
  return {
    summary: sentences(...summary),
    ...{ sites, updates: items.length, waves, by_item, more_items: Math.max(0, common.length - ITEMS) },
    ...{ protection, cannot_be_rolled_back: protection.none, only_reinstallable: protection.reinstall },
    ...{ risks, left_out },
  };
}

const itemWord = ({ type, slug }: { type: string; slug: string }) =>
  type === 'core' ? 'WordPress' : `${type} ${siteWord(slug)}`;

function head<T>([first]: readonly T[]): T {
  if (first === undefined) throw new Error('a group is never empty');
  return first;
}

function distinct(items: readonly { site_id: number }[]): number {
  return new Set(items.map(({ site_id }) => site_id)).size;
}

function pageOf(items: readonly Planned[], page: number, perPage: number) {
  const from = (page - 1) * perPage;
  return {
    items: items
      .slice(from, from + perPage)
      .map(({ wave, site_id, type, slug, old_version, new_version, ...item }) => ({
        ...{ wave, site_id, type: UPDATE_TYPES[type] ?? ('plugin' as const), slug, old_version, new_version },
        level: levelName(item.level),
        protection: item.protection,
        risks: item.risks,
      })),
    total: items.length,
    page,
    per_page: perPage,
  };
}
