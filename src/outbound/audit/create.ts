/** Builds the auditor from its engines, Lighthouse and PageSpeed Insights. */

import type { Auditor } from './audit.js';
import { type LighthouseParts, missingForLighthouse, runLighthouse } from './lighthouse.js';
import { runPagespeed } from './pagespeed.js';

export interface AuditorParts extends LighthouseParts {
  /** Address of PageSpeed Insights. */
  pagespeedUrl: string;
}

export function createAuditor(parts: AuditorParts): Auditor {
  return {
    missing: () => missingForLighthouse(parts),
    run: (request) =>
      request.engine === 'pagespeed' ? runPagespeed(parts.pagespeedUrl, request) : runLighthouse(parts, request),
  };
}
