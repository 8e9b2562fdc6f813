/**
 * Which MCP session is evicted for which: principals share the limit, and none loses a stream because another opens too
 * many.
 */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createVault, keyId } from '../../src/store/vault/vault.js';
import { newKey } from '../support/logins.js';
import { ACCEPT, INITIALIZE } from '../support/mcp-messages.js';
import { type Surfaces, startSurfaces } from '../support/surfaces.js';
import { turnsOf } from '../support/turns.js';

const MAX = 20;

let surfaces: Surfaces;
const streams: ReadableStream[] = [];
beforeEach(async () => {
  surfaces = await startSurfaces({ maxSessions: MAX });
});
afterEach(async () => {
  for (const stream of streams.splice(0)) await stream.cancel().catch(() => undefined);
});

async function bearer(): Promise<string> {
  const { token } = await newKey(surfaces.keys, { scope: 'read' });
  return `Bearer ${token}`;
}

function ask(authorization: string, session: string | null, body?: object, method = 'POST'): Promise<Response> {
  const headers = { ...ACCEPT, authorization, ...(session === null ? {} : { 'mcp-session-id': session }) };
  return Promise.resolve(
    surfaces.http.request('http://127.0.0.1/mcp', {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
}

async function open(authorization: string): Promise<string> {
  const response = await ask(authorization, null, INITIALIZE);
  expect(response.status).toBe(200);
  return response.headers.get('mcp-session-id') ?? '';
}

async function openMany(authorization: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await open(authorization));
  return ids;
}

async function listen(authorization: string, session: string): Promise<void> {
  const response = await ask(authorization, session, undefined, 'GET');
  expect(response.status).toBe(200);
  if (response.body !== null) streams.push(response.body);
}

/** Counts the sessions that are alive. The request counts as a use, so it is done last. */
async function alive(authorization: string, ids: readonly string[]): Promise<number> {
  let count = 0;
  for (const id of ids) {
    const { status } = await ask(authorization, id, { jsonrpc: '2.0', id: 2, method: 'ping' });
    if (status === 200) count++;
  }
  return count;
}

describe('MCP sessions', () => {
  it('are so many and no more, and the one that was used last stays', async () => {
    const key = await bearer();
    const most = Math.ceil(MAX * 0.9);
    const ids = await openMany(key, most);
    expect(await alive(key, ids.slice(0, 1))).toBe(1);
    await open(key);
    expect(surfaces.mcp.sessions.size).toBe(most);
    expect([await alive(key, ids.slice(0, 1)), await alive(key, ids.slice(1, 2))]).toEqual([1, 0]);
  });

  it('of one key never make room for those of a greedy one, with a stream or without', async () => {
    const [quiet, greedy] = [await bearer(), await bearer()];
    const mine = await openMany(quiet, 2);
    await listen(quiet, mine[0] ?? '');
    await openMany(greedy, 10 * MAX);
    expect(surfaces.mcp.sessions.size).toBeLessThanOrEqual(MAX);
    expect(await alive(quiet, mine)).toBe(2);
  });

  it('find room at the cost of who has the most', async () => {
    const [greedy, small, late] = [await bearer(), await bearer(), await bearer()];
    const many = await openMany(greedy, 10 * MAX);
    for (const id of many.slice(-MAX)) if ((await alive(greedy, [id])) === 1) await listen(greedy, id);
    const few = await openMany(small, 3);
    const mine = await openMany(late, 5);
    expect([await alive(small, few), await alive(late, mine)]).toEqual([3, 5]);
    expect(surfaces.mcp.sessions.size).toBe(MAX);
  });

  it('leave a place to the next caller whatever one key does', async () => {
    const greedy = await bearer();
    await openMany(greedy, 2 * MAX);
    expect(surfaces.mcp.sessions.size).toBeLessThan(MAX);
  });

  it('end with those that a client listens to', async () => {
    const key = await bearer();
    const first = await openMany(key, 3);
    for (const id of first) await listen(key, id);
    const rest = await openMany(key, 3 * MAX);
    expect(await alive(key, first)).toBe(3);
    expect(await alive(key, rest.slice(0, MAX))).toBe(0);
  });

  it('share the places evenly when all want more', async () => {
    const keys = [await bearer(), await bearer(), await bearer(), await bearer()];
    const opened = keys.map(() => [] as string[]);
    for (let round = 0; round < 2 * MAX; round++)
      for (const [i, key] of keys.entries()) opened[i]?.push(await open(key));
    const left = await Promise.all(keys.map((key, i) => alive(key, opened[i] ?? [])));
    expect(left).toEqual(keys.map(() => MAX / keys.length));
  });

  it('with as many principals as places still take in another one', async () => {
    for (let i = 0; i < MAX; i++) await open(await bearer());
    const late = await bearer();
    expect(await alive(late, [await open(late)])).toBe(1);
    expect(surfaces.mcp.sessions.size).toBe(MAX);
  });
});

describe('a stream that only listens', () => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    surfaces = await startSurfaces();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const LISTEN = {
    jsonrpc: '2.0',
    id: 1,
    method: 'subscriptions/listen',
    params: {
      notifications: { resourceSubscriptions: ['svc://jobs/job_1'] },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  };

  function requestStream(authorization: string): Promise<Response> {
    return Promise.resolve(
      surfaces.http.request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: {
          ...ACCEPT,
          authorization,
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'subscriptions/listen',
        },
        body: JSON.stringify(LISTEN),
      }),
    );
  }

  it('leaves room for those of other keys, however many one key opens', async () => {
    const [greedy, other] = [await bearer(), await bearer()];
    const opened: Response[] = [];
    for (let i = 0; i < 1_000; i++) opened.push(await requestStream(greedy));
    const open = opened.filter(({ headers }) => headers.get('content-type') === 'text/event-stream');
    expect(open.length).toBeLessThan(1_000);
    expect(opened.at(-1)?.status).toBe(429);
    const late = await requestStream(other);
    expect(late.headers.get('content-type')).toBe('text/event-stream');
    for (const { body } of [...open, late]) await body?.cancel();
    expect((await requestStream(greedy)).status).toBe(200);
  });

  /** Opens one, and tells whether it has ended when time has passed. */
  async function stream(era: string, authorization: string): Promise<() => Promise<boolean>> {
    const response =
      era === '2025-11-25'
        ? await ask(authorization, await open(authorization), undefined, 'GET')
        : await requestStream(authorization);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const reader = response.body?.getReader();
    let over = false;
    const read = async (): Promise<void> => {
      over = (await reader?.read())?.done !== false;
      if (!over) await read();
    };
    void read();
    return async () => {
      surfaces.clock.time += 5_000;
      await vi.advanceTimersByTimeAsync(5_000);
      await new Promise((resolve) => setImmediate(resolve));
      return over;
    };
  }

  it.each(['2025-11-25', '2026-07-28'])('ends with its key, and with what the key may do (%s)', async (era) => {
    const keys = await Promise.all(['kept', 'narrowed', 'gone'].map(() => newKey(surfaces.keys)));
    const [kept, narrowed, gone] = await Promise.all(keys.map(({ token }) => stream(era, `Bearer ${token}`)));
    expect([await kept?.(), await narrowed?.(), await gone?.()]).toEqual([false, false, false]);
    await surfaces.keys.change(keys[1]?.key.id ?? 0, { scope: 'read' });
    await surfaces.keys.remove(keys[2]?.key.id ?? 0);
    // Guesses of the same network block only who has no valid key.
    const guess = `Bearer ${'0'.repeat(40)}==${'0'.repeat(40)}`;
    for (let wait = 0; wait <= 32; wait++) {
      surfaces.clock.time += wait * 1_000;
      await ask(guess, null, INITIALIZE);
    }
    expect((await ask(guess, null, INITIALIZE)).status).toBe(429);
    expect([await kept?.(), await narrowed?.(), await gone?.()]).toEqual([false, true, true]);
    expect(surfaces.mcp.sessions.size).toBe(era === '2025-11-25' ? 1 : 0);
  });
});

describe('MCP sessions with sealed ids', () => {
  const vaultOf = (letter: string) => {
    const key = Buffer.alloc(32, letter);
    return createVault([{ id: keyId(key), key }]);
  };
  const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };
  beforeEach(async () => {
    await surfaces.close();
    surfaces = await startSurfaces({ maxSessions: MAX, sessionSeal: vaultOf('a') });
  });

  it('come back after they made room for others', async () => {
    const [key, other] = [await bearer(), await bearer()];
    const ids = await openMany(key, 3 * MAX);
    expect(surfaces.mcp.sessions.size).toBeLessThan(MAX);
    expect(await alive(key, ids)).toBe(ids.length);
    expect(surfaces.mcp.sessions.size).toBeLessThan(MAX);
    expect(new Set(ids).size).toBe(ids.length);
    // Not with another key, and not in another spelling.
    expect(await alive(other, ids.slice(0, 3))).toBe(0);
    expect(await alive(key, [`${ids[0]}A`, (ids[0] ?? '').slice(0, -2), 'x'.repeat(5000)])).toBe(0);
  });

  it('go on in another process with the same key, for thirty days', async () => {
    const first = surfaces;
    const id = await open(await bearer());
    surfaces = await startSurfaces({ sessionSeal: vaultOf('b') });
    expect(await alive(await bearer(), [id])).toBe(0);
    await surfaces.close();
    surfaces = await startSurfaces({ sessionSeal: vaultOf('a') });
    const key = await bearer();
    // Two concurrent requests restore one session.
    const both = await Promise.all([ask(key, id, PING), ask(key, id, { ...PING, id: 3 })]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(surfaces.mcp.sessions.size).toBe(1);
    surfaces.clock.time += 31 * 24 * 60 * 60_000;
    expect(await alive(key, [id])).toBe(0);
    await first.close();
  });

  it('are over when their client ends them, and calls in them are answered', async () => {
    const key = `Bearer ${(await newKey(surfaces.keys)).token}`;
    const id = await open(key);
    const params = { name: 'svc-work-things-v1', arguments: { site_id_or_domain: 1, steps: 1000 } };
    const before = surfaces.begun();
    const call = ask(key, id, { jsonrpc: '2.0', id: 5, method: 'tools/call', params });
    await expect.poll(() => surfaces.begun()).toBeGreaterThan(before);
    expect((await ask(key, id, undefined, 'DELETE')).status).toBe(200);
    expect(await (await call).json()).toMatchObject({ id: 5, error: { message: expect.stringContaining('ended') } });
    expect(await alive(key, [id])).toBe(0);
  });

  it('outlive a second initialize and a wrong Accept', async () => {
    const key = await bearer();
    const id = await open(key);
    expect((await ask(key, id, INITIALIZE)).status).toBe(400);
    for (const [method, body] of [
      ['POST', PING],
      ['POST', INITIALIZE],
      ['GET', undefined],
    ] as const) {
      const response = await surfaces.http.request('http://127.0.0.1/mcp', {
        method,
        headers: { ...ACCEPT, accept: 'text/html', authorization: key, 'mcp-session-id': id },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      expect([400, 406]).toContain(response.status);
    }
    expect(await alive(key, [id])).toBe(1);
    await listen(key, id);
  });
});

it('begins the calls of one body in turns, which leave room for other work', async () => {
  const key = await bearer();
  const params = { ...INITIALIZE.params, protocolVersion: '2025-03-26' };
  const opened = await ask(key, null, { ...INITIALIZE, params });
  const session = opened.headers.get('mcp-session-id') ?? '';
  const call = (id: number) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'svc-look-things-v1', arguments: {} },
  });
  const turns = (count: number) =>
    turnsOf(async () => {
      const reply = await ask(
        key,
        session,
        Array.from({ length: count }, (_, index) => call(index + 2)),
      );
      expect((await reply.text()).match(/"isError":true/g)).toBeNull();
    });
  const one = await turns(1);
  expect(await turns(40)).toBeGreaterThanOrEqual(one + 35);
});
