/** The HTTP shell: what every request passes before and after the ways in. */

import type { IncomingMessage } from 'node:http';
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { HttpEnv } from './auth.js';
import type { Config, Log } from './context.js';
import { errorBody, isOurFault, ServiceError } from './errors.js';
import { isLoopbackName } from './mcp/origin.js';
import { requireMetricsAccess } from './metrics-access.js';

/** An app and the path it is mounted at; its own routes may already carry the whole path. */
export interface Mount {
  at: string;
  app: Hono<HttpEnv>;
}

export interface HttpMetrics {
  /** Who has it may read; null = whoever is on this machine. */
  token: string | null;
  request(status: number): void;
  /** The text format of Prometheus. */
  text(): Promise<string>;
}

export interface HttpParts {
  config: Pick<Config, 'host' | 'port' | 'base_url' | 'trust_proxy'>;
  log: Log;
  newRequestId(): string;
  ready(): Promise<{ ok: boolean; reasons: readonly string[] }>;
  /** Numbers about the process at `/metrics`; no such address without. */
  metrics?: HttpMetrics | undefined;
  mounts: readonly Mount[];
  /** Largest body in bytes. */
  maxBody?: number;
}

type HttpContext = Context<HttpEnv & { Bindings?: { incoming?: IncomingMessage } }>;

const MAX_BODY = 1024 * 1024;
/** Of a 503 that does not know better. */
const RETRY_AFTER_S = '5';
const SAFE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;

/** Put on by proxies. */
const FORWARDED = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via'];

/** On every answer that does not say otherwise: none is a page, none is to be framed or sniffed. */
const HEADERS: readonly (readonly [string, string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
];

export function createHttp(parts: HttpParts): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const maxBody = parts.maxBody ?? MAX_BODY;
  app.use(async (c, next) => {
    const arrival = arrivalOf(c as unknown as HttpContext, parts);
    c.set('arrival', arrival);
    const oversized = await boundBody(c, maxBody);
    if (oversized !== undefined) c.res = oversized;
    else await next();
    const { headers } = c.res;
    for (const [name, value] of HEADERS) if (!headers.has(name)) headers.set(name, value);
    if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
    headers.set('X-Request-Id', arrival.request_id);
    if (c.res.status === 503 && !headers.has('Retry-After')) headers.set('Retry-After', RETRY_AFTER_S);
    parts.metrics?.request(c.res.status);
    parts.log.debug(
      { request_id: arrival.request_id, method: c.req.method, path: c.req.path, status: c.res.status },
      'request',
    );
  });
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const { ok, reasons } = await parts.ready();
    return c.json(ok ? { status: 'ok' } : { status: 'not ready', reasons }, ok ? 200 : 503);
  });
  const { metrics } = parts;
  if (metrics !== undefined) {
    app.get('/metrics', async (c) => {
      const { authorization, address } = c.get('arrival');
      requireMetricsAccess(metrics.token, {
        authorization,
        address,
        host: new URL(c.req.url).host.replace(/:\d+$/, ''),
        forwarded: FORWARDED.some((name) => c.req.header(name) !== undefined),
      });
      return c.body(await metrics.text(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
    });
  }
  for (const { at, app: mounted } of parts.mounts) app.route(at, mounted);
  app.notFound((c) => failure(c, new ServiceError('rest_no_route', 'There is nothing at this address.')));
  app.onError((error, c) => {
    // A refusal is an answer, not a failure of ours.
    if (!(error instanceof ServiceError) || isOurFault(error))
      parts.log.error({ err: error, request_id: c.get('arrival')?.request_id, path: c.req.path }, 'request failed');
    return failure(c, error);
  });
  return app;
}

function failure(c: Context<HttpEnv>, error: unknown): Response {
  const body = errorBody(error);
  return c.json(body, body.data.status as ContentfulStatusCode);
}

/** Who asks, from where, and by which address. */
function arrivalOf(c: HttpContext, { config, newRequestId }: HttpParts): HttpEnv['Variables']['arrival'] {
  const given = c.req.header('x-request-id');
  const socket = c.env?.incoming?.socket;
  // A request that did not come through a socket was made inside this process.
  const peer = socket?.remoteAddress ?? '127.0.0.1';
  const url = c.req.url;
  const schemeEnd = url.indexOf('://') + 3;
  const host = url.slice(schemeEnd, url.indexOf('/', schemeEnd));
  const forwarded = config.trust_proxy ? lastOf(c.req.header('x-forwarded-for')) : undefined;
  const forwardedProto = config.trust_proxy ? lastOf(c.req.header('x-forwarded-proto'))?.toLowerCase() : undefined;
  const encrypted = forwardedProto === undefined ? url.startsWith('https:') : forwardedProto === 'https';
  const address = forwarded ?? peer;
  const local = isLoopback(address) || (forwarded === undefined && isLoopbackName(host.replace(/:\d+$/, '')));
  return {
    request_id: given !== undefined && SAFE_REQUEST_ID.test(given) ? given : newRequestId(),
    authorization: c.req.header('authorization'),
    address,
    secure: encrypted || local,
    base_url: config.base_url ?? `${encrypted ? 'https' : 'http'}://${host}`,
  };
}

/** The entry that the nearest proxy added; what stands before it is the client's own claim. */
function lastOf(header: string | undefined): string | undefined {
  const last = header?.split(',').at(-1)?.trim();
  return last === '' ? undefined : last;
}

function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\.|^::1$/i.test(address);
}

/** Refuses a body over the limit: by its length where that is announced, else by reading no further than the limit. */
async function boundBody(c: Context<HttpEnv>, max: number): Promise<Response | undefined> {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return undefined;
  if (c.req.header('transfer-encoding') === undefined) {
    return Number(c.req.header('content-length') ?? 0) > max ? tooLarge(c, max) : undefined;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = c.req.raw.body?.getReader();
  for (;;) {
    const step = await reader?.read();
    if (step === undefined || step.done) break;
    size += step.value.byteLength;
    if (size > max) {
      await reader?.cancel();
      return tooLarge(c, max);
    }
    chunks.push(step.value);
  }
  c.req.raw = new Request(c.req.raw, { body: Buffer.concat(chunks) });
  return undefined;
}

function tooLarge(c: Context<HttpEnv>, max: number): Response {
  // The rest of the body is not read, so nothing else can come over this connection.
  c.header('Connection', 'close');
  return failure(
    c,
    new ServiceError('svc_rest_request_entity_too_large', `The body is larger than ${max} bytes.`, {
      advice: 'Split the call into smaller ones.',
    }),
  );
}
