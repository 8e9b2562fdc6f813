/** Calls our REST interface, typed from its OpenAPI description. A refused or failed call throws an `ApiError`. */

import createClient from 'openapi-fetch';
import { inPageWords } from './page-words.js';
import { reachable } from './reachable.js';
import { read } from './reads.js';
import type { paths } from './schema.js';
import { forgetSession, loadSession, session } from './session.js';

/** `status` 0: no answer arrived. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly advice: string | null,
    /** Why parameters were refused, by name. */
    readonly reasons: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

const CSRF = 'X-Sitefleet-CSRF';

/**
 * Sends a call with the CSRF token. The token changes with the session: a call refused for an old token is sent once
 * more.
 */
async function send(request: Request): Promise<Response> {
  const writes = request.method !== 'GET' && request.method !== 'HEAD';
  if (!writes) return settled(await sent(request));
  const again = request.clone();
  request.headers.set(CSRF, csrf());
  const first = await sent(request);
  if (first.status !== 403 || (await codeOf(first)) !== 'svc_csrf_refused') return settled(first);
  await loadSession();
  again.headers.set(CSRF, csrf());
  return settled(await sent(again));
}

function csrf(): string {
  const current = session.get();
  return current?.authenticated === true ? current.csrf : '';
}

async function sent(request: Request): Promise<Response> {
  try {
    const response = await (request.method === 'GET' ? read(request) : fetch(request));
    reachable.set(true);
    return response;
  } catch (error) {
    if (!request.signal.aborted) reachable.set(false);
    throw error;
  }
}

async function settled(response: Response): Promise<Response> {
  if (response.status === 401) forgetSession();
  if (response.headers.get('content-type')?.startsWith('application/json') !== true) return response;
  const text = await response.clone().text();
  const words = inPageWords(text);
  return words === text ? response : new Response(words, response);
}

async function codeOf(response: Response): Promise<string> {
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { code?: string } | null;
  return body?.code ?? '';
}

export const api = createClient<paths>({
  baseUrl: `${location.origin}/v2`,
  fetch: send,
  querySerializer: { array: { style: 'form', explode: false } },
});

interface Called<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the body of a successful call. Throws an `ApiError`. */
export async function answer<T>(call: Promise<Called<T>>): Promise<T> {
  let called: Called<T>;
  try {
    called = await call;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'no_answer', '', null);
  }
  const { data, error, response } = called;
  if (data !== undefined && response.ok) return data;
  throw refusal(response, error);
}

interface RefusalBody {
  code?: string;
  message?: string;
  data?: { advice?: string; field?: string; params?: unknown };
}

/**
 * The error of a refused call. The server sends a reason per parameter, a list of missing ones, or a single one in
 * `field`.
 */
export function refusal({ status, statusText }: Response, body: unknown): ApiError {
  const { code = '', message = statusText, data = {} } = (body ?? {}) as RefusalBody;
  const { advice = null, field, params } = data;
  const whole = advice === null ? message : `${message} ${advice}`;
  const reasons = Array.isArray(params)
    ? Object.fromEntries(params.map((name) => [String(name), message]))
    : ((params as Record<string, string> | undefined) ?? (field === undefined ? {} : { [field]: whole }));
  return new ApiError(status, code, message, advice, reasons);
}
