/** Empties the page caches of a site after a roll-back: they may go on showing what the broken version made. */

import { ChildFailure } from '../../../outbound/child/port.js';
import type { Ctx } from '../../context.js';
import { type LoadedSite, requireConnection } from '../../sites/load.js';
import { keyOf, nameOf } from './looked-pages.js';
import { checkAgain } from './probe.js';
import { plainPagesOf, type SafeRun } from './run-state.js';

/** Has the child plugin empty the cache that it knows. A site without one, or with an older child, is left as it is. */
export async function clearCaches(ctx: Ctx, target: LoadedSite): Promise<void> {
  try {
    await ctx.child.clearCaches(requireConnection(target), { signal: ctx.signal });
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof ChildFailure)) throw error;
    ctx.log.info({ err: error, site_id: target.site.id }, 'the caches of a site were not emptied');
  }
}

/** Empties the caches, and says of which pages visitors still get a broken copy. */
export async function clearBrokenCopies(run: SafeRun): Promise<string[]> {
  const { ctx, target, guard, facts } = run;
  await clearCaches(ctx, target);
  const pages = plainPagesOf(run);
  if (pages.length === 0) return [];
  const { findings } = await checkAgain(ctx, target, guard, facts.before, pages, { depth: 'quick', child: false });
  const shown = pages.filter((page) => findings.some(({ path }) => path === keyOf(page)));
  return shown.map((page) => `${nameOf(page)} is still a broken copy from a cache that Sitefleet cannot empty.`);
}
