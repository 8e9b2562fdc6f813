/**
 * The PHP that puts the guard onto a site, or takes it away, run by the child plugin. Both print `<sitefleet>word</sitefleet>`.
 * The guard is written beside its place under a name that WordPress does not load, and renamed: it is there whole or not at all.
 */

import { createHash } from 'node:crypto';

const PLACE = `$folder = defined( 'WPMU_PLUGIN_DIR' ) ? WPMU_PLUGIN_DIR : WP_CONTENT_DIR . '/mu-plugins';
$file = $folder . '/sitefleet-guard.php';`;
const FORGET = `if ( function_exists( 'opcache_invalidate' ) ) @opcache_invalidate( $file, true );`;

/** @param php the plugin's own text */
export function installCode(php: string): string {
  const digest = createHash('sha256').update(php).digest('hex');
  return `${PLACE}
$code = base64_decode('${Buffer.from(php).toString('base64')}');
$part = $folder . '/.sitefleet-guard-' . bin2hex( random_bytes( 8 ) ) . '.part';
if ( defined( 'DISALLOW_FILE_MODS' ) && DISALLOW_FILE_MODS ) $said = 'file_mods';
elseif ( hash( 'sha256', $code ) !== '${digest}' ) $said = 'damaged';
elseif ( ! extension_loaded( 'openssl' ) ) $said = 'no_openssl';
elseif ( ! is_dir( $folder ) && ! @mkdir( $folder, 0755, true ) ) $said = 'not_writable';
elseif ( @file_put_contents( $part, $code ) !== strlen( $code ) ) { @unlink( $part ); $said = 'not_writable'; }
elseif ( ! @rename( $part, $file ) ) { @unlink( $part ); $said = 'not_writable'; }
else { @chmod( $file, 0644 ); ${FORGET} $said = 'done'; }
echo '<sitefleet>' . $said . '</sitefleet>';`;
}

/** For a guard that does not answer; one that does removes itself, and its copies. */
export function removeCode(): string {
  return `${PLACE}
$said = ! file_exists( $file ) || @unlink( $file ) ? 'done' : 'not_writable';
${FORGET}
echo '<sitefleet>' . $said . '</sitefleet>';`;
}

/** The plugin's text with logins by token allowed, or as it is. */
export function withLogin(php: string, allowed: boolean): string {
  if (!allowed) return php;
  const changed = php.replace("define( 'SITEFLEET_GUARD_LOGIN', false )", "define( 'SITEFLEET_GUARD_LOGIN', true )");
  if (changed === php) throw new Error('The guard has lost its setting for logins.');
  return changed;
}

/** The word that the code printed; '' when it printed none. */
export function printedWord(output: string): string {
  return /<sitefleet>([a-z_]{1,40})<\/sitefleet>/.exec(output)?.[1] ?? '';
}
