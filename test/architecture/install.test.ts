/** What the first command installs: everything that building and running need, and nothing that only testing needs. */

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';

const facts = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

it('what is built is made of packages that are installed at once', () => {
  expect(readFileSync('.npmrc', 'utf8')).toMatch(/^omit=dev$/m);
  const files = [
    'build.mjs',
    'scripts/bundle.mjs',
    ...['src', 'tools', 'schemas', 'web'].flatMap((root) =>
      readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.(tsx?|mjs|js)$/.test(file) && !file.endsWith('.d.ts'))
        .map((file) => join(root, file)),
    ),
  ];
  const named = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^(?:import\b(?! type)|export\b|\} from)[^'\n]*'([^.'][^']*)'/gm)].map(
      ([, name = '']) => ({ file, name: /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '' }),
    ),
  );
  const packages = named.filter(({ name }) => !isBuiltin(name) && !name.includes(' '));
  expect(new Set(packages.map(({ name }) => name))).toContain('preact');
  expect(packages.filter(({ name }) => facts.devDependencies[name] !== undefined)).toEqual([]);
});

it('commands that need more install it first', () => {
  const needy = Object.entries(facts.scripts).filter(([, text]) => /\b(vitest|biome|tsc|tsx)\b/.test(text));
  expect(needy.length).toBeGreaterThan(5);
  const first = 'node scripts/test-tools.mjs && ';
  expect(needy.filter(([, text]) => !text.startsWith(first)).map(([name]) => name)).toEqual([]);
  for (const name of ['prepare', 'build', 'start', 'demo']) expect(facts.scripts[name]).not.toContain(first);
});

const LOCK = {
  'node_modules/runs': { version: '1.0.0' },
  'node_modules/tests': { version: '2.0.0', dev: true },
  'node_modules/tests-elsewhere': { version: '3.0.0', dev: true, optional: true },
};

it.each([
  ['is missing', { 'node_modules/runs': LOCK['node_modules/runs'] }, true],
  ['is another version', { ...LOCK, 'node_modules/tests': { version: '1.9.0', dev: true } }, true],
  ['is there, but for what other systems have', { ...LOCK, 'node_modules/tests-elsewhere': undefined }, false],
  ['was never installed', undefined, true],
])('what testing needs %s', (_, installed, asks) => {
  const folder = tempFolder('test-tools');
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  write('package-lock.json', JSON.stringify({ packages: LOCK }));
  if (installed !== undefined) write('node_modules/.package-lock.json', JSON.stringify({ packages: installed }));
  // Stands for npm, and notes what it was asked.
  write('bin/npm', '#!/bin/sh\necho "$@" >asked.txt\nexit 7\n');
  chmodSync(join(folder, 'bin', 'npm'), 0o755);
  const env = { PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter) };
  const { status } = spawnSync(process.execPath, [resolve('scripts/test-tools.mjs')], { cwd: folder, env });
  const asked = join(folder, 'asked.txt');
  expect({ status, asked: existsSync(asked) }).toEqual({ status: asks ? 7 : 0, asked: asks });
  if (asks) expect(readFileSync(asked, 'utf8')).toMatch(/^install --include=dev --no-save --ignore-scripts /);
});
