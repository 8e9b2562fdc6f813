/** Routes of the uptime monitors (REST §6.11), with those of all alerts at the end. */

import { z } from '../../../../schemas/zod.js';
import type { Ctx } from '../../../domain/context.js';
import { listAlerts } from '../../../domain/monitoring/alerts.js';
import { checkMonitor, editMonitor, editMonitorDefaults, maintain } from '../../../domain/monitoring/edit.js';
import {
  countIncidents,
  DAYS_KEPT,
  listBeats,
  listDays,
  listIncidents,
  MOST_BEATS,
} from '../../../domain/monitoring/history.js';
import { acknowledgeIncident, listFleetIncidents } from '../../../domain/monitoring/incidents.js';
import {
  countMonitors,
  getMonitor,
  getMonitorBasic,
  listMonitors,
  listMonitorsBasic,
  MONITOR_ORDERS,
} from '../../../domain/monitoring/monitors.js';
import { MOST_WINDOWS, readWindows, saveWindows, WINDOW } from '../../../domain/monitoring/windows.js';
import { ServiceError } from '../../../runtime/errors.js';
import { once } from '../../../runtime/once.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import { csv, flag, ids, int, paging, text } from '../params.js';
import { listRoute, type Route, route } from '../route.js';
import {
  alertShape,
  beatShape,
  fleetIncidentShape,
  incidentShape,
  monitorBasicShape,
  monitorCheckShape,
  monitorDetailShape,
  monitorOwnShape,
  monitorSettingsShape,
  monitorShape,
  uptimeDayShape,
  windowsShape,
} from '../schemas/monitoring.js';
import { countShape, listOf, recordOf, writtenOf } from '../schemas/records.js';
import { type SiteFacts, siteOf, siteRoute } from '../sites/references.js';
import { beatStatus, commonSettings, filter, listParams, ownSettings } from './monitor-params.js';

/** The site of a monitor. An unknown site is reported as an unknown monitor, because the caller asks for a monitor. */
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

function monitorRoute<S extends z.ZodRawShape>(facts: SiteFacts<S>): Route {
  return siteRoute(facts, monitored);
}

const SETTING_CODES = {
  active: 'invalid_active',
  timeout: 'invalid_timeout',
  expected_status: 'invalid_status_code',
};

const beatMeta = once(() =>
  z.object({
    page: z.number().int(),
    per_page: z.number().int(),
    total: z.number().int(),
    total_pages: z.number().int(),
  }),
);

export const monitors: readonly Route[] = [
  listRoute({
    on: 'GET /monitors',
    summary: 'List monitors with their statistics',
    params: () =>
      listParams().extend({
        orderby: z
          .enum(MONITOR_ORDERS)
          .default('url')
          .describe('state = down first; downtime_24h = hours of the last 24 with downtime.'),
        order: z.enum(['asc', 'desc']).default('asc').describe('Unknown values come last.'),
      }),
    returns: () => listOf(monitorShape()),
    list: ({ page, per_page, orderby, order, ...query }, ctx) =>
      listMonitors(ctx, query, page, per_page, { by: orderby, descending: order === 'desc' }),
  }),
  listRoute({
    on: 'GET /monitors/basic',
    summary: 'List monitors with their state only',
    params: listParams,
    returns: () => listOf(monitorBasicShape()),
    list: ({ page, per_page, ...query }, ctx) => listMonitorsBasic(ctx, query, page, per_page),
  }),
  route({
    on: 'GET /monitors/count',
    summary: 'Count monitors',
    params: () => z.object(filter()),
    returns: countShape,
    async answer(query, ctx) {
      const count = await countMonitors(ctx, query);
      return { total: count, count };
    },
  }),
  monitorRoute({
    on: 'GET /monitors/{id_or_domain}',
    summary: 'Read a monitor: settings, statistics, heartbeats of the last 24 hours',
    returns: () => recordOf(monitorDetailShape()),
    answer: async (ctx, site) => ({ data: await getMonitor(ctx, site.id) }),
  }),
  monitorRoute({
    on: 'GET /monitors/{id_or_domain}/basic',
    summary: 'Read the state of a monitor',
    returns: () => recordOf(monitorBasicShape()),
    answer: async (ctx, site) => ({ data: await getMonitorBasic(ctx, site.id) }),
  }),
  monitorRoute({
    on: 'GET /monitors/{id_or_domain}/heartbeat',
    summary: 'List the heartbeats of a monitor, newest first',
    params: () => ({
      period: text(80).optional().describe('24h, 7d, 30d (the default) or <start>/<end> in ISO 8601.'),
      since: text(40).optional().describe('ISO 8601 time that replaces the start of the period.'),
      limit: int(0, MOST_BEATS).default(0).describe(`Heartbeats per page; 0 = ${MOST_BEATS}.`),
      status: csv(beatStatus())
        .default([])
        .describe('Comma-separated words or codes: down 0, up 1, pending 2, first 3.'),
      page: int(1).default(1).describe('Page, from 1.'),
    }),
    returns: () => listOf(beatShape()).extend({ meta: beatMeta() }),
    async answer(ctx, site, query) {
      const { items, meta } = await listBeats(ctx, site.id, query);
      return { total: meta.total, data: items, meta, page: meta.page, per_page: meta.per_page };
    },
  }),
  monitorRoute({
    on: 'GET /monitors/{id_or_domain}/incidents',
    summary: 'List the incidents of a monitor, newest first',
    params: () => paging(20, 200),
    returns: () => listOf(incidentShape()),
    async answer(ctx, site, { page, per_page }) {
      const { items, total } = await listIncidents(ctx, site.id, page, per_page);
      return { total, data: items, page, per_page };
    },
  }),
  monitorRoute({
    on: 'GET /monitors/{id_or_domain}/incidents/count',
    summary: 'Count the incidents of a monitor',
    params: () => ({
      period: text(80).optional().describe('24h, 7d, 30d or <start>/<end>; default: all.'),
    }),
    returns: countShape,
    async answer(ctx, site, { period }) {
      const count = await countIncidents(ctx, site.id, period);
      return { total: count, count };
    },
  }),
  monitorRoute({
    on: 'POST /monitors/{id_or_domain}/check',
    change: 'refresh',
    live: true,
    summary: 'Check a site now',
    description: 'A site that is down is a result, not an error. Takes at most a minute.',
    returns: () => writtenOf(monitorCheckShape()),
    async answer(ctx, site) {
      const { paused: _, ...data } = await checkMonitor(ctx, site.id);
      const message = data.uptime_status === 'pending' ? data.msg : `The site is ${data.uptime_status}.`;
      return { message, data };
    },
  }),
  monitorRoute({
    on: 'PUT|PATCH /monitors/{id_or_domain}/settings',
    change: 'settings',
    body: 'required',
    summary: 'Change the settings of one monitor',
    description: 'Omitted fields keep their value. useglobal names the settings that follow the global ones.',
    params: ownSettings,
    inner: SETTING_CODES,
    returns: () => writtenOf(monitorOwnShape()),
    async answer(ctx, site, change) {
      return { message: 'The monitor settings were changed.', data: await editMonitor(ctx, site.id, change) };
    },
  }),
  route({
    on: 'PUT|PATCH /monitors/settings',
    change: 'settings',
    body: 'required',
    summary: 'Change the global monitor settings',
    description: 'The same values as in /settings/monitoring/edit. Omitted fields keep their value.',
    params: () => z.object(commonSettings()),
    inner: SETTING_CODES,
    returns: () => writtenOf(monitorSettingsShape()),
    async answer(change, ctx) {
      return { message: 'The global monitor settings were changed.', data: await editMonitorDefaults(ctx, change) };
    },
  }),
];

export const alertsExtra: readonly Route[] = [
  monitorRoute({
    on: 'GET /monitors/{id_or_domain}/days',
    summary: 'List the uptime of a site by day, oldest first',
    description:
      'Days are in UTC. Days about which nothing is known are left out; `since` says when the site began to be watched.',
    params: () => ({ days: int(1, DAYS_KEPT).default(365).describe('Number of days, including today.') }),
    returns: () => recordOf(z.array(uptimeDayShape())).extend({ since: z.string().nullable(), until: z.string() }),
    answer: (ctx, site, { days }) => listDays(ctx, site.id, days),
  }),
  monitorRoute({
    on: 'POST /monitors/{id_or_domain}/maintenance',
    change: 'settings',
    summary: 'Pause the checks of a site while somebody works on it',
    description: 'An open incident stays open. Meanwhile, manual checks raise no alert.',
    params: () => ({ minutes: int(0, 20_160).describe('From now; 0 ends it.') }),
    returns: () => writtenOf(z.object({ id: z.number().int(), maintenance_until: z.string().nullable() })),
    async answer(ctx, site, { minutes }) {
      const data = await maintain(ctx, site.id, minutes);
      return { message: minutes === 0 ? 'The maintenance has ended.' : 'The site is in maintenance.', data };
    },
  }),
  monitorRoute({
    on: 'GET /monitors/{id_or_domain}/windows',
    summary: 'List the weekly maintenance of a site',
    returns: () => recordOf(windowsShape()),
    answer: async (ctx, site) => ({ data: await readWindows(ctx, site.id) }),
  }),
  monitorRoute({
    on: 'PUT|PATCH /monitors/{id_or_domain}/windows',
    change: 'settings',
    summary: 'Set the weekly maintenance of a site, during which nothing is checked',
    params: () => ({
      windows: csv(
        text(20).refine((one) => WINDOW.test(one), 'must be like sun 02:00-04:00'),
        MOST_WINDOWS,
      ).describe(
        "All of them, like sun 02:00-04:00, in the site's time; one that ends before it begins ends on the next day. Empty = none.",
      ),
    }),
    returns: () => writtenOf(windowsShape()),
    async answer(ctx, site, { windows }) {
      return { message: 'The weekly maintenance was saved.', data: await saveWindows(ctx, site.id, windows) };
    },
  }),
  listRoute({
    on: 'GET /alerts',
    summary: 'List alerts of monitors, certificates and domains, newest first',
    params: () => z.object({ include: ids().optional().describe('Only these sites.'), ...paging(20, 100) }),
    returns: () => listOf(alertShape()),
    list: ({ include, page, per_page }, ctx) => listAlerts(ctx, include, page, per_page),
  }),
  listRoute({
    on: 'GET /incidents',
    summary: 'List the incidents of all sites, newest first',
    params: () =>
      z.object({
        include: ids().optional().describe('Only these sites.'),
        open: flag().optional().describe('1 = ongoing; 0 = ended.'),
        acknowledged: flag().optional().describe('1 = seen by a person; 0 = not seen.'),
        days: int(1, 3660).optional().describe('Only those that began in the last N days.'),
        ...paging(20, 200),
      }),
    returns: () => listOf(fleetIncidentShape()),
    list: ({ include, page, per_page, ...filter }, ctx) =>
      listFleetIncidents(ctx, { ...filter, site_ids: include }, page, per_page),
  }),
  route({
    on: 'POST /incidents/{incident_id}/acknowledge',
    change: 'other',
    summary: 'Acknowledge an incident',
    description: 'Marks the incident as seen by a person, also in the brief. Checks and alerts continue as before.',
    where: { incident_id: /^\d+$/ },
    params: () =>
      z.object({
        incident_id: int(1).describe('Id of the incident.'),
        acknowledged: flag().default(true).describe('0 removes the mark.'),
        note: text(500).optional().describe('What is known about it.'),
      }),
    returns: () => writtenOf(fleetIncidentShape()),
    async answer({ incident_id, ...mark }, ctx) {
      const data = await acknowledgeIncident(ctx, incident_id, mark);
      return {
        message: mark.acknowledged ? 'The incident is acknowledged.' : 'The incident is no longer acknowledged.',
        data,
      };
    },
  }),
];
