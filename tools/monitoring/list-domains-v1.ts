import { list, paged, paging } from '../../schemas/common.js';
import { DOMAIN_STATES, domainEntry, ofSite } from '../../schemas/monitoring-tools.js';
import { searchText } from '../../schemas/search.js';
import { z } from '../../schemas/zod.js';
import { listDomains } from '../../src/domain/monitoring/domains.js';
import { domainEntryOf } from '../../src/domain/monitoring/entries.js';
import { oneOrAll } from '../../src/domain/sites/resolve.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-domains-v1',
  title: 'List domain registrations',
  about: "Lists sites' domain registrations as last looked up, with expiry and registrar.",
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      site_id_or_domain: ofSite(),
      status: list(z.enum(DOMAIN_STATES)).default([]).describe('Any of them.'),
      search: searchText().describe('Part of the name or URL.'),
      ...paging(20, 200),
    }),

  output: () => z.object({ domains: z.array(domainEntry()), ...paged() }),

  async handle({ site_id_or_domain, page, per_page, ...filter }, ctx) {
    const include = await oneOrAll(ctx, site_id_or_domain);
    const { items, total } = await listDomains(ctx, { ...filter, include }, page, per_page);
    return { domains: items.map(domainEntryOf), total, page, per_page };
  },
});
