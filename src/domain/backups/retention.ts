/** Keeps the backups of the last 7 days, 4 weeks and 12 months, and deletes stored data that no kept backup needs. */

import type { BackupRow } from '../../store/backups/site-backups.js';
import type { Ctx } from '../context.js';
import { chunksOf } from './snapshot.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** An interrupted backup that was not continued for this long is given up. */
const GIVEN_UP_MS = 48 * HOUR_MS;
/** So is one that does not end, however often it is: nothing is deleted that was found unused since it began. */
const LONGEST_MS = 14 * DAY_MS;

/** Of backups that are gone. */
const DRILLS_KEPT_MS = 400 * DAY_MS;

/** How many periods are kept, and which one a time belongs to. In UTC; weeks begin on Monday. */
const PERIODS: readonly { count: number; of: (at: number) => number }[] = [
  { count: 7, of: (at) => Math.floor(at / DAY_MS) },
  // 1970-01-01 was a Thursday.
  { count: 4, of: (at) => Math.floor((Math.floor(at / DAY_MS) + 3) / 7) },
  { count: 12, of: (at) => new Date(at).getUTCFullYear() * 12 + new Date(at).getUTCMonth() },
];

/** The newest backup of each of the last days, weeks and months that have one. */
export function keptOf(newestFirst: readonly Pick<BackupRow, 'id' | 'started_at'>[]): Set<string> {
  const kept = new Set<string>();
  for (const { count, of } of PERIODS) {
    const seen = new Set<number>();
    for (const { id, started_at } of newestFirst) {
      if (seen.has(of(started_at))) continue;
      if (seen.size === count) break;
      seen.add(of(started_at));
      kept.add(id);
    }
  }
  return kept;
}

/** Removes backups past their time, and sweeps the repository. Returns a short summary. */
export async function pruneBackups(ctx: Ctx): Promise<string> {
  const { siteBackups } = ctx.store;
  const now = ctx.clock.now();
  const sites = await siteBackups.sites();
  // Without backups there is no repository either.
  if (sites.length === 0) return 'no backups';
  await siteBackups.giveUp({ silent: now - GIVEN_UP_MS, begun: now - LONGEST_MS }, now);
  const repository = await ctx.backupStorage.open();
  let removed = 0;
  for (const site of sites) {
    const done = await siteBackups.done(site);
    const kept = keptOf(done);
    for (const { id } of done) {
      if (kept.has(id)) continue;
      // The snapshot first: a row without one is removed by the next run.
      await repository.removeSnapshot(id);
      await siteBackups.remove(id);
      removed += 1;
    }
  }
  await siteBackups.forgetDrills(now - DRILLS_KEPT_MS);
  const swept = await repository.sweep({
    chunksOf: (snapshot, known) => chunksOf(repository, snapshot, known),
    known: async () => (await siteBackups.allDone()).map(({ id }) => id),
    oldestRunning: () => siteBackups.oldestRunning(),
    now,
  });
  return `${removed} backups removed; ${swept.removed} of ${swept.packs} packs, ${swept.removed_bytes} bytes, removed`;
}
