/** Stops what a restored backup would go on with: it may have been finished, or cancelled, since the backup was made. */

import type { Db } from '../driver/db.js';
import { createJobQueue } from './queue.js';

export interface StoppedWork {
  jobs: number;
  rollouts: number;
}

const UNKNOWN =
  'A backup was restored that was made before this site was finished. What happened since then is not known: sync it.';
const PAUSED = 'A backup was restored that was made while this ran. What happened since then is not known.';

/** Ends the jobs that have not ended, and pauses the rollouts that run, which a person can resume. */
export async function stopWork(db: Db, now: number): Promise<StoppedWork> {
  const queue = createJobQueue(db);
  // Once such a rollout is resumed, the sites of the wave are looked at before the next one begins.
  await db.run(
    'UPDATE rollout_wave SET check_job = NULL WHERE check_job IN (SELECT id FROM job WHERE completed_at IS NULL)',
  );
  const open = await db.all('SELECT id FROM job WHERE completed_at IS NULL');
  for (const { id } of open) await queue.cancel(String(id), UNKNOWN, now);
  const tools = await db.run(
    "UPDATE tool_job SET status = 'failed', completed_at = ?, owner = NULL, lease_until = NULL WHERE completed_at IS NULL",
    [now],
  );
  const rollouts = await db.run("UPDATE rollout SET state = 'paused', reason = ? WHERE state = 'running'", [PAUSED]);
  return { jobs: open.length + tools.changes, rollouts: rollouts.changes };
}
