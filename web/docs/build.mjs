/** Builds the reference of the interface: its viewer, a script and a style under names with a content hash, compressed. */

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const library = join(here, '../../node_modules/swagger-ui-dist');

/** A tenth larger than the best compression, in a tenth of the time. */
const QUALITY = 9;

/**
 * @param {string} folder output folder; it is emptied first
 * @param {number} quality of the compression
 */
export async function buildReference(folder, quality = QUALITY) {
  const packing = { params: { [constants.BROTLI_PARAM_QUALITY]: quality } };
  rmSync(folder, { recursive: true, force: true });
  const assets = join(folder, 'assets');
  mkdirSync(assets, { recursive: true });
  const options = {
    entryPoints: [join(here, 'reference.js')],
    outdir: assets,
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'warning',
  };
  const { outputFiles } = await build(options);
  const contentsOf = (kind) => outputFiles.find(({ path }) => path.endsWith(`.${kind}`)).contents;
  const files = {
    // As it is published: it is minified, and reading it costs more than all else here.
    viewer: ['swagger-ui', 'js', readFileSync(join(library, 'swagger-ui-bundle.js'))],
    script: ['reference', 'js', contentsOf('js')],
    style: ['reference', 'css', contentsOf('css')],
  };
  const filled = {};
  for (const [place, [title, kind, contents]] of Object.entries(files)) {
    const digest = createHash('sha256').update(contents).digest('hex').slice(0, 10);
    const name = `${title}-${digest}.${kind}`;
    // Only the compressed file: it is large, and every browser accepts Brotli.
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(contents, packing));
    filled[place] = `docs/assets/${name}`;
  }
  const html = readFileSync(join(here, 'index.html'), 'utf8');
  writeFileSync(
    join(folder, 'index.html'),
    html.replace(/\{\{(\w+)\}\}/g, (_, name) => filled[name]),
  );
  const licences = ['NOTICE', 'LICENSE', 'swagger-ui-bundle.js.LICENSE.txt'];
  writeFileSync(
    join(folder, 'LICENSE.txt'),
    licences.map((file) => readFileSync(join(library, file), 'utf8')).join('\n'),
  );
}
