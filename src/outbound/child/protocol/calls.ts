import { isMaintenancePage } from '../../maintenance-page.js';
import { ChildFailure } from '../failure.js';
import type { CallKind, Turn } from '../pacing/types.js';
import type {
  CallOptions,
  ChildActionAnswer,
  ChildAddress,
  ChildConnection,
  ChildParams,
  ChildSites,
  Door,
  Page,
  Snapshot,
  Visit,
} from '../port.js';
import type { WireAnswer } from '../wire/exchange.js';
import { generateKey } from '../wire/sign.js';
import { actionOf, connectionStateOf, coreUpdateOf, fail, registeredOf, unsent, upgradesOf } from './answers.js';
import type { ChildCall } from './call.js';
import type { ChildClient } from './client.js';
import { createContentCalls } from './content.js';
import { answerFailure } from './failure.js';
import { createPackageCalls } from './packages.js';
import { registerParams, statsParams } from './parameters.js';
import { registrationFailure } from './registration.js';
import { backupOf, snapshotOf } from './snapshot.js';
import { plainText, richText } from './text.js';
import { get } from './values.js';

/** Functions that change nothing on the site: retrying them on the bare URL is harmless. */
const READS = new Set(['stats', 'security', 'get_all_posts', 'get_all_comments', 'get_all_users']);

/** Functions that may be called on a read-only site. */
function changesNothing(fn: string): boolean {
  // For this one the child queries wordpress.org.
  return READS.has(fn) || fn === 'check_abandoned';
}

function requireWritable(site: ChildAddress & { reads_only?: boolean | undefined }): void {
  if (site.reads_only !== true) return;
  throw new ChildFailure('reads_only', 'The site is on trial beside another dashboard and is read-only here.', {
    advice: 'End the trial with "sitefleet import finish", or make the change in the other dashboard.',
  });
}

export interface CallsOptions {
  client: ChildClient;
  /** Of every call made through these. */
  turn: Turn;
  /** The `server` string of this dashboard, the same in every call (child protocol §3.2). */
  server: string;
  /** Milliseconds for calls that download and install. */
  updateTimeoutMs: () => number;
  /** See `ChildSitesOptions`. */
  onAnswer?: ((siteId: number) => Promise<void>) | undefined;
  beforeChange?: (() => Promise<void>) | undefined;
  close: () => Promise<void>;
}

/** The typed calls of the port over a client. */
export function createCalls(
  parts: CallsOptions,
): Omit<ChildSites, 'configure' | 'bulk' | 'many' | 'expedite' | 'leftRunning'> {
  const { client, turn, server, updateTimeoutMs, onAnswer, beforeChange, close } = parts;
  const beginChange = async (site: Parameters<typeof requireWritable>[0]) => {
    requireWritable(site);
    await beforeChange?.();
  };
  const unsigned = (at: ChildAddress, fn: string, user: string, options: CallOptions | undefined): ChildCall => ({
    at,
    site_id: 0,
    fn,
    user,
    private_key: null,
    params: {},
    read: false,
    timeoutMs: options?.timeoutMs ?? client.settings.callTimeoutMs,
    turn,
    options,
  });

  async function callAt(
    site: ChildConnection,
    fn: string,
    params: ChildParams,
    options: CallOptions | undefined,
    { kind, timeoutMs = client.settings.callTimeoutMs }: { kind?: CallKind; timeoutMs?: number } = {},
  ): Promise<{ value: unknown; door: Door }> {
    if (!changesNothing(fn)) await beginChange(site);
    const { site_id, user, private_key } = site;
    const { value, door } = await client.run({
      at: site,
      site_id,
      fn,
      user,
      private_key,
      params,
      door: site.door,
      read: READS.has(fn),
      timeoutMs: options?.timeoutMs ?? timeoutMs,
      kind,
      turn,
      options,
    });
    const failure = answerFailure(value, fn);
    if (failure !== null) throw failure;
    // A sync stores its own outcome.
    if (site.failing === true && fn !== 'stats') await onAnswer?.(site_id);
    return { value, door };
  }

  const call = async (...args: Parameters<typeof callAt>): Promise<unknown> => (await callAt(...args)).value;

  const update = (site: ChildConnection, fn: string, params: ChildParams, options: CallOptions | undefined) =>
    call(site, fn, params, options, { kind: 'update', timeoutMs: updateTimeoutMs() });

  return {
    generateKey,

    async connectionState(at, user, options) {
      const { value } = await client.run({ ...unsigned(at, 'stats', user, options), read: true });
      return connectionStateOf(value);
    },

    async register(at, registration, options) {
      await beginChange(at);
      const attempt = async (password: string | undefined) => {
        const params = registerParams({ ...registration, password }, server);
        // Sending the same key twice has the same result; which address a firewall lets through is not known yet.
        const { value } = await client.run({
          ...unsigned(at, 'register', registration.user, options),
          params,
          repeatable: true,
        });
        return { answer: value, failure: registrationFailure(value) };
      };
      const { password } = registration;
      let outcome = await attempt(password);
      // WordPress' profile screens hash the password with slashes before quotes; programs hash it unescaped.
      if (outcome.failure?.childCode === 'REG_ERROR7' && password !== undefined && /['"]/.test(password)) {
        outcome = await attempt(password.replace(/['"\\]/g, (char) => `\\${char}`));
      }
      if (outcome.failure !== null) throw outcome.failure;
      return registeredOf(outcome.answer);
    },

    async stats(site, request, options) {
      const params = statsParams(request, site.reads_only === true ? null : { server, siteId: site.site_id });
      const { value, door } = await callAt(site, 'stats', params, options, { kind: 'sync' });
      await client.nextCallsLeft();
      const snapshot = snapshotOf(value, true) ?? fail('a sync');
      const { backupPlugin = '' } = request;
      if (backupPlugin !== '') snapshot.backup = backupOf(value, backupPlugin, snapshot.gmt_offset);
      return { ...snapshot, door };
    },

    async pluginAction(site, action, slugs, options) {
      return bySlug(slugs, '||', async (list) => {
        const answer = await update(site, 'plugin_action', { action, plugin: list.join('||') }, options);
        return actionOf(answer, 'plugin', list);
      });
    },

    async themeAction(site, action, slugs, options) {
      const [first, ...others] = slugs;
      const sent = action === 'activate' && first !== undefined ? [first] : slugs;
      const result = await bySlug(sent, '||', async (list) => {
        const answer = await update(site, 'theme_action', { action, theme: list.join('||') }, options);
        return actionOf(answer, 'theme', list);
      });
      if (action === 'delete') return result;
      const left = others.map((slug) => unsent(slug, 'Only one theme can be active at a time.'));
      return { ...result, verdicts: [...result.verdicts, ...left] };
    },

    async upgradeExtensions(site, kind, slugs, options) {
      return bySlug(slugs, ',', async (list) =>
        upgradesOf(await update(site, 'upgradeplugintheme', { type: kind, list: list.join(',') }, options), list),
      );
    },

    async upgradeTranslations(site, slugs, options) {
      return bySlug(slugs, ',', async (list) =>
        upgradesOf(
          await update(site, 'upgradetranslation', { type: 'translation', list: list.join(',') }, options),
          list,
        ),
      );
    },

    async upgradeCore(site, options) {
      return coreUpdateOf(await update(site, 'upgrade', {}, options));
    },

    async checkAbandoned(site, kind, options): Promise<Snapshot> {
      const answer = await call(site, 'check_abandoned', { which: kind }, options);
      return snapshotOf(get(answer, 'sync'), false) ?? fail('the check for abandoned extensions');
    },

    async clearCaches(site, options) {
      await call(site, 'cache_purge_action', {}, options);
    },

    async disconnect(site, options) {
      const answer = await call(site, 'disconnect', {}, options);
      if (get(answer, 'result') !== 'success') fail('the disconnection');
    },

    async deactivate(site, options) {
      const answer = await call(site, 'deactivate', {}, options);
      if (get(answer, 'deactivated') !== true) fail('the deactivation');
    },

    ...createContentCalls(call),

    ...createPackageCalls(update),

    page: (at, address, options) =>
      pageOf((call) => client.page(call, address, PAGE_BYTES), { ...unsigned(at, 'page', '', options), read: true }),

    async post(site, address, json, options) {
      await beginChange(site);
      const body = JSON.stringify(json);
      return pageOf((call) => client.post(call, address, body, PAGE_BYTES), unsigned(site, 'post', '', options));
    },

    async exchange(site, name, request) {
      await beginChange(site);
      // Before bulk calls: a site that is down waits for it.
      return client.exchange({ ...unsigned(site, name, '', request), site_id: site.site_id, turn: 'one' }, request);
    },

    visit: (at, options) =>
      visit(client, { ...unsigned(at, 'visit', '', options), read: true, visitBy: options?.method }),

    title: (at, options) => title(client, { ...unsigned(at, 'title', '', options), read: true }),

    close,
  };
}

/** Sends the slugs that can be represented with the list's separator; makes no call for none. */
async function bySlug(
  slugs: readonly string[],
  separator: string,
  send: (slugs: readonly string[]) => Promise<ChildActionAnswer>,
): Promise<ChildActionAnswer> {
  const unique = [...new Set(slugs)];
  const sendable = unique.filter((slug) => slug !== '' && !slug.includes(separator));
  const verdicts = unique
    .filter((slug) => !sendable.includes(slug))
    .map((slug) => unsent(slug, `A slug that is empty or contains "${separator}" cannot be sent to the child plugin.`));
  if (sendable.length === 0) return { verdicts, snapshot: null };
  const answer = await send(sendable);
  return { ...answer, verdicts: [...answer.verdicts, ...verdicts] };
}

/** The site may have disabled that interface, or a firewall may block it. */
async function title(client: ChildClient, childCall: ChildCall): Promise<string> {
  try {
    const answer = await client.visit(childCall, '?rest_route=/&_fields=name');
    return plainText(get(JSON.parse(answer.body.toString('utf8')), 'name'), 255);
  } catch (error) {
    if (error instanceof ChildFailure && error.kind === 'cancelled') throw error;
    return '';
  }
}

const PAGE_BYTES = 1_048_576;

async function pageOf(send: (call: ChildCall) => Promise<WireAnswer>, childCall: ChildCall): Promise<Page> {
  const began = performance.now();
  try {
    const answer = await send(childCall);
    return {
      status: answer.status,
      location: answer.location,
      content_type: answer.contentType,
      sets_cookies: (answer.cookies?.length ?? 0) > 0,
      body: answer.body.toString('utf8'),
      cut: answer.cut,
      retry_after: answer.retryAfter ?? '',
      robots: answer.robots ?? '',
      refresh: answer.refresh ?? '',
      session: answer.session ?? '',
      nonce: answer.nonce ?? '',
      set_cookies: answer.cookies ?? [],
      ms: Math.round(answer.headersMs),
      failure: null,
    };
  } catch (failure) {
    if (!(failure instanceof ChildFailure) || failure.kind === 'cancelled') throw failure;
    const ms = Math.round(performance.now() - began);
    return {
      status: failure.httpStatus >= 500 ? failure.httpStatus : 0,
      location: '',
      content_type: '',
      sets_cookies: false,
      body: '',
      cut: false,
      ms,
      failure,
    };
  }
}

/**
 * A visitor's request of the front page (operations §5.12). The original posts a form field instead (child protocol §7);
 * a GET is what visitors and caches send, and it triggers nothing. A server that does not take HEAD is sent a GET.
 */
async function visit(client: ChildClient, childCall: ChildCall): Promise<Visit> {
  const began = performance.now();
  try {
    const first = await client.visit(childCall);
    const refused = childCall.visitBy === 'HEAD' && (first.status === 405 || first.status === 501);
    const answer = refused ? await client.visit({ ...childCall, visitBy: 'GET' }) : first;
    const { status, retryAfter = '' } = answer;
    const body = richText(answer.body.toString('utf8'), 65_536);
    return {
      http_status: status,
      response_time_ms: Math.round(answer.headersMs),
      maintenance: isMaintenancePage({ status, retryAfter, body }),
      redirect: answer.redirect,
      body,
      ip: answer.address,
      failure: null,
    };
  } catch (failure) {
    if (!(failure instanceof ChildFailure) || failure.kind === 'cancelled') throw failure;
    const response_time_ms = Math.round(performance.now() - began);
    return { http_status: failure.httpStatus, response_time_ms, maintenance: false, body: '', ip: '', failure };
  }
}
