/** Optional parts of the product: a verb that needs one checks here (operations §1.10). */

import type { ModuleName } from '../../runtime/config/types.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';

const TITLES: Record<ModuleName, string> = {
  logs: 'Logs',
  'cost-tracker': 'Cost Tracker',
  comments: 'Comments',
  'ssl-monitor': 'SSL Monitor',
  'domain-monitor': 'Domain Monitor',
  'perf-audit': 'Performance Audit',
  'pro-reports': 'Pro Reports',
  'time-tracker': 'Time Tracker',
};

/** Throws `svc_module_not_available` (501, `data.module`) when the operator has switched the module off. */
export function requireModule(ctx: Pick<Ctx, 'config'>, module: ModuleName): void {
  if (ctx.config.modules.includes(module)) return;
  throw new ServiceError('svc_module_not_available', `The ${TITLES[module]} module is not active on this server.`, {
    advice: `Ask the operator to add ${module} to SITEFLEET_MODULES.`,
    data: { module },
  });
}
