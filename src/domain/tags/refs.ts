/** Tags as callers name them: by id or by name. */

import { fold } from '../../../schemas/fold.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';

export type TagRef = number | string;

export interface NamedTag {
  id: number;
  name: string;
}

/**
 * The tag that each of these names; undefined for an unknown one. A text is a name, in any case; only if no tag is called so,
 * its digits are an id.
 */
export async function tagsNamed(ctx: Ctx, refs: readonly TagRef[]): Promise<(NamedTag | undefined)[]> {
  const named = refs.map((given) => {
    const ref = ctx.call?.meant.get(meaning(given)) ?? given;
    const text = typeof ref === 'number' ? '' : fold(ref.replaceAll('\0', '').trim());
    const id = typeof ref === 'number' ? ref : /^\d{1,15}$/.test(text) ? Number(text) : null;
    return { text, id };
  });
  const found = await ctx.store.tags.named(
    named.flatMap(({ id }) => (id !== null && Number.isSafeInteger(id) ? [id] : [])),
    named.flatMap(({ text }) => (text === '' ? [] : [text])),
  );
  const byName = new Map(found.map((tag) => [tag.name_key, tag]));
  const byId = new Map(found.map((tag) => [tag.id, tag]));
  return named.map(({ text, id }, at) => {
    const tag = (text === '' ? undefined : byName.get(text)) ?? (id === null ? undefined : byId.get(id));
    if (tag === undefined) return undefined;
    ctx.call?.meant.set(meaning(refs[at] ?? tag.id), tag.id);
    return { id: tag.id, name: tag.name };
  });
}

const meaning = (ref: TagRef) => `tag ${typeof ref} ${ref}`;

/** Throws `svc_tag_not_found`. */
export async function requireTag(ctx: Ctx, ref: TagRef, field: string): Promise<NamedTag> {
  const [tag] = await tagsNamed(ctx, [ref]);
  if (tag === undefined) throw noTag(ref, field);
  return tag;
}

/** @param mayCreate the call can create it */
export function noTag(ref: TagRef, field: string, mayCreate = false): ServiceError {
  const shown = JSON.stringify(typeof ref === 'string' ? ref.slice(0, 100) : ref);
  return new ServiceError('svc_tag_not_found', `${field}: there is no tag ${shown}.`, {
    field,
    advice: `Find the right id or name with list-tags-v1${mayCreate ? ', or create it with create: true' : ''}.`,
  });
}
