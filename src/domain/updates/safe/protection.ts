/** What an item can be rolled back to: a copy that the guard keeps, or its package in the archive of wordpress.org. */

import type { Protection } from '../../../store/safety/changes.js';
import type { Ctx } from '../../context.js';

const ARCHIVE = 'https://downloads.wordpress.org/';
const ARCHIVE_TIMEOUT_MS = 10_000;

/** From the weakest. */
const STRENGTH: readonly Protection[] = ['none', 'reinstall', 'guard'];

export function isWeaker(protection: Protection, than: Protection): boolean {
  return STRENGTH.indexOf(protection) < STRENGTH.indexOf(than);
}

/** The URL of this version's package at wordpress.org. */
export function packageAddress(type: 'plugin' | 'theme', slug: string, version: string): string {
  const name = slug.split('/')[0]?.replace(/\.php$/, '') ?? '';
  return `${ARCHIVE}${type}/${encodeURIComponent(name)}.${encodeURIComponent(version)}.zip`;
}

/** The protection of an item without a guard: whether wordpress.org has the package of this version. */
export async function archiveProtection(
  ctx: Ctx,
  type: 'plugin' | 'theme',
  slug: string,
  version: string,
): Promise<Protection> {
  const { http_status } = await ctx.probe.http({
    url: packageAddress(type, slug, version),
    method: 'HEAD',
    http_user: null,
    http_pass: null,
    ssl_verify: true,
    timeoutMs: ARCHIVE_TIMEOUT_MS,
    expected: [200],
    maxBytes: 0,
    signal: ctx.signal,
  });
  return http_status === 200 ? 'reinstall' : 'none';
}
