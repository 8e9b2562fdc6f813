/** Schemas of posts (REST §6.12). */

import { once } from '../src/runtime/once.js';
import { timestamp } from './common.js';
import { isCalendarDate } from './days.js';
import { listMembers } from './lists.js';
import { onOff } from './setting-fields.js';
import { parseUrl } from './url.js';
import { z } from './zod.js';
import { bounded } from './zod-internals.js';

export const POST_STATUSES = ['publish', 'pending', 'private', 'future', 'draft', 'trash'] as const;
export type PostStatus = (typeof POST_STATUSES)[number];

/** Steps of `update-status`. */
export const POST_STEPS = ['unpublish', 'publish', 'approve', 'trash', 'delete', 'restore'] as const;
export type PostStep = (typeof POST_STEPS)[number];

export const SEARCH_ON = ['title', 'body', 'Title and Body'] as const;
export type SearchOn = (typeof SEARCH_ON)[number];

/** One line of a post list. */
export const postItem = once(() =>
  z.object({
    id: z.number().int(),
    title: z.string(),
    post_status: z.string(),
    status: z.string(),
    post_type: z.string(),
    comment_count: z.number().int(),
    author: z.string().describe("Author's nicename on the site."),
    dts: z.number().int().nullable().describe('Date of the post in unix seconds; null for a draft without a date.'),
    post_date: timestamp().nullable(),
    post_category: z.array(z.string()),
    post_tags: z.array(z.string()),
    website_id: z.number().int(),
    website_url: z.string(),
    website_name: z.string(),
  }),
);
export type PostItem = z.output<ReturnType<typeof postItem>>;

export const galleryImage = once(() =>
  z.object({
    id: z.number().int(),
    src: z.string(),
    title: z.string(),
    alt: z.string(),
    caption: z.string(),
    description: z.string(),
  }),
);
export type GalleryImage = z.output<ReturnType<typeof galleryImage>>;

/** A complete post. Dates without a zone are in the site's local time, as in WordPress. */
export const postDetail = once(() =>
  z.object({
    id: z.number().int(),
    link: z.string(),
    author: z.string(),
    modified: timestamp().nullable(),
    post_type: z.string(),
    post_title: z.string(),
    post_content: z.string(),
    post_status: z.string(),
    post_name: z.string(),
    post_excerpt: z.string(),
    post_password: z.string(),
    post_date: z.string().nullable(),
    post_date_gmt: z.string().nullable(),
    comment_status: z.string(),
    ping_status: z.string(),
    is_sticky: z.number().int(),
    post_category: z.array(z.string()),
    post_tags: z.array(z.string()),
    post_custom: z.record(z.array(z.unknown())),
    post_featured_image: z.string().nullable(),
    post_gallery_images: z.array(galleryImage()),
    upload_dir: z.object({ url: z.string(), baseurl: z.string() }),
  }),
);
export type PostDetail = z.output<ReturnType<typeof postDetail>>;

const MAX_TEXT = 1_000_000;

/** A list of names: comma-separated text or an array; trimmed, without empty and repeated ones. */
const names = once(() =>
  z.preprocess(
    listMembers,
    bounded(
      z
        .array(
          z
            .string()
            .max(200)
            .regex(/^[^,]*$/, 'must not contain a comma'),
        )
        .max(100),
    ),
  ),
);

const localTime = once(() =>
  z
    .string()
    .trim()
    .regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/, 'must be a time as YYYY-MM-DD HH:MM:SS')
    .refine((text) => isCalendarDate(text.slice(0, 10)), 'is not a real date')
    .refine((text) => /(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text), 'is not a real time'),
);

const imageUrl = once(() =>
  z
    .string()
    .trim()
    .max(2048)
    .refine((text) => /^https?:$/.test(parseUrl(text)?.protocol ?? ''), 'must be an http or https URL'),
);

const scalar = once(() => z.union([z.string().max(MAX_TEXT), z.number(), z.boolean()]));

/** By such fields the child is told to overwrite another post or to pin one, and WordPress who has one open in its editor. */
const customName = once(() =>
  z
    .string()
    .max(255)
    .refine((name) => !/^(_mainwp_|_edit_lock$|_sticky$)/i.test(name.trim()), 'cannot be set as a custom field'),
);

/** Writable fields of a post; all optional here. */
const postFields = once(() =>
  z.object({
    post_title: z.string().max(2000),
    post_content: z.string().max(MAX_TEXT).describe('HTML; the site filters it.'),
    post_status: z.enum(POST_STATUSES),
    post_name: z
      .string()
      .max(200)
      .describe('Last part of the URL; turned into a slug. On create by default from the title.'),
    post_excerpt: z.string().max(50_000),
    post_password: z.string().max(255),
    comment_status: z.enum(['open', 'closed']),
    ping_status: z.enum(['open', 'closed']),
    post_date: localTime().describe("YYYY-MM-DD HH:MM:SS in the site's time zone."),
    post_date_gmt: localTime().describe('The same in UTC; each is derived from the other.'),
    is_sticky: onOff(),
    post_tags: names().describe('Names; missing ones are created.'),
    post_category: names().describe('Names; missing ones are created.'),
    post_custom: z
      .record(customName(), z.union([scalar(), bounded(z.array(scalar()).max(100))]))
      .describe('Custom fields: name to value. From a list, the site keeps the last member.'),
    post_featured_image: imageUrl().describe('The site downloads it.'),
    featured_image_data: z
      .object({ title: z.string(), alt: z.string(), caption: z.string(), description: z.string() })
      .partial()
      .strict(),
  }),
);

const gallery = once(() =>
  bounded(
    z.array(galleryImage().partial().required({ id: true, src: true }).extend({ src: imageUrl() }).strict()).max(100),
  ),
);

/** Parameters of a new post. */
export const newPost = once(() =>
  postFields()
    .partial()
    .required({ post_title: true, post_content: true, post_status: true })
    .extend({
      post_gallery_images: gallery()
        .describe('Images of a gallery shortcode; their ids in the text are replaced.')
        .optional(),
      post_type: z
        .string()
        .regex(/^[a-z0-9_-]{1,20}$/, 'must be the name of a post type')
        .default('post'),
    }),
);
export type NewPost = z.output<ReturnType<typeof newPost>>;

/** Only the given fields change; null or "" clears a text. */
export const postChange = once(() => {
  const fields = postFields();
  return fields
    .extend({
      post_title: fields.shape.post_title.nullable(),
      post_content: fields.shape.post_content.nullable(),
      post_excerpt: fields.shape.post_excerpt.nullable(),
      post_password: fields.shape.post_password.nullable(),
      post_tags: fields.shape.post_tags.nullable(),
    })
    .partial();
});
export type PostChange = z.output<ReturnType<typeof postChange>>;

/** Fields that WordPress can change individually, leaving the rest of the post unchanged. */
export const POST_COLUMNS = [
  'post_title',
  'post_content',
  'post_status',
  'post_name',
  'post_excerpt',
  'post_password',
  'comment_status',
  'ping_status',
  'post_date',
  'post_date_gmt',
] as const;

/** The reference to a written post. */
export const postRef = once(() => z.object({ post_id: z.number().int(), link: z.string() }));
export type PostRef = z.output<ReturnType<typeof postRef>>;
