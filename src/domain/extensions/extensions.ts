/** Plugins and themes of one site: the stored inventory, and changes on the site itself, each verified. */

import type { ChildActionAnswer, ExtensionKind, Snapshot, SnapshotExtension } from '../../child/child.js';
import { type ErrorCode, ServiceError } from '../../core/errors.js';
import type { ExtensionRow } from '../../store/sites/inventory.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import {
  type LoadedSite,
  requireConnection,
  requireNotOnTrial,
  requireReachable,
  requireVersion,
  siteCallError,
} from '../sites/load.js';
import { getSite, type SiteRef } from '../sites/resolve.js';
import { fetchSnapshot, storeSnapshot } from '../sites/sync.js';

const KIND_NUMBER: Record<ExtensionKind, number> = { plugin: 0, theme: 1 };
const CHILD_AGENT = 2;

export interface ExtensionEntry {
  slug: string;
  name: string;
  version: string;
  active: boolean;
  update_version: string | null;
}

export interface SlugError {
  slug: string;
  code: string;
  message: string;
}

export function extensionEntry(row: ExtensionRow): ExtensionEntry {
  return {
    slug: row.slug,
    name: row.name,
    version: row.version,
    active: row.active === 1,
    update_version: row.update_version,
  };
}

export function installedExtensions(ctx: Ctx, siteId: number, kind: ExtensionKind): Promise<ExtensionRow[]> {
  return ctx.store.inventory.extensions(siteId, KIND_NUMBER[kind]);
}

/** A write was asked for nothing: the list must name at least one. */
export function requireSlugs(slugs: readonly string[], field = 'slugs'): string[] {
  const unique = [...new Set(slugs.map((slug) => slug.trim()))];
  if (unique.length === 0 || unique.some((slug) => slug === '')) {
    throw new ServiceError(
      'svc_invalid_input',
      unique.length === 0 ? `${field} must name at least one.` : `${field} must not hold blank entries.`,
      {
        field,
        advice: 'Read the slugs with get-site-plugins-v1 or get-site-themes-v1.',
      },
    );
  }
  return unique;
}

export type ExtensionAction = 'activate' | 'deactivate' | 'delete';

const FAILURE: Record<ExtensionAction, ErrorCode> = {
  activate: 'svc_activation_failed',
  deactivate: 'svc_deactivation_failed',
  delete: 'svc_deletion_failed',
};

const DONE: Record<ExtensionAction, (item: SnapshotExtension | undefined) => boolean> = {
  activate: (item) => item?.active === true,
  deactivate: (item) => item !== undefined && !item.active,
  delete: (item) => item === undefined,
};

const NOT_DONE: Record<ExtensionAction, string> = {
  activate: 'The site reports it as still inactive. It may have failed on activation: look into the site’s error log.',
  deactivate: 'The site reports it as still active.',
  delete: 'The site still has it.',
};

export interface ActionResult {
  done: string[];
  errors: SlugError[];
}

/** Checks of a write on one site that come before anything is sent (operations §8.1 REACH, CHILD). */
export function requireWritable(target: LoadedSite): void {
  requireNotOnTrial(target);
  requireVersion(target);
  requireReachable(target);
}

/**
 * Changes plugins one by one in the order given; one failure keeps the rest. The inventory decides: slugs are looked up
 * before, and the state on the site is read after, because the child says SUCCESS to both (child protocol §6.2).
 */
export async function actOnPlugins(
  ctx: Ctx,
  target: LoadedSite,
  action: ExtensionAction,
  slugs: readonly string[],
): Promise<ActionResult> {
  requireWritable(target);
  return ctx.locks.exclusive(target.site.id, ctx.signal, () => act(ctx, target, 'plugin', action, slugs));
}

/** Deletes themes one by one; the active theme and its parent are refused by the child. */
export async function deleteThemes(ctx: Ctx, target: LoadedSite, slugs: readonly string[]): Promise<ActionResult> {
  requireWritable(target);
  return ctx.locks.exclusive(target.site.id, ctx.signal, () => act(ctx, target, 'theme', 'delete', slugs));
}

/** Switches the theme. An unknown slug is never sent: the child would really switch to one that does not exist (child protocol §6.3). */
export async function activateTheme(
  ctx: Ctx,
  target: LoadedSite,
  slug: string,
): Promise<{ activated: string; previous_theme: string }> {
  requireWritable(target);
  return ctx.locks.exclusive(target.site.id, ctx.signal, async () => {
    const previous =
      (await installedExtensions(ctx, target.site.id, 'theme')).find((row) => row.active === 1)?.slug ?? '';
    const { errors } = await act(ctx, target, 'theme', 'activate', [slug]);
    const [error] = errors;
    if (error !== undefined) {
      const refused = error.code === FAILURE.activate;
      throw new ServiceError(error.code as ErrorCode, error.message, {
        ...(refused ? { field: 'slug', advice: 'Read the slugs with get-site-themes-v1.' } : {}),
        data: { site_id: target.site.id },
      });
    }
    return { activated: slug, previous_theme: previous };
  });
}

async function act(
  ctx: Ctx,
  target: LoadedSite,
  kind: ExtensionKind,
  action: ExtensionAction,
  slugs: readonly string[],
): Promise<ActionResult> {
  const { known, failure: unseen } = await knownSlugs(ctx, target, kind, action, slugs);
  const result: ActionResult = { done: [], errors: [] };
  for (const slug of slugs) {
    const row = known.get(slug);
    if (row === undefined && unseen !== null) {
      result.errors.push({ slug, code: unseen.code, message: unseen.message });
      continue;
    }
    const refusal = refuse(row, kind, action);
    if (refusal !== null) {
      result.errors.push({ slug, code: FAILURE[action], message: refusal });
      continue;
    }
    try {
      await actOnOne(ctx, target, kind, action, slug);
      result.done.push(slug);
      ctx.events.emit({ name: `${kind}.${action}d`, site_id: target.site.id, facts: { slug } });
    } catch (error) {
      const failure = siteCallError(error, target.site.id, FAILURE[action]);
      if (failure.code === 'svc_cancelled') throw failure;
      if (failure.code === 'svc_internal_error')
        ctx.log.error({ err: failure.cause ?? error, site_id: target.site.id, slug, action }, 'unexpected failure');
      result.errors.push({ slug, code: failure.code, message: failure.message });
      ctx.events.emit({
        name: `${kind}.${action}_failed`,
        site_id: target.site.id,
        facts: { slug, code: failure.code },
      });
    }
    ctx.progress({ done: result.done.length + result.errors.length, total: slugs.length, message: slug });
  }
  return result;
}

/**
 * The stored inventory, refreshed once when it lacks a slug: it may have been installed since the last sync. `failure` tells
 * why it could not be refreshed; the slugs that are known can be worked on all the same.
 */
async function knownSlugs(
  ctx: Ctx,
  target: LoadedSite,
  kind: ExtensionKind,
  action: ExtensionAction,
  slugs: readonly string[],
): Promise<{ known: Map<string, ExtensionRow>; failure: ServiceError | null }> {
  const read = async () =>
    new Map((await installedExtensions(ctx, target.site.id, kind)).map((row) => [row.slug, row]));
  const known = await read();
  if (slugs.every((slug) => known.has(slug))) return { known, failure: null };
  try {
    await fetchSnapshot(ctx, target);
  } catch (error) {
    const failure = siteCallError(error, target.site.id, FAILURE[action]);
    // The site answered, but not as it should: to this call that is a failed action, not a failed sync.
    if (failure.code === 'svc_sync_failed')
      return { known, failure: new ServiceError(FAILURE[action], failure.message) };
    if (failure.code === 'svc_site_offline') return { known, failure };
    throw failure;
  }
  return { known: await read(), failure: null };
}

function refuse(row: ExtensionRow | undefined, kind: ExtensionKind, action: ExtensionAction): string | null {
  if (row === undefined) return `No ${kind} with this slug is installed on the site.`;
  if (action !== 'activate' && (row.flags & CHILD_AGENT) !== 0)
    return 'This is the child plugin itself: without it the site could no longer be reached.';
  return null;
}

async function actOnOne(
  ctx: Ctx,
  target: LoadedSite,
  kind: ExtensionKind,
  action: ExtensionAction,
  slug: string,
): Promise<void> {
  const connection = requireConnection(target);
  let answer: ChildActionAnswer | null = null;
  let failure: unknown = null;
  try {
    answer =
      kind === 'plugin'
        ? await ctx.child.pluginAction(connection, action, [slug], { signal: ctx.signal })
        : await ctx.child.themeAction(connection, action === 'delete' ? 'delete' : 'activate', [slug], {
            signal: ctx.signal,
          });
  } catch (error) {
    // It may have run all the same: the site is asked before it is called a failure.
    if (!mayHaveRun(error) || ctx.signal.aborted) throw error;
    failure = error;
  }
  const brought = answer?.snapshot ?? null;
  const came = hasList(brought, kind) ? brought : null;
  let seen = await storeSnapshot(ctx, target, came);
  // The inventory in an answer may come from WordPress' cache before the action: a sync has the current state.
  if (came !== null && !DONE[action](find(seen, kind, slug))) seen = await storeSnapshot(ctx, target, null);
  if (!hasList(seen, kind)) {
    if (failure !== null) throw failure;
    throw new ServiceError(
      FAILURE[action],
      'The site did not report its inventory afterwards, so the change could not be verified.',
      { advice: 'Sync the site and look again.' },
    );
  }
  if (DONE[action](find(seen, kind, slug))) return;
  if (failure !== null) throw failure;
  const verdict = answer?.verdicts.find((item) => item.slug === slug);
  throw new ServiceError(
    FAILURE[action],
    verdict === undefined || verdict.message === '' ? NOT_DONE[action] : verdict.message,
  );
}

function find(snapshot: Snapshot | null, kind: ExtensionKind, slug: string): SnapshotExtension | undefined {
  return (kind === 'plugin' ? snapshot?.plugins : snapshot?.themes)?.find((item) => item.slug === slug);
}

function hasList(snapshot: Snapshot | null, kind: ExtensionKind): boolean {
  return snapshot !== null && (kind === 'plugin' ? snapshot.plugins : snapshot.themes) !== undefined;
}

export function mayHaveRun(error: unknown): boolean {
  return error instanceof Error && 'mayHaveRun' in error && error.mayHaveRun === true;
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
