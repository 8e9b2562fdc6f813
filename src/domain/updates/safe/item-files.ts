/** Scripts and styles that pages load from the folders of items: a new version may no longer have them. */

import type { Ctx } from '../../context.js';
import type { LoadedSite } from '../../sites/load.js';
import type { UpdateType } from '../results.js';
import type { Baseline } from './compare-health.js';
import { assetStatuses } from './probe.js';

/** Those of items that are to be updated which are there: only what was can be lost. */
export async function filesOfItems(
  ctx: Ctx,
  target: LoadedSite,
  { first }: Baseline,
  items: readonly { type: UpdateType; slug: string }[],
): Promise<string[]> {
  const folders = items.flatMap(({ type, slug }) => {
    if (type === 'theme') return [`/themes/${slug}/`];
    return type === 'plugin' && slug.includes('/') ? [`/plugins/${slug.split('/')[0]}/`] : [];
  });
  const named = new Set(Object.values(first.pages).flatMap(({ assets }) => assets));
  const own = [...named].filter((path) => folders.some((folder) => path.includes(folder)));
  return [...(await assetStatuses(ctx, target, own))].flatMap(([path, status]) => (status === 200 ? [path] : []));
}
