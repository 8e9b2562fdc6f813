/**
 * Changes plugins and themes of one site for REST: reports changed items by name, and failed ones with an error code.
 */

import type { ExtensionKind } from '../../../../schemas/snapshot.js';
import { type ContinuedJob, FOLLOW_JOB } from '../../../domain/actions/run-on-sites.js';
import type { Ctx } from '../../../domain/context.js';
import { type ActionAnswer, activateTheme, actNow } from '../../../domain/extensions/extensions.js';
import { CHILD_AGENT, installedBySlug, MUST_USE, PARENT_ACTIVE } from '../../../domain/sites/inventory.js';
import type { LoadedSite } from '../../../domain/sites/load.js';
import { type ErrorCode, ServiceError } from '../../../runtime/errors.js';
import type { ExtensionRow } from '../../../store/sites/inventory.js';

export interface NamedExtension {
  slug: string;
  name: string;
  version: string;
}

/** Flags of items that are never changed: must-use plugins and the child plugin itself. */
const PROTECTED = MUST_USE | CHILD_AGENT;
/** In `errors`: a theme that is active, or the parent of the one that is. */
const IN_USE = 'theme_in_use';

export interface Outcome {
  done: NamedExtension[];
  failed: { slug: string; code: string; message: string }[];
  /** The work continues as this job. */
  job?: Pick<ContinuedJob, 'job_id' | 'status_url'>;
}

/**
 * Changes plugins. A failed item has the code `not_installed`, `protected_item`, or the child's refusal. If none was
 * changed the whole call fails: with `svc_rest_<action>_plugins_action` if the child refused one, with
 * `svc_rest_invalid_plugins_slugs` if none could be sent, with the site's own failure if it could not be reached.
 */
export async function changePlugins(
  ctx: Ctx,
  target: LoadedSite,
  action: 'activate' | 'deactivate' | 'delete',
  slugs: readonly string[],
): Promise<Outcome> {
  const before = await installedBySlug(ctx, target.site.id, 'plugin');
  const result = await actNow(ctx, target, { kind: 'plugin', action, slugs });
  const outcome = await outcomeOf(ctx, target, 'plugin', before, result);
  requireSome(outcome, `svc_rest_${action}_plugins_action`, 'svc_rest_invalid_plugins_slugs');
  return outcome;
}

/**
 * Deletes themes. The active one and its parent are refused, with `svc_rest_conflict` for the whole call if nothing
 * else was sent. Otherwise fails like `changePlugins`.
 */
export async function removeThemes(ctx: Ctx, target: LoadedSite, slugs: readonly string[]): Promise<Outcome> {
  const before = await installedBySlug(ctx, target.site.id, 'theme');
  const result = await actNow(ctx, target, { kind: 'theme', action: 'delete', slugs });
  const outcome = await outcomeOf(ctx, target, 'theme', before, result);
  requireSome(outcome, 'svc_rest_delete_themes_action', 'svc_rest_invalid_themes_slugs');
  return outcome;
}

/** Switches the theme. Throws `svc_rest_invalid_themes_slugs` or `svc_rest_activate_themes_action`. */
export async function switchTheme(
  ctx: Ctx,
  target: LoadedSite,
  slug: string,
): Promise<{ activate: NamedExtension; deactivate: NamedExtension | null }> {
  const before = await installedBySlug(ctx, target.site.id, 'theme');
  try {
    const { previous_theme } = await activateTheme(ctx, target, slug);
    const after = await installedBySlug(ctx, target.site.id, 'theme');
    const left = previous_theme === slug ? undefined : before.get(previous_theme);
    return {
      activate: named(slug, after.get(slug)),
      deactivate: left === undefined ? null : named(left.slug, left),
    };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'svc_activation_failed') throw error;
    const known = (await installedBySlug(ctx, target.site.id, 'theme')).has(slug);
    throw new ServiceError(known ? 'svc_rest_activate_themes_action' : 'svc_rest_invalid_themes_slugs', error.message, {
      field: 'slug',
      advice: 'Read the slugs with GET …/themes.',
      data: { site_id: target.site.id },
    });
  }
}

async function outcomeOf(
  ctx: Ctx,
  target: LoadedSite,
  kind: ExtensionKind,
  before: ReadonlyMap<string, ExtensionRow>,
  { done, errors, job_id, status_url }: ActionAnswer,
): Promise<Outcome> {
  const after = await installedBySlug(ctx, target.site.id, kind);
  const failed = errors.map(({ slug, code, message }) => {
    const row = after.get(slug) ?? before.get(slug);
    // A site that gave no answer says nothing of what is installed on it.
    if (row === undefined) return { slug, code: isRefusal(code) ? 'not_installed' : code, message };
    if (kind === 'theme' && isInUse(row)) return { slug, code: IN_USE, message: inUse(row, message) };
    return { slug, code: isRefusal(code) && (row.flags & PROTECTED) !== 0 ? 'protected_item' : code, message };
  });
  return {
    done: done.map((slug) => named(slug, after.get(slug) ?? before.get(slug))),
    failed,
    ...(job_id === undefined || status_url === undefined ? {} : { job: { job_id, status_url } }),
  };
}

/** Whether a theme is active or the parent of the active one: these cannot be deleted. */
const isInUse = ({ active, flags }: ExtensionRow) => active === 1 || (flags & PARENT_ACTIVE) !== 0;

function inUse({ active }: ExtensionRow, message: string): string {
  const what = active === 1 ? 'the active theme' : 'the parent of the active theme';
  return `This is ${what}: switch the site to another theme first. ${message}`;
}

function named(slug: string, row: ExtensionRow | undefined): NamedExtension {
  return { slug, name: row?.name ?? slug, version: row?.version ?? '' };
}

/** Item codes that apply to the whole call, rather than to a refusal of the item. */
const WHOLE_CALL = ['svc_still_running', 'svc_site_offline'] as const;

function isRefusal(code: string): boolean {
  return !WHOLE_CALL.some((known) => known === code);
}

function requireSome({ done, failed, job }: Outcome, refused: ErrorCode, unusable: ErrorCode): void {
  const [first] = failed;
  if (done.length > 0 || first === undefined) return;
  const sent = failed.filter(({ code }) => code !== 'not_installed' && code !== 'protected_item');
  const own = WHOLE_CALL.find((known) => sent.some(({ code }) => code === known));
  const used = sent.length > 0 && sent.every(({ code }) => code === IN_USE);
  const code = own ?? (used ? 'svc_rest_conflict' : sent.length > 0 ? refused : unusable);
  throw new ServiceError(code, failed.length === 1 ? first.message : 'None of the items could be changed.', {
    ...(job === undefined ? { field: 'slug', advice: 'data.errors has the reason for each.' } : { advice: FOLLOW_JOB }),
    data: { errors: failed, ...job },
  });
}
