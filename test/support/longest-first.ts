/** Order of the test files: the longest begin first, so that both workers end at about the same time. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of more than about 4 s on an idle machine, the longest first. Only the speed of a run depends on this list. */
const LONGEST = [
  'guard/gallery',
  'guard/guard',
  'robustness/replica',
  'audits/browser',
  'robustness/monitors-shared',
  'cli/cli',
  'robustness/clock',
  'import/lists',
  'safety/kills',
  'store/guards',
  'store/replica',
  'page/page',
  'import/mainwp',
  'monitoring/week',
  'guard/places',
  'robustness/stall',
  'mcp/clients',
  'child/mixed-faults',
  'robustness/processes',
  'page/dialogs',
  'operations/updates-truth',
  'rest/live-events',
  'cluster/process-id',
  'page/fleet',
  'cli/work',
  'jobs/crash',
  'robustness/hostile-words',
  'demo/lines',
  'rest/audits',
  'robustness/load',
  'safety/guarded-updates',
  'rest/hostile',
  'rest/reports',
  'robustness/remote',
  'cli/shell',
  'robustness/volume',
  'auth/sessions',
  'robustness/hostile-input',
  'architecture/new-operation',
  'http/gate',
  'mail/mail',
  'import/trial',
  'demo/story',
  'auth/auth',
  'http/forgery',
  'assistant/tasks',
  'page/apps',
  'child/fleet',
  'cli/edges',
  'guard/protocol',
  'page/reference',
  'robustness/durability',
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
