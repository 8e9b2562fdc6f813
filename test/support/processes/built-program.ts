/**
 * The built program as a release has it, made from `dist` once per run: it starts in half the CPU time of the modules that it
 * consists of. Its code is split, so that a command reads what it needs; `npm run release:check` runs the few files of a release.
 */

import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleProgram, releaseEntries } from '../../../scripts/bundle.mjs';
import { oncePerRun } from '../once-per-run.js';

const APP = join('dist', 'src', 'app');

/** The file that Node is to run, or the one that `SITEFLEET_TEST_CLI` names. Needs `npm run build`. */
export async function builtProgram(): Promise<string> {
  if (process.env.SITEFLEET_TEST_CLI !== undefined) return named();
  return join(await oncePerRun('built', make), APP, 'cli.js');
}

function named(): string {
  const cli = resolve(process.env.SITEFLEET_TEST_CLI ?? '');
  if (!existsSync(cli)) throw new Error(`${cli} is not there.`);
  return cli;
}

async function make(outdir: string): Promise<void> {
  const dist = resolve('dist');
  if (!existsSync(join(dist, 'src', 'cli.js'))) throw new Error(`${dist} is not there: run "npm run build" first.`);
  writeFileSync(join(outdir, 'package.json'), '{"type":"module"}');
  const app = join(outdir, APP);
  mkdirSync(app, { recursive: true });
  const { files } = await bundleProgram(releaseEntries(join(dist, 'src')), app, true);
  for (const file of files) writeFileSync(file.path, file.contents);
  // What the program looks for beside its modules.
  const beside = ['dist/web', 'dist/docs', 'dist/apps', 'dist/src/mcp', 'dist/src/app/stdio.bundle.cjs', 'guard'];
  for (const name of beside) symlinkSync(resolve(name), join(outdir, name));
}
