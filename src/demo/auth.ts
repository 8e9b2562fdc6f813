import { constants, type KeyObject, verify } from 'node:crypto';
import { ChildError } from './answer.js';
import { type Params, text } from './params.js';
import type { DemoSite } from './site.js';
import type { UserState } from './state.js';

/** PHP's numbers of the hashes (child protocol §2). */
const HASHES: Record<number, string> = { 1: 'sha1', 6: 'sha224', 7: 'sha256', 8: 'sha384', 9: 'sha512' };
const SHA1 = 1;

/**
 * Lets a signed call through or throws the error of the real child. Wrong signature, no key and another key are
 * answered by the very same text (child protocol §2.3).
 * @param check false skips the arithmetic only; a key must be stored and a signature be there all the same.
 */
export function authenticate(site: DemoSite, params: Params, query: Params, check: boolean): UserState | undefined {
  const state = site.inner;
  if (site.faults.refused || state.connection === null) throw ChildError.of(site, 'auth');
  // With phpseclib the hash is fixed and `sign_algo` is not looked at.
  const pss = text(params, 'verifylib') !== '' || text(query, 'verifylib') !== '';
  const algorithm = pss ? null : chosenAlgorithm(site, params, query);
  const signature = text(params, 'mainwpsignature');
  if (signature === '') throw ChildError.of(site, 'auth');
  if (check) {
    const key = site.verifyingKey();
    const signed = clean(text(params, 'function')) + clean(text(params, 'nonce'));
    if (key === null || !genuine(key, algorithm, signed, signature)) throw ChildError.of(site, 'auth');
  }
  if (algorithm !== null) state.algorithm = algorithm;
  return actingUser(site, params);
}

function chosenAlgorithm(site: DemoSite, params: Params, query: Params): number {
  const remembered = site.inner.algorithm;
  const named = text(params, 'sign_algo') || text(query, 'sign_algo');
  if (named === '') {
    if (remembered !== null) throw ChildError.of(site, 'auth');
    return SHA1;
  }
  const algorithm = Number(named);
  if (algorithm === SHA1 && remembered !== null && remembered !== SHA1) throw ChildError.of(site, 'sha1');
  if (HASHES[algorithm] === undefined) throw ChildError.of(site, 'auth');
  return algorithm;
}

/** `algorithm` null means RSASSA-PSS, everything else PKCS#1 v1.5. */
function genuine(key: KeyObject, algorithm: number | null, signed: string, signature: string): boolean {
  const data = Buffer.from(signed);
  const bytes = Buffer.from(percentDecode(signature), 'base64');
  try {
    if (algorithm !== null) return verify(HASHES[algorithm], data, key, bytes);
    return verify('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }, bytes);
  } catch {
    return false;
  }
}

function actingUser(site: DemoSite, params: Params): UserState | undefined {
  const { users } = site.inner;
  const alternative = users.find((user) => user.login === text(params, 'alt_user') && user.role === 'administrator');
  if (alternative !== undefined) return alternative;
  const login = text(params, 'user');
  if (login === '') return undefined;
  const user = users.find((each) => each.login === login);
  if (user === undefined) throw ChildError.of(site, 'unknownUser');
  if (user.role !== 'administrator') throw ChildError.of(site, 'notAdministrator');
  return user;
}

/** Function names and nonces lose tags, percent codes and repeated blanks before anything else (child protocol §2). */
export function clean(value: string): string {
  if (/^[\w.-]*$/.test(value)) return value;
  return value
    .replace(/<[^>]*>?/g, '')
    .replace(/%[a-f0-9]{2}/gi, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** PHP's rawurldecode: broken sequences stay, bytes are read as UTF-8. */
export function percentDecode(value: string): string {
  if (!value.includes('%')) return value;
  const bytes: number[] = [];
  const source = Buffer.from(value);
  for (let i = 0; i < source.length; i += 1) {
    const hex = source.toString('latin1', i + 1, i + 3);
    if (source[i] === 0x25 && /^[0-9a-f]{2}$/i.test(hex)) {
      bytes.push(Number.parseInt(hex, 16));
      i += 2;
    } else {
      bytes.push(source[i] ?? 0);
    }
  }
  return Buffer.from(bytes).toString('utf8');
}
