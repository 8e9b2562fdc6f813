import { list, paged, paging } from '../../schemas/common.js';
import { CERTIFICATE_STATES, certificateEntry, ofSite } from '../../schemas/monitoring-tools.js';
import { searchText } from '../../schemas/search.js';
import { z } from '../../schemas/zod.js';
import { listCertificates } from '../../src/domain/monitoring/certificates.js';
import { certificateEntryOf } from '../../src/domain/monitoring/entries.js';
import { oneOrAll } from '../../src/domain/sites/resolve.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-certificates-v1',
  title: 'List TLS certificates',
  about: "Lists sites' certificates as last seen, with expiry and problems.",
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      site_id_or_domain: ofSite(),
      status: list(z.enum(CERTIFICATE_STATES)).default([]).describe('Any of them.'),
      search: searchText().describe('Part of the name or URL.'),
      ...paging(20, 200),
    }),

  output: () => z.object({ certificates: z.array(certificateEntry()), ...paged() }),

  async handle({ site_id_or_domain, page, per_page, ...filter }, ctx) {
    const include = await oneOrAll(ctx, site_id_or_domain);
    const { items, total } = await listCertificates(ctx, { ...filter, include }, page, per_page);
    return { certificates: items.map(certificateEntryOf), total, page, per_page };
  },
});
