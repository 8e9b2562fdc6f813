/**
 * Builds the program, bundled as it is published, the page, the reference and the views inside assistants. Types are checked by
 * `npm run typecheck`.
 */

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const dist = 'dist';

/** Build tools that the package manager was told to skip: a whole package, or its part for this system. */
function missingTools() {
  const system = `${process.platform}-${process.arch}`;
  return ['esbuild'].flatMap((name) => {
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
  const built = process.argv[2] === '--prepare' && existsSync(join(dist, 'src', 'cli.js'));
  process.stderr.write(
    built
      ? `Sitefleet is used as it was built before; not installed, to build it anew: ${missing.join(', ')}.\n`
      : `Sitefleet cannot be built from its sources; not installed: ${missing.join(', ')}. ` +
          'Run "npm ci" without --omit=optional.\n',
  );
  process.exit(built ? 0 : 1);
}

// What an earlier state of the sources left here would be published.
rmSync(dist, { recursive: true, force: true });
const [{ writeProgram }, { buildPage }, { buildReference }, { buildApps }] = await Promise.all([
  import('./scripts/bundle.mjs'),
  import('./web/build.mjs'),
  import('./web/docs/build.mjs'),
  import('./web/apps/build.mjs'),
]);
// Whoever has just installed waits for it, and looks at it on the same machine.
const quality = process.argv[2] === '--prepare' ? 4 : undefined;
await Promise.all([
  writeProgram(join(dist, 'src')),
  buildPage(join(dist, 'web'), quality),
  buildReference(join(dist, 'docs'), quality),
  buildApps(join(dist, 'apps')),
]);
