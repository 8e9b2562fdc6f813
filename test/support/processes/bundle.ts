/** The programs that tests start in processes of their own, bundled from the sources once per run. */

import { cpSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { inject } from 'vitest';
import { oncePerRun } from '../once-per-run.js';

const OPTIONS = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  external: ['libsql', '@libsql/client', '@libsql/client/*'],
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
  },
  logLevel: 'error',
} satisfies BuildOptions;

/** The folder of the bundled programs: `cli.js` with its threads, `fleet.js`, and those beside this file. */
export async function bundledPrograms(): Promise<string> {
  return join(await oncePerRun('bundle', bundle), 'src', 'app');
}

/** A copy of them that the caller may change: all other files of the run start theirs from the same folder. */
export async function ownPrograms(): Promise<string> {
  const root = mkdtempSync(join(inject('programs'), 'own-'));
  cpSync(join(await bundledPrograms(), '..', '..'), root, { recursive: true });
  return join(root, 'src', 'app');
}

async function bundle(root: string): Promise<void> {
  const source = (path: string) => fileURLToPath(new URL(`../../../src/${path}`, import.meta.url));
  const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  // Looked for as beside the sources.
  symlinkSync(beside('../../../guard'), join(root, 'guard'));
  await build({
    entryPoints: {
      cli: source('cli.ts'),
      'engine-worker': source('app/engine-worker.ts'),
      'integrity-thread': source('app/integrity-thread.ts'),
      'backup-thread': source('app/backup-thread.ts'),
      'replica-process': source('app/replica-process.ts'),
      fleet: source('demo/process.ts'),
      'job-runner': beside('job-runner.ts'),
      'monitor-runner': beside('monitor-runner.ts'),
      'tag-writer': beside('tag-writer.ts'),
      'failing-batch': beside('failing-batch.ts'),
      'migrate-child': beside('../../store/migrate-child.ts'),
      'driver-fuzz-child': beside('../../store/driver-fuzz-child.ts'),
    },
    outdir: join(root, 'src', 'app'),
    ...OPTIONS,
    // In pieces, because threads and processes are files of their own.
    splitting: true,
  });
}
