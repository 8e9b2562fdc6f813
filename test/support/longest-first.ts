/** Order of the test files: the longest begin first, so that both workers end at about the same time. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of more than about 4 s on an idle machine, the longest first. Only the speed of a run depends on this list. */
const LONGEST = [
  'guard/gallery',
  'monitoring/week',
  'safety/kills',
  'robustness/monitors-shared',
  'page/page',
  'audits/browser',
  'assistant/tasks',
  'jobs/crash',
  'store/replica',
  'robustness/clock',
  'robustness/replica',
  'robustness/stall',
  'mcp/clients',
  'store/guards',
  'child/mixed-faults',
  'robustness/processes',
  'cli/cli',
  'robustness/volume',
  'robustness/hostile-input',
  'robustness/load',
  'rest/audits',
  'robustness/hostile-words',
  'cli/edges',
  'robustness/remote',
  'rest/hostile',
  'rest/openapi-traffic',
  'page/fleet',
  'http/forgery',
  'cli/work',
  'cli/restore-drill',
  'cli/readme',
  'cli/served',
  'upkeep/backups',
  'cluster/process-id',
  'robustness/durability',
  'child/fleet',
  'engine/worker',
  'mail/mail',
  'rest/reports',
  'store/vault',
  'store/migrate',
  'conformance/conformance',
  'operations/queue',
  'mcp/stdio',
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
