/**
 * Routes for fleet-wide views of the page: matters that need attention, sites by any filter, updates by item (REST §7).
 */

import { WAYS_IN } from '../../../../schemas/action.js';
import { comparison } from '../../../../schemas/comparison.js';
import { BACKUP_STATES, LEVELS, MONITOR_STATES, SITE_FIELDS, searchAnswer } from '../../../../schemas/search.js';
import { z } from '../../../../schemas/zod.js';
import { integerOrText } from '../../../../schemas/zod-internals.js';
import { fleetAttention, siteAttention } from '../../../domain/fleet/attention.js';
import { fleetChanges } from '../../../domain/fleet/changes.js';
import { compareSites } from '../../../domain/fleet/compare-sites.js';
import { fleetDays } from '../../../domain/fleet/days.js';
import { listAside, MARK_STATES, markMatter } from '../../../domain/fleet/marks.js';
import { offeredItems, offeredSites } from '../../../domain/fleet/offers.js';
import { searchFleet } from '../../../domain/fleet/search.js';
import { DAYS_KEPT } from '../../../domain/monitoring/history.js';
import { updatePlan } from '../../../domain/updates/fleet-plan.js';
import { UPDATE_TYPES } from '../../../domain/updates/results.js';
import { invalidParam } from '../parameter-errors.js';
import { csv, flag, ids, int, paging, text } from '../params.js';
import { listRoute, type Route, route } from '../route.js';
import {
  asideShape,
  attentionShape,
  fleetChangeShape,
  fleetChangesMore,
  fleetDayShape,
  offeredItemShape,
  offeredSiteShape,
  planShape,
  siteAttentionShape,
} from '../schemas/fleet.js';
import { listOf, recordOf, writtenOf } from '../schemas/records.js';
import { siteRoute } from '../sites/references.js';

const version = () => text(100, 1).optional();
const days = () => int(0, 36_500).optional();

const MARKED = {
  acknowledged: 'It is acknowledged.',
  snoozed: 'It is snoozed.',
  done: 'It is marked as done.',
  open: 'It is listed again.',
} as const;

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
  listRoute({
    on: 'GET /fleet/attention/aside',
    summary: 'List matters that were set aside in the last week or are snoozed, newest first',
    params: () => z.object({ ...paging(20, 200) }),
    returns: () => listOf(asideShape()),
    list: ({ page, per_page }, ctx) => listAside(ctx, page, per_page),
  }),
  route({
    on: 'POST /fleet/attention/mark',
    change: 'other',
    summary: 'Acknowledge, snooze or finish a matter that needs attention',
    description:
      'Everyone sees by whom and why. Acknowledged ones stay listed, at the end; snoozed and done ones are not listed, nor are they in the brief. What happens again is listed again. Checks and alerts continue.',
    params: () =>
      z.object({
        subject: text(120, 1).describe('From GET /fleet/attention.'),
        state: z.enum([...MARK_STATES, 'open']).describe('open removes the mark.'),
        hours: int(1, 2160).default(24).describe('When a snooze ends.'),
        note: text(500).default('').describe('What is known about it.'),
      }),
    returns: () => writtenOf(asideShape()),
    async answer({ subject, ...mark }, ctx) {
      const data = await markMatter(ctx, subject, mark);
      if (data === undefined) throw invalidParam('subject', 'names nothing that needs attention');
      return { message: MARKED[mark.state], data };
    },
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
        ends_within_days: days().describe('Certificate or domain expires within, or has expired.'),
        backup: z.enum(BACKUP_STATES).optional().describe('Whether the time of the last backup is known.'),
        backup_older_than_days: days().describe('The last backup is older.'),
        monitor: z.enum(MONITOR_STATES).optional().describe('Uptime state.'),
        vulnerable: flag().optional().describe('1 = with known vulnerabilities; 0 = with none.'),
        guarded: flag().optional().describe('1 = with a guard that answered when last asked; 0 = with none.'),
        columns: csv(z.enum([...SITE_FIELDS, 'vulnerabilities', 'state']))
          .default([])
          .describe(
            'Empty = six fitting ones. state = the status, or down or pending by the monitor or the last visit.',
          ),
        orderby: z
          .enum([...SITE_FIELDS, 'vulnerabilities', 'state'])
          .exclude(['id'])
          .default('name'),
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
  route({
    on: 'GET /fleet/days',
    summary: 'Count the fleet by day, oldest first: states, updates, vulnerable sites, uptime',
    description:
      'Days are in UTC, each as last counted; the last one is today, as of now. Days about which nothing is known are left out.',
    params: () => z.object({ days: int(1, DAYS_KEPT).default(30).describe('Number of days, including today.') }),
    returns: () => recordOf(z.array(fleetDayShape())),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    answer: async ({ days }, ctx) => ({ data: await fleetDays(ctx, days) }),
  }),
  route({
    on: 'GET /fleet/compare',
    live: true,
    fails: [404],
    summary: 'Compare 2 to 5 sites: versions, settings, plugins and themes',
    description: 'As of their last sync, what differs first. Sites are asked only for their administrators.',
    params: () =>
      z.object({
        site_ids_or_domains: csv(integerOrText(), 5)
          .refine((list) => list.length > 1, 'must name at least two sites')
          .describe('2 to 5 ids or domains.'),
        administrators: flag().default(false).describe('Also ask the sites who their administrators are.'),
        same: flag().default(false).describe('Also list what is the same.'),
        ...paging(100, 500),
      }),
    returns: () => recordOf(comparison()),
    answer: async (asked, ctx) => ({ data: await compareSites(ctx, asked) }),
  }),
  route({
    on: 'GET /fleet/changes',
    fails: [404],
    module: 'logs',
    summary: 'List who changed what on which site, newest first',
    description:
      'Through this service, or on the sites as of their last sync. `kinds` counts all that the other filters match.',
    params: () =>
      z.object({
        days: int(1, 3660).default(30).describe('Of the last N days.'),
        site: integerOrText().optional().describe('Id or domain.'),
        client: integerOrText().optional().describe('Sites of this client: id or e-mail.'),
        tag: integerOrText().optional().describe('Sites with this tag: id or name.'),
        by: text(255, 1).optional().describe('Part of the name of who did it.'),
        kinds: csv(text(50, 1)).default([]).describe('plugin, theme, core, user, post, site, setting, client, …'),
        exclude_kinds: csv(text(50, 1)).default([]).describe('Kinds or actions left out, such as login.'),
        actions: csv(text(50, 1)).default([]).describe('updated, activated, installed, deleted, …'),
        item: text(255, 1).optional().describe('Part of a name or slug.'),
        result: z.enum(['done', 'failed']).optional().describe('Omit for both.'),
        via: csv(z.enum(['site', ...WAYS_IN]))
          .default([])
          .describe('site = on the site itself.'),
        ...paging(50, 100),
      }),
    returns: () => listOf(fleetChangeShape()).extend(fleetChangesMore()),
    async answer({ site, client, ...asked }, ctx) {
      const input = { ...asked, site_id_or_domain: site, client_id_or_email: client };
      const { items, ...found } = await fleetChanges(ctx, input);
      return { ...found, data: items };
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
  route({
    on: 'GET /fleet/updates/plan',
    fails: [404],
    summary: 'Plan updates of the fleet as a matrix of sites and items',
    description:
      'A page of sites and of items, and the totals of all: what POST /updates/update with the same filters would apply. Ignored offers and suspended sites are left out. Quarantined versions, and sites that cannot be changed, are listed but not counted.',
    params: () =>
      z.object({
        type: csv(z.enum(UPDATE_TYPES)).default([]).describe('Default: all.'),
        level: csv(z.enum(LEVELS)).default([]).describe('Which part of the version changes. Default: all.'),
        search: text(255).default('').describe('Part of the slug or name, case-insensitive.'),
        tag_ids: ids().default([]).describe('Sites with any of these tags.'),
        exclude_tag_ids: ids().default([]).describe('No sites with any of these tags.'),
        client_ids: ids().default([]).describe('Sites of any of these clients.'),
        exclude_client_ids: ids().default([]).describe('No sites of any of these clients.'),
        ...paging(50, 200),
        item_page: int(1).default(1).describe('Page of items, from 1.'),
        items_per_page: int(1, 50).default(25).describe('Items per page, 1 to 50.'),
      }),
    returns: planShape,
    headers: () => ({ 'Cache-Control': 'no-store' }),
    async answer({ type, page, per_page, item_page, items_per_page, ...filters }, ctx) {
      const window = { page, per_page, item_page, items_per_page };
      const types = type.map((word) => UPDATE_TYPES.indexOf(word));
      const { sites: data, total, ...plan } = await updatePlan(ctx, types, filters, window);
      return { total, page, per_page, data, item_page, items_per_page, ...plan };
    },
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
