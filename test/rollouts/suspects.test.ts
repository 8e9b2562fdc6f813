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
