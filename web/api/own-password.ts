/** Changes the password of the logged-in user. Their other sessions end; this one continues. */

import { ApiError, refusal } from './client.js';
import { reachable } from './reachable.js';
import { enter, forgetSession, type Session, session } from './session.js';

/** Throws an `ApiError`. */
export async function changePassword(given: { current_password?: string; password: string }): Promise<void> {
  const current = session.get();
  let response: Response;
  try {
    response = await fetch('/session/password', {
      method: 'PUT',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'X-Sitefleet-CSRF': current?.authenticated === true ? current.csrf : '',
      },
      body: JSON.stringify(given),
    });
  } catch {
    reachable.set(false);
    throw new ApiError(0, 'no_answer', '', null);
  }
  const body: unknown = await response.json().catch(() => null);
  if (response.status === 401) forgetSession();
  if (!response.ok) throw refusal(response, body);
  enter(body as Session);
}
