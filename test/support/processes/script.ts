/**
 * Bundles programs as one script, because V8 can cache the compiled code of scripts but not of modules (see
 * `launch.ts`): the processes of a run start in two thirds of the CPU time.
 */

import { writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const LAUNCH = fileURLToPath(new URL('launch.ts', import.meta.url));

/** Native code cannot be bundled. */
const isOutside = (name: string) => isBuiltin(name) || name === 'libsql';

/** A script has no `import`: modules outside the bundle are loaded with `require`. */
const requireTheRest: Plugin = {
  name: 'require-the-rest',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path, namespace }) => {
      if (!isOutside(path)) return undefined;
      return namespace === 'required' ? { path, external: true } : { path, namespace: 'required' };
    });
    onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }));
  },
};

/**
 * Writes the script into the folder, and a module for each program that starts it.
 * @param programs files by the name of the program
 */
export async function bundleScript(programs: Readonly<Record<string, string>>, folder: string): Promise<void> {
  const loaders = Object.entries(programs).map(
    ([name, file]) => `${JSON.stringify(name)}: () => import(${JSON.stringify(file)})`,
  );
  await Promise.all([
    build({
      // The body of an async function, because programs use top-level await.
      stdin: { contents: `await { ${loaders.join(',\n')} }[PROGRAM]();`, resolveDir: '.' },
      outfile: join(folder, 'programs.script'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      plugins: [requireTheRest],
      define: { 'import.meta.url': 'PROGRAM_URL' },
      banner: { js: `'use strict';(async(require,PROGRAM,PROGRAM_URL)=>{` },
      footer: { js: '})' },
      minifyWhitespace: true,
      logLevel: 'error',
    }),
    build({
      entryPoints: [LAUNCH],
      outfile: join(folder, 'launch.js'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
    }),
  ]);
  for (const name of Object.keys(programs)) {
    const text = `import { launch } from './launch.js';\nawait launch('${name}', import.meta.url);\n`;
    writeFileSync(join(folder, `${name}.js`), text);
  }
}
