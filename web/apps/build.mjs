/**
 * Builds the views inside assistants: one HTML file each, with inlined script and style, for a frame that may load
 * nothing.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const VIEWS = { brief: 'The fleet now', job: 'A job', update: 'Updates', rollout: 'A rollout' };

/** @param {string} folder output folder; it is emptied first */
export async function buildApps(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // All at once, because what they share is then read once.
  const { outputFiles } = await build({
    entryPoints: Object.keys(VIEWS).map((name) => join(here, `${name}.tsx`)),
    outdir: folder,
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
  for (const [name, title] of Object.entries(VIEWS)) {
    const text = (kind) => outputFiles.find(({ path }) => path.endsWith(`${name}${kind}`)).text.trim();
    // A closing tag inside a string would end the script.
    const script = text('.js').replaceAll('</script', '<\\/script');
    const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${text('.css')}</style></head><body><script>${script}</script></body></html>\n`;
    writeFileSync(join(folder, `${name}.html`), html);
  }
}
