/** Routes of the domain monitor (REST §6.6). Entering dates manually is not in the routes document and comes last. */

import { z } from '../../../../schemas/zod.js';
import { checkDomain, enterDomain, getDomain, listDomains } from '../../../domain/monitoring/domains.js';
import { once } from '../../../runtime/once.js';
import { cleared, csv, day, ids, paging, text } from '../params.js';
import { ofModule, route } from '../route.js';
import { domainShape } from '../schemas/monitoring.js';
import { mapOf, recordOf, writtenOf } from '../schemas/records.js';
import { siteRoute } from '../sites/references.js';

const MODULE = 'domain-monitor' as const;

export const domains = ofModule(MODULE, [
  route({
    on: 'GET /domain-monitor/profiles',
    summary: 'List the domains of all sites, as last looked up',
    params: () =>
      z.object({
        status: csv(z.enum(['valid', 'expiring', 'expired', 'unknown']))
          .default([])
          .describe('Comma-separated; any of them.'),
        search: text(255).optional().describe("Part of the site's name or URL."),
        include: ids().optional().describe('Only these sites.'),
        exclude: ids().optional().describe('All except these sites.'),
        ...paging(1000, 1000),
      }),
    returns: () => mapOf(domainShape(), 'site id'),
    async answer({ page, per_page, ...filter }, ctx) {
      const { items, total } = await listDomains(ctx, filter, page, per_page);
      return { total, data: Object.fromEntries(items.map((item) => [item.id, item])), page, per_page };
    },
  }),
  siteRoute({
    on: 'GET /domain-monitor/profiles/{id_or_domain}',
    summary: 'Read the domain of a site, as last looked up',
    returns: () => recordOf(domainShape()),
    answer: async (ctx, site) => ({ data: await getDomain(ctx, site.id) }),
  }),
  siteRoute({
    on: 'POST /domain-monitor/{id_or_domain}',
    change: 'refresh',
    live: true,
    summary: 'Look up a domain now',
    description:
      'Asks the registry by RDAP, or by WHOIS where there is no RDAP. 422 if no registry can be asked, 502 if it does not answer; the previous data is kept.',
    returns: () => writtenOf(domainShape()),
    async answer(ctx, site) {
      const data = await checkDomain(ctx, site);
      return { message: data.error ?? `The domain is ${data.status}.`, data };
    },
  }),
]);

const instant = once(() =>
  cleared
    .value(day().nullable())
    .transform((value) => (value === null ? null : Date.parse(`${value}T00:00:00Z`)))
    .optional(),
);

export const domainsExtra = ofModule(MODULE, [
  siteRoute({
    on: 'PUT|PATCH /domain-monitor/{id_or_domain}',
    change: 'other',
    body: 'required',
    summary: 'Enter the dates of a domain manually',
    description: 'For registries that do not answer. A later answer from the registry replaces what was entered.',
    params: () => ({
      expiry_date: instant().describe('YYYY-MM-DD; null clears.'),
      creation_date: instant().describe('YYYY-MM-DD; null clears.'),
      registrar: cleared.value(text(200).nullable().optional()).describe('null or "" clears.'),
    }),
    returns: () => writtenOf(domainShape()),
    answer: async (ctx, site, dates) => ({
      message: 'The dates were saved.',
      data: await enterDomain(ctx, site, dates),
    }),
  }),
]);
