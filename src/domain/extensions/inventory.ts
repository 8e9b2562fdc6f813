/** The stored plugins and themes of a site. */

import type { ExtensionKind } from '../../child/child.js';
import type { ExtensionRow } from '../../store/sites/inventory.js';
import type { Ctx } from '../context.js';

const KIND_NUMBER: Record<ExtensionKind, number> = { plugin: 0, theme: 1 };

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
