import { bool, dryRun, int, list, siteError, siteRefs } from '../../schemas/common.js';
import { interval, MONITOR_TYPES, MOST_RETRIES, monitorKeyword, timeout } from '../../schemas/monitoring.js';
import { z } from '../../schemas/zod.js';
import { updateMonitors } from '../../src/domain/monitoring/update-monitors.js';
import { defineOperation } from '../../src/operation/operation.js';

const SETTINGS = ['active', 'interval', 'timeout', 'maxretries', 'type', 'keyword'] as const;
const count = () => z.number().int();

export default defineOperation({
  id: 'svc/update-monitors-v1',
  title: 'Change uptime monitors',
  about: 'Changes how named sites are monitored, or pauses it while somebody works on them.',
  effect: 'write',
  change: 'settings',
  idempotent: false,

  input: () =>
    z.object({
      site_ids_or_domains: siteRefs('At least one.'),
      active: bool().optional().describe('Whether they are monitored.'),
      interval: interval().optional().describe('Minutes between checks: 1, 5, 10, 15, 30, 45, or whole hours.'),
      timeout: timeout().optional().describe('Seconds a check may take.'),
      maxretries: int(0, MOST_RETRIES).optional().describe('Failed checks before it counts as down.'),
      type: z.enum(MONITOR_TYPES).optional().describe('keyword: a word in the page.'),
      keyword: monitorKeyword().optional().describe('The word to look for.'),
      follow: list(z.enum(SETTINGS)).default([]).describe('These follow the global setting again.'),
      maintenance_minutes: int(0, 20_160).optional().describe('Minutes without checks; 0 ends maintenance.'),
      dry_run: dryRun(),
    }),

  output: () =>
    z.object({
      dry_run: z.boolean().optional(),
      changed: z.array(z.object({ site_id: count(), url: z.string(), changes: z.array(z.string()) })),
      total_changed: count(),
      total_unchanged: count(),
      errors: z.array(siteError()).describe('The first of them.'),
      total_errors: count(),
    }),

  handle: ({ active, ...input }, ctx) =>
    updateMonitors(ctx, { ...input, active: active === undefined ? undefined : active ? 1 : 0 }),
});
