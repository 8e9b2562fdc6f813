/** Deletes plugins and themes from a site, and previews deletions. */

import type { ExtensionKind } from '../../outbound/child/port.js';
import type { Ctx } from '../context.js';
import { CHILD_AGENT, installedBySlug, MUST_USE, PARENT_ACTIVE } from '../sites/inventory.js';
import { loadWritable } from '../sites/load.js';
import type { SiteRef } from '../sites/resolve.js';
import { actNow, extensionEntry, requireSlugs } from './extensions.js';

/** The dry run: what would be deleted, with a warning where one is due. Reads stored data only. */
export async function previewDeletion(ctx: Ctx, ref: SiteRef, kind: ExtensionKind, slugs: readonly string[]) {
  const target = await loadWritable(ctx, ref);
  const wanted = requireSlugs(slugs);
  const rows = await installedBySlug(ctx, target.site.id, kind);
  const found = wanted.flatMap((slug) => rows.get(slug) ?? []);
  const warnings = wanted.flatMap((slug) => {
    const row = rows.get(slug);
    if (row === undefined) return [`${slug} is not installed on the site.`];
    if ((row.flags & CHILD_AGENT) !== 0) return [`${slug} is the child plugin itself and will be refused.`];
    if ((row.flags & MUST_USE) !== 0) return [`${slug} is a must-use plugin and will be refused.`];
    if (row.active === 1)
      return [
        kind === 'plugin'
          ? `${slug} is active and will be deactivated first.`
          : `${slug} is the active theme and will be refused.`,
      ];
    if ((row.flags & PARENT_ACTIVE) !== 0) return [`${slug} is the parent of the active theme and will be refused.`];
    return [];
  });
  return {
    dry_run: true,
    site_id: target.site.id,
    would_affect: found.map(extensionEntry),
    count: found.length,
    warnings,
  };
}

/** Deletes them. The child refuses the active theme and its parent. */
export async function deleteExtensions(ctx: Ctx, ref: SiteRef, kind: ExtensionKind, slugs: readonly string[]) {
  const target = await loadWritable(ctx, ref);
  const wanted = requireSlugs(slugs);
  const { done, ...answer } = await actNow(ctx, target, { kind, action: 'delete', slugs: wanted });
  return { site_id: target.site.id, deleted: done, ...answer };
}
