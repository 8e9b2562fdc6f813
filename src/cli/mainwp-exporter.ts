/**
 * The PHP program that `sitefleet import mainwp` prints, `php/exporter.php`: run on the machine of a MainWP Dashboard, it writes all sites
 * and related records, sealed for one public key. It only reads, and uses the dashboard's own functions to decrypt.
 *
 * The file is a list of JWEs (RFC 7516), each sealing a page of records, so that neither side holds the whole fleet at
 * once. The key is wrapped by RSA-OAEP with SHA-1, because PHP before 8.5 supports nothing else; OAEP does not depend
 * on the collision resistance of its hash. Requires PHP 7.4 or newer, and WordPress with `$wpdb`.
 */

import { readFileSync } from 'node:fs';

export interface ExporterKey {
  id: string;
  /** SPKI PEM. */
  public_key: string;
  /** When the private half is deleted, ISO 8601. */
  expires: string;
}

/** Next to the sources, next to the folder they are built into, and next to the release's single file. */
const PLACES = ['../../php/exporter.php', '../../../php/exporter.php'];

/** The program for one key. It contains nothing secret. */
export function mainwpExporter(key: ExporterKey): string {
  const values: Record<string, string> = {
    '@KEY_ID@': key.id,
    '@PUBLIC_KEY@': key.public_key.trim(),
    '@EXPIRES@': key.expires,
  };
  return program().replace(/@(?:KEY_ID|PUBLIC_KEY|EXPIRES)@/g, (name) => values[name] ?? '');
}

function program(): string {
  for (const place of PLACES) {
    try {
      return readFileSync(new URL(place, import.meta.url), 'utf8');
    } catch {
      // The next place.
    }
  }
  throw new Error('The exporter is missing from this installation.');
}
