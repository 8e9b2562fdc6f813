import { list, paged, paging } from '../../schemas/common.js';
import { monitorEntry, monitorSettingsShape, ofSite } from '../../schemas/monitoring-tools.js';
import { searchText } from '../../schemas/search.js';
import { z } from '../../schemas/zod.js';
import { monitorEntryOf } from '../../src/domain/monitoring/entries.js';
import { listMonitors, monitorSettings } from '../../src/domain/monitoring/monitors.js';
import { oneOrAll } from '../../src/domain/sites/resolve.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-monitors-v1',
  title: 'List uptime monitors',
  about:
    'Lists sites with uptime, outages and response times; of one site also how it is monitored. To see only what is down now, use search-fleet-v1.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      site_id_or_domain: ofSite(),
      status: list(z.enum(['up', 'down', 'pending', 'first', 'unknown', 'paused']))
        .default([])
        .describe('Any of them; first = not checked yet.'),
      search: searchText().describe('Part of the name or URL.'),
      ...paging(20, 200),
    }),

  output: () =>
    z.object({
      monitors: z.array(monitorEntry()),
      settings: monitorSettingsShape().optional().describe('Of the named site.'),
      ...paged(),
    }),

  async handle({ site_id_or_domain, page, per_page, ...filter }, ctx) {
    const include = await oneOrAll(ctx, site_id_or_domain);
    const { items, total } = await listMonitors(ctx, { ...filter, include }, page, per_page);
    const [site] = include ?? [];
    const settings = site === undefined ? undefined : await monitorSettings(ctx, site);
    return { monitors: items.map(monitorEntryOf), ...(settings && { settings }), total, page, per_page };
  },
});
