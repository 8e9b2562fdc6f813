/** Writes the wp-config.php of a restored copy: its own database, new salts, and nothing that would contact other servers. */

import { randomBytes } from 'node:crypto';
import { type CopySettings, CopyUnavailable } from './copies.js';

const SALTS = ['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'].flatMap((name) => [`${name}_KEY`, `${name}_SALT`]);

/** Of the copy, whatever the site has. */
const OWN: CopySettings['constants'] = {
  DISABLE_WP_CRON: true,
  WP_HTTP_BLOCK_EXTERNAL: true,
  AUTOMATIC_UPDATER_DISABLED: true,
  DISALLOW_FILE_MODS: true,
  WP_CACHE: false,
  WP_DEBUG: false,
  FS_METHOD: 'direct',
};

export function configText(
  { prefix, constants }: CopySettings,
  { socket, name, password }: { socket: string; name: string; password: string },
): string {
  if (!/^\w{0,64}$/.test(prefix))
    throw new CopyUnavailable('The table names begin with characters that WordPress does not accept.');
  const all = {
    DB_CHARSET: 'utf8mb4',
    DB_COLLATE: '',
    ...constants,
    ...OWN,
    ...{ DB_NAME: name, DB_USER: name, DB_PASSWORD: password, DB_HOST: `localhost:${socket}` },
    ...Object.fromEntries(SALTS.map((salt) => [salt, randomBytes(32).toString('hex')])),
  };
  const lines = Object.entries(all).map(([key, value]) => `define( ${literal(key)}, ${literal(value)} );`);
  return `<?php\n${lines.join('\n')}\n$table_prefix = ${literal(prefix)};\ndefined( 'ABSPATH' ) || define( 'ABSPATH', __DIR__ . '/' );\nrequire_once ABSPATH . 'wp-settings.php';\n`;
}

function literal(value: string | number | boolean): string {
  return typeof value === 'string' ? `'${value.replace(/[\\']/g, '\\$&')}'` : String(value);
}
