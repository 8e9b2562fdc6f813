/** The bare database driver, as the baseline for storage. */

import Database from 'libsql';
import { databaseFile } from '../../src/config/config.js';

interface BareStatement {
  /** Rows as arrays. */
  all(...args: unknown[]): unknown[][];
  run(...args: unknown[]): void;
}

export interface BareDatabase {
  prepare(sql: string): BareStatement;
  exec(sql: string): void;
  close(): void;
}

interface Native {
  raw(on: boolean): Native;
  all(args: unknown[]): unknown[][];
  run(args: unknown[]): unknown;
}

/** Opens a database with the settings that the service uses. */
export function openBare(url: string, writes = false): BareDatabase {
  const path = databaseFile(url);
  if (path === null) throw new TypeError(`${url} is not a file`);
  const native = new Database(path);
  native.exec(
    `PRAGMA busy_timeout=5000; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-65536;
     PRAGMA mmap_size=268435456; PRAGMA query_only=${writes ? 'OFF' : 'ON'}`,
  );
  return {
    prepare(sql) {
      const statement = native.prepare(sql) as unknown as Native;
      const reads = /^\s*(select|with)/i.test(sql);
      if (reads) statement.raw(true);
      return { all: (...args) => statement.all(args), run: (...args) => void statement.run(args) };
    },
    exec: (sql) => void native.exec(sql),
    close: () => native.close(),
  };
}
