/** Comments on the wire: the child's names of their states, and its lists (child protocol §6.4). */

import { COMMENT_STATUSES, type CommentStatus } from '../../../../schemas/comment.js';
import type { ChildComment, CommentsQuery } from '../content-types.js';
import type { ChildParams } from '../port.js';
import { decodeEntities, plainText, richText } from './text.js';
import { get, listOf, numberOf, rangeParams, secondsOf, textOf } from './values.js';

/** Maximum length of a comment's text. WordPress allows 65,525 bytes. */
const MAX_CONTENT = 65_535;
const MAX_ITEMS = 400_000;

const CHILD_STATUS: Record<CommentStatus, string> = {
  approved: 'approve',
  pending: 'hold',
  spam: 'spam',
  trash: 'trash',
};

/** Parameters of `get_all_comments`. */
export function commentsParams({ statuses, maximum, search, range, post_id }: CommentsQuery): ChildParams {
  return {
    status: statuses.map((status) => CHILD_STATUS[status]).join(','),
    maxRecords: maximum,
    ...(search === undefined ? {} : { keyword: search }),
    ...(post_id === undefined ? {} : { postId: post_id }),
    ...rangeParams(range),
  };
}

/** The answer of `get_all_comments`; null if it is not a list. */
export function commentsOf(answer: unknown): ChildComment[] | null {
  return listOf(answer, MAX_ITEMS)?.flatMap((item) => commentOf(item) ?? []) ?? null;
}

function commentOf(item: unknown): ChildComment | null {
  const id = numberOf(get(item, 'id'));
  const status = statusOf(get(item, 'status'));
  if (id === null || status === null) return null;
  return {
    comment_id: id,
    comment_author: plainText(get(item, 'author'), 250),
    // The child encodes addresses as entities to hide them from harvesters, differently each time.
    comment_author_email: plainText(decodeEntities(textOf(get(item, 'author_email'))), 254),
    comment_author_url: plainText(get(item, 'author_url'), 2048),
    comment_author_ip: plainText(get(item, 'author_ip'), 100),
    comment_content: richText(textOf(get(item, 'content')), MAX_CONTENT),
    comment_status: status,
    dts: secondsOf(get(item, 'dts')),
    post_id: numberOf(get(item, 'postId')) ?? 0,
    post_title: plainText(get(item, 'postName'), 500),
  };
}

function statusOf(value: unknown): CommentStatus | null {
  if (value === 'unapproved') return 'pending';
  return COMMENT_STATUSES.find((status) => status === value) ?? null;
}
