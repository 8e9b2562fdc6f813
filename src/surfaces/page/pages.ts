/** The web page: one document at the addresses of its views, and its assets. Everything is read into memory once. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { Hono } from 'hono';
import { type KeptText, keptText, textResponse } from '../http/compression.js';
import type { HttpEnv } from '../http/request-info.js';

/** Views of the page, except `/`: programs request it too, so its route is added elsewhere. */
const VIEWS = [
  '/sites',
  '/sites/:id',
  '/compare',
  '/updates',
  '/updates/plan',
  '/runs',
  '/vulnerabilities',
  '/runs/:id',
  '/rollouts',
  '/rollouts/:id',
  '/policies',
  '/policies/new',
  '/policies/:id',
  '/policies/:id/edit',
  '/monitors',
  '/backups',
  '/clients',
  '/reports',
  '/jobs',
  '/approvals',
  '/history',
  '/access',
  '/settings',
  '/login',
  '/start',
];

export const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=UTF-8',
  '.js': 'text/javascript; charset=UTF-8',
  '.css': 'text/css; charset=UTF-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=UTF-8',
  '.webmanifest': 'application/manifest+json; charset=UTF-8',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** The page may only run, load and contact this server's own resources, and may not be framed. Documents add their scripts. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

interface Asset {
  type: string;
  text: KeptText;
}

export interface Pages {
  app: Hono<HttpEnv>;
  /** The document as the response to a browser that requests any view. */
  document(headers: Headers): Promise<Response>;
  /** The same with status 404, where there is no view; the page says so. Undefined for programs, and without a built page. */
  missing(request: Request): Response | undefined;
}

/** @param folder with `index.html`, and compressed `assets/`, whose names change with their content */
export function createPages(folder: string): Pages {
  const index = join(folder, 'index.html');
  const html = existsSync(index) ? readFileSync(index) : undefined;
  const assets = html === undefined ? new Map<string, Asset>() : readAssets(join(folder, 'assets'));
  const etag = html === undefined ? '' : `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"`;

  const own = html === undefined ? PAGE_HEADERS : { ...PAGE_HEADERS, 'content-security-policy': policyOf(html) };

  async function document(headers: Headers): Promise<Response> {
    if (html === undefined) return notBuilt();
    // `Vary`: at `/`, programs get a different response.
    const fields = { ...own, 'cache-control': 'no-cache', vary: 'Accept', etag };
    const known = headers.get('if-none-match')?.includes(etag) === true;
    if (known) return new Response(null, { status: 304, headers: fields });
    const type = TYPES['.html'] ?? '';
    return textResponse(html, headers.get('accept-encoding'), { ...fields, 'content-type': type });
  }

  function missing({ method, headers }: Request): Response | undefined {
    if (html === undefined || method !== 'GET' || headers.get('accept')?.includes('text/html') !== true)
      return undefined;
    const fields = {
      ...own,
      'cache-control': 'no-store',
      vary: 'Accept',
      'content-type': TYPES['.html'] ?? '',
    };
    return new Response(html, { status: 404, headers: fields });
  }

  const app = new Hono<HttpEnv>();
  for (const view of VIEWS) app.get(view, (c) => document(c.req.raw.headers));
  app.get('/assets/:file', async (c, next) => {
    const asset = assets.get(c.req.param('file'));
    return asset === undefined ? next() : assetResponse(asset, c.req.header('accept-encoding') ?? null);
  });
  return { app, document, missing };
}

/** The policy that also lets the scripts in the document run, by their hashes. */
function policyOf(html: Buffer): string {
  const scripts = [...html.toString().matchAll(/<script>(.*?)<\/script>/gs)].map(([, text = '']) => text);
  const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  return POLICY.replace("script-src 'self'", ["script-src 'self'", ...hashes].join(' '));
}

/** Reads all assets. Requests are looked up in this map, never on disk, so they cannot reach any other file. */
function readAssets(folder: string): Map<string, Asset> {
  const assets = new Map<string, Asset>();
  if (!existsSync(folder)) return assets;
  for (const file of readdirSync(folder)) {
    const name = basename(file, '.br');
    const type = TYPES[extname(name)];
    if (name !== file && type !== undefined)
      assets.set(name, { type, text: unpackedOnce(readFileSync(join(folder, file))) });
  }
  return assets;
}

/** @param br compressed by the build */
function unpackedOnce(br: Uint8Array<ArrayBuffer>): KeptText {
  return keptText(() => promisify(brotliDecompress)(br), { br: async () => br });
}

function assetResponse({ type, text }: Asset, accepted: string | null): Promise<Response> {
  const headers: Record<string, string> = {
    ...PAGE_HEADERS,
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': type,
  };
  // Images and fonts are already compressed.
  const isPacked = type === 'image/png' || type === 'font/woff2';
  return text(isPacked && !acceptsBrotli(accepted ?? '') ? null : accepted, headers);
}

/** @param accepted the request's Accept-Encoding */
function acceptsBrotli(accepted: string): boolean {
  return /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accepted);
}

function notBuilt(): Response {
  return new Response(
    'The page was not built with this copy of Sitefleet: run "npm run build". The interfaces work.\n',
    {
      status: 404,
      headers: { ...PAGE_HEADERS, 'content-type': 'text/plain; charset=UTF-8' },
    },
  );
}
