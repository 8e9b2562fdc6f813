/** The site that a path names, with the 404 codes of the REST interface, and routes about one site (REST §3.3). */

import { z } from '../../../../schemas/zod.js';
import type { Ctx } from '../../../domain/context.js';
import { lowestSite } from '../../../domain/sites/resolve.js';
import { standings } from '../../../domain/sites/status.js';
import { ServiceError } from '../../../runtime/errors.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import { sitePath } from '../params.js';
import { type Route, type RouteAnswer, type RouteFacts, route } from '../route.js';
import { standingView } from '../views/site-records.js';

/** The short record in answers: `site` of per-site routes, `data` of writes (REST §4.1 "simple"). */
export async function simpleSite(ctx: Ctx, site: SiteRow) {
  return { ...removedSite(site), ...standingView((await standings(ctx, [site])).get(site.id) ?? {}) };
}

/** The same of a site that is gone, of which nothing else is known any more. */
export function removedSite({ id, name, url, client_id, status }: SiteRow) {
  return { id, name, url, client_id, status };
}

export type SiteFacts<S extends z.ZodRawShape> = Omit<RouteFacts<z.ZodObject<S>>, 'params' | 'plan' | 'answer'> & {
  /** The parameters besides the site. */
  params?: () => S;
  plan?(ctx: Ctx, site: SiteRow, params: z.output<z.ZodObject<S>>): Promise<unknown>;
  answer(ctx: Ctx, site: SiteRow, params: z.output<z.ZodObject<S>>): Promise<RouteAnswer>;
};

/** A route about the site that `{id_or_domain}` names. `site` is added at the end of the answer. */
export function siteRoute<S extends z.ZodRawShape>(
  { params, plan, answer, ...facts }: SiteFacts<S>,
  load: (ctx: Ctx, id_or_domain: string) => Promise<SiteRow> = siteOf,
): Route {
  return route({
    ...facts,
    params: () => z.object({ ...sitePath(), ...params?.() }),
    ...(plan !== undefined && {
      plan: async ({ id_or_domain, ...others }, ctx) =>
        plan(ctx, await load(ctx, id_or_domain), others as z.output<z.ZodObject<S>>),
    }),
    async answer({ id_or_domain, ...others }, ctx) {
      const site = await load(ctx, id_or_domain);
      return { ...(await answer(ctx, site, others as z.output<z.ZodObject<S>>)), site: await simpleSite(ctx, site) };
    },
  });
}

const DIGITS = /^\d+$/;

/**
 * The site of a path segment: all digits are an id, anything else a domain or URL. If several match (http and https
 * copies), the one with the lowest id. Throws `svc_rest_invalid_site_id` or `svc_rest_invalid_site_data`, naming
 * `field`.
 */
export async function siteOf(ctx: Ctx, reference: string, field = 'id_or_domain'): Promise<SiteRow> {
  try {
    return await lowestSite(ctx, reference, field);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'svc_site_not_found') throw unknownSite(reference, field);
    throw error;
  }
}

/** The REST error for an unknown site, with a code for ids and one for domains. */
function unknownSite(reference: string, field: string): ServiceError {
  const numeric = DIGITS.test(reference);
  const shown = JSON.stringify(reference.slice(0, 100));
  return numeric
    ? new ServiceError('svc_rest_invalid_site_id', `No site has the id ${shown}.`, {
        field,
        advice: 'Find the id with GET /v2/sites.',
      })
    : new ServiceError('svc_rest_invalid_site_data', `No site is known as ${shown}.`, {
        field,
        advice: 'Find the site with GET /v2/sites?search=…, or name it by its id.',
      });
}
