/** The composition root: the only place that constructs. Called by the commands, the engine thread and the tests. */

import { randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { operations as allOperations } from '../../tools/index.js';
import { answerOnce } from '../domain/access/idempotency.js';
import { createArchives, type OpenArchive } from '../domain/backups/archive.js';
import { type Ctx, withOperation } from '../domain/context.js';
import type { Call, Caller, GroupedOperation, Invoke } from '../operation/operation.js';
import { UNINTERRUPTED } from '../runtime/abort-signals.js';
import type { Clock } from '../runtime/clock.js';
import { systemClock } from '../runtime/clock.js';
import { databaseFile } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';
import { type Engine, startEngineThread, type Task, type TaskCaller } from '../runtime/engine/client.js';
import { asServiceError, withoutStorageDetail } from '../runtime/errors.js';
import { createEvents, type EventBus } from '../runtime/events.js';
import type { Log } from '../runtime/log.js';
import { createLog } from '../runtime/telemetry/log.js';
import type { MetricFamily } from '../runtime/telemetry/metric-types.js';
import { buildInfo, createMetrics } from '../runtime/telemetry/metrics.js';
import type { renderMetrics } from '../runtime/telemetry/prometheus.js';
import { createReadiness } from '../runtime/telemetry/readiness.js';
import { VERSION } from '../runtime/version.js';
import type { SessionLimits } from '../store/access/web-sessions.js';
import { SERVED } from '../store/cluster/leases.js';
import type { Reads, Row } from '../store/driver/db.js';
import { gatherReads, readsBy } from '../store/driver/gathered-reads.js';
import { type DbCall, instrumentDb } from '../store/driver/instrumented-db.js';
import { migrate } from '../store/driver/migrate.js';
import { openDb } from '../store/driver/open.js';
import { migrations } from '../store/schema/index.js';
import { createStore, type Store } from '../store/store.js';
import type { Vault } from '../store/vault/vault.js';
import type { Auth, AuthParts, VerifyAccessToken } from '../surfaces/auth/auth.js';
import type { SessionChange, Sessions } from '../surfaces/auth/sessions.js';
import type { HttpEnv } from '../surfaces/http/request-info.js';
import type { McpCore } from '../surfaces/mcp/core.js';
import { openBackupStorage } from './backup-repository.js';
import { createEngine, type EngineServiceParts, localUrl, SYSTEM } from './engine-services.js';
import { instrumentStorage, measured, monitorDatabaseFile } from './instrumentation.js';
import { type IntegrityCheck, startIntegrityCheck } from './integrity.js';
import { readOnlyContexts } from './read-only-context.js';
import { assertSameClock } from './same-clock.js';
import { isScheduleNeeded } from './schedule/waiting-work.js';
import { passingVault, vaultFor } from './secret-key.js';
import { toolRules } from './tool-rules.js';

/** A service as seen by the shell and the tests. */
export interface Service {
  readonly config: Config;
  readonly log: Log;
  readonly operations: readonly GroupedOperation[];
  readonly store: Store;
  readonly auth: Auth;
  /** Browser sessions of users. */
  readonly sessions: Sessions;
  readonly events: EventBus;
  readonly invoke: Invoke;
  readonly openArchive: OpenArchive;
  /**
   * All HTTP ways in, with every module this thread needs to respond: Node remembers a failed import, for example for
   * lack of a file handle, so a module left to the first request might never load.
   */
  http(): Promise<Hono<HttpEnv>>;
  /** Resolves when the engine is up and has loaded everything its tasks need. */
  loadEngine(): Promise<void>;
  /** The MCP core, for stdio and tests. */
  mcp(): Promise<McpCore>;
  /** A context of this thread: read-only when the engine runs in a separate thread. */
  ctx(caller: Caller): Ctx;
  /** Sets the public base URL, once the listening address is known. Until then it is that of a process that serves already. */
  setBaseUrl(url: string): void;
  ready(): Promise<{ ok: boolean; reasons: string[] }>;
  /** Keeps the service from being ready, for this reason. @returns a function that ends it */
  holdReadiness(reason: string): () => void;
  /** Starts the schedule. */
  start(): Promise<void>;
  /**
   * True if no other process runs the schedule, and some work waits for it: requested work, or what is due and has its turn
   * within this time.
   */
  isScheduleNeeded(withinMs: number): Promise<boolean>;
  stop(): Promise<void>;
}

/** Delay before a dead engine thread is restarted; doubles each time. */
const RESTART_MS = 1000;
const RESTART_MAX_MS = 60_000;

export interface ServiceParts extends EngineServiceParts {
  engine?: 'thread' | 'inline';
  /** For tests: the folder of the built page. */
  pageFolder?: string;
}

/**
 * Builds a service. `thread` runs the engine beside the serving thread; `inline` uses a single thread (memory
 * databases, tests, the shell).
 */
export async function createService(parts: ServiceParts): Promise<Service> {
  const { config } = parts;
  // A wrong name should stop the start, not the first connection.
  toolRules(config, allOperations);
  const clock = parts.clock ?? systemClock;
  if (clock === systemClock) await assertSameClock(config);
  const log = parts.log ?? createLog(config.log_level);
  const threaded = (parts.engine ?? 'thread') === 'thread' && config.db !== ':memory:';
  const metrics = createMetrics('main');
  const inline = threaded ? null : await createEngine({ ...parts, clock, log, metrics });
  let thread: Engine | null = null;
  let started = false;
  let serves = false;
  let deaths = 0;
  // Running calls are lost to their callers; jobs continue by their leases. The next call, or the schedule, restarts
  // the engine.
  const onEngineDeath = () => {
    thread = null;
    const wait = Math.min(RESTART_MAX_MS, RESTART_MS * 2 ** deaths++);
    if (started) setTimeout(() => start().catch(() => undefined), wait).unref();
  };
  const engine = (): Engine => {
    if (inline !== null) return inline;
    if (thread === null) {
      // If the file is gone, a start could only fail without a clear reason.
      const problem = file?.problem() ?? null;
      if (problem !== null) throw problem;
      thread = startEngineThread(
        new URL('./engine-worker.js', import.meta.url),
        { config, sharedKey: parts.sharedKey, serves, file: file?.identity ?? null },
        log,
        onEngineDeath,
      );
    }
    return thread;
  };
  let integrity: IntegrityCheck | null = null;
  const observe = instrumentStorage(metrics, log, clock);
  const reader =
    inline === null
      ? await openReader(
          parts,
          (call) => {
            observe(call);
            if (call.failure === 'corrupt') integrity?.checkSoon();
          },
          {
            serves: () => serves,
            read: async (statements) => (await run({ task: 'read', payload: statements }, systemCaller())) as Row[][],
          },
        )
      : null;
  const path = databaseFile(config.db);
  const file = path === null ? null : monitorDatabaseFile(path, log);
  const store = inline?.store ?? (reader as { store: Store }).store;
  const events = inline?.events ?? createEvents(clock, log);
  let baseUrl = config.base_url ?? (await store.leases.owner(SERVED, clock.now())) ?? localUrl(config);
  let served = false;

  const taskCaller = (caller: Caller): TaskCaller => ({ base_url: baseUrl, ...caller });
  const doubtStorage = (error: unknown) => {
    if (asServiceError(error).code !== 'svc_storage_unavailable') return;
    readiness.doubt();
    // The engine may meet damage that this thread has not come across.
    integrity?.checkSoon();
  };
  const run = async (task: Task, caller: Caller) => {
    try {
      return await engine().run(task, taskCaller(caller));
    } catch (error) {
      doubtStorage(error);
      throw error;
    }
  };
  const start = () => run({ task: 'start', payload: { served } }, systemCaller());
  const readOnlyContext = readOnlyContexts({ store, clock, config, log, events });
  const ctx = (caller: Caller): Ctx =>
    inline !== null ? inline.ctx(taskCaller(caller)) : readOnlyContext(taskCaller(caller));
  const call: Call = (target, input, caller) =>
    measured(metrics, target.id, async () => {
      try {
        if (inline !== null)
          return await inline.withCtx(taskCaller(caller), (context) => {
            const own = withOperation(context, target.id, caller.answer);
            return answerOnce(own, caller.idempotency, () => target.call(input, own));
          });
        if (!target.engine) return await target.call(input, readOnlyContext(uninterrupted(caller, baseUrl)));
        return (await run(
          {
            task: 'call',
            payload: { id: target.id, input, idempotency: caller.idempotency, answer: caller.answer },
          },
          caller,
        )) as Awaited<ReturnType<typeof target.call>>;
      } catch (error) {
        doubtStorage(error);
        throw caller.actor.rights.includes('write') ? error : withoutStorageDetail(error);
      }
    });
  // A download does not keep the engine's thread busy.
  const backupStorage = inline?.backupStorage ?? openBackupStorage(config, store, clock, 'reader');
  const openArchive = createArchives(() => backupStorage);
  const auth = await openAuth(
    config,
    store,
    clock,
    log,
    (id, at) => run({ task: 'touch_key', payload: { id, at } }, systemCaller()).then(() => undefined),
    (login) => run({ task: 'mark_assistant', payload: login }, systemCaller()).then(() => undefined),
  );
  const sessions = await openSessions(auth, store, clock, log, (change) =>
    run({ task: 'web_session', payload: change }, systemCaller()).then((changed) => changed === true),
  );
  // The run endpoint serves every operation; the choice of tools applies to MCP only.
  const surfaces = {
    ...{ config, clock, log, auth, sessions, operations: allOperations, call, openArchive },
    newRequestId: randomUUID,
  };
  let closeHttp = () => {};
  let core: Promise<McpCore> | undefined;
  const mcp = () => {
    core ??= openMcp(config, { log, clock, invoke: call, pageUrl: () => baseUrl });
    return core;
  };

  const holds = new Set<string>();
  const readiness = createReadiness({
    clock,
    read: () => store.leases.owner('schedule', clock.now()),
    write: () => run({ task: 'health', payload: null }, systemCaller()),
    known: () => [...holds, file?.reason() ?? null, integrity?.reason() ?? null],
  });
  const metricsText = async (render: typeof renderMetrics) => {
    const beside = inline === null ? await metrics.collect() : [];
    // An engine that has not started yet has no metrics.
    const engineSide = inline !== null || thread !== null;
    const asked = engineSide ? run({ task: 'metrics', payload: null }, systemCaller()) : [];
    // Some of the engine's metrics query the database. If it is away, the others show that.
    const working = (await Promise.resolve(asked).catch(() => [])) as MetricFamily[];
    return render([[buildInfo(VERSION)], beside, working]);
  };

  return {
    config,
    log,
    operations: allOperations,
    store,
    auth,
    sessions,
    events,
    invoke: call,
    openArchive,
    ctx,
    setBaseUrl(url) {
      served = true;
      if (config.base_url === null) baseUrl = url;
    },
    async http() {
      serves = true;
      const [{ createHttpApp }, { renderMetrics }, shared] = await Promise.all([
        import('./http-app.js'),
        import('../runtime/telemetry/prometheus.js'),
        mcp(),
        metrics.open(),
      ]);
      if (path !== null && inline === null) integrity ??= startIntegrityCheck(config.db, log);
      const counts = { token: config.metrics_token, request: metrics.request, text: () => metricsText(renderMetrics) };
      const built = createHttpApp({
        ...surfaces,
        mcp: shared,
        isFirstStart: async () => (await store.sites.count({})) === 0,
        pageFolder: parts.pageFolder,
        sessionSeal: passingVault(config),
        ready: readiness.check,
        metrics: counts,
      });
      closeHttp = built.close;
      return built.app;
    },
    mcp,
    async loadEngine() {
      if (inline === null) await run({ task: 'loaded', payload: null }, systemCaller());
    },
    ready: readiness.check,
    holdReadiness(reason) {
      holds.add(reason);
      return () => void holds.delete(reason);
    },
    isScheduleNeeded: (withinMs) => isScheduleNeeded(ctx(systemCaller()), withinMs),
    async start() {
      started = true;
      await start();
    },
    async stop() {
      started = false;
      closeHttp();
      file?.close();
      await integrity?.close();
      (await core)?.close();
      if (inline === null) await backupStorage.close();
      await (inline ?? thread)?.close();
      await reader?.close();
      metrics.close();
    },
  };
}

interface Reader {
  store: Store;
  close(): Promise<void>;
}

/** Up to this many sites no read takes long enough that others would notice. */
const SMALL_FLEET = 1_000;

/**
 * The reading connection of the serving thread. The schema is migrated first: a reader cannot do that.
 * @param engine reads what takes long with a large fleet, while this thread serves others. A server's reads block no thread
 */
async function openReader(
  parts: ServiceParts,
  observe: (call: DbCall) => void,
  engine: Pick<Reads, 'read'> & { serves(): boolean },
): Promise<Reader> {
  const { config } = parts;
  const token = config.db_token === null ? {} : { token: config.db_token };
  const writer = await openDb(config.db, { mode: 'writer', ...token });
  let vault: Vault;
  try {
    await migrate(writer, migrations);
    vault = await vaultFor(writer, config);
  } finally {
    await writer.close();
  }
  const raw = await openDb(config.db, { mode: 'reader', ...token });
  const observed = instrumentDb(parts.wrapDb?.(raw) ?? raw, observe);
  const isLong = async () => {
    if (!engine.serves()) return false;
    const count = await observed.one('SELECT sum(n) AS n FROM site_count');
    return Number(count?.n) > SMALL_FLEET;
  };
  const aside = readsBy(async (statements) => ((await isLong()) ? engine : observed).read(statements));
  const store = raw.kind === 'remote' ? createStore(gatherReads(observed), vault) : createStore(observed, vault, aside);
  return { store, close: () => raw.close() };
}

/** One core for all connections: a call that lost its client on one connection can be found from another. */
export async function openMcp(
  config: Config,
  parts: { log: Log; clock: Clock; invoke: Invoke; pageUrl?: () => string },
): Promise<McpCore> {
  const { createMcpCore } = await import('../surfaces/mcp/core.js');
  return createMcpCore({
    pageUrl: () => config.base_url ?? localUrl(config),
    ...parts,
    operations: allOperations,
    readOnly: config.read_only,
    toolsets: config.toolsets,
    tools: toolRules(config, allOperations),
    confirm: config.confirm,
    confirmTimeoutMs: config.confirm_timeout_ms,
    maxTokens: config.mcp_max_tokens,
    version: VERSION,
    newRequestId: randomUUID,
  });
}

/** Runs a lookup for a caller who is not logged in yet, and hides details of failures. */
function unknownCaller<T>(lookup: Promise<T>): Promise<T> {
  return lookup.catch((error: unknown) => {
    throw withoutStorageDetail(error);
  });
}

async function openAuth(
  config: Config,
  store: Store,
  clock: Clock,
  log: Log,
  touchKey: AuthParts['touchKey'],
  markAssistant: NonNullable<AuthParts['markAssistant']>,
): Promise<Auth> {
  const [{ createAuth }, { hashToken, unmatchableHash, verifyPassword }] = await Promise.all([
    import('../surfaces/auth/auth.js'),
    import('../store/vault/vault.js'),
  ]);
  return createAuth({
    findUser: (name) => unknownCaller(store.users.login(name)),
    findKey: (hash) => unknownCaller(store.keys.login(hash)),
    verifyPassword,
    unmatchableHash,
    hashToken,
    touchKey,
    markAssistant,
    clock,
    log,
    ...(await accessTokens(config, clock)),
  });
}

async function openSessions(
  auth: Auth,
  { webSessions }: Store,
  clock: Clock,
  log: Log,
  change: (change: SessionChange) => Promise<boolean>,
): Promise<Sessions> {
  const [{ createSessions }, { hashToken }] = await Promise.all([
    import('../surfaces/auth/sessions.js'),
    import('../store/vault/vault.js'),
  ]);
  const find = (hash: string, now: number, limits: SessionLimits) => unknownCaller(webSessions.find(hash, now, limits));
  const identity = (id: string, limits: SessionLimits) => unknownCaller(webSessions.identity(id, limits));
  return createSessions({ find, identity, change, auth, hashToken, clock, log });
}

async function accessTokens(config: Config, clock: Clock): Promise<{ verifyAccessToken?: VerifyAccessToken }> {
  const { oauth_issuer: issuer, oauth_jwks_url: jwks_url } = config;
  if (issuer === null || jwks_url === null) return {};
  const { createTokenVerifier } = await import('../surfaces/auth/jwt.js');
  const audience = config.oauth_audience ?? `${config.base_url}/mcp`;
  const { oauth_read_scope: read_scope, oauth_write_scope: write_scope } = config;
  return { verifyAccessToken: createTokenVerifier({ issuer, jwks_url, audience, read_scope, write_scope, clock }) };
}

/**
 * The caller of a database read, which ends before it could be cancelled: creating its signals lazily would cost more
 * than many a response, and a spread would trigger it.
 */
function uninterrupted(caller: Caller & Partial<TaskCaller>, baseUrl: string): TaskCaller {
  const { actor, request_id, base_url = baseUrl, progress } = caller;
  return { actor, request_id, base_url, progress, signal: UNINTERRUPTED };
}

function systemCaller(): Caller {
  return { actor: SYSTEM, request_id: randomUUID(), signal: new AbortController().signal };
}
