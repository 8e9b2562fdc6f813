/** Routes of one site (REST §6.3); its plugins and themes: extensions.ts. */

import { z } from '../../../../schemas/zod.js';
import { getSiteClient } from '../../../domain/clients/clients.js';
import {
  checkOne,
  disconnectOne,
  reconnectOne,
  removeOne,
  scanSecurity,
  suspendOne,
  syncOne,
} from '../../../domain/connection/actions.js';
import type { Ctx } from '../../../domain/context.js';
import { siteCostRecords } from '../../../domain/costs/records.js';
import { once } from '../../../runtime/once.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import { flag, sitePath } from '../params.js';
import { type Route, type RouteAnswer, type RouteFacts, route } from '../route.js';
import { exampleFullSite, exampleSite } from '../schemas/examples.js';
import {
  clientOfSite,
  recordOf,
  securityShape,
  simpleSiteShape,
  siteCostsShape,
  siteShape,
  visitShape,
  writtenOf,
} from '../schemas/records.js';
import { siteRecord } from '../views/site-records.js';
import { siteChanges } from './changes.js';
import { applyEdit, editKinds, editSiteFields } from './edit.js';
import { siteExtensions } from './extensions.js';
import { removedSite, simpleSite, siteOf, siteRoute } from './references.js';

const markedShape = once(() =>
  writtenOf(simpleSiteShape()).extend({ suspended: z.union([z.literal(0), z.literal(1)]) }),
);
const marked = (suspended: 0 | 1) => ({
  returns: markedShape,
  example: {
    message: '…',
    suspended,
    data: { ...exampleSite, status: suspended === 1 ? 'suspended' : 'connected' },
  },
});

/** `POST|PUT|PATCH /sites/{id_or_domain}/<name>` without further parameters. */
function action(
  name: string,
  facts: Pick<RouteFacts<z.AnyZodObject>, 'summary' | 'change'> &
    Partial<Pick<RouteFacts<z.AnyZodObject>, 'description' | 'live' | 'returns' | 'example' | 'fails'>>,
  act: (ctx: Ctx, site: SiteRow) => Promise<RouteAnswer>,
): Route {
  return route({
    on: `POST|PUT|PATCH /sites/{id_or_domain}/${name}`,
    returns: () => writtenOf(simpleSiteShape()),
    example: { message: '…', data: exampleSite },
    ...facts,
    params: () => z.object(sitePath()),
    answer: async ({ id_or_domain }, ctx) => act(ctx, await siteOf(ctx, id_or_domain)),
  });
}

export const site: readonly Route[] = [
  route({
    on: 'GET /sites/{id_or_domain}',
    summary: 'Read a site',
    params: () => z.object({ ...sitePath(), with_tags: flag().default(true) }),
    example: { data: exampleFullSite },
    returns: () => recordOf(siteShape()),
    answer: async ({ id_or_domain, with_tags }, ctx) => ({
      data: await siteRecord(ctx, await siteOf(ctx, id_or_domain), with_tags),
    }),
  }),
  route({
    on: 'POST|PUT|PATCH /sites/{id_or_domain}/edit',
    change: (edit: object) => [{ kind: 'connections' }, ...editKinds(edit).map((kind) => ({ kind }))],
    body: 'required',
    summary: 'Change the settings of a site',
    description: 'Omitted fields keep their value; null, or "" for text, clears them.',
    params: () => z.object({ ...sitePath(), ...editSiteFields() }),
    example: { message: 'The site was changed.', data: exampleFullSite, group_updated: true },
    returns: () =>
      writtenOf(siteShape()).extend({
        group_updated: z.boolean().optional(),
        group_message: z.string().optional(),
      }),
    answer: async ({ id_or_domain, ...params }, ctx) => {
      const changed = await applyEdit(ctx, await siteOf(ctx, id_or_domain), params);
      return {
        message: 'The site was changed.',
        data: await siteRecord(ctx, changed),
        ...(params.groupids === undefined ? {} : { group_updated: true, group_message: 'The tags were replaced.' }),
      };
    },
  }),
  action(
    'sync',
    {
      change: 'refresh',
      live: true,
      fails: [504],
      example: { message: 'The site was synchronised.', data: exampleFullSite },
      summary: 'Fetch fresh data from a site',
      description: 'Even if it is disconnected or was down.',
      returns: () => writtenOf(siteShape()),
    },
    async (ctx, found) => ({
      message: 'The site was synchronised.',
      data: await siteRecord(ctx, await syncOne(ctx, found)),
    }),
  ),
  siteRoute({
    on: 'GET /sites/{id_or_domain}/security',
    live: true,
    summary: "Check a site's security",
    description: 'Asks the site now. Y is good, N is an issue; the child plugin cannot change the _UNABLE ones.',
    returns: () => recordOf(securityShape()),
    answer: async (ctx, found) => ({ data: await scanSecurity(ctx, found) }),
  }),
  ...siteExtensions,
  siteChanges,
  action(
    'reconnect',
    {
      change: 'connections',
      live: true,
      fails: [504],
      summary: 'Reconnect a site',
      description:
        'Syncs first; if the child refuses the key, a new one is registered. A connected site is left unchanged.',
    },
    async (ctx, found) => {
      const { site: now, changed } = await reconnectOne(ctx, found);
      return {
        message: changed ? 'The site was reconnected.' : 'The site is already connected.',
        data: await simpleSite(ctx, now),
      };
    },
  ),
  action(
    'disconnect',
    {
      change: 'disconnections',
      live: true,
      fails: [504],
      summary: 'Disconnect a site',
      description: 'The child forgets this dashboard; the record stays.',
    },
    async (ctx, found) => {
      const { site: now, childConfirmed } = await disconnectOne(ctx, found);
      const message = childConfirmed
        ? 'The site was disconnected and has forgotten this dashboard.'
        : "The site was disconnected here. It did not confirm this, and may still have this dashboard's key.";
      return { message, data: await simpleSite(ctx, now) };
    },
  ),
  action(
    'suspend',
    {
      change: 'connections',
      summary: 'Suspend a site',
      description: 'It is not contacted until unsuspended.',
      ...marked(1),
    },
    async (ctx, found) => ({
      message: 'The site is suspended.',
      suspended: 1,
      data: await simpleSite(ctx, await suspendOne(ctx, found, true)),
    }),
  ),
  action(
    'unsuspend',
    {
      change: 'connections',
      live: true,
      fails: [504],
      summary: 'Lift the suspension of a site',
      description: 'A disconnected site is reconnected.',
      ...marked(0),
    },
    async (ctx, found) => ({
      message: 'The site is no longer suspended.',
      suspended: 0,
      data: await simpleSite(ctx, await suspendOne(ctx, found, false)),
    }),
  ),
  action(
    'check',
    {
      change: 'refresh',
      live: true,
      fails: [504],
      example: {
        message: 'The site answers.',
        data: {
          ...exampleSite,
          http_code: 200,
          response_time_ms: 184,
          reachable: true,
        },
      },
      summary: 'Check whether a site answers',
      description: 'A site that does not answer is a result: http_code 0.',
      returns: () => writtenOf(visitShape()),
    },
    async (ctx, found) => {
      const { site: now, check } = await checkOne(ctx, found);
      return {
        message: check.reachable ? 'The site answers.' : 'The site does not answer as expected.',
        data: {
          ...(await simpleSite(ctx, now)),
          http_code: check.http_status,
          response_time_ms: check.response_time_ms,
          reachable: check.reachable,
        },
      };
    },
  ),
  route({
    on: 'DELETE /sites/{id_or_domain}/remove',
    change: 'site_deletions',
    live: true,
    summary: 'Remove a site from this service',
    description: 'Permanently, with its history. The child plugin is deactivated if the site can be reached.',
    params: () => z.object(sitePath()),
    example: { message: 'The site was removed.', data: exampleSite },
    returns: () => writtenOf(simpleSiteShape()),
    answer: async ({ id_or_domain }, ctx) => {
      const { site: gone, childConfirmed } = await removeOne(ctx, await siteOf(ctx, id_or_domain));
      const message = childConfirmed
        ? 'The site was removed, and its child plugin was deactivated.'
        : 'The site was removed. Its child plugin did not confirm this and may still be active on the site.';
      return { message, data: removedSite(gone) };
    },
  }),
  siteRoute({
    on: 'GET /sites/{id_or_domain}/client',
    summary: 'Read the client of a site',
    returns: () => recordOf(clientOfSite()),
    async answer(ctx, found) {
      const { client } = await getSiteClient(ctx, found.id);
      const message = client === null ? { message: 'No client is linked to this site.' } : {};
      const data = client === null ? null : { client_id: client.id, ...client };
      return { ...message, data };
    },
  }),
  siteRoute({
    on: 'GET /sites/{id_or_domain}/costs',
    module: 'cost-tracker',
    summary: 'List the costs of a site',
    description: 'Keyed by cost id; amount is the share of this site.',
    returns: siteCostsShape,
    async answer(ctx, found) {
      const { costs, ...totals } = await siteCostRecords(ctx, found);
      const message = costs.length === 0 ? { message: 'No costs are linked to this site.' } : {};
      const data = Object.fromEntries(costs.map((cost) => [cost.id, cost]));
      return { ...message, total: costs.length, data, ...totals };
    },
  }),
];
