/** The programs that tests start in separate processes, bundled from the sources once per run. */

import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { oncePerRun } from '../once-per-run.js';
import { bundleScript } from './script.js';

/** The folder of the bundled programs: `cli.js` with its threads, `fleet.js`, and those beside this file. */
export async function bundledPrograms(): Promise<string> {
  return join(await oncePerRun('bundle', bundle), 'src', 'app');
}

async function bundle(root: string): Promise<void> {
  const source = (path: string) => fileURLToPath(new URL(`../../../src/${path}`, import.meta.url));
  const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const programs = {
    cli: source('cli.ts'),
    'engine-worker': source('app/engine-worker.ts'),
    'integrity-thread': source('app/integrity-thread.ts'),
    'backup-thread': source('app/backup-thread.ts'),
    fleet: source('demo/process.ts'),
    'backup-step': beside('backup-step.ts'),
    'job-runner': beside('job-runner.ts'),
    'monitor-runner': beside('monitor-runner.ts'),
    'tag-writer': beside('tag-writer.ts'),
    'failing-batch': beside('failing-batch.ts'),
    'integrity-ends': beside('integrity-ends.ts'),
    'engine-ends': beside('engine-ends.ts'),
    'migrate-child': beside('../../store/migrate-child.ts'),
    'driver-fuzz-child': beside('../../store/driver-fuzz-child.ts'),
  };
  await bundleScript(programs, join(root, 'src', 'app'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  // Located relative to the bundle as it is to the sources.
  for (const place of [root, join(root, '..')]) symlinkSync(beside('../../../php'), join(place, 'php'));
}
