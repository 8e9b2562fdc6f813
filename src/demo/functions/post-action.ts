import type { Call, ChildFunction } from '../answer.js';
import { integer, isRecord, json, nested, text } from '../params.js';
import type { PostState, SiteState } from '../state.js';
import { wpDate } from './dates.js';
import { applyFields, base64, decode, requireCategory } from './post-fields.js';

/** `post_action`: SUCCESS also for a post that does not exist (child protocol §6.4). */
export const postAction: ChildFunction = (call) => {
  const { state, params, user, site, now } = call;
  const id = integer(params, 'id');
  const action = text(params, 'action');
  const post = state.posts.find((each) => each.id === id);
  if (!ACTIONS.has(action)) return { status: 'FAIL', other_data: { post_action_data: [] }, my_post: [] };
  if (post === undefined) return answer([], action === 'get_edit' ? false : []);
  if (action === 'get_edit') {
    post.lockedBy = user?.login ?? '';
    const shown = editable(call, post);
    // What was shown has the lock from before.
    post.meta._edit_lock = [`${now}:${user?.id ?? 1}`];
    return answer(summary(state, post, post.status), shown);
  }
  const before = post.status;
  if (site.faults.falseSuccess !== true) change(call, post, action, now);
  if (action === 'delete') {
    const gone = { post_type: post.type, post_title: post.title, singular_name: post.type };
    return answer(gone, []);
  }
  const shown = action === 'publish' || action === 'unpublish' ? { ID: String(id), post_status: post.status } : [];
  return answer(summary(state, post, before), shown);
};

const ACTIONS = new Set(['publish', 'unpublish', 'trash', 'restore', 'delete', 'update', 'update_meta', 'get_edit']);

function answer(data: object, myPost: unknown): unknown {
  return { status: 'SUCCESS', other_data: { post_action_data: data }, my_post: myPost };
}

function change(call: Call, post: PostState, action: string, now: number): void {
  const { state, params } = call;
  if (action === 'delete') {
    state.posts = state.posts.filter((each) => each !== post);
    return;
  }
  // WordPress does not count a change of meta as one of the post.
  if (action !== 'update_meta') post.modified = now;
  if (action === 'publish') post.status = 'publish';
  else if (action === 'unpublish' || action === 'restore') post.status = 'draft';
  else if (action === 'trash') {
    post.statusBefore = post.status;
    post.status = 'trash';
  } else if (action === 'update') update(state, post, nested(params, 'post_data'));
  else if (action === 'update_meta') applyMeta(post, json(decode(text(params, 'values'))));
}

/** wp_update_post: a list of categories replaces the others, without those that are not there (0). */
function update(state: SiteState, post: PostState, fields: Record<string, unknown>): void {
  applyFields(state, post, fields);
  const listed = Object.values(isRecord(fields.post_category) ? fields.post_category : {}).map(Number);
  if (listed.length > 0)
    post.categories = state.categories.filter(({ term_id }) => listed.includes(term_id)).map(({ name }) => name);
  requireCategory(state, post);
}

function applyMeta(post: PostState, values: unknown): void {
  if (!isRecord(values) || !Array.isArray(values.meta_key) || !Array.isArray(values.meta_value)) return;
  for (const [i, key] of values.meta_key.entries()) post.meta[String(key)] = [String(values.meta_value[i] ?? '')];
}

/** What other plugins are told about a changed post. */
export function summary(state: SiteState, post: PostState, before: string): Record<string, unknown> {
  return {
    post_id: String(post.id),
    post_type: post.type,
    post_title: post.title,
    post_date: wpDate(post.date, state.gmtOffset),
    post_date_gmt: wpDate(post.date, 0),
    new_status: post.status,
    old_status: before,
    singular_name: post.type,
  };
}

/** The post with base64 members, ready to be changed and sent back through `newpost` (child protocol §6.4). */
function editable({ site, state }: Call, post: PostState): Record<string, string> {
  const fields = {
    edit_id: String(post.id),
    is_sticky: post.sticky ? 1 : 0,
    post_title: post.title,
    post_content: post.content,
    post_status: post.status,
    post_date: wpDate(post.date, state.gmtOffset),
    post_date_gmt: wpDate(post.date, 0),
    post_tags: post.tags.join(','),
    post_name: post.name,
    post_excerpt: post.excerpt,
    comment_status: post.commentStatus,
    ping_status: post.pingStatus,
    post_type: post.type,
    post_password: post.password,
  };
  const uploads = {
    path: '/srv/www/wp-content/uploads/2026/11',
    url: `${site.siteUrl}/wp-content/uploads/2026/11`,
    subdir: '/2026/11',
    basedir: '/srv/www/wp-content/uploads',
    baseurl: `${site.siteUrl}/wp-content/uploads`,
    error: false,
  };
  return {
    new_post: base64(JSON.stringify(fields)),
    post_custom: base64(JSON.stringify(post.meta)),
    post_category: base64(post.categories.join(',')),
    post_featured_image: base64(post.featuredImage || '0'),
    post_gallery_images: base64('[]'),
    child_upload_dir: base64(JSON.stringify(uploads)),
  };
}
