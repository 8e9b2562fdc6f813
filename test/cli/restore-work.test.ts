/** What was under way when a backup was made does not go on once it is restored: people may have stopped it since. */

import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { policyDefinition } from '../../schemas/policy.js';
import { backupTo } from '../../src/cli/database.js';
import { localActor } from '../../src/cli/local-actor.js';
import { restore } from '../../src/cli/restore.js';
import { addPolicy, changePolicy, deletePolicy, getPolicy } from '../../src/domain/policies/policies.js';
import { runPolicies } from '../../src/domain/policies/run.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { ordinary, running } from '../safety/safety-app.js';
import { tempFolder } from '../support/cleanup.js';
import { SYSTEM, type TestApp, testApp } from '../support/harness.js';

const SHELL = { actor: localActor('cli') };
const DAY = 86_400_000;
const SHOP = 'shop/shop.php';

/** What the command says, on either output. */
async function said(work: () => Promise<void>): Promise<string> {
  let text = '';
  const outputs = [process.stdout, process.stderr].map((output) =>
    vi.spyOn(output, 'write').mockImplementation((piece: unknown) => {
      text += String(piece);
      return true;
    }),
  );
  try {
    await work();
  } finally {
    for (const output of outputs) output.mockRestore();
  }
  return text;
}

async function fleet() {
  const folder = tempFolder('work');
  const config = {
    ...{ db: `file:${join(folder, 'fleet.db')}`, secret_key: 'a'.repeat(64) },
    ...{ batch_threshold: 1, job_delay_ms: 0 },
  };
  const open = () => testApp({ sites: 3, config, jobs: false });
  const app = await open();
  for (const [index, site] of app.fleet.sites.entries()) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    const shop = ordinary(site)[0];
    if (shop === undefined) throw new Error('a site without a plugin');
    const update = { version: '2.0', requiresPhp: '', requiresWp: '' };
    Object.assign(shop, { slug: SHOP, name: 'Shop', version: '1.0', active: true, premium: false, update });
    await app.connect(index);
  }
  const backup = join(folder, 'backup.db');
  return {
    app,
    open,
    backUp: () => said(() => backupTo(app.service.config, backup, {})),
    async restored() {
      await app.service.stop();
      return said(() => restore(app.service.config, backup, {}));
    },
    versions: () => app.fleet.sites.map((site) => ordinary(site)[0]?.version),
  };
}

async function startRollout(app: TestApp, waves: object = {}): Promise<string> {
  const { plan_id, digest } = await app.call('plan-updates', { types: ['plugins'], slugs: [SHOP], waves }, SHELL);
  return (await app.call('start-rollout', { plan_id, digest, confirm: true }, SHELL)).rollout_id;
}
const advance = (app: TestApp) => advanceRollouts(app.ctx({ actor: SYSTEM }));

it('cancels jobs, pauses rollouts, and says how many', async () => {
  const { app, open, backUp, restored, versions } = await fleet();
  const rollout_id = await startRollout(app);
  const { job_id } = await app.call('disconnect-sites', { site_ids_or_domains: [1, 2, 3] }, SHELL);
  await backUp();
  await app.call('cancel-job', { job_id, confirm: true }, SHELL);
  await app.call('control-rollout', { rollout_id, action: 'abort', confirm: true }, SHELL);
  const text = await restored();
  // One job is that of the rollout's first wave.
  expect(text).toContain('Jobs of the backup that had not ended, and have been cancelled: 2.');
  expect(text).toContain('Rollouts that were running in the backup, and are paused: 1.');

  const again = await open();
  await advance(again);
  await again.drain();
  expect(await again.call('get-batch-job-status', { job_id }, SHELL)).toMatchObject({ status: 'failed', succeeded: 0 });
  expect(await again.call('get-rollout', { rollout_id }, SHELL)).toMatchObject({
    state: 'paused',
    reason: expect.stringContaining('A backup was restored'),
  });
  const { items } = await again.call('list-sites', {}, SHELL);
  expect(items.map(({ status }: { status: string }) => status)).toEqual(['connected', 'connected', 'connected']);
  expect(versions()).toEqual(['1.0', '1.0', '1.0']);
  await again.close();
  await app.fleet.close();
});

it('has a rollout that is resumed look at its first sites before it goes on', async () => {
  const { app, open, backUp, restored, versions } = await fleet();
  const rollout_id = await startRollout(app, { canaries: 1, soak_minutes: 60, halt_sites: 1 });
  await advance(app);
  await running(app, app.drain());
  await advance(app);
  app.clock.move(61 * 60_000);
  // The sites of the first wave are to be looked at: the backup has that as a job.
  await advance(app);
  await backUp();
  const broken = app.fleet.sites.find((site) => ordinary(site)[0]?.version === '2.0');
  if (broken === undefined) throw new Error('no canary');
  broken.faults = { offline: true };
  await restored();
  const again = await open();
  again.clock.move(62 * 60_000);
  await again.call('control-rollout', { rollout_id, action: 'resume', confirm: true }, SHELL);
  for (let turn = 0; turn < 4; turn++) {
    await advance(again);
    await running(again, again.drain());
  }
  expect(await again.call('get-rollout', { rollout_id }, SHELL)).toMatchObject({ state: 'halted' });
  expect(versions().filter((version) => version === '2.0')).toHaveLength(1);
  await again.close();
  await app.fleet.close();
});

it('leaves policies off that were switched off since, and has the others ask', async () => {
  const { app, open, backUp, restored, versions } = await fleet();
  const definition = policyDefinition().parse({ approval: 'auto', schedule: { at: '13:00' }, types: ['plugins'] });
  const ids: Record<string, number> = {};
  for (const name of ['Same', 'Off', 'Changed', 'Deleted']) {
    const made = await addPolicy(app.ctx(SHELL), { ...definition, name, enabled: true } as never);
    ids[name] = made.policy_id;
  }
  await backUp();
  const ctx = app.ctx(SHELL);
  await changePolicy(ctx, Number(ids.Off), { enabled: false });
  await changePolicy(ctx, Number(ids.Changed), { level: ['patch'] });
  await deletePolicy(ctx, Number(ids.Deleted));
  const text = await restored();
  expect(text).toContain('Policies that were switched off since, and stay so: Off.');
  expect(text).toContain('and ask until a person changes that: Changed, Deleted, Same.');
  const again = await open();
  const { policies } = await again.call('list-policies', {}, SHELL);
  const found = await Promise.all(
    policies.map(async ({ policy_id, name }: { policy_id: number; name: string }) => {
      const { enabled, approval } = await getPolicy(again.ctx(SHELL), policy_id);
      return [name, enabled, approval];
    }),
  );
  expect(found.sort()).toEqual([
    ['Changed', true, 'ask'],
    ['Deleted', true, 'ask'],
    ['Off', false, 'ask'],
    ['Same', true, 'ask'],
  ]);
  expect(versions()).toEqual(['1.0', '1.0', '1.0']);
  await again.close();
  await app.fleet.close();
});

it.each(['begun', 'planned'])('has no policy carry out what it had %s', async (state) => {
  const { app, open, backUp, restored, versions } = await fleet();
  const definition = policyDefinition().parse({ approval: 'auto', schedule: { at: '13:00' }, types: ['plugins'] });
  await addPolicy(app.ctx(SHELL), { ...definition, name: 'Nightly', enabled: true } as never);
  const now = app.clock.now();
  app.clock.move(now - (now % DAY) + 13 * 3_600_000 - now);
  await runPolicies(app.ctx({ actor: SYSTEM }));
  // As if the process had died then.
  for (const table of ['job', 'update_run', 'rollout']) await app.db.run(`DELETE FROM ${table}`);
  await app.db.run('UPDATE policy SET state = ?', [state]);
  await backUp();
  await restored();
  const again = await open();
  again.clock.move(app.clock.now() - again.clock.now());
  await runPolicies(again.ctx({ actor: SYSTEM }));
  await advance(again);
  await running(again, again.drain());
  expect(versions()).toEqual(['1.0', '1.0', '1.0']);
  const [policy] = (await again.call('list-policies', {}, SHELL)).policies;
  expect(policy.last).toMatchObject({ state: 'missed', detail: 'A backup was restored.' });
  await again.close();
  await app.fleet.close();
});
