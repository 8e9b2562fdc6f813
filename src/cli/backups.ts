/** `sitefleet backups`: what concerns the repository of the sites' backups, in the shell of the machine. */

import { adoptBackups } from '../domain/backups/adopt.js';
import type { Config } from '../runtime/config/types.js';
import { secretFrom } from './ask.js';
import { CommandError } from './command-error.js';
import { withLocalService } from './local-service.js';
import { print, say } from './output.js';

/** Prints what is needed to read the backups without this installation. It is a secret. */
export async function recoverySheet(config: Config): Promise<void> {
  const { place, key } = await withLocalService(config, async ({ backupStorage }) => ({
    place: backupStorage.place,
    key: await backupStorage.key(),
  }));
  print(`Sitefleet: recovery sheet of the backups of sites

Place     ${place}
Key       ${key.match(/.{8}/g)?.join(' ')}

Anyone who has this key and the backups can read every backup. Without the key nobody can, not even Sitefleet.
Another installation reads them after: sitefleet backups use-key FILE`);
  say('Keep it apart from the backups: on paper, or in a password manager.');
}

/**
 * Takes over the repository of another installation: its key is stored here, and its index is made again.
 * @param file that contains the key, `-` for standard input
 */
export async function useKey(config: Config, file: string): Promise<void> {
  const key = (await secretFrom(file)).replace(/\s/g, '');
  if (!/^[0-9a-f]{64}$/.test(key)) throw new CommandError('A key has 64 hex digits: copy it from the recovery sheet.');
  const { packs, damage, adopted } = await withLocalService(config, async (ctx) => {
    await ctx.backupStorage.useKey(key);
    const index = await (await ctx.backupStorage.open()).rebuildIndex();
    return { ...index, adopted: await adoptBackups(ctx) };
  });
  say(
    `The key opens the repository. ${adopted} backups were found in it; ${damage.length} of ${packs + damage.length} packs cannot be read.`,
  );
  for (const { pack, problem } of damage) say(`${pack}: ${problem}`);
}
