import { paged, paging } from '../../schemas/common.js';
import { alertEntry, ofSite } from '../../schemas/monitoring-tools.js';
import { z } from '../../schemas/zod.js';
import { listAlerts } from '../../src/domain/monitoring/alerts.js';
import { alertEntryOf } from '../../src/domain/monitoring/entries.js';
import { oneOrAll } from '../../src/domain/sites/resolve.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-alerts-v1',
  title: 'List alerts',
  about: 'Lists alerts from monitors, certificates, domains and checks, newest first, and whether they were sent.',
  run: 'GET',
  effect: 'read',

  input: () => z.object({ site_id_or_domain: ofSite(), ...paging(20, 100) }),

  output: () => z.object({ alerts: z.array(alertEntry()), ...paged() }),

  async handle({ site_id_or_domain, page, per_page }, ctx) {
    const { items, total } = await listAlerts(ctx, await oneOrAll(ctx, site_id_or_domain), page, per_page);
    return { alerts: items.map(alertEntryOf), total, page, per_page };
  },
});
