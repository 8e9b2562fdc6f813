/** Order of the test files: the longest start first, so that all workers finish at about the same time. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of more than about 3 s, the longest first. Only the speed of a run depends on this list. */
const LONGEST = [
  'guard/guard',
  'guard/outside',
  'audits/browser',
  'guard/gallery',
  'guard/sandbox',
  'safety/guarded-updates',
  'robustness/clock',
  'cli/cli',
  'guard/places',
  'robustness/monitors-shared',
  'page/page',
  'page/owner',
  'robustness/volume',
  'import/lists',
  'robustness/stall',
  'cli/shell',
  'mcp/clients',
  'store/guards',
  'types/types',
  'guard/watch',
  'safety/kills',
  'robustness/hostile-words',
  'jobs/crash',
  'guard/ledger',
  'safety/looks',
  'robustness/processes',
  'rest/hostile',
  'rest/live-events',
  'robustness/load',
  'cluster/process-id',
  'robustness/remote',
  'page/dialogs',
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
  'import/trial',
  'cli/served',
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
