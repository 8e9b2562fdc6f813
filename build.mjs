/** Builds the program: `tsc`, one file for `sitefleet stdio`, and executable entry points. */

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const dist = 'dist';
const folder = join(dist, 'src');
/** Beside the programs of the engine thread, because its code looks for them in its own folder. */
const app = join(folder, 'app');

/** Build tools that the package manager was told to skip: a whole package, or its part for this system. */
function missingTools() {
  const system = `${process.platform}-${process.arch}`;
  return ['typescript', 'esbuild'].flatMap((name) => {
    const facts = join('node_modules', name, 'package.json');
    if (!existsSync(facts)) return [name];
    const { optionalDependencies = {} } = JSON.parse(readFileSync(facts, 'utf8'));
    const parts = Object.keys(optionalDependencies).filter((part) => part.endsWith(system));
    return parts.filter(
      (part) => ![join('node_modules', name), '.'].some((at) => existsSync(join(at, 'node_modules', part))),
    );
  });
}

const missing = missingTools();
if (missing.length > 0) {
  // A folder that was built elsewhere and copied here needs no tools.
  const built = process.argv[2] === '--prepare' && existsSync(join(folder, 'cli.js'));
  process.stderr.write(
    built
      ? `Sitefleet is used as it was built before; not installed, to build it anew: ${missing.join(', ')}.\n`
      : `Sitefleet cannot be built from its sources; not installed: ${missing.join(', ')}. ` +
          'Run "npm ci" without --omit=dev and --omit=optional; "npm prune --omit=dev" then removes what only building needs.\n',
  );
  process.exit(built ? 0 : 1);
}

// What an earlier state of the sources left here would be published.
rmSync(dist, { recursive: true, force: true });
// Types are checked by `npm run typecheck`; without type checking, the build takes a quarter of the time.
const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck'];
const compiled = spawnSync(process.execPath, tsc, { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

const { bundleStdio } = await import('./scripts/bundle.mjs');
const { text } = await bundleStdio(join(folder, 'cli', 'stdio-entry.js'), ['@libsql/client']);
writeFileSync(join(app, 'stdio.bundle.cjs'), text);
for (const program of ['src/cli.js', 'bench/run.js', 'bench/load.js']) chmodSync(join(dist, program), 0o755);

const { buildPage } = await import('./web/build.mjs');
await buildPage(join(dist, 'web'));
const { buildReference } = await import('./web/docs/build.mjs');
await buildReference(join(dist, 'docs'));
const { buildApps } = await import('./web/apps/build.mjs');
await buildApps(join(dist, 'apps'));
