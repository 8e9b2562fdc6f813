/**
 * The middleware every HTTP request passes through: request info, the gate, the body limit; and for the response the
 * standard headers, metrics and the log line.
 */

import { Readable } from 'node:stream';
import type { Hono, MiddlewareHandler } from 'hono';
import { errorBody, isOurFault, ServiceError } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import { bodyTooLarge, createChunkedBodies, dropBody, MAX_BODY } from './chunked-bodies.js';
import { createCors } from './cors.js';
import { createGate, type GateRules } from './gate.js';
import { networkOf } from './networks.js';
import type { HttpEnv, RequestInfo } from './request-info.js';
import { requestInfoReader } from './request-info.js';
import { isAmbiguous, namesTwoHosts, pathOf } from './request-url.js';
import { completeHeaders } from './response-headers.js';

/** How a way in wraps an error for requests that are refused before they reach it. */
export interface Envelope {
  owns(path: string): boolean;
  wrap(error: ServiceError): Response;
}

/** Facts of one request for the metrics. */
export interface RequestFacts {
  /** The way in, from a fixed list; never the requested path. */
  surface: string;
  method: string;
  status: number;
  ms: number;
}

export interface PipelineParts {
  config: GateRules;
  log: Log;
  newRequestId(): string;
  metrics?: { request(facts: RequestFacts): void } | undefined;
  /** Largest body in bytes. */
  maxBody?: number;
}

export interface PipelineRules {
  /** Paths that answer to any host name: load balancers and collectors call by IP address. */
  open: ReadonlySet<string>;
  /** Envelopes of the ways in that have their own. */
  envelopes: readonly Envelope[];
}

/** Installs the middleware. Call it first: only routes that are added later pass through it. */
export function installPipeline(app: Hono<HttpEnv>, parts: PipelineParts, { open, envelopes }: PipelineRules): void {
  const { log, metrics } = parts;
  const infoOf = requestInfoReader(parts);
  const gate = createGate(parts.config);
  const cors = createCors(parts.config.cors_origins ?? []);
  const refused = (error: ServiceError, path: string): Response =>
    envelopes.find(({ owns }) => owns(path))?.wrap(error) ?? errorResponse(error);
  const limitBody = bodyLimits(parts.maxBody ?? MAX_BODY, refused);

  app.use(async (c, next) => {
    // Requests made inside this process may come without bindings.
    c.env ??= {} as HttpEnv['Bindings'];
    const began = performance.now();
    const request = c.req.raw;
    const { incoming } = c.env;
    const path = pathOf(request.url);
    const verdict = gate.verdict(request, incoming);
    const info = infoOf(request, incoming, verdict);
    c.env.info = info;
    const refusal = isTwofold(incoming) ? ambiguous() : gate.barrier(verdict, request.method, open.has(path));
    const answered = async () => {
      const response = refusal === undefined ? await limitBody(c, next) : refused(refusal, path);
      // Otherwise a route has answered, and its response is in `c.res`.
      if (response instanceof Response) c.res = response;
    };
    // A refused preflight is answered with its refusal.
    const shared = open.has(path) || (refusal !== undefined && request.method === 'OPTIONS') ? undefined : cors;
    const preflight = shared === undefined ? await answered() : await shared(c, answered);
    if (preflight instanceof Response) c.res = preflight;
    completeHeaders(c.res, c.env.outgoing, info.request_id);
    const { status } = c.res;
    const ms = performance.now() - began;
    const method = METHODS.has(request.method) ? request.method : 'other';
    metrics?.request({ surface: surfaceOf(path), method, status, ms });
    // Health checks and collectors call every few seconds.
    log[open.has(path) ? 'debug' : 'info'](
      {
        request_id: info.request_id,
        method: request.method,
        // Without the query: callers have put credentials there.
        path: path.slice(0, PATH_SHOWN),
        status,
        ms: Math.round(ms),
        address: info.address,
      },
      'request',
    );
  });
}

/** Whether a proxy in front may have read another address in it. */
function isTwofold(incoming: HttpEnv['Bindings']['incoming']): boolean {
  if (incoming?.url === undefined) return false;
  return isAmbiguous(incoming.url, incoming.headers.host) || namesTwoHosts(incoming.rawHeaders);
}

function ambiguous(): ServiceError {
  return new ServiceError('rest_no_route', 'Nothing exists at this path, which is ambiguous.', {
    advice: 'Send the path without dot segments and with its first segment unencoded, and one Host, as in the URL.',
  });
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The way in that a path belongs to. */
function surfaceOf(path: string): string {
  const [, first = ''] = path.split('/', 2);
  return SURFACES.get(first) ?? 'other';
}

const SURFACES: ReadonlyMap<string, string> = new Map([
  ['mcp', 'mcp'],
  ['v2', 'rest'],
  ['wp-json', 'abilities'],
  ['abilities', 'abilities'],
  ['healthz', 'health'],
  ['readyz', 'health'],
  ['metrics', 'metrics'],
  ['session', 'page'],
  ['assets', 'page'],
]);

/** Most characters of a path in a log line. */
const PATH_SHOWN = 500;

export function loggedErrorResponse(
  parts: Pick<PipelineParts, 'log'>,
  error: unknown,
  info: RequestInfo,
  url: string,
): Response {
  // A refused request is not our failure.
  if (!(error instanceof ServiceError) || isOurFault(error))
    parts.log.error({ err: error, request_id: info.request_id, path: pathOf(url) }, 'request failed');
  return errorResponse(error);
}

export function errorResponse(error: unknown): Response {
  const body = errorBody(error);
  const { retry_after, allow } = body.data;
  const headers: Record<string, string> = {
    ...(typeof retry_after === 'number' ? { 'retry-after': String(retry_after) } : {}),
    ...(Array.isArray(allow) ? { allow: allow.join(', ') } : {}),
  };
  return Response.json(body, { status: body.data.status, headers });
}

/**
 * Refuses bodies over the limit: by `Content-Length` if it is sent. Without one, the body is read while the route asks for the
 * login, as Node would keep its chunks, however small; the route gets what was read, or the refusal, where it asks for it.
 */
function bodyLimits(max: number, refused: (error: ServiceError, path: string) => Response): MiddlewareHandler<HttpEnv> {
  const open = createChunkedBodies(max);
  return async (c, next) => {
    const { raw } = c.req;
    const { incoming, info } = c.env;
    const { method, headers, url } = raw;
    const isChunked = headers.get('transfer-encoding') !== null;
    if (BODILESS.has(method)) {
      if (isChunked && incoming !== undefined) dropBody(incoming);
      return next();
    }
    if (!isChunked) {
      if (Number(headers.get('content-length') ?? 0) <= max) return next();
      const response = refused(bodyTooLarge(max), pathOf(url));
      // The body is not read, so the connection cannot be reused.
      response.headers.set('connection', 'close');
      return response;
    }
    const body = open(
      incoming ?? Readable.fromWeb((raw.body ?? new Blob().stream()) as never),
      networkOf(info.address),
      () => c.env.most_before_login,
    );
    const { signal } = raw;
    c.req.raw = new Request(url, { method, headers, signal, body: body.stream, duplex: 'half' } as RequestInit);
    try {
      await next();
    } finally {
      if (body.end()) c.res.headers.set('connection', 'close');
    }
  };
}

/** Methods whose body no route reads. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'TRACE']);
