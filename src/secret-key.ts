/** Which keys seal and open the stored secrets, from the configuration. */

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Config } from './context.js';
import { ServiceError } from './errors.js';
import { createVault, keyFile, keyId, loadKey, type Vault, type VaultKey } from './store/vault.js';

type KeyConfig = Pick<Config, 'db' | 'secret_key' | 'secret_key_file'>;

/** Beside the key file while keys are being changed: both open, so a change that was cut off loses nothing. */
export function nextKeyFile(file: string): string {
  return `${file}.next`;
}

/** The keys, the sealing one first. The key file is made when there is none. */
export function vaultKeys(config: KeyConfig): VaultKey[] {
  if (config.secret_key !== null) return [named(loadKey(config.secret_key))];
  const file = config.secret_key_file;
  if (file !== null)
    return existsSync(nextKeyFile(file)) ? [keyFile(file), keyFile(nextKeyFile(file))] : [keyFile(file)];
  // A memory database is gone with the process, and so may its key be.
  if (config.db === ':memory:') return [named(randomBytes(32))];
  throw new ServiceError(
    'svc_storage_unavailable',
    'A database on a server needs its secret key named: no file stands beside it.',
    {
      advice: 'Set SITEFLEET_SECRET_KEY or SITEFLEET_SECRET_KEY_FILE.',
    },
  );
}

export function openVault(config: KeyConfig): Vault {
  return createVault(vaultKeys(config));
}

export function named(key: Buffer): VaultKey {
  return { id: keyId(key), key };
}
