import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { periodOf } from '../../src/domain/time-tracker/buckets.js';
import { tempFolder } from '../support/cleanup.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
beforeEach(async () => {
  app = await restApp({ sites: 1 });
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function ok(call: string, body?: unknown) {
  const reply = await app.rest(call, body === undefined ? {} : { body });
  expect(reply.body, `${call} ${JSON.stringify(reply.body)}`).toMatchObject({ success: 1 });
  return reply.body;
}
async function refused(call: string, body?: unknown) {
  const reply = await app.rest(call, body === undefined ? {} : { body });
  expect(reply.body).toMatchObject({ success: 0 });
  return { status: reply.status, code: reply.body.code, data: reply.body.data };
}
const add = async (body: object = {}) => (await ok('POST /time-tracker/tasks/add', { title: 'Work', ...body })).data;
const step = async (id: number, name: string) => (await ok(`POST /time-tracker/tasks/${id}/${name}`)).data;
const task = async (id: number) => (await ok(`GET /time-tracker/tasks/${id}`)).data;
const client = async (name: string, more: object = {}) => Number((await app.call('add-client', { name, ...more })).id);
const bucket = async (body: object = {}) =>
  (await ok('POST /time-tracker/buckets/add', { title: 'Hours', hours: '2', ...body })).data;

describe('timer', () => {
  test('runs, pauses, resumes and completes; every mark is the server’s time', async () => {
    const { id } = await add({ hourly_price: '90' });
    expect(await task(id)).toMatchObject({ status: 'idle', duration_seconds: 0, started_at: null, entries: [] });
    expect(await step(id, 'start')).toMatchObject({ status: 'running', started_at: '2026-11-20T12:00:00Z' });
    app.clock.move(10 * MINUTE + 500);
    expect(await task(id)).toMatchObject({
      duration_seconds: 600,
      total_price: 15,
      entries: [{ ended_at: null, seconds: 600 }],
    });
    await step(id, 'pause');
    app.clock.move(HOUR);
    expect(await task(id)).toMatchObject({ status: 'paused', duration_seconds: 600 });
    await step(id, 'start');
    app.clock.move(500);
    const done = await step(id, 'stop');
    // 600.5 s and 0.5 s: fractions of a second are not lost.
    expect(done).toMatchObject({ status: 'completed', duration_seconds: 601, completed_at: '2026-11-20T13:10:01Z' });
    expect((await task(id)).entries).toHaveLength(2);
  });

  const allowed: Record<string, string[]> = {
    idle: ['start'],
    running: ['pause', 'stop'],
    paused: ['start', 'stop'],
    completed: [],
  };
  const ways: Record<string, string[]> = {
    idle: [],
    running: ['start'],
    paused: ['start', 'pause'],
    completed: ['start', 'stop'],
  };
  test.each(Object.keys(allowed))('from %s takes only the steps of the table', async (state) => {
    for (const name of ['start', 'pause', 'stop']) {
      const { id } = await add();
      for (const way of ways[state] ?? []) await step(id, way);
      const reply = await app.rest(`POST /time-tracker/tasks/${id}/${name}`);
      if (allowed[state]?.includes(name)) expect(reply.status).toBe(200);
      else
        expect(reply).toMatchObject({
          status: 409,
          body: { code: 'svc_time_tracker_invalid_transition', data: { status_from: state } },
        });
    }
  });

  test('survives a restart of the process', async () => {
    const folder = tempFolder('time');
    const config = { db: `file:${join(folder, 'db.sqlite')}`, secret_key: 'a'.repeat(64) };
    const before = await restApp({ sites: 1, config });
    const { id } = (await before.rest('POST /time-tracker/tasks/add', { body: { title: 'Long', start: true } })).body
      .data;
    await before.close();
    const after = await restApp({ sites: 1, config });
    after.clock.move(HOUR);
    expect((await after.rest(`POST /time-tracker/tasks/${id}/stop`)).body.data).toMatchObject({
      duration_seconds: 3600,
    });
  });

  test('two callers at once: one step is taken, one refused', async () => {
    const { id } = await add();
    const replies = await Promise.all([1, 2].map(() => app.rest(`POST /time-tracker/tasks/${id}/start`)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await task(id)).entries).toHaveLength(1);
  });

  test('unknown tasks are 404', async () => {
    expect(await refused('POST /time-tracker/tasks/99/start')).toMatchObject({
      status: 404,
      code: 'svc_time_tracker_task_not_found',
    });
    expect(await refused('GET /time-tracker/tasks/99')).toMatchObject({ code: 'svc_time_tracker_task_not_found' });
  });
});

describe('rounding', () => {
  const round = (body: object) => ok('PUT /time-tracker/settings/edit', { rounding_enabled: true, ...body });
  test.each([
    ['nearest', 15, 7 * 60 + 29, 0],
    ['nearest', 15, 7 * 60 + 30, 900],
    ['nearest', 15, 22 * 60 + 30, 1800],
    ['up', 15, 1, 900],
    ['up', 15, 900, 900],
    ['down', 15, 1799, 900],
    ['up', 6, 361, 720],
    ['up', 60, 0, 0],
  ])('%s to %d minutes: %d s becomes %d s', async (rounding_direction, rounding_minutes, seconds, expected) => {
    await round({ rounding_direction, rounding_minutes });
    const { id } = await add({ duration_seconds: seconds, hourly_price: '3600' });
    expect(await task(id)).toMatchObject({
      duration_seconds: seconds,
      billable_seconds: expected,
      total_price: expected,
    });
  });

  test('a completed task keeps the rounding it was completed with', async () => {
    await round({ rounding_direction: 'up', rounding_minutes: 60 });
    const { id } = await add({ duration_seconds: 60, hourly_price: '10' });
    await step(id, 'stop');
    const open = await add({ duration_seconds: 60, hourly_price: '10' });
    await ok('PUT /time-tracker/settings/edit', { rounding_enabled: false });
    expect(await task(id)).toMatchObject({ billable_seconds: 3600, total_price: 10 });
    expect(await task(open.id)).toMatchObject({ billable_seconds: 60, total_price: 0.17 });
  });

  test('a client’s settings override the global ones and null goes back', async () => {
    const ada = await client('Ada', { client_email: 'ada@example.com' });
    await ok('PUT /time-tracker/clients/ada%40example.com/settings/edit', {
      rounding_enabled: true,
      rounding_minutes: 30,
      rounding_direction: 'up',
      hourly_price: '80.5',
    });
    const { id } = await add({ client_id: ada, duration_seconds: 60 });
    expect(await task(id)).toMatchObject({ billable_seconds: 1800, hourly_price: 80.5, total_price: 40.25 });
    expect((await ok(`GET /time-tracker/clients/${ada}/settings`)).data).toMatchObject({
      source: 'client',
      rounding_minutes: 30,
      decimals: 2,
    });
    await ok(`PATCH /time-tracker/clients/${ada}/settings/edit`, {
      rounding_enabled: null,
      rounding_minutes: null,
      rounding_direction: null,
      hourly_price: null,
    });
    expect((await ok(`GET /time-tracker/clients/${ada}/settings`)).data).toMatchObject({
      source: 'global',
      hourly_price: 0,
    });
    expect(await task(id)).toMatchObject({ billable_seconds: 60, hourly_price: 80.5 });
  });
});

describe('tasks', () => {
  test('a task takes the client of its site, and the price of its bucket', async () => {
    const site = await app.connect(0);
    const ada = await client('Ada', { selected_sites: [site] });
    const { id: bucket_id } = await bucket({ client_ids: [ada], hourly_price: '50' });
    const made = await add({ site_ids: `${site}`, bucket_id });
    expect(made).toMatchObject({
      client_id: ada,
      site_ids: [site],
      hourly_price: 50,
      timer_mode: 'count_up',
      remaining_seconds: null,
    });
    expect(await ok(`GET /time-tracker/sites/${site}/tasks`)).toMatchObject({ total: 1, site: { id: site } });
    expect(await ok(`GET /time-tracker/clients/${ada}/tasks`)).toMatchObject({ total: 1 });
  });

  test('unknown links and a bucket of somebody else are refused, and nothing is stored', async () => {
    const [ada, ben] = [await client('Ada'), await client('Ben')];
    const { id: bucket_id } = await bucket({ client_ids: [ada] });
    const cases: [object, string, string][] = [
      [{ client_id: 99 }, 'svc_rest_invalid_client_id', 'client_id'],
      [{ site_ids: [98, 99] }, 'svc_rest_invalid_site_id', 'site_ids[0]'],
      [{ bucket_id: 99 }, 'svc_time_tracker_bucket_not_found', 'bucket_id'],
      [{ client_id: ben, bucket_id }, 'svc_time_tracker_bucket_client_mismatch', 'bucket_id'],
      [{ bucket_id }, 'svc_time_tracker_bucket_client_mismatch', 'bucket_id'],
      [{ timer_mode: 'count_down' }, 'rest_invalid_param', 'timer_mode'],
      [{ hourly_price: '-1' }, 'rest_invalid_param', 'hourly_price'],
      [{ payment_status: 'free' }, 'rest_invalid_param', 'payment_status'],
      [{ title: '  ' }, 'rest_invalid_param', 'title'],
    ];
    for (const [input, code, field] of cases)
      expect(await refused('POST /time-tracker/tasks/add', { title: 'Work', ...input })).toMatchObject({
        code,
        data: { field },
      });
    expect(await refused('POST /time-tracker/tasks/add', { description: 'x' })).toMatchObject({
      code: 'rest_missing_callback_param',
      data: { params: ['title'] },
    });
    expect((await ok('GET /time-tracker')).total).toBe(0);
  });

  test('edit changes only what is sent, and respects the state', async () => {
    const { id } = await add({ description: 'first', hourly_price: '10' });
    expect((await ok(`PUT /time-tracker/tasks/${id}/edit`, { title: 'Other' })).data).toMatchObject({
      title: 'Other',
      description: 'first',
      hourly_price: 10,
    });
    expect((await ok(`PUT /time-tracker/tasks/${id}/edit`, { description: null })).data).toMatchObject({
      description: '',
    });
    // An empty form field clears a price as null does.
    expect((await ok(`PUT /time-tracker/tasks/${id}/edit`, { hourly_price: '' })).data).toMatchObject({
      hourly_price: 0,
    });
    await step(id, 'start');
    expect(await refused(`PUT /time-tracker/tasks/${id}/edit`, { timer_mode: 'count_up' })).toMatchObject({
      status: 409,
      data: { status_from: 'running', field: 'timer_mode' },
    });
    app.clock.move(HOUR);
    // The time on a running task is set to 10 minutes; the timer continues from there.
    expect((await ok(`PUT /time-tracker/tasks/${id}/edit`, { duration_seconds: 600 })).data).toMatchObject({
      status: 'running',
      duration_seconds: 600,
    });
    app.clock.move(MINUTE);
    expect(await step(id, 'stop')).toMatchObject({ duration_seconds: 660 });
    expect(await refused(`PUT /time-tracker/tasks/${id}/edit`, { duration_seconds: 1 })).toMatchObject({
      code: 'svc_time_tracker_invalid_transition',
    });
    expect(
      (await ok(`PUT /time-tracker/tasks/${id}/edit`, { payment_status: 'paid', hourly_price: '20' })).data,
    ).toMatchObject({ payment_status: 'paid', total_price: 3.67 });
    const cleared = await ok(`PUT /time-tracker/tasks/${id}/edit`, { payment_status: null });
    expect(cleared.data).toMatchObject({ payment_status: 'unbilled', total_price: 3.67 });
    expect(await refused(`PUT /time-tracker/tasks/${id}/edit`)).toMatchObject({ code: 'empty_body' });
    await ok(`DELETE /time-tracker/tasks/${id}/delete`);
    expect(await refused(`GET /time-tracker/tasks/${id}`)).toMatchObject({ status: 404 });
    expect(await app.db.all('SELECT * FROM time_entry')).toEqual([]);
  });

  test('lists filter, page and sum over all matches', async () => {
    await add({ title: 'Straße 100%', hourly_price: '10', duration_seconds: 1800 });
    app.clock.move(30 * HOUR);
    await add({ title: 'Blog', hourly_price: '0.1', duration_seconds: 3600, payment_status: 'paid' });
    const running = await add({ title: 'Shop', hourly_price: '0.2', start: true });
    app.clock.move(HOUR);
    const all = await ok('GET /time-tracker?per_page=1&orderby=title&order=asc');
    expect(all).toMatchObject({ total: 3, page: 1, per_page: 1, pages: 3, data: [{ title: 'Blog' }] });
    // 5 + 0.1 + 0.2, without floating-point errors.
    expect(all.summary).toEqual({ duration_seconds: 9000, billable_seconds: 9000, total_price: 5.3 });
    const ids = async (query: string) =>
      (await ok(`GET /time-tracker?${query}`)).data.map((item: { title: string }) => item.title);
    expect(await ids('status=running')).toEqual(['Shop']);
    expect(await ids('status=paused,running&order=asc')).toEqual(['Straße 100%', 'Blog', 'Shop']);
    expect(await ids('payment_status=paid')).toEqual(['Blog']);
    expect(await ids('search=STRASSE')).toEqual([]);
    expect(await ids('search=STRAßE%20100%25')).toEqual(['Straße 100%']);
    expect(await ids('dtsstart=2026-11-20&dtsstop=2026-11-20')).toEqual(['Straße 100%']);
    expect(await ids('dtsstart=2026-11-21&dtsstop=2026-11-21&order=asc')).toEqual(['Blog', 'Shop']);
    expect(await ids('page=9')).toEqual([]);
    expect(await refused('GET /time-tracker?dtsstart=2026-11-21')).toMatchObject({
      status: 400,
      code: 'incomplete_date_range',
    });
    expect(await refused('GET /time-tracker?status=asleep')).toMatchObject({ code: 'rest_invalid_param' });
    await step(running.id, 'stop');
  });

  test('a day ends where the next begins', async () => {
    app.clock.move(12 * HOUR);
    await add({ title: 'Up to midnight', duration_seconds: 3600 });
    const { id } = await add({ title: 'A moment', start: true });
    await step(id, 'stop');
    app.clock.move(1000);
    await add({ title: 'Over midnight', duration_seconds: 2 });
    const on = async (day: string) =>
      (await ok(`GET /time-tracker?dtsstart=${day}&dtsstop=${day}&orderby=id&order=asc`)).data.map(
        (item: { title: string }) => item.title,
      );
    expect(await on('2026-11-20')).toEqual(['Up to midnight', 'Over midnight']);
    expect(await on('2026-11-21')).toEqual(['A moment', 'Over midnight']);
  });
});

describe('buckets', () => {
  test('of a client that is deleted serve no other client', async () => {
    const [ada, ben] = [await client('Ada'), await client('Ben')];
    const own = await bucket({ client_ids: [ada] });
    const shared = await bucket({ client_ids: [ada, ben] });
    const open = await bucket();
    const { id } = await add({ client_id: ada, bucket_id: own.id, duration_seconds: 3600 });
    const preview = await app.call('delete-client', { client_id_or_email: ada, dry_run: true });
    expect(preview.warnings).toEqual(['1 hour bucket used only by this client is deleted with it.']);
    await app.call('delete-client', { client_id_or_email: ada, confirm: true });
    const left = (await ok('GET /time-tracker/buckets')).data as { id: number; client_ids: number[] }[];
    expect(left.map((one) => [one.id, one.client_ids]).sort()).toEqual([
      [shared.id, [ben]],
      [open.id, []],
    ]);
    expect(await task(id)).toMatchObject({ client_id: null, bucket_id: null, duration_seconds: 3600 });
  });

  test('count the billable time of the current period', async () => {
    const { id } = await bucket({ recurrence: 'monthly', starts_on: '2026-01-31' });
    expect((await ok(`GET /time-tracker/buckets/${id}`)).data).toMatchObject({
      hours: 2,
      used_seconds: 0,
      remaining_seconds: 7200,
      period_start: '2026-10-31',
      period_end: '2026-11-29',
      tasks: [],
    });
    const first = await add({ bucket_id: id, duration_seconds: 5400 });
    const second = await add({ bucket_id: id, timer_mode: 'count_down' });
    expect(second).toMatchObject({ remaining_seconds: 1800 });
    await step(second.id, 'start');
    app.clock.move(HOUR);
    expect(await task(second.id)).toMatchObject({ remaining_seconds: -1800, status: 'running' });
    const full = (await ok(`GET /time-tracker/buckets/${id}`)).data;
    expect(full).toMatchObject({
      used_seconds: 9000,
      remaining_seconds: -1800,
      overage_seconds: 1800,
      tasks_count: 2,
      tasks: [first.id, second.id],
    });
    await step(second.id, 'pause');
    app.clock.move(15 * 24 * HOUR);
    expect((await ok('GET /time-tracker/buckets?recurrence=monthly')).data).toMatchObject([
      { used_seconds: 0, period_start: '2026-11-30' },
    ]);
  });

  test('an entry that crosses into the next period counts in both, by its part', async () => {
    const { id } = await bucket({ recurrence: 'weekly', starts_on: '2026-11-14' });
    const { id: taskId } = await add({ bucket_id: id, start: true });
    app.clock.move(13 * HOUR); // an hour past midnight of the 21st
    await step(taskId, 'stop');
    expect((await ok(`GET /time-tracker/buckets/${id}`)).data).toMatchObject({
      period_start: '2026-11-21',
      used_seconds: 3600,
    });
  });

  test('a task that counts down counts down the bucket it was moved to', async () => {
    const [small, large] = [await bucket({ hours: '2' }), await bucket({ hours: '10' })];
    const { id } = await add({ bucket_id: small.id, timer_mode: 'count_down' });
    await step(id, 'start');
    app.clock.move(HOUR / 2);
    expect((await step(id, 'pause')).remaining_seconds).toBe(1.5 * 3600);
    const same = (await ok(`PUT /time-tracker/tasks/${id}/edit`, { title: 'Same', bucket_id: small.id })).data;
    expect(same.remaining_seconds).toBe(1.5 * 3600);
    const moved = (await ok(`PUT /time-tracker/tasks/${id}/edit`, { bucket_id: large.id })).data;
    expect(moved.remaining_seconds).toBe(9.5 * 3600);
    expect((await task(id)).remaining_seconds).toBe(9.5 * 3600);
    await step(id, 'start');
    app.clock.move(HOUR);
    expect((await task(id)).remaining_seconds).toBe(8.5 * 3600);
    // Changing the title moves nothing.
    await ok(`PUT /time-tracker/tasks/${id}/edit`, { title: 'Other' });
    await add({ bucket_id: large.id, duration_seconds: 3600 });
    expect((await task(id)).remaining_seconds).toBe(8.5 * 3600);
    expect(await step(id, 'stop')).toMatchObject({ remaining_seconds: 8.5 * 3600 });
  });

  test('serve clients, are listed for them, changed and deleted; tasks stay', async () => {
    const [ada, ben] = [await client('Ada'), await client('Ben')];
    const own = await bucket({ title: 'Own', client_ids: [ada] });
    await bucket({ title: 'All' });
    expect((await ok(`GET /time-tracker/clients/${ben}/buckets`)).data).toMatchObject([{ title: 'All' }]);
    expect(await ok(`GET /time-tracker/clients/${ada}/buckets`)).toMatchObject({ total: 2 });
    expect((await ok(`PUT /time-tracker/buckets/${own.id}/edit`, { hours: 7.5, client_ids: [] })).data).toMatchObject({
      hours: 7.5,
      client_ids: [],
      title: 'Own',
    });
    const { id } = await add({ bucket_id: own.id, client_id: ben });
    await ok(`DELETE /time-tracker/buckets/${own.id}/delete`);
    expect(await task(id)).toMatchObject({ bucket_id: null });
    expect(await refused(`GET /time-tracker/buckets/${own.id}`)).toMatchObject({
      status: 404,
      code: 'svc_time_tracker_bucket_not_found',
    });
    expect(await refused('POST /time-tracker/buckets/add', { title: 'x', hours: 0 })).toMatchObject({
      code: 'rest_invalid_param',
    });
    expect(await refused('POST /time-tracker/buckets/add', { title: 'x', hours: 1, client_ids: [99] })).toMatchObject({
      code: 'svc_rest_invalid_client_id',
    });
  });

  test.each([
    ['2024-01-31', 'monthly', '2024-02-29', '2024-02-29', '2024-03-30'],
    ['2024-01-31', 'monthly', '2024-02-28', '2024-01-31', '2024-02-28'],
    ['2020-02-29', 'yearly', '2026-02-27', '2025-02-28', '2026-02-27'],
    ['2020-02-29', 'yearly', '2026-02-28', '2026-02-28', '2027-02-27'],
    ['2026-01-01', 'quarterly', '2026-12-31', '2026-10-01', '2026-12-31'],
    ['2000-01-01', 'weekly', '2026-11-20', '2026-11-14', '2026-11-20'],
    ['2027-01-01', 'weekly', '2026-11-20', '2027-01-01', '2027-01-07'],
  ] as const)('from %s %s, on %s: %s to %s', (first, every, today, start, end) => {
    expect(periodOf(first, every, today, 'UTC')).toMatchObject({ start, end });
  });
});

describe('clients and settings', () => {
  test('sums of a client: billed, unbilled, given up', async () => {
    const ada = await client('Ada');
    await client('Ben');
    const log = (payment_status: string) =>
      add({ client_id: ada, hourly_price: '10', duration_seconds: 3600, payment_status });
    for (const status of ['unbilled', 'draft', 'paid', 'sent', 'write_off']) await log(status);
    const { data, total } = await ok('GET /time-tracker/clients?search=a&per_page=1');
    expect(total).toBe(1);
    expect(data).toMatchObject([
      {
        id: ada,
        tasks_count: 5,
        running_tasks: 0,
        duration_seconds: 18_000,
        billed_total: 20,
        unbilled_total: 20,
        buckets_count: 0,
        last_activity_at: '2026-11-20T12:00:00Z',
      },
    ]);
    expect((await ok(`GET /time-tracker/clients/${ada + 1}`)).data).toMatchObject({
      tasks_count: 0,
      last_activity_at: null,
      unbilled_total: 0,
    });
    expect(await refused('GET /time-tracker/clients/99')).toMatchObject({
      status: 404,
      code: 'svc_rest_invalid_client_id',
    });
    expect(await refused('GET /time-tracker/clients/no%40one.example/tasks')).toMatchObject({
      status: 404,
      code: 'svc_rest_invalid_client_data',
    });
  });

  test('settings are checked by name, unknown ones refused', async () => {
    expect((await ok('GET /time-tracker/settings')).data).toEqual({
      timer_mode: 'count_up',
      currency_symbol: '$',
      currency_position: 'left',
      thousand_separator: ',',
      decimal_separator: '.',
      decimals: 2,
      rounding_enabled: false,
      rounding_direction: 'nearest',
      rounding_minutes: 15,
      hourly_price: 0,
      source: 'global',
    });
    for (const [body, name] of [
      [{ rounding_minutes: 7 }, 'rounding_minutes'],
      [{ decimal_separator: ',' }, 'decimal_separator'],
      [{ decimals: 9 }, 'decimals'],
      [{ colour: 1 }, 'colour'],
    ] as const)
      expect((await refused('PUT /time-tracker/settings/edit', body)).data.params).toHaveProperty(name);
    expect(
      (await ok('PATCH /time-tracker/settings/edit', { decimal_separator: ',', thousand_separator: '.' })).data,
    ).toMatchObject({ decimal_separator: ',' });
    expect(
      (await ok('PATCH /time-tracker/settings/edit', { decimal_separator: null, thousand_separator: null })).data,
    ).toMatchObject({ decimal_separator: '.', thousand_separator: ',' });
  });

  test('the two separators differ also when one of them is cleared', async () => {
    const global = '/time-tracker/settings/edit';
    const signs = ({ data }: { data: Record<string, string> }) => `${data.decimal_separator}${data.thousand_separator}`;
    await ok(`PUT ${global}`, { decimal_separator: ',', thousand_separator: '.' });
    // Cleared alone, the decimal separator would become the point, which is already the thousand separator.
    expect((await refused(`PUT ${global}`, { decimal_separator: null })).data.params).toHaveProperty(
      'decimal_separator',
    );
    expect(signs(await ok('GET /time-tracker/settings'))).toBe(',.');
    expect(signs(await ok(`PUT ${global}`, { decimal_separator: null, thousand_separator: ' ' }))).toBe('. ');

    const ada = `/time-tracker/clients/${await client('Ada')}/settings`;
    await ok(`PUT ${ada}/edit`, { decimal_separator: ',', thousand_separator: '.' });
    expect((await refused(`PUT ${ada}/edit`, { decimal_separator: null })).data.params).toHaveProperty(
      'decimal_separator',
    );
    expect(signs(await ok(`GET ${ada}`))).toBe(',.');
    expect(signs(await ok(`PUT ${ada}/edit`, { decimal_separator: null, thousand_separator: null }))).toBe('. ');
  });

  test('without the module nothing answers', async () => {
    const off = await restApp({ sites: 1, config: { modules: ['logs'] } });
    const reply = await off.rest('GET /time-tracker');
    expect(reply).toMatchObject({
      status: 501,
      body: { code: 'svc_module_not_available', data: { module: 'time-tracker' } },
    });
  });
});
