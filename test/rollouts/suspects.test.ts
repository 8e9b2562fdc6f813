/** An update of a rollout that was kept though something is suspect: the rollout says so, not only its run. */

import { expect, it } from 'vitest';
import { rolloutApp, SHOP } from './rollout-app.js';

it('is not just kept, in the rollout and in the list of them', async () => {
  const app = await rolloutApp(2);
  app.site(1).faults.breaks = { [`${SHOP}@2.0`]: 'drops_table' };
  const { rollout_id } = await app.start({ waves: { canaries: 2, soak_minutes: 0 } });
  await app.turn();
  await app.after(1);
  const rollout = await app.read(rollout_id);
  expect(rollout).toMatchObject({ state: 'completed', counts: { kept: 2 } });
  expect(rollout.summary).toBe('Updates: 2 kept. Suspect, though kept: 1.');
  expect(
    rollout.items.map(({ site_id, state, message }: Record<string, unknown>) => [site_id, state, message]),
  ).toEqual([
    [1, 'kept', undefined],
    [2, 'kept', expect.stringMatching(/^Suspect, though kept: The table \w+ has been dropped\.$/)],
  ]);
  const { rollouts } = await app.call('list-rollouts', {});
  expect(rollouts).toMatchObject([{ rollout_id, summary: rollout.summary }]);
});

it('tells of a plugin that its update left inactive under another name, and halts where that passes the limit', async () => {
  const app = await rolloutApp(4);
  const renamed = `${SHOP.split('/')[0]}/other-main.php`;
  for (const place of [0, 1, 2, 3]) app.site(place).faults.renames = { [SHOP]: renamed };
  const { rollout_id } = await app.start({ waves: { canaries: 1, soak_minutes: 0 } });
  await app.turn();
  await app.after(1);
  const rollout = await app.read(rollout_id);
  const [{ run_id }] = rollout.items.filter(({ state }: Record<string, unknown>) => state === 'kept');
  expect(rollout).toMatchObject({
    state: 'halted',
    reason: 'Updates failed on 1 of 1 sites of wave 1; the limit is 20 %.',
    counts: { kept: 1, untouched: 3 },
    summary: expect.stringMatching(/1 kept.*Suspect, though kept: 1\.$/),
  });
  const [item] = rollout.items.filter(({ state }: Record<string, unknown>) => state === 'kept');
  expect(item).toMatchObject({ slug: SHOP, code: 'svc_activation_failed', message: expect.stringContaining(renamed) });
  // The run tells the same, of one item.
  const run = await app.call('get-run', { run_id });
  expect(run.counts).toEqual({ kept: 1 });
  expect(run.items).toMatchObject([{ slug: SHOP, code: 'svc_activation_failed' }]);
});
