/** Order of the test files: the longest begin first, so that both workers end at about the same time. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of more than about 4 s on an idle machine, the longest first. Only the speed of a run depends on this list. */
const LONGEST = [
  'robustness/replica',
  'guard/gallery',
  'guard/guard',
  'audits/browser',
  'robustness/stall',
  'import/lists',
  'assistant/tasks',
  'cli/cli',
  'jobs/crash',
  'robustness/monitors-shared',
  'safety/guarded-updates',
  'store/guards',
  'store/replica',
  'import/mainwp',
  'rest/hostile',
  'page/page',
  'safety/kills',
  'mcp/clients',
  'demo/story',
  'rest/pairs',
  'robustness/clock',
  'operations/clients',
  'operations/codes',
  'vulnerabilities/vulnerabilities',
  'rest/site-state',
  'mcp/oauth',
  'mcp/confirm',
  'robustness/volume',
  'monitoring/shared',
  'guard/places',
  'operations/updates-truth',
  'rest/sites',
  'operations/priority',
  'demo/lines',
  'cli/shell',
  'robustness/hostile-input',
  'robustness/remote',
  'cli/work',
  'robustness/migrations',
  'rest/reports',
  'rest/audits',
  'child/mixed-faults',
  'operations/sites',
  'mcp/token-estimate',
  'jobs/maintenance',
  'rest/openapi-traffic',
  'robustness/processes',
  'operations/search-fleet',
  'architecture/new-operation',
  'rest/live-events',
  'page/apps',
  'cluster/process-id',
  'auth/sessions',
  'page/reference',
  'mail/alert-recipients',
  'operations/update-filters',
  'mcp/tool-choice',
  'monitoring/week',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return index === -1 ? LONGEST.length : index;
    };
    return [...files].sort((a, b) => place(a) - place(b) || a.moduleId.localeCompare(b.moduleId));
  }
}
