import { dropOldest } from '../../../runtime/drop-oldest.js';
import type { ChildCall } from './call.js';

/**
 * The WordPress sessions that children open for signed calls. A child logs its administrator in twice on each call, and
 * WordPress stores a session each time, for two days, unless the call carries the cookie of a session that is still
 * valid (child protocol §1). So the cookie of the last call is sent with the next one. It is as good as a login: it
 * stays in memory, belongs to one site and login, and is sent with signed calls only.
 */
export class Sessions {
  /** By site and login, the most recently used last. */
  readonly #cookies = new Map<string, string>();

  headerOf(call: ChildCall): Record<string, string> {
    const known = call.private_key === null ? undefined : this.#cookies.get(keyOf(call));
    return known === undefined ? {} : { cookie: known };
  }

  /** Takes the session from the response of a signed call, if one was opened. */
  keep(call: ChildCall, setCookies: readonly string[]): void {
    if (call.private_key === null) return;
    const key = keyOf(call);
    // A call may open two: the later replaces the earlier, as in a browser.
    const cookie = setCookies.findLast((one) => AUTH_COOKIE.test(one) && !one.includes('_logged_in_'))?.split(';')[0];
    const held = cookie ?? this.#cookies.get(key);
    if (held === undefined || held.length > MAX_LENGTH) return;
    this.#cookies.delete(key);
    this.#cookies.set(key, held);
    dropOldest(this.#cookies, CAPACITY);
  }
}

/** `name=login|expires|token|hash`, URL-encoded or not: WordPress' login cookie, whatever its name. */
const AUTH_COOKIE = /^[\w.-]+=[^;|]{1,255}?(?:%7C|\|)\d{6,12}(?:%7C|\|)\w{20,64}(?:%7C|\|)[0-9a-f]{32,128}(?:;|$)/i;
const MAX_LENGTH = 1_024;
const CAPACITY = 20_000;

function keyOf(call: ChildCall): string {
  return `${call.user}\n${call.at.url}`;
}
