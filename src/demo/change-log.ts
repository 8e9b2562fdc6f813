/** Entries of the child's activity log, with the keys that the real plugin gives each type (child protocol §6.7). */

import type { ChangeLogEntry, PostState } from './state.js';

/** What an entry is about; `post` fills the columns of the post it belongs to. */
export interface LoggedChange {
  type: number;
  context: string;
  action: string;
  user: string;
  /** Unix seconds with fraction. */
  created: number;
  meta?: Record<string, unknown>;
  post?: { id: number; type: string; status: string };
  agent?: string;
}

/** A row of the log as it goes over the wire. */
export function logEntry(id: number, change: LoggedChange): ChangeLogEntry {
  const { type, context, action, user, created, meta = {}, post, agent = 'Mozilla/5.0' } = change;
  return {
    id,
    blog_id: 1,
    log_type_id: type,
    created_on: created.toFixed(5),
    client_ip: '198.51.100.7',
    context,
    action_name: action,
    user_agent: agent,
    user_roles: 'administrator',
    username: user,
    user_id: 1,
    duration: 0,
    post_status: post?.status ?? '',
    post_type: post?.type ?? '',
    post_id: post?.id ?? 0,
    meta_data: {
      ...meta,
      user_data: { first_name: '', last_name: '' },
      user_meta: { wp_user_id: 1, display_name: user, agent: '', action_user: user },
    },
  };
}

/** What an ordinary day leaves in the log: logins, an edit, somebody who only looked, a timer. */
export function generateLog(user: string, post: PostState | undefined, now: number): ChangeLogEntry[] {
  const at = (hoursAgo: number) => now - hoursAgo * 3600 + 0.5;
  const about =
    post === undefined
      ? {}
      : {
          post: { id: post.id, type: post.type, status: post.status },
          meta: { posttitle: post.title, postdate: '2026-01-01 00:00:00' },
        };
  const changes: LoggedChange[] = [
    { type: 1570, context: 'user', action: 'logged-in', user, created: at(6) },
    { type: 1310, context: 'post', action: 'opened', user, created: at(5.5), ...about },
    { type: 1300, context: 'post', action: 'modified', user, created: at(5), ...about },
    {
      type: 1940,
      context: 'cron-job',
      action: 'executed',
      user: 'System',
      created: at(4.5),
      meta: { task_name: 'wp_version_check', timestamp: Math.floor(at(4.5)), arguments: '' },
    },
    { type: 1570, context: 'user', action: 'logged-in', user, created: at(4) },
  ];
  return changes.map((change, i) => logEntry(i + 1, change));
}
