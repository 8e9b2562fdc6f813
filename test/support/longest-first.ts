/** Order of the test files: the longest start first, so that all workers finish at about the same time; project by project, as no worker serves two. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONGEST } from './which-files.js';

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return index === -1 ? LONGEST.length : index;
    };
    const today = ({ project }: TestSpecification) => (project.name === 'another day' ? 1 : 0);
    return [...files].sort(
      (a, b) => today(a) - today(b) || place(a) - place(b) || a.moduleId.localeCompare(b.moduleId),
    );
  }
}
