/** Certificates and domains by the clock. Each call works off what is due for a while; the next one goes on. */

import type { Ctx } from '../context.js';
import { type CertificateLook, lookAtCertificate, storeLooks } from '../domain/certificates.js';
import { lookUpDomain } from '../domain/domain-lookup.js';
import { expiryClock } from '../domain/expiry.js';
import { pooled } from '../domain/pool.js';
import { hostOf } from '../domain/urls.js';

/** A call takes on no more after this. */
const LONGEST_RUN_MS = 60_000;
const CERTIFICATES_AT_ONCE = 20;
const CERTIFICATES_PER_STEP = 200;
/** The pace of each registry is kept by the probe; this is how many registries work for us at once. */
const DOMAINS_AT_ONCE = 8;
const DOMAINS_PER_STEP = 40;
const SITES_PER_STEP = 1_000;

/** Looks at the certificates whose day it is. */
export async function runCertificates(ctx: Ctx): Promise<string> {
  if (!ctx.config.modules.includes('ssl-monitor')) return 'the module is off';
  const endsAt = ctx.clock.now() + LONGEST_RUN_MS;
  let checked = 0;
  let alerts = 0;
  while (ctx.clock.now() < endsAt) {
    ctx.signal.throwIfAborted();
    const due = await ctx.store.certificates.due(expiryClock(ctx.clock.now()), CERTIFICATES_PER_STEP);
    if (due.length === 0) break;
    const looks: CertificateLook[] = [];
    await pooled(due, CERTIFICATES_AT_ONCE, async (row) => {
      looks.push(await lookAtCertificate(ctx, row));
    });
    alerts += await storeLooks(ctx, looks);
    checked += looks.length;
  }
  return `${checked} checked, ${alerts} alerts`;
}

/** Works out the domains of new sites and looks up those whose time has come. */
export async function runDomains(ctx: Ctx): Promise<string> {
  if (!ctx.config.modules.includes('domain-monitor')) return 'the module is off';
  const { domains } = ctx.store;
  const endsAt = ctx.clock.now() + LONGEST_RUN_MS;
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
  while (ctx.clock.now() < endsAt) {
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
