/** The composition root: the only place that constructs. `cli.ts`, the engine thread and the tests are its only callers. */

import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Hono } from 'hono';
import { operations as allOperations } from '../tools/index.js';
import type { Auth, HttpEnv } from './auth.js';
import type { ChildSites } from './child/child.js';
import { systemClock } from './clock.js';
import { databaseFile } from './config.js';
import type { Actor, Clock, Config, Ctx, Log } from './context.js';
import { type Engine, startEngineThread, type Task, type TaskCaller } from './engine.js';
import { ServiceError } from './errors.js';
import { createEvents, type EventBus } from './events.js';
import { ownerName } from './jobs/owner.js';
import { createJobRunner } from './jobs/runner.js';
import { createSchedule } from './jobs/schedule.js';
import { createLocks } from './locks.js';
import { createLog } from './log.js';
import type { Caller, GroupedOperation, Invoke } from './operation.js';
import type { Once, Performed } from './rest/once.js';
import type { Perform } from './rest/perform.js';
import type { Db } from './store/db.js';
import { migrate } from './store/migrate.js';
import { migrations } from './store/migrations/index.js';
import { openDb } from './store/open.js';
import { createStore, type Store } from './store/store.js';
import { createVault, keyFile, keyId, loadKey, type Vault } from './store/vault.js';

export const VERSION = '0.1.0';

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
  /** False: queued jobs wait for another process. Tests drive them by hand. */
  jobs?: boolean;
  /** The demo and tests: one key pair for all simulated sites, because making one costs more than all the rest of adding a site. */
  sharedKey?: KeyPair | undefined;
  /** Tests: watch what the storage is asked. */
  wrapDb?: (db: Db) => Db;
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
  /** An MCP server bound to one principal, for stdio and tests. */
  mcp(actor: Actor): Promise<Server>;
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

function openVault(config: Config): Vault {
  if (config.secret_key !== null) {
    const key = loadKey(config.secret_key);
    return createVault([{ id: keyId(key), key }]);
  }
  const file = config.secret_key_file ?? defaultKeyFile(config);
  return createVault([keyFile(file)]);
}

function defaultKeyFile(config: Config): string {
  const file = databaseFile(config.db);
  if (file === null) {
    throw new ServiceError(
      'svc_storage_unavailable',
      'A database on a server needs its secret key named: no file stands beside it.',
      {
        advice: 'Set SITEFLEET_SECRET_KEY or SITEFLEET_SECRET_KEY_FILE.',
      },
    );
  }
  return `${file}.key`;
}

/** A memory database is gone with the process, and so may its key be. */
function vaultFor(config: Config): Vault {
  if (config.db !== ':memory:' || config.secret_key !== null || config.secret_key_file !== null)
    return openVault(config);
  const key = loadKey(randomUUID().replaceAll('-', '').repeat(2));
  return createVault([{ id: keyId(key), key }]);
}

/** Opens the writer, brings the schema up to date, and answers the store. */
async function openWriter(parts: Parts): Promise<{ db: Db; store: Store }> {
  const { config } = parts;
  const raw = await openDb(config.db, {
    mode: 'writer',
    ...(config.db_token === null ? {} : { token: config.db_token }),
  });
  await migrate(raw, migrations);
  const db = parts.wrapDb?.(raw) ?? raw;
  return { db, store: createStore(db, vaultFor(config)) };
}

/** The child connection and the table of engine tasks: lives wherever the writer connection lives. */
export async function buildEngine(
  parts: Parts,
): Promise<Engine & { store: Store; child: ChildSites; events: EventBus; ctx(caller: TaskCaller): Ctx }> {
  const { config } = parts;
  const clock = parts.clock ?? systemClock;
  const log = parts.log ?? createLog(config.log_level);
  const { db, store } = await openWriter(parts);
  const events = createEvents(clock, log);
  const locks = createLocks();
  const closing = new AbortController();
  const dashboardUrl = await store.instance.claim(
    'dashboard_url',
    `https://sitefleet-${randomUUID().slice(0, 8)}.invalid/wp-admin/`,
  );
  const child = await openChild(parts, dashboardUrl, log);
  const byId = new Map(allOperations.map((operation) => [operation.id, operation]));

  const ctx = (caller: TaskCaller): Ctx => ({
    store,
    child,
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
    touch_key: ({ id, at }: { id: number; at: number }, context) => context.store.keys.touch(id, at),
  };

  const owner = ownerName();
  let base = config.base_url ?? localUrl(config);
  const ownCtx = () => ctx({ actor: SYSTEM, request_id: randomUUID(), base_url: base, signal: closing.signal });
  const runner = createJobRunner({ ctx: ownCtx, owner, leaseMs: parts.jobLeaseMs });
  const schedule = createSchedule({ ctx: ownCtx, owner });
  // Whoever queues a job works it off, if no other process does: a job never waits for a server to be started.
  events.subscribe((event) => {
    if (event.name !== 'job.queued' || parts.jobs === false) return;
    runner.start();
    runner.kick();
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
      await Promise.all([runner.stop(), schedule.stop()]);
      await child.close();
      await db.close();
    },
  };
}

async function openChild({ config, sharedKey }: Parts, dashboardUrl: string, log: Log): Promise<ChildSites> {
  const { createChildSites } = await import('./child/http.js');
  const child = createChildSites({
    dashboardUrl,
    concurrency: config.concurrency,
    perHost: config.per_host,
    minDelayMs: 0,
    perHostDelayMs: 0,
    callTimeoutMs: config.site_timeout_ms,
    allowPrivate: config.allow_private_sites,
    onCall: (facts) => log.debug({ ...facts }, 'child call'),
  });
  return sharedKey === undefined ? child : { ...child, generateKey: async () => sharedKey };
}

/** Builds a service. `thread` puts the engine beside the serving thread; `inline` keeps one thread (memory databases, tests, the shell). */
export async function assemble(parts: Parts & { engine?: 'thread' | 'inline' }): Promise<Service> {
  const { config } = parts;
  const clock = parts.clock ?? systemClock;
  const log = parts.log ?? createLog(config.log_level);
  const threaded = (parts.engine ?? 'thread') === 'thread' && config.db !== ':memory:';
  const inline = threaded ? null : await buildEngine({ ...parts, clock, log });
  let thread: Engine | null = null;
  const engine = (): Engine => {
    if (inline !== null) return inline;
    thread ??= startEngineThread({ config, sharedKey: parts.sharedKey }, log);
    return thread;
  };
  const reader = inline === null ? await openReader(parts) : null;
  const store = inline?.store ?? (reader as { store: Store }).store;
  const events = inline?.events ?? createEvents(clock, log);
  const operations = allOperations.filter((operation) => config.toolsets.includes(operation.group));
  let baseUrl = config.base_url ?? localUrl(config);

  const taskCaller = (caller: Caller): TaskCaller => ({ ...caller, base_url: baseUrl });
  const run = (task: Task, caller: Caller) => engine().run(task, taskCaller(caller));
  const ctx = (caller: Caller): Ctx =>
    inline !== null
      ? inline.ctx(taskCaller(caller))
      : {
          store,
          child: NO_CHILD,
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
  const invoke: Invoke = async (operation, raw, caller) => {
    if (operation.engine && inline === null) {
      return (await run({ task: 'operation', payload: { id: operation.id, raw } }, caller)) as Record<string, unknown>;
    }
    return operation.call(raw, ctx(caller));
  };
  const perform: Perform = async (route, params, caller, once) => {
    if (route.engine && inline === null) {
      return (await run({ task: 'route', payload: { key: route.key, params, once } }, caller)) as Performed;
    }
    const { performRoute } = await import('./rest/perform.js');
    return performRoute(route, params, ctx(caller), once);
  };
  const auth = await openAuth(store, clock, log, (id, at) =>
    run({ task: 'touch_key', payload: { id, at } }, systemCaller()).then(() => undefined),
  );
  const surfaces = { config, clock, log, auth, operations, invoke, perform, newRequestId: randomUUID };
  let closeHttp = () => {};

  const ready = async () => {
    const reasons: string[] = [];
    await store.sites.count({}).catch(() => reasons.push('The database does not answer.'));
    return { ok: reasons.length === 0, reasons };
  };

  return {
    config,
    log,
    operations,
    store,
    auth,
    events,
    invoke,
    ctx,
    setBaseUrl(url) {
      if (config.base_url === null) baseUrl = url;
    },
    async http() {
      const { createSurfaces } = await import('./surfaces.js');
      const built = createSurfaces({ ...surfaces, ready });
      closeHttp = built.close;
      return built.app;
    },
    async mcp(actor) {
      const [{ createMcpServer }, { createToolRegistry }] = await Promise.all([
        import('./mcp/server.js'),
        import('./mcp/registry.js'),
      ]);
      const registry = createToolRegistry({
        operations,
        invoke,
        log,
        readOnly: config.read_only,
        toolsets: config.toolsets,
      });
      return createMcpServer({ registry, clock, version: VERSION, newRequestId: randomUUID }, () => actor);
    },
    ready,
    async start() {
      await run({ task: 'start', payload: null }, systemCaller());
    },
    async stop() {
      closeHttp();
      await (inline ?? thread)?.close();
      await reader?.db.close();
    },
  };
}

/** The reading connection of the serving thread. The schema is brought up to date first: a reader cannot. */
async function openReader(parts: Parts): Promise<{ db: Db; store: Store }> {
  const { config } = parts;
  const token = config.db_token === null ? {} : { token: config.db_token };
  const writer = await openDb(config.db, { mode: 'writer', ...token });
  try {
    await migrate(writer, migrations);
  } finally {
    await writer.close();
  }
  const raw = await openDb(config.db, { mode: 'reader', ...token });
  const db = parts.wrapDb?.(raw) ?? raw;
  return { db, store: createStore(db, vaultFor(config)) };
}

async function openAuth(
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
  });
}

function localUrl({ host, port }: Config): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function systemCaller(): Caller {
  return { actor: SYSTEM, request_id: randomUUID(), signal: new AbortController().signal };
}

/** Stands where child sites must not be contacted: the serving thread of a threaded service. */
const NO_CHILD = new Proxy({} as ChildSites, {
  get(_target, name) {
    return () => Promise.reject(new Error(`The serving thread tried to contact a child site (${String(name)}).`));
  },
});
