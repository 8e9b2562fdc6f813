/** `sitefleet backups`: what concerns the repository of the sites' backups, in the shell of the machine. */

import type { Config } from '../runtime/config/types.js';
import { withLocalService } from './local-service.js';
import { print, say } from './output.js';

/** Prints what is needed to read the backups without this installation. It is a secret. */
export async function recoverySheet(config: Config): Promise<void> {
  const { folder, key } = await withLocalService(config, async ({ backupStorage }) => ({
    folder: backupStorage.folder,
    key: await backupStorage.key(),
  }));
  print(`Sitefleet: recovery sheet of the backups of sites

Folder    ${folder}
Key       ${key.match(/.{8}/g)?.join(' ')}

Whoever has this key and the folder can read every backup. Without the key nobody can, not even Sitefleet.`);
  say('Keep it apart from the backups: on paper, or in a password manager.');
}
