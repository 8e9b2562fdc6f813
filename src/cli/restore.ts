/** `sitefleet restore`: puts a backup in place of the database, which is kept next to it. */

import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { resolve } from 'node:path';
import { cleanLine } from '../../schemas/text.js';
import { keyNames, presentVault, wrongKey } from '../app/secret-key.js';
import { systemClock } from '../runtime/clock.js';
import { databaseFile } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';
import { fileUrl } from '../runtime/file-url.js';
import { realPath } from '../runtime/real-path.js';
import { keepRevoked, type Logins, loginsOf, type RevokedLogins } from '../store/access/revoked-logins.js';
import { endBrowserLogins } from '../store/access/web-sessions.js';
import { endGivenApprovals } from '../store/approvals/approvals.js';
import { type Db, StorageError } from '../store/driver/db.js';
import { migrate } from '../store/driver/migrate.js';
import { openDb } from '../store/driver/open.js';
import { differenceText } from '../store/driver/schema.js';
import { type StoppedWork, stopWork } from '../store/jobs/restored-work.js';
import { keepCautious, type Policies, policiesOf, type RestoredPolicies } from '../store/policies/restored-policies.js';
import { migrations } from '../store/schema/index.js';
import { CommandError } from './command-error.js';
import { assertReplaceable } from './file-access.js';
import { handOver } from './hand-over.js';
import { inspect, type Report, sound } from './inspect.js';
import { servedBy, withReader } from './open-database.js';
import { type JsonFlag, printJson, say } from './output.js';

/** Logins that are named; all are in the JSON. */
const NAMED = 20;

/**
 * Checks a copy of the backup, migrates it to the newest schema, and only then puts it in place of the database. The
 * previous database is renamed, never deleted. Refuses while a server is running, unless forced: it would continue with
 * the old file.
 */
export async function restore(config: Config, backup: string, options: JsonFlag & { force?: boolean }): Promise<void> {
  const named = databaseFile(config.db);
  if (named === null) {
    throw new CommandError('Only a database file can be restored here; a server has its own way.');
  }
  // The file itself: a link to it must go on to lead there, and its log lies next to it.
  const target = realPath(named);
  const source = resolve(backup);
  if (!existsSync(source)) throw new CommandError(`There is no backup at ${source}.`);
  if (!statSync(source).isFile()) throw new CommandError(`${source} is not a file.`);
  if (realPath(source) === target) throw new CommandError('The backup is the database itself.');
  if (options.force !== true) await refuseWhileServed(config, target);

  const replaces = existsSync(target);
  if (replaces) assertReplaceable(target, 'database');
  const fresh = `${target}.restoring`;
  for (const file of [fresh, `${fresh}-wal`, `${fresh}-shm`]) rmSync(file, { force: true });
  // Nothing is known of one that cannot be read.
  const last = replaces ? await withReader(config, lastOf).catch(() => null) : null;
  let prepared: Awaited<ReturnType<typeof prepare>>;
  let leftToDo: string | null;
  try {
    prepared = await prepare(config, realPath(source), fresh, last);
    leftToDo = handOver(fresh, target);
    // One may have started meanwhile: what it stored would be in the file that is set aside.
    if (options.force !== true) await refuseWhileServed(config, target);
  } catch (error) {
    for (const file of [fresh, `${fresh}-wal`, `${fresh}-shm`]) rmSync(file, { force: true });
    throw error instanceof StorageError && error.kind === 'corrupt' ? unreadable(source, error) : error;
  }
  const { report, logins, ended_approvals, stopped, policies } = prepared;
  const kept = replaces ? await setAside(config, target) : null;
  renameSync(fresh, target);
  if (options.json === true)
    printJson({
      ...{ file: resolve(named), kept, schema: report.schema.step, secrets: report.secrets },
      ...{ logins, ended_approvals, stopped, policies },
    });
  else {
    say(`Restored ${resolve(named)} from ${source}.`);
    if (kept !== null) say(`The previous database is kept as ${kept}.`);
    if (logins !== null) sayRevoked(logins);
    else if (replaces)
      say('The previous database cannot be read: every user and API key of the backup may log in again.');
    if (ended_approvals > 0) say(`Approvals that were given and have to be asked for again: ${ended_approvals}.`);
    sayStopped(stopped);
    sayPolicies(policies);
    if (report.secrets !== null && report.secrets.unreadable > 0)
      say(
        `${report.secrets.unreadable} of ${report.secrets.sealed} secrets were encrypted with ${keyNames(report.secrets)}, which is missing. "sitefleet check" lists them.`,
      );
  }
  if (leftToDo !== null) say(leftToDo);
}

function sayStopped({ jobs, rollouts }: StoppedWork): void {
  if (jobs > 0) say(`Jobs of the backup that had not ended, and have been cancelled: ${jobs}.`);
  if (rollouts > 0)
    say(`Rollouts that were running in the backup, and are paused: ${rollouts}. Resume or abort them on the page.`);
}

function sayPolicies({ off, asking }: RestoredPolicies): void {
  if (off.length > 0) say(`Policies that were switched off since, and stay so: ${namesOf(off)}.`);
  if (asking.length > 0)
    say(`Policies that acted without being asked, and ask until a person changes that: ${namesOf(asking)}.`);
}

function namesOf(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  const first = names.slice(0, NAMED).map((name) => cleanLine(name, 80));
  return `${first.join(', ')}${more}`;
}

/** What is taken over from the database that is replaced. */
interface Last {
  logins: Logins;
  /** Null = unknown. */
  policies: Policies | null;
}

async function lastOf(db: Db): Promise<Last> {
  return { logins: await loginsOf(db), policies: await policiesOf(db).catch(() => null) };
}

function sayRevoked({ keys, users, regained, passwords, assistants, other_approval_rules }: RevokedLogins): void {
  const words = {
    'API keys that keep fewer rights than in the backup': keys,
    'Users who keep fewer rights than in the backup': users,
    'Removed or reduced since, and may make changes again, as nobody else of the backup may': regained,
    'Passwords that are again those of the backup': passwords,
    'Cannot approve, because an assistant has used them or may have (users: until another password is set)': assistants,
  };
  for (const [what, names] of Object.entries(words)) if (names.length > 0) say(`${what}: ${namesOf(names)}.`);
  if (other_approval_rules) say('The approval rules are those of the backup again: see "sitefleet approvals rules".');
}

/** The storage error names the copy, which is gone; this names the file that the person gave. */
function unreadable(source: string, { cause, message }: StorageError): CommandError {
  const reason = cause instanceof Error ? cause.message : message;
  return new CommandError(`The backup ${source} cannot be read as a database; nothing was changed: ${reason}.`);
}

/**
 * A complete, sound copy at the newest schema, on disk.
 * @param last null = unknown
 */
async function prepare(config: Config, source: string, fresh: string, last: Last | null) {
  copyFileSync(source, fresh);
  // A plain copy of a running service's files has its latest writes in the log next to it.
  if (existsSync(`${source}-wal`)) copyFileSync(`${source}-wal`, `${fresh}-wal`);
  chmodSync(fresh, 0o600);
  const db = await openDb(fileUrl(fresh), { mode: 'writer' });
  let report: Report;
  let logins: RevokedLogins | null = null;
  let approvals = 0;
  let stopped: StoppedWork;
  let policies: RestoredPolicies;
  try {
    report = await inspect(db, presentVault(config));
    refuse(report, config);
    // Only a database known to be ours is migrated.
    await migrate(db, migrations);
    await endBrowserLogins(db);
    approvals = await endGivenApprovals(db);
    stopped = await stopWork(db, systemClock.now());
    policies = await keepCautious(db, last?.policies ?? null, systemClock.now());
    if (last !== null) logins = await keepRevoked(db, last.logins, systemClock.now());
    report = await inspect(db, presentVault(config));
    refuse(report, config);
  } finally {
    await db.close();
  }
  const handle = openSync(fresh, 'r');
  fsyncSync(handle);
  closeSync(handle);
  for (const file of [`${fresh}-wal`, `${fresh}-shm`]) rmSync(file, { force: true });
  return { report, logins, ended_approvals: approvals, stopped, policies };
}

/** Throws if the copy must not replace the database. */
function refuse(found: Report, config: Config): void {
  // Where the schema is not ours, nothing else of the file was looked at.
  if (found.integrity !== null && (!sound(found.integrity) || found.foreign_keys !== 0)) {
    const dangling = found.foreign_keys === null ? [] : [`${found.foreign_keys} rows point to nothing`];
    const wrong = [...(found.integrity ?? []).filter((line) => line !== 'ok').slice(0, 3), ...dangling];
    throw new CommandError(`The backup is damaged, nothing was changed: ${wrong.join('; ')}.`);
  }
  if (found.schema.step === 0) throw new CommandError('The file is not a Sitefleet backup; nothing was changed.');
  const difference = differenceText(found.schema);
  if (difference !== null)
    throw new CommandError(
      `The backup's schema is not one that Sitefleet creates; nothing was changed: ${difference}. ` +
        'Use another backup, or find out who changed this one.',
    );
  const { secrets } = found;
  if (secrets !== null && secrets.sealed > 0 && secrets.unreadable === secrets.sealed) throw wrongKey(secrets, config);
}

/** Creates a second name for the database, so that there is one at every moment; its log is renamed with it. */
async function setAside(config: Config, target: string): Promise<string> {
  const kept = `${target}.before-${new Date(systemClock.now()).toISOString().replace(/[:.]/g, '-')}`;
  // Opened and closed as writer, the file absorbs its log. A damaged one keeps it separately.
  await openDb(config.db, { mode: 'writer' })
    .then((db) => db.close())
    .catch(() => undefined);
  linkSync(target, kept);
  // The old file's log must never be read into the new one.
  if (existsSync(`${target}-wal`)) renameSync(`${target}-wal`, `${kept}-wal`);
  rmSync(`${target}-shm`, { force: true });
  return kept;
}

async function refuseWhileServed(config: Config, target: string): Promise<void> {
  if (!existsSync(target)) return;
  // A database that cannot be read is not being served.
  const owner = await withReader(config, servedBy).catch(() => null);
  if (owner !== null) throw new CommandError(`A server is running (${owner}). Stop it first.`);
}
