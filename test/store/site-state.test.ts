/** The migration of site states: its result for sites stored by an earlier version. */

import { expect, it } from 'vitest';
import { sql } from '../../src/store/driver/db.js';
import { migrate } from '../../src/store/driver/migrate.js';
import { openDb } from '../../src/store/driver/open.js';
import { migrations } from '../../src/store/migrations/index.js';
import { closing } from '../support/cleanup.js';

it('a visit leaves the status, and a suspension along with a client is known as such', async () => {
  const db = closing(await openDb(':memory:'));
  await migrate(
    db,
    migrations.filter(({ id }) => id < 11),
  );
  await db.run(
    "INSERT INTO client (id, name, name_key, suspended, created_at, updated_at) VALUES (1, 'A', 'a', 1, 0, 0)",
  );
  for (const [index, marks] of [
    { check_state: -1 },
    { check_state: 1 },
    { disconnected: 1 },
    { sync_error: 'away' },
    { suspended: 1 },
    { suspended: 1, client_id: 1 },
  ].entries()) {
    const id = index + 1;
    const columns = ['id', 'url', 'url_key', 'name', 'search', 'created_at', ...Object.keys(marks)];
    const values = [id, `https://${id}.example/`, `${id}.example/`, 'name', 'name', 0, ...Object.values(marks)];
    await db.batch([
      sql(`INSERT INTO site (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`, ...values),
      sql('INSERT INTO site_detail (site_id) VALUES (?)', id),
    ]);
  }
  await migrate(db, migrations);
  expect(
    await db.all(
      'SELECT s.status, s.suspended_with, d.reachable, d.status_since FROM site s JOIN site_detail d ON d.site_id = s.id ORDER BY s.id',
    ),
  ).toEqual(
    [
      ['connected', null, 0],
      ['connected', null, 1],
      ['disconnected', null, null],
      ['disconnected', null, null],
      ['suspended', null, null],
      ['suspended', 1, null],
    ].map(([status, suspended_with, reachable]) => ({ status, suspended_with, reachable, status_since: null })),
  );
  const counts = { connected: 2, disconnected: 2, suspended: 2 };
  expect(await db.all('SELECT status, n FROM site_count ORDER BY status')).toEqual(
    Object.entries(counts).map(([status, n]) => ({ status, n })),
  );
  await db.run('DELETE FROM client');
  expect(await db.one('SELECT status, suspended_with FROM site WHERE id = 6')).toEqual({
    status: 'connected',
    suspended_with: null,
  });
});
