/** Calls of our REST interface, typed from its description. A refused or lost call throws an `ApiError`. */

import createClient from 'openapi-fetch';
import { reachable } from './reachable.js';
import type { paths } from './schema.js';
import { forgetSession, loadSession, session } from './session.js';

/** `status` 0: no answer arrived. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly advice: string | null,
  ) {
    super(message);
  }
}

const CSRF = 'X-Sitefleet-CSRF';

/** The token changes with the session; a call that was refused for an old one is sent once more. */
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
    const response = await fetch(request);
    reachable.set(true);
    return response;
  } catch (error) {
    if (!request.signal.aborted) reachable.set(false);
    throw error;
  }
}

function settled(response: Response): Response {
  if (response.status === 401) forgetSession();
  return response;
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

/** The body of a successful call. Throws an `ApiError`. */
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
  const body = (error ?? {}) as { code?: string; message?: string; data?: { advice?: string } };
  throw new ApiError(response.status, body.code ?? '', body.message ?? response.statusText, body.data?.advice ?? null);
}
