/** Bundles the program with esbuild: one script for `sitefleet stdio`, and one module for each other start. */

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
      /[\\/]src[\\/](app[\\/]http-app|surfaces[\\/](auth[\\/]jwt|rest[\\/]perform)|outbound[\\/]((child|probe|audit|guard|feed)[\\/]create|mail[\\/]smtp|webhook[\\/]http)|runtime[\\/]telemetry[\\/]prometheus)\.ts$/;
    const contents = 'throw new Error("This part of the program is not in the bundle of stdio.");';
    onLoad({ filter: parts }, () => ({ contents, loader: 'js' }));
  },
};

/**
 * Bundles the script that answers an assistant fastest (see src/cli/launch.ts).
 * @param entry `stdio-entry.ts`
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

/** The entries of the program: threads and processes are started by file name, so each needs its own file. */
export function programEntries() {
  const threads = readdirSync(join('src', 'app')).filter((name) => /-(worker|thread|process)\.ts$/.test(name));
  return {
    cli: join('src', 'cli.ts'),
    program: join('src', 'cli', 'program.ts'),
    ...Object.fromEntries(threads.map((name) => [name.replace(/\.ts$/, ''), join('src', 'app', name)])),
  };
}

/**
 * Bundles the commands, threads and processes into one file each, with all the packages they use except native ones.
 * One file each, although they share code: the install time of a package depends on the number of files. A command
 * still runs only the modules it needs.
 * @param entries sources by output name
 * @param splitting puts shared code, and code a command loads on demand, into further files: more files, but a start
 * reads less
 * @returns the files, and their source files
 */
export async function bundleProgram(entries, outdir, splitting = false) {
  const { outputFiles, metafile } = await build({ ...programOptions(entries, outdir), splitting });
  return { files: outputFiles, inputs: Object.keys(metafile.inputs) };
}

function programOptions(entries, outdir) {
  return {
    ...common,
    entryPoints: entries,
    outdir,
    format: 'esm',
    external: NATIVE,
    plugins: [programApart],
    banner: REQUIRE,
  };
}

/**
 * Writes the program into a folder, with source maps, now and after each change of its sources.
 * @param built called after each time that it was written without errors
 * @returns ends it
 */
export async function watchProgram(folder, built) {
  const options = programOptions(programEntries(), join(folder, 'app'));
  const told = {
    name: 'told',
    setup({ onEnd }) {
      onEnd(({ errors }) => (errors.length === 0 ? built() : undefined));
    },
  };
  const watching = await context({
    ...options,
    write: true,
    sourcemap: true,
    logLevel: 'info',
    plugins: [...options.plugins, told],
  });
  await watching.watch();
  return () => watching.dispose();
}

/**
 * Writes the program into a folder: its files in `app`, and `cli.js`, which a checkout is started by.
 * @param external packages that are installed beside the script of stdio, besides native ones
 * @returns the source files
 */
export async function writeProgram(folder, external = []) {
  const app = join(folder, 'app');
  const [program, stdio] = await Promise.all([
    bundleProgram(programEntries(), app),
    bundleStdio(join('src', 'cli', 'stdio-entry.ts'), external),
  ]);
  mkdirSync(app, { recursive: true });
  for (const file of program.files) writeFileSync(file.path, file.contents);
  writeFileSync(join(app, 'stdio.bundle.cjs'), stdio.text);
  writeFileSync(join(folder, 'cli.js'), "#!/usr/bin/env node\nimport './app/cli.js';\n");
  for (const file of ['cli.js', join('app', 'cli.js')]) chmodSync(join(folder, file), 0o755);
  return [...program.inputs, ...stdio.inputs];
}

/**
 * Imports modules of the sources into this process, bundled, because Node reads no TypeScript.
 * @param text module that exports what is wanted from the sources
 * @param file where the bundle is while it is imported
 */
export async function importSources(text, file) {
  const stdin = { contents: text, loader: 'ts', resolveDir: '.' };
  const { outputFiles } = await build({ ...common, stdin, format: 'esm', external: NATIVE, banner: REQUIRE });
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
