import type { ChildFunction } from '../answer.js';
import { list } from '../params.js';
import type { SiteState } from '../state.js';
import { wpDate } from './dates.js';

/** Users as stats shows them (child protocol §5.1). */
export function userItems(state: SiteState): Record<string, unknown>[] {
  return state.users.map((user) => ({
    id: user.id,
    login: user.login,
    nicename: user.login,
    email: user.email,
    registered: wpDate(user.registered, 0),
    status: '0',
    display_name: user.displayName,
    role: user.role,
    post_count: String(state.posts.filter((post) => post.author === user.login && post.type === 'post').length),
    last_password_change: null,
    password_status: 'DISABLED',
    password_due_time: null,
    password_has_recorded_change: false,
  }));
}

/** `get_all_users` (child protocol §6.9). */
export const getAllUsers: ChildFunction = ({ state, params }) => {
  const roles = list(params, 'role', ',');
  return userItems(state)
    .filter((user) => roles.length === 0 || roles.includes(String(user.role)))
    .map((user) => ({ ...user, avatar: '<img alt="" src="https://secure.gravatar.com/avatar/0?s=32" width="32" />' }));
};
