import { slugify } from '../content.js';
import { isRecord, split } from '../params.js';
import type { PostState, SiteState } from '../state.js';
import { fromWpDate } from './dates.js';

export function base64(value: string): string {
  return Buffer.from(value).toString('base64');
}

export function decode(value: string): string {
  return Buffer.from(value, 'base64').toString('utf8');
}

const TEXT_FIELDS = {
  post_title: 'title',
  post_content: 'content',
  post_status: 'status',
  post_excerpt: 'excerpt',
  post_name: 'name',
  post_password: 'password',
  comment_status: 'commentStatus',
  ping_status: 'pingStatus',
} as const;

/** Puts fields named as in wp_update_post into the post; others are ignored, as WordPress does. */
export function applyFields(state: SiteState, post: PostState, fields: Record<string, unknown>): void {
  for (const [wire, own] of Object.entries(TEXT_FIELDS)) {
    const value = fields[wire];
    if (typeof value === 'string') post[own] = unslashed(value);
  }
  const tags = fields.tags_input ?? fields.post_tags;
  if (typeof tags === 'string') post.tags = split(tags, ',');
  if (isRecord(fields.meta_input)) {
    for (const [key, value] of Object.entries(fields.meta_input)) post.meta[key] = [unslashed(String(value))];
  }
  if (post.name === '') post.name = slugify(post.title);
  const date = fromWpDate(fields.post_date_gmt, 0) ?? fromWpDate(fields.post_date, state.gmtOffset);
  if (date !== undefined) post.date = date;
  if (fields.is_sticky !== undefined) post.sticky = Number(fields.is_sticky) === 1;
}

/** WordPress takes one layer of backslashes off whatever it stores. */
function unslashed(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}

/** Names become categories of the site; missing ones are created. */
export function useCategories(state: SiteState, post: PostState, names: string): void {
  post.categories = split(names, ',');
  for (const name of post.categories) {
    if (state.categories.some((category) => category.name === name)) continue;
    state.categories.push({ term_id: state.nextId, name, slug: slugify(name) });
    state.nextId += 1;
  }
}

/** WordPress files a post without any category under its default one; other types may have none. */
export function requireCategory(state: SiteState, post: PostState): void {
  const standard = state.categories[0];
  if (post.type === 'post' && post.categories.length === 0 && standard !== undefined) post.categories = [standard.name];
}
