/** `/docs`: the reference of the interface for people, built into a folder by `web/docs/`, and the description that it shows. */

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { Hono } from 'hono';
import { textResponse } from '../http/compression.js';
import type { HttpEnv } from '../http/request-info.js';
import { PAGE_HEADERS } from './pages.js';

/** Where the build puts it: beside the compiled sources, wherever this file was loaded from. */
export function builtReferenceFolder(): string {
  const fromSources = import.meta.url.endsWith('.ts');
  return fileURLToPath(new URL(fromSources ? '../../dist/docs/' : '../../docs/', import.meta.url));
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=UTF-8',
  css: 'text/css; charset=UTF-8',
};

/**
 * @param folder with `index.html` and `assets/`, each of them compressed. Read when it is asked for: few ever open this page.
 * @param describe the OpenAPI description as JSON
 */
export function createReference(folder: string, describe: () => Promise<string>): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  let description: Promise<string> | undefined;

  app.get('/docs', async (c) => {
    const index = join(folder, 'index.html');
    if (!existsSync(index)) return notBuilt();
    const headers = { ...PAGE_HEADERS, 'cache-control': 'no-cache', 'content-type': 'text/html; charset=UTF-8' };
    return textResponse(await readFile(index, 'utf8'), c.req.header('accept-encoding') ?? null, headers);
  });

  app.get('/docs/openapi.json', async (c) => {
    description ??= describe();
    const headers = { 'cache-control': 'public, max-age=300', 'content-type': 'application/json; charset=UTF-8' };
    return textResponse(await description, c.req.header('accept-encoding') ?? null, headers);
  });

  app.get('/docs/assets/:file', async (c, next) => {
    const file = c.req.param('file');
    const assets = join(folder, 'assets');
    // Looked up among those that are there, so a request can name no other.
    const known = existsSync(assets) && (await readdir(assets)).includes(`${file}.br`);
    if (!known) return next();
    const packed = await readFile(join(assets, `${file}.br`));
    const headers: Record<string, string> = {
      ...PAGE_HEADERS,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
      vary: 'Accept-Encoding',
    };
    if (/\bbr\b/i.test(c.req.header('accept-encoding') ?? ''))
      return new Response(packed, { headers: { ...headers, 'content-encoding': 'br' } });
    return new Response(await promisify(brotliDecompress)(packed), { headers });
  });
  return app;
}

function notBuilt(): Response {
  return new Response(
    'The reference was not built with this copy of Sitefleet: run "npm run build". /docs/openapi.json has the same as data.\n',
    { headers: { ...PAGE_HEADERS, 'content-type': 'text/plain; charset=UTF-8' } },
  );
}
