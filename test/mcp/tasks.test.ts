/** The tasks extension of 2026-07-28: work in the background as tasks, over HTTP as raw messages. */

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, it } from 'vitest';
import { queueJob } from '../../src/domain/actions/jobs.js';
import { listen } from '../../src/surfaces/http/server.js';
import { serveStdio } from '../../src/surfaces/mcp/stdio.js';
import { rolloutApp, SHOP } from '../rollouts/rollout-app.js';
import { runNextChunk } from '../support/chunks.js';
import { closing, tempFolder } from '../support/cleanup.js';
import { type Answer, SYSTEM } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { LOCAL, type McpApp, mcpApp } from '../support/mcp-clients.js';
import { modernRequest, type RawClient, sendModern } from '../support/mcp-messages.js';

const EXTENSION = 'io.modelcontextprotocol/tasks';
const DECLARED = { extensions: { [EXTENSION]: {} } };
const SITES = 4;

type Target = Omit<RawClient, 'capabilities'> & { capabilities?: object };

const send = (target: Target, method: string, params: Answer) =>
  sendModern({ capabilities: DECLARED, ...target }, method, params);

const call = async (target: Target, tool: string, args: object = {}): Promise<Answer> =>
  (await send(target, 'tools/call', { name: `svc-${tool}-v1`, arguments: args })).body.result;
const get = async (target: Target, taskId: string): Promise<Answer> =>
  (await send(target, 'tasks/get', { taskId })).body.result;

const UNKNOWN = { code: -32602, message: 'There is no task with this id.' };
const ACK = { resultType: 'complete', _meta: expect.anything() };

/** Says what is wrong with the structured content of a result, by the output schema that the tool shows to clients. */
async function problemsOf(target: Target, tool: string, result: Answer): Promise<unknown> {
  const { body } = await send(target, 'tools/list', {});
  const listed = body.result.tools.find(({ name }: { name: string }) => name === `svc-${tool}-v1`);
  const validate = new Ajv({ strict: false }).compile(listed.outputSchema);
  return validate(result.structuredContent) ? [] : validate.errors;
}

describe('jobs as tasks', () => {
  let mcp: McpApp;
  let all: Target;
  beforeAll(async () => {
    mcp = await mcpApp({
      sites: SITES,
      connected: SITES,
      jobs: false,
      config: { batch_threshold: 2, job_chunk: 1, job_delay_ms: 1, confirm: 'ask' },
    });
    all = { url: `${mcp.url}?toolsets=all`, authorization: mcp.all };
    const [plugin] = mcp.app.fleet.site(0).state.plugins;
    for (const { state } of mcp.app.fleet.sites)
      state.plugins = [{ ...(plugin as NonNullable<typeof plugin>), slug: 'one/one.php', name: 'One' }];
    await anew();
  });

  /** The next site of the only job. */
  async function chunk(): Promise<boolean> {
    await mcp.app.db.run('UPDATE job SET next_run_at = 0');
    return runNextChunk(mcp.app.ctx(), 'test');
  }
  async function finish(): Promise<void> {
    while (await chunk());
  }

  it('are advertised, and are for clients that declare them with the request', async () => {
    const { body } = await send(all, 'server/discover', {});
    expect(body.result.capabilities.extensions).toEqual({ [EXTENSION]: {} });
    const undeclared = { ...all, capabilities: {} };
    const missing = { code: -32021, data: { requiredCapabilities: DECLARED } };
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      expect((await send(undeclared, method, { taskId: 'x', inputResponses: {} })).body.error).toMatchObject(missing);
    const listen = { notifications: { taskIds: ['x'] } };
    expect(await send(undeclared, 'subscriptions/listen', listen)).toMatchObject({
      status: 400,
      body: { id: 1, error: missing },
    });
    const answer = await call(undeclared, 'sync-sites');
    expect(answer).toMatchObject({ resultType: 'complete', structuredContent: { queued: true } });
    expect(answer).not.toHaveProperty('taskId');
    await finish();
  });

  it('say how far they are, and end as the call would have', async () => {
    const created = await call(all, 'sync-sites');
    expect(created).toEqual({
      resultType: 'task',
      taskId: expect.stringMatching(/^sync_[0-9a-f-]{36}$/),
      status: 'working',
      statusMessage: '0 of 4 sites, 0 failed.',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+Z$/),
      lastUpdatedAt: expect.any(String),
      ttlMs: null,
      pollIntervalMs: 5000,
      _meta: expect.anything(),
      // The SDK adds it to every result of a call.
      content: [],
    });
    const { taskId } = created;
    await chunk();
    expect(await get(all, taskId)).toMatchObject({
      resultType: 'complete',
      status: 'working',
      statusMessage: '1 of 4 sites, 0 failed.',
    });
    await finish();
    const ended = await get(all, taskId);
    expect(ended).toMatchObject({ taskId, status: 'completed', statusMessage: '4 of 4 sites, 0 failed.' });
    // Ended jobs are kept for a day.
    expect(ended.ttlMs).toBeGreaterThanOrEqual(86_400_000);
    const { result } = ended;
    const direct = await call(all, 'sync-sites', { site_ids_or_domains: [1, 2] });
    expect(direct.resultType).toBe('complete');
    expect(result.structuredContent).toEqual({
      ...direct.structuredContent,
      synced: mcp.app.fleet.sites.map(({ url }, at) => ({ id: at + 1, url, name: expect.any(String) })),
      total_synced: SITES,
    });
    expect(result.structuredContent.synced.slice(0, 2)).toEqual(direct.structuredContent.synced);
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
    expect(result.isError).toBeUndefined();
    expect(await problemsOf(all, 'sync-sites', result)).toEqual([]);
    // There is nothing to answer, and nothing to end any more.
    const update = { taskId, inputResponses: { unknown: { action: 'accept' } } };
    expect((await send(all, 'tasks/update', update)).body.result).toEqual(ACK);
    expect((await send(all, 'tasks/cancel', { taskId })).body.result).toEqual(ACK);
    expect((await get(all, taskId)).status).toBe('completed');
  });

  /** Sites are connected again, and offer the update again. */
  async function anew(): Promise<void> {
    for (const { state } of mcp.app.fleet.sites)
      for (const plugin of state.plugins)
        Object.assign(plugin, {
          version: '1.0',
          active: true,
          update: { version: '2.0', requiresPhp: '', requiresWp: '' },
        });
    await mcp.app.db.run('UPDATE site SET disconnected = 0, suspended = 0');
    await mcp.app.call('sync-sites', { site_ids_or_domains: [1, 2] });
    await mcp.app.call('sync-sites', { site_ids_or_domains: [3, 4] });
  }

  /** Each with the list that it answers, if its entries do not differ from call to call. */
  const TOOLS: [tool: string, args: object, before: string, list?: string][] = [
    ['check-sites', {}, ''],
    ['reconnect-sites', {}, 'UPDATE site SET disconnected = 1', 'reconnected'],
    ['unsuspend-sites', {}, 'UPDATE site SET suspended = 1, disconnected = 1', 'unsuspended'],
    ['run-updates', { types: ['plugins'] }, ''],
    ['update-all', { slug: 'one/one.php' }, ''],
    ['switch-plugin', { plugin: 'one/one.php', action: 'deactivate' }, '', 'switched'],
    ['suspend-sites', {}, '', 'suspended'],
    ['disconnect-sites', {}, '', 'disconnected'],
  ];

  it.each(TOOLS)('%s ends as at once, with the errors of sites that failed', async (tool, args, before, list) => {
    await anew();
    if (before !== '') await mcp.app.db.run(before);
    mcp.app.fleet.site(2).faults = { offline: true };
    const { taskId } = await call(all, tool, { ...args, site_ids_or_domains: [1, 2, 3] });
    await finish();
    mcp.app.fleet.site(2).faults = {};
    const { status, result } = await get(all, taskId);
    expect(status).toBe('completed');
    expect(await problemsOf(all, tool, result)).toEqual([]);
    const { structuredContent: told } = result;
    // Two tools only mark sites, without asking them; a check tells a site that does not answer from an error.
    const marks = tool === 'suspend-sites' || tool === 'disconnect-sites';
    if (tool === 'check-sites') expect(told.summary).toEqual({ total_checked: 3, reachable: 2, unreachable: 1 });
    else expect(told.errors.map(({ site_id }: Answer) => site_id)).toEqual(marks ? [] : [3]);
    await anew();
    if (before !== '') await mcp.app.db.run(before);
    const direct = (await call(all, tool, { ...args, site_ids_or_domains: [1, 2] })).structuredContent;
    // Jobs keep no words on how sites were looked at; a direct run of updates has the count of errors in its summary.
    const { checked: _, not_checked: __, ...members } = direct;
    const extra = tool === 'run-updates' || tool === 'update-all' ? ['total_errors'] : [];
    expect(Object.keys(told).sort()).toEqual([...Object.keys(members), ...extra].sort());
    if (list !== undefined) expect(told[list].slice(0, 2)).toEqual(direct[list]);
  });

  it('say how much was done, however much of it fits into the answer', async () => {
    await anew();
    const { taskId } = await call(all, 'run-updates', { types: ['plugins'], site_ids_or_domains: [1, 2, 3] });
    await finish();
    await mcp.app.db.run(
      `WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 306)
       INSERT INTO job_item (job_id, position, number, site_id, done, facts)
       SELECT job_id, 0, i, site_id, 1, facts FROM job_item, n WHERE job_id = ? AND position = 0`,
      [taskId],
    );
    const { structuredContent: told } = (await get(all, taskId)).result;
    expect(told.summary).toEqual({ total_updated: 300, total_errors: 0, sites_updated: 3 });
    expect(told.truncated).toMatch(
      new RegExp(`\\b${told.updated.length} of 300 updated are shown\\..* svc-get-run-v1 `),
    );
    expect(JSON.stringify(told).length).toBeLessThan(20_000);
  });

  it('fail as a whole when no site succeeded', async () => {
    await anew();
    for (const site of mcp.app.fleet.sites) site.faults = { offline: true };
    const { taskId } = await call(all, 'sync-sites', { site_ids_or_domains: [1, 2, 3] });
    await finish();
    for (const site of mcp.app.fleet.sites) site.faults = {};
    const { status, statusMessage, result } = await get(all, taskId);
    expect([status, statusMessage, result.isError]).toEqual(['completed', '3 of 3 sites, 3 failed.', true]);
    expect(result.structuredContent).toMatchObject({ queued: false, total_synced: 0, total_errors: 3 });
    expect(result.content[0].text).toContain('svc_site_offline');
  });

  it('say that their time was up', async () => {
    const { taskId } = await call(all, 'check-sites', { site_ids_or_domains: [1, 2, 3] });
    await chunk();
    await mcp.app.service.store.jobs.reap(Date.now() + mcp.app.service.config.job_timeout_ms);
    const { status, result } = await get(all, taskId);
    expect([status, result.isError, result.content[0].text]).toEqual([
      'completed',
      true,
      expect.stringMatching(/^svc_job_timeout: /),
    ]);
    expect(result.structuredContent.summary.total_checked).toBe(1);
  });

  it('end when they are cancelled, by who may write, also where the tool for it is not shown', async () => {
    const { taskId } = await call({ ...all, url: mcp.url }, 'sync-sites');
    await chunk();
    const reader = { ...all, authorization: mcp.read };
    expect((await get(reader, taskId)).status).toBe('working');
    for (const target of [reader, { ...all, url: `${mcp.url}?readonly=1` }])
      expect((await send(target, 'tasks/cancel', { taskId })).body.error).toMatchObject({
        data: { code: expect.stringMatching(/permission/) },
      });
    expect((await get(all, taskId)).status).toBe('working');
    expect((await send({ ...all, url: mcp.url }, 'tasks/cancel', { taskId })).body.result).toEqual(ACK);
    const { status, result } = await get(all, taskId);
    expect([status, result]).toEqual(['cancelled', undefined]);
    expect((await send(all, 'tasks/cancel', { taskId })).body.result).toEqual(ACK);
    expect(await mcp.app.call('get-batch-job-status', { job_id: taskId })).toMatchObject({ succeeded: 1, failed: 3 });
  });

  it('are unknown in one wording, whatever the reason', async () => {
    const { taskId } = await call(all, 'sync-sites');
    await finish();
    const none = '_00000000-0000-4000-8000-000000000000';
    // Queued by the service itself, for no call.
    const own = `check_${randomUUID()}`;
    await queueJob(mcp.app.ctx({ actor: SYSTEM }), 'check', { sites: [], errors: [] }, {}, { id: own });
    expect(
      (await send(all, 'tools/call', { name: 'svc-get-batch-job-status-v1', arguments: { job_id: own } })).body.result
        .structuredContent.job_id,
    ).toBe(own);
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      for (const [target, id] of [
        [all, own],
        [all, `sync${none}`],
        [all, `rollout${none}`],
        [all, ''],
        [all, `sync_${'x'.repeat(1000)}`],
        [all, 'sync_\0'],
        [{ ...all, url: `${mcp.url}?toolsets=sites` }, taskId],
      ] as const) {
        const name = { 'mcp-name': `=?base64?${Buffer.from(id).toString('base64')}?=` };
        const { body } = await send({ ...target, headers: name }, method, { taskId: id, inputResponses: {} });
        expect([method, id, body.error]).toEqual([method, id, expect.objectContaining(UNKNOWN)]);
      }
    // A connection that could not follow a task gets none.
    const hidden = await call({ ...all, url: `${mcp.url}?toolsets=sites` }, 'sync-sites');
    expect(hidden).toMatchObject({ resultType: 'complete', structuredContent: { queued: true } });
    await finish();
  });

  it('are the same over stdio', async () => {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const lines = createInterface(stdout)[Symbol.asyncIterator]();
    const served = serveStdio({ core: mcp.core, actor: LOCAL, stdin, stdout, signal: new AbortController().signal });
    const ask = async (method: string, params: Answer, capabilities: object = DECLARED): Promise<Answer> => {
      stdin.write(`${JSON.stringify(modernRequest({ capabilities }, method, params))}\n`);
      return JSON.parse((await lines.next()).value as string) as Answer;
    };
    const { result } = await ask('tools/call', { name: 'svc-sync-sites-v1', arguments: {} });
    expect(result).toMatchObject({ resultType: 'task', status: 'working' });
    const { taskId } = result;
    expect((await ask('tasks/cancel', { taskId })).result).toEqual(ACK);
    expect((await ask('tasks/get', { taskId })).result.status).toBe('cancelled');
    expect((await ask('tasks/get', { taskId }, {})).error.code).toBe(-32021);
    const listen = { notifications: { taskIds: [taskId] } };
    expect(await ask('subscriptions/listen', listen, {})).toMatchObject({ id: 1, error: { code: -32021 } });
    expect(await ask('subscriptions/listen', listen)).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: {} },
    });
    stdin.end();
    await served;
  });

  it('are named in the header, too', async () => {
    const { taskId } = await call(all, 'sync-sites');
    const wrong = await send({ ...all, headers: { 'mcp-name': 'another' } }, 'tasks/get', { taskId });
    expect(wrong).toMatchObject({ status: 400, body: { error: { code: -32020 } } });
    await finish();
  });

  it('begin once the user has agreed', async () => {
    await anew();
    const asking = { ...all, capabilities: { ...DECLARED, elicitation: {} } };
    const params = { name: 'svc-run-updates-v1', arguments: { types: ['plugins'] } };
    const { resultType, requestState, ...question } = (await send(asking, 'tools/call', params)).body.result;
    expect([resultType, question]).toEqual([
      'input_required',
      expect.not.objectContaining({ taskId: expect.anything() }),
    ]);
    const inputResponses = { confirm: { action: 'accept', content: { confirm: true } } };
    const created = (await send(asking, 'tools/call', { ...params, requestState, inputResponses })).body.result;
    expect(created).toMatchObject({ resultType: 'task', status: 'working' });
    expect(created).not.toHaveProperty('requestState');
    await finish();
    expect((await get(all, created.taskId)).result.structuredContent.updated).toHaveLength(SITES);
  });

  it('are none where the answer says what no job keeps', async () => {
    await anew();
    const args = { site_ids_or_domains: [1, 2, 3], specific_items: ['one/one.php', 'no/such.php'] };
    expect(await call(all, 'run-updates', args)).toMatchObject({
      resultType: 'complete',
      structuredContent: { queued: true, errors: [{ code: 'svc_no_updates' }] },
    });
    await finish();
  });
});

it('tasks outlive the program', async () => {
  const db = `file:${join(tempFolder('tasks'), 'fleet.db')}`;
  const config = { db, secret_key: 'a'.repeat(64), batch_threshold: 1, job_chunk: 1, job_delay_ms: 0 };
  const first = await mcpApp({ sites: 2, connected: 2, jobs: false, config });
  const before = { url: first.url, authorization: first.all };
  const ended = await call(before, 'sync-sites');
  while (await runNextChunk(first.app.ctx(), 'test'));
  const { result } = await get(before, ended.taskId);
  const waiting = await call(before, 'sync-sites');
  await first.close();
  const second = await mcpApp({ sites: 1, jobs: false, config });
  const after = { url: second.url, authorization: second.all };
  expect((await get(after, ended.taskId)).result).toEqual(result);
  expect(await get(after, waiting.taskId)).toMatchObject({ status: 'working', createdAt: waiting.createdAt });
  expect((await send(after, 'tasks/cancel', { taskId: waiting.taskId })).body.result).toEqual(ACK);
  expect((await get(after, waiting.taskId)).status).toBe('cancelled');
});

describe('rollouts as tasks', () => {
  it('work until they end, and wait for people', async () => {
    const app = await rolloutApp(3, { guards: false });
    const http = closing(await listen(await app.service.http(), { host: '127.0.0.1', port: 0 }));
    const { token } = await newKey(app.service.store.keys, { scope: 'read_write', description: 'all' });
    const target = { url: `${http.url}/mcp?toolsets=all`, authorization: `Bearer ${token}` };
    const start = async (waves: object) => {
      const { plan_id, digest } = await app.plan({ waves });
      return app.running(call(target, 'start-rollout', { plan_id, digest, confirm: true }));
    };
    const created = await start({ canaries: 1, soak_minutes: 0, approve: true });
    expect(created).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^rollout_/),
      status: 'working',
    });
    const { taskId } = created;
    await app.turn();
    const waiting = await get(target, taskId);
    expect(waiting).toMatchObject({ status: 'working', ttlMs: null });
    expect(waiting.statusMessage).toMatch(/Wave 2 is waiting for approval\. A person approves it on the page\.$/);
    expect((await send(target, 'tasks/cancel', { taskId })).body.result).toEqual(ACK);
    await app.turn();
    expect((await get(target, taskId)).status).toBe('cancelled');
    expect((await send(target, 'tasks/cancel', { taskId })).body.result).toEqual(ACK);
    const next = await start({ canaries: 1, soak_minutes: 0 });
    await app.turn();
    await app.turn();
    const { status, result } = await get(target, next.taskId);
    expect([status, result.isError]).toEqual(['completed', undefined]);
    expect(result.structuredContent).toMatchObject({
      rollout_id: next.taskId,
      state: 'completed',
      already_started: false,
      sites: 2,
    });
    expect(await problemsOf(target, 'start-rollout', result)).toEqual([]);
    // A version that breaks its site goes to no other.
    for (const plugin of app.plugins) plugin.update = { version: '3.0', requiresPhp: '', requiresWp: '' };
    for (const site of app.fleet.sites) site.faults.breaks = { [`${SHOP}@3.0`]: 'fatal' };
    await app.call('sync-sites', {});
    const halted = await start({ canaries: 1, soak_minutes: 0 });
    await app.turn();
    const broken = (await get(target, halted.taskId)).result;
    expect(broken).toMatchObject({ isError: true, structuredContent: { state: 'halted' } });
    expect(broken.content[0].text).toBe(
      'Updates: 1 failed, 2 never touched. Every update that is left broke a site before.',
    );
  });
});
