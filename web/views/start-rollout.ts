/** Starting a plan, with the digest that was shown. */

import { answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import { trying } from '../parts/toast.js';
import { rolloutAddress } from './rollout-states.js';

/** The address of the rollout; null if it was not started, and why was told. */
export async function startPlan({ plan_id, digest }: { plan_id: string; digest: string }): Promise<string | null> {
  let address: string | null = null;
  await trying(async () => {
    const { message, rollout_id } = await answer(api.POST('/rollouts', { body: { plan_id, digest } }));
    if (rollout_id !== undefined) address = rolloutAddress(rollout_id);
    return message;
  });
  // It may have lapsed, or wait for an approval now.
  refresh('rollouts:', 'now:', 'updates:', 'approvals:');
  return address;
}
