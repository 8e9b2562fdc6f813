/** `sitefleet rotate-key`: seals every stored secret with another key. */

import { existsSync, renameSync, rmSync } from 'node:fs';
import { keyNames, named, nextKeyFile, presentKeys, wrongKey } from '../app/secret-key.js';
import type { Config } from '../runtime/config/types.js';
import { realPath } from '../runtime/real-path.js';
import type { Db } from '../store/driver/db.js';
import { createInstance } from '../store/settings/instance.js';
import { forgetUnreadable, reseal, surveySealed } from '../store/vault/sealed.js';
import { createVault, keyFile, loadKey, type Vault, type VaultKey } from '../store/vault/vault.js';
import { CommandError } from './command-error.js';
import { mustExist } from './database.js';
import { assertReplaceable, reasonOf } from './file-access.js';
import { handOver } from './hand-over.js';
import { servedBy, withDatabase } from './open-database.js';
import { printJson, say } from './output.js';

export interface RotateOptions {
  oldKey?: string;
  /** The old key is lost: what it sealed is deleted. */
  lostKey?: boolean;
  force?: boolean;
  json?: boolean;
}

/**
 * With a key file: creates a new key, reseals everything, and replaces the old key. If interrupted at any point, both
 * keys are kept and the next run continues. With SITEFLEET_SECRET_KEY: the variable contains the new key, stdin the old
 * one. If it refuses, no new key is left behind.
 */
export async function rotateKey(config: Config, options: RotateOptions): Promise<void> {
  mustExist(config);
  const keys = keysFor(config, options);
  const done = await withDatabase(config, async ({ db }) => {
    await refuseWhileServed(db, options);
    const known = keys.present();
    const present = known.length === 0 ? undefined : createVault(known);
    const forgotten = options.lostKey === true ? await forgetUnreadable(db, present) : 0;
    await refuseUnreadable(db, present, config);
    if (present === undefined && options.lostKey !== true)
      throw new CommandError('There is no secret key yet. "serve" creates one on its first start.');
    const next = keys.next();
    // Read again: another run may have ended meanwhile.
    const vault = createVault([next, ...keys.present(), ...known]);
    const instance = createInstance(db);
    const used = await instance.secretKey();
    try {
      // First: a process that nobody knows of, or that starts just now, can seal nothing with the old key any more.
      await instance.noteSecretKey(next.id);
      const old = [...known.map(({ id }) => id), used].filter((id) => id !== null && id !== next.id);
      return { next, forgotten, old: [...new Set(old)], resealed: await reseal(db, vault) };
    } catch (error) {
      // Without the note the new key is of no use; with it, it must be kept.
      if (!(await inUse(db, next))) await instance.noteSecretKey(used).then(keys.undo, () => undefined);
      throw error;
    }
  });
  const { next, forgotten, old, resealed } = done;
  keys.done(next);
  if (options.json === true) printJson({ key_id: next.id, old_key_ids: old, resealed, forgotten });
  else {
    if (forgotten > 0) say(`Removed ${forgotten} records that no key can decrypt. Their sites must be added again.`);
    say(`Encrypted ${resealed} records with the new key ${next.id}. Back up the key separately from the database.`);
    if (old.length > 0)
      say(
        `Backups made before need the old key ${old.join(', ')}, which is no longer kept here. Make one now: "sitefleet backup".`,
      );
  }
  if (keys.leftToDo !== null) say(keys.leftToDo);
}

async function refuseWhileServed(db: Db, { force }: RotateOptions): Promise<void> {
  const running = await servedBy(db);
  if (running === null || force === true) return;
  throw new CommandError(
    `A server is running (${running}); it could no longer read its secrets. Stop it first, or use --force and restart it.`,
  );
}

/** All or nothing: what cannot be opened cannot be resealed, and its key is about to be replaced. */
async function refuseUnreadable(db: Db, vault: Vault | undefined, config: Config): Promise<void> {
  const found = await surveySealed(db, vault);
  if (found.unreadable === 0) return;
  if (found.unreadable === found.sealed) throw wrongKey(found, config);
  throw new CommandError(
    `${found.unreadable} of ${found.sealed} stored secrets were encrypted with ${keyNames(found)}, which is missing: ` +
      `${found.places.slice(0, 5).join(', ')}. Nothing was changed. --lost-key removes them.`,
  );
}

/** Whether anything is sealed with the key. Unknown counts as yes: then the key must be kept. */
async function inUse(db: Db, { id }: VaultKey): Promise<boolean> {
  const found = await surveySealed(db, undefined).catch(() => null);
  return found === null || found.keys.some((key) => key.id === id);
}

interface Keys {
  /** The keys that can open the present secrets, as they are now. */
  present(): readonly VaultKey[];
  /** The key to seal with; this call creates its file. */
  next(): VaultKey;
  /** Removes the file created by `next`. */
  undo(): void;
  /** Replaces the old key with the new one, unless another run has done so. */
  done(next: VaultKey): void;
  /** What a person has to do so that the service can read the new key file. */
  readonly leftToDo: string | null;
}

function keysFor(config: Config, { oldKey, lostKey }: RotateOptions): Keys {
  if (config.secret_key !== null) {
    const next = named(loadKey(config.secret_key));
    if (oldKey === undefined && lostKey !== true) {
      throw new CommandError(
        'SITEFLEET_SECRET_KEY contains the new key; give the old one on stdin with --old-key-stdin.',
      );
    }
    const old = oldKey === undefined ? [] : [named(loadKey(oldKey))];
    return {
      present: () => [next, ...old],
      next: () => next,
      undo: () => undefined,
      done: () => undefined,
      leftToDo: null,
    };
  }
  if (config.secret_key_file === null)
    throw new CommandError('Name the key: set SITEFLEET_SECRET_KEY or SITEFLEET_SECRET_KEY_FILE.');
  const file = realPath(config.secret_key_file);
  const pending = nextKeyFile(file);
  // Later, everything would be sealed with a key that cannot get its name.
  if (existsSync(file)) assertReplaceable(file, 'key file', adviceFor(pending));
  // One that was there is of an interrupted run, or of one that goes on: part of the secrets may be sealed with it.
  let made = false;
  let leftToDo: string | null = null;
  return {
    present: () => presentKeys(config),
    next: () => {
      const key = keyFile(pending);
      made = key.created;
      // Now: a service that starts before the command ends reads both.
      leftToDo = handOver(pending, file);
      return key;
    },
    undo: () => (made ? rmSync(pending, { force: true }) : undefined),
    done: ({ id }) => {
      // A file that another run has made since is the only one with its key.
      if (existsSync(pending) && keyFile(pending).id === id) replace(file, pending, id);
      else if (!existsSync(file) || keyFile(file).id !== id)
        throw new CommandError(
          'Another run is replacing the key at the same time. Both keys are kept: run this again.',
        );
    },
    get leftToDo() {
      return leftToDo;
    },
  };
}

function adviceFor(pending: string): string {
  const other = ' Or set SITEFLEET_SECRET_KEY to a new key, and give the old one with --old-key-stdin.';
  return existsSync(pending)
    ? `${other} Keep ${pending}, too: an earlier run may have encrypted secrets with the key in it.`
    : other;
}

function replace(file: string, pending: string, id: string): void {
  try {
    renameSync(pending, file);
  } catch (error) {
    // Another run was faster.
    if (!existsSync(pending) && keyFile(file).id === id) return;
    throw new CommandError(
      `All secrets are encrypted with the new key ${id}, but ${file} could not be replaced: ${reasonOf(error)}. ` +
        `Only ${pending} has that key: keep it, and put it in the place of ${file}.`,
    );
  }
}
