/** Whether an update can be rolled back, and why not. Pure. */

import { siteWord } from '../../../../schemas/site-text.js';
import type { changeFields } from '../../../../schemas/update.js';
import type { z } from '../../../../schemas/zod.js';
import type { RunItemState, ToldRunItem } from '../../../store/updates/runs.js';
import { type Applied, BROKE, UPDATE_TYPES } from '../results.js';

/** The members of an entry about its record. */
export function changeMembers({ change_id, can_roll_back, cannot_roll_back_because }: Applied): ChangeMembers {
  return {
    ...(change_id !== undefined && { change_id }),
    ...(can_roll_back !== undefined && { can_roll_back }),
    ...(cannot_roll_back_because !== undefined && { cannot_roll_back_because }),
  };
}

export type ChangeMembers = z.output<z.ZodObject<ReturnType<typeof changeFields>>>;

/** How long the guard of a site keeps a copy. */
const KEPT_MS = 14 * 24 * 3_600_000;

export type RollBackMember = { can_roll_back: true } | { can_roll_back: false; cannot_roll_back_because: string };

/** Members of an answer about one item of a run. */
export function rollBackMember(item: ToldRunItem, now: number): RollBackMember {
  const why = obstacle(item, now);
  return why === null ? { can_roll_back: true } : { can_roll_back: false, cannot_roll_back_because: why };
}

export function isInProgress(state: RunItemState): boolean {
  return state === 'queued' || state === 'updating' || state === 'checking';
}

/** Null: it can be. */
function obstacle(item: ToldRunItem, now: number): string | null {
  const { type, state, code, old_version, protection, copied } = item;
  if (state === 'rolled_back') return 'It was rolled back.';
  if (isInProgress(state)) return 'It is in progress.';
  if (state === 'unknown') return 'It is not known whether it was installed.';
  if (state === 'skipped' || (state === 'failed' && code !== BROKE)) return 'It was not installed.';
  const kind = UPDATE_TYPES[type];
  if (kind === 'core') return 'WordPress itself cannot be rolled back.';
  if (kind === 'translation') return 'Translations cannot be rolled back.';
  if (protection === 'reinstall') return null;
  if (protection === 'none' || copied === 0) return `No guard kept a copy of ${siteWord(old_version)}.`;
  return now - (item.settled_at ?? now) > KEPT_MS ? 'Copies are kept for 14 days.' : null;
}
