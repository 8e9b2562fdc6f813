/** Adds requested details to listed sites: tags, the reason of their status, last sync, PHP version. */

import type { SiteExtra, siteExtras } from '../../../schemas/site-extras.js';
import type { z } from '../../../schemas/zod.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { Ctx } from '../context.js';
import { columnsOf, reasonCell } from './search-cells.js';

type Extras = z.output<z.ZodObject<ReturnType<typeof siteExtras>>>;

/**
 * The same sites, each with the requested details; two round trips for any number of them. A requested reason stands on
 * every site, as a column of its own, without the time that lists otherwise show beside it.
 */
export async function withExtras<T extends { id: number; status_since?: unknown }>(
  ctx: Ctx,
  sites: readonly T[],
  include: readonly SiteExtra[],
): Promise<(T & Extras)[]> {
  if (include.length === 0 || sites.length === 0) return [...sites];
  const ids = sites.map(({ id }) => id);
  const [rows, parts] = await Promise.all([
    ctx.store.fleetSearch.columns(ids, ['id', 'php', 'last_sync', ...columnsOf(['reason'])]),
    include.includes('tags') ? ctx.store.siteRecords.parts(ids, ['tags']) : null,
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return sites.map((site) => {
    const row = byId.get(site.id);
    if (row === undefined) return site;
    const extras: Extras = {
      tags: parts?.get(site.id)?.tags.map(({ id, name }) => ({ id, name })) ?? [],
      status_reason: reasonCell(row),
      last_sync: isoTime(row.last_sync as number | null),
      php_version: row.php as string | null,
    };
    const shown = { ...site };
    if (include.includes('status_reason')) delete shown.status_since;
    return { ...shown, ...Object.fromEntries(include.map((name) => [name, extras[name]])) };
  });
}
