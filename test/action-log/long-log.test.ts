/** A long log is read in parts, with turns for others in between, and every answer is that of the whole. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type Ask, type Ways, ways } from '../approvals/client.js';
import { turnsOf } from '../support/turns.js';

const ROWS = 12_000;
const SINCE = '2000-01-01T00:00:00Z';
/** After all that is appended here, and before what the service did itself. */
let until: string;

interface Entry {
  id: number;
  at: number;
  site_id: number | null;
  context: string;
  action: string;
  operation: string;
  request_id: string;
  actor: string;
  via: string;
  code: string;
}
interface Change {
  at: number;
  source: string;
  id: number;
  kind: string;
  action: string;
  by: string;
  failed: boolean;
}

let app: Ways;
let reader: Ask;
let person: string;
const log: Entry[] = [];
const changes: Change[] = [];

beforeAll(async () => {
  app = await ways({ sites: 1, connected: 1 });
  const { db, clock } = app.app;
  const begin = clock.now() - 90 * 86_400_000;
  until = new Date(begin + 86_400_000).toISOString();
  const [head] = await db.all('SELECT coalesce(max(id), 0) AS id FROM action_log');
  // Appended all at once, with hashes that are not looked at here.
  const [chained] = await db.all("SELECT sql FROM sqlite_schema WHERE name = 'action_log_chained'");
  await db.run('DROP TRIGGER action_log_chained');
  for (let i = 1; i <= ROWS; i++)
    log.push({
      id: Number(head?.id) + i,
      // Three of one millisecond, also where a part ends.
      at: begin + Math.floor(i / 3) * 1000,
      site_id: i % 4 === 0 ? null : 1,
      context: ['call', 'plugin', 'theme'][i % 3] ?? '',
      action: i % 11 === 0 ? 'activated' : 'updated',
      operation: i % 2 === 0 ? 'svc/update-site-plugins-v1' : 'svc/sync-sites-v1',
      request_id: `req-${i % 6_000}`,
      actor: `key ${i % 5}`,
      via: i % 7 === 0 ? 'rest' : 'mcp',
      code: i % 50 === 0 ? 'svc_update_failed' : '',
    });
  await db.run(
    `INSERT INTO action_log (id, at, actor_type, actor, via, operation, request_id, site_id, context, action, name, code, previous, hash)
     SELECT value ->> 'id', value ->> 'at', 'key', value ->> 'actor', value ->> 'via', value ->> 'operation', value ->> 'request_id',
       value ->> 'site_id', value ->> 'context', value ->> 'action', 'Item', value ->> 'code', '', '' FROM json_each(?)`,
    [JSON.stringify(log)],
  );
  await db.script(String(chained?.sql));
  const made = Array.from({ length: ROWS }, (_, i) => ({
    id: 100_000 + i,
    created: begin / 1000 + i * 0.7,
    action: i % 13 === 0 ? 'deleted' : 'installed',
    by: `user ${i % 3}`,
  }));
  await db.run('DELETE FROM site_change');
  await db.run(
    `INSERT INTO site_change (id, site_id, source, child_id, context, action, item, user_login, user_id, created)
     SELECT value ->> 'id', 1, 'x', value ->> 'id', 'plugin', value ->> 'action', 'Item', value ->> 'by', 1, value ->> 'created' FROM json_each(?)`,
    [JSON.stringify(made)],
  );
  for (const { id, at, context: kind, action, actor: by, code } of log)
    if (kind !== 'call') changes.push({ at, source: 'dashboard', id, kind, action, by, failed: code !== '' });
  for (const { id, created, action, by } of made)
    changes.push({ at: created * 1000, source: 'wpadmin', id, kind: 'plugin', action, by, failed: false });
  changes.sort((a, b) => b.at - a.at || (a.source < b.source ? -1 : a.source > b.source ? 1 : b.id - a.id));
  log.sort((a, b) => b.id - a.id);
  reader = await app.key({ scope: 'read' });
  person = await app.user(['read']);
});

describe('the list of actions', () => {
  const own = (entry: Entry) => entry.site_id === 1;
  it.each<[string, (entry: Entry) => boolean]>([
    ['', () => true],
    ['&result=done', ({ code }) => code === ''],
    ['&result=failed&via=rest', ({ code, via }) => code !== '' && via === 'rest'],
    ['&by=Y%203', ({ actor }) => actor === 'key 3'],
    ['&contexts=call,theme', ({ context }) => context !== 'plugin'],
    ['&contexts=nothing', () => false],
    ['&operation=svc/sync-sites-v1', ({ operation }) => operation === 'svc/sync-sites-v1'],
    ['&site=1', own],
    [
      '&site=1&operation=svc/sync-sites-v1&by=key%201',
      (entry) => own(entry) && entry.operation === 'svc/sync-sites-v1' && entry.actor === 'key 1',
    ],
    ['&request_id=req-17', ({ request_id }) => request_id === 'req-17'],
    [
      '&request_id=req-17&by=key&result=done&contexts=theme',
      ({ request_id, code, context }) => request_id === 'req-17' && code === '' && context === 'theme',
    ],
  ])('%s', async (filter, fits) => {
    const all = log.filter(fits);
    // The last begins in the middle of what is left, and so behind several parts.
    for (const page of [1, Math.ceil(all.length / 400), Math.ceil(all.length / 200)]) {
      const { body } = await reader(
        `GET /actions?since=${SINCE}&until=${until}&per_page=200&page=${Math.max(1, page)}${filter}`,
      );
      expect(body.total).toBe(all.length);
      const ids = body.data.map(({ id }: Entry) => id);
      expect(ids).toEqual(all.slice((page - 1) * 200, page * 200).map(({ id }) => id));
    }
  });

  it('a span of time has both its ends', async () => {
    const [first, last] = [log[9_000]?.at ?? 0, log[3_000]?.at ?? 0];
    const all = log.filter(({ at }) => at >= first && at <= last);
    const iso = (at: number) => new Date(at).toISOString();
    const { body } = await reader(`GET /actions?since=${iso(first)}&until=${iso(last)}&per_page=200`);
    expect([body.total, body.data[0].id]).toEqual([all.length, all[0]?.id]);
  });
});

describe('the search for changes', () => {
  it.each<[object, (change: Change) => boolean]>([
    [{}, () => true],
    [{ by: 'USER 1' }, ({ by }) => by === 'user 1'],
    [{ result: 'failed' }, ({ failed }) => failed],
    [{ kinds: ['theme'], actions: ['activated'] }, ({ kind, action }) => kind === 'theme' && action === 'activated'],
    [{ site_id_or_domain: 1, via: ['site'] }, ({ source }) => source === 'wpadmin'],
    [{ item: 'nothing' }, () => false],
  ])('%j', async (filter, fits) => {
    const all = changes.filter(fits);
    const input = { since: SINCE, until, per_page: 50, ...filter };
    for (const page of [1, Math.ceil(all.length / 50 / 2), Math.ceil(all.length / 50)].filter((n) => n > 0)) {
      const { body } = await app.run(person, 'search-changes', { ...input, page });
      expect(body.total).toBe(all.length);
      const shown = all.slice((page - 1) * 50, page * 50);
      expect(body.changes.map(({ by }: { by: string }) => by)).toEqual(shown.map(({ by }) => by));
    }
    const { body } = await app.run(person, 'search-changes', input);
    const counted = 'kinds' in filter ? changes : all;
    const expected = new Map<string, number>();
    for (const { kind, action } of counted)
      expected.set(`${kind} ${action}`, (expected.get(`${kind} ${action}`) ?? 0) + 1);
    expect(body.kinds.map((one: Change & { count: number }) => [`${one.kind} ${one.action}`, one.count])).toEqual(
      [...expected].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)),
    );
  });
});

it('the brief counts what was done, and on how many sites', async () => {
  const { body } = await app.run(person, 'get-fleet-brief', { since: SINCE });
  const done = log.filter(({ context, code }) => context !== 'call' && code === '');
  const count = (what: string) => done.filter(({ context, action }) => `${context} ${action}` === what).length;
  const counts = body.done.map((one: { what: string; count: number; sites: number }) => [
    one.what,
    one.count,
    one.sites,
  ]);
  const expected = ['plugin updated', 'theme updated', 'plugin activated', 'theme activated'].map((what) => {
    return [what, count(what), 1];
  });
  expect(counts).toEqual(expect.arrayContaining(expected));
  expect(counts.map(([, n]: number[]) => n)).toEqual(
    counts.map(([, n]: number[]) => n).sort((a: number, b: number) => b - a),
  );
});

describe('others get their turns while it is read', () => {
  const read = (of: string, query: string) => async () => {
    const { status } = await reader(`GET /${of}?${query}`);
    expect(status).toBe(200);
  };
  const run = (operation: string, input: object) => async () => {
    const { status } = await app.run(person, operation, input);
    expect(status).toBe(200);
  };
  const recent = () => new Date(app.app.clock.now() - 60_000).toISOString();

  it.each<[string, (since: string) => () => Promise<void>]>([
    ['actions', (since) => read('actions', `since=${since}&contexts=nothing`)],
    ['actions of one operation', (since) => read('actions', `since=${since}&operation=svc/sync-sites-v1&via=cli`)],
    ['actions of one site', (since) => read('actions', `since=${since}&site=1&via=cli`)],
    ['changes', (since) => run('search-changes', { since, item: 'nothing' })],
    ['changes of one site', (since) => run('search-changes', { since, item: 'nothing', site_id_or_domain: 1 })],
    ['the brief', (since) => run('get-fleet-brief', { since })],
  ])('%s', async (_what, work) => {
    // What is read first may load modules.
    await work(recent())();
    const short = await turnsOf(work(recent()));
    const long = await turnsOf(work(SINCE));
    // At least one more for each part after the first.
    expect(long).toBeGreaterThan(short);
  });

  it('the past of a policy', async () => {
    const approver = await app.page(await app.user(['read', 'write', 'approve']));
    const preview = async (name: string, minimum_age_days: number) => {
      const body = { name, minimum_age_days, schedule: { at: '02:00' }, enabled: false };
      const made = await approver('POST /policies', body);
      expect(made.body).toMatchObject({ data: { policy_id: expect.any(Number) } });
      const { policy_id } = made.body.data;
      return async () => expect((await reader(`GET /policies/${policy_id}/preview`)).status).toBe(200);
    };
    const [short, long] = [await preview('young', 0), await preview('old', 80)];
    // What each plans is stored.
    await short();
    await long();
    expect(await turnsOf(long)).toBeGreaterThan(await turnsOf(short));
  });

  it('and those who read at the same time begin no two parts in one turn', async () => {
    const work = read('actions', `since=${SINCE}&contexts=nothing`);
    const five = () => Promise.all([work(), work(), work(), work(), work()]);
    // Two parts after the first of each.
    expect(await turnsOf(five)).toBeGreaterThanOrEqual(10);
  });
});

/** The number just below. */
function below(value: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) - 1n);
  return bits.getFloat64(0);
}

it('is read to its end where a site dates more changes than a part has at a time that is rounded up', async () => {
  const { db, clock } = app.app;
  const since = clock.now() - 200 * 86_400_000;
  const rounded = Array.from({ length: 1_000 }, (_, i) => since + i).find((ms) => below(ms / 1000) * 1000 >= ms);
  const created = below((rounded ?? 0) / 1000);
  expect(created * 1000).toBe(rounded);
  await db.run(
    `INSERT INTO site_change (site_id, source, child_id, context, action, item, user_login, user_id, created)
     SELECT 1, 'y', value, 'plugin', 'updated', 'Item', 'nobody', 1, ? FROM json_each(?)`,
    [created, JSON.stringify([...Array(5_001).keys()])],
  );
  const iso = (at: number) => new Date(at).toISOString();
  const input = { since: iso(since), until: iso(since + 86_400_000), via: ['site'] };
  expect((await app.run(person, 'search-changes', input)).body.total).toBe(5_001);
  await db.run("DELETE FROM site_change WHERE source = 'y'");
});
