import { type Call, ChildError } from './answer.js';
import { percentDecode } from './auth.js';
import { statsPayload } from './functions/stats.js';
import { atLeast } from './inventory.js';
import { type Params, text } from './params.js';
import { issueSecret, knowsSecret } from './secrets.js';
import type { DemoSite } from './site.js';
import type { UserState } from './state.js';

/** Unsigned `stats`: who is there, unless a dashboard is connected already (child protocol §3.1). */
export function probe(site: DemoSite): unknown {
  const state = site.inner;
  if (state.connection !== null) throw ChildError.of(site, 'connected');
  return { version: site.childVersion, wpversion: state.wpVersion, wpe: state.wpe ? 1 : 0, wphost: state.wphost };
}

/**
 * `register`: the checks in the order of the real child, then the whole stats payload (child protocol §3.2).
 * Throws a ChildError with the code of the first check that fails.
 */
export function register(call: Call): unknown {
  const { site, state, params } = call;
  const login = text(params, 'user');
  const server = text(params, 'server');
  const user = state.users.find((each) => each.login === login);
  if (login === '' || text(params, 'pubkey') === '') throw ChildError.of(site, 'REG_ERROR1', 'REG_ERROR1');
  if (state.connection !== null && (state.connection.user !== login || state.connection.server !== server)) {
    const code = user?.passwordRequired === false ? 'REG_ERROR10' : 'REG_ERROR2';
    throw ChildError.of(site, code, code);
  }
  checkUniqueId(site, text(params, 'uniqueId'));
  if (!state.openssl) throw ChildError.of(site, 'REG_ERROR5', 'REG_ERROR5');
  if (!state.curl) throw ChildError.of(site, 'REG_ERROR6', 'REG_ERROR6');
  checkProof(site, params, user);
  if (user === undefined || !user.canLogIn) throw ChildError.of(site, 'REG_ERROR8', 'REG_ERROR8');
  if (user.role !== 'administrator') throw ChildError.of(site, 'REG_ERROR9', 'REG_ERROR9');

  state.connection = { publicKey: text(params, 'pubkey'), server, user: login };
  site.touch();
  const secret = modern(params) && !knowsSecret(user, text(params, 'regverify')) ? issueSecret(user) : undefined;
  return {
    register: 'OK',
    user: login,
    ...(secret === undefined ? {} : { regverify: secret }),
    ...statsPayload({ ...call, user }, 'register'),
  };
}

function checkUniqueId(site: DemoSite, given: string): void {
  const { uniqueId } = site.inner;
  if (uniqueId === '') return;
  if (given === '') throw ChildError.of(site, 'REG_ERROR3', 'REG_ERROR3');
  if (given !== uniqueId) throw ChildError.of(site, 'REG_ERROR4', 'REG_ERROR4');
}

function checkProof(site: DemoSite, params: Params, user: UserState | undefined): void {
  // The setting is on by default, for a user who does not exist as well.
  if (user?.passwordRequired === false) return;
  if (!modern(params)) throw ChildError.of(site, 'REG_ERROR10', 'REG_ERROR10');
  const password = decodePassword(text(params, 'userpwd'));
  if (password !== '') {
    if (user !== undefined && password === user.password.trim()) return;
    throw ChildError.of(site, 'REG_ERROR7', 'REG_ERROR7');
  }
  if (params.regverify === undefined) throw ChildError.of(site, 'REG_ERROR7', 'REG_ERROR7');
  if (!knowsSecret(user, text(params, 'regverify'))) throw ChildError.of(site, 'reconnect_failed', 'reconnect_failed');
}

function modern(params: Params): boolean {
  return atLeast(text(params, 'mainwpver') || '0', '5.3');
}

/** Decoded once more than the form, without taking off the slashes WordPress adds: only double encoding survives. */
function decodePassword(value: string): string {
  const slashed = value.replace(/['"\\]/g, '\\$&').replaceAll('\0', '\\0');
  return percentDecode(slashed).trim();
}
