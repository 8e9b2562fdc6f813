/** The path of the file that links lead to. */

import { closeSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { realPath } from '../../src/runtime/real-path.js';
import { tempFolder } from '../support/cleanup.js';

it.skipIf(process.platform === 'win32')('is found for every file, also where none is yet', () => {
  const folder = realPath(tempFolder('real'));
  const at = (...names: string[]) => join(folder, ...names);
  mkdirSync(at('deep', 'inside'), { recursive: true });
  symlinkSync(join('deep', 'inside'), at('linked'));
  writeFileSync(at('file'), '');
  symlinkSync(join('..', '..', 'file'), at('deep', 'inside', 'up'));
  symlinkSync(join('..', 'new'), at('deep', 'inside', 'later'));
  symlinkSync('round', at('round'));

  expect(realPath(at('file'))).toBe(at('file'));
  expect(realPath(at('linked', 'up'))).toBe(at('file'));
  expect(realPath(at('linked', 'none', 'file'))).toBe(at('deep', 'inside', 'none', 'file'));
  // From the folder itself, not from the link to it.
  expect(realPath(at('linked', 'later'))).toBe(at('deep', 'new'));
  // These cannot be opened, and whoever tries is told so.
  expect(realPath(at('round'))).toBe(at('round'));
  expect(realPath(at('file', 'below'))).toBe(at('file', 'below'));
});

it.runIf(process.platform === 'linux')(
  'of a file that is only open, such as a pipe of the shell, is its handle',
  () => {
    const file = join(tempFolder('real'), 'file');
    const handle = openSync(file, 'w');
    rmSync(file);
    expect(realPath(`/proc/self/fd/${handle}`)).toBe(`/proc/self/fd/${handle}`);
    closeSync(handle);
  },
);
