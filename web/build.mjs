/**
 * Builds the page: scripts and styles under names that contain a hash of their content, and the index that refers to
 * them and holds what runs first.
 */

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';

const web = fileURLToPath(new URL('.', import.meta.url));
/** Browsers of 2024: these support `light-dark()` and nested styles. */
const TARGET = ['chrome123', 'firefox121', 'safari17.5'];

/**
 * @param {string} folder output folder; it is emptied first
 * @param {number} quality of the compression: the best takes a second
 */
export async function buildPage(folder, quality = constants.BROTLI_MAX_QUALITY) {
  rmSync(folder, { recursive: true, force: true });
  const assets = join(folder, 'assets');
  mkdirSync(assets, { recursive: true });
  const shared = {
    bundle: true,
    minify: true,
    target: TARGET,
    outdir: assets,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  };
  const { metafile } = await build({
    ...shared,
    entryPoints: [join(web, 'main.tsx')],
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  const early = await build({ ...shared, entryPoints: [join(web, 'early.ts')], format: 'iife', write: false });
  const outputs = Object.entries(metafile.outputs);
  const [script, entry] = outputs.find(([, { entryPoint }]) => entryPoint?.endsWith('main.tsx')) ?? [];
  const icon = hashed('icon.svg', assets);
  const address = (file) => `/assets/${basename(file)}`;
  const filled = {
    script: address(script),
    style: address(entry.cssBundle),
    early: early.outputFiles[0].text.trim(),
    icon: address(icon),
    preloads: entry.imports
      .filter(({ kind }) => kind === 'import-statement')
      .map(({ path }) => `<link rel="modulepreload" href="${address(path)}">`)
      .join('\n'),
  };
  const html = readFileSync(join(web, 'index.html'), 'utf8');
  writeFileSync(
    join(folder, 'index.html'),
    html.replace(/\{\{(\w+)\}\}/g, (_, name) => filled[name]),
  );
  // Compressed once instead of per request. Only the Brotli files are kept: few browsers do not
  // accept Brotli, and each file makes an install longer.
  const packing = { params: { [constants.BROTLI_PARAM_QUALITY]: quality } };
  for (const name of readdirSync(assets)) {
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(readFileSync(join(assets, name)), packing));
    rmSync(join(assets, name));
  }
}

/** Copies a file under a name that contains a hash of its content; returns the name. */
function hashed(file, assets) {
  const content = readFileSync(join(web, file));
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 8).toUpperCase();
  const name = file.replace('.', `-${digest}.`);
  writeFileSync(join(assets, name), content);
  return name;
}
