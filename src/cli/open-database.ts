/** Opens the database for commands that need no service around it. */

import { randomUUID } from 'node:crypto';
import { callInput } from '../domain/action-log/call-input.js';
import { createActionRecorder, originColumns } from '../domain/action-log/recorder.js';
import { systemClock } from '../runtime/clock.js';
import type { Config } from '../runtime/config/types.js';
import { createEvents, type Events, type Origin } from '../runtime/events.js';
import { createLog } from '../runtime/telemetry/log.js';
import { createKeys, type Keys } from '../store/access/keys.js';
import { createLoginLinks, type LoginLinks } from '../store/access/login-links.js';
import { createUsers, type Users } from '../store/access/users.js';
import { createActionLog, type NewLogEntry } from '../store/action-log/action-log.js';
import { createActionChain } from '../store/action-log/chain.js';
import { createRecordedCalls } from '../store/action-log/recorded-calls.js';
import { createLeases } from '../store/cluster/leases.js';
import { createMembers } from '../store/cluster/members.js';
import type { Db } from '../store/driver/db.js';
import { migrate } from '../store/driver/migrate.js';
import { openDb } from '../store/driver/open.js';
import { migrations } from '../store/schema/index.js';
import { currentCommand } from './current-command.js';
import { assertWritable } from './file-access.js';
import { localActor } from './local-actor.js';

/** Whose changes those of a command are. */
function commandOrigin(): Origin {
  const { type, id, name, via } = localActor('cli');
  return { type, id, name, via, operation: currentCommand().name, request_id: randomUUID() };
}

/** What is stored with the first change of a command. */
function commandEntry(origin: Origin): NewLogEntry {
  const { name: operation, ...input } = currentCommand();
  const caller = { ...originColumns(origin), site_id: null };
  return { ...caller, context: 'call', action: 'called', input: callInput(input, operation), at: systemClock.now() };
}

export interface Stores {
  db: Db;
  users: Users;
  keys: Keys;
  loginLinks: LoginLinks;
  /** Those that are logged are stored before the database is closed. */
  events: Events;
  /** Highest schema step before and after. */
  schema: { from: number; to: number };
}

/** Opens the database for writing, migrates its schema, works on it and closes it. */
export async function withDatabase<T>(config: Config, work: (stores: Stores) => Promise<T>): Promise<T> {
  assertWritable(config);
  return withOpen(config, 'writer', async (db) => {
    const schema = await migrate(db, migrations);
    const chain = createActionChain(db);
    const { db: recorded, ...calls } = createRecordedCalls(db, chain);
    const origin = commandOrigin();
    const log = createLog(config.log_level);
    const actionLog = createActionLog(db, chain, calls);
    const recorder = createActionRecorder({ store: { actionLog }, log });
    const bus = createEvents(systemClock, log);
    bus.subscribe(recorder.listen);
    const stores = {
      db: recorded,
      users: createUsers(recorded),
      keys: createKeys(recorded),
      loginLinks: createLoginLinks(recorded),
      events: bus.from(origin),
      schema,
    };
    try {
      return await actionLog.record(commandEntry(origin), () => work(stores));
    } finally {
      await recorder.flush();
    }
  });
}

/** Opens the database for reading, works on it and closes it. */
export function withReader<T>(config: Config, work: (db: Db) => Promise<T>): Promise<T> {
  return withOpen(config, 'reader', work);
}

async function withOpen<T>(config: Config, mode: 'writer' | 'reader', work: (db: Db) => Promise<T>): Promise<T> {
  const token = config.db_token === null ? {} : { token: config.db_token };
  const db = await openDb(config.db, { mode, ...token });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** The process that runs the schedule, or any other that works with the database; null if there is none. */
export async function servedBy(db: Db): Promise<string | null> {
  const now = systemClock.now();
  return (await createLeases(db).owner('schedule', now)) ?? (await createMembers(db).alive(now))[0] ?? null;
}
