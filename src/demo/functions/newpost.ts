import { type Call, ChildError, type ChildFunction } from '../answer.js';
import { percentDecode } from '../auth.js';
import { emptyPost } from '../content.js';
import { isRecord, json, text } from '../params.js';
import type { PostState } from '../state.js';
import { summary } from './post-action.js';
import { applyFields, decode, requireCategory, useCategories } from './post-fields.js';

/** `newpost`: creates a post, or replaces one when an id is given (child protocol §6.4). */
export const newPost: ChildFunction = (call) => {
  const { state, params, site, user } = call;
  const fields = json(decode(text(params, 'new_post')));
  if (!isRecord(fields)) throw ChildError.of(site, 'invalid');
  const custom = json(decode(text(params, 'post_custom')));
  const editId = idToEdit(fields, isRecord(custom) ? custom : {});
  const existing = state.posts.find((post) => post.id === editId);
  if (editId !== 0 && existing === undefined) throw ChildError.of(site, 'noPost');
  if (existing !== undefined && existing.lockedBy !== '' && existing.lockedBy !== user?.login) {
    throw ChildError.of(site, 'editing');
  }
  const oldStatus = existing?.status ?? '';
  const post = existing ?? blankPost(call);
  if (site.faults.falseSuccess !== true) {
    if (existing === undefined) state.posts.push(post);
    fill(call, post, fields, isRecord(custom) ? custom : {});
  }
  return {
    added: true,
    added_id: post.id,
    link: `${site.siteUrl}/${post.name}/`,
    other_data: {
      new_post_data: {
        ...summary(state, post, oldStatus),
        post_id: post.id,
        is_editing: existing === undefined ? 0 : 1,
      },
    },
  };
};

function idToEdit(fields: Record<string, unknown>, custom: Record<string, unknown>): number {
  const marked = custom._mainwp_edit_post_id;
  const id = Number(fields.ID ?? (Array.isArray(marked) ? marked[0] : 0));
  return Number.isInteger(id) && id > 0 ? id : 0;
}

function fill(call: Call, post: PostState, fields: Record<string, unknown>, custom: Record<string, unknown>): void {
  const { state, params, now } = call;
  applyFields(state, post, fields);
  // Tags come percent-encoded, as categories do, and the sticky mark among the custom fields.
  if (typeof fields.post_tags === 'string') applyFields(state, post, { post_tags: percentDecode(fields.post_tags) });
  const [mark] = Array.isArray(custom._sticky) ? custom._sticky : [];
  if (mark !== undefined) post.sticky = decode(String(mark)) === 'sticky';
  if (typeof fields.post_type === 'string' && fields.post_type !== '') post.type = fields.post_type;
  const author = fields.custom_post_author ?? fields.post_author;
  const writer = state.users.find((user) => user.login === author || String(user.id) === String(author));
  if (writer !== undefined) post.author = writer.login;
  // An empty list is none at all: the categories stay.
  const categories = percentDecode(decode(text(params, 'post_category')));
  if (categories !== '') useCategories(state, post, categories);
  requireCategory(state, post);
  if (params.post_featured_image !== undefined) post.featuredImage = decode(text(params, 'post_featured_image'));
  for (const [key, values] of Object.entries(custom)) {
    if (Array.isArray(values) && key !== '_sticky' && !key.startsWith('_mainwp_')) post.meta[key] = values.map(String);
  }
  post.modified = now;
}

function blankPost({ state, user, now }: Call): PostState {
  const id = state.nextId;
  state.nextId += 1;
  return emptyPost(id, user?.login ?? '', now);
}
