/**
 * The calls of the port that read and write content, built on one signed call: posts, comments, users, security checks.
 */

import type { ChildUser } from '../content-types.js';
import type { CallOptions, ChildConnection, ChildContent, ChildParams } from '../port.js';
import { fail } from './answers.js';
import { commentsOf, commentsParams } from './comments.js';
import {
  editableOf,
  editLockValues,
  listingOf,
  listingParams,
  newpostParams,
  postData,
  postOf,
  postsOf,
  postsParams,
  savedPostOf,
} from './posts.js';
import { exactText, plainText } from './text.js';
import { asMap, entriesOf, get, listOf } from './values.js';

export type SignedCall = (
  site: ChildConnection,
  fn: string,
  params: ChildParams,
  options: CallOptions | undefined,
) => Promise<unknown>;

export function createContentCalls(call: SignedCall): ChildContent {
  return {
    async posts(site, query, options) {
      return postsOf(await call(site, 'get_all_posts', postsParams(query), options)) ?? fail('the list of posts');
    },

    async postStatus(site, id, options) {
      const params = { postId: id, post_type: 'any', status: 'any,trash,auto-draft' };
      const [item] = listOf(await call(site, 'get_all_posts', params, options), 1) ?? [];
      return postOf(item);
    },

    async postListing(site, post, options) {
      return listingOf(await call(site, 'get_all_posts', listingParams(post), options));
    },

    async postForEditing(site, id, options) {
      // For any type other than `post` the child omits categories and tags, and calls everything a page.
      return editableOf(await call(site, 'post_action', { action: 'get_edit', id, post_type: 'post' }, options));
    },

    async setEditLock(site, id, lock, options) {
      await call(site, 'post_action', { action: 'update_meta', id, values: editLockValues(lock) }, options);
    },

    async actOnPost(site, id, action, options) {
      await call(site, 'post_action', { action, id }, options);
    },

    async updatePost(site, id, update, options) {
      const data = postData(update);
      if (Object.keys(data).length === 0) return;
      await call(site, 'post_action', { action: 'update', id, post_data: { ID: id, ...data } }, options);
    },

    async savePost(site, fields, over, options) {
      return savedPostOf(await call(site, 'newpost', newpostParams(fields, over), options));
    },

    async comments(site, query, options) {
      const answer = await call(site, 'get_all_comments', commentsParams(query), options);
      return commentsOf(answer) ?? fail('the list of comments');
    },

    async actOnComments(site, ids, action, options) {
      const [only] = ids;
      if (ids.length === 1 && only !== undefined) await call(site, 'comment_action', { action, id: only }, options);
      else await call(site, 'comment_bulk_action', { action, ids: ids.join(',') }, options);
    },

    async users(site, roles, options) {
      const answer = await call(site, 'get_all_users', { role: roles.join(',') }, options);
      return (listOf(answer, MAX_USERS) ?? []).map(userOf);
    },

    async endSessions(site, user, options) {
      const params = { action: 'force_destroy_sessions' };
      const answer = await call({ ...site, user }, 'settings_tools', params, options);
      return Number(get(answer, 'success')) === 1;
    },

    async securityChecks(site, options) {
      const answer = await call(site, 'security', {}, options);
      const entries = asMap(answer) === null ? [] : (entriesOf(answer, MAX_CHECKS) ?? []);
      return Object.fromEntries(
        entries.filter(
          (entry): entry is [string, string] => /^[a-z0-9_]{1,64}$/.test(entry[0]) && VERDICTS.has(entry[1]),
        ),
      );
    },
  };
}

const MAX_USERS = 100_000;
const MAX_CHECKS = 100;
const VERDICTS: ReadonlySet<unknown> = new Set(['Y', 'N', 'Y_UNABLE', 'N_UNABLE']);

function userOf(user: unknown): ChildUser {
  return { login: exactText(get(user, 'login'), 60) ?? '', nicename: plainText(get(user, 'nicename'), 100) };
}
