/** The beginning of a run of updates: stored with the job that does its work, or by a call that does it now. */

import type { Statement } from '../driver/db.js';
import { insertRow } from '../driver/rows.js';

export interface NewRun {
  id: string;
  started_at: number;
  /** The process of the call. */
  owner: string;
  actor: string;
  /** JSON. */
  origin: string;
  /** JSON. */
  asked: string;
  /** How many were asked for. */
  sites: number;
}

export function newRun(run: NewRun): Statement {
  return insertRow('update_run', { ...run });
}
