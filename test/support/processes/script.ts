/**
 * Bundles programs as scripts, because V8 can cache the compiled code of scripts but not of modules (see `launch.ts`). Each
 * has a script of its own: reading one, and its compiled code, takes a sixth of a second of CPU for all together.
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

/** The body of an async function for each file, because programs use top-level await. What the file exports is not needed. */
const entries = (programs: Readonly<Record<string, string>>): Plugin => ({
  name: 'entries',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^program:/ }, ({ path }) => ({ path: path.slice('program:'.length), namespace: 'program' }));
    onLoad({ filter: /.*/, namespace: 'program' }, ({ path }) => ({
      contents: `await import(${JSON.stringify(programs[path])});`,
      resolveDir: '.',
    }));
  },
});

/**
 * Writes the scripts into the folder, and a module for each program that starts its script.
 * @param programs files by the name of the program
 */
export async function bundleScript(programs: Readonly<Record<string, string>>, folder: string): Promise<void> {
  const names = Object.keys(programs);
  await Promise.all([
    build({
      entryPoints: names.map((name) => ({ in: `program:${name}`, out: name })),
      outdir: folder,
      outExtension: { '.js': '.script.js' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      plugins: [entries(programs), requireTheRest],
      define: { 'import.meta.url': 'PROGRAM_URL' },
      banner: { js: `'use strict';(async(require,PROGRAM_URL)=>{` },
      footer: { js: '})' },
      minifySyntax: true,
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
  for (const name of names) {
    const text = `import { launch } from './launch.js';\nawait launch('${name}', import.meta.url);\n`;
    writeFileSync(join(folder, `${name}.js`), text);
  }
}
