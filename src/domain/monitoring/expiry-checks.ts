/**
 * Scheduled checks of certificates and domains. Each call works through what is due for a limited time; the next one
 * continues. Certificates are divided among processes by claims. Domains are not: a registry bans clients that ask too
 * fast, and only a single process can keep its pace.
 */

import { ALONE, type Members } from '../../runtime/cluster/members.js';
import { pooled } from '../../runtime/pool.js';
import type { Ctx } from '../context.js';
import { hostOf } from '../sites/urls.js';
import { type ProbedCertificate, probeCertificate, storeCertificates } from './certificates.js';
import { lookUpDomain } from './domain-lookup.js';
import { expiryClock } from './expiry.js';

/** A call takes on no more after this. */
const LONGEST_RUN_MS = 60_000;
const CERTIFICATES_AT_ONCE = 20;
/** Handshakes in sequence per slot before results are stored. */
const CERTIFICATES_STEPS = 10;
/** Longer than a step of handshakes that all time out, so such a claim needs no renewal. */
const CERTIFICATES_CLAIM_MS = 5 * 60_000;
/** The probe keeps the pace of each registry; this limits how many registries are queried at once. */
const DOMAINS_AT_ONCE = 8;
const DOMAINS_PER_STEP = 40;
const SITES_PER_STEP = 1_000;

/** Checks the certificates that are due, or this process's share of them. */
export async function runCertificates(ctx: Ctx, members: Members = ALONE): Promise<string> {
  if (!ctx.config.modules.includes('ssl-monitor')) return 'the module is disabled';
  await members.join();
  const endsAt = ctx.clock.elapsed() + LONGEST_RUN_MS;
  let checked = 0;
  let alerts = 0;
  while (ctx.clock.elapsed() < endsAt) {
    const now = ctx.clock.now();
    ctx.signal.throwIfAborted();
    const slots = members.slots(CERTIFICATES_AT_ONCE);
    if (slots === 0) break;
    const until = now + CERTIFICATES_CLAIM_MS;
    const lapsed = now - ctx.clock.steps(CERTIFICATES_CLAIM_MS).forward;
    const portion = { most: CERTIFICATES_STEPS * slots, members: members.count(), lapsed };
    const due = await ctx.store.certificates.claim(expiryClock(now), until, portion);
    if (due.length === 0) break;
    const probed: ProbedCertificate[] = [];
    await pooled(due, slots, async (row) => {
      probed.push(await probeCertificate(ctx, row));
    });
    const done = await storeCertificates(ctx, probed, until);
    checked += done.stored;
    alerts += done.alerts;
  }
  return `${checked} checked, ${alerts} alerts`;
}

/** Determines the domains of new sites and looks up those that are due. */
export async function runDomains(ctx: Ctx): Promise<string> {
  if (!ctx.config.modules.includes('domain-monitor')) return 'the module is disabled';
  const { domains } = ctx.store;
  const endsAt = ctx.clock.elapsed() + LONGEST_RUN_MS;
  for (;;) {
    const sites = await domains.unassigned(SITES_PER_STEP);
    if (sites.length === 0) break;
    await domains.assign(
      sites.map(({ id, url }) => ({ site_id: id, domain: ctx.probe.registrableDomain(hostOf(url)) })),
    );
  }
  await domains.dropUnused();
  let found = 0;
  let missed = 0;
  while (ctx.clock.elapsed() < endsAt) {
    ctx.signal.throwIfAborted();
    const due = await domains.due(ctx.clock.now(), DOMAINS_PER_STEP);
    if (due.length === 0) break;
    await pooled(due, DOMAINS_AT_ONCE, async (domain) => {
      const { outcome } = await lookUpDomain(ctx, domain);
      if (outcome === 'found') found++;
      else missed++;
    });
  }
  return `${found} found, ${missed} without an answer`;
}
