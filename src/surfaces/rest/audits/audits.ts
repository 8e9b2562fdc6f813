/** Routes of the performance audits (REST §6.7). Rows that are not in the routes document come last. */

import { auditChoice, auditStrategy, auditSettings as settingFields } from '../../../../schemas/audit.js';
import { z } from '../../../../schemas/zod.js';
import { chooseForSite, listResults, requestAudit, requestAudits, siteResult } from '../../../domain/audits/audits.js';
import { auditSettingsView, changeAuditSettings } from '../../../domain/audits/settings.js';
import { once } from '../../../runtime/once.js';
import { onlyShown, withoutShown } from '../only-shown.js';
import { ids, paging, sitePath, text } from '../params.js';
import { ofModule, route } from '../route.js';
import {
  auditDetailShape,
  auditQueuedShape,
  auditResultShape,
  auditSettingsShape,
  auditsQueuedShape,
} from '../schemas/audits.js';
import { mapOf, recordOf, withSite, writtenOf } from '../schemas/records.js';
import { chooseByFilter } from '../sites/filter.js';
import { siteOf, siteRoute } from '../sites/references.js';

const MODULE = 'perf-audit' as const;

const strategy = once(() =>
  auditStrategy().optional().describe("Screen to measure for; default: the site's or the module's setting."),
);
const shown = once(() => auditStrategy().default('both').describe('Which results to show.'));

export const audits = ofModule(MODULE, [
  route({
    on: 'POST /perf-audit/audit',
    change: 'refresh',
    summary: 'Queue an audit of all supported sites',
    description:
      'Connected sites are supported; others are skipped. Audits run one after another, about half a minute each, with Lighthouse on this server or PageSpeed Insights.',
    params: () =>
      z.object({
        include: ids().optional().describe('Only these sites.'),
        exclude: ids().optional().describe('All except these sites.'),
        strategy: strategy(),
      }),
    returns: auditsQueuedShape,
    answer: async ({ strategy: wanted, ...filter }, ctx) => {
      // Refuses a filter that was sent but matches no site: it must not mean the whole fleet.
      const { errors } = await chooseByFilter(ctx, filter);
      const { states, queued, already_queued, total } = await requestAudits(ctx, filter, wanted);
      const unknown = errors.map(({ site_id, code, message }) => ({ site_id, code, message }));
      const before = already_queued.length === 0 ? '' : ` ${already_queued.length} of them already were.`;
      const message = `${queued} of ${total} sites are queued for an audit.${before}`;
      return { message, total, data: states, already_queued, errors: unknown };
    },
  }),
  siteRoute({
    on: 'POST /perf-audit/audit/{id_or_domain}',
    change: 'refresh',
    summary: 'Queue an audit of a site',
    params: () => ({ strategy: strategy() }),
    returns: () => writtenOf(auditQueuedShape()).extend(withSite()),
    async answer(ctx, site, { strategy: wanted }) {
      const { already_queued } = await requestAudit(ctx, site, wanted);
      return {
        message: already_queued ? 'An audit of the site is already queued.' : 'The audit is queued.',
        data: { status: 'queued', already_queued },
      };
    },
  }),
  route({
    on: 'GET /perf-audit/results',
    summary: 'List the results of audited sites',
    params: () =>
      z.object({
        include: ids().optional().describe('Only these sites.'),
        exclude: ids().optional().describe('All except these sites.'),
        search: text(255).optional().describe('Part of name or URL.'),
        strategy: shown(),
        ...paging(20, 100),
      }),
    returns: () => mapOf(auditResultShape(), 'site id'),
    answer: async ({ strategy: wanted, page, per_page, ...filter }, ctx) => {
      const { items, ...paged } = await listResults(ctx, filter, wanted, page, per_page);
      return { ...paged, data: Object.fromEntries(items.map((item) => [item.id, item])) };
    },
  }),
  siteRoute({
    on: 'GET /perf-audit/results/{id_or_domain}',
    summary: "Read a site's result, with its scores over time",
    params: () => ({ strategy: shown() }),
    returns: () => recordOf(auditDetailShape()).extend(withSite()),
    answer: async (ctx, site, { strategy: wanted }) => ({ data: await siteResult(ctx, site, wanted) }),
  }),
]);

const ENGINE = ['engine_in_use', 'lighthouse'] as const;

export const auditsExtra = ofModule(MODULE, [
  route({
    on: 'GET /perf-audit/settings',
    // Whether Lighthouse can run depends on the machine of the engine.
    live: true,
    summary: 'Read the audit settings, and which tool they would use now',
    params: () => z.object({}),
    returns: () => recordOf(auditSettingsShape()),
    answer: async (_params, ctx) => ({ data: await auditSettingsView(ctx) }),
  }),
  route({
    on: 'PUT|PATCH /perf-audit/settings/edit',
    change: 'settings',
    body: 'required',
    summary: 'Change the audit settings; null restores the default',
    params: () =>
      z
        .object(settingFields())
        .partial()
        .extend(onlyShown(auditSettingsShape().pick({ engine_in_use: true, lighthouse: true }).shape)),
    returns: () => writtenOf(auditSettingsShape()),
    answer: async (sent, ctx) => {
      const change = await withoutShown(sent, ENGINE, () => auditSettingsView(ctx));
      await changeAuditSettings(ctx, change);
      return { message: 'The settings were changed.', data: await auditSettingsView(ctx) };
    },
  }),
  route({
    on: 'PUT|PATCH /perf-audit/settings/{id_or_domain}/edit',
    change: 'settings',
    body: 'required',
    summary: "Change the audit settings of a site; null restores the module's setting",
    params: () => z.object(auditChoice()).partial().extend(sitePath()),
    returns: () => writtenOf(auditDetailShape()),
    answer: async ({ id_or_domain, ...change }, ctx) => {
      const site = await siteOf(ctx, id_or_domain);
      await chooseForSite(ctx, site, change);
      return { message: "The site's settings were changed.", data: await siteResult(ctx, site, 'both') };
    },
  }),
]);
