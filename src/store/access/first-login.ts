/** A mark for the first login of a database, from before it is stored until it was shown or used. */

import type { Db } from '../driver/db.js';

const UNSEEN = 'first_login_unseen';
const USED = `EXISTS (SELECT 1 FROM web_session) OR EXISTS (SELECT 1 FROM api_key WHERE last_access IS NOT NULL)
  OR EXISTS (SELECT 1 FROM user WHERE assistant_at IS NOT NULL)`;

/** Sets the mark, if there is no user yet. */
export async function beginFirstLogin(db: Db): Promise<void> {
  await db.run("INSERT OR IGNORE INTO instance (key, value) SELECT ?, '' WHERE NOT EXISTS (SELECT 1 FROM user)", [
    UNSEEN,
  ]);
}

/** Whether the first login was stored and perhaps never shown, and was not used either. */
export async function isFirstLoginUnseen(db: Pick<Db, 'one'>): Promise<boolean> {
  const row = await db.one(`SELECT EXISTS (SELECT 1 FROM instance WHERE key = ?) AND NOT (${USED}) AS unseen`, [
    UNSEEN,
  ]);
  return row?.unseen === 1;
}

/** Removes the mark for good. */
export async function endFirstLogin(db: Db): Promise<void> {
  await db.run('DELETE FROM instance WHERE key = ?', [UNSEEN]);
}
