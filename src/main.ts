/** The composition root: the only place that constructs. `cli.ts`, the engine thread and the tests are its only callers. */

import { randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { operations as allOperations } from '../tools/index.js';
import type { Auditor } from './audit/audit.js';
import type { Auth, HttpEnv, VerifyAccessToken } from './auth.js';
import type { ChildSites } from './child/child.js';
import type { PacedChildSites } from './child/http.js';
import type { Quota } from './child/quota.js';
import { systemClock } from './clock.js';
import type { Actor, Clock, Config, Ctx, Log } from './context.js';
import { createHistoryRecorder } from './domain/history.js';
import { createMailListener } from './domain/mail-events.js';
import { applyConnectionSettings } from './domain/settings-effect.js';
import { runToolJobs } from './domain/tool-jobs.js';
import { type Engine, startEngineThread, type Task, type TaskCaller } from './engine.js';
import { ServiceError } from './errors.js';
import { createEvents, type EventBus } from './events.js';
import { ownerName } from './jobs/owner.js';
import { createJobRunner } from './jobs/runner.js';
import { createSchedule } from './jobs/schedule.js';
import { createLocks, createRights } from './locks.js';
import { createLog } from './log.js';
import { type Mailer, noMailer } from './mail/mailer.js';
import type { McpCore } from './mcp/core.js';
import { createMetrics, type Family, type Metrics, processFamilies, renderMetrics } from './metrics.js';
import type { Caller, GroupedOperation, Invoke } from './operation.js';
import type { Probe } from './probe/probe.js';
import { createReadiness } from './readiness.js';
import type { Once, Performed } from './rest/once.js';
import type { Perform } from './rest/perform.js';
import { openVault } from './secret-key.js';
import { createShare } from './share.js';
import type { Db } from './store/db.js';
import { migrate } from './store/migrate.js';
import { migrations } from './store/migrations/index.js';
import { openDb } from './store/open.js';
import { createStore, type Store } from './store/store.js';
import { type DbCall, watchDb } from './store/watch-db.js';
import { VERSION } from './version.js';
import { counted, storageWatch, workFamilies } from './watch.js';

export interface KeyPair {
  private_key: string;
  public_key: string;
}

export interface Parts {
  config: Config;
  log?: Log;
  clock?: Clock;
  /** How long a job is held without a sign of life; for tests. */
  jobLeaseMs?: number;
  /** How often a process shows the others that it lives; for tests. */
  beatMs?: number;
  /** False: queued jobs wait for another process. Tests drive them by hand. */
  jobs?: boolean;
  /** The demo and tests: one key pair for all simulated sites, because making one costs more than all the rest of adding a site. */
  sharedKey?: KeyPair | undefined;
  /** Tests: a network of their own for the monitors. */
  probe?: Probe | undefined;
  auditor?: Auditor | undefined;
  /** Tests: watch what the storage is asked. */
  wrapDb?: (db: Db) => Db;
  /** Counted with those of the serving thread, when both are one. */
  metrics?: Metrics | undefined;
}

/** A service as the shell and the tests see it. */
export interface Service {
  readonly config: Config;
  readonly log: Log;
  readonly operations: readonly GroupedOperation[];
  readonly store: Store;
  readonly auth: Auth;
  readonly events: EventBus;
  readonly invoke: Invoke;
  /** All HTTP ways in. */
  http(): Promise<Hono<HttpEnv>>;
  /** What MCP serves, for stdio and tests. */
  mcp(): Promise<McpCore>;
  /** A context of this thread: reading only when the engine runs in a thread of its own. */
  ctx(caller: Caller): Ctx;
  /** Public base URL, once it is known where the service listens. */
  setBaseUrl(url: string): void;
  ready(): Promise<{ ok: boolean; reasons: string[] }>;
  /** Starts the schedule. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const SYSTEM: Actor = {
  type: 'system',
  id: null,
  name: 'service',
  rights: ['read', 'write'],
  via: 'jobs',
  denied_sites: [],
};

/** An engine thread that died is started anew after this, then after twice as long, and so on. */
const RESTART_MS = 1000;
const RESTART_MAX_MS = 60_000;

/** Opens the writer, brings the schema up to date, and answers the store. */
async function openWriter(parts: Parts, watch: (call: DbCall) => void): Promise<{ db: Db; store: Store }> {
  const { config } = parts;
  const raw = await openDb(config.db, {
    mode: 'writer',
    ...(config.db_token === null ? {} : { token: config.db_token }),
  });
  await migrate(raw, migrations);
  const db = watchDb(parts.wrapDb?.(raw) ?? raw, watch);
  return { db, store: createStore(db, openVault(config)) };
}

/** The child connection and the table of engine tasks: lives wherever the writer connection lives. */
export async function buildEngine(
  parts: Parts,
): Promise<Engine & { store: Store; child: ChildSites; events: EventBus; ctx(caller: TaskCaller): Ctx }> {
  const { config } = parts;
  const clock = parts.clock ?? systemClock;
  const log = parts.log ?? createLog(config.log_level);
  const metrics = parts.metrics ?? createMetrics('engine');
  const { db, store } = await openWriter(parts, storageWatch(metrics, log, clock));
  const events = createEvents(clock, log);
  const closing = new AbortController();
  const owner = ownerName();
  // Nobody else can open a database in memory; any other one may have several processes.
  const alone = config.db === ':memory:';
  const rights = createRights(
    alone ? undefined : { rows: store.schedule, owner, clock, log, leaseMs: parts.jobLeaseMs },
  );
  const locks = createLocks(rights);
  const share = alone ? undefined : createShare({ ...store.schedule, owner, rights, clock, log, beatMs: parts.beatMs });
  const dashboardUrl = await store.instance.claim(
    'dashboard_url',
    `https://sitefleet-${randomUUID().slice(0, 8)}.invalid/wp-admin/`,
  );
  const child = await openChild(parts, dashboardUrl, { log, metrics, quota: share });
  await applyConnectionSettings({ store, config, child });
  const probe = parts.probe ?? (await openProbe(config));
  const auditor = parts.auditor ?? (await openAuditor(config));
  const mailer = await openMailer(config);
  const byId = new Map(allOperations.map((operation) => [operation.id, operation]));

  const ctx = (caller: TaskCaller): Ctx => ({
    store,
    child,
    probe,
    auditor,
    mailer,
    clock,
    config,
    log,
    events,
    locks,
    actor: caller.actor,
    request_id: caller.request_id,
    signal: AbortSignal.any([caller.signal, closing.signal]),
    progress: caller.progress ?? (() => undefined),
    base_url: caller.base_url,
  });

  const tasks: Record<string, (payload: never, ctx: Ctx) => Promise<unknown>> = {
    operation: ({ id, raw }: { id: string; raw: unknown }, context) => {
      const operation = byId.get(id);
      if (operation === undefined) throw new ServiceError('rest_ability_not_found', `There is no operation ${id}.`);
      return operation.call(raw, context);
    },
    route: async ({ key, params, once }: { key: string; params: unknown; once: Once | undefined }, context) => {
      const { performRoute, routeOf } = await import('./rest/perform.js');
      return performRoute(routeOf(key), params, context, once);
    },
    metrics: async (_payload, context) => [
      ...metrics.collect(),
      ...(await workFamilies({ store, child, now: context.clock.now(), members: share?.members() ?? 1 })),
    ],
    // Writes where everything is written: a full disk shows here and nowhere else.
    health: (_payload, context) => context.store.schedule.hold('health', owner, context.clock.now(), 0),
    touch_key: ({ id, at }: { id: number; at: number }, context) => context.store.keys.touch(id, at),
  };

  let base = config.base_url ?? localUrl(config);
  const ownCtx = () => ctx({ actor: SYSTEM, request_id: randomUUID(), base_url: base, signal: closing.signal });
  const runner = createJobRunner({ ctx: ownCtx, owner, leaseMs: parts.jobLeaseMs });
  const schedule = createSchedule({ ctx: ownCtx, owner });
  const history = createHistoryRecorder({ store, log });
  const mails = createMailListener(ownCtx);
  events.subscribe(history.listen);
  events.subscribe(mails.listen);
  // Whoever queues a job works it off, if no other process does: a job never waits for a server to be started.
  events.subscribe((event) => {
    if (event.name !== 'job.queued' || parts.jobs === false) return;
    runner.start();
    runner.kick();
  });
  let tools: Promise<unknown> = Promise.resolve();
  events.subscribe((event) => {
    if (event.name !== 'tool_job.queued' || parts.jobs === false) return;
    const run = runToolJobs(ownCtx()).catch((error: unknown) => {
      if (!closing.signal.aborted) log.error({ err: error }, 'a tools job failed and will be tried again');
    });
    tools = Promise.all([tools, run]);
  });
  tasks.start = async (_payload, context) => {
    base = context.base_url;
    runner.start();
    await schedule.start();
  };
  tasks.run_entry = ({ name }: { name: string }) => schedule.runNow(name);

  return {
    store,
    child,
    events,
    ctx,
    async run(task, caller) {
      const perform = tasks[task.task];
      if (perform === undefined) throw new ServiceError('svc_internal_error', `The engine knows no task ${task.task}.`);
      return perform(task.payload as never, ctx(caller));
    },
    async close() {
      closing.abort();
      await Promise.all([runner.stop(), schedule.stop(), tools]);
      await Promise.all([history.flush(), mails.settled()]);
      await Promise.all([child.close(), probe.close(), mailer.close()]);
      await share?.close();
      metrics.close();
      await db.close();
    },
  };
}

async function openChild(
  { config, sharedKey }: Parts,
  dashboardUrl: string,
  { log, metrics, quota }: { log: Log; metrics: Metrics; quota: Quota | undefined },
): Promise<PacedChildSites> {
  const { createChildSites } = await import('./child/http.js');
  const child = createChildSites({
    dashboardUrl,
    concurrency: config.concurrency,
    perHost: config.per_host,
    minDelayMs: 0,
    perHostDelayMs: 0,
    callTimeoutMs: config.site_timeout_ms,
    allowPrivate: config.allow_private_sites,
    quota,
    onCall: (facts) => {
      metrics.child(facts);
      log.debug({ ...facts }, 'child call');
    },
  });
  return sharedKey === undefined ? child : { ...child, generateKey: async () => sharedKey };
}

async function openProbe(config: Config): Promise<Probe> {
  const { createProbe } = await import('./probe/create.js');
  return createProbe({ allowPrivate: config.allow_private_sites });
}

async function openAuditor(config: Config): Promise<Auditor> {
  const { createAuditor } = await import('./audit/create.js');
  const { chromium, allow_private_sites, pagespeed_url } = config;
  return createAuditor({ chromium, allowPrivate: allow_private_sites, pagespeedUrl: pagespeed_url });
}

async function openMailer({ smtp_url, mail_from }: Config): Promise<Mailer> {
  if (smtp_url === null) return noMailer();
  const { createMailer } = await import('./mail/smtp.js');
  return createMailer({ url: smtp_url, from: mail_from });
}

/** Builds a service. `thread` puts the engine beside the serving thread; `inline` keeps one thread (memory databases, tests, the shell). */
export async function assemble(parts: Parts & { engine?: 'thread' | 'inline' }): Promise<Service> {
  const { config } = parts;
  const clock = parts.clock ?? systemClock;
  const log = parts.log ?? createLog(config.log_level);
  const threaded = (parts.engine ?? 'thread') === 'thread' && config.db !== ':memory:';
  const metrics = createMetrics('main');
  const inline = threaded ? null : await buildEngine({ ...parts, clock, log, metrics });
  let thread: Engine | null = null;
  let started = false;
  let deaths = 0;
  // What was under way is lost to its callers; jobs go on by their leases. The next call, or the schedule, starts it anew.
  const onEngineDeath = () => {
    thread = null;
    const wait = Math.min(RESTART_MAX_MS, RESTART_MS * 2 ** deaths++);
    if (started)
      setTimeout(() => run({ task: 'start', payload: null }, systemCaller()).catch(() => undefined), wait).unref();
  };
  const engine = (): Engine => {
    if (inline !== null) return inline;
    thread ??= startEngineThread({ config, sharedKey: parts.sharedKey }, log, onEngineDeath);
    return thread;
  };
  const reader = inline === null ? await openReader(parts, storageWatch(metrics, log, clock)) : null;
  const store = inline?.store ?? (reader as { store: Store }).store;
  const events = inline?.events ?? createEvents(clock, log);
  let baseUrl = config.base_url ?? localUrl(config);

  const taskCaller = (caller: Caller): TaskCaller => ({ ...caller, base_url: baseUrl });
  const run = (task: Task, caller: Caller) => engine().run(task, taskCaller(caller));
  const ctx = (caller: Caller): Ctx =>
    inline !== null
      ? inline.ctx(taskCaller(caller))
      : {
          store,
          child: NO_CHILD,
          probe: NO_PROBE,
          auditor: NO_AUDITOR,
          mailer: noMailer(config.smtp_url !== null),
          clock,
          config,
          log,
          events,
          locks: createLocks(),
          actor: caller.actor,
          request_id: caller.request_id,
          signal: caller.signal,
          progress: caller.progress ?? (() => undefined),
          base_url: baseUrl,
        };
  const invoke: Invoke = (operation, raw, caller) =>
    counted(metrics, operation.id, () => invokeIt(operation, raw, caller));
  const invokeIt: Invoke = async (operation, raw, caller) => {
    if (operation.engine && inline === null) {
      return (await run({ task: 'operation', payload: { id: operation.id, raw } }, caller)) as Record<string, unknown>;
    }
    return operation.call(raw, ctx(caller));
  };
  let rest: Promise<typeof import('./rest/perform.js')> | undefined;
  const perform: Perform = (route, params, caller, once) =>
    counted(metrics, route.key, () => performIt(route, params, caller, once));
  const performIt: Perform = async (route, params, caller, once) => {
    if (route.engine && inline === null) {
      return (await run({ task: 'route', payload: { key: route.key, params, once } }, caller)) as Performed;
    }
    // Looked up once: the loader takes its time even for a module that it has.
    rest ??= import('./rest/perform.js');
    const { performRoute } = await rest;
    return performRoute(route, params, ctx(caller), once);
  };
  const auth = await openAuth(config, store, clock, log, (id, at) =>
    run({ task: 'touch_key', payload: { id, at } }, systemCaller()).then(() => undefined),
  );
  // The run endpoint has every operation; which of them assistants are shown is for MCP alone.
  const surfaces = { config, clock, log, auth, operations: allOperations, invoke, perform, newRequestId: randomUUID };
  let closeHttp = () => {};
  let core: Promise<McpCore> | undefined;
  const mcp = () => {
    core ??= openMcp(config, { log, clock, invoke });
    return core;
  };

  const ready = createReadiness({
    clock,
    read: () => store.schedule.owner('schedule', clock.now()),
    write: () => run({ task: 'health', payload: null }, systemCaller()),
  });
  const metricsText = async () => {
    const beside = inline === null ? metrics.collect() : [];
    // Of an engine that nobody needed yet there is nothing to tell.
    const engineSide = inline !== null || thread !== null;
    const working = engineSide ? ((await run({ task: 'metrics', payload: null }, systemCaller())) as Family[]) : [];
    return renderMetrics([...processFamilies(VERSION), ...beside, ...working]);
  };

  return {
    config,
    log,
    operations: allOperations,
    store,
    auth,
    events,
    invoke,
    ctx,
    setBaseUrl(url) {
      if (config.base_url === null) baseUrl = url;
    },
    async http() {
      const [{ createSurfaces }, shared] = await Promise.all([import('./surfaces.js'), mcp()]);
      const counts = { token: config.metrics_token, request: metrics.request, text: metricsText };
      const built = createSurfaces({ ...surfaces, mcp: shared, ready, metrics: counts });
      closeHttp = built.close;
      return built.app;
    },
    mcp,
    ready,
    async start() {
      started = true;
      await run({ task: 'start', payload: null }, systemCaller());
    },
    async stop() {
      started = false;
      closeHttp();
      (await core)?.close();
      await (inline ?? thread)?.close();
      await reader?.db.close();
      metrics.close();
    },
  };
}

/** The reading connection of the serving thread. The schema is brought up to date first: a reader cannot. */
async function openReader(parts: Parts, watch: (call: DbCall) => void): Promise<{ db: Db; store: Store }> {
  const { config } = parts;
  const token = config.db_token === null ? {} : { token: config.db_token };
  const writer = await openDb(config.db, { mode: 'writer', ...token });
  try {
    await migrate(writer, migrations);
  } finally {
    await writer.close();
  }
  const raw = await openDb(config.db, { mode: 'reader', ...token });
  const db = watchDb(parts.wrapDb?.(raw) ?? raw, watch);
  return { db, store: createStore(db, openVault(config)) };
}

/** One for all connections: a call that lost its client over one is found over another. */
export async function openMcp(config: Config, parts: { log: Log; clock: Clock; invoke: Invoke }): Promise<McpCore> {
  const { createMcpCore } = await import('./mcp/core.js');
  return createMcpCore({
    ...parts,
    operations: allOperations,
    readOnly: config.read_only,
    toolsets: config.toolsets,
    confirm: config.confirm,
    maxTokens: config.mcp_max_tokens,
    version: VERSION,
    newRequestId: randomUUID,
  });
}

async function openAuth(
  config: Config,
  store: Store,
  clock: Clock,
  log: Log,
  touchKey: (id: number, at: number) => Promise<void>,
): Promise<Auth> {
  const [{ createAuth }, { hashPassword, hashToken, verifyPassword }] = await Promise.all([
    import('./auth.js'),
    import('./store/vault.js'),
  ]);
  return createAuth({
    findUser: (name) => store.users.login(name),
    findKey: (hash) => store.keys.login(hash),
    verifyPassword,
    hashPassword,
    hashToken,
    touchKey,
    clock,
    log,
    ...(await accessTokens(config, clock)),
  });
}

async function accessTokens(config: Config, clock: Clock): Promise<{ verifyAccessToken?: VerifyAccessToken }> {
  const { oauth_issuer: issuer, oauth_jwks_url: jwks_url } = config;
  if (issuer === null || jwks_url === null) return {};
  const { createTokenVerifier } = await import('./auth-jwt.js');
  const audience = config.oauth_audience ?? `${config.base_url}/mcp`;
  const { oauth_read_scope: read_scope, oauth_write_scope: write_scope } = config;
  return { verifyAccessToken: createTokenVerifier({ issuer, jwks_url, audience, read_scope, write_scope, clock }) };
}

function localUrl({ host, port }: Config): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function systemCaller(): Caller {
  return { actor: SYSTEM, request_id: randomUUID(), signal: new AbortController().signal };
}

/** Stand where nobody may be contacted: the serving thread of a threaded service. */
const NO_CHILD = unavailable<ChildSites>('a child site');
const NO_PROBE = unavailable<Probe>('the network');
const NO_AUDITOR = unavailable<Auditor>('the network');

function unavailable<T extends object>(what: string): T {
  return new Proxy({} as T, {
    get(_target, name) {
      return () => Promise.reject(new Error(`The serving thread tried to contact ${what} (${String(name)}).`));
    },
  });
}
