/** Scripts and styles that pages load from the folders of items: a new version may no longer have them. */

import { pooled } from '../../../runtime/pool.js';
import type { Ctx } from '../../context.js';
import { type LoadedSite, requireConnection } from '../../sites/load.js';
import type { UpdateType } from '../results.js';
import type { Baseline } from './compare-health.js';

const TIMEOUT_MS = 8_000;
const AT_ONCE = 4;
/** As many as a check after an update asks for. */
const MOST = 20;

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
  const { origin } = new URL(target.site.url);
  const there: string[] = [];
  await pooled(own.slice(0, MOST), AT_ONCE, async (path) => {
    const options = { signal: ctx.signal, timeoutMs: TIMEOUT_MS };
    const { status } = await ctx.child.page(requireConnection(target), `${origin}${path}`, options);
    if (status === 200) there.push(path);
  });
  return there;
}
