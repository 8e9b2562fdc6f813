/** Plugins and themes of one site: the stored inventory, and direct calls that change them. `act.ts` does the work. */

import type { extensionEntry as extension } from '../../../schemas/extension.js';
import type { z } from '../../../schemas/zod.js';
import type { ExtensionKind } from '../../outbound/child/port.js';
import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { ExtensionRow } from '../../store/sites/inventory.js';
import type { SiteRow } from '../../store/sites/sites.js';
import { type ContinuedJob, FOLLOW_JOB, runOnOne } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import { installedExtensions, MUST_USE } from '../sites/inventory.js';
import { type LoadedSite, requireWritable } from '../sites/load.js';
import { getSite, type SiteRef } from '../sites/resolve.js';
import type { ActionResult, ExtensionParams } from './act.js';
import { extensionHandler } from './handler.js';

type ExtensionEntry = z.output<ReturnType<typeof extension>>;

export function extensionEntry(row: ExtensionRow): ExtensionEntry {
  return {
    slug: row.slug,
    name: row.name,
    version: row.version,
    active: row.active === 1,
    update_version: row.update_version,
    ...((row.flags & MUST_USE) === 0 ? {} : { must_use: true as const }),
  };
}

/** A write needs at least one slug. */
export function requireSlugs(slugs: readonly string[], field = 'slugs'): string[] {
  const unique = [...new Set(slugs.map((slug) => slug.trim()))];
  if (unique.length === 0 || unique.some((slug) => slug === '')) {
    throw new ServiceError(
      'svc_invalid_input',
      unique.length === 0 ? `${field} must name at least one.` : `${field} must not contain blank entries.`,
      {
        field,
        advice: 'Read the slugs with get-site-plugins-v1 or get-site-themes-v1.',
      },
    );
  }
  return unique;
}

/** The outcome of a call on plugins or themes. With a job, the rest continues as that job. */
export interface ActionAnswer extends ActionResult, Partial<Pick<ContinuedJob, 'job_id' | 'status_url'>> {}

/**
 * Changes plugins or themes in one call to the child, each verified; one failure does not affect the rest. If the time
 * of a direct call runs out, each slug has an error that names the job on which the work continues.
 */
export async function actNow(ctx: Ctx, target: LoadedSite, change: ExtensionParams): Promise<ActionAnswer> {
  requireWritable(target);
  try {
    const { result } = await runOnOne(ctx, extensionHandler, target.site, change);
    return result;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.data.job_id === undefined) throw error;
    const { code, message } = error;
    const { job_id, status_url } = error.data as Pick<ContinuedJob, 'job_id' | 'status_url'>;
    return { done: [], errors: change.slugs.map((slug) => ({ slug, code, message })), job_id, status_url };
  }
}

/**
 * Switches the theme. An unknown slug is never sent: the child would actually switch to a theme that does not exist
 * (child protocol §6.3).
 */
export async function activateTheme(
  ctx: Ctx,
  target: LoadedSite,
  slug: string,
): Promise<{ activated: string; previous_theme: string }> {
  const previous =
    (await installedExtensions(ctx, target.site.id, 'theme')).find((row) => row.active === 1)?.slug ?? '';
  const change = { kind: 'theme', action: 'activate', slugs: [slug] } as const;
  const { errors, done: _done, ...job } = await actNow(ctx, target, change);
  const [error] = errors;
  if (error !== undefined) {
    const refused = error.code === 'svc_activation_failed';
    throw new ServiceError(error.code as ErrorCode, error.message, {
      ...(refused ? { field: 'slug', advice: 'Read the slugs with get-site-themes-v1.' } : {}),
      ...(job.job_id === undefined ? {} : { advice: FOLLOW_JOB }),
      data: { site_id: target.site.id, ...job },
    });
  }
  return { activated: slug, previous_theme: previous };
}

/** Stored plugins or themes of a named site, in the child's order. */
export async function listExtensions(
  ctx: Ctx,
  ref: SiteRef,
  kind: ExtensionKind,
): Promise<{ site: SiteRow; items: ExtensionEntry[] }> {
  const site = await getSite(ctx, ref);
  const rows = await installedExtensions(ctx, site.id, kind);
  return { site, items: rows.map(extensionEntry) };
}
