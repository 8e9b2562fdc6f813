/** Routes that run one action on many sites: results keyed by site id, or a queued job (REST §3.7, §6.2). */

import type { ChangeKind } from '../../../../schemas/approval.js';
import { z } from '../../../../schemas/zod.js';
import type { JobHandler } from '../../../domain/actions/handler.js';
import { runOrQueue } from '../../../domain/actions/run-on-sites.js';
import type { Ctx } from '../../../domain/context.js';
import type { Selection } from '../../../domain/sites/resolve.js';
import { sitesNow, withStandings } from '../../../domain/sites/sites.js';
import type { Standing } from '../../../domain/sites/status.js';
import { once } from '../../../runtime/once.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import { flag } from '../params.js';
import { type Route, type RouteAnswer, route } from '../route.js';
import { withRoutes } from '../route-names.js';
import { actedSite, queuedShape } from '../schemas/records.js';
import { standingView } from '../views/site-records.js';
import { siteChoice } from './filter.js';

type Filters = { include?: readonly number[] | undefined; exclude?: readonly number[] | undefined };

interface MultiSiteAction<P extends object, R> {
  path: `/${string}`;
  change: ChangeKind;
  summary: string;
  description: string;
  work: JobHandler<P, R>;
  params: P;
  /** Ends the sentence "3 of 4 sites …". */
  done: string;
  choose(ctx: Ctx, asked: Filters): Promise<Selection>;
  /** Further members of a site's result. */
  extra?(result: R): object;
}

const multiSiteAnswer = once(() =>
  z.object({
    message: z.string(),
    total: z.number().int(),
    dry_run: z.boolean().optional(),
    data: z.record(actedSite()).optional().describe('By site id; absent if the work was queued.'),
    ...queuedShape(),
  }),
);

export function multiSiteRoute<P extends object, R>(action: MultiSiteAction<P, R>): Route {
  return route({
    on: `POST|PUT|PATCH ${action.path}`,
    change: action.change,
    live: true,
    summary: action.summary,
    description: `${action.description} Calls on very many sites answer "queued": true with a job.`,
    params: () =>
      z.object({
        ...siteChoice(),
        dry_run: flag().default(false).describe('true: lists the sites that would be affected and does nothing.'),
      }),
    example: {
      message: `1 of 1 sites ${action.done}.`,
      total: 1,
      data: { 1: { result: 'success', id: 1, name: 'Example', url: 'https://example.com/', status: 'connected' } },
      errors: [],
    },
    returns: multiSiteAnswer,
    answer: async ({ dry_run, ...asked }, ctx) => {
      const selection = await action.choose(ctx, asked);
      return dry_run ? preview(ctx, selection) : act(ctx, action, selection);
    },
  });
}

async function preview(ctx: Ctx, selection: Selection): Promise<RouteAnswer> {
  const sites = await withStandings(ctx, selection.sites);
  const data = Object.fromEntries(sites.map((site) => [site.id, entry(site, 'would_run')]));
  return {
    message: `${sites.length} sites would be affected. Nothing was done.`,
    dry_run: true,
    total: sites.length,
    data,
    errors: unknownSites(selection),
  };
}

function unknownSites({ errors }: Selection) {
  return errors.map(({ site_id, code, message }) => ({ site_id, code, message }));
}

async function act<P extends object, R>(
  ctx: Ctx,
  action: MultiSiteAction<P, R>,
  selection: Selection,
): Promise<RouteAnswer> {
  const answer = await runOrQueue(ctx, action.work, selection, action.params);
  if (answer.queued) {
    const { errors: _none, total_errors: _zero, ...job } = answer;
    return {
      message: `${answer.sites_queued} sites are being processed in the background.`,
      ...job,
      total: answer.sites_queued,
      errors: unknownSites(selection),
    };
  }
  // Read again, because the action may have changed the sites.
  const now = await sitesNow(ctx, selection.sites);
  const byId = new Map((await withStandings(ctx, now)).map((site) => [site.id, site]));
  const data: Record<string, object> = {};
  for (const { target, result } of answer.done)
    data[target.site.id] = { ...entry(byId.get(target.site.id) ?? target.site, 'success'), ...action.extra?.(result) };
  for (const { site, error } of answer.failures)
    data[site.id] = {
      ...entry(byId.get(site.id) ?? site, 'failed'),
      error: withRoutes(error.message),
      code: error.code,
    };
  const total = selection.sites.length;
  return {
    message:
      total === 0
        ? 'No site matches, so there was nothing to do.'
        : `${answer.done.length} of ${total} sites ${action.done}.`,
    total,
    data,
    ...answer.continued,
    errors: [
      ...unknownSites(selection),
      ...answer.failures.map(({ site, error }) => ({ site_id: site.id, code: error.code, message: error.message })),
    ],
  };
}

function entry({ id, name, url, status, ...more }: SiteRow & Standing, result: string) {
  return { result, id, name, url, status, ...standingView(more) };
}
