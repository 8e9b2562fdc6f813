/** `npm run typecheck` as part of the tests: it uses the processors while the first files wait for their modules. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('sources, tests and pages have no type errors', async () => {
  const found = await new Promise<string>((resolve) => {
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    execFile('npm', ['run', '--silent', 'typecheck'], { cwd }, (error, out) => {
      resolve(error === null ? '' : out || error.message);
    });
  });
  expect(found).toBe('');
});
