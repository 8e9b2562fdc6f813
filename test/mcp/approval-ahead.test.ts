/** A preview says beforehand that its call will wait for a person, as the call then does. */

import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PRESET_RULES } from '../../schemas/approval.js';
import { operations } from '../../tools/index.js';
import { type Ask, type Ways, ways } from '../approvals/client.js';
import { tempFolder } from '../support/cleanup.js';
import type { Answer } from '../support/harness.js';
import { connect, type Driver, textOf } from '../support/mcp-clients.js';

let app: Ways;
let client: Driver;
/** Of site 7. */
let backup_id: string;

beforeAll(async () => {
  const config = { site_backup_dir: join(tempFolder('approval-ahead'), 'repository') };
  app = await ways({ sites: 7, connected: 7, fleet: { plugins: 4 }, config });
  await app.app.call('install-site-guard', { site_id_or_domain: 7 });
  ({ backup_id } = await app.app.call('back-up-site', { site_id_or_domain: 7 }));
  client = await connect(['2025-11-25', 'http'], { ...app.target, url: `${app.url}?toolsets=all` });
});

async function called(name: string, input: object = {}) {
  const result = await client.call(`svc-${name}-v1`, input as Record<string, unknown>);
  const texts = result.content.map((_, at) => textOf(result, at));
  return { failed: result.isError === true, answer: result.structuredContent as Answer, texts };
}
async function tool(name: string, input: object = {}): Promise<Answer> {
  const { failed, answer, texts } = await called(name, input);
  if (failed) throw new Error(texts.join('\n'));
  return answer;
}

/** For each operation with `dry_run` an input for which there is something to do. */
async function inputs(preset: string): Promise<Record<string, object>> {
  const { id: tag_id } = await app.app.call('add-tag', { name: `Shops ${preset}` });
  const { id: client_id_or_email } = await app.app.call('add-client', { name: 'Foo' });
  const { id: cost_id } = await app.app.call('add-cost', { name: 'Licence', price: 1, renewal_type: 'yearly' });
  const { id: task_id } = await app.app.call('add-time-task', { title: 'Work', duration_seconds: 60 });
  const { plan_id, digest } = await app.app.call('plan-updates', { waves: { canaries: 1, approve: true } });
  const { rollout_id } = await app.app.call('start-rollout', { plan_id, digest, confirm: true });
  const fresh = await tool('plan-updates', { level: ['major', 'minor', 'patch'] });
  const since = new Date(app.app.clock.now() - 60_000).toISOString();
  const [plugin] = (await app.app.call('get-site-plugins', { site_id_or_domain: 1 })).plugins;
  const themes = (await app.app.call('get-site-themes', { site_id_or_domain: 1 })).themes;
  const unused = themes.find(({ active }: Answer) => active !== true);
  const site = { site_id_or_domain: 1 };
  return {
    'run-updates': {},
    'update-all': {},
    'delete-site': site,
    'delete-site-plugins': { ...site, slugs: [plugin.slug] },
    'delete-site-themes': { ...site, slugs: [unused?.slug ?? 'none'] },
    'reconnect-sites': { site_ids_or_domains: [1, 2, 3, 4, 5, 6] },
    'switch-plugin': { plugin: plugin.slug, action: plugin.active ? 'deactivate' : 'activate' },
    'install-site-guard': site,
    'remove-site-guard': site,
    'safe-update-site': site,
    'delete-client': { client_id_or_email },
    'delete-tag': { tag_id },
    'delete-cost': { cost_id },
    'delete-time-task': { task_id },
    'tag-sites': { site_ids_or_domains: [1, 2, 3, 4, 5, 6, 7], add: [`Shops ${preset}`] },
    'update-monitors': { site_ids_or_domains: [1], interval: 30 },
    'start-rollout': { plan_id: fresh.plan_id, digest: fresh.digest },
    'control-rollout': { rollout_id, action: 'approve_next_wave' },
    'undo-change': { since },
    'restore-backup': { backup_id, what: 'site' },
  };
}

/** Of these the preview needs a job or a run that is under way. */
const WITHOUT = ['cancel-job', 'retry-run'];

describe('every preview', () => {
  const previews = operations.filter(({ effect, input }) => effect !== 'read' && 'dry_run' in input().shape);

  it.each(['open', 'careful', 'strict'] as const)(
    'says under %s rules whether its call waits or is refused, as the call then is',
    async (preset) => {
      await app.rules({ preset: 'open' });
      const input = await inputs(preset);
      const names = previews.map(({ id }) => id.replace(/^svc\/|-v1$/g, '')).filter((name) => !WITHOUT.includes(name));
      expect(names.sort()).toEqual(Object.keys(input).sort());
      await app.rules({ preset });
      const told: string[] = [];
      for (const name of names) {
        const args = input[name] ?? {};
        const { failed, answer, texts } = await called(name, { ...args, dry_run: true });
        // Such a call changes nothing, whatever the rules are.
        if (failed) continue;
        const { needs_approval } = answer;
        const next = texts.find((text) => text.startsWith('Next, once the user has agreed'));
        if (next !== undefined)
          expect([name, next.includes("it then waits for a person's approval")]).toEqual([
            name,
            needs_approval !== null,
          ]);
        if (preset === 'open') {
          expect([name, needs_approval]).toEqual([name, null]);
          continue;
        }
        const operation = operations.find(({ id }) => id === `svc/${name}-v1`);
        const confirm = operation?.effect === 'destroy' ? { confirm: true } : {};
        const digest = name === 'undo-change' ? { digest: answer.digest } : {};
        if (needs_approval === null) continue;
        told.push(name);
        const call = await called(name, { ...args, ...confirm, ...digest });
        expect([name, call.texts[0]]).toEqual([
          name,
          expect.stringMatching(/^svc_(approval_required|change_not_allowed)/),
        ]);
        const refused = (call.texts[0] ?? '').startsWith('svc_change_not_allowed');
        expect([name, needs_approval]).toEqual([
          name,
          expect.stringMatching(
            refused ? /^It would be refused/ : /^A person has to approve this(?: on .*)?, under the rule for /,
          ),
        ]);
        if (refused) continue;
        // What waits already is named.
        const again = await tool(name, { ...args, dry_run: true });
        const approval_id = /apr_[0-9a-f]{24}/.exec(call.texts[0] ?? '')?.[0] ?? 'none';
        if (name !== 'undo-change')
          expect([name, again.needs_approval]).toEqual([name, expect.stringContaining(approval_id)]);
        await tool('withdraw-approval', { approval_id });
      }
      if (preset === 'careful')
        expect(told).toEqual(expect.arrayContaining(['run-updates', 'start-rollout', 'tag-sites', 'delete-tag']));
      // Small and not about sites: it happens.
      if (preset === 'careful') {
        const small = { site_ids_or_domains: [1], add: ['Shops careful'] };
        expect((await tool('tag-sites', { ...small, dry_run: true })).needs_approval).toBeNull();
        expect((await tool('tag-sites', small)).total_changed).toBe(1);
      }
      if (preset === 'strict') expect(told.length).toBeGreaterThan(12);
      await app.rules({ preset: 'open' });
    },
  );
});

describe('of a plan', () => {
  it('names the rule that asks, where the rule for the same updates at once does not', async () => {
    await app.rules({ preset: 'open' });
    await app.rules({ rules: { rollouts: PRESET_RULES.careful.rollouts } });
    expect((await tool('run-updates', { dry_run: true })).needs_approval).toBeNull();
    const { plan_id, digest, needs_approval } = await tool('plan-updates');
    const rule = 'the rule for rollouts (more than 5 sites)';
    expect(needs_approval).toContain(rule);
    const { texts } = await called('start-rollout', { plan_id, digest, confirm: true });
    expect(texts[0]).toMatch(/^svc_approval_required/);
    expect(texts[0]).toContain(`, under ${rule}.`);
    const [approval_id] = /apr_[0-9a-f]{24}/.exec(texts[0] ?? '') ?? [];
    await tool('withdraw-approval', { approval_id });
    await app.rules({ preset: 'open' });
  });

  it('is in the plan, its summary and the preview of its start, over REST as well', async () => {
    await app.rules({ preset: 'careful' });
    const plan = await tool('plan-updates');
    expect(plan.needs_approval).toBe(
      `A person has to approve this on ${plan.sites} sites, under the rule for rollouts (more than 5 sites): the call makes a request and changes nothing; once that is approved, the call runs when it is repeated.`,
    );
    expect(plan.summary).toContain(plan.needs_approval);
    const start = { plan_id: plan.plan_id, digest: plan.digest };
    expect((await tool('start-rollout', { ...start, dry_run: true })).needs_approval).toBe(plan.needs_approval);
    const key: Ask = await app.key();
    const planned = (await key('POST /updates/plans', {})).body;
    expect(planned.plan.needs_approval).toBe(plan.needs_approval);
    const { plan_id, digest } = planned.plan;
    const preview = (await key('POST /rollouts', { plan_id, digest, dry_run: true })).body;
    expect(preview.needs_approval).toBe(plan.needs_approval);
    expect((await key('POST /updates/update', { dry_run: true })).body.needs_approval).toMatch(
      /^A person has to approve this on \d+ sites, under the rule for updates \(more than 5 sites\)/,
    );
    const one = (await key('POST /sites/1/guard', { dry_run: true })).body;
    expect(one).toMatchObject({ needs_approval: null });
    // A person with the right needs none.
    const page = await app.page(await app.user(['read', 'write', 'approve']));
    expect((await page('POST /updates/plans', {})).body.plan.needs_approval).toBeNull();
    await app.rules({ preset: 'open' });
    expect((await tool('plan-updates')).needs_approval).toBeNull();
  });

  it('says why: not every site has a guard, or it is small and guarded and needs none', async () => {
    await app.rules({ preset: 'careful' });
    await app.app.db.run('DELETE FROM site_guard');
    const site = { site_ids_or_domains: [1], types: ['plugins'] };
    expect((await tool('plan-updates', site)).needs_approval).toContain('(not every site has a guard)');
    await app.app.db.run(
      "INSERT OR REPLACE INTO site_guard (site_id, present, hello, looked_at) VALUES (1, 1, '{}', 1)",
    );
    const plan = await tool('plan-updates', site);
    expect(plan.needs_approval).toBeNull();
    await app.app.db.run('DELETE FROM site_guard');
    // Goes by the guards of now, not of when it was planned.
    const { plan_id, digest } = plan;
    const preview = await tool('start-rollout', { plan_id, digest, dry_run: true });
    expect(preview.needs_approval).toContain('(not every site has a guard)');
    await app.rules({ preset: 'open' });
  });
});

describe('a request that waits', () => {
  it('is in the brief of who asked, with the call that lists it, and can be withdrawn by them alone', async () => {
    await app.rules({ preset: 'careful' });
    const { id: tag_id } = await app.app.call('add-tag', { name: 'Old' });
    expect(JSON.stringify((await tool('get-fleet-brief')).needs_attention)).not.toContain('approval');
    await called('delete-tag', { tag_id, confirm: true });
    const brief = await tool('get-fleet-brief');
    const [matter] = brief.needs_attention.filter(({ matter }: Answer) => matter.includes('approval'));
    const { approvals, of } = await tool('list-approvals', { states: ['waiting'] });
    expect(approvals).toHaveLength(1);
    expect(of).toMatch(/^this caller only; people who may approve see the requests of others/);
    const { approval_id } = approvals[0];
    expect(matter).toMatchObject({
      matter: "requests of this caller waiting for a person's approval",
      count: 1,
      first: [expect.stringContaining(approval_id)],
      next: 'svc-list-approvals-v1 {"states":["waiting"]}',
    });
    const other = await app.key();
    expect((await other(`POST /approvals/${approval_id}/withdraw`)).status).toBe(404);
    const page = await app.page(await app.user(['read', 'write', 'approve']));
    expect((await page(`POST /approvals/${approval_id}/withdraw`)).status).toBe(403);

    expect(await tool('withdraw-approval', { approval_id })).toMatchObject({ state: 'withdrawn', decided_by: null });
    expect(JSON.stringify(await tool('get-fleet-brief'))).not.toContain('requests of this caller');
    const twice = await called('withdraw-approval', { approval_id });
    expect(twice.texts[0]).toMatch(/^svc_rest_conflict: The request is withdrawn already/);
    expect((await page(`POST /approvals/${approval_id}/approve`)).status).toBe(409);
    const log = await tool('list-actions', { contexts: ['approval'], per_page: 2 });
    expect(log.actions.map(({ action }: Answer) => action)).toEqual(['withdrawn', 'asked']);
    // The same call makes a new request.
    const again = await called('delete-tag', { tag_id, confirm: true });
    expect(again.texts.join()).toMatch(/apr_[0-9a-f]{24}/);
    expect(again.texts.join()).not.toContain(approval_id);
    await app.rules({ preset: 'open' });
  });

  it('that was approved and not used can be withdrawn as well: it does nothing then', async () => {
    const ask = await app.key();
    await app.rules({ preset: 'careful' });
    const { id } = await app.app.call('add-tag', { name: 'Kept' });
    const { approval_id } = (await ask(`DELETE /tags/${id}/remove`)).body.data;
    await app.shell.approve(approval_id);
    const withdrawn = await ask(`POST /approvals/${approval_id}/withdraw`);
    expect(withdrawn.body.data.state).toBe('withdrawn');
    expect((await ask(`DELETE /tags/${id}/remove`)).body.code).toBe('svc_approval_required');
    await app.rules({ preset: 'open' });
  });
});
