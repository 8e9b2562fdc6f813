/** What an update needs that its site does not have (child protocol §5.1): a newer PHP, a newer WordPress. Pure. */

/** Versions of a site; '' = not known. */
export interface Platform {
  php: string;
  wp: string;
}

/** Numbers with dots between them, as requirements are written. */
const PLAIN = /^\d{1,5}(?:\.\d{1,5}){0,3}$/;
/** How the version of a site begins, which may go on: `8.1.2-1ubuntu2.14`, `7.0-RC1`. */
const BEGINNING = /^\d{1,5}(?:\.\d{1,5}){0,3}(?!\.?\d)/;

/**
 * As `PHP 8.4 and WordPress 6.9`; '' = nothing is known to be missing. What is not a plain version, and what is not known
 * of the site, claims nothing.
 * @param wp,php what the update requires, as the site sent it
 */
export function missingFor(wp: string, php: string, platform: Platform): string {
  const missing = [
    ...(isOlder(platform.php, php) ? [`PHP ${php}`] : []),
    ...(isOlder(platform.wp, wp) ? [`WordPress ${wp}`] : []),
  ];
  return missing.join(' and ');
}

/** By numbers, as WordPress decides: 6.9 is no older than 6.9.0, and a pre-release counts as its release. */
function isOlder(installed: string, required: string): boolean {
  const own = BEGINNING.exec(installed)?.[0];
  if (own === undefined || !PLAIN.test(required)) return false;
  const [has, wanted] = [own.split('.').map(Number), required.split('.').map(Number)];
  for (let at = 0; at < 4; at++) {
    const difference = (has[at] ?? 0) - (wanted[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
