/** Routes of the SSL monitor (REST §6.5). */

import { z } from '../../../../schemas/zod.js';
import { checkCertificate, getCertificate, listCertificates } from '../../../domain/monitoring/certificates.js';
import { csv, ids, paging, text } from '../params.js';
import { ofModule, route } from '../route.js';
import { certificateShape } from '../schemas/monitoring.js';
import { mapOf, recordOf, writtenOf } from '../schemas/records.js';
import { siteRoute } from '../sites/references.js';

export const ssl = ofModule('ssl-monitor', [
  route({
    on: 'GET /ssl-monitor/info',
    summary: 'List the certificates of all sites, as last seen',
    params: () =>
      z.object({
        status: csv(z.enum(['valid', 'expiring', 'expired', 'invalid', 'unknown']))
          .default([])
          .describe('Comma-separated; any of them.'),
        search: text(255).optional().describe('Part of name or URL.'),
        include: ids().optional().describe('Only these sites.'),
        exclude: ids().optional().describe('All except these sites.'),
        ...paging(1000, 1000),
      }),
    returns: () => mapOf(certificateShape(), 'site id'),
    async answer({ page, per_page, ...filter }, ctx) {
      const { items, total } = await listCertificates(ctx, filter, page, per_page);
      return { total, data: Object.fromEntries(items.map((item) => [item.id, item])), page, per_page };
    },
  }),
  siteRoute({
    on: 'GET /ssl-monitor/info/{id_or_domain}',
    summary: 'Read the certificate of a site, as last seen',
    returns: () => recordOf(certificateShape()),
    answer: async (ctx, site) => ({ data: await getCertificate(ctx, site.id) }),
  }),
  siteRoute({
    on: 'POST /ssl-monitor/{id_or_domain}',
    change: 'refresh',
    live: true,
    summary: 'Check the certificate of a site now',
    description:
      'The certificate is read even if it is not trusted. An unreachable server is a result: error says why, and the previous data is kept.',
    returns: () => writtenOf(certificateShape()),
    async answer(ctx, site) {
      const data = await checkCertificate(ctx, site.id);
      return { message: data.error ?? `The certificate is ${data.status}.`, data };
    },
  }),
]);
