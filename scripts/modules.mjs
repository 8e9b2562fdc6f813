/**
 * Compiles the sources to one module each, in `dist/modules`, for the benchmarks: they use parts of the program that no
 * bundle exports.
 */

import { readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const folder = join('dist', 'modules');
rmSync(folder, { recursive: true, force: true });
const entryPoints = ['src', 'tools', 'schemas', 'bench'].flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(root, file)),
);
await build({
  entryPoints,
  outdir: folder,
  outbase: '.',
  format: 'esm',
  platform: 'node',
  target: 'node20.18',
  logLevel: 'warning',
});
// Where modules look for them.
for (const [name, at] of [
  ['web', '../web'],
  ['docs', '../docs'],
  ['apps', '../apps'],
  ['php', '../../php'],
])
  symlinkSync(at, join(folder, name), 'junction');
