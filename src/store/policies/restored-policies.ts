/**
 * Policies of a restored backup do not act without being asked: a person may have switched them off since, or changed them, or
 * what they choose.
 */

import type { Db, Row } from '../driver/db.js';
import type { PolicyRow } from './policies.js';

/** Whether each is enabled, by the form of its name that is compared. */
export type Policies = ReadonlyMap<string, boolean>;

export interface RestoredPolicies {
  /** Names of those that were switched off since, and stay so. */
  off: string[];
  /** Names of those that acted without being asked, and ask now. */
  asking: string[];
}

export async function policiesOf(db: Db): Promise<Policies> {
  const rows = await db.all<PolicyRow>('SELECT name_key, enabled FROM policy');
  return new Map(rows.map(({ name_key, enabled }) => [String(name_key), enabled === 1]));
}

/** Times that were due before `now` are not made up for. @param last those of the database that is replaced; null = unknown */
export async function keepCautious(db: Db, last: Policies | null, now: number): Promise<RestoredPolicies> {
  await db.run('UPDATE policy SET due_at = max(due_at, ?)', [now]);
  await db.run(
    "UPDATE policy SET state = 'missed', detail = 'A backup was restored.' WHERE state IN ('begun', 'planned')",
  );
  const alone = await db.all<PolicyRow>(
    `UPDATE policy SET definition = json_set(definition, '$.approval', 'ask')
     WHERE definition ->> '$.approval' = 'auto' RETURNING name, enabled`,
  );
  const gone = [...(last ?? [])].flatMap(([key, enabled]) => (enabled ? [] : [key]));
  const off = await db.all(
    'UPDATE policy SET enabled = 0 WHERE enabled = 1 AND name_key IN (SELECT value FROM json_each(?)) RETURNING name',
    [JSON.stringify(gone)],
  );
  const namesOf = (rows: readonly Row[]) => rows.map(({ name }) => String(name)).sort();
  const names = namesOf(off);
  const asking = namesOf(alone.filter(({ enabled }) => enabled === 1)).filter((name) => !names.includes(name));
  return { off: names, asking };
}
