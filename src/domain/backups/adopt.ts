/** Makes the list of backups agree with a repository that was taken over. */

import { unlessMissing } from '../../runtime/repository-error.js';
import type { Ctx } from '../context.js';
import { resolveSites } from '../sites/resolve.js';
import type { Snapshot } from './snapshot.js';

/** Adds the backups of the repository that are not known here; returns how many. They belong to the site of the same address. */
export async function adoptBackups(ctx: Ctx): Promise<number> {
  const repository = await ctx.backupStorage.open();
  let adopted = 0;
  for (const id of await repository.snapshots()) {
    if ((await ctx.store.siteBackups.find(id)) !== undefined) continue;
    const { site, started_at, finished_at, facts } = (await repository.snapshot(id)) as Snapshot;
    const { sites } = await resolveSites(ctx, [site.url]);
    const row = { id, site_id: sites[0]?.id ?? 0, site_url: site.url, started_at, finished_at };
    if (await ctx.store.siteBackups.adopt({ ...row, facts: JSON.stringify(facts) })) adopted += 1;
  }
  return adopted;
}

/** Forgets complete backups that are not in the repository; returns how many. They are adopted again where it is back. */
export async function forgetLost(ctx: Ctx): Promise<number> {
  const repository = await ctx.backupStorage.open();
  const there = new Set(await repository.snapshots());
  let lost = 0;
  for (const { id } of await ctx.store.siteBackups.allDone()) {
    // A list may lag behind.
    if (there.has(id) || (await unlessMissing(repository.snapshot(id))) !== null) continue;
    await ctx.store.siteBackups.remove(id);
    lost += 1;
  }
  return lost;
}
