/** Undo accounts for all in its window: what any operation or route changes is undone, or listed with the reason. */

import { describe, expect, it } from 'vitest';
import { previewUndo } from '../../src/domain/undo/undo.js';
import { operations } from '../../tools/index.js';
import { everyOperation } from '../operations/cases.js';
import { type Answer, type TestApp, testApp } from '../support/harness.js';
import { connect, mcpApp } from '../support/mcp-clients.js';

/** What is in the log since an entry, but calls as such. */
function doneAfter(app: Pick<TestApp, 'db'>, id: number) {
  return app.db.all("SELECT * FROM action_log WHERE id > ? AND context <> 'call' AND code = '' ORDER BY id", [id]);
}

async function lastEntry(app: Pick<TestApp, 'db'>): Promise<number> {
  const [row] = await app.db.all('SELECT coalesce(max(id), 0) AS id FROM action_log');
  return Number(row?.id);
}

/** A time after all that is in the log, of an app that runs by the wall clock. */
async function sinceNow(app: Pick<TestApp, 'db'>): Promise<string> {
  const [row] = await app.db.all('SELECT max(at) + 1 AS at FROM action_log');
  const at = Number(row?.at);
  // The next entry is as late as that, or later.
  await expect.poll(() => Date.now()).toBeGreaterThan(at);
  return new Date(at).toISOString();
}

/** Entries that the plan of an undo names, on all of its pages. */
async function accounted(app: TestApp, since: string): Promise<{ ids: Set<number>; silent: unknown[] }> {
  const ids = new Set<number>();
  const silent: unknown[] = [];
  for (let page = 1; ; page++) {
    const plan = await previewUndo(app.ctx(), { since, page });
    for (const { action_ids } of plan.undo) for (const id of action_ids) ids.add(id);
    for (const error of plan.errors) {
      if ('action_id' in error) ids.add(Number(error.action_id));
      if (!/\.$/.test(error.message) || error.message.length < 20) silent.push(error);
    }
    if (page * 20 >= Math.max(plan.total_undo, plan.total_errors)) return { ids, silent };
  }
}

describe('every operation that changes something', () => {
  it('leaves its change in the log, and undo by time names it', async () => {
    const app = await testApp({ sites: 4, jobs: false, config: { batch_threshold: 3 } });
    for (let at = 0; at < 4; at++) await app.connect(at);
    const silent: unknown[] = [];
    const missed: unknown[] = [];
    const unlogged = new Set<string>();
    const logged = new Set<string>();
    await everyOperation(app, 4, async ({ name, input }) => {
      app.clock.move(1_000);
      const since = new Date(app.clock.now()).toISOString();
      const before = await lastEntry(app);
      const answer = await app.call(name, input);
      const operation = operations.find(({ id }) => id === `svc/${name}-v1`);
      if (operation?.effect === 'read' || operation?.change === 'refresh') return answer;
      const rows = await doneAfter(app, before);
      if (rows.length === 0) unlogged.add(name);
      else logged.add(name);
      const plan = await accounted(app, since);
      silent.push(...plan.silent);
      // Sites that are suspended with their client are restored with it.
      const own = rows.filter(({ context, slug }) => context !== 'site' || slug === '' || !/client/.test(name));
      missed.push(
        ...own
          .filter(({ id }) => !plan.ids.has(Number(id)))
          .map(({ context, action, slug, fields }) => [name, context, action, slug, fields]),
      );
      return answer;
    });
    expect(missed).toEqual([]);
    expect(silent).toEqual([]);
    for (const name of logged) unlogged.delete(name);
    // Each of these calls found nothing to do, or was a preview.
    expect([...unlogged].sort()).toEqual([
      'delete-site-themes',
      'restore-backup',
      'retry-run',
      'safe-update-site',
      'start-rollout',
      'unsuspend-sites',
      'update-site-core',
      'update-site-translations',
    ]);
    expect(logged.size).toBeGreaterThan(40);
  }, 120_000);
});

describe('a quarantine', () => {
  const held = { type: 'plugin', slug: 'held/held.php', version: '2.0' } as const;

  async function withHeld() {
    const mcp = await mcpApp({ sites: 1, connected: 1, config: { toolsets: ['safety', 'guard', 'support', 'undo'] } });
    const client = await connect(['2025-11-25', 'http'], mcp.target);
    const { app } = mcp;
    const call = async (name: string, input: Record<string, unknown>) =>
      (await client.call(name, input)).structuredContent as Answer;
    const entry = { name: 'Held', site_id: 1, site_url: 'https://example.com/', change_id: 'c', created_at: 1 };
    const row = { ...held, ...entry, type: 1, evidence: '["It broke."]' };
    await app.service.store.quarantine.add(row, { seen: true, fleet_until: null });
    const versions = async () => (await call('svc-list-quarantined-versions-v1', {})).versions;
    return { call, versions, since: await sinceNow(app) };
  }

  it('that was lifted holds the version back again, as it was, once that is undone by time', async () => {
    const { call, versions, since } = await withHeld();
    await call('svc-set-quarantine-scope-v1', { ...held, scope: 'fleet', reason: 'Seen elsewhere.' });
    const before = await versions();
    expect(before).toMatchObject([{ version: '2.0', scope: 'fleet', scope_reason: 'Seen elsewhere.' }]);
    await call('svc-lift-quarantine-v1', held);
    expect(await versions()).toEqual([]);
    const { actions } = await call('svc-list-actions-v1', { contexts: ['plugin'] });
    expect(actions[0]).toMatchObject({ action: 'quarantine-lifted', detail: 'version 2.0', can_undo: true });
    const lifted = await call('svc-undo-change-v1', { change_id: actions[0].id, confirm: true });
    expect(lifted).toMatchObject({ total_undone: 1, errors: [] });
    expect(await versions()).toEqual(before);
    // From then on: both are undone, so that the scope is as at first.
    const plan = await call('svc-undo-change-v1', { since, dry_run: true });
    expect(plan).toMatchObject({ total_undo: 1, errors: [] });
    expect(plan.undo[0].action_ids).toHaveLength(3);
    expect(await call('svc-undo-change-v1', { since, confirm: true })).toMatchObject({ total_undone: 1, errors: [] });
    expect(await versions()).toMatchObject([{ version: '2.0', scope: 'site', scope_by: null, scope_reason: null }]);
  });
});

describe('what no undo takes back', () => {
  it('names the call that does, by the name that the client knows', async () => {
    const mcp = await mcpApp({
      sites: 1,
      connected: 1,
      config: { toolsets: ['guidance', 'costs', 'undo'] },
    });
    const client = await connect(['2025-11-25', 'http'], mcp.target);
    const call = async (name: string, input: Record<string, unknown>) =>
      (await client.call(name, input)).structuredContent as Answer;
    const since = await sinceNow(mcp.app);
    await call('svc-add-guidance-v1', { text: 'Not before Monday.', site_id_or_domain: 1 });
    await call('svc-add-cost-v1', { name: 'Licence', price: '12.50', renewal_type: 'yearly', sites: [1] });
    const plan = await call('svc-undo-change-v1', { since, dry_run: true });
    expect(plan.total_undo).toBe(0);
    const told = plan.errors.map(({ kind, message }: Answer) => [kind, message]);
    expect(Object.fromEntries(told)).toEqual({
      guidance: 'To remove it: a person does so on the page.',
      cost: 'svc-delete-cost-v1 removes it.',
    });
  });
});
