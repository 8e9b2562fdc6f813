/** Guarded batches, and what the triggers of sealed columns refuse, over both drivers. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Db, sql } from '../../src/store/driver/db.js';
import { guard, guardedBatch } from '../../src/store/driver/guard.js';
import { migrate } from '../../src/store/driver/migrate.js';
import { openDb } from '../../src/store/driver/open.js';
import { migrations } from '../../src/store/schema/index.js';
import { createInstance } from '../../src/store/settings/instance.js';
import { closing } from '../support/cleanup.js';
import { has, needs } from '../support/needs.js';
import { type Sqld, startSqld } from '../support/sqld.js';

let server: Sqld | undefined;
beforeAll(async () => {
  if (has('sqld')) server = await startSqld();
});
afterAll(() => server?.stop());

const targets: Record<string, () => Promise<Db>> = {
  'in memory': () => openDb(':memory:'),
  'on a server': () => openDb(`http://${server?.host}`),
};
const setUp = sql("INSERT INTO tag (name, name_key, created_at, updated_at) VALUES ('a', 'a', 1, 1)");
const rename = (to: string) => sql('UPDATE tag SET name = ?', to);

for (const [name, open] of Object.entries(targets)) {
  describe(name, name === 'on a server' ? needs('sqld') : {}, () => {
    it('stores the batch only while the condition holds', async () => {
      const db = closing(await open());
      await migrate(db, migrations);
      await db.batch([setUp]);
      const names = () => db.all('SELECT name FROM tag');
      const isStill = (was: string) => guard('EXISTS (SELECT 1 FROM tag WHERE name = ?)', was);
      expect(await guardedBatch(db, isStill('a'), [rename('b'), rename('c')])).toBe(true);
      expect(await names()).toEqual([{ name: 'c' }]);
      expect(await guardedBatch(db, isStill('a'), [rename('d')])).toBe(false);
      expect(await names()).toEqual([{ name: 'c' }]);
      expect(await db.all('SELECT * FROM batch_guard')).toEqual([]);
    });

    it('passes other failures on, also of another CHECK', async () => {
      const db = closing(await open());
      await migrate(db, migrations);
      const broken = sql("INSERT INTO api_key (version, scope, created_at) VALUES ('v3', 'read', 1)");
      await expect(guardedBatch(db, guard('1'), [broken])).rejects.toMatchObject({ kind: 'check' });
      await expect(guardedBatch(db, guard('1'), [sql('INSERT INTO nowhere VALUES (1)')])).rejects.toThrow('nowhere');
    });

    it('says what to do where a process seals with a former key', async () => {
      const db = closing(await open());
      await migrate(db, migrations);
      await createInstance(db).noteSecretKey('00000002');
      const write = (key: string) =>
        db.run('INSERT OR REPLACE INTO setting (key, value, updated_at) VALUES (?, ?, 1)', ['a', `v1.${key}.x`]);
      await write('00000002');
      await expect(write('00000001')).rejects.toMatchObject({
        kind: 'unavailable',
        publicMessage: { message: expect.stringContaining('secret key was replaced'), advice: 'Restart it.' },
      });
      expect(await db.all('SELECT value FROM setting')).toEqual([{ value: 'v1.00000002.x' }]);
    });
  });
}
