/**
 * The built program in the few files of a release, made from `dist` once per worker: it starts in half the CPU time of the
 * modules that it consists of, and is what users install.
 */

import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inject } from 'vitest';
import { bundleProgram, releaseEntries } from '../../../scripts/bundle.mjs';

let made: Promise<string> | undefined;

/** The file that Node is to run, or the one that `SITEFLEET_TEST_CLI` names. Needs `npm run build`. */
export function builtProgram(): Promise<string> {
  made ??= process.env.SITEFLEET_TEST_CLI === undefined ? make() : Promise.resolve(named());
  return made;
}

function named(): string {
  const cli = resolve(process.env.SITEFLEET_TEST_CLI ?? '');
  if (!existsSync(cli)) throw new Error(`${cli} is not there.`);
  return cli;
}

async function make(): Promise<string> {
  const dist = resolve('dist');
  if (!existsSync(join(dist, 'src', 'cli.js'))) throw new Error(`${dist} is not there: run "npm run build" first.`);
  const outdir = mkdtempSync(join(inject('programs'), 'built-'));
  writeFileSync(join(outdir, 'package.json'), '{"type":"module"}');
  const app = join(outdir, 'dist', 'src', 'app');
  mkdirSync(app, { recursive: true });
  const { files } = await bundleProgram(releaseEntries(join(dist, 'src')), app);
  for (const file of files) writeFileSync(file.path, file.contents);
  // What the program looks for beside its modules.
  const beside = ['dist/web', 'dist/docs', 'dist/apps', 'dist/src/mcp', 'dist/src/app/stdio.bundle.cjs', 'guard'];
  for (const name of beside) symlinkSync(resolve(name), join(outdir, name));
  return join(app, 'cli.js');
}
