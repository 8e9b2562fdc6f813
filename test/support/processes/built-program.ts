/**
 * The program as it is built, as a script made once per run (see `script.ts`); `npm run release:check` runs the files of a release
 * instead.
 */

import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inject } from 'vitest';
import { programEntries, writeProgram } from '../../../scripts/bundle.mjs';
import { oncePerRun } from '../once-per-run.js';
import { bundleScript } from './script.js';

const APP = join('dist', 'src', 'app');

/** The file for Node to run, or the one in `SITEFLEET_TEST_CLI`. Needs `npm run build`. */
export async function builtProgram(): Promise<string> {
  if (process.env.SITEFLEET_TEST_CLI !== undefined) return named();
  const root = await oncePerRun('built', async (folder) => {
    beside(folder);
    const entries = Object.entries(programEntries()).map(([name, file]) => [name, resolve(file)]);
    await bundleScript(Object.fromEntries(entries), join(folder, APP));
  });
  return join(root, APP, 'cli.js');
}

/** The folder of a copy split into modules, which are loaded on demand. The caller may change it. */
export async function programInModules(): Promise<string> {
  const root = mkdtempSync(join(inject('programs'), 'modules-'));
  beside(root);
  await writeProgram(join(root, 'dist', 'src'));
  return join(root, APP);
}

function named(): string {
  const cli = resolve(process.env.SITEFLEET_TEST_CLI ?? '');
  if (!existsSync(cli)) throw new Error(`${cli} is not there.`);
  return cli;
}

/** Puts the files the program expects beside itself into a folder. */
function beside(root: string): void {
  const dist = resolve('dist');
  if (!existsSync(join(dist, 'src', 'cli.js'))) throw new Error(`${dist} is not there: run "npm run build" first.`);
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  mkdirSync(join(root, APP), { recursive: true });
  for (const name of ['dist/web', 'dist/docs', 'dist/apps', 'php']) symlinkSync(resolve(name), join(root, name));
}
