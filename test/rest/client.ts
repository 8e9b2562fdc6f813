/** Calls the REST interface of a test service as a client would: over HTTP with real keys. */

import type { Hono } from 'hono';
import type { Call } from '../../src/operation/operation.js';
import type { KeyScope } from '../../src/store/access/keys.js';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { createRouter } from '../../src/surfaces/http/router.js';
import { createRestApp } from '../../src/surfaces/rest/app.js';
import { routes } from '../../src/surfaces/rest/index.js';
import { type TestApp, type TestOptions, testApp } from '../support/harness.js';
import { newKey } from '../support/logins.js';

export interface RestReply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read into answers of many shapes
  body: any;
  headers: Headers;
}

export interface CallOptions {
  body?: unknown;
  /** Token; null sends no credentials. Default: a key that may read and write. */
  token?: string | null;
  headers?: Record<string, string>;
}

export interface RestApp extends TestApp {
  http: Hono<HttpEnv>;
  tokens: Record<KeyScope, string>;
  rest(call: string, options?: CallOptions): Promise<RestReply>;
  newToken(scope: KeyScope): Promise<string>;
}

/**
 * Only the REST interface in front of the service: the other interfaces are not loaded. routes.test.ts covers all of
 * them.
 */
function restHttp({ service, clock }: TestApp): Hono<HttpEnv> {
  const { auth, sessions, config, log } = service;
  const rest = createRestApp({
    routes,
    auth,
    sessions,
    config,
    log,
    clock,
    version: 'test',
    openArchive: service.openArchive,
    call: async (target, input, caller) => {
      if (!target.engine) return (service.invoke as Call)(target, input, caller);
      // Data that crosses the thread border in a real service is cloned here, too.
      const sent = structuredClone({ input, actor: caller.actor });
      return structuredClone(await (service.invoke as Call)(target, sent.input, { ...caller, actor: sent.actor }));
    },
  });
  let id = 0;
  return createRouter({
    config,
    log,
    newRequestId: () => `request-${++id}`,
    ready: () => service.ready(),
    mounts: [{ at: '/', app: rest }],
  });
}

export async function restApp(options: TestOptions = {}): Promise<RestApp> {
  return restOver(await testApp(options));
}

/** The REST interface of a service that a test has already. */
export async function restOver(app: TestApp): Promise<RestApp> {
  const http = restHttp(app);
  const newToken = async (scope: KeyScope) =>
    (await newKey(app.service.store.keys, { scope, description: scope, now: app.clock.now() })).token;
  const tokens = {
    read: await newToken('read'),
    write: await newToken('write'),
    read_write: await newToken('read_write'),
  };
  return Object.assign(Object.create(app) as TestApp, {
    http,
    tokens,
    newToken,
    /** `call` is `METHOD /path`, below /v2. */
    async rest(call: string, { body, token = tokens.read_write, headers = {} }: CallOptions = {}): Promise<RestReply> {
      const [method = '', path = ''] = call.split(' ');
      const reply = await http.request(`http://127.0.0.1/v2${path}`, {
        method,
        headers: {
          ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await reply.text();
      const type = reply.headers.get('content-type') ?? '';
      return {
        status: reply.status,
        headers: reply.headers,
        body: type.startsWith('application/json') && text !== '' ? JSON.parse(text) : text,
      };
    },
  });
}
