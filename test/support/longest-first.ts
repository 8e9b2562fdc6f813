/** Order of the test files: the longest begin first, so that both workers end at about the same time. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of more than about 4 s on an idle machine, the longest first. Only the speed of a run depends on this list. */
const LONGEST = [
  'guard/gallery',
  'guard/guard',
  'audits/browser',
  'page/page',
  'store/replica',
  'robustness/replica',
  'robustness/stall',
  'robustness/monitors-shared',
  'safety/kills',
  'store/guards',
  'guard/places',
  'cli/cli',
  'import/lists',
  'import/mainwp',
  'operations/updates-truth',
  'robustness/hostile-input',
  'mcp/clients',
  'assistant/tasks',
  'demo/story',
  'page/dialogs',
  'monitoring/week',
  'rest/hostile',
  'robustness/volume',
  'child/mixed-faults',
  'jobs/crash',
  'cli/shell',
  'rest/live-events',
  'safety/guarded-updates',
  'robustness/processes',
  'page/apps',
  'mail/mail',
  'demo/lines',
  'cli/work',
  'auth/sessions',
  'rest/audits',
  'architecture/new-operation',
  'cluster/process-id',
  'robustness/clock',
  'http/forgery',
  'child/fleet',
  'robustness/remote',
  'robustness/hostile-words',
  'rest/openapi-traffic',
  'jobs/maintenance',
  'rest/pairs',
  'rest/reports',
  'robustness/load',
  'import/trial',
  'cli/edges',
  'auth/auth',
  'cli/readme',
  'rest/site-state',
  'robustness/durability',
  'cli/served',
  'robustness/migrations',
  'operations/queue',
  'page/reference',
  'http/gate',
  'store/vault',
  'page/fleet',
  'conformance/conformance',
  'child/http',
  'mcp/stdio',
  'rest/users',
  'guard/protocol',
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
