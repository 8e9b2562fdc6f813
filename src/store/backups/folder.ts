/** The folder of the daily database backups: its files and their names. */

import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A complete copy of the database. `at` is in milliseconds since the epoch. */
export interface BackupFile {
  path: string;
  at: number;
  bytes: number;
}

/** Scheduled backups of the database. */
export interface Backups {
  readonly folder: string;
  /** Oldest first. Files with other names are ignored. */
  list(): BackupFile[];
  /** Makes one and verifies it. Rejects if it could not be made or is not complete. */
  make(now: number): Promise<BackupFile>;
  remove(file: BackupFile): void;
}

const NAME = /^sitefleet-(\d{4})-(\d\d)-(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;
/** Left half-finished by a process that was killed. */
const LEFT = /^sitefleet-\d{4}-\d\d-\d\dT\d{6}Z\.db\.unverified/;
const LEFT_MS = 24 * 3_600_000;

/** @param copy copies the database to a path, and returns the size of the copy in bytes */
export function createBackups(folder: string, copy: (path: string) => Promise<number>): Backups {
  const place = resolve(folder);
  const paths = () => readdirSync(place).map((name) => ({ name, path: join(place, name) }));
  return {
    folder: place,
    list: () =>
      openFolder(place) &&
      paths()
        .flatMap(({ name, path }) => {
          const at = timeOf(name);
          return at === null ? [] : [{ path, at, bytes: statSync(path).size }];
        })
        .sort((a, b) => a.at - b.at),
    async make(now) {
      openFolder(place);
      for (const { name, path } of paths())
        if (LEFT.test(name) && now - statSync(path).mtimeMs > LEFT_MS) rmSync(path, { force: true });
      const path = join(place, nameOf(now));
      return { path, at: now, bytes: await copy(path) };
    },
    remove: ({ path }) => rmSync(path, { force: true }),
  };
}

/** The copies contain everything in the database: a folder created for them is not accessible to other users. */
function openFolder(folder: string): true {
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) chmodSync(folder, 0o700);
  return true;
}

function nameOf(at: number): string {
  return `sitefleet-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '')}Z.db`;
}

function timeOf(name: string): number | null {
  const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? [];
  if (year === undefined) return null;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : at;
}
