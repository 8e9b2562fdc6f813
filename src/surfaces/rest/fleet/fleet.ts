/**
 * Routes for fleet-wide views of the page: matters that need attention, sites by any filter, updates by item (REST §7).
 */

import { LEVELS, MONITOR_STATES, SITE_FIELDS, searchAnswer } from '../../../../schemas/search.js';
import { z } from '../../../../schemas/zod.js';
import { fleetAttention, siteAttention } from '../../../domain/fleet/attention.js';
import { offeredItems, offeredSites } from '../../../domain/fleet/offers.js';
import { searchFleet } from '../../../domain/fleet/search.js';
import { UPDATE_TYPES } from '../../../domain/updates/results.js';
import { csv, flag, ids, int, paging, text } from '../params.js';
import { listRoute, type Route, route } from '../route.js';
import { attentionShape, offeredItemShape, offeredSiteShape, siteAttentionShape } from '../schemas/fleet.js';
import { listOf, recordOf } from '../schemas/records.js';
import { siteRoute } from '../sites/references.js';

const version = () => text(100, 1).optional();
const days = () => int(0, 36_500).optional();

/** Not in the routes document. */
export const fleet: readonly Route[] = [
  route({
    on: 'GET /fleet/attention',
    summary: 'List what needs attention now, worst first',
    params: () => z.object({ cases: int(1, 50).default(5).describe('Maximum for each kind.') }),
    returns: () => recordOf(attentionShape()),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    answer: async ({ cases }, ctx) => ({ data: await fleetAttention(ctx, cases) }),
  }),
  siteRoute({
    on: 'GET /sites/{id_or_domain}/attention',
    summary: 'List what is wrong with a site, worst first',
    returns: () => recordOf(siteAttentionShape()),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    answer: async (ctx, site) => ({ data: await siteAttention(ctx, site.id) }),
  }),
  route({
    on: 'GET /fleet/sites',
    summary: 'Search sites by what they have, with chosen columns',
    description: 'As of the last sync. Filters combine.',
    params: () =>
      z.object({
        search: text(255).default('').describe('Part of the name or URL.'),
        status: z.enum(['any', 'connected', 'disconnected', 'suspended']).default('any'),
        tag_ids: ids().default([]).describe('Any of these.'),
        client_ids: ids().default([]).describe('Any of these.'),
        wp_below: version().describe('WordPress, like 6.5.'),
        php_below: version().describe('Like 8.1.'),
        not_synced_days: days().describe('For at least this many days, or never synced.'),
        has_update: csv(z.enum(['core', 'plugins', 'themes', 'translations']))
          .default([])
          .describe('Any of these on offer.'),
        level: csv(z.enum(LEVELS)).default([]).describe('Of an update on offer.'),
        certificate_days: days().describe('TLS expires within, or has expired.'),
        domain_days: days().describe('Domain expires within, or has expired.'),
        monitor: z.enum(MONITOR_STATES).optional().describe('Uptime state.'),
        vulnerable: flag().optional().describe('1 = with known vulnerabilities; 0 = with none.'),
        guarded: flag().optional().describe('1 = with a guard that answered when last asked; 0 = with none.'),
        columns: csv(z.enum([...SITE_FIELDS, 'vulnerabilities']))
          .default([])
          .describe('Empty = six fitting ones.'),
        orderby: z.enum(['name', 'url', 'status', 'client', 'last_sync', 'updates']).default('name'),
        order: z.enum(['asc', 'desc']).default('asc').describe('Unknown values come last.'),
        ...paging(50, 500),
      }),
    returns: () =>
      searchAnswer()
        .omit({ groups: true, total_groups: true })
        .required({ columns: true, rows: true })
        .extend({ pages: z.number().int() }),
    answer: async ({ columns, orderby, order, ...asked }, ctx) => {
      const by = { by: orderby, descending: order === 'desc' };
      return searchFleet(ctx, { ...asked, fields: columns }, by);
    },
  }),
  listRoute({
    on: 'GET /fleet/updates',
    summary: 'List updates on offer, one entry per item',
    description:
      'WordPress itself first, then items on the most sites. Ignored offers and suspended sites are left out.',
    params: () =>
      z.object({
        type: csv(z.enum(UPDATE_TYPES)).default([]).describe('Default: all.'),
        level: csv(z.enum(LEVELS)).default([]).describe('Which part of the version changes. Default: all.'),
        search: text(255).default('').describe('Part of the slug or name, case-insensitive.'),
        ...paging(50, 200),
      }),
    returns: () => listOf(offeredItemShape()),
    list: ({ type, level, search, page, per_page }, ctx) =>
      offeredItems(ctx, { types: type, levels: level, search }, page, per_page),
  }),
  listRoute({
    on: 'GET /fleet/updates/sites',
    summary: 'List the sites on which an item has an update',
    params: () =>
      z.object({
        type: z.enum(UPDATE_TYPES),
        slug: text(512, 1).describe('Exact slug.'),
        ...paging(50, 500),
      }),
    returns: () => listOf(offeredSiteShape()),
    list: ({ type, slug, page, per_page }, ctx) => offeredSites(ctx, type, slug, page, per_page),
  }),
];
