/** `sitefleet rotate-key`: seals every stored secret with another key. */

import { existsSync, renameSync } from 'node:fs';
import type { Config } from '../context.js';
import { named, nextKeyFile, vaultKeys } from '../secret-key.js';
import { createStore } from '../store/store.js';
import { createVault, keyFile, loadKey, type VaultKey } from '../store/vault.js';
import { CommandError } from './accounts.js';
import { withDatabase } from './database.js';
import { printJson, say } from './output.js';

/**
 * With a key file: makes a new key, seals everything anew, and puts it in the old one's place. Cut off at any moment, both
 * keys are kept and the next run goes on. With SITEFLEET_SECRET_KEY: the variable holds the new key, stdin the old one.
 */
export async function rotateKey(
  config: Config,
  options: { oldKey?: string; force?: boolean; json?: boolean },
): Promise<void> {
  const { current, next, done } = keysFor(config, options.oldKey);
  const rewritten = await withDatabase(config, async ({ db }) => {
    const store = createStore(db, createVault([next, current]));
    const running = await store.schedule.owner('schedule', Date.now());
    if (running !== null && options.force !== true) {
      throw new CommandError(
        `A server is running (${running}); it would no longer open its secrets. Stop it first, or use --force and restart it.`,
      );
    }
    return (await store.sites.resealSecrets()) + (await store.settings.resealSecrets());
  });
  done();
  if (options.json === true) printJson({ key_id: next.id, resealed: rewritten });
  else say(`Sealed ${rewritten} records with the new key ${next.id}. Back the key up, apart from the database.`);
}

function keysFor(config: Config, oldKey: string | undefined): { current: VaultKey; next: VaultKey; done(): void } {
  if (config.secret_key !== null) {
    if (oldKey === undefined) {
      throw new CommandError('SITEFLEET_SECRET_KEY holds the new key; give the old one on stdin with --old-key-stdin.');
    }
    return { current: named(loadKey(oldKey)), next: named(loadKey(config.secret_key)), done: () => undefined };
  }
  const file = config.secret_key_file;
  if (file === null || !existsSync(file))
    throw new CommandError('There is no secret key yet. "serve" makes one on its first start.');
  const [current] = vaultKeys(config);
  if (current === undefined) throw new CommandError('There is no secret key yet.');
  const next = keyFile(nextKeyFile(file));
  return { current, next, done: () => renameSync(nextKeyFile(file), file) };
}
