/** `npm run new:operation`: the skeleton compiles and is listed, and an invalid name changes nothing. */

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const CASES = 'test/operations/cases.ts';

const EMPTY_INDEX = `import type { Operation } from '../../src/operation/operation.js';

export const notes: readonly Operation[] = [];
`;

/** A copy of the files the script changes, with links to those it only reads. */
let copy: string;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'sitefleet-new-operation-'));
  mkdirSync(join(copy, 'test/operations'), { recursive: true });
  for (const path of ['tools', CASES, 'tsconfig.json', 'biome.json', 'package.json'])
    cpSync(join(root, path), join(copy, path), { recursive: true });
  for (const path of ['src', 'schemas', 'scripts', 'node_modules', 'test/support'])
    symlinkSync(join(root, path), join(copy, path));
  const config = {
    extends: './tsconfig.json',
    compilerOptions: { types: ['node'] },
    include: ['tools', CASES, 'src/**/*.d.ts'],
  };
  writeFileSync(join(copy, 'tsconfig.test.json'), JSON.stringify(config));
});
afterEach(() => rmSync(copy, { recursive: true }));

function run(...args: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
  return { status, text: stdout + stderr };
}
const newOperation = (...args: string[]) => run('scripts/new-operation.mjs', ...args);
const read = (path: string) => readFileSync(join(copy, path), 'utf8');

it('writes operations that compile, one file and two lines each', () => {
  const empty = 'tools/notes/index.ts';
  mkdirSync(join(copy, 'tools/notes'));
  writeFileSync(join(copy, empty), EMPTY_INDEX);
  const made = [
    ['sites', 'get-site-users', "effect: 'read'"],
    ['tags', 'delete-tag-colors', "effect: 'destroy'"],
    ['jobs', 'cancel-batch-job', "effect: 'write'"],
    ['notes', 'count-notes', "effect: 'read'"],
  ] as const;
  const lines = (path: string) => read(path).split('\n').length;
  const before = lines(CASES);
  for (const [group, name, effect] of made) {
    const { status, text } = newOperation(group, name);
    expect([status, text]).toEqual([0, expect.stringContaining('npm run gen')]);
    expect(read(`tools/${group}/${name}-v1.ts`)).toContain(`id: 'svc/${name}-v1'`);
    expect(read(`tools/${group}/${name}-v1.ts`)).toContain(effect);
    expect(read(`tools/${group}/index.ts`)).toContain(`from './${name}-v1.js';`);
    expect(read(CASES)).toContain(`operation('${name}', [], `);
  }
  expect(lines(CASES)).toBe(before + made.length);
  // Single-threaded: several threads each compute the types they share, which takes twice the CPU time. Results for
  // unchanged files are cached for the next run, as in `npm run typecheck`.
  const known = ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/tsc/new-operation'];
  const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.test.json', '--singleThreaded', ...known];
  expect(run(...tsc)).toEqual({ status: 0, text: '' });
  expect(run('node_modules/@biomejs/biome/bin/biome', 'check', 'tools', CASES).status).toBe(0);
});

it.each([
  [[], 'Usage'],
  [['sites'], 'Usage'],
  [['pages', 'get-pages'], 'There is no group pages'],
  [['sites', 'Get_Users'], 'not a name'],
  [['sites', '../get-users'], 'not a name'],
  [['sites', 'get-site'], 'already'],
  [['sites', 'svc/get-site-v1'], 'already'],
])('%j is refused', (args, reason) => {
  const before = read('tools/sites/index.ts') + read(CASES);
  const { status, text } = newOperation(...args);
  expect([status, text]).toEqual([1, expect.stringContaining(reason)]);
  expect(read('tools/sites/index.ts') + read(CASES)).toBe(before);
  expect(existsSync(join(copy, 'tools/pages'))).toBe(false);
});
