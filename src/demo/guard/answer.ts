/** The simulated guard: answers signed requests as the must-use plugin does. Signatures are verified, nonces are kept. */

import { constants, createHash, type KeyObject, publicDecrypt, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { page } from '../answer.js';
import type { Answer } from '../http-answer.js';
import { isRecord, json } from '../params.js';
import type { DemoSite } from '../site.js';
import { actOnBackup, BACKUP_ACTIONS } from './backup.js';
import { ledger, mend } from './ledger.js';
import { findItem, keep, removeGuard, rollBack } from './state.js';
import type { ArmedVersion, GuardState, KeptVersion } from './types.js';

const PROTOCOL = 'sitefleet-guard-v2';
const SKEW = 300;
const NONCE_SECONDS = 900;
const MAX_ARMED = 3600;
const LOGIN_SECONDS = 60;
const MAX_BODY = 1_048_576;

class Refusal extends Error {
  readonly code: string;
  constructor(code: string, message = code) {
    super(message);
    this.code = code;
  }
}

type Fields = Record<string, unknown>;

/** Answers a request that carries the guard's header; an unsigned one gets the page of an unknown address. */
export function answerGuard(site: DemoSite, headers: IncomingHttpHeaders, body: string, check: boolean): Answer {
  const { guard } = site;
  const key = site.verifyingKey();
  if (guard === null || key === null || !genuine(key, headers, body, check)) return page(404, '<h1>Not here</h1>');
  // The web server refuses it: WordPress sees nothing of it.
  if (body.length > (guard.backup?.takes ?? MAX_BODY)) return page(413, '<h1>Too large</h1>');
  const now = Math.floor(site.now() / 1000);
  const nonce = String(headers['x-sitefleet-nonce']);
  const common = { protocol: PROTOCOL, nonce, time: now };
  try {
    admit(site, guard, headers, now, nonce);
    const asked = json(body);
    if (!isRecord(asked)) throw new Refusal('bad_request');
    return framed({ ...common, ok: true, ...act(site, guard, asked, now) });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return framed({ ...common, ok: false, error: { code: error.code, message: error.message } });
  }
}

const ids = new WeakMap<KeyObject, string>();

/** Export is slow: once for each key. */
function idOf(key: KeyObject): string {
  const id =
    ids.get(key) ??
    createHash('sha256')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest('hex')
      .slice(0, 32);
  ids.set(key, id);
  return id;
}

/** Not as the child checks its signatures: what that accepts is a login there. */
function isSigned(text: string, signature: string, key: KeyObject): boolean {
  try {
    const signed = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(signature, 'base64'));
    const digest = createHash('sha256').update(text).digest('hex');
    return signed.toString('hex') === `${Buffer.from('sitefleet-guard').toString('hex')}${digest}`;
  } catch {
    return false;
  }
}

function genuine(key: KeyObject, headers: IncomingHttpHeaders, body: string, check: boolean): boolean {
  if (headers['x-sitefleet-guard'] !== idOf(key)) return false;
  const [site, time, nonce] = ['site', 'time', 'nonce'].map((name) => String(headers[`x-sitefleet-${name}`]));
  const digest = createHash('sha256').update(body).digest('hex');
  const text = `${[PROTOCOL, 'POST', site, time, nonce, digest].join('\n')}\n`;
  return !check || isSigned(text, String(headers['x-sitefleet-signature']), key);
}

/** Whether Sitefleet itself makes this request, to check the site. */
export function isLook(site: DemoSite, header: unknown, check: boolean): boolean {
  const [, time, signature] = /^(\d{9,11}) (\S{100,2048})$/.exec(String(header)) ?? [];
  const key = site.verifyingKey();
  if (key === null || Math.abs(Number(time) - site.now() / 1000) > SKEW) return false;
  const text = `sitefleet-look-v2\n${addressOf(site.url)}\n${time}\n`;
  return !check || isSigned(text, String(signature), key);
}

/** Addresses below the site's that are shown in the sandbox, by the names of what they show. */
const SANDBOX: Readonly<Record<string, string>> = {
  front: '?',
  passwords: 'wp-login.php?',
  dashboard: 'wp-admin/?',
  editor: 'wp-admin/post.php?action=edit&',
  ajax: 'wp-admin/admin-ajax.php?action=logged-in&',
  rest: '?rest_route=/wp/v2/users/me&context=edit&',
};

/** What a request was signed for, with its nonce, which is used up; null = it is an ordinary visitor's. */
export function lookInside(
  site: DemoSite,
  header: unknown,
  address: string,
  check: boolean,
): { name: string; nonce: string } | null {
  const { guard } = site;
  const key = site.verifyingKey();
  const now = Math.floor(site.now() / 1000);
  const [, time, nonce = '', signature = ''] = /^(\d{9,11}) ([0-9a-f]{32}) (\S{100,2048})$/.exec(String(header)) ?? [];
  const name = Object.entries(SANDBOX).find(
    ([, start]) => address.startsWith(`${start}sitefleet=`) && /^[0-9a-f]{12}$/.test(address.slice(start.length + 10)),
  )?.[0];
  if (guard === null || key === null || name === undefined || guard.openUntil < now || guard.nonces.has(nonce))
    return null;
  if (Math.abs(Number(time) - now) > SKEW) return null;
  const place = new URL(address, site.url);
  const text = `sitefleet-session-v2\n${addressOf(site.url)}\n${time}\n${nonce}\n${place.pathname}${place.search}\n`;
  if (check && !isSigned(text, signature, key)) return null;
  guard.nonces.set(nonce, now + NONCE_SECONDS);
  return { name, nonce };
}

function admit(site: DemoSite, guard: GuardState, headers: IncomingHttpHeaders, now: number, nonce: string): void {
  if (headers['x-sitefleet-site'] !== addressOf(site.url)) throw new Refusal('other_site');
  if (Math.abs(Number(headers['x-sitefleet-time']) - now) > SKEW) throw new Refusal('clock');
  for (const [known, until] of guard.nonces) if (until < now) guard.nonces.delete(known);
  if (guard.nonces.has(nonce)) throw new Refusal('replayed');
  guard.nonces.set(nonce, now + NONCE_SECONDS);
}

function addressOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname.replace(/^www\./, '')}${port === '' ? '' : `:${port}`}${pathname}`;
}

function act(site: DemoSite, guard: GuardState, asked: Fields, now: number): Fields {
  const action = String(asked.action);
  const refused = site.faults.guardRefuses?.[action];
  if (refused !== undefined) throw new Refusal(refused, `This site cannot: ${refused}`);
  guard.armed = guard.armed.filter(({ until }) => until > now);
  guard.actions.push(action);
  if (guard.backup !== null && BACKUP_ACTIONS.has(action)) {
    if (action === 'read' && guard.backup.read > (guard.backup.stopsAfter ?? Infinity)) throw new Refusal('busy');
    const answer = guard.backup.lies?.(action, asked) ?? actOnBackup(guard.backup, action, asked);
    if (answer === undefined) throw new Refusal('bad_request');
    return answer;
  }
  switch (action) {
    case 'hello':
      return greeting(site, guard);
    case 'snapshot':
      return { snapshot: shown(snapshot(site, guard, asked)) };
    case 'arm':
      return { armed: arm(guard, asked, now) };
    case 'disarm':
      guard.armed = guard.armed.filter((one) => typeof asked.snapshot === 'string' && one.snapshot !== asked.snapshot);
      if (guard.armed.length === 0) guard.openUntil = 0;
      return { armed: guard.armed };
    case 'restore':
      return restore(site, guard, asked);
    case 'list':
      return { snapshots: guard.kept.map(shown) };
    case 'drop':
      return { dropped: drop(guard, String(asked.snapshot)) };
    case 'faults':
      return { faults: guard.faults.filter(({ time }) => time >= Number(asked.since)).slice(-50) };
    case 'login':
      return login(site, guard, asked.user, now);
    case 'ledger':
      return { ledger: ledger(site, guard) };
    case 'mend':
      return { mended: mend(guard, asked) };
    case 'sandbox':
      guard.openUntil = now + Number(asked.seconds);
      return { until: guard.openUntil, looks: Object.keys(SANDBOX) };
    case 'uninstall':
      removeGuard(site);
      return { removed: true };
    default:
      throw new Refusal('bad_request');
  }
}

/** A token for one login within a minute. */
function login(site: DemoSite, guard: GuardState, user: unknown, now: number): Fields {
  if (!guard.login) throw new Refusal('login_not_allowed', 'The owner of this site has not allowed logins by token.');
  if (user !== site.admin) throw new Refusal('not_found', 'There is no administrator with this name.');
  const token = randomBytes(32).toString('hex');
  const until = now + LOGIN_SECONDS;
  guard.logins.set(digestOf(token), { user, until });
  return { token, until };
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Uses a token up and leads to the administration; null when the token is not good: the site answers as ever. */
export function enterSite(site: DemoSite, token: string): Answer | null {
  const { guard } = site;
  const login = guard?.logins.get(digestOf(token));
  guard?.logins.delete(digestOf(token));
  if (login === undefined || login.until < Math.floor(site.now() / 1000)) return null;
  return page(302, '', {
    location: `${site.url}wp-admin/`,
    'set-cookie': `wordpress_logged_in_demo=${encodeURIComponent(login.user)}; Path=${new URL(site.url).pathname}; HttpOnly`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
}

function greeting(site: DemoSite, guard: GuardState): Fields {
  const state = site.inner;
  return {
    guard: guard.version,
    wordpress: state.wpVersion,
    php: state.phpVersion,
    multisite: false,
    free_bytes: 5_000_000_000,
    writable: { store: true, plugins: true, themes: true, mu_plugins: true },
    file_mods: site.faults.fileMods !== false,
    zip: true,
    opcache: true,
    maintenance: site.faults.maintenance === true,
    updating: guard.updating,
    drop_ins: [],
    visits: guard.visits,
    login: guard.login,
    backup: guard.backup?.version ?? null,
    armed: guard.armed,
    limits: { files: 50_000, bytes: 524_288_000 },
  };
}

function snapshot(site: DemoSite, guard: GuardState, { kind, slug }: Fields): KeptVersion {
  if ((kind !== 'plugin' && kind !== 'theme') || typeof slug !== 'string') throw new Refusal('bad_request');
  const item = findItem(site, kind, slug);
  if (item === undefined) throw new Refusal('not_found');
  const kept = keep(site, guard, kind, item, 'snapshot');
  if (site.faults.guardLeavesOut !== undefined) kept.left_out = { over: 65_536, ...site.faults.guardLeavesOut };
  return kept;
}

function arm(guard: GuardState, asked: Fields, now: number): ArmedVersion[] {
  const kept = find(guard, asked.snapshot);
  const seconds = Number(asked.seconds);
  const patience = Number(asked.patience ?? 0);
  if (!(seconds >= 1 && seconds <= MAX_ARMED && patience >= 0 && patience <= MAX_ARMED))
    throw new Refusal('bad_request');
  guard.armed = guard.armed.filter(({ snapshot: id }) => id !== kept.id);
  guard.armed.push({ snapshot: kept.id, kind: kept.kind, slug: kept.slug, at: now, until: now + seconds, patience });
  return guard.armed;
}

function restore(site: DemoSite, guard: GuardState, asked: Fields): Fields {
  const kept = find(guard, asked.snapshot);
  const running = guard.updating.some(({ kind, slug }) => kind === kept.kind && slug === kept.slug);
  if (running && asked.while_updating !== true) throw new Refusal('updating');
  const replaced = rollBack(site, guard, kept);
  guard.armed = guard.armed.filter(({ snapshot: id }) => id !== kept.id);
  if (asked.end_maintenance === true && site.faults.maintenance === true) site.faults.maintenance = false;
  return {
    already: replaced === null,
    replaced: replaced === null ? null : shown(replaced),
    active: isOn(site, kept),
    maintenance: site.faults.maintenance === true,
    ms: 7,
    snapshot: shown(kept),
    database: 'untouched',
  };
}

function isOn(site: DemoSite, { kind, slug }: KeptVersion): boolean {
  const item = findItem(site, kind, slug);
  return item !== undefined && ('active' in item ? item.active : site.inner.activeTheme === slug);
}

function drop(guard: GuardState, id: string): boolean {
  if (guard.armed.some(({ snapshot: armed }) => armed === id)) throw new Refusal('armed');
  const before = guard.kept.length;
  guard.kept = guard.kept.filter((one) => one.id !== id);
  return guard.kept.length < before;
}

function find(guard: GuardState, id: unknown): KeptVersion {
  const kept = guard.kept.find((one) => one.id === id);
  if (kept === undefined) throw new Refusal('not_found');
  return kept;
}

function shown({ update: _offer, ...kept }: KeptVersion): Fields {
  return kept;
}

function framed(value: Fields): Answer {
  const text = JSON.stringify(value).replace(/[<>]/g, '');
  return {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=UTF-8', 'cache-control': 'no-store' },
    body: `<sitefleet-guard>${text}</sitefleet-guard>`,
  };
}
