/** `GET /v2/events` over real HTTP: the events of the fleet, who receives them, and when a stream ends. */

import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { HttpListener } from '../../src/surfaces/http/server.js';
import { cheapHash } from '../support/cheap-hash.js';
import { type TestApp, testApp } from '../support/harness.js';
import { serveLocally } from '../support/local-server.js';
import { newKey } from '../support/logins.js';
import { silent } from '../support/surfaces.js';

let app: TestApp;
let listener: HttpListener;
let key: string;
const opened: ClientRequest[] = [];
/** Lines of the log. */
const lines: string[] = [];

beforeAll(async () => {
  // The reader polls the database in real time.
  app = await testApp({ sites: 3, realClock: true, log: { ...silent, info: (_facts, line) => void lines.push(line) } });
  for (let i = 0; i < 3; i += 1) await app.connect(i);
  listener = await serveLocally(await app.service.http());
  key = await bearer('read');
});
afterEach(() => {
  for (const stream of opened.splice(0)) stream.destroy();
});

async function bearer(scope: 'read' | 'write'): Promise<string> {
  return `Bearer ${(await newKey(app.service.store.keys, { scope })).token}`;
}

interface LiveEvent {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events field by field
  data: any;
  id: string | undefined;
}

interface Stream {
  status: number;
  headers: Record<string, unknown>;
  text(): string;
  events(): LiveEvent[];
  ended: Promise<void>;
  /** The id a browser sends when it reconnects. */
  lastId(): string;
}

function open(headers: Record<string, string>, path = '/v2/events'): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const asked = request(`${listener.url}${path}`, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      const ended = new Promise<void>((done) => response.once('close', () => done()));
      const events = () =>
        text
          .split('\n\n')
          .slice(0, -1)
          .flatMap((block) => {
            const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
            const event = fields.get('event');
            if (event === undefined) return [];
            return [{ event, data: JSON.parse(fields.get('data') ?? 'null') as unknown, id: fields.get('id') }];
          });
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: () => text,
        events,
        ended,
        lastId: () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '',
      });
    });
    asked.once('error', reject).end();
    // A cut stream is expected to fail.
    asked.on('error', () => undefined);
    opened.push(asked);
  });
}

async function until(stream: Stream, seen: (event: LiveEvent) => boolean): Promise<LiveEvent> {
  await expect.poll(() => stream.events().some(seen), { message: stream.text() }).toBe(true);
  return stream.events().find(seen) as LiveEvent;
}

const about =
  (event: string, facts: object = {}) =>
  (live: LiveEvent) =>
    live.event === event && Object.entries(facts).every(([name, value]) => live.data[name] === value);

let users = 0;
async function login(): Promise<{ name: string; headers: Record<string, string>; csrf: string }> {
  const name = `ada-${++users}`;
  const { store } = app.service;
  await store.users.add({ name, password_hash: hashed, rights: ['read', 'write'], now: Date.now() });
  const link = await store.loginLinks.add(name, Date.now(), Date.now() + 60_000);
  const reply = await fetch(`${listener.url}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ link }),
  });
  const { csrf } = (await reply.json()) as { csrf: string };
  return { name, headers: { Cookie: reply.headers.get('set-cookie')?.split(';')[0] ?? '' }, csrf };
}
const hashed = cheapHash('correct horse');

describe('the stream of events', () => {
  it('is one that browsers understand, with a key and with a session', async () => {
    const { headers } = await login();
    for (const given of [{ Authorization: key }, headers]) {
      const stream = await open(given);
      expect(stream.status).toBe(200);
      expect(stream.headers).toMatchObject({
        'content-type': 'text/event-stream; charset=UTF-8',
        'cache-control': 'no-store',
      });
      await expect.poll(stream.text).toMatch(/^retry: 2000\n\nid: [\w.]+\n\n/);
    }
    const head = await fetch(`${listener.url}/v2/events`, { method: 'HEAD', headers: { Authorization: key } });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=UTF-8']);
  });

  it('is refused without the right to read, with parameters, and without credentials', async () => {
    expect((await open({})).status).toBe(401);
    expect((await open({ Cookie: `sitefleet_session=${'x'.repeat(43)}` })).status).toBe(401);
    expect((await open({ Authorization: await bearer('write') })).status).toBe(403);
    const stream = await open({ Authorization: key }, '/v2/events?since=1');
    await stream.ended;
    expect([stream.status, JSON.parse(stream.text()).data.field]).toEqual([400, 'since']);
  });

  it('tells of a sync, of offers that changed with it, and of what was done', async () => {
    const stream = await open({ Authorization: key });
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    await until(stream, about('site', { id: 1 }));
    await app.call('suspend-site', { site_id_or_domain: 2 });
    await until(stream, about('site', { id: 2 }));
    expect(stream.events().some(about('site', { id: 3 }))).toBe(false);
    await until(stream, (live) => live.event === 'updates' && Number.isInteger(live.data.sites));
    await app.call('unsuspend-site', { site_id_or_domain: 2 });
  });

  it('tells how far a job is, until its end', async () => {
    const stream = await open({ Authorization: key });
    const { store } = app.service;
    const now = Date.now();
    await store.jobs.add(
      {
        id: 'sync_11111111-1111-4111-8111-111111111111',
        type: 'sync',
        params: {},
        sites: [1, 2],
        begun: false,
        refused: [],
        chunk: 20,
        delay_ms: 0,
        timeout_ms: 60_000,
        next_run_at: now + 3600_000,
      },
      now,
    );
    const queued = await until(stream, about('job', { status: 'queued' }));
    expect(queued.data).toEqual({
      id: 'sync_11111111-1111-4111-8111-111111111111',
      type: 'sync',
      status: 'queued',
      done: 0,
      failed: 0,
      total: 2,
    });
    await app.db.run('UPDATE job_site SET state = 3 WHERE position = 0');
    await until(stream, about('job', { done: 1, failed: 1 }));
    await app.db.run("UPDATE job SET status = 'failed', completed_at = ?", [Date.now()]);
    await until(stream, about('job', { status: 'failed' }));
    expect(stream.events().filter(about('job'))).toHaveLength(3);
  });

  it('tells how far a tool is with all sites, in the words of all jobs', async () => {
    const stream = await open({ Authorization: key });
    const id = 'renew_11111111-1111-4111-8111-111111111111';
    await app.service.store.toolJobs.add({ id, kind: 'renew', sites: [1, 2] }, Date.now());
    const queued = await until(stream, about('job', { id, status: 'queued' }));
    expect(queued.data).toEqual({ id, type: 'renew_connections', status: 'queued', done: 0, failed: 0, total: 2 });
    const listed = async () => {
      const reply = await fetch(`${listener.url}/v2/jobs?open=1`, { headers: { Authorization: key } });
      return (await reply.json()) as { total: number; running: number; data: Record<string, unknown>[] };
    };
    await app.db.run('UPDATE tool_job_site SET state = 1 WHERE job_id = ? AND position = 0', [id]);
    await app.db.run('UPDATE tool_job_site SET state = 2 WHERE job_id = ? AND position = 1', [id]);
    await until(stream, about('job', { id, done: 2, failed: 1 }));
    expect(await listed()).toMatchObject({
      ...{ total: 1, running: 1 },
      data: [
        { job_id: id, type: 'renew_connections', status: 'queued', processed: 2, succeeded: 1, failed: 1, by: null },
      ],
    });
    await app.db.run("UPDATE tool_job SET status = 'completed', completed_at = ? WHERE id = ?", [Date.now(), id]);
    await until(stream, about('job', { id, status: 'completed' }));
    expect(await listed()).toMatchObject({ total: 0, running: 0 });
    await app.db.run('DELETE FROM tool_job WHERE id = ?', [id]);
  });

  it('goes on where it was left', async () => {
    const first = await open({ Authorization: key });
    await expect.poll(first.lastId).not.toBe('');
    const id = first.lastId();
    opened.pop()?.destroy();
    await first.ended;
    const alert = "INSERT INTO alert (key, kind, site_id, at, facts) VALUES (?, 'monitor.down', 3, 1, '{}')";
    await app.db.run(alert, ['missed']);
    const again = await open({ Authorization: key, 'Last-Event-ID': id });
    const missed = await until(again, about('alert'));
    expect(missed.data).toEqual({ kind: 'monitor.down', site_id: 3 });
    expect(again.lastId()).not.toBe(id);
    const fresh = await open({ Authorization: key, 'Last-Event-ID': 'no id of ours' });
    await app.db.run(alert.replace('down', 'up'), ['new']);
    await until(fresh, about('alert', { kind: 'monitor.up' }));
  });

  it('ends with the session, and with the password', async () => {
    const [out, changed] = [await login(), await login()];
    const [first, second] = [await open(out.headers), await open(changed.headers)];
    expect([first.status, second.status]).toEqual([200, 200]);
    const headers = { ...out.headers, Origin: listener.url, 'X-Sitefleet-CSRF': out.csrf };
    expect((await fetch(`${listener.url}/session`, { method: 'DELETE', headers })).status).toBe(204);
    await first.ended;
    await app.service.store.users.change(changed.name, { password_hash: hashed });
    await second.ended;
  });

  it('ends with the key', async () => {
    const short = await bearer('read');
    const stream = await open({ Authorization: short });
    expect(stream.status).toBe(200);
    await app.db.run('DELETE FROM api_key WHERE id = (SELECT max(id) FROM api_key)');
    await stream.ended;
  });

  it('is open a few times per login, and a closed one gives its place back', async () => {
    const { headers } = await login();
    const streams: Stream[] = [];
    for (let i = 0; i < 13; i += 1) streams.push(await open(headers));
    expect(streams.map(({ status }) => status)).toEqual([...new Array(12).fill(200), 429]);
    const other = await login();
    expect((await open(other.headers)).status).toBe(200);
    opened[opened.length - 14]?.destroy();
    await streams[0]?.ended;
    await expect.poll(async () => (await open(headers)).status).toBe(200);
  });

  it('cuts a listener that does not read, and goes on for the others', async () => {
    const { hostname, port } = new URL(listener.url);
    const slow = connect(Number(port), hostname);
    const closed = new Promise<void>((done) => slow.once('close', () => done()));
    slow.on('error', () => undefined);
    await new Promise<void>((done) => slow.once('connect', () => done()));
    slow.pause();
    slow.write(`GET /v2/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: ${key}\r\n\r\n`);
    const other = await open({ Authorization: key });
    // Events of many kilobytes each: the system buffers several megabytes for a reader that is not reading.
    const kind = 'x'.repeat(30_000);
    let n = 0;
    const insert = () =>
      app.db.run(
        `INSERT INTO alert (key, kind, site_id, at, facts)
         WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 100) SELECT ? || n, ?, 1, 1, '{}' FROM i`,
        [`flood ${++n} `, kind],
      );
    const isCut = () => lines.includes('an event listener does not read: its connection is closed');
    while (!isCut()) {
      await insert();
      // Clients that read receive all of them.
      await expect.poll(() => other.text().length).toBeGreaterThan(3_000_000 * n);
    }
    // It notices the end once it reads.
    slow.resume();
    await closed;
    const before = other.text().length;
    await app.call('sync-sites', { site_ids_or_domains: [3] });
    await expect.poll(() => other.text().slice(before)).toContain('event: site\ndata: {"id":3}');
  });
});

/** The only listener of an app by the hand clock. `others` = sleepers of the app besides its reader. */
async function listening() {
  const own = await testApp({ sites: 1 });
  const { token } = await newKey(own.service.store.keys, { scope: 'read' });
  const http = await own.service.http();
  const others = own.clock.sleeping();
  const reply = await http.request('http://127.0.0.1/v2/events', { headers: { Authorization: `Bearer ${token}` } });
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
  return { own, others, reader };
}

describe('a stream on which nothing happens', () => {
  it('shows a sign of life every 15 seconds, and none while it tells of something', async () => {
    const { own, others, reader } = await listening();
    let text = '';
    const reading = (async () => {
      for (let part = await reader.read(); !part.done; part = await reader.read())
        text += Buffer.from(part.value).toString('utf8');
    })();
    const beats = () => text.split(':\n\n').length - 1;
    /** Until the service has told what there was to tell, and waits again. */
    const told = async () => {
      while (own.clock.sleeping() <= others) await new Promise(setImmediate);
    };
    /** Lets that time pass in steps, each of which the service notices. */
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= 500) {
        own.clock.move(500);
        await told();
      }
    };
    try {
      await expect.poll(() => text).toContain('retry: 2000');
      await told();
      for (const beat of [1, 2]) {
        await pass(12_000);
        expect(beats()).toBe(beat - 1);
        await pass(4000);
        await expect.poll(beats).toBe(beat);
      }
      // An event also counts as a sign of life: the next one is due an interval after it.
      await pass(10_000);
      await own.db.run(
        "INSERT INTO alert (key, kind, site_id, at, facts) VALUES ('one', 'monitor.down', NULL, 1, '{}')",
      );
      await pass(2000);
      await expect.poll(() => text).toContain('event: alert');
      await pass(10_000);
      expect(beats()).toBe(2);
      await pass(5000);
      await expect.poll(beats).toBe(3);
    } finally {
      await reader.cancel();
      await reading;
      own.clock.move(2000);
      await own.close();
    }
  });
});

describe('the last listener', () => {
  it('goes, and nothing is read any more: the service may have ended', async () => {
    const { own, others, reader } = await listening();
    const asked = () => own.db.log.filter((sql) => sql.includes('FROM site_detail) AS synced')).length;
    await expect.poll(() => own.clock.sleeping()).toBe(others + 1);
    own.clock.move(1000);
    await expect.poll(() => own.clock.sleeping()).toBe(others + 1);
    const before = asked();
    expect(before).toBeGreaterThan(0);
    await reader.cancel();
    own.clock.move(1000);
    await expect.poll(() => own.clock.sleeping()).toBe(others);
    expect(asked()).toBe(before);
    await own.close();
  });
});
