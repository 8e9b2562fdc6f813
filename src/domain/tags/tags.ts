/** Tags: groups of sites (operations §8.3). */

import type { tag as tagSchema } from '../../../schemas/tag.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';
import { timestampOf } from '../../runtime/iso-time.js';
import type { TagFilter, TagRow, TagWrite } from '../../store/sites/tags.js';
import { changesOf } from '../action-log/fields.js';
import { requireName, siteItem } from '../clients/records.js';
import type { Ctx } from '../context.js';
import { listStandingSites } from '../sites/sites.js';
import { changing, withStorageError } from '../storage-messages.js';

type TagView = z.output<ReturnType<typeof tagSchema>>;

export interface TagInput {
  name?: string | undefined;
  /** null clears it. */
  color?: string | null | undefined;
}

/** Throws `svc_operation_failed` if the store fails, as every verb of tags. */
export function listTags(ctx: Ctx, filter: TagFilter, page: number, perPage: number) {
  return reading(async () => {
    const { items, total } = await ctx.store.tags.list(filter, page, perPage);
    return { items, page, per_page: perPage, total };
  });
}

/** Throws `svc_tag_not_found`. */
export async function getTag(ctx: Ctx, id: number): Promise<TagView> {
  return tagView(await findTag(ctx, id));
}

/** Throws `svc_invalid_input` (blank name), `svc_already_exists` (the same name in any case). */
export async function addTag(ctx: Ctx, input: { name: string; color?: string | null | undefined }): Promise<TagView> {
  requireName(input.name);
  const tag = stored(
    await changing('svc_operation_failed', 'The tag was not stored.', () =>
      ctx.store.tags.add(input.name, input.color ?? null, ctx.clock.now()),
    ),
  );
  ctx.events.emit({ name: 'tag.created', facts: head(tag), changed: { record: [null, tagRecord(tag)] } });
  return tagView(tag);
}

/** Only the given fields change. Throws as `addTag`, and `svc_tag_not_found`. */
export async function updateTag(ctx: Ctx, id: number, change: TagInput): Promise<TagView> {
  if (change.name !== undefined) requireName(change.name);
  if (change.name === undefined && change.color === undefined) return getTag(ctx, id);
  const before = await findTag(ctx, id);
  const tag = stored(
    await changing('svc_operation_failed', 'The tag was not changed.', () =>
      ctx.store.tags.update(id, change, ctx.clock.now()),
    ),
    id,
  );
  const changed = changesOf(before, tag, ['name', 'color']);
  ctx.events.emit({ name: 'tag.updated', facts: head(tag), changed });
  return tagView(tag);
}

/** What a deletion would do. Throws `svc_tag_not_found`. */
export async function previewDeleteTag(ctx: Ctx, id: number) {
  const tag = await findTag(ctx, id);
  return { dry_run: true, ...head(tag), sites_affected: tag.sites_count };
}

/** Sites stay, links to sites and costs are removed. Throws `svc_tag_not_found`, for a repeated call too. */
export async function deleteTag(ctx: Ctx, id: number) {
  const tag = await findTag(ctx, id);
  const removed = await changing('svc_operation_failed', 'The tag was not deleted.', () => ctx.store.tags.remove(id));
  if (removed === undefined) throw notFound(id);
  const { sites, costs } = removed;
  ctx.events.emit({
    name: 'tag.deleted',
    facts: { ...head(tag), sites: tag.sites_count },
    changed: {
      record: [tagRecord(tag), null],
      ...(sites.length === 0 ? {} : { sites: [sites, []] }),
      ...(costs === 0 ? {} : { costs: null }),
    },
  });
  return { deleted: true, ...head(tag) };
}

/** Throws `svc_tag_not_found`. */
export async function listTagSites(ctx: Ctx, id: number, page: number, perPage: number) {
  const tag = await findTag(ctx, id);
  const { items, total } = await reading(() => listStandingSites(ctx, { tag_id: id }, page, perPage));
  return { ...head(tag), sites: items.map(siteItem), page, per_page: perPage, total };
}

/** Clients with at least one site that has the tag. Throws `svc_tag_not_found`. */
export async function listTagClients(ctx: Ctx, id: number, page: number, perPage: number) {
  const tag = await findTag(ctx, id);
  const { items, total } = await reading(() => ctx.store.tags.clients(id, page, perPage));
  return { ...head(tag), clients: items, page, per_page: perPage, total };
}

async function findTag(ctx: Ctx, id: number): Promise<TagRow> {
  const tag = await reading(() => ctx.store.tags.find(id));
  if (tag === undefined) throw notFound(id);
  return tag;
}

function reading<T>(work: () => Promise<T>): Promise<T> {
  return withStorageError('svc_operation_failed', 'The tags could not be read.', work);
}

function stored(write: TagWrite, id = 0): TagRow {
  switch (write.outcome) {
    case 'stored':
      return write.tag;
    case 'no_tag':
      throw notFound(id);
    case 'name_taken':
      throw new ServiceError('svc_already_exists', 'name: another tag has this name. Nothing changed.', {
        field: 'name',
        advice: 'Choose another name, or use the tag that has it; list-tags-v1 with search finds it.',
      });
  }
}

function notFound(id: number): ServiceError {
  return new ServiceError('svc_tag_not_found', `tag_id: no tag has the id ${id}.`, {
    field: 'tag_id',
    advice: 'Find the right id with list-tags-v1.',
  });
}

/**
 * Creates a tag again as it was, with its id. Throws `svc_already_exists` if its name, or its id, is in use by now.
 */
export async function restoreTag(ctx: Ctx, id: number, record: TagRecord): Promise<void> {
  const write = await changing('svc_operation_failed', 'The tag was not stored.', () =>
    ctx.store.tags.restore(id, record, ctx.clock.now()),
  );
  const tag = stored(write, id);
  ctx.events.emit({ name: 'tag.created', facts: head(tag), changed: { record: [null, tagRecord(tag)] } });
}

export interface TagRecord {
  name: string;
  color: string | null;
}

/** What the action log keeps of it. */
export function tagRecord({ name, color }: TagRecord): TagRecord {
  return { name, color };
}

function head(tag: TagRow): { tag_id: number; tag_name: string } {
  return { tag_id: tag.id, tag_name: tag.name };
}

function tagView(row: TagRow): TagView {
  return { ...row, created_at: timestampOf(row.created_at), updated_at: timestampOf(row.updated_at) };
}
