/** What was under way when a backup was made does not go on once it is restored: people may have stopped it since. */

import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { backupTo } from '../../src/cli/database.js';
import { localActor } from '../../src/cli/local-actor.js';
import { restore } from '../../src/cli/restore.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { ordinary } from '../safety/safety-app.js';
import { tempFolder } from '../support/cleanup.js';
import { SYSTEM, testApp } from '../support/harness.js';

const SHELL = { actor: localActor('cli') };
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

it('cancels jobs, pauses rollouts, and says how many', async () => {
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
  const plan = await app.call('plan-updates', { types: ['plugins'], slugs: [SHOP] }, SHELL);
  const { plan_id, digest } = plan;
  const { rollout_id } = await app.call('start-rollout', { plan_id, digest, confirm: true }, SHELL);
  const { job_id } = await app.call('disconnect-sites', { site_ids_or_domains: [1, 2, 3] }, SHELL);
  const backup = join(folder, 'backup.db');
  await said(() => backupTo(app.service.config, backup, {}));
  await app.call('cancel-job', { job_id, confirm: true }, SHELL);
  await app.call('control-rollout', { rollout_id, action: 'abort', confirm: true }, SHELL);
  await app.service.stop();

  const text = await said(() => restore(app.service.config, backup, {}));
  // One job is that of the rollout's first wave.
  expect(text).toContain('Jobs of the backup that had not ended, and have been cancelled: 2.');
  expect(text).toContain('Rollouts that were running in the backup, and are paused: 1.');

  const again = await open();
  await advanceRollouts(again.ctx({ actor: SYSTEM }));
  await again.drain();
  expect(await again.call('get-batch-job-status', { job_id }, SHELL)).toMatchObject({ status: 'failed', succeeded: 0 });
  expect(await again.call('get-rollout', { rollout_id }, SHELL)).toMatchObject({
    state: 'paused',
    reason: expect.stringContaining('A backup was restored'),
  });
  const { items } = await again.call('list-sites', {}, SHELL);
  expect(items.map(({ status }: { status: string }) => status)).toEqual(['connected', 'connected', 'connected']);
  expect(app.fleet.sites.map((site) => ordinary(site)[0]?.version)).toEqual(['1.0', '1.0', '1.0']);
  await again.close();
  await app.fleet.close();
});
