/**
 * Posts on the wire: base64, JSON and percent encoding within form fields, and parsing the answers (child
 * protocol §6.4).
 */

import { type GalleryImage, POST_COLUMNS } from '../../../../schemas/post.js';
import { parsedOrNull } from '../../../runtime/plain-json.js';
import type {
  ChildPost,
  EditablePost,
  PostListing,
  PostsQuery,
  PostUpdate,
  SavedFields,
  SavedOver,
  SavedPost,
} from '../content-types.js';
import type { ChildParams } from '../port.js';
import { plainText, richText } from './text.js';
import { asMap, get, listOf, numberOf, rangeParams, secondsOf } from './values.js';

const MAX_CONTENT = 1_000_000;
const MAX_CUSTOM = 500;
const ZERO_DATE = '0000-00-00 00:00:00';

function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function fromBase64(value: unknown): string {
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
}

function fromJson(value: unknown): unknown {
  return parsedOrNull(fromBase64(value));
}

/** WordPress removes one layer of backslashes from what it stores, and the child does not add one. */
function slashed(text: string): string {
  return text.replaceAll('\\', '\\\\');
}

const MAX_POSTS = 10_000;
const SEARCHED = { title: 'title', body: 'content', 'Title and Body': 'all' } as const;

/** Parameters of `get_all_posts`. */
export function postsParams({ statuses, maximum, post_type, search, range }: PostsQuery): ChildParams {
  return {
    status: statuses.join(','),
    maxRecords: maximum,
    post_type,
    // The range applies to the date of the post, not of its last change.
    where_post_date: 1,
    ...(search === undefined ? {} : { keyword: search.text, search_on: SEARCHED[search.on] }),
    ...rangeParams(range),
  };
}

/** The answer of `get_all_posts`; null if it is not a list. */
export function postsOf(answer: unknown): ChildPost[] | null {
  return listOf(answer, MAX_POSTS)?.flatMap((item) => postOf(item) ?? []) ?? null;
}

const LINK = '[post.url]';

/** Parameters of `get_all_posts` for one post, its address included. */
export function listingParams(post: Pick<EditablePost, 'id' | 'post_type' | 'post_status'>): ChildParams {
  return {
    postId: post.id,
    post_type: post.post_type,
    status: post.post_status,
    extract_tokens: json([LINK]),
    extract_post_type: 0,
  };
}

export function listingOf(answer: unknown): PostListing | null {
  const [item] = listOf(answer, 1) ?? [];
  const post = postOf(item);
  return post === null ? null : { ...post, link: plainText(get(item, LINK), 2048) };
}

/** One entry of `get_all_posts`; null if it is invalid. */
export function postOf(item: unknown): ChildPost | null {
  const id = numberOf(get(item, 'id'));
  if (id === null) return null;
  const status = plainText(get(item, 'status'), 20);
  return {
    id,
    title: plainText(get(item, 'title'), 2000),
    post_status: status,
    status,
    post_type: plainText(get(item, 'post_type'), 20),
    comment_count: Math.max(0, Math.trunc(numberOf(get(item, 'comment_count')) ?? 0)),
    author: plainText(get(item, 'author'), 100),
    dts: secondsOf(get(item, 'dts')),
    post_category: namesOf(get(item, 'categories')),
    post_tags: namesOf(get(item, 'tags')),
  };
}

/** Names of a comma-separated list. The child joins without quoting, so a name with a comma is split. */
function namesOf(value: unknown): string[] {
  return plainText(value, 10_000)
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The post in a `get_edit` answer; null if the site has no such post. */
export function editableOf(answer: unknown): EditablePost | null {
  const my = asMap(get(answer, 'my_post'));
  const fields = my === null ? null : asMap(fromJson(get(my, 'new_post')));
  const id = numberOf(get(fields, 'edit_id'));
  if (my === null || fields === null || id === null) return null;
  const line = (name: string, max: number) => plainText(get(fields, name), max);
  const text = (name: string) => richText(numberText(get(fields, name)), MAX_CONTENT);
  const { _edit_lock: lock, ...custom } = customOf(fromJson(get(my, 'post_custom')));
  const image = fromBase64(get(my, 'post_featured_image'));
  const uploads = fromJson(get(my, 'child_upload_dir'));
  return {
    id,
    post_type: line('post_type', 20),
    post_title: richText(numberText(get(fields, 'post_title')), 2000),
    post_content: text('post_content'),
    post_status: line('post_status', 20),
    post_name: line('post_name', 200),
    post_excerpt: text('post_excerpt'),
    post_password: richText(numberText(get(fields, 'post_password')), 255),
    post_date: dateOr(line('post_date', 19)),
    post_date_gmt: dateOr(line('post_date_gmt', 19)),
    comment_status: line('comment_status', 20),
    ping_status: line('ping_status', 20),
    is_sticky: numberOf(get(fields, 'is_sticky')) === 1 ? 1 : 0,
    post_category: namesOf(fromBase64(get(my, 'post_category'))),
    post_tags: namesOf(get(fields, 'post_tags')),
    post_custom: custom,
    post_featured_image: image === '' || image === '0' ? null : plainText(image, 2048),
    post_gallery_images: (listOf(fromJson(get(my, 'post_gallery_images')), 100) ?? []).flatMap(imageOf),
    upload_dir: { url: plainText(get(uploads, 'url'), 2048), baseurl: plainText(get(uploads, 'baseurl'), 2048) },
    thumbnail_id: firstText(custom._thumbnail_id),
    edit_lock: firstText(lock),
    status_before_trash: firstText(custom._wp_trash_meta_status),
  };
}

function numberText(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

function dateOr(text: string): string | null {
  return text === '' || text === ZERO_DATE ? null : text;
}

function firstText(values: unknown[] | undefined): string {
  return plainText(values?.[0], 100);
}

function customOf(value: unknown): Record<string, unknown[]> {
  const entries = Object.entries(asMap(value) ?? {}).slice(0, MAX_CUSTOM);
  return Object.fromEntries(
    entries.map(([key, values]) => [plainText(key, 255), (listOf(values, 100) ?? []).map(cleaned)]),
  );
}

/** Values of custom fields may be structures of plugins: kept, with every text in them cleaned. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return richText(value, 100_000);
  if (Array.isArray(value)) return value.slice(0, 1000).map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 1000)
      .map(([key, member]) => [plainText(key, 255), cleaned(member)]),
  );
}

function imageOf(item: unknown): GalleryImage[] {
  const id = numberOf(get(item, 'id'));
  if (id === null) return [];
  const line = (name: string) => plainText(get(item, name), 2048);
  return [
    {
      id,
      src: line('src'),
      title: line('title'),
      alt: line('alt'),
      caption: line('caption'),
      description: line('description'),
    },
  ];
}

/** Names as the child expects them: percent-encoded within the base64. */
function names(list: readonly string[]): string {
  return encodeURIComponent(list.join(',').toWellFormed());
}

/**
 * Form fields of a `newpost` call; `over` is the post that it replaces. An empty `mainwp_upload_dir` tells the child
 * that no image in the text is stored on this dashboard.
 */
export function newpostParams(fields: SavedFields, over: SavedOver | null): ChildParams {
  const { post_tags, post_category, post_custom, is_sticky, post_featured_image, featured_image_data, ...rest } =
    fields;
  const { post_gallery_images, ...columns } = rest;
  const post = Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [name, typeof value === 'string' ? slashed(value) : value]),
  );
  const custom: Record<string, unknown[]> = Object.fromEntries(
    Object.entries(post_custom ?? {}).map(([key, value]) => [key, [lastValue(value)]]),
  );
  if (is_sticky === 1) custom._sticky = [toBase64('sticky')];
  return {
    new_post: json({
      ...post,
      ...(post_tags === undefined ? {} : { post_tags: names(post_tags) }),
      ...(over === null ? {} : { ID: over.id, post_type: over.post_type }),
      ...(over === null || over.author === '' ? {} : { custom_post_author: over.author }),
    }),
    post_custom: json(custom),
    // The child changes no categories without a name: an edit that does not ask for any leaves them.
    ...(post_category === undefined ? {} : { post_category: toBase64(names(post_category)) }),
    mainwp_upload_dir: json({}),
    ...(post_featured_image === undefined ? {} : { post_featured_image: toBase64(post_featured_image) }),
    ...(featured_image_data === undefined
      ? {}
      : {
          featured_image_data: json({ title: '', alt: '', caption: '', description: '', ...featured_image_data }),
        }),
    ...(post_gallery_images === undefined ? {} : { post_gallery_images: json(post_gallery_images) }),
  };
}

/** The answer of `newpost`. */
export function savedPostOf(answer: unknown): SavedPost {
  const id = numberOf(get(answer, 'added_id'));
  return { id: id === null || id <= 0 ? null : id, link: plainText(get(answer, 'link'), 2048) };
}

/** Members of `post_data` in a `post_action` call with `update`; empty if nothing changes. */
export function postData(update: PostUpdate): Record<string, string | Record<string, string>> {
  const data: Record<string, string | Record<string, string>> = {};
  for (const name of POST_COLUMNS) {
    const value = update[name];
    if (value !== undefined) data[name] = slashed(value ?? '');
  }
  // Without this flag WordPress sets the date of a draft to now, and publishes what should be scheduled.
  if (update.post_date !== undefined) data.edit_date = '1';
  // No category is the only choice that does not need `newpost`: WordPress gives its default one to what must have one.
  if (update.post_category !== undefined) data.post_category = { 0: '0' };
  if (update.post_tags !== undefined) data.tags_input = (update.post_tags ?? []).join(',');
  const custom = Object.entries(update.post_custom ?? {}).map(([key, value]) => [key, lastValue(value)] as const);
  if (update.thumbnail_id !== undefined) custom.push(['_thumbnail_id', update.thumbnail_id]);
  if (custom.length > 0) data.meta_input = Object.fromEntries(custom);
  return data;
}

/** `values` of a `post_action` call with `update_meta` that sets the edit lock. */
export function editLockValues(lock: string): string {
  return json({ meta_key: ['_edit_lock'], meta_value: [lock], check_prev: [0] });
}

function json(value: unknown): string {
  return toBase64(JSON.stringify(value));
}

/** The child stores one value per custom field. */
function lastValue(value: string | number | boolean | readonly (string | number | boolean)[]): string {
  const last = typeof value === 'object' ? value.at(-1) : value;
  if (typeof last === 'boolean') return last ? '1' : '0';
  return slashed(String(last ?? ''));
}
