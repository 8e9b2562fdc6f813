/** What every request passes before and after the ways in: who asks, how much may be sent, what all answers carry. */

import type { IncomingMessage } from 'node:http';
import type { Hono } from 'hono';
import type { Config } from '../config/types.js';
import { errorBody, isOurFault, ServiceError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { createGate, type Verdict } from './gate.js';
import type { Head, HttpEnv, RequestInfo } from './request-info.js';
import { requestInfoReader } from './request-info.js';
import { isAmbiguous, pathOf } from './request-url.js';
import { completeHeaders } from './response-headers.js';

/** How one way in wraps a refusal that comes before it. */
export interface Envelope {
  owns(path: string): boolean;
  wrap(error: ServiceError): Response;
}

export interface PipelineParts {
  config: Pick<Config, 'host' | 'base_url' | 'trust_proxy'>;
  log: Log;
  newRequestId(): string;
  metrics?: { request(status: number): void } | undefined;
  /** Largest body in bytes. */
  maxBody?: number;
}

export interface PipelineRules {
  /** Paths that answer to any name: load balancers and collectors call by address. */
  open: ReadonlySet<string>;
  /** Of the ways in that have one of their own. */
  envelopes: readonly Envelope[];
}

const MAX_BODY = 1024 * 1024;

/**
 * Puts what every request passes in front of Hono's own dispatch. As a middleware it would make every answer wait and turn
 * its headers into an object of their own, which costs as much as the rest of a small request.
 */
export function installPipeline(app: Hono<HttpEnv>, parts: PipelineParts, { open, envelopes }: PipelineRules): void {
  const { log, metrics } = parts;
  const maxBody = parts.maxBody ?? MAX_BODY;
  const infoOf = requestInfoReader(parts);
  const gate = createGate(parts.config);
  const dispatch = app.fetch;

  const answerOf = (request: Request, env: HttpEnv['Bindings'], context?: Parameters<typeof dispatch>[2]) => {
    const bounded = boundBody(request, maxBody);
    if (bounded === request) return dispatch(request, env, context);
    return Promise.resolve(bounded)
      .then((result) => (result instanceof Response ? result : dispatch(result, env, context)))
      .catch((error: unknown) => loggedErrorResponse(parts, error, env.info, request.url));
  };

  const barrier = ({ method, url }: Request, incoming: IncomingMessage | undefined, verdict: Verdict) =>
    incoming?.url !== undefined && isAmbiguous(incoming.url, incoming.headers.host)
      ? ambiguous()
      : gate.barrier(verdict, method, open.has(pathOf(url)));
  const barred = (error: ServiceError, url: string): Response => {
    const path = pathOf(url);
    return envelopes.find(({ owns }) => owns(path))?.wrap(error) ?? errorResponse(error);
  };

  const noted = notes(log);

  app.fetch = (request, given, context) => {
    const env = (given ?? {}) as HttpEnv['Bindings'];
    const { outgoing } = env;
    const verdict = gate.verdict(request, env.incoming);
    const info = infoOf(request, env.incoming, verdict.foreign);
    env.info = info;
    const depart = (status: number, head: Head) => {
      completeHeaders(status, head, info.request_id);
      metrics?.request(status);
      noted?.(request, info, status);
    };
    const error = barrier(request, env.incoming, verdict);
    const answer = () => (error === undefined ? answerOf(request, env, context) : barred(error, request.url));
    if (outgoing === undefined) return stamped(answer(), depart);
    outgoing.depart = depart;
    return answer();
  };
}

function ambiguous(): ServiceError {
  return new ServiceError('rest_no_route', 'There is nothing at this address, which can be read in two ways.', {
    advice: 'Send the path without segments of dots and its first segment unencoded, and Host as in the address.',
  });
}

/** Writes a line for each request, where such lines are written at all: most services spare themselves the making of it. */
function notes(log: Log): ((request: Request, info: RequestInfo, status: number) => void) | undefined {
  const leveled = log as Log & { isLevelEnabled?(level: string): boolean };
  if (leveled.isLevelEnabled?.('debug') === false) return undefined;
  return ({ method, url }, { request_id }, status) =>
    // Without the query: credentials have been seen there.
    log.debug({ request_id, method, path: pathOf(url), status }, 'request');
}

/** An answer that stays in this process leaves through no socket, where the head would be completed. */
async function stamped(
  answer: Response | Promise<Response>,
  depart: (status: number, head: Head) => void,
): Promise<Response> {
  const response = await answer;
  const head: Head = [...response.headers].flat();
  const own = head.length;
  depart(response.status, head);
  for (let i = own; i < head.length; i += 2) response.headers.set(String(head[i]), String(head[i + 1]));
  return response;
}

export function loggedErrorResponse(
  parts: Pick<PipelineParts, 'log'>,
  error: unknown,
  info: RequestInfo,
  url: string,
): Response {
  // A refusal is an answer, not a failure of ours.
  if (!(error instanceof ServiceError) || isOurFault(error))
    parts.log.error({ err: error, request_id: info.request_id, path: pathOf(url) }, 'request failed');
  return errorResponse(error);
}

export function errorResponse(error: unknown, headers: Record<string, string> = {}): Response {
  const body = errorBody(error);
  return Response.json(body, { status: body.data.status, headers });
}

/**
 * The request, unless its body is over the limit: by its length where that is announced, else by reading no further than
 * the limit.
 */
function boundBody(request: Request, max: number): Request | Response | Promise<Request | Response> {
  const { method, headers } = request;
  if (method === 'GET' || method === 'HEAD') return request;
  if (headers.get('transfer-encoding') !== null) return readBody(request, max);
  return Number(headers.get('content-length') ?? 0) > max ? tooLarge(max) : request;
}

async function readBody(request: Request, max: number): Promise<Request | Response> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (;;) {
    const step = await reader?.read();
    if (step === undefined || step.done) break;
    size += step.value.byteLength;
    if (size > max) {
      await reader?.cancel();
      return tooLarge(max);
    }
    chunks.push(step.value);
  }
  return new Request(request, { body: Buffer.concat(chunks) });
}

function tooLarge(max: number): Response {
  const error = new ServiceError('svc_rest_request_entity_too_large', `The body is larger than ${max} bytes.`, {
    advice: 'Split the call into smaller ones.',
  });
  // The rest of the body is not read, so nothing else can come over this connection.
  return errorResponse(error, { connection: 'close' });
}
