/** Routes of the known vulnerabilities of the fleet and of one site (REST §7). */

import {
  knownVulnerability,
  SEVERITIES,
  vulnerabilityFacts,
  vulnerabilityNotice,
} from '../../../../schemas/vulnerability.js';
import { z } from '../../../../schemas/zod.js';
import type { Ctx } from '../../../domain/context.js';
import { listVulnerabilities } from '../../../domain/vulnerabilities/list.js';
import { once } from '../../../runtime/once.js';
import { csv, flag, ids, paging, text } from '../params.js';
import { type Route, route } from '../route.js';
import { listOf, withSite } from '../schemas/records.js';
import { siteRoute } from '../sites/references.js';

const filters = once(() => ({
  severity: csv(z.enum(SEVERITIES)).default([]).describe('critical, high, medium, low, none, comma-separated.'),
  slug: text(255, 1).optional().describe('Slug or name; WordPress itself is called wordpress.'),
  fixed: flag().optional().describe('Whether a fixed version is known.'),
}));
const ofSites = once(() => ({
  tag_ids: ids().default([]).describe('Sites with any of these tags, comma-separated.'),
  client_ids: ids().default([]).describe('Sites of any of these clients, comma-separated.'),
}));

const answered = once(() =>
  listOf(knownVulnerability()).extend({
    by_severity: z.record(z.number().int()).describe('Over all pages.'),
    ...vulnerabilityFacts(),
    notices: z.array(vulnerabilityNotice()).describe('Copyright and licence texts of the entries shown.'),
  }),
);

async function answerOf(ctx: Ctx, asked: Parameters<typeof listVulnerabilities>[1]) {
  const { vulnerabilities, ...facts } = await listVulnerabilities(ctx, asked);
  return { ...facts, data: vulnerabilities };
}

/** Not in the routes document. */
export const vulnerabilitiesExtra: readonly Route[] = [
  route({
    on: 'GET /vulnerabilities',
    summary: 'List known vulnerabilities in what is installed',
    description: 'Worst first, each once per plugin, theme or core. Without a feed nothing is known; note says so.',
    params: () => z.object({ ...filters(), ...ofSites(), ...paging(50, 200) }),
    returns: answered,
    answer: (asked, ctx) => answerOf(ctx, asked),
  }),
  siteRoute({
    on: 'GET /sites/{id_or_domain}/vulnerabilities',
    summary: 'List known vulnerabilities of a site',
    params: () => ({ ...filters(), ...paging(50, 200) }),
    returns: () => answered().extend(withSite()),
    answer: (ctx, site, asked) => answerOf(ctx, { ...asked, tag_ids: [], client_ids: [], site_id_or_domain: site.id }),
  }),
];
