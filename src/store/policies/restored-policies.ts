/** Policies of a restored backup do not act as they did then: a person may have switched them off, or changed them, since. */

import type { Db } from '../driver/db.js';
import type { PolicyRow } from './policies.js';

type Policy = Pick<PolicyRow, 'name' | 'enabled' | 'definition' | 'agreed_sites'>;
/** By the form of their name that is compared. */
export type Policies = ReadonlyMap<string, Policy>;

export interface RestoredPolicies {
  /** Names of those that were switched off since, and stay so. */
  off: string[];
  /** Names of those that ask before they act, because they are not those of the database that was replaced. */
  asking: string[];
}

export async function policiesOf(db: Db): Promise<Policies> {
  const rows = await db.all<PolicyRow>('SELECT name, name_key, enabled, definition, agreed_sites FROM policy');
  return new Map(rows.map((row) => [String(row.name_key), row]));
}

/**
 * Times that were due before `now` are not made up for. @param last those of the database that is replaced; null = unknown:
 * then each asks
 */
export async function keepCautious(db: Db, last: Policies | null, now: number): Promise<RestoredPolicies> {
  await db.run('UPDATE policy SET due_at = max(due_at, ?)', [now]);
  await db.run(
    "UPDATE policy SET state = 'missed', detail = 'A backup was restored.' WHERE state IN ('begun', 'planned')",
  );
  const restored: RestoredPolicies = { off: [], asking: [] };
  for (const [key, policy] of await policiesOf(db)) {
    if (policy.enabled === 0) continue;
    const since = last?.get(key);
    if (since?.enabled === 0) {
      await db.run('UPDATE policy SET enabled = 0 WHERE name_key = ?', [key]);
      restored.off.push(policy.name);
    } else if (actsAlone(policy) && !isSame(policy, since)) {
      await db.run("UPDATE policy SET definition = json_set(definition, '$.approval', 'ask') WHERE name_key = ?", [
        key,
      ]);
      restored.asking.push(policy.name);
    }
  }
  return restored;
}

const actsAlone = ({ definition }: Policy) => (JSON.parse(definition) as { approval?: unknown }).approval === 'auto';

function isSame(one: Policy, other: Policy | undefined): boolean {
  return other !== undefined && one.definition === other.definition && one.agreed_sites === other.agreed_sites;
}
