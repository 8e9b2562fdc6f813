import { createHmac } from 'node:crypto';
import type { DemoSite } from './site.js';
import type { UserState } from './state.js';

const TWO_DAYS_S = 172_800;

/**
 * A signed call logs its user in at two moments, and each time WordPress stores a session for two days, unless the request brought
 * the cookie of a valid one (child protocol §1). Returns the `Set-Cookie` headers.
 */
export function logIn(site: DemoSite, user: UserState, cookie: string, now: number): string[] {
  if (isValid(site, user, cookie, now)) return [];
  return [open(site, user, now), open(site, user, now)].flat();
}

function open(site: DemoSite, user: UserState, now: number): string[] {
  user.sessions += 1;
  const expires = now + TWO_DAYS_S;
  const token = String(user.sessions).padStart(43, 't');
  const value = [user.login, expires, token, hash(site, user.login, expires, token)]
    .map(encodeURIComponent)
    .join('%7C');
  return [
    `wordpress_demo=${value}; path=/wp-content/plugins; HttpOnly`,
    `wordpress_demo=${value}; path=/wp-admin; HttpOnly`,
    `wordpress_logged_in_demo=${value}; path=/; HttpOnly`,
  ];
}

function isValid(site: DemoSite, user: UserState, cookie: string, now: number): boolean {
  const found = /(?:^|; )wordpress_demo=([^;]+)/.exec(cookie)?.[1];
  const [login = '', expires = '', token = '', mark = ''] = decodeURIComponent(found ?? '').split('|');
  return (
    login === user.login &&
    Number(expires) > now &&
    // Ended sessions are gone, whatever their cookies say.
    Number(token.replace(/^t+/, '')) <= user.sessions &&
    mark === hash(site, login, Number(expires), token)
  );
}

function hash(site: DemoSite, login: string, expires: number, token: string): string {
  return createHmac('sha256', site.url).update(`${login}|${expires}|${token}`).digest('hex');
}
