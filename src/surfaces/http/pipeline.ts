/**
 * The middleware every HTTP request passes through: request info, the gate, the body limit; and for the response the
 * standard headers, metrics and the log line.
 */

import type { Context, Hono, MiddlewareHandler } from 'hono';
import { errorBody, isOurFault, ServiceError } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import { createCors } from './cors.js';
import { createGate, type GateRules } from './gate.js';
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

const MAX_BODY = 1024 * 1024;

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

/** Pieces of one chunked body: each costs as much as some kilobytes, and a million of one byte would hold up everyone. */
const MAX_PIECES = 10_000;

/**
 * Refuses bodies over the limit: by `Content-Length` if it is sent, otherwise by reading no further than the limit, and only so many
 * pieces.
 */
function bodyLimits(max: number, refused: (error: ServiceError, path: string) => Response): MiddlewareHandler<HttpEnv> {
  const refuse = ({ req }: Context, what: string, advice: string) => {
    const error = new ServiceError('svc_rest_request_entity_too_large', `The body ${what}.`, { advice });
    const response = refused(error, pathOf(req.url));
    // The rest of the body is not read, so the connection cannot be reused.
    response.headers.set('connection', 'close');
    return response;
  };
  const tooLarge = (c: Context) => refuse(c, `is larger than ${max} bytes`, 'Split it into smaller calls.');
  return async (c, next) => {
    const { method, headers } = c.req.raw;
    if (method === 'GET' || method === 'HEAD') return next();
    if (headers.get('transfer-encoding') === null)
      return Number(headers.get('content-length') ?? 0) > max ? tooLarge(c) : next();
    const pieces: Uint8Array[] = [];
    // Asked for only now: the server makes a whole request of the standard when its body is looked at.
    const reader = c.req.raw.body?.getReader();
    let size = 0;
    for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
      pieces.push(piece.value);
      size += piece.value.length;
      if (size > max) return tooLarge(c);
      if (pieces.length > MAX_PIECES)
        return refuse(c, `has more than ${MAX_PIECES} chunks`, 'Send larger ones, or the body as a whole.');
    }
    c.req.raw = new Request(c.req.raw, { body: Buffer.concat(pieces) });
    return next();
  };
}
