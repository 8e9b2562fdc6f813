/** What follows `tsc`: one file for `sitefleet stdio`, and programs that may be run. */

import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const dist = process.argv[2] ?? 'dist';
const folder = join(dist, 'src');

/** Native code cannot be bundled, and what only servers and audits load need not be. */
const external = ['libsql', '@libsql/client', 'lighthouse', 'chrome-launcher'];

/** What only HTTP or the engine thread load is not to be read at each start of an assistant. */
const servingOnly = {
  name: 'serving-only',
  setup({ onLoad }) {
    const parts =
      /[\\/]src[\\/](surfaces|auth-jwt|rest[\\/]perform|child[\\/]http|(probe|audit)[\\/]create|mail[\\/]smtp)\.js$/;
    const contents = 'throw new Error("This part of the program is not in the bundle of stdio.");';
    onLoad({ filter: parts }, () => ({ contents, loader: 'js' }));
  },
};

const result = await build({
  entryPoints: [join(folder, 'cli', 'stdio-entry.js')],
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node20.18',
  format: 'cjs',
  external,
  plugins: [servingOnly],
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  // The code runs as a script, where `import()` would need a loader of its own.
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': 'BUNDLE_URL' },
  banner: { js: 'const BUNDLE_URL=require("node:url").pathToFileURL(__filename).href;' },
  logLevel: 'warning',
});
const [{ text }] = result.outputFiles;
const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);

for (const name of readdirSync(folder)) if (name.startsWith('stdio.bundle.cjs')) rmSync(join(folder, name));
writeFileSync(join(folder, 'stdio.bundle.cjs'), `//${digest}\n${text}`);
for (const program of ['src/cli.js', 'bench/run.js', 'bench/load.js']) chmodSync(join(dist, program), 0o755);
