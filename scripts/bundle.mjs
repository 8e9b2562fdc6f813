/** Bundles the program with esbuild, in parts: each start reads what it needs, and what several need is there once. */

import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, context } from 'esbuild';

/** Native code cannot be bundled. */
const NATIVE = ['libsql'];

/** Packages of the old kind ask for others at run time. */
const REQUIRE = {
  js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);",
};

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.18',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
};

/** The entries of the program: threads and processes are started by file name, so each needs its own file. */
export function programEntries() {
  const threads = readdirSync(join('src', 'app')).filter((name) => /-(worker|thread|process)\.ts$/.test(name));
  return {
    cli: join('src', 'cli.ts'),
    ...Object.fromEntries(threads.map((name) => [name.replace(/\.ts$/, ''), join('src', 'app', name)])),
  };
}

/**
 * Options that bundle the commands, threads and processes, with all the packages they use except native ones. Names are not
 * shortened, so that stack traces can be read.
 */
function programOptions(entries, outdir) {
  return { ...common, entryPoints: entries, outdir, splitting: true, format: 'esm', external: NATIVE, banner: REQUIRE };
}

/**
 * Writes the program into a folder, with source maps, now and after each change of its sources.
 * @param built called after each time that it was written without errors
 * @returns ends it
 */
export async function watchProgram(folder, built) {
  const told = {
    name: 'told',
    setup({ onEnd }) {
      onEnd(({ errors }) => (errors.length === 0 ? built() : undefined));
    },
  };
  const watching = await context({
    ...programOptions(programEntries(), join(folder, 'app')),
    sourcemap: true,
    logLevel: 'info',
    plugins: [told],
  });
  await watching.watch();
  return () => watching.dispose();
}

/**
 * Writes the program into a folder: its files in `app`, and `cli.js`, which a checkout is started by.
 * @param metafile whether to tell what it was made from, which takes a tenth longer
 * @returns esbuild's description of it, if asked for
 */
export async function writeProgram(folder, metafile = false) {
  const app = join(folder, 'app');
  const written = await build({ ...programOptions(programEntries(), app), metafile });
  writeFileSync(join(folder, 'cli.js'), "#!/usr/bin/env node\nimport './app/cli.js';\n");
  for (const file of ['cli.js', join('app', 'cli.js')]) chmodSync(join(folder, file), 0o755);
  return written.metafile;
}

/**
 * Imports modules of the sources into this process, bundled, because Node reads no TypeScript.
 * @param text module that exports what is wanted from the sources
 * @param file where the bundle is while it is imported
 */
export async function importSources(text, file) {
  const stdin = { contents: text, loader: 'ts', resolveDir: '.' };
  const { outputFiles } = await build({
    ...common,
    write: false,
    stdin,
    format: 'esm',
    external: NATIVE,
    banner: REQUIRE,
  });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, outputFiles[0].text);
  try {
    return await import(pathToFileURL(resolve(file)).href);
  } finally {
    rmSync(file);
  }
}

/** Source files of the page and of the interface reference, which are built separately. */
export async function inputsOfPages() {
  const entryPoints = ['web/main.tsx', 'web/docs/reference.js'].filter((file) => existsSync(file));
  if (entryPoints.length === 0) return [];
  const { metafile } = await build({
    ...common,
    write: false,
    metafile: true,
    platform: 'browser',
    target: 'es2022',
    entryPoints,
    outdir: 'unwritten',
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  return Object.keys(metafile.inputs);
}
