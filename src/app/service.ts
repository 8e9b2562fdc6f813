/** The composition root: the only place that constructs. Its callers are the commands, the engine thread and the tests. */

import { randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { operations as allOperations } from '../../tools/index.js';
import type { Auth, VerifyAccessToken } from '../auth/auth.js';
import type { SessionChange, Sessions } from '../auth/sessions.js';
import { databaseFile } from '../config/config.js';
import { passingVault, vaultFor } from '../config/secret-key.js';
import type { Config } from '../config/types.js';
import { UNINTERRUPTED } from '../core/abort-signals.js';
import type { Clock } from '../core/clock.js';
import { systemClock } from '../core/clock.js';
import { asServiceError, withoutStorageDetail } from '../core/errors.js';
import { createEvents, type EventBus } from '../core/events.js';
import type { Log } from '../core/log.js';
import { VERSION } from '../core/version.js';
import { type Ctx, withOperation } from '../domain/context.js';
import { isScheduleNeeded } from '../domain/jobs/waiting-work.js';
import { type Engine, startEngineThread, type Task, type TaskCaller } from '../engine/client.js';
import type { HttpEnv } from '../http/request-info.js';
import type { McpCore } from '../mcp/core.js';
import type { Call, Caller, GroupedOperation, Invoke } from '../operation/operation.js';
import type { Db } from '../store/driver/db.js';
import { gatherReads } from '../store/driver/gathered-reads.js';
import { type DbCall, instrumentDb } from '../store/driver/instrumented-db.js';
import { migrate } from '../store/driver/migrate.js';
import { openDb, openReplicated } from '../store/driver/open.js';
import { migrations } from '../store/migrations/index.js';
import type { Replica } from '../store/replica/replica.js';
import { createStore, type Store } from '../store/store.js';
import type { Vault } from '../store/vault/vault.js';
import {
  instrumentStorage,
  logReplicaState,
  measured,
  monitorDatabaseFile,
  replicaMetrics,
  replicaNotReady,
} from '../telemetry/instrumentation.js';
import { createLog } from '../telemetry/log.js';
import { buildInfo, createMetrics, type MetricFamily } from '../telemetry/metrics.js';
import type { renderMetrics } from '../telemetry/prometheus.js';
import { createReadiness } from '../telemetry/readiness.js';
import { createEngine, type EngineServiceParts, localUrl, SYSTEM } from './engine-services.js';
import { type IntegrityCheck, startIntegrityCheck } from './integrity.js';
import { readOnlyContexts } from './read-only-context.js';
import { toolRules } from './tool-rules.js';

/** A service as the shell and the tests see it. */
export interface Service {
  readonly config: Config;
  readonly log: Log;
  readonly operations: readonly GroupedOperation[];
  readonly store: Store;
  readonly auth: Auth;
  /** Of people in a browser. */
  readonly sessions: Sessions;
  readonly events: EventBus;
  readonly invoke: Invoke;
  /**
   * All HTTP ways in, with all that answering needs in this thread: Node keeps an import that failed, for want of a file
   * handle say, so what is left to the first request may never be loaded.
   */
  http(): Promise<Hono<HttpEnv>>;
  /** Waits until the engine is up, with everything its tasks need loaded. */
  loadEngine(): Promise<void>;
  /** What MCP serves, for stdio and tests. */
  mcp(): Promise<McpCore>;
  /** A context of this thread: reading only when the engine runs in a thread of its own. */
  ctx(caller: Caller): Ctx;
  /** Public base URL, once it is known where the service listens. */
  setBaseUrl(url: string): void;
  ready(): Promise<{ ok: boolean; reasons: string[] }>;
  /** Keeps it from being ready, for this reason. @returns a function that ends it */
  holdReadiness(reason: string): () => void;
  /** Starts the schedule. */
  start(): Promise<void>;
  /** No other process runs the schedule, and something waits for it. */
  isScheduleNeeded(): Promise<boolean>;
  stop(): Promise<void>;
}

/** An engine thread that died is restarted after this, then after twice as long, and so on. */
const RESTART_MS = 1000;
const RESTART_MAX_MS = 60_000;

/** Engine tasks whose writes no later read depends on. */
const QUIET_TASKS = new Set(['health', 'metrics', 'touch_key', 'loaded']);

export interface ServiceParts extends EngineServiceParts {
  engine?: 'thread' | 'inline';
  /** Tests: the folder of the built page. */
  pageFolder?: string;
  /** Tests: the built program that syncs a replica. */
  replicaProgram?: URL | undefined;
}

/** Builds a service. `thread` puts the engine beside the serving thread; `inline` keeps one thread (memory databases, tests, the shell). */
export async function createService(parts: ServiceParts): Promise<Service> {
  const { config } = parts;
  // A wrong name stops the start, not the first connection.
  toolRules(config, allOperations);
  const clock = parts.clock ?? systemClock;
  const log = parts.log ?? createLog(config.log_level);
  const threaded = (parts.engine ?? 'thread') === 'thread' && config.db !== ':memory:';
  const metrics = createMetrics('main');
  const inline = threaded ? null : await createEngine({ ...parts, clock, log, metrics });
  let thread: Engine | null = null;
  let started = false;
  let serves = false;
  let deaths = 0;
  // What was under way is lost to its callers; jobs go on by their leases. The next call, or the schedule, restarts it.
  const onEngineDeath = () => {
    thread = null;
    const wait = Math.min(RESTART_MAX_MS, RESTART_MS * 2 ** deaths++);
    if (started)
      setTimeout(() => run({ task: 'start', payload: null }, systemCaller()).catch(() => undefined), wait).unref();
  };
  const engine = (): Engine => {
    if (inline !== null) return inline;
    if (thread === null) {
      // Begun beside a file that is gone, it could only fail without a reason.
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
          log,
        )
      : null;
  const path = databaseFile(config.db);
  const file = path === null ? null : monitorDatabaseFile(path, log);
  const store = inline?.store ?? (reader as { store: Store }).store;
  const events = inline?.events ?? createEvents(clock, log);
  let baseUrl = config.base_url ?? localUrl(config);

  const taskCaller = (caller: Caller): TaskCaller => ({ base_url: baseUrl, ...caller });
  const run = async (task: Task, caller: Caller) => {
    try {
      return await engine().run(task, taskCaller(caller));
    } catch (error) {
      // The engine meets damage that this thread has not come across.
      if (asServiceError(error).code === 'svc_storage_unavailable') integrity?.checkSoon();
      throw error;
    } finally {
      // A caller finds what it wrote with its next read.
      if (!QUIET_TASKS.has(task.task)) reader?.replica?.wrote();
    }
  };
  const readOnlyContext = readOnlyContexts({ store, clock, config, log, events });
  const ctx = (caller: Caller): Ctx =>
    inline !== null ? inline.ctx(taskCaller(caller)) : readOnlyContext(taskCaller(caller));
  const call: Call = (target, input, caller) =>
    measured(metrics, target.id, async () => {
      try {
        if (inline !== null)
          return await inline.withCtx(taskCaller(caller), (context) =>
            target.call(input, withOperation(context, target.id)),
          );
        if (!target.engine) return await target.call(input, readOnlyContext(uninterrupted(caller, baseUrl)));
        return (await run({ task: 'call', payload: { id: target.id, input } }, caller)) as Awaited<
          ReturnType<typeof target.call>
        >;
      } catch (error) {
        throw caller.actor.rights.includes('write') ? error : withoutStorageDetail(error);
      }
    });
  const auth = await openAuth(config, reader?.logins ?? store, clock, log, (id, at) =>
    run({ task: 'touch_key', payload: { id, at } }, systemCaller()).then(() => undefined),
  );
  const sessions = await openSessions(auth, reader?.logins ?? store, clock, log, (change) =>
    run({ task: 'web_session', payload: change }, systemCaller()).then((changed) => changed === true),
  );
  // The run endpoint has every operation; which of them assistants are shown is for MCP alone.
  const surfaces = { config, clock, log, auth, sessions, operations: allOperations, call, newRequestId: randomUUID };
  let closeHttp = () => {};
  let core: Promise<McpCore> | undefined;
  const mcp = () => {
    core ??= openMcp(config, { log, clock, invoke: call });
    return core;
  };

  const holds = new Set<string>();
  const ready = createReadiness({
    clock,
    read: () => store.leases.owner('schedule', clock.now()),
    write: () => run({ task: 'health', payload: null }, systemCaller()),
    known: () => [
      ...holds,
      reader?.replica ? replicaNotReady(reader.replica.status()) : null,
      file?.reason() ?? null,
      integrity?.reason() ?? null,
    ],
  });
  const metricsText = async (render: typeof renderMetrics) => {
    const beside = inline === null ? await metrics.collect() : [];
    // An engine that was not started yet has no figures.
    const engineSide = inline !== null || thread !== null;
    const asked = engineSide ? run({ task: 'metrics', payload: null }, systemCaller()) : [];
    // The engine asks the database for some of its numbers. When that is away, the others tell so.
    const working = (await Promise.resolve(asked).catch(() => [])) as MetricFamily[];
    const replica = reader?.replica ? replicaMetrics(reader.replica.status()) : [];
    return render([[buildInfo(VERSION)], beside, replica, working]);
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
    ctx,
    setBaseUrl(url) {
      if (config.base_url === null) baseUrl = url;
    },
    async http() {
      serves = true;
      const [{ createHttpApp }, { renderMetrics }, shared] = await Promise.all([
        import('./http-app.js'),
        import('../telemetry/prometheus.js'),
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
        ready,
        metrics: counts,
      });
      closeHttp = built.close;
      return built.app;
    },
    mcp,
    async loadEngine() {
      if (inline === null) await run({ task: 'loaded', payload: null }, systemCaller());
    },
    ready,
    holdReadiness(reason) {
      holds.add(reason);
      return () => void holds.delete(reason);
    },
    isScheduleNeeded: () => isScheduleNeeded(ctx(systemCaller())),
    async start() {
      started = true;
      await run({ task: 'start', payload: null }, systemCaller());
    },
    async stop() {
      started = false;
      closeHttp();
      file?.close();
      await integrity?.close();
      (await core)?.close();
      await (inline ?? thread)?.close();
      await reader?.close();
      metrics.close();
    },
  };
}

interface Reader {
  store: Store;
  /** For logins: what another process changed shows at once. */
  logins: Store;
  replica: Replica | null;
  close(): Promise<void>;
}

/** The reading connection of the serving thread. The schema is brought up to date first: a reader cannot. */
async function openReader(parts: ServiceParts, observe: (call: DbCall) => void, log: Log): Promise<Reader> {
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
  const storeOf = (raw: Db, over = (db: Db) => db) =>
    createStore(over(instrumentDb(parts.wrapDb?.(raw) ?? raw, observe)), vault);
  if (config.db_replica === null) {
    const raw = await openDb(config.db, { mode: 'reader', ...token });
    const store = storeOf(raw, raw.kind === 'remote' ? gatherReads : undefined);
    return { store, logins: store, replica: null, close: () => raw.close() };
  }
  const replica = await openReplicated(config.db, {
    ...token,
    file: config.db_replica,
    syncMs: config.db_replica_sync_ms,
    program: parts.replicaProgram ?? new URL('./replica-process.js', import.meta.url),
    changed: logReplicaState(log),
  });
  return { store: storeOf(replica.db), logins: storeOf(replica.current), replica, close: () => replica.close() };
}

/** One for all connections: a call that lost its client over one is found over another. */
export async function openMcp(config: Config, parts: { log: Log; clock: Clock; invoke: Invoke }): Promise<McpCore> {
  const { createMcpCore } = await import('../mcp/core.js');
  return createMcpCore({
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

/** A look-up for somebody who has not logged in yet, and is told no detail of its failure. */
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
  touchKey: (id: number, at: number) => Promise<void>,
): Promise<Auth> {
  const [{ createAuth }, { hashToken, unmatchableHash, verifyPassword }] = await Promise.all([
    import('../auth/auth.js'),
    import('../store/vault/vault.js'),
  ]);
  return createAuth({
    findUser: (name) => unknownCaller(store.users.login(name)),
    findKey: (hash) => unknownCaller(store.keys.login(hash)),
    verifyPassword,
    unmatchableHash,
    hashToken,
    touchKey,
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
    import('../auth/sessions.js'),
    import('../store/vault/vault.js'),
  ]);
  const find = (hash: string, now: number, idleSince: number) => unknownCaller(webSessions.find(hash, now, idleSince));
  const identity = (id: string, idleSince: number) => unknownCaller(webSessions.identity(id, idleSince));
  return createSessions({ find, identity, change, auth, hashToken, clock, log });
}

async function accessTokens(config: Config, clock: Clock): Promise<{ verifyAccessToken?: VerifyAccessToken }> {
  const { oauth_issuer: issuer, oauth_jwks_url: jwks_url } = config;
  if (issuer === null || jwks_url === null) return {};
  const { createTokenVerifier } = await import('../auth/jwt.js');
  const audience = config.oauth_audience ?? `${config.base_url}/mcp`;
  const { oauth_read_scope: read_scope, oauth_write_scope: write_scope } = config;
  return { verifyAccessToken: createTokenVerifier({ issuer, jwks_url, audience, read_scope, write_scope, clock }) };
}

/**
 * The caller of a read of the database, which is over before it could be cancelled: signals that are made when they are looked
 * at cost more than many an answer, and a spread looks at them.
 */
function uninterrupted(caller: Caller & Partial<TaskCaller>, baseUrl: string): TaskCaller {
  const { actor, request_id, base_url = baseUrl, progress } = caller;
  return { actor, request_id, base_url, progress, signal: UNINTERRUPTED };
}

function systemCaller(): Caller {
  return { actor: SYSTEM, request_id: randomUUID(), signal: new AbortController().signal };
}
