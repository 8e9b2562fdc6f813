/** Deletes plugins and themes from a site, and previews deletions. */

import type { deletedExtensions } from '../../../schemas/extension.js';
import { siteWord } from '../../../schemas/site-text.js';
import type { z } from '../../../schemas/zod.js';
import type { ExtensionKind } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import type { ExtensionRow } from '../../store/sites/inventory.js';
import { namesOf, type Question, sentences } from '../common/question.js';
import type { Ctx } from '../context.js';
import { installedBySlug, PARENT_ACTIVE } from '../sites/inventory.js';
import { loadWritable } from '../sites/load.js';
import type { SiteRef } from '../sites/resolve.js';
import { siteAddress } from '../sites/urls.js';
import { exactOf, refuse } from './act.js';
import { actNow, extensionEntry, requireSlugs } from './extensions.js';

/** The dry run: what would be deleted, and why the rest would not. Reads stored data only. */
export async function previewDeletion(ctx: Ctx, ref: SiteRef, kind: ExtensionKind, slugs: readonly string[]) {
  const target = await loadWritable(ctx, ref);
  const wanted = requireSlugs(slugs);
  const rows = await installedBySlug(ctx, target.site.id, kind);
  const refusals = wanted.map((slug) => ({ slug, error: whyNotDeleted(rows.get(slug), kind, exactOf(rows, slug)) }));
  const errors = refusals.flatMap(({ slug, error }) =>
    error === null ? [] : [{ slug, code: error.code, message: error.message }],
  );
  const left = errors.map(({ slug }) => slug);
  const found = refusals.flatMap(({ slug, error }) => (error === null ? (rows.get(slug) ?? []) : []));
  return {
    dry_run: true,
    site_id: target.site.id,
    site_url: target.site.url,
    would_affect: found.map(extensionEntry),
    count: found.length,
    errors,
    warnings: [
      ...found.flatMap(({ slug, active }) =>
        active === 1 ? [`${siteWord(slug)} is active and will be deactivated first.`] : [],
      ),
      ...(left.length > 0 ? [`Left as they are: ${namesOf(left, left.length, kind)}.`] : []),
    ],
  };
}

/** Of what is deleted, as many as a question can hold are named. */
const MOST_NAMED = 12;

/** What a person is asked before it. */
export function deletionQuestion(
  { site_url = '', would_affect: items = [], warnings = [] }: z.output<ReturnType<typeof deletedExtensions>>,
  kind: ExtensionKind,
): Question {
  const names = namesOf(
    items.map(({ name }) => name),
    items.length,
    kind,
    MOST_NAMED,
  );
  return {
    text: sentences(`Delete ${names} from ${siteAddress(site_url)}? This cannot be undone.`, ...warnings),
  };
}

/** The child plugin refuses the active theme and its parent. */
function whyNotDeleted(row: ExtensionRow | undefined, kind: ExtensionKind, meant: string): ServiceError | null {
  const refused = refuse(row, { kind, action: 'delete' }, meant);
  if (refused !== null || row === undefined || kind === 'plugin') return refused;
  const is = row.active === 1 ? 'the active theme' : (row.flags & PARENT_ACTIVE) !== 0 ? 'its parent' : null;
  if (is === null) return null;
  return new ServiceError('svc_deletion_failed', `The active theme and its parent are not deleted: this is ${is}.`);
}

/** Deletes them. The child refuses the active theme and its parent. */
export async function deleteExtensions(ctx: Ctx, ref: SiteRef, kind: ExtensionKind, slugs: readonly string[]) {
  const target = await loadWritable(ctx, ref);
  const wanted = requireSlugs(slugs);
  const { done, ...answer } = await actNow(ctx, target, { kind, action: 'delete', slugs: wanted });
  return { site_id: target.site.id, deleted: done, ...answer };
}
