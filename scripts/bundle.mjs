/** Bundles the program with esbuild: one script for `sitefleet stdio`, and, for a release, everything in a few files. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Native code cannot be bundled. */
const NATIVE = ['libsql'];

const common = {
  bundle: true,
  write: false,
  metafile: true,
  platform: 'node',
  target: 'node20.18',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
};

/** What only HTTP or the engine thread load is not to be read at each start of an assistant. */
const servingOnly = {
  name: 'serving-only',
  setup({ onLoad }) {
    const parts =
      /[\\/]src[\\/](app[\\/]http-app|auth[\\/]jwt|rest[\\/]perform|child[\\/]http|(probe|audit|guard|feed)[\\/]create|mail[\\/]smtp|webhook[\\/]http|telemetry[\\/]prometheus)\.js$/;
    const contents = 'throw new Error("This part of the program is not in the bundle of stdio.");';
    onLoad({ filter: parts }, () => ({ contents, loader: 'js' }));
  },
};

/**
 * The script that answers an assistant soonest (see src/cli/launch.ts). Begins with its digest.
 * @param entry the built `stdio-entry.js`
 * @param external packages that are installed beside it, besides native ones
 * @returns its text, and the files it was made of
 */
export async function bundleStdio(entry, external = []) {
  const { outputFiles, metafile } = await build({
    ...common,
    entryPoints: [entry],
    format: 'cjs',
    external: [...NATIVE, ...external],
    plugins: [servingOnly],
    // The code runs as a script, where `import()` would need a loader of its own.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'BUNDLE_URL' },
    banner: { js: 'const BUNDLE_URL=require("node:url").pathToFileURL(__filename).href;' },
  });
  const [{ text }] = outputFiles;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { text: `//${digest}\n${text}`, inputs: Object.keys(metafile.inputs) };
}

/** The command line is a file of its own: an assistant's start runs `cli.js`, and Node reads a module whole before it runs it. */
const programApart = {
  name: 'program-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/cli\/program\.js$/ }, () => ({ path: './program.js', external: true }));
  },
};

/** The entries of a release in the built sources: threads and processes are started by file, so every such file is one. */
export function releaseEntries(built) {
  const threads = readdirSync(join(built, 'app')).filter((name) => /-(worker|thread|process)\.js$/.test(name));
  return {
    cli: join(built, 'cli.js'),
    program: join(built, 'cli', 'program.js'),
    ...Object.fromEntries(threads.map((name) => [name.replace(/\.js$/, ''), join(built, 'app', name)])),
  };
}

/**
 * The commands, threads and processes, each one file with all packages it uses but native ones. One file each, although they
 * share code: what installs a package takes its time by the number of files. A command still runs only the modules it needs.
 * @param entries built files by the name of the output
 * @param splitting what entries share, and what a command loads by itself, in further files: more files, of which a start reads less
 * @returns the files, and those they were made of
 */
export async function bundleProgram(entries, outdir, splitting = false) {
  const { outputFiles, metafile } = await build({
    ...common,
    entryPoints: entries,
    outdir,
    splitting,
    format: 'esm',
    external: NATIVE,
    plugins: [programApart],
    banner: { js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);" },
  });
  return { files: outputFiles, inputs: Object.keys(metafile.inputs) };
}

/** Files whose code is in the page and in the reference of the interface, which have builds of their own. */
export async function inputsOfPages() {
  const entryPoints = ['web/main.tsx', 'web/docs/reference.js'].filter((file) => existsSync(file));
  if (entryPoints.length === 0) return [];
  const { metafile } = await build({
    ...common,
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
