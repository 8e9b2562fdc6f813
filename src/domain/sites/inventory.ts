/** The plugins and themes of a site: as stored, and as it reports them. */

import type { ExtensionKind, Snapshot } from '../../outbound/child/port.js';
import type { ExtensionRow } from '../../store/sites/inventory.js';
import type { Ctx } from '../context.js';

/** Bits of the flags of a stored plugin or theme. */
export const MUST_USE = 1;
export const CHILD_AGENT = 2;
export const PARENT_ACTIVE = 4;

/** As stored. */
export const KIND_NUMBER: Record<ExtensionKind, number> = { plugin: 0, theme: 1 };

/** As of the last sync, in the child's order. */
export function installedExtensions(ctx: Ctx, siteId: number, kind: ExtensionKind): Promise<ExtensionRow[]> {
  return ctx.store.inventory.extensions(siteId, KIND_NUMBER[kind]);
}

/** The same, by slug. */
export async function installedBySlug(
  ctx: Ctx,
  siteId: number,
  kind: ExtensionKind,
): Promise<Map<string, ExtensionRow>> {
  return new Map((await installedExtensions(ctx, siteId, kind)).map((row) => [row.slug, row]));
}

/** The plugins or themes that a site reported; undefined if it did not. */
export function listOf(snapshot: Snapshot | null, kind: ExtensionKind) {
  return kind === 'plugin' ? snapshot?.plugins : snapshot?.themes;
}
