/** Order of the test files: the longest start first, so that all workers finish at about the same time. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files of more than about 3 s, the longest first, alternating between those that mostly wait and those that mostly
 * compute: together they keep the processors busy. Only the speed of a run depends on this list.
 */
const LONGEST = [
  'types/types',
  'guard/guard',
  'store/guards',
  'safety/kills',
  'robustness/stall',
  'audits/browser',
  'cli/cli',
  'robustness/monitors-shared',
  'robustness/processes',
  'rest/hostile',
  'guard/gallery',
  'cli/shell',
  'rest/live-events',
  'robustness/load',
  'cluster/process-id',
  'robustness/volume',
  'mcp/clients',
  'robustness/hostile-words',
  'import/lists',
  'robustness/remote',
  'guard/places',
  'page/dialogs',
  'robustness/clock',
  'assistant/tasks',
  'child/mixed-faults',
  'monitoring/week',
  'import/mainwp',
  'rest/openapi-traffic',
  'rest/reports',
  'demo/story',
  'http/forgery',
  'operations/updates-truth',
  'page/fleet',
  'demo/lines',
  'robustness/hostile-input',
  'rest/audits',
  'cli/edges',
  'page/page',
  'import/trial',
  'safety/guarded-updates',
  'cli/served',
  'jobs/crash',
  'child/fleet',
  'cli/work',
  'cli/readme',
  'page/apps',
  'conformance/conformance',
  'cli/restore-drill',
  'mcp/stdio',
  'robustness/durability',
  'architecture/new-operation',
  'rest/pairs',
  'safety/fleet',
  'rest/users',
  'store/vault',
  'auth/sessions',
  'page/reference',
  'http/gate',
  'mail/mail',
  'operations/queue',
  'rest/site-state',
  'jobs/maintenance',
  'auth/auth',
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
