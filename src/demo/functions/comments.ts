import { type Call, type ChildFunction, Crash } from '../answer.js';
import { integer, list, text } from '../params.js';
import type { CommentState, CommentStatus, SiteState } from '../state.js';
import { dateFilter, newestFirst } from './dates.js';

const STATUS_OF: Record<string, CommentStatus> = {
  approve: 'approved',
  hold: 'unapproved',
  spam: 'spam',
  trash: 'trash',
};

/** `get_all_comments` (child protocol §6.4). */
export const getAllComments: ChildFunction = ({ state, params }) => {
  const limit = integer(params, 'maxRecords', 50);
  const keyword = text(params, 'keyword').toLowerCase();
  const postId = integer(params, 'postId');
  const inTime = dateFilter(params, state.gmtOffset);
  const matching = newestFirst(state.comments).filter(
    (comment) =>
      inTime(comment.date) &&
      (postId === 0 || comment.postId === postId) &&
      `${comment.content} ${comment.author} ${comment.authorEmail}`.toLowerCase().includes(keyword),
  );
  return list(params, 'status', ',').flatMap((name) => {
    const found = matching.filter((comment) => comment.status === STATUS_OF[name]);
    return found.slice(0, limit > 0 ? limit : found.length).map((comment) => commentItem(state, comment));
  });
};

/** The newest of every status, for stats. */
export function recentComments(state: SiteState, perStatus: number): Record<string, unknown>[] {
  const all = newestFirst(state.comments);
  return Object.values(STATUS_OF).flatMap((status) =>
    all
      .filter((comment) => comment.status === status)
      .slice(0, perStatus)
      .map((comment) => commentItem(state, comment)),
  );
}

function commentItem(state: SiteState, comment: CommentState): Record<string, unknown> {
  return {
    id: String(comment.id),
    status: comment.status,
    author: comment.author,
    author_url: comment.authorUrl,
    author_ip: comment.authorIp,
    author_email: obfuscate(comment.authorEmail),
    postId: String(comment.postId),
    postName: state.posts.find((post) => post.id === comment.postId)?.title ?? '',
    comment_count: String(approvedCount(state, comment.postId)),
    content: comment.content,
    dts: comment.date,
  };
}

export function approvedCount(state: SiteState, postId: number): number {
  return state.comments.filter((comment) => comment.postId === postId && comment.status === 'approved').length;
}

/** Entities against harvesters, differently every time: two equal syncs differ in this text. */
function obfuscate(email: string): string {
  return email.replace(/./g, (sign) => (sign === '@' || Math.random() < 0.5 ? `&#${sign.charCodeAt(0)};` : sign));
}

const ACTIONS = new Set(['approve', 'unapprove', 'spam', 'unspam', 'trash', 'restore', 'delete']);

/** `comment_action`: SUCCESS also for a comment that does not exist (child protocol §6.4). */
export const commentAction: ChildFunction = (call) => {
  const action = text(call.params, 'action');
  act(call, action, integer(call.params, 'id'));
  return { status: ACTIONS.has(action) ? 'SUCCESS' : 'FAIL' };
};

/** `comment_bulk_action`: counts what it was given, not what it did (child protocol §6.4). */
export const commentBulkAction: ChildFunction = (call) => {
  const ids = list(call.params, 'ids', ',');
  for (const id of ids) act(call, text(call.params, 'action'), Number.parseInt(id, 10));
  return { success: ids.length };
};

function act({ site, state }: Call, action: string, id: number): void {
  const comment = state.comments.find((each) => each.id === id);
  if (comment === undefined) {
    // The real child reads the missing comment while it logs the approval, and dies.
    if (action === 'approve') throw new Crash();
    return;
  }
  if (site.faults.falseSuccess !== true) applyAction(state, comment, action);
}

function applyAction(state: SiteState, comment: CommentState, action: string): void {
  switch (action) {
    case 'approve':
      comment.status = 'approved';
      break;
    case 'unapprove':
      comment.status = 'unapproved';
      break;
    case 'spam':
    case 'trash':
      if (comment.status !== 'spam' && comment.status !== 'trash') comment.statusBefore = comment.status;
      comment.status = action;
      break;
    case 'unspam':
    case 'restore':
      comment.status = comment.statusBefore;
      break;
    case 'delete':
      state.comments = state.comments.filter((each) => each !== comment);
      break;
  }
}
