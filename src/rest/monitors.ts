/** Uptime monitors (REST §6.11). The alerts they and the other watchers sent stand at the end. */

import { interval, MONITOR_METHODS, MONITOR_TYPES, statusCodes, timeout } from '../../schemas/monitoring.js';
import { onOff } from '../../schemas/settings.js';
import { z } from '../../schemas/zod.js';
import type { Ctx } from '../context.js';
import { listAlerts } from '../domain/alerts.js';
import { checkMonitor, editMonitor, editMonitorDefaults } from '../domain/monitor-edit.js';
import {
  countIncidents,
  countMonitors,
  getMonitor,
  getMonitorBasic,
  listBeats,
  listIncidents,
  listMonitors,
  listMonitorsBasic,
  MOST_BEATS,
} from '../domain/monitors.js';
import { ServiceError } from '../errors.js';
import type { SiteRow } from '../store/sites.js';
import { csv, ids, int, paging, sitePath, text } from './params.js';
import { simpleSite, siteOf } from './references.js';
import { type Route, route } from './route.js';

const WORDS = ['up', 'down', 'pending', 'first', 'unknown', 'paused'] as const;

const filter = {
  status: csv(z.enum(WORDS))
    .default([])
    .describe(
      'Comma list of up, down, pending, first (switched on, not checked yet), unknown and paused; any of them.',
    ),
  search: text(255).optional().describe('Part of name or URL.'),
  include: ids().optional().describe('Only these sites.'),
  exclude: ids().optional().describe('All but these sites.'),
};
const listParams = z.object({ ...filter, ...paging(20, 200) });

const BEAT_CODES: Readonly<Record<string, number>> = { down: 0, up: 1, pending: 2, first: 3 };
const beatStatus = z.preprocess((value) => {
  const word = typeof value === 'string' ? value.toLowerCase() : value;
  if (typeof word === 'string' && Object.hasOwn(BEAT_CODES, word)) return BEAT_CODES[word];
  return typeof word === 'string' && /^\d$/.test(word) ? Number(word) : value;
}, z.number().int().min(0).max(3));

/** The site's monitor is what is asked for: a site that is not there has none. */
async function monitored(ctx: Ctx, reference: string): Promise<SiteRow> {
  try {
    return await siteOf(ctx, reference);
  } catch (error) {
    const unknown = error instanceof ServiceError && error.status === 404;
    if (!unknown) throw error;
    throw new ServiceError('svc_rest_monitor_not_found', `There is no monitor: ${error.message}`, {
      field: 'id_or_domain',
      advice: 'Find the monitor with GET /v2/monitors?search=….',
    });
  }
}

/** A global value; null or "" goes back to the standard. */
function common<T>(schema: z.ZodType<T, z.ZodTypeDef, unknown>, about: string) {
  return z
    .preprocess((value) => (value === '' ? null : value), schema.nullable())
    .optional()
    .describe(about);
}

/** A value of one monitor; `useglobal`, null or "" follow the global one. */
function own<T>(schema: z.ZodType<T, z.ZodTypeDef, unknown>, about: string) {
  const follows = (value: unknown) =>
    value === '' || value === 'useglobal' || (Array.isArray(value) && value.includes('useglobal'));
  return z
    .preprocess((value) => (follows(value) ? null : value), schema.nullable())
    .optional()
    .describe(`${about} useglobal follows the global setting.`);
}

const retries = (max: number): z.ZodType<number, z.ZodTypeDef, unknown> => int(0, max);
const codes = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(',').filter((part) => part.trim() !== '') : value),
  statusCodes,
);
const ABOUT = {
  active: 'Watch the site: 1 or 0.',
  interval: 'Between checks: 5m, 10m, 15m, 30m, 45m, 1h … 24h, or minutes.',
  timeout: 'Seconds a check may take, or a label such as 60s or 2min; 0 = no limit of its own.',
  maxretries: 'Failed checks, a minute apart, before the site counts as down.',
  type: 'http: the status; ping: only the headers; keyword: a word in the page.',
  method: 'HTTP method; the keyword type uses get instead of head.',
  expected_status: 'HTTP codes that count as up, comma list or array.',
  keyword: 'The word of the keyword type, in any case.',
};
const keyword = z.string().trim().max(255);

const ownSettings = {
  active: own(onOff, ABOUT.active),
  interval: own(interval, ABOUT.interval),
  timeout: own(timeout, ABOUT.timeout),
  maxretries: own(
    z.preprocess((value) => (value === -1 || value === '-1' ? null : value), retries(10).nullable()) as z.ZodType<
      number | null,
      z.ZodTypeDef,
      unknown
    >,
    ABOUT.maxretries,
  ),
  type: own(z.enum(MONITOR_TYPES), ABOUT.type),
  method: own(z.enum(MONITOR_METHODS), ABOUT.method),
  expected_status: own(
    z.preprocess(
      (value) => (typeof value === 'string' && value.includes('useglobal') ? null : value),
      codes.nullable(),
    ),
    ABOUT.expected_status,
  ),
  keyword: own(keyword, ABOUT.keyword),
};
const commonSettings = {
  active: common(onOff, ABOUT.active),
  interval: common(interval, ABOUT.interval),
  timeout: common(timeout, ABOUT.timeout),
  maxretries: common(retries(1), ABOUT.maxretries),
  type: common(z.enum(MONITOR_TYPES), ABOUT.type),
  method: common(z.enum(MONITOR_METHODS), ABOUT.method),
  expected_status: common(codes, ABOUT.expected_status),
  keyword: common(keyword, ABOUT.keyword),
};

export const monitors: readonly Route[] = [
  route({
    on: 'GET',
    path: '/monitors',
    needs: 'read',
    summary: 'Monitors with their figures',
    params: listParams,
    async answer({ page, per_page, ...query }, ctx) {
      const { items, total } = await listMonitors(ctx, query, page, per_page);
      return { total, data: items, page, per_page };
    },
  }),
  route({
    on: 'GET',
    path: '/monitors/basic',
    needs: 'read',
    summary: 'Monitors with their state only',
    params: listParams,
    async answer({ page, per_page, ...query }, ctx) {
      const { items, total } = await listMonitorsBasic(ctx, query, page, per_page);
      return { total, data: items, page, per_page };
    },
  }),
  route({
    on: 'GET',
    path: '/monitors/count',
    needs: 'read',
    summary: 'Number of monitors',
    params: z.object(filter),
    async answer(query, ctx) {
      const count = await countMonitors(ctx, query);
      return { total: count, count };
    },
  }),
  route({
    on: 'GET',
    path: '/monitors/{id_or_domain}',
    needs: 'read',
    summary: 'One monitor: settings, figures, beats of the last 24 hours',
    params: z.object(sitePath),
    async answer({ id_or_domain }, ctx) {
      const site = await monitored(ctx, id_or_domain);
      return { data: await getMonitor(ctx, site.id), site: simpleSite(site) };
    },
  }),
  route({
    on: 'GET',
    path: '/monitors/{id_or_domain}/basic',
    needs: 'read',
    summary: 'State of one monitor',
    params: z.object(sitePath),
    async answer({ id_or_domain }, ctx) {
      const site = await monitored(ctx, id_or_domain);
      return { data: await getMonitorBasic(ctx, site.id), site: simpleSite(site) };
    },
  }),
  route({
    on: 'GET',
    path: '/monitors/{id_or_domain}/heartbeat',
    needs: 'read',
    summary: 'Beats of one monitor, newest first',
    params: z.object({
      ...sitePath,
      period: text(80).optional().describe('24h, 7d, 30d (the default) or <start>/<end> in ISO 8601.'),
      since: text(40).optional().describe('ISO 8601 time in place of the start of the period.'),
      limit: int(0, MOST_BEATS).default(0).describe(`Beats per page; 0 = ${MOST_BEATS}.`),
      status: csv(beatStatus).default([]).describe('Comma list of words or codes: down 0, up 1, pending 2, first 3.'),
      page: int(1).default(1).describe('Page, from 1.'),
    }),
    async answer({ id_or_domain, ...query }, ctx) {
      const site = await monitored(ctx, id_or_domain);
      const { items, meta } = await listBeats(ctx, site.id, query);
      return { total: meta.total, data: items, meta, page: meta.page, per_page: meta.per_page, site: simpleSite(site) };
    },
  }),
  route({
    on: 'GET',
    path: '/monitors/{id_or_domain}/incidents',
    needs: 'read',
    summary: 'Incidents of one monitor, newest first',
    params: z.object({ ...sitePath, ...paging(20, 200) }),
    async answer({ id_or_domain, page, per_page }, ctx) {
      const site = await monitored(ctx, id_or_domain);
      const { items, total } = await listIncidents(ctx, site.id, page, per_page);
      return { total, data: items, page, per_page, site: simpleSite(site) };
    },
  }),
  route({
    on: 'GET',
    path: '/monitors/{id_or_domain}/incidents/count',
    needs: 'read',
    summary: 'Number of incidents of one monitor',
    params: z.object({
      ...sitePath,
      period: text(80).optional().describe('24h, 7d, 30d or <start>/<end>; all of them without it.'),
    }),
    async answer({ id_or_domain, period }, ctx) {
      const site = await monitored(ctx, id_or_domain);
      const count = await countIncidents(ctx, site.id, period);
      return { total: count, count, site: simpleSite(site) };
    },
  }),
  route({
    on: 'POST',
    path: '/monitors/{id_or_domain}/check',
    needs: 'write',
    summary: 'Check a site now',
    description: 'A site that is down is a result, not an error. Takes a minute at most.',
    params: z.object(sitePath),
    async answer({ id_or_domain }, ctx) {
      const site = await monitored(ctx, id_or_domain);
      const data = await checkMonitor(ctx, site.id);
      return { message: `The site is ${data.uptime_status}.`, data, site: simpleSite(site) };
    },
  }),
  route({
    on: ['PUT', 'PATCH'],
    path: '/monitors/{id_or_domain}/settings',
    needs: 'write',
    strict: true,
    body: 'required',
    summary: 'Change the settings of one monitor',
    description: 'What is left out keeps its value. useglobal names the settings that follow the global ones.',
    params: z.object({ ...sitePath, ...ownSettings }),
    async answer({ id_or_domain, ...change }, ctx) {
      const site = await monitored(ctx, id_or_domain);
      const data = await editMonitor(ctx, site.id, change);
      return { message: 'The monitor settings were changed.', data, site: simpleSite(site) };
    },
  }),
  route({
    on: ['PUT', 'PATCH'],
    path: '/monitors/settings',
    needs: 'write',
    strict: true,
    body: 'required',
    summary: 'Change the global monitor settings',
    description: 'The same values as /settings/monitoring/edit changes. What is left out keeps its value.',
    params: z.object(commonSettings),
    async answer(change, ctx) {
      return { message: 'The global monitor settings were changed.', data: await editMonitorDefaults(ctx, change) };
    },
  }),
];

export const alertsBeyond: readonly Route[] = [
  route({
    on: 'GET',
    path: '/alerts',
    needs: 'read',
    summary: 'Alerts of monitors, certificates and domains, newest first',
    params: z.object({ include: ids().optional().describe('Only of these sites.'), ...paging(20, 100) }),
    async answer({ include, page, per_page }, ctx) {
      const { items, total } = await listAlerts(ctx, include, page, per_page);
      return { total, data: items, page, per_page };
    },
  }),
];
