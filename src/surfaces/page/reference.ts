/** `/docs`: the human-readable API reference, built from `web/docs/`, and the OpenAPI description it shows. */

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { Hono } from 'hono';
import { type KeptText, keptText, textResponse } from '../http/compression.js';
import type { HttpEnv } from '../http/request-info.js';
import { PAGE_HEADERS, TYPES } from './pages.js';

const FRESH = 'no-cache';
const JSON_TYPE = 'application/json; charset=UTF-8';
const FOREVER = 'public, max-age=31536000, immutable';

/**
 * Files are read on request, because this page is rarely opened, and unpacked once.
 * @param folder with `index.html`, and compressed: `assets/`
 * @param describe makes the description, as JSON; called once
 */
export function createReference(folder: string, describe: () => Promise<string>): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const index = join(folder, 'index.html');
  const kept = new Map<string, KeptText>();
  const description = keptText(describe);

  /** @param file one that exists */
  function unpacked(file: string, accepted: string | null): Promise<Response> {
    const text = kept.get(file) ?? stored(file);
    kept.set(file, text);
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    return text(accepted, { ...PAGE_HEADERS, 'cache-control': FOREVER, 'content-type': type });
  }

  app.get('/docs', async (c) => {
    if (!existsSync(index)) return notBuilt();
    const headers = { ...PAGE_HEADERS, 'cache-control': FRESH, 'content-type': 'text/html; charset=UTF-8' };
    return textResponse(await readFile(index, 'utf8'), c.req.header('accept-encoding') ?? null, headers);
  });

  app.get('/docs/openapi.json', (c) =>
    description(c.req.header('accept-encoding') ?? null, {
      ...PAGE_HEADERS,
      'cache-control': FRESH,
      'content-type': JSON_TYPE,
    }),
  );

  app.get('/docs/assets/:file', async (c, next) => {
    const file = c.req.param('file');
    const assets = join(folder, 'assets');
    // Looked up in the list of existing files, so a request cannot reach any other.
    const known = existsSync(assets) && (await readdir(assets)).includes(`${file}.br`);
    return known ? unpacked(join(assets, file), c.req.header('accept-encoding') ?? null) : next();
  });
  return app;
}

/** A file that is stored with Brotli. */
function stored(file: string): KeptText {
  const br = () => readFile(`${file}.br`);
  return keptText(async () => promisify(brotliDecompress)(await br()), { br });
}

function notBuilt(): Response {
  return new Response(
    'The reference was not built with this copy of Sitefleet: run "npm run build". /v2/openapi.json describes the routes below /v2 as data.\n',
    { headers: { ...PAGE_HEADERS, 'content-type': 'text/plain; charset=UTF-8' } },
  );
}
