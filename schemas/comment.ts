/** Schemas of comments (REST §6.4). */

import { once } from '../src/runtime/once.js';
import { timestamp } from './common.js';
import { z } from './zod.js';

/** States of a comment, named as in the routes document. */
export const COMMENT_STATUSES = ['approved', 'pending', 'spam', 'trash'] as const;
export type CommentStatus = (typeof COMMENT_STATUSES)[number];

const COMMENT_ACTIONS = ['approve', 'unapprove', 'spam', 'unspam', 'trash', 'restore', 'delete'] as const;
export type CommentAction = (typeof COMMENT_ACTIONS)[number];

export const commentStatusFilter = once(() =>
  z
    .enum([...COMMENT_STATUSES, 'all'])
    .default('all')
    .describe('Only comments in this state; all = all four states.'),
);

export const commentAction = once(() =>
  z.enum(COMMENT_ACTIONS).describe('delete is permanent, and only possible from the trash or spam.'),
);

export const comment = once(() =>
  z.object({
    comment_id: z.number().int(),
    comment_author: z.string(),
    comment_author_email: z.string(),
    comment_author_url: z.string(),
    comment_author_ip: z.string(),
    comment_content: z.string(),
    comment_status: z.enum(COMMENT_STATUSES),
    comment_date: timestamp().nullable(),
    post_id: z.number().int(),
    post_title: z.string(),
    website_id: z.number().int(),
    website_url: z.string(),
    website_name: z.string(),
  }),
);
export type Comment = z.output<ReturnType<typeof comment>>;

/** A site, or an item of it, that contributed nothing to an answer. */
export const liveErrors = once(() =>
  z
    .array(
      z.object({
        site_id: z.number().int().optional(),
        id: z.number().int().optional(),
        code: z.string(),
        message: z.string(),
      }),
    )
    .describe('What failed; the rest of the answer is complete without it.'),
);
