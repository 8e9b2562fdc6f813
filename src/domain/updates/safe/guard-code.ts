/**
 * The PHP that installs a must-use plugin of ours on a site, or removes the guard, run by the child plugin. Each program
 * prints `<sitefleet>word</sitefleet>`. The plugin is sent in parts: PHP needs a folder for temporary files to read a form of
 * more than 16 KB, which some hosts do not provide, and firewalls refuse long values. The parts are collected next to
 * the guard's place under a name that WordPress does not load, then renamed: the guard is installed completely or not
 * at all.
 */

import { createHash } from 'node:crypto';

/** The must-use plugins. The second answers through the first. */
export type MustUseFile = 'sitefleet-guard.php' | 'sitefleet-backup.php';

const placeOf = (
  file: MustUseFile,
) => `$folder = defined( 'WPMU_PLUGIN_DIR' ) ? WPMU_PLUGIN_DIR : WP_CONTENT_DIR . '/mu-plugins';
$file = $folder . '/${file}';`;
const SAY = `echo '<sitefleet>' . $said . '</sitefleet>';`;
/**
 * The guard of a network does not trust the options of a site: a network administrator, as whom the child plugin runs
 * this, names the key of the site in an option of the network.
 */
const TRUST = `if ( is_multisite() ) {
  $keys = get_site_option( 'sitefleet_guard_keys' );
  $keys = is_array( $keys ) ? $keys : array();
  $keys[ get_current_blog_id() ] = get_option( 'mainwp_child_pubkey' );
  update_site_option( 'sitefleet_guard_keys', $keys );
}`;
/** Also removes the leftovers of an interrupted installation. */
const PREPARE = `foreach ( (array) @glob( $folder . '/.sitefleet-guard-*.part' ) as $old ) if ( $old ) @unlink( $old );
if ( defined( 'DISALLOW_FILE_MODS' ) && DISALLOW_FILE_MODS ) $said = 'file_mods';
elseif ( ! function_exists( 'openssl_public_decrypt' ) ) $said = 'no_openssl';
elseif ( ! function_exists( 'flock' ) ) $said = 'no_flock';
elseif ( is_multisite() && ! is_super_admin() ) $said = 'not_network';
elseif ( ! is_dir( $folder ) && ! @mkdir( $folder, 0755, true ) ) $said = 'not_writable';
else $said = 'next';`;
const FORGET = `if ( function_exists( 'opcache_invalidate' ) ) @opcache_invalidate( $file, true );`;

/**
 * Notes the addresses that the database has, whatever `wp-config.php` says: a copy of the site, whose database has others, does not pass for
 * it. As a digest, which no search and replace of the copy's address finds.
 */
const ADDRESS = `$rows = (array) $GLOBALS['wpdb']->get_results( "SELECT option_name, option_value FROM {$GLOBALS['wpdb']->options} WHERE option_name IN ( 'home', 'siteurl' )", ARRAY_N );
$rows = array_column( $rows, 1, 0 );
$address = hash( 'sha256', ( $rows['home'] ?? '' ) . "\\n" . ( $rows['siteurl'] ?? '' ) );
$setting = "define( 'SITEFLEET_GUARD_ADDRESS', '";
$text = str_replace( $setting . "' )", $setting . $address . "' )", (string) @file_get_contents( $part ) );`;

/** Bytes of the plugin per part: encoded twice it stays under 16 KB. */
const PART_BYTES = 9_000;

/**
 * Programs to run one after the other, each only if the previous one printed `next`; the last prints `done`.
 * @param php the plugin's own text
 * @param token 16 hex digits that identify this installation
 */
export function installCode(php: string, token: string, file: MustUseFile = 'sitefleet-guard.php'): string[] {
  const bytes = Buffer.from(php);
  const part = `${placeOf(file)}\n$part = $folder . '/.sitefleet-guard-${token}.part';`;
  const parts = Array.from({ length: Math.ceil(bytes.length / PART_BYTES) }, (_, index) => {
    const code = bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES).toString('base64');
    return `${part}
$code = base64_decode('${code}');
${index === 0 ? PREPARE : "$said = 'next';"}
if ( 'next' === $said && @file_put_contents( $part, $code, FILE_APPEND ) !== strlen( $code ) ) { @unlink( $part ); $said = 'not_writable'; }
${SAY}`;
  });
  const digest = createHash('sha256').update(bytes).digest('hex');
  return [
    ...parts,
    `${part}
if ( @hash_file( 'sha256', $part ) !== '${digest}' ) { @unlink( $part ); $said = 'damaged'; }
else {
  ${ADDRESS}
  if ( '' === $text || @file_put_contents( $part, $text ) !== strlen( $text ) || ! @rename( $part, $file ) ) { @unlink( $part ); $said = 'not_writable'; }
  else { if ( function_exists( 'chmod' ) ) @chmod( $file, 0644 ); ${FORGET} ${TRUST} $said = 'done'; }
}
${SAY}`,
  ];
}

/** For a guard that does not respond; one that does removes itself, and its copies. */
export function removeCode(): string {
  return `${placeOf('sitefleet-guard.php')}
$said = ! file_exists( $file ) || @unlink( $file ) ? 'done' : 'not_writable';
if ( 'done' === $said && is_multisite() ) delete_site_option( 'sitefleet_guard_keys' );
${FORGET}
@unlink( $folder . '/sitefleet-backup.php' );
${SAY}`;
}

export interface GuardSettings {
  /** Logins by token are allowed. */
  login: boolean;
  /** Unix seconds: requests signed before are refused, so recorded ones cannot be replayed. */
  since: number;
}

/** The plugin's text with its settings. */
export function withSettings(php: string, { login, since }: GuardSettings): string {
  const set = (text: string, name: string, standard: string, value: string) => {
    const setting = `define( '${name}', ${standard} )`;
    if (!text.includes(setting)) throw new Error(`The guard has lost its setting ${name}.`);
    return text.replace(setting, `define( '${name}', ${value} )`);
  };
  return set(set(php, 'SITEFLEET_GUARD_LOGIN', 'false', String(login)), 'SITEFLEET_GUARD_SINCE', '0', String(since));
}

/** The word that the code printed; '' if it printed none. */
export function printedWord(output: string): string {
  return /<sitefleet>([a-z_]{1,40})<\/sitefleet>/.exec(output)?.[1] ?? '';
}
