/**
 * Fills the demo with content through the verbs that users call: clients, tags, costs, history, and today's problems.
 */

import { writeFileSync } from 'node:fs';
import { PRESET_RULES } from '../../schemas/approval.js';
import { policyFields } from '../../schemas/policy.js';
import { z } from '../../schemas/zod.js';
import { putGuard } from '../demo/guard/state.js';
import { DAY_MS, domainOf, PAST_DAYS, pastOf, pastUpdates } from '../demo/history.js';
import type { DemoSite } from '../demo/site.js';
import {
  belongings,
  breakFrontPage,
  CLIENTS,
  COSTS,
  castOf,
  type Part,
  STAGED,
  setTheStage,
  TAGS,
  vulnerabilityFeed,
} from '../demo/story.js';
import { queueJob } from '../domain/actions/jobs.js';
import { addRecipient } from '../domain/alerts/recipients.js';
import { setApprovalRules } from '../domain/approvals/rules.js';
import { addClient } from '../domain/clients/clients.js';
import type { Ctx } from '../domain/context.js';
import { addCost } from '../domain/costs/records.js';
import { storeCertificates } from '../domain/monitoring/certificates.js';
import { lookUpDomain } from '../domain/monitoring/domain-lookup.js';
import { checkMonitor, editMonitorDefaults } from '../domain/monitoring/edit.js';
import { type HistoryReplay, replayHistory } from '../domain/monitoring/imported-history.js';
import { addPolicy } from '../domain/policies/policies.js';
import { dashboardZone } from '../domain/settings/effects.js';
import { addTag } from '../domain/tags/tags.js';
import { safeUpdateSite } from '../domain/updates/safe/safe-update-site.js';
import { siteGuard } from '../domain/updates/safe/site-guard.js';
import { sitesNotSuspended, updateExtensions } from '../domain/updates/updates.js';
import { refreshVulnerabilities } from '../domain/vulnerabilities/refresh.js';
import type { CertificateFacts } from '../outbound/probe/probe.js';
import type { Clock } from '../runtime/clock.js';
import { systemClock } from '../runtime/clock.js';
import { pooled } from '../runtime/pool.js';
import { wordpressTime } from '../runtime/time-zones.js';

/** Sites with a history; beats of more would make a large demo slow to start. */
const WITH_PAST = 25;
/** Sites with a guard, besides those of the story. */
const GUARDED = 12;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const FIVE_MINUTES = 5;
/** The running job: the number of its steps, and the time between them. */
const JOB_STEPS = 12;
const JOB_DELAY_MS = 15_000;
const JOB_SITES = 200;

export interface Belongings {
  client_id?: number;
  tags: number[];
}

/** A demo between its first and its last step. */
export interface Story {
  /** The data a site is connected with. */
  belongingsOf(site: DemoSite): Belongings;
  /** Called for each site as soon as it is connected, while others are being connected. */
  connected(site: DemoSite, id: number): Promise<void>;
  /** Continues once the sites are connected; `ids` has those that are. */
  complete(ids: ReadonlyMap<DemoSite, number>, inbox: string): Promise<StoryFacts>;
}

export interface StoryFacts {
  /** An available update that breaks its site; null = that site is not connected. */
  broken_update: { site_id: number; slug: string } | null;
  /** Another site with the same update. */
  same_update: number | null;
  /** A site that plays no part: it works, and so do its updates. null = each one plays a part. */
  ordinary: number | null;
}

/**
 * Prepares the sites and stores what belongs to none of them.
 * @param delay the pause between the steps of a job, if the user set one
 */
export async function beginStory(ctx: Ctx, sites: readonly DemoSite[], delay?: number): Promise<Story> {
  const cast = castOf(sites);
  setTheStage(sites, cast);
  if (ctx.config.vulnerability_feed !== null) writeFileSync(ctx.config.vulnerability_feed, vulnerabilityFeed());
  const guarded = guardedSites(sites, cast);
  for (const site of guarded) putGuard(site, undefined, true);
  const clients: number[] = [];
  for (const client of CLIENTS) clients.push((await addClient(ctx, client)).id);
  const tags: number[] = [];
  for (const tag of TAGS) tags.push((await addTag(ctx, tag)).id);
  if (ctx.config.modules.includes('cost-tracker'))
    for (const cost of COSTS) await addCost(ctx, costOf(cost, tags, clients, ctx.clock.now()));
  await editMonitorDefaults(ctx, { active: 1, interval: FIVE_MINUTES });
  const now = ctx.clock.now();
  const history = await replayPast(ctx, now);
  const down = cast.get('down');
  return {
    belongingsOf(site) {
      const { client, tags: wanted } = belongings(site.index);
      const id = client === null ? undefined : clients[client];
      return { ...(id === undefined ? {} : { client_id: id }), tags: wanted.flatMap((at) => tags[at] ?? []) };
    },
    async connected(site, id) {
      if (site.index >= WITH_PAST) return;
      const past = pastOf(site.index, now, site === down ? now - 3 * HOUR_MS : undefined);
      await history.add(id, past.answerAt);
    },
    async complete(ids, inbox) {
      await addRecipient(ctx, 'webhook', { name: 'Inbox of the demo', url: inbox });
      const acting = new Map([...cast].flatMap(([part, site]) => (ids.has(site) ? [[part, site] as const] : [])));
      const idOf = (part: Part) => ids.get(acting.get(part) as DemoSite) ?? null;
      await storePast(ctx, ids, acting.get('down'), { history, now });
      await storeEnds(ctx, ids, acting);
      await askGuards(
        ctx,
        guarded.flatMap((site) => ids.get(site) ?? []),
      );
      await letThingsHappen({ ...ctx, clock: impatient }, acting, idOf);
      await refreshVulnerabilities(ctx);
      await startJob(ctx, delay);
      await addAskingPolicy(ctx);
      await askForRollouts(ctx);
      const site_id = idOf('broken_update');
      const parts = new Set(cast.values());
      const [, ordinary = null] = [...ids].find(([site]) => !parts.has(site)) ?? [];
      return {
        broken_update: site_id === null ? null : { site_id, slug: STAGED.broken_update.slug },
        same_update: idOf('same_update'),
        ordinary,
      };
    },
  };
}

/** As *careful* has it. All other changes happen at once, as they do unless rules are set. */
async function askForRollouts(ctx: Ctx): Promise<void> {
  await setApprovalRules(ctx, { rules: { rollouts: PRESET_RULES.careful.rollouts } });
}

/** Its first plan is made in a minute or two, and waits for the person who looks at the demo. */
async function addAskingPolicy(ctx: Ctx): Promise<void> {
  const at = wordpressTime(ctx.clock.now() + 2 * MINUTE_MS, await dashboardZone(ctx)).slice(11, 16);
  const policy = { name: 'Patches in waves, once approved', level: ['patch'], approval: 'ask', schedule: { at } };
  await addPolicy(ctx, z.object(policyFields()).parse(policy));
}

/** Checks of simulated sites need no pause between them. */
const impatient: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 5), signal),
};

function costOf(
  { days_ago, tags, clients, ...cost }: (typeof COSTS)[number],
  tagIds: number[],
  clientIds: number[],
  now: number,
) {
  return {
    ...cost,
    url: '',
    type: 'subscription' as const,
    product_type: '',
    license_type: 'single_site' as const,
    cost_status: 'active' as const,
    payment_method: '',
    last_renewal: new Date(now - days_ago * DAY_MS).toISOString().slice(0, 10),
    note: '',
    groups: tags.flatMap((at) => tagIds[at] ?? []),
    clients: clients.flatMap((at) => clientIds[at] ?? []),
  };
}

/** The past of the first sites: beats every five minutes for the last day, every hour or two before. */
function replayPast(ctx: Ctx, now: number): Promise<HistoryReplay> {
  return replayHistory(ctx, {
    from: now - PAST_DAYS * DAY_MS,
    until: now,
    interval: (at) => (now - at < DAY_MS ? FIVE_MINUTES : now - at < 14 * DAY_MS ? 60 : 120),
  });
}

async function storePast(
  ctx: Ctx,
  ids: ReadonlyMap<DemoSite, number>,
  down: DemoSite | undefined,
  { history, now }: { history: HistoryReplay; now: number },
): Promise<void> {
  await history.store();
  const shown = [...ids].filter(([{ index }]) => index < WITH_PAST);
  await ctx.store.actionLog.add(
    shown.flatMap(([site, site_id]) =>
      pastUpdates(site, now).map((update) => ({
        ...update,
        action: 'updated',
        site_id,
        actor: 'admin',
        actor_type: 'user',
        via: 'rest',
      })),
    ),
  );
  // Visitors get an error page; the child plugin still responds.
  const child = down?.state.plugins.find(({ active, mustUse }) => active && !mustUse);
  if (down !== undefined && child !== undefined) breakFrontPage(down, { slug: child.slug, to: child.version });
}

/**
 * Expiry dates of certificates and domains. They are not checked again while the demo runs: their names are invented.
 */
async function storeEnds(
  ctx: Ctx,
  ids: ReadonlyMap<DemoSite, number>,
  acting: ReadonlyMap<Part, DemoSite>,
): Promise<void> {
  const now = ctx.clock.now();
  const never = now + 365 * DAY_MS;
  const certificates = [...ids].map(([site, site_id]) => {
    const days = site === acting.get('certificate_ends') ? 9 : 33 + ((site.index * 7) % 54);
    return { site, site_id, facts: certificateOf(site, now + days * DAY_MS) };
  });
  const ending = certificates.filter(({ site }) => site === acting.get('certificate_ends'));
  const at = { now, expiring: now };
  for (const { site_id, facts } of ending) {
    const row = await ctx.store.certificates.one(site_id, at);
    if (row !== undefined) await storeCertificates(ctx, [{ row, answer: { facts, ip: '', failure: null } }], null);
  }
  await ctx.store.certificates.save(
    certificates.map(({ site_id, facts: { untrusted, names_host, ...rest } }) => ({
      site_id,
      claim: null,
      seen: { ...rest, trusted: untrusted === null && names_host, error: null },
      error: null,
      forget: false,
      next_check_at: never,
    })),
    now,
  );
  await ctx.store.domains.assign([...ids].map(([site, site_id]) => ({ site_id, domain: domainOf(site) })));
  for (const [site] of ids) {
    const ends = site === acting.get('domain_ends');
    const facts = domainFacts(site, now + (ends ? 12 : 60 + ((site.index * 41) % 600)) * DAY_MS, now);
    const found = { outcome: 'found' as const, source: 'rdap' as const, facts };
    if (ends)
      await lookUpDomain({ ...ctx, probe: { ...ctx.probe, domain: async () => found } }, { name: facts.domain_name });
    await ctx.store.domains.save(facts.domain_name, { ...facts, source: 'rdap' }, now, never);
  }
}

function certificateOf(site: DemoSite, validTo: number): CertificateFacts {
  const name = domainOf(site);
  return {
    issuer_o: 'Demo Certificates',
    issuer_cn: 'Demo Certificates R3',
    subject_cn: name,
    subject_alt_names: [name, `www.${name}`],
    serial: `0${site.index.toString(16).toUpperCase().padStart(17, 'D')}`,
    signature_algorithm: 'sha256WithRSAEncryption',
    fingerprint: site.index.toString(16).padStart(64, '0'),
    valid_from: validTo - 90 * DAY_MS,
    valid_to: validTo,
    untrusted: null,
    names_host: true,
  };
}

function domainFacts(site: DemoSite, expiry: number, now: number) {
  return {
    domain_name: domainOf(site),
    registrar: 'Demo Registrar',
    registrar_url: null,
    registrar_iana_id: null,
    creation_date: expiry - 2000 * DAY_MS,
    updated_date: now - 40 * DAY_MS,
    expiry_date: expiry,
    domain_status: ['active'],
    name_servers: ['ns1.registrar.example', 'ns2.registrar.example'],
  };
}

/**
 * Sites with a guard: those of the story, and every second one of the first. They have it before they are connected.
 */
function guardedSites(sites: readonly DemoSite[], cast: ReadonlyMap<Part, DemoSite>): DemoSite[] {
  return [...new Set([...sites.slice(0, 2 * GUARDED).filter(({ index }) => index % 2 === 0), ...cast.values()])];
}

/** The guards' answers are known from the start. */
async function askGuards(ctx: Ctx, ids: readonly number[]): Promise<void> {
  await pooled(ids, 8, async (id) => void (await siteGuard(ctx, id)));
}

/** Today's updates: one fails, one is rolled back, and one breaks its site some time after it was checked. */
async function letThingsHappen(
  ctx: Ctx,
  acting: ReadonlyMap<Part, DemoSite>,
  idOf: (part: Part) => number | null,
): Promise<void> {
  const update = async (part: 'rolled_back' | 'broke_later') => {
    const id = idOf(part);
    if (id === null) return;
    const all = {
      types: ['plugins'],
      on_suspect: 'keep',
      least_protection: 'guard',
      paths: [],
      dry_run: false,
    } as const;
    await safeUpdateSite(ctx, id, { ...all, specific_items: [STAGED[part].slug] });
  };
  const failing = idOf('failed_update');
  await Promise.all([
    update('rolled_back'),
    update('broke_later'),
    failing === null ? null : updateExtensions(ctx, failing, 'plugin', [STAGED.failed_update.slug]),
  ]);
  const late = acting.get('broke_later');
  const id = idOf('broke_later');
  if (late === undefined || id === null) return;
  breakFrontPage(late, STAGED.broke_later);
  // The second check confirms the first.
  await checkMonitor(ctx, id);
  await checkMonitor(ctx, id);
}

/** A run over the fleet in small steps, so that there is something to watch. */
async function startJob(ctx: Ctx, delay = JOB_DELAY_MS): Promise<void> {
  const sites = (await sitesNotSuspended(ctx)).slice(0, JOB_SITES);
  const config = {
    ...ctx.config,
    job_chunk: Math.max(1, Math.ceil(sites.length / JOB_STEPS)),
    job_delay_ms: delay,
  };
  await queueJob({ ...ctx, config }, 'sync', { sites, errors: [] }, {});
}
