import { siteRef } from '../../schemas/common.js';
import { certificateEntry, domainEntry } from '../../schemas/monitoring-tools.js';
import { z } from '../../schemas/zod.js';
import { checkCertificate } from '../../src/domain/monitoring/certificates.js';
import { checkDomain } from '../../src/domain/monitoring/domains.js';
import { checkMonitor } from '../../src/domain/monitoring/edit.js';
import { certificateEntryOf, domainEntryOf } from '../../src/domain/monitoring/entries.js';
import { getSite } from '../../src/domain/sites/resolve.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/check-monitor-v1',
  title: 'Check a site now',
  about: "Checks a site's uptime, certificate or domain now and stores the result. Down is a result, not an error.",
  effect: 'write',
  change: 'refresh',
  idempotent: true,

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      what: z.enum(['uptime', 'certificate', 'domain']).default('uptime').describe('What to check.'),
    }),

  output: () =>
    z.object({
      site_id: z.number().int(),
      uptime: z
        .object({
          status: z
            .enum(['up', 'down', 'pending'])
            .describe('What this check saw; pending = neither, during maintenance.'),
          recorded: z.string().describe('The state as list-monitors-v1 now shows it.'),
          http_code: z.number().int().describe('0 = no answer.'),
          response_ms: z.number().nullable(),
          message: z.string(),
        })
        .optional(),
      certificate: certificateEntry().optional(),
      domain: domainEntry().optional(),
    }),

  async handle({ site_id_or_domain, what }, ctx) {
    const site = await getSite(ctx, site_id_or_domain);
    if (what === 'certificate')
      return { site_id: site.id, certificate: certificateEntryOf(await checkCertificate(ctx, site.id)) };
    if (what === 'domain') return { site_id: site.id, domain: domainEntryOf(await checkDomain(ctx, site)) };
    const { uptime_status: status, ...seen } = await checkMonitor(ctx, site.id);
    const recorded = seen.paused ? 'paused' : seen.status;
    const { http_code, response_time_ms: response_ms, msg: message } = seen;
    return { site_id: site.id, uptime: { status, recorded, http_code, response_ms, message } };
  },
});
