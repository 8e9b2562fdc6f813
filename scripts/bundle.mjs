/** Bundles the program with esbuild: one script for `sitefleet stdio`, and, for a release, everything in a few files. */

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

/**
 * Keeps code that only HTTP or the engine thread uses out of the bundle, so that an assistant's start does not read it.
 */
const servingOnly = {
  name: 'serving-only',
  setup({ onLoad }) {
    const parts =
      /[\\/]src[\\/](app[\\/]http-app|surfaces[\\/](auth[\\/]jwt|rest[\\/]perform)|outbound[\\/]((child|probe|audit|guard|feed)[\\/]create|mail[\\/]smtp|webhook[\\/]http)|runtime[\\/]telemetry[\\/]prometheus)\.js$/;
    const contents = 'throw new Error("This part of the program is not in the bundle of stdio.");';
    onLoad({ filter: parts }, () => ({ contents, loader: 'js' }));
  },
};

/**
 * Bundles the script that answers an assistant fastest (see src/cli/launch.ts).
 * @param entry the built `stdio-entry.js`
 * @param external packages that are installed beside it, besides native ones
 * @returns its text, and its source files
 */
export async function bundleStdio(entry, external = []) {
  const { outputFiles, metafile } = await build({
    ...common,
    entryPoints: [entry],
    format: 'cjs',
    external: [...NATIVE, ...external],
    plugins: [servingOnly],
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'BUNDLE_URL' },
    banner: { js: 'const BUNDLE_URL=require("node:url").pathToFileURL(__filename).href;' },
  });
  return { text: outputFiles[0].text, inputs: Object.keys(metafile.inputs) };
}

/**
 * The command line is a separate file: an assistant starts `cli.js`, and Node reads a whole module before it runs it.
 */
const programApart = {
  name: 'program-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/cli\/program\.js$/ }, () => ({ path: './program.js', external: true }));
  },
};

/**
 * The entries of a release in the built sources: threads and processes are started by file name, so each needs its own
 * file.
 */
export function releaseEntries(built) {
  const threads = readdirSync(join(built, 'app')).filter((name) => /-(worker|thread|process)\.js$/.test(name));
  return {
    cli: join(built, 'cli.js'),
    program: join(built, 'cli', 'program.js'),
    ...Object.fromEntries(threads.map((name) => [name.replace(/\.js$/, ''), join(built, 'app', name)])),
  };
}

/**
 * Bundles the commands, threads and processes into one file each, with all the packages they use except native ones.
 * One file each, although they share code: the install time of a package depends on the number of files. A command
 * still runs only the modules it needs.
 * @param entries built files by output name
 * @param splitting puts shared code, and code a command loads on demand, into further files: more files, but a start
 * reads less
 * @returns the files, and their source files
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

/** Source files of the page and of the interface reference, which are built separately. */
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
