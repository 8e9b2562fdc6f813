/** The name of a site without a given one: its own title, or its host until the title is known. */

import { siteName } from '../../../schemas/site.js';
import type { ChildAddress } from '../../outbound/child/port.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from './load.js';

/** When a site is added, the title is a convenience that must not delay a success. */
const FIRST_MS = 5_000;
/** After a sync: slow sites need as long for it as for the sync. */
const LATER_MS = 30_000;
/** Including the first one; a site that hides its title keeps the name of its host. */
const MAX_TRIES = 7;

/** '' = unknown. */
export function firstTitle(ctx: Ctx, at: ChildAddress): Promise<string> {
  return titleOf(ctx, at, FIRST_MS);
}

/** Asks a site that was just synced for its title, unless it has a name. Never throws: the sync stands. */
export async function nameByTitle(ctx: Ctx, { site, connection }: LoadedSite): Promise<void> {
  const tries = site.title_tries;
  if (tries === null || tries >= MAX_TRIES || connection === null) return;
  try {
    // Counted first, so that interrupted attempts come to an end, too.
    if (!(await ctx.store.sites.countTitleTry(site.id, tries))) return;
    const title = await titleOf(ctx, connection, LATER_MS);
    if (title === '' || !(await ctx.store.sites.nameByTitle(site.id, title))) return;
    site.name = title;
    ctx.events.emit({ name: 'site.updated', site_id: site.id, facts: { fields: ['name'] } });
  } catch (err) {
    ctx.log.debug({ site_id: site.id, err }, 'a site could not be asked for its title');
  }
}

async function titleOf(ctx: Ctx, at: ChildAddress, timeoutMs: number): Promise<string> {
  return siteName()
    .catch('')
    .parse(await ctx.child.title(at, { signal: ctx.signal, timeoutMs }));
}
