/** The keys that seal and open stored secrets, from the configuration; and whether they match a database. */

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../runtime/config/types.js';
import { ServiceError } from '../runtime/errors.js';
import { realPath } from '../runtime/real-path.js';
import type { Db } from '../store/driver/db.js';
import { createInstance } from '../store/settings/instance.js';
import { type SealedReport, strangeVault } from '../store/vault/sealed.js';
import { createVault, keyFile, keyId, loadKey, type Vault, type VaultKey } from '../store/vault/vault.js';

type KeyConfig = Pick<Config, 'db' | 'secret_key' | 'secret_key_file'>;

/**
 * A second file next to the key file while keys are being changed: both open secrets, so an interrupted change loses
 * nothing. Next to the file itself, which it is to replace: a folder that only has a link to it may not last.
 */
export function nextKeyFile(file: string): string {
  return `${realPath(file)}.next`;
}

/** The existing keys, the sealing one first. Creates none. */
export function presentKeys(config: KeyConfig): VaultKey[] {
  if (config.secret_key !== null) return [named(loadKey(config.secret_key))];
  const file = config.secret_key_file;
  return file === null ? [] : [file, nextKeyFile(file)].filter((path) => existsSync(path)).map(keyFile);
}

/** The vault of the existing keys; undefined if there are none. */
export function presentVault(config: KeyConfig): Vault | undefined {
  const keys = presentKeys(config);
  return keys.length === 0 ? undefined : createVault(keys);
}

/**
 * The vault of the existing keys, or of a temporary key that lives as long as the process: for values that are sealed
 * but not stored.
 */
export function passingVault(config: KeyConfig): Vault {
  return presentVault(config) ?? createVault([named(randomBytes(32))]);
}

/**
 * The vault of an open database. A key file is created only if the database was never used with a key: a second key
 * would hide that the first is lost, and split the secrets between the two.
 * @throws ServiceError `svc_storage_unavailable` if secrets are stored and none of the existing keys opens them, or if
 *   there is none any more
 */
export async function vaultFor(db: Db, config: KeyConfig): Promise<Vault> {
  const instance = createInstance(db);
  // Before the files are read: the command that replaces the key notes the new one when its file is there.
  const used = await instance.secretKey();
  const keys = presentKeys(config).sort((a, b) => Number(b.id === used) - Number(a.id === used));
  const vault = keys.length === 0 ? undefined : createVault(keys);
  const strange = await strangeVault(db, vault);
  if (strange !== null) throw wrongKey(strange, config);
  // Nothing is sealed, but its people did back up a key: another one would take its place unnoticed.
  if (vault === undefined && used !== null) throw missingKey(used, config);
  const made = vault ?? createVault([newKey(config)]);
  if (made.currentId !== used) await instance.noteSecretKey(made.currentId);
  return made;
}

function missingKey(used: string, config: KeyConfig): ServiceError {
  const file = config.secret_key_file === null ? null : resolve(config.secret_key_file);
  return new ServiceError(
    'svc_storage_unavailable',
    `This database was used with the secret key ${used}, but ${file === null ? 'no key is named' : `${file} does not exist`}. Nothing was changed.`,
    { advice: `${placeOfKey(file)} If it is lost for good, "sitefleet rotate-key --lost-key" makes another.` },
  );
}

function placeOfKey(file: string | null): string {
  return file === null
    ? 'Set SITEFLEET_SECRET_KEY to that key, or SITEFLEET_SECRET_KEY_FILE to a file with it.'
    : `Put that key back as ${file} (mode 0600), or name it with SITEFLEET_SECRET_KEY_FILE or SITEFLEET_SECRET_KEY.`;
}

function newKey(config: KeyConfig): VaultKey {
  if (config.secret_key_file !== null) return keyFile(config.secret_key_file);
  // A database in memory ends with the process, and so can its key.
  if (config.db === ':memory:') return named(randomBytes(32));
  throw new ServiceError(
    'svc_storage_unavailable',
    'A database on a server needs its secret key named: there is no file beside it.',
    {
      advice: 'Set SITEFLEET_SECRET_KEY or SITEFLEET_SECRET_KEY_FILE.',
    },
  );
}

/** The error if no sealed secret can be opened: which key is needed, which one exists, and where it belongs. */
export function wrongKey(found: SealedReport, config: KeyConfig): ServiceError {
  const needed = keyNames(found);
  const file = config.secret_key_file === null ? null : resolve(config.secret_key_file);
  const [present] = presentKeys(config);
  const instead =
    present === undefined
      ? `${file ?? 'the key file'} does not exist`
      : `${file === null ? 'SITEFLEET_SECRET_KEY is' : `${file} holds`} the key ${present.id}`;
  const place = placeOfKey(file);
  return new ServiceError(
    'svc_storage_unavailable',
    `The stored secrets cannot be opened: ${found.sealed} were sealed with ${needed}, but ${instead}. Nothing was changed.`,
    {
      advice: `${place} If it is lost for good, "sitefleet rotate-key --lost-key" gives up what it sealed.`,
    },
  );
}

/** `the secret key 1a2b3c4d`, the one that seals the most texts first. */
export function keyNames({ keys }: SealedReport): string {
  const unreadable = keys.filter((key) => key.unreadable > 0).sort((a, b) => b.unreadable - a.unreadable);
  const names = unreadable.map(({ id }) => id ?? 'an unknown key').slice(0, 5);
  return `the secret key${names.length > 1 ? 's' : ''} ${names.join(', ')}`;
}

export function named(key: Buffer): VaultKey {
  return { id: keyId(key), key };
}
