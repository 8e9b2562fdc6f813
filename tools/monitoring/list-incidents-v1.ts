import { bool, paged, paging } from '../../schemas/common.js';
import { incidentEntry, ofSite } from '../../schemas/monitoring-tools.js';
import { days } from '../../schemas/search.js';
import { z } from '../../schemas/zod.js';
import { incidentEntryOf } from '../../src/domain/monitoring/entries.js';
import { listFleetIncidents } from '../../src/domain/monitoring/incidents.js';
import { oneOrAll, withoutSite } from '../../src/domain/sites/resolve.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-incidents-v1',
  title: 'List incidents',
  about: 'Lists the times sites were down, newest first, with what was observed.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      site_id_or_domain: ofSite(),
      open: bool().optional().describe('true = ongoing; false = ended.'),
      acknowledged: bool().optional().describe('Whether a person has seen it.'),
      days: days().describe('Began in the last N days.'),
      ...paging(20, 200),
    }),

  output: () => z.object({ incidents: z.array(incidentEntry().partial({ site_id: true, url: true })), ...paged() }),

  async handle({ site_id_or_domain, page, per_page, ...filter }, ctx) {
    const site_ids = await oneOrAll(ctx, site_id_or_domain);
    const { items, total } = await listFleetIncidents(ctx, { ...filter, site_ids }, page, per_page);
    const incidents = items.map(incidentEntryOf);
    const shown = site_id_or_domain === undefined ? incidents : incidents.map(withoutSite);
    return { incidents: shown, total, page, per_page };
  },
});
