/** A log of actions that cannot be written for a while. */

import type { Db } from '../../src/store/driver/db.js';

/** Does this work while every new entry of the log is refused. */
export async function withoutLog<T>(db: Db, work: () => Promise<T>): Promise<T> {
  await db.run("CREATE TRIGGER no_room BEFORE INSERT ON action_log BEGIN SELECT RAISE(ABORT, 'no room'); END");
  try {
    return await work();
  } finally {
    await db.run('DROP TRIGGER no_room');
  }
}
