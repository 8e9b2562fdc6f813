/** No instant that work waits for is forgotten when stored times are corrected after a step of the clock. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createClockSteps } from '../../src/store/cluster/clock-steps.js';
import type { Db } from '../../src/store/driver/db.js';
import { migrate } from '../../src/store/driver/migrate.js';
import { openDb } from '../../src/store/driver/open.js';
import { migrations } from '../../src/store/schema/index.js';
import { tempFolder } from '../support/cleanup.js';

/** Names of columns that hold when something is due, or was alive. */
const WAITED_FOR = /^(next_|due_|watch_|alive_|tried_).*at$|until$|^next_at$|^not_before$/;

const FOR_PEOPLE = 'a person has chosen the date, and nothing waits for it';
const EXCEPT: Record<string, string> = {
  'backup.alive_at': 'the fence of a process at work; one that lies ahead counts as silent where it is read',
  'backup_restore.alive_at': 'a fence only: nothing waits for it',
  'attention_mark.until': FOR_PEOPLE,
  'guidance.until': FOR_PEOPLE,
  'ignored_everywhere.until': FOR_PEOPLE,
  'safe_change.armed_until': 'by the clock of the site',
  'quarantined_version.fleet_until': 'a version that is quarantined for longer stops no job',
};

it('every column of such a name is corrected, or named with the reason', async () => {
  const db = await openDb(`file:${join(tempFolder('columns'), 'fleet.db')}`);
  await migrate(db, migrations);
  const columns = await db.all(
    `SELECT m.name || '.' || c.name AS name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1`,
  );
  const corrected = new Set<string>();
  const batch: Db['batch'] = async (statements) => {
    for (const { sql } of statements) {
      const [, table, set = ''] = /^UPDATE (\w+) SET (.*?) WHERE /s.exec(sql) ?? [];
      for (const [, column] of set.matchAll(/(\w+) = /g)) corrected.add(`${table}.${column}`);
    }
    return [];
  };
  await createClockSteps({ ...db, batch }).settle(1_000, { forward: 1, back: 1 });
  const waited = columns.map(({ name }) => String(name)).filter((name) => WAITED_FOR.test(name.split('.')[1] ?? ''));
  expect(waited.length).toBeGreaterThan(20);
  expect(waited.filter((name) => !corrected.has(name) && !(name in EXCEPT))).toEqual([]);
  // No exception is left that none needs.
  expect(Object.keys(EXCEPT).filter((name) => corrected.has(name) || !waited.includes(name))).toEqual([]);
  await db.close();
});
