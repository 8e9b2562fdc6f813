/** Addresses that exist, but not for the method: 405 with `Allow` on every way in, never "nothing exists here". */

import type { Hono } from 'hono';
import { beforeAll, expect, it } from 'vitest';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { testApp } from '../support/harness.js';

let http: Hono<HttpEnv>;

beforeAll(async () => {
  http = await (await testApp({ sites: 1 })).service.http();
});

const ask = (method: string, path: string) => http.request(`http://127.0.0.1:8787${path}`, { method });

it.each(['/', '/healthz', '/readyz', '/metrics', '/docs', '/docs/openapi.json', '/login'])(
  'says which methods %s has',
  async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const reply = await ask(method, path);
      expect([method, reply.status, reply.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
      expect(await reply.json()).toMatchObject({
        code: 'rest_method_not_allowed',
        message: `${method} is not supported here.`,
        data: { status: 405, allow: ['GET', 'HEAD'], advice: 'Use GET or HEAD.' },
      });
    }
    for (const method of ['GET', 'HEAD']) expect((await ask(method, path)).status).toBe(200);
  },
);

it('says the same of addresses that take several methods, or another than GET', async () => {
  for (const [path, allow] of [
    ['/session', 'GET, HEAD, POST, DELETE'],
    ['/session/password', 'PUT'],
    ['/session/everywhere', 'DELETE'],
  ] as const) {
    const reply = await ask('PATCH', path);
    expect([path, reply.status, reply.headers.get('allow')]).toEqual([path, 405, allow]);
  }
});

it('keeps 404 for what does not exist, whatever the method', async () => {
  for (const path of ['/nothing', '/healthz/more', '/docs/nothing'])
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const reply = await ask(method, path);
      expect([path, method, reply.status, reply.headers.get('allow')]).toEqual([path, method, 404, null]);
    }
  expect((await ask('GET', '/assets/nothing.js')).status).toBe(404);
});
