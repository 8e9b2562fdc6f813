/** Connects, reconnects and disconnects sites (child protocol §3, §4). */

import type { NewSite } from '../../../schemas/site.js';
import {
  type ChildAddress,
  ChildFailure,
  type KeyPair,
  type Registered,
  type Snapshot,
} from '../../outbound/child/port.js';
import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import { ownMember } from '../../runtime/own-member.js';
import type { Ctx } from '../context.js';
import { firstCertificateLook } from '../monitoring/certificates.js';
import { abandonedAfterDays } from '../settings/effects.js';
import { isLate, type LoadedSite, loadSite, requireNotOnTrial, siteCallError } from '../sites/load.js';
import { linkError, loadRecord, requireLinks, type SiteView, siteView } from '../sites/sites.js';
import { firstTitle } from '../sites/title.js';
import { ownAddress, type StoredUrl, shownHost, storedUrl } from '../sites/urls.js';
import { otherRecords } from './other-records.js';
import { askSnapshot, fetchSnapshot, STORED_PARTS } from './sync.js';

/** `ipv4_only` omitted: the global setting applies. The password is used once for the handshake, never stored. */
type NewSiteInput = NewSite & { ipv4_only?: boolean | undefined };

/**
 * Registers with the child, proves the key by a signed call, and stores the site with its first inventory. Nothing is
 * stored unless all of it succeeded within the time of a direct call: a slow site that has registered is stored without
 * the data that did not arrive in time (`last_sync` null), which the next sync reads. Errors: operations §8 S4.
 */
export async function addSite(caller: Ctx, input: NewSiteInput): Promise<SiteView> {
  const limit = caller.clock.deadline(caller.config.direct_call_ms);
  try {
    return await addInTime(caller, limit.signal, input);
  } finally {
    limit.clear();
  }
}

async function addInTime(caller: Ctx, timeUp: AbortSignal, input: NewSiteInput): Promise<SiteView> {
  const ctx: Ctx = { ...caller, signal: AbortSignal.any([caller.signal, timeUp]) };
  /** The site is slow: the call ran out of time while the caller still waits, or a single request timed out. */
  const isSlow = (error: unknown) => (timeUp.aborted && !caller.signal.aborted) || isLate(error);
  for (const field of ['url', 'admin'] as const) {
    if (input[field].trim() === '')
      throw new ServiceError('svc_invalid_input', `${field} must not be blank.`, {
        field,
        advice: `Send the ${field === 'url' ? 'URL of the site' : 'login name of its administrator'}.`,
      });
  }
  const address = storedUrl(input.url);
  await refuseKnown(ctx, address);
  await requireLinks(ctx, input.client_id, { tags: input.tags ?? [] });
  const at: ChildAddress = {
    url: address.url,
    http_user: input.http_user ?? null,
    http_pass: input.http_pass ?? null,
    ssl_verify: input.ssl_verify,
    ipv4_only: input.ipv4_only,
  };
  await ctx.store.sites.requireKey();
  const key = await ctx.child.generateKey();
  const { registered, snapshot } = await handshake(ctx, at, key, input, isSlow);
  const known = { private_key: key.private_key, user: input.admin, registered, own_url: snapshot?.site_url };
  await refuseSecondAddress(ctx, address, at, known);
  const stored = ownAddress(address, snapshot?.site_url);
  const name = input.name || (await firstTitle(ctx, at).catch(unlessSlow(isSlow, '')));
  const now = ctx.clock.now();
  let id: number | undefined;
  try {
    id = await ctx.store.sites.add(
      {
        ...stored,
        name: name || shownHost(stored.url),
        title_tries: name === '' ? 1 : null,
        client_id: input.client_id ?? null,
        tags: input.tags ?? [],
        admin_username: input.admin,
        ssl_verify: input.ssl_verify,
        unique_id: registered.unique_id === '' ? (input.unique_id ?? '') : registered.unique_id,
        private_key: key.private_key,
        regverify: snapshot?.regverify ?? registered.regverify,
        http_user: at.http_user,
        http_pass: at.http_pass,
      },
      now,
      (siteId) => (snapshot === null ? [] : ctx.store.inventory.first(siteId, stored.url_key, snapshot, now)),
    );
  } catch (error) {
    throw linkError(error);
  }
  if (id === undefined) await refuseKnown(ctx, stored);
  if (id === undefined) throw new ServiceError('svc_site_add_failed', 'The site could not be saved.');
  ctx.events.emit({ name: 'site.added', site_id: id, facts: { url: stored.url } });
  const added = await loadRecord(ctx, id);
  await firstCertificateLook(ctx, added);
  return siteView(ctx, added);
}

/** Turns a timeout into a value; other failures are thrown. */
function unlessSlow<T>(isSlow: (error: unknown) => boolean, value: T): (error: unknown) => T {
  return (error) => {
    if (isSlow(error)) return value;
    throw error;
  };
}

async function refuseKnown(ctx: Ctx, address: { url: string; url_key: string }): Promise<void> {
  const [known] = await ctx.store.sites.candidates([], [address.url_key]);
  if (known !== undefined) throw alreadyExists(`${address.url} already exists, as site ${known.id}.`, known.id);
}

function alreadyExists(message: string, siteId: number): ServiceError {
  return new ServiceError('svc_site_already_exists', message, {
    field: 'url',
    advice: 'Use update-site-v1 to change it, or reconnect-site-v1 to renew its connection.',
    data: { site_id: siteId },
  });
}

/**
 * Throws `svc_site_already_exists` if this WordPress is stored under another address. Its child has our new key by now,
 * so the stored site gets it, too.
 */
async function refuseSecondAddress(
  ctx: Ctx,
  typed: StoredUrl,
  at: ChildAddress,
  { private_key, user, registered, own_url }: NewKey,
): Promise<void> {
  for (const siteId of await otherRecords(ctx, own_url)) {
    const { site, connection } = await loadSite(ctx, siteId);
    const there = { ...(connection ?? at), url: site.url, site_id: siteId, user, private_key };
    const renewed = { ...there, door: undefined, regverify: registered.regverify };
    const failure = await askSnapshot(ctx, renewed, site).then(
      () => null,
      (error: unknown) => error,
    );
    // A copy of a site may still call itself as the original does, which refuses this key.
    if (failure instanceof ChildFailure && failure.kind === 'refused') continue;
    if (failure === null)
      await ctx.store.sites.replaceKey(siteId, {
        private_key,
        regverify: registered.regverify,
        unique_id: registered.unique_id === '' ? (connection?.unique_id ?? '') : registered.unique_id,
      });
    throw alreadyExists(`${typed.url} is the site ${site.url}, which already exists, as site ${siteId}.`, siteId);
  }
}

/** A key that a child has just accepted, and what the child calls itself. */
interface NewKey {
  private_key: string;
  user: string;
  registered: Registered;
  own_url: string | undefined;
}

/** The child accepts any key unverified: only a signed call shows that the connection works (child protocol §2). */
async function handshake(
  ctx: Ctx,
  at: ChildAddress,
  key: KeyPair,
  input: NewSiteInput,
  isSlow: (error: unknown) => boolean,
): Promise<{ registered: Registered; snapshot: Snapshot | null }> {
  const options = { signal: ctx.signal };
  try {
    const registration = {
      user: input.admin,
      public_key: key.public_key,
      unique_id: input.unique_id ?? '',
      password: input.admin_password,
    };
    const registered = await ctx.child.register(at, registration, options).catch((error: unknown) => {
      throw isSlow(error) ? registeredLate(error) : error;
    });
    const snapshot = await ctx.child
      .stats(
        { ...at, site_id: 0, user: input.admin, private_key: key.private_key },
        { abandonedAfterDays: await abandonedAfterDays(ctx), changesAfter: 0, parts: STORED_PARTS },
        options,
      )
      // The child has our key by now: if it were not stored here, the site would be unreachable.
      .catch(unlessSlow(isSlow, null));
    return { registered, snapshot };
  } catch (error) {
    throw addError(await withoutWordPress(ctx, at, error));
  }
}

/** What the front page of every WordPress refers to, unless its theme hides it. */
const WORDPRESS = /wp-content\/|wp-includes\/|wp-json|\?rest_route=|name=["']generator["'] content=["']WordPress/i;

/**
 * The failure of a site that answered something other than the child plugin; named differently where nothing there has a
 * sign of WordPress, because then a firewall is the less likely reason.
 */
async function withoutWordPress(ctx: Ctx, at: ChildAddress, error: unknown): Promise<unknown> {
  if (!(error instanceof ChildFailure) || error.kind !== 'unframed' || error.httpStatus >= 500) return error;
  const front = await ctx.child.page(at, '', { signal: ctx.signal });
  if (front.failure !== null || WORDPRESS.test(front.body)) return error;
  // Any other status of the front page may be that of a firewall. It hides what is there, but rarely as not found.
  const absent =
    [200, 404].includes(front.status) ||
    (error.httpStatus === 404 && (await ctx.child.page(at, 'wp-login.php', { signal: ctx.signal })).status === 404);
  if (!absent) return error;
  const { host } = new URL(at.url);
  return new ChildFailure(
    'unframed',
    `No WordPress was found at ${host}: wp-admin/admin-ajax.php answered HTTP ${error.httpStatus}, and nothing else has a sign of WordPress.`,
    {
      httpStatus: error.httpStatus,
      advice:
        'Check the address: WordPress may be installed in a folder of it, such as https://example.com/blog/. If it is there and hides itself, allow requests to wp-admin/admin-ajax.php from this service.',
      cause: error,
    },
  );
}

function registeredLate(error: unknown): ChildFailure {
  return new ChildFailure('timed_out', 'The site did not answer the registration within the time limit of a call.', {
    advice: 'It may have taken effect anyway. Once the site is faster, add it again with the same login and password.',
    mayHaveRun: true,
    cause: error,
  });
}

/** Refusals that a caller can resolve by sending another login, password or id (child protocol §3.2). */
const CREDENTIAL_CODES: Readonly<Record<string, string>> = {
  REG_ERROR3: 'unique_id',
  REG_ERROR4: 'unique_id',
  REG_ERROR7: 'admin_password',
  REG_ERROR8: 'admin',
  REG_ERROR9: 'admin',
  reconnect_failed: 'admin_password',
};

function addError(error: unknown): ServiceError {
  if (!(error instanceof ChildFailure)) return siteCallError(error, 0, 'svc_site_add_failed');
  const say = (code: ErrorCode, field: string) =>
    new ServiceError(code, error.message, {
      field,
      ...(error.adviceBeforeAdded === '' ? {} : { advice: error.adviceBeforeAdded }),
      data: { failure: error.kind, ...(error.childCode === '' ? {} : { child_code: error.childCode }) },
      cause: error,
    });
  switch (error.kind) {
    case 'blocked_address':
      return say('svc_invalid_url', 'url');
    case 'http_auth':
      return say('svc_invalid_credentials', 'http_user');
    case 'unreachable':
    case 'timed_out':
    case 'tls':
    case 'redirected':
    case 'unframed':
    case 'plugin_missing':
    case 'bad_answer':
    case 'too_large':
      return say('svc_connection_failed', 'url');
    case 'cancelled':
      return say('svc_cancelled', 'url');
    default: {
      const field = ownMember(CREDENTIAL_CODES, error.childCode);
      return field === undefined ? say('svc_site_add_failed', 'url') : say('svc_invalid_credentials', field);
    }
  }
}

/**
 * Restores a connection: a plain sync first; if the child refuses the key, registers a new key with the secret of the
 * earlier registration. A suspended site stays suspended (operations §5.2).
 */
export async function reconnectSite(ctx: Ctx, target: LoadedSite): Promise<void> {
  const { site } = target;
  try {
    await fetchSnapshot(ctx, target);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.data.failure !== 'refused') throw reconnectError(error, site.id);
    await renewRegistration(ctx, target);
  }
  await ctx.store.sites.markConnected(site.id, ctx.clock.now());
  ctx.events.emit({ name: 'site.reconnected', site_id: site.id, facts: {} });
}

/**
 * Registering over a stored key cannot strand the site: the old key works until the new one is accepted (child
 * protocol §4).
 */
export async function renewRegistration(ctx: Ctx, target: LoadedSite): Promise<void> {
  requireNotOnTrial(target);
  const { site, connection } = target;
  if (connection === null || connection.regverify === null) {
    throw new ServiceError(
      'svc_reconnect_failed',
      `Site ${site.id} refuses our key, and no reconnect secret is stored for it.`,
      {
        advice:
          "Delete it with delete-site-v1 and add it with add-site-v1, with the administrator's login and admin_password: its backups stay.",
        data: { site_id: site.id },
      },
    );
  }
  await ctx.store.sites.requireKey();
  try {
    const key = await ctx.child.generateKey();
    const registration = {
      user: connection.user,
      public_key: key.public_key,
      unique_id: connection.unique_id,
      regverify: connection.regverify,
    };
    const register = () => ctx.child.register(connection, registration, { signal: ctx.signal });
    const registered = await register().catch(async (error: unknown) => {
      if (!(error instanceof ChildFailure) || error.childCode !== 'REG_ERROR2') throw error;
      // A sync by another dashboard with the same key made that one the site's dashboard; a sync from here reverses it.
      await fetchSnapshot(ctx, target).catch(() => {
        throw error;
      });
      return register();
    });
    await ctx.store.sites.replaceKey(site.id, {
      private_key: key.private_key,
      regverify: registered.regverify,
      unique_id: registered.unique_id === '' ? connection.unique_id : registered.unique_id,
    });
    await fetchSnapshot(ctx, {
      site: { ...site, content_hash: '' },
      connection: { ...connection, private_key: key.private_key },
    });
  } catch (error) {
    throw reconnectError(siteCallError(error, site.id, 'svc_reconnect_failed'), site.id);
  }
}

function reconnectError(error: ServiceError, siteId: number): ServiceError {
  if (
    error.code === 'svc_cancelled' ||
    error.code === 'svc_still_running' ||
    error.code === 'svc_internal_error' ||
    error.code === 'svc_child_version_outdated' ||
    error.code === 'svc_site_on_trial'
  )
    return error;
  return new ServiceError('svc_reconnect_failed', error.message, {
    ...(error.advice === undefined ? {} : { advice: error.advice }),
    data: { ...error.data, site_id: siteId },
    cause: error,
  });
}
