/** Folders of trial restores whose process died are removed, and nothing that others put under such a name is touched. */

import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder, sweepFolders } from '../../src/outbound/copies/folder.js';
import { processId, processLocation } from '../../src/runtime/cluster/process-id.js';
import { tempFolder } from '../support/cleanup.js';

/** No process has so high an id. */
const GONE = processId({ ...processLocation(), pid: 2 ** 22 + 1 });

it.skipIf(process.platform !== 'linux')('removes those of the dead, and only those', async () => {
  const parent = tempFolder('copies');
  const place = (letter: string) => join(parent, `sitefleet-drill-${letter.repeat(12)}`);
  const put = (letter: string, owner: string | null) => {
    mkdirSync(place(letter));
    if (owner !== null) writeFileSync(join(place(letter), 'owner'), owner);
  };
  const living = await makeFolder(parent, 1);
  put('a', GONE);
  put('b', null);
  // Reading it would never end.
  put('c', null);
  execFileSync('mkfifo', [join(place('c'), 'owner')]);
  put('d', `${GONE}${' '.repeat(5_000)}`);
  const elsewhere = tempFolder('elsewhere');
  writeFileSync(join(elsewhere, 'owner'), GONE);
  symlinkSync(elsewhere, place('e'));
  // Of another user, where this one may make such a folder.
  if (process.getuid?.() === 0) {
    put('f', GONE);
    chownSync(place('f'), 12_345, 12_345);
  }
  const before = readdirSync(parent);
  expect(await sweepFolders(parent)).toEqual([place('a')]);
  expect(readdirSync(parent)).toEqual(before.filter((name) => join(parent, name) !== place('a')));
  expect(before.map((name) => join(parent, name))).toContain(living);
  expect(readdirSync(elsewhere)).toEqual(['owner']);
});
