/**
 * Receipts: what a run did on a site, what was seen and what was not, signed. With the key anyone can tell that one was
 * written by this installation and not changed since.
 */

import { RECEIPT_FORMAT } from '../../../../schemas/receipt.js';
import { isoTime } from '../../../runtime/iso-time.js';
import type { PictureRow } from '../../../store/updates/receipts.js';
import type { ToldRunItem } from '../../../store/updates/runs.js';
import { keyIdOf, signText } from '../../common/signatures.js';
import type { Ctx } from '../../context.js';
import type { LoadedSite } from '../../sites/load.js';
import { checkedOf } from '../checked.js';
import { type Look, UPDATE_TYPES } from '../results.js';
import type { Evidence } from '../safe/run-state.js';
import { knownRun } from './runs.js';

/** Of one site in one run. */
const MOST_PICTURES = 40;

/** Writes the receipt of a safe update of a site. What prevents it prevents no update. */
export async function writeReceipt(
  ctx: Ctx,
  target: LoadedSite,
  items: readonly ToldRunItem[],
  look: Look,
): Promise<void> {
  try {
    const { id } = target.site;
    const pictures = await ctx.store.receipts.digests(ctx.run_id, id);
    const document = JSON.stringify(contentOf(ctx, target, items, look, pictures));
    await ctx.store.receipts.save(ctx.run_id, {
      site_id: id,
      document,
      ...(await signText(ctx, document)),
    });
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    ctx.log.warn({ err: error, site_id: target.site.id, run_id: ctx.run_id }, 'no receipt could be written');
  }
}

function contentOf(
  { run_id, clock, actor }: Ctx,
  { site }: LoadedSite,
  items: readonly ToldRunItem[],
  look: Look,
  pictures: readonly Omit<PictureRow, 'file'>[],
) {
  return {
    format: RECEIPT_FORMAT,
    run_id,
    written_at: isoTime(clock.now()),
    by: actor.name,
    via: actor.via,
    site: { id: site.id, url: site.url },
    items: items.map(itemOf),
    ...checkedOf([look]),
    pages: look.pages,
    pictures,
  };
}

function itemOf({ type, slug, name, old_version, new_version, state, protection, code, message, ...row }: ToldRunItem) {
  const { seen = [], suspect = [], by = null } = JSON.parse(row.evidence ?? '{}') as Partial<Evidence>;
  return {
    type: UPDATE_TYPES[type] ?? 'site',
    slug,
    name,
    old_version,
    new_version,
    state,
    protection,
    code,
    message,
    findings: [...seen, ...suspect],
    rolled_back_by: by,
    change_id: row.change_id,
    ...(row.backup_id == null ? {} : { backup_id: row.backup_id }),
  };
}

/** The receipts of a run, one for each site that has any. Throws `svc_run_not_found`. */
export async function receiptsOf(ctx: Ctx, runId: string, page: number, perPage: number) {
  await knownRun(ctx, runId);
  const { items, total } = await ctx.store.receipts.ofRun(runId, page, perPage);
  const receipts = items.map(({ site_id, document, signature, public_key }) => {
    return { site_id, document, signature, public_key, key_id: keyIdOf(Buffer.from(public_key, 'base64')) };
  });
  return { receipts, total };
}

/** The pictures of a site in a run. Throws `svc_run_not_found`. */
export async function picturesOf(ctx: Ctx, runId: string, siteId: number): Promise<PictureRow[]> {
  await knownRun(ctx, runId);
  return ctx.store.receipts.pictures(runId, siteId, MOST_PICTURES);
}
