/**
 * Connects the sites of a CSV list: each is registered with its administrator's password, as when it is added manually.
 */

import { fold } from '../../../schemas/fold.js';
import { ServiceError } from '../../runtime/errors.js';
import { pooled } from '../../runtime/pool.js';
import { addSite } from '../connection/connection.js';
import { editSite } from '../connection/edit.js';
import type { Ctx } from '../context.js';
import { loadRecord } from '../sites/sites.js';
import { storedUrl } from '../sites/urls.js';
import { tagIds } from './links.js';
import type { Invalid } from './read.js';
import { shownAddress } from './record.js';
import type { SiteRow } from './rows.js';
import type { ImportReport } from './run.js';
import type { Outcome } from './site.js';

export type RowsReport = Pick<ImportReport, 'dry_run' | 'imported' | 'exists' | 'unreachable' | 'invalid' | 'pending'>;

/**
 * Every row ends up in exactly one list. Sites that could not be connected are not stored: the list can be imported
 * again.
 */
export async function addRows(
  ctx: Ctx,
  { rows, invalid }: { rows: readonly SiteRow[]; invalid: readonly Invalid[] },
  passwordOf: (row: SiteRow) => Promise<string>,
  dryRun: boolean,
): Promise<RowsReport> {
  const report: RowsReport = {
    dry_run: dryRun,
    imported: [],
    exists: [],
    unreachable: [],
    invalid: [...invalid],
    pending: [],
  };
  const fresh = await sift(ctx, rows, report);
  if (dryRun) {
    report.imported = fresh.map(({ url, name }) => ({ site_id: null, url, name }));
    return report;
  }
  // One after the other, before anything else is printed: a user may have to type them.
  const asked: { row: SiteRow; password: string }[] = [];
  for (const row of fresh) asked.push({ row, password: await passwordOf(row) });
  const tags = await tagIds(ctx, [...new Set(fresh.flatMap((row) => row.tags))]);
  const outcomes = new Map<SiteRow, Outcome>();
  let done = 0;
  await pooled(asked, ctx.config.concurrency, async ({ row, password }) => {
    const ids = row.tags.flatMap((tag) => tags.get(fold(tag)) ?? []);
    outcomes.set(row, await addRow(ctx, row, password, ids));
    ctx.progress({ done: ++done, total: asked.length, message: row.url });
  });
  for (const row of fresh) {
    const outcome = outcomes.get(row);
    if (outcome === undefined) continue;
    const { list, ...rest } = outcome;
    if (list === 'invalid') report.invalid.push({ where: `line ${row.line}`, ...(rest as Omit<Invalid, 'where'>) });
    else (report[list] as unknown[]).push(rest);
  }
  return report;
}

/** Separates rows with wrong or repeated addresses, and sites that are already stored. */
async function sift(ctx: Ctx, rows: readonly SiteRow[], report: RowsReport): Promise<SiteRow[]> {
  const byKey = new Map<string, SiteRow>();
  for (const row of rows) {
    const wrong = (message: string) =>
      report.invalid.push({ where: `line ${row.line} (url)`, url: shownAddress(row.url), message });
    try {
      const { url_key } = storedUrl(row.url);
      if (byKey.has(url_key)) wrong('The site is in the list twice.');
      else byKey.set(url_key, row);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      wrong(error.message);
    }
  }
  for (const { id, url, name, url_key } of await ctx.store.siteImport.known([...byKey.keys()])) {
    byKey.delete(url_key);
    report.exists.push({ site_id: id, url, name });
  }
  return [...byKey.values()];
}

async function addRow(ctx: Ctx, row: SiteRow, password: string, tags: number[]): Promise<Outcome> {
  const { url } = row;
  if (ctx.signal.aborted) return { list: 'pending', url };
  try {
    const site = await addSite(ctx, {
      url,
      admin: row.admin,
      name: row.name,
      tags,
      unique_id: row.unique_id,
      http_user: row.http_user ?? undefined,
      http_pass: row.http_pass ?? undefined,
      ssl_verify: row.ssl_verify,
      admin_password: password === '' ? undefined : password,
    });
    if (row.ssl_version !== 0) await editSite(ctx, await loadRecord(ctx, site.id), { ssl_version: row.ssl_version });
    return { list: 'imported', site_id: site.id, url: site.url, name: site.name };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, message, advice = '' } = error;
    if (code === 'svc_site_already_exists')
      return { list: 'exists', site_id: Number(error.data.site_id), url, name: row.name };
    if (code === 'svc_cancelled') return { list: 'pending', url };
    if (code === 'svc_invalid_url') return { list: 'invalid', url, message };
    if (code === 'svc_internal_error' || code === 'svc_storage_unavailable') throw error;
    return { list: 'unreachable', site_id: null, url, code, message, advice };
  }
}
