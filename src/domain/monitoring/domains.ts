/** Registered domains of the sites: listed from storage, looked up on request (REST §6.6). */

import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import { setFields } from '../../runtime/set-fields.js';
import type { DomainFilter, DomainStatus, SiteDomainRow } from '../../store/monitoring/domains.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import { hostOf } from '../sites/urls.js';
import { dueIn, lookUpDomain } from './domain-lookup.js';
import { daysLeft, expiryClock } from './expiry.js';

const LABELS: Record<DomainStatus, string> = {
  valid: 'Valid',
  expiring: 'Expiring',
  expired: 'Expired',
  unknown: 'Unknown',
};

/** As shown to callers. `expires` is the number of days left, negative once expired. */
function view(row: SiteDomainRow, now: number) {
  return {
    id: row.site_id,
    url: row.url,
    name: row.site_name,
    domain_name: row.domain_name,
    registrar: row.registrar,
    registrar_url: row.registrar_url,
    registrar_iana_id: row.registrar_iana_id,
    creation_date: isoTime(row.creation_date),
    updated_date: isoTime(row.updated_date),
    expiry_date: isoTime(row.expiry_date),
    expires: row.expiry_date === null ? null : daysLeft(row.expiry_date, now),
    status: row.status,
    status_label: LABELS[row.status],
    domain_status: JSON.parse(row.domain_status ?? '[]') as string[],
    name_servers: JSON.parse(row.name_servers ?? '[]') as string[],
    last_check: isoTime(row.last_check),
    source: row.source,
    error: row.error === '' ? null : row.error,
  };
}

export type DomainView = ReturnType<typeof view>;

export async function listDomains(
  ctx: Ctx,
  filter: DomainFilter,
  page: number,
  perPage: number,
): Promise<{ items: DomainView[]; total: number }> {
  requireModule(ctx, 'domain-monitor');
  const now = ctx.clock.now();
  const { items, total } = await ctx.store.domains.list(filter, expiryClock(now), page, perPage);
  return { items: items.map((row) => view(row, now)), total };
}

export async function getDomain(ctx: Ctx, siteId: number): Promise<DomainView> {
  requireModule(ctx, 'domain-monitor');
  const now = ctx.clock.now();
  const row = await ctx.store.domains.one(siteId, expiryClock(now));
  if (row === undefined)
    throw new ServiceError('svc_site_not_found', `Site ${siteId} has been removed in the meantime.`, {
      data: { site_id: siteId },
    });
  return view(row, now);
}

/** The registrable domain of a site's host, which is stored; null for addresses, localhost and private names. */
async function domainOf(ctx: Ctx, siteId: number, url: string): Promise<string | null> {
  const domain = ctx.probe.registrableDomain(hostOf(url));
  await ctx.store.domains.assign([{ site_id: siteId, domain }]);
  return domain;
}

/**
 * Looks the domain up now and stores the registry's answer. Throws `svc_domain_tld_unsupported` 422 if no registry can
 * be asked, `svc_domain_lookup_failed` 502 if the registry did not answer (with `retry_after` in seconds if it limits
 * us).
 */
export async function checkDomain(ctx: Ctx, site: { id: number; url: string }): Promise<DomainView> {
  requireModule(ctx, 'domain-monitor');
  const name = await domainOf(ctx, site.id, site.url);
  if (name === null) {
    throw new ServiceError(
      'svc_domain_tld_unsupported',
      `${hostOf(site.url)} is not a registered domain: there is no registry to ask.`,
      { data: { site_id: site.id } },
    );
  }
  const known = await ctx.store.domains.find(name);
  const outcome = await lookUpDomain(ctx, { name, ...known });
  if (outcome.outcome === 'unsupported') {
    throw new ServiceError('svc_domain_tld_unsupported', outcome.message, {
      advice: 'Enter the dates manually with PUT /v2/domain-monitor/{id_or_domain}.',
      data: { site_id: site.id, domain_name: name },
    });
  }
  if (outcome.outcome === 'failed' || outcome.outcome === 'rate_limited') {
    const limited = outcome.outcome === 'rate_limited';
    throw new ServiceError('svc_domain_lookup_failed', outcome.message, {
      advice: 'The previous data is kept, and the domain will be looked up again later.',
      data: {
        site_id: site.id,
        domain_name: name,
        reason: outcome.outcome,
        ...(limited ? { retry_after: Math.ceil(outcome.retryAfterMs / 1000) } : {}),
      },
    });
  }
  return getDomain(ctx, site.id);
}

export interface ManualDates {
  registrar?: string | null | undefined;
  /** Milliseconds since the epoch; null clears. */
  creation_date?: number | null | undefined;
  expiry_date?: number | null | undefined;
}

/**
 * Stores dates that were entered manually because no registry has them. A later answer of the registry replaces them.
 */
export async function enterDomain(
  ctx: Ctx,
  site: { id: number; url: string },
  dates: ManualDates,
): Promise<DomainView> {
  requireModule(ctx, 'domain-monitor');
  const name = await domainOf(ctx, site.id, site.url);
  if (name === null) {
    throw new ServiceError('svc_domain_tld_unsupported', `${hostOf(site.url)} is not a registered domain.`, {
      data: { site_id: site.id },
    });
  }
  const known = await ctx.store.domains.find(name);
  const now = ctx.clock.now();
  const expiry_date = dates.expiry_date === undefined ? (known?.expiry_date ?? null) : dates.expiry_date;
  const kept = <T>(given: T | undefined, before: T): T => (given === undefined ? before : given);
  await ctx.store.domains.save(
    name,
    {
      registrar: kept(dates.registrar, known?.registrar ?? null),
      registrar_url: known?.registrar_url ?? null,
      registrar_iana_id: known?.registrar_iana_id ?? null,
      creation_date: kept(dates.creation_date, known?.creation_date ?? null),
      updated_date: known?.updated_date ?? null,
      expiry_date,
      domain_status: JSON.parse(known?.domain_status ?? '[]') as string[],
      name_servers: JSON.parse(known?.name_servers ?? '[]') as string[],
      source: 'manual',
    },
    now,
    // If no registry can be asked, the next lookup may be a month away: expiry alerts are raised at these times.
    Math.min(known?.next_check_at ?? now, now + dueIn(expiry_date, now)),
  );
  const fields = setFields(dates);
  ctx.events.emit({ name: 'site.domain_entered', site_id: site.id, facts: { domain_name: name, fields } });
  return getDomain(ctx, site.id);
}
