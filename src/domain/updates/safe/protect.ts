/**
 * Protects an item while it is updated: by a copy that the guard keeps, or its package in the archive of wordpress.org.
 */

import { siteSays, siteWord } from '../../../../schemas/site-text.js';
import { GuardFailure } from '../../../outbound/guard/failure.js';
import type { SiteGuard } from '../../../outbound/guard/guards.js';
import { ServiceError } from '../../../runtime/errors.js';
import type { Protection } from '../../../store/safety/changes.js';
import type { FleetOffer } from '../../../store/updates/updates.js';
import type { Ctx } from '../../context.js';
import { siteCallError } from '../../sites/load.js';
import { UPDATE_TYPES } from '../results.js';
import { ARMED_SECONDS, note, type SafeItem, type SafeRun } from './safe-run.js';

const ARCHIVE = 'https://downloads.wordpress.org/';
const ARCHIVE_TIMEOUT_MS = 10_000;

/** From the weakest. */
const STRENGTH: readonly Protection[] = ['none', 'reinstall', 'guard'];

export function isWeaker(protection: Protection, than: Protection): boolean {
  return STRENGTH.indexOf(protection) < STRENGTH.indexOf(than);
}

/** The best available protection of an item: WordPress itself and translations have none. */
export async function protectionOf(ctx: Ctx, guard: SiteGuard | null, offer: FleetOffer): Promise<Protection> {
  const type = UPDATE_TYPES[offer.type];
  if (type !== 'plugin' && type !== 'theme') return 'none';
  if (guard !== null) return 'guard';
  return archiveProtection(ctx, type, offer.slug, offer.current_version);
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

/** Time for our own checks after an update: until then no visitor decides, as they can provoke errors in any version. */
const PATIENCE_SECONDS = 30;

/**
 * Has the guard keep the old version, and lets it restore it on its own. Throws ServiceError, and then nothing has
 * changed.
 */
export async function keepOldVersion(run: SafeRun, item: SafeItem): Promise<void> {
  const { guard, ctx } = run;
  if (guard === null || (item.type !== 'plugin' && item.type !== 'theme')) return;
  try {
    const kept = await guard.snapshot(item.type, item.slug, { signal: ctx.signal });
    item.snapshot = kept.id;
    await note(run, item, { snapshot: kept.id, digest: kept.digest, step: 'arm' });
    const armed = await guard.arm(kept.id, ARMED_SECONDS, PATIENCE_SECONDS, { signal: ctx.signal });
    const until = armed.find(({ snapshot }) => snapshot === kept.id)?.until ?? null;
    item.faults_since = until === null ? null : until - ARMED_SECONDS;
    await note(run, item, { armed_until: until });
  } catch (error) {
    throw protectionError(error, run.target.site.id, item);
  }
}

function protectionError(error: unknown, siteId: number, { slug }: SafeItem): ServiceError {
  if (!(error instanceof GuardFailure)) return siteCallError(error, siteId, 'svc_snapshot_refused');
  return new ServiceError(
    'svc_snapshot_refused',
    `The guard could not save a copy of ${siteWord(slug)}, so it was not updated (${siteWord(error.code)}). ${siteSays(error.message)}`.trim(),
    {
      advice: 'Fix the cause on the site, or update it with safe-update-site-v1 and a lower least_protection.',
      data: { site_id: siteId, reason: error.code },
    },
  );
}

/** Disarms the watchdog of an item, or of all on the site. One that cannot be reached expires. */
export async function disarm(run: SafeRun, item: SafeItem | 'all'): Promise<void> {
  if (run.guard === null || (item !== 'all' && item.snapshot === null)) return;
  try {
    await run.guard.disarm(item === 'all' ? null : item.snapshot, { signal: run.ctx.signal });
  } catch (error) {
    if (run.ctx.signal.aborted) throw error;
    run.ctx.log.warn({ err: error, site_id: run.target.site.id, run: run.id }, 'a guard could not be disarmed');
  }
}
