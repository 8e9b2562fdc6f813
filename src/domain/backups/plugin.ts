/** Finds the plugin for backups on a site, and installs it where it is missing. */

import { siteSays, siteWords, unmarked } from '../../../schemas/site-text.js';
import { cleanLine } from '../../../schemas/text.js';
import { ChildFailure } from '../../outbound/child/port.js';
import { GuardFailure } from '../../outbound/guard/failure.js';
import type { GuardHello, SiteGuard } from '../../outbound/guard/guards.js';
import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import { RepositoryError } from '../../runtime/repository-error.js';
import type { Ctx } from '../context.js';
import { type LoadedSite, requireWritable } from '../sites/load.js';
import { compareVersions } from '../sites/versions.js';
import { askGuard, guardError } from '../updates/safe/find-guard.js';
import { putPlugin } from '../updates/safe/site-guard.js';

export type SiteBackup = ReturnType<SiteGuard['backups']>;

export interface OpenPlugin {
  guard: SiteGuard;
  site: SiteBackup;
  hello: GuardHello;
}

/** Only asks: `ready` = the plugin for backups is there, and not an older one. @throws ServiceError as `openPlugin` */
export async function findPlugin(ctx: Ctx, target: LoadedSite): Promise<OpenPlugin & { ready: boolean }> {
  requireWritable(target);
  const found = await askGuard(ctx, target);
  if (found === null)
    throw new ServiceError(
      'svc_guard_unavailable',
      `Site ${target.site.id} has no guard that answers. Backups are read through it.`,
      { advice: 'Install it with install-site-guard-v1, then try again.', data: { site_id: target.site.id } },
    );
  const { version } = await ctx.guards.backupPlugin();
  const present = found.hello.backup;
  const ready = present !== null && compareVersions(present, version) >= 0;
  return { guard: found.guard, site: found.guard.backups(), hello: found.hello, ready };
}

/**
 * The plugin for backups of a site that has a guard; installs it if it is missing.
 * @throws ServiceError if the site has no guard that answers
 */
export async function openPlugin(ctx: Ctx, target: LoadedSite): Promise<OpenPlugin> {
  const { ready, ...found } = await findPlugin(ctx, target);
  if (!ready) {
    const { php } = await ctx.guards.backupPlugin();
    await ctx.locks.exclusive(target.site.id, ctx.signal, () => putPlugin(ctx, target, php, 'sitefleet-backup.php'));
    const after = await askGuard(ctx, target);
    if (after?.hello.backup == null)
      throw new ServiceError('svc_guard_install_failed', 'The plugin for backups was written, but does not answer.', {
        advice: 'Copy sitefleet-backup.php into wp-content/mu-plugins manually, beside the guard.',
        data: { site_id: target.site.id },
      });
  }
  return found;
}

/** A path or a name of the site, as a value of its own in an answer. Within a sentence: `pathWord`. */
export function pathText(text: string, max = 400): string {
  return unmarked(cleanLine(text, max));
}

/** The same within a sentence of ours: quoted, unless it is a short name. Longer than other words, as it is looked for. */
export function pathWord(path: string): string {
  return siteWords(path, 400);
}

/** What the repository says is wrong; null = the error is another one. */
export function repositoryProblem(error: unknown): RepositoryError | null {
  return error instanceof RepositoryError ? error : null;
}

/** What is damaged or missing in the repository. Throws any other error. */
export function damageIn(error: unknown): string {
  const problem = repositoryProblem(error);
  if (problem === null || !['damaged', 'missing'].includes(problem.kind)) throw error;
  return problem.message;
}

/** Of an operator; the program cannot know which of the two is wanted. */
export const ELSEWHERE =
  'Mount that folder here, set SITEFLEET_SITE_BACKUP_DIR to one that all machines share, or SITEFLEET_SITE_BACKUP_S3 to a bucket. If backups are to be in the new place: sitefleet backups use-place.';

/** Converts a failure of the site or the repository to a known error. `otherwise`: what the guard refused. */
export function backupError(error: unknown, siteId: number, otherwise: ErrorCode): ServiceError {
  if (error instanceof ServiceError) return error;
  const problem = repositoryProblem(error);
  if (problem !== null)
    return new ServiceError('svc_backup_storage', problem.message, {
      ...(problem.kind === 'elsewhere' ? { advice: ELSEWHERE } : {}),
      data: { site_id: siteId, reason: problem.kind },
      cause: error,
    });
  if (error instanceof GuardFailure && error.code === 'no_guard')
    return new ServiceError('svc_guard_unavailable', `The guard of site ${siteId} did not answer.`, {
      advice: 'Try again: what was started is then completed or rolled back.',
      data: { site_id: siteId },
      cause: error,
    });
  if (error instanceof GuardFailure && !['clock', 'other_site', 'replayed'].includes(error.code))
    return new ServiceError(otherwise, `Site ${siteId}: ${siteSays(error.message)}`, {
      advice: 'Fix the cause on the site, then try again.',
      data: { site_id: siteId, reason: error.code },
      cause: error,
    });
  return guardError(error, siteId);
}

/** The same call may succeed later: the site, or its database, was away or busy. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ChildFailure) return true;
  if (error instanceof GuardFailure) return ['no_guard', 'busy', 'database', 'no_space'].includes(error.code);
  if (error instanceof ServiceError) return ['svc_storage_unavailable', 'svc_cancelled'].includes(error.code);
  return ['full', 'unavailable'].includes(repositoryProblem(error)?.kind ?? '');
}
