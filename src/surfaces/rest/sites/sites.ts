/** Routes of the list of sites and of actions on many (REST §6.2). */

import { z } from '../../../../schemas/zod.js';
import type { CheckResult } from '../../../domain/connection/check.js';
import {
  checkHandler,
  disconnectHandler,
  reconnectHandler,
  suspendHandler,
  syncHandler,
  unsuspendHandler,
} from '../../../domain/connection/handlers.js';
import { countRecords, pageOfSites } from '../../../domain/sites/records.js';
import { withStandings } from '../../../domain/sites/sites.js';
import { once } from '../../../runtime/once.js';
import { byCursor, flag, openPaging, pageOf } from '../params.js';
import { type Route, route } from '../route.js';
import { exampleFullSite, exampleSite } from '../schemas/examples.js';
import { countShape, cursorListOf, simpleSiteShape, siteOfList, siteShape, writtenOf } from '../schemas/records.js';
import { listView, siteRecord, siteRecords } from '../views/site-records.js';
import { addSiteParams, connectSite } from './add.js';
import {
  batchAnswer,
  batchChanges,
  batchPlan,
  batchSites,
  describedBatch,
  recordedBatch,
  runBatch,
  siteBatchParams,
} from './batch.js';
import { chooseByFilter, chooseNamed, listFilter, siteFilter, siteSearch } from './filter.js';
import { multiSiteRoute } from './multi-site.js';

const order = once(() => ({
  orderby: z.enum(['name', 'url', 'id', 'last_sync']).default('name').describe('Field to sort by.'),
  order: z.enum(['asc', 'desc']).default('asc'),
}));

/** Maximum sites of one list. */
const MAX = 100;

export const sites: readonly Route[] = [
  route({
    on: 'GET /sites',
    summary: 'List sites',
    description: 'Full records unless full_data is false. Without page and per_page the first 100.',
    params: () =>
      z.object({
        ...openPaging(MAX),
        ...byCursor(),
        ...siteSearch(),
        ...siteFilter(),
        ...order(),
        with_tags: flag().default(true),
        full_data: flag().default(true).describe('false: id, name, url, status and client_id only.'),
      }),
    example: { total: 1, page: 1, per_page: 100, pages: 1, data: [exampleSite] },
    returns: () => cursorListOf(siteOfList()),
    answer: async ({ with_tags, full_data, orderby, order, ...asked }, ctx, fields) => {
      const { page, per_page } = pageOf(asked, MAX);
      const by = { by: orderby, descending: order === 'desc' };
      const { items, paging } = await pageOfSites(ctx, listFilter(asked), by, { page, per_page, cursor: asked.cursor });
      return { ...paging, data: await siteRecords(ctx, items, { with_tags, full_data, fields }) };
    },
  }),
  route({
    on: 'GET /sites/basic',
    summary: 'List sites, identifying fields only',
    params: () => z.object({ ...openPaging(MAX), ...byCursor(), ...siteSearch(), ...siteFilter(), ...order() }),
    example: { total: 1, page: 1, per_page: 100, pages: 1, data: [exampleSite] },
    returns: () => cursorListOf(simpleSiteShape()),
    answer: async ({ orderby, order, ...asked }, ctx) => {
      const { page, per_page } = pageOf(asked, MAX);
      const by = { by: orderby, descending: order === 'desc' };
      const { items, paging } = await pageOfSites(ctx, listFilter(asked), by, { page, per_page, cursor: asked.cursor });
      return { ...paging, data: (await withStandings(ctx, items)).map(listView) };
    },
  }),
  route({
    on: 'GET /sites/count',
    summary: 'Count sites',
    params: () => z.object({ ...siteSearch(), ...siteFilter() }),
    example: { total: 25, count: 25 },
    returns: countShape,
    answer: async (asked, ctx) => {
      const count = await countRecords(ctx, listFilter(asked));
      return { total: count, count };
    },
  }),
  multiSiteRoute({
    path: '/sites/sync',
    change: 'refresh',
    summary: 'Fetch fresh data from sites',
    description: 'Without filters, all sites that are not suspended.',
    work: syncHandler,
    params: { even_disconnected: true },
    done: 'were synchronised',
    choose: (ctx, asked) => chooseByFilter(ctx, asked, { not_suspended: true }),
  }),
  multiSiteRoute({
    path: '/sites/reconnect',
    change: 'connections',
    summary: 'Reconnect sites',
    description: 'Only disconnected sites; without filters, all of them that are not suspended.',
    work: reconnectHandler,
    params: {},
    done: 'were reconnected',
    choose: async (ctx, asked) => {
      const selection = await chooseByFilter(ctx, asked, { status: 'disconnected', not_suspended: true });
      return { ...selection, sites: selection.sites.filter(({ status }) => status === 'disconnected') };
    },
  }),
  multiSiteRoute({
    path: '/sites/disconnect',
    change: 'disconnections',
    summary: 'Disconnect sites',
    description:
      'The sites forget this dashboard and are not contacted until reconnected. Without filters, every site: preview with dry_run.',
    work: disconnectHandler,
    params: { tell_child: true },
    done: 'were disconnected',
    choose: (ctx, asked) => chooseByFilter(ctx, asked),
  }),
  multiSiteRoute({
    path: '/sites/check',
    change: 'refresh',
    summary: 'Check whether sites answer',
    description:
      'Visits each front page once. A site that does not answer is a result, not a failure. Without filters, all sites that are not suspended.',
    work: checkHandler,
    params: {},
    done: 'were checked',
    choose: (ctx, asked) => chooseByFilter(ctx, asked, { not_suspended: true }),
    extra: ({ http_status, response_time_ms, reachable }: CheckResult) => ({
      http_code: http_status,
      response_time_ms,
      reachable,
    }),
  }),
  route({
    on: 'POST /sites/add',
    change: { kind: 'connections', sites: 1 },
    live: true,
    body: 'required',
    fails: [404],
    summary: 'Connect a site',
    description:
      'Registers with the child plugin, verifies the key with a signed call, and stores the first inventory.',
    params: addSiteParams,
    example: { message: 'The site was added.', data: exampleFullSite },
    returns: () => writtenOf(siteShape()),
    answer: async (params, ctx) => {
      const site = await connectSite(ctx, params);
      return { message: 'The site was added.', data: await siteRecord(ctx, site) };
    },
  }),
  route({
    on: 'POST /sites/batch',
    change: batchChanges,
    plan: batchPlan,
    covers: batchSites,
    recorded: recordedBatch,
    live: true,
    body: 'required',
    summary: 'Create, change, delete and act on sites in one call',
    description:
      "At most 100 items over all groups. Groups run in the order create, update, delete, then the others; one failed item does not stop the rest. Each result is at its item's index.",
    params: siteBatchParams,
    described: describedBatch,
    example: {
      message: '2 of 2 items succeeded.',
      create: [{ id: 4, success: 1 }],
      delete: [{ id: 3, success: 1 }],
    },
    returns: batchAnswer,
    answer: (groups, ctx) => runBatch(ctx, groups),
  }),
];

/** Not in the routes document. */
export const sitesExtra: readonly Route[] = [
  multiSiteRoute({
    path: '/sites/suspend',
    change: 'connections',
    summary: 'Suspend sites',
    description: 'They are not contacted until unsuspended. Only those listed in include.',
    work: suspendHandler,
    params: {},
    done: 'are suspended',
    choose: chooseNamed,
  }),
  multiSiteRoute({
    path: '/sites/unsuspend',
    change: 'connections',
    summary: 'Lift the suspension of sites',
    description: 'Only those listed in include. Disconnected ones are reconnected.',
    work: unsuspendHandler,
    params: {},
    done: 'are no longer suspended',
    choose: chooseNamed,
  }),
];
