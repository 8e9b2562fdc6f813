/** The engine's half of the composition root: everything that writes or contacts sites. */

import { randomUUID } from 'node:crypto';
import { operations as allOperations } from '../../tools/index.js';
import { answerOnce, type IdempotencyKey } from '../domain/access/idempotency.js';
import { recordedCall } from '../domain/action-log/recorded-call.js';
import { createActionRecorder } from '../domain/action-log/recorder.js';
import { createJobRunner } from '../domain/actions/job-runner.js';
import { createMailListener } from '../domain/alerts/mail/events.js';
import { approvedChange, foretold } from '../domain/approvals/gate.js';
import { backUpBeforeChange } from '../domain/backups/before-change.js';
import { createClockStepMonitor } from '../domain/clock-steps.js';
import { startAbandonedChecks } from '../domain/connection/abandoned-checks.js';
import { runToolJobs } from '../domain/connection/tool-jobs.js';
import { type AnswerToRequest, type Ctx, originOf, withOperation } from '../domain/context.js';
import { applyConnectionSettings, monitoringDefaults } from '../domain/settings/effects.js';
import { finishInterruptedRuns } from '../domain/updates/safe/unfinished.js';
import { classifyVersions } from '../domain/vulnerabilities/classify.js';
import type { Callable } from '../operation/operation.js';
import type { Auditor } from '../outbound/audit/audit.js';
import { MOST_BROWSERS } from '../outbound/audit/browser.js';
import type { ChildSites, KeyPair } from '../outbound/child/port.js';
import type { Pictures } from '../outbound/pictures/pictures.js';
import type { Probe } from '../outbound/probe/probe.js';
import { withEitherSignal } from '../runtime/abort-signals.js';
import type { Actor } from '../runtime/actor.js';
import { createCancellable } from '../runtime/cancellable.js';
import type { Clock } from '../runtime/clock.js';
import { systemClock } from '../runtime/clock.js';
import { createLeases, createSiteLocks } from '../runtime/cluster/leases.js';
import { type ProcessLocation, processId } from '../runtime/cluster/process-id.js';
import { createClusterLimits } from '../runtime/cluster/shared-limits.js';
import type { Config } from '../runtime/config/types.js';
import type { Engine, TaskCaller } from '../runtime/engine/client.js';
import { ServiceError } from '../runtime/errors.js';
import { createEvents, type EventBus, type EventName } from '../runtime/events.js';
import type { Log } from '../runtime/log.js';
import { Slots } from '../runtime/slots.js';
import { createLog } from '../runtime/telemetry/log.js';
import { createMetrics, type Metrics } from '../runtime/telemetry/metrics.js';
import type { BackupStorage } from '../store/backups/repository/types.js';
import type { Db, Statement } from '../store/driver/db.js';
import { gatherReads } from '../store/driver/gathered-reads.js';
import { gatherWrites } from '../store/driver/gathered-writes.js';
import { type DbCall, instrumentDb } from '../store/driver/instrumented-db.js';
import { migrate } from '../store/driver/migrate.js';
import { openDb } from '../store/driver/open.js';
import { migrations } from '../store/schema/index.js';
import { createStore, type Store } from '../store/store.js';
import type { SessionChange } from '../surfaces/auth/sessions.js';
import { openBackupStorage } from './backup-repository.js';
import { type CopyDatabase, openBackups } from './backups.js';
import {
  openAuditor,
  openChild,
  openCopies,
  openGuards,
  openMailer,
  openMonitoringMembers,
  openPictures,
  openProbe,
  openVulnerabilityFeed,
  openWebhooks,
} from './engine-connections.js';
import { fleetFamilies } from './fleet-metrics.js';
import { createWriteCheck, instrumentStorage, workloadMetrics } from './instrumentation.js';
import { handlerOf } from './job-handlers.js';
import { createSchedule } from './schedule/schedule.js';
import type { ScheduledTask } from './schedule/timetable.js';
import { vaultFor } from './secret-key.js';

/** A call of an operation or a row, from the serving thread. */
interface EngineCall {
  id: string;
  input: unknown;
  idempotency?: IdempotencyKey | undefined;
  answer?: AnswerToRequest | undefined;
}

export interface EngineServiceParts {
  config: Config;
  log?: Log;
  clock?: Clock;
  /** For tests: how long a job is leased without renewal. */
  jobLeaseMs?: number;
  /** For tests: the heartbeat interval of a process. */
  beatMs?: number;
  /** For tests: where this process runs, as recorded in its leases. */
  location?: ProcessLocation | undefined;
  /** For tests: the scheduled tasks. */
  timetable?: readonly ScheduledTask[];
  /** False: queued jobs wait for another process. Tests run them manually. */
  jobs?: boolean;
  /**
   * For the demo and tests: one key pair for all simulated sites, because generating one costs more than the rest of
   * adding a site.
   */
  sharedKey?: KeyPair | undefined;
  /**
   * HTTP is served: the modules its requests need are loaded at once, because an import that fails later fails for
   * good.
   */
  serves?: boolean;
  /** For tests: the network of the monitors. */
  probe?: Probe | undefined;
  auditor?: Auditor | undefined;
  pictures?: Pictures | undefined;
  /** For tests: how backups are copied where no thread can be started. */
  copyDatabase?: CopyDatabase | undefined;
  /** For tests: a change to the database before its schema is migrated. */
  prepareDb?: ((db: Db) => Promise<void>) | undefined;
  /** For tests: observes the database calls. */
  wrapDb?: (db: Db) => Db;
  /** The database file that must be present, when another thread has it open. */
  file?: { dev: bigint; ino: bigint } | null;
  /** Shared with the serving thread when both are one. */
  metrics?: Metrics | undefined;
}

/** The actor of what the service does on its own. */
export const SYSTEM: Actor = {
  type: 'system',
  id: null,
  name: 'service',
  rights: ['read', 'write'],
  via: 'jobs',
};

/** Opens the writer connection and migrates the schema. */
async function openWriter(
  parts: EngineServiceParts,
  observe: (call: DbCall) => void,
): Promise<{ db: Db; store: Store }> {
  const { config } = parts;
  const raw = await openDb(config.db, {
    mode: 'writer',
    identity: parts.file,
    ...(config.db_token === null ? {} : { token: config.db_token }),
  });
  await parts.prepareDb?.(raw);
  await migrate(raw, migrations);
  const each = instrumentDb(parts.wrapDb?.(raw) ?? raw, observe);
  const db = gatherWrites(each.kind === 'remote' ? gatherReads(each) : each);
  const store = createStore(db, await vaultFor(raw, config));
  return { db, store };
}

/** The engine as seen by the thread it runs in. */
export interface InlineEngine extends Engine {
  readonly store: Store;
  readonly child: ChildSites;
  readonly events: EventBus;
  readonly backupStorage: BackupStorage;
  /** The context of one call; its signal is that of the caller. */
  ctx(caller: TaskCaller): Ctx;
  /** Runs work with such a context, whose signal also ends with the engine. */
  withCtx<T>(caller: TaskCaller, work: (ctx: Ctx) => Promise<T>): Promise<T>;
}

/** Creates the child connection and the table of engine tasks, next to the writer connection. */
export async function createEngine(parts: EngineServiceParts): Promise<InlineEngine> {
  const { config } = parts;
  const clock = parts.clock ?? systemClock;
  const log = parts.log ?? createLog(config.log_level);
  const metrics = parts.metrics ?? createMetrics('engine');
  if (parts.serves === true) await metrics.open();
  const observe = instrumentStorage(metrics, log, clock);
  const writeCheck = createWriteCheck();
  const { db, store } = await openWriter(parts, (call) => {
    observe(call);
    writeCheck.observe(call);
  });
  const events = createEvents(clock, log);
  const closing = new AbortController();
  const owner = processId(parts.location);
  // A database in memory belongs to this process; any other may be shared.
  const alone = config.db === ':memory:';
  const leases = createLeases(alone ? undefined : { rows: store.leases, owner, clock, log, leaseMs: parts.jobLeaseMs });
  const sharedLimits = alone
    ? undefined
    : createClusterLimits({ ...store.members, owner, leases, clock, log, heartbeatMs: parts.beatMs });
  const dashboardUrl = await store.instance.claim(
    'dashboard_url',
    `https://sitefleet-${randomUUID().slice(0, 8)}.invalid/wp-admin/`,
  );
  const child = await openChild(parts, dashboardUrl, { store, clock, log, metrics, sharedLimits, leases });
  await applyConnectionSettings({ store, config, child });
  const guards = await openGuards(child, clock);
  const probe = parts.probe ?? (await openProbe(config));
  const browsers = new Slots(MOST_BROWSERS);
  const auditor = parts.auditor ?? (await openAuditor(config, browsers));
  const pictures = parts.pictures ?? (await openPictures(config, browsers));
  const copies = await openCopies(config);
  const mailer = await openMailer(config);
  const webhooks = await openWebhooks(config);
  const backups = openBackups(config, parts.copyDatabase);
  const backupStorage = openBackupStorage(config, store, clock);
  const vulnerabilities = await openVulnerabilityFeed(config);
  // Loaded only if needed: it takes a good part of the start time.
  let rest = parts.serves === true ? await import('../surfaces/rest/perform.js') : undefined;
  const operations = new Map(allOperations.map((operation) => [operation.id, operation]));

  const locks = createSiteLocks(leases);
  const calls = createCancellable();
  // Queued work on a site may wait long for its turn: while a user waits for that work, its calls go first.
  const expeditingLocks = createSiteLocks(leases, (siteId) => child.expedite(siteId));
  const bulkChild = child.bulk();
  const recorder = createActionRecorder({ store, log });
  const ctx = (caller: TaskCaller): Ctx => {
    const context = {
      store,
      // Jobs and the schedule yield to users: a single update never waits behind a sync of the whole fleet.
      child: caller.actor.via === 'jobs' ? bulkChild : child,
      guards,
      probe,
      auditor,
      pictures,
      copies,
      mailer,
      backups,
      backupStorage,
      backUp: backUpBeforeChange,
      webhooks,
      vulnerabilities,
      clock,
      config,
      log,
      events,
      locks: caller.actor.via === 'jobs' ? locks : expeditingLocks,
      calls,
      actor: caller.actor,
      operation: '',
      run_id: '',
      request_id: caller.request_id,
      client: caller.client ?? '',
      record: recordedCall,
      change: approvedChange,
      foretell: foretold,
      signal: caller.signal,
      progress: caller.progress ?? (() => undefined),
      base_url: caller.base_url,
    };
    return { ...context, events: events.from(originOf(context)) };
  };

  /** Newly installed versions are matched with the vulnerability feed before the caller's next call. */
  const classifyInstalled = async () => {
    if (vulnerabilities.source === null || closing.signal.aborted) return;
    await classifyVersions(ownCtx(), CLASSIFIED_AT_ONCE).catch((error: unknown) => {
      if (!closing.signal.aborted) log.warn({ err: error }, 'new versions will be checked later');
    });
  };

  /** Runs work with a context that ends with the caller or with the engine. */
  const withCtx: InlineEngine['withCtx'] = async (caller, work) => {
    try {
      return await withEitherSignal(caller.signal, closing.signal, (signal) => work(ctx({ ...caller, signal })));
    } finally {
      // Before a caller gets its result, the action log has it, and installed versions have been matched.
      await recorder.flush();
      await classifyInstalled();
    }
  };

  const callable = async (id: string): Promise<Callable<unknown, unknown>> => {
    const operation = operations.get(id);
    if (operation !== undefined) return operation;
    rest ??= await import('../surfaces/rest/perform.js');
    return rest.routeCall(rest.routeOf(id)) as Callable<unknown, unknown>;
  };

  const tasks: Record<string, (payload: never, ctx: Ctx) => Promise<unknown>> = {
    call: async ({ id, input, idempotency, answer }: EngineCall, context) => {
      const target = await callable(id);
      const own = withOperation(context, id, answer);
      return answerOnce(own, idempotency, () => target.call(input, own));
    },
    loaded: async () => undefined,
    metrics: async (_payload, context) => [
      ...(await metrics.collect()),
      ...(await fleetMetrics(context)),
      ...(await workloadMetrics({ store, child, now: context.clock.now(), members: sharedLimits?.members() ?? 1 })),
    ],
    // Writes through the writer connection: a full disk shows only here.
    health: (_payload, context) =>
      writeCheck.check({
        small: () => context.store.leases.acquire('health', owner, context.clock.now(), 0),
        large: () => context.store.instance.proveRoom(),
      }),
    // Statements of the serving thread that would hold it up.
    read: (statements: readonly Statement[]) => db.read(statements),
    web_session: (change: SessionChange, context) => loggedSessionChange(context, change),
    mark_assistant: ({ type, id }: { type: Actor['type']; id: number }, { store: { users, keys }, clock: { now } }) =>
      (type === 'user' ? users : keys).markAssistant(id, now()),
    touch_key: ({ id, at }: { id: number; at: number }, context) => context.store.keys.touch(id, at),
  };

  let base = config.base_url ?? localUrl(config);
  const ownCaller = () => ({ actor: SYSTEM, request_id: randomUUID(), base_url: base, signal: closing.signal });
  /** Lives as long as the engine: nothing may derive a signal from its signal. */
  const ownCtx = () => ctx(ownCaller());
  const withOwnCtx = <T>(work: (context: Ctx) => Promise<T>) => withCtx(ownCaller(), work);
  const clockSteps = createClockStepMonitor(ownCtx);
  const own = { ctx: ownCtx, withCtx: withOwnCtx, owner, clockSteps };
  const runner = createJobRunner({ ...own, handlerOf, location: parts.location, leaseMs: parts.jobLeaseMs });
  const monitoringMembers = alone ? undefined : openMonitoringMembers(parts, { store, owner, leases, clock, log });
  const schedule = createSchedule({ ...own, members: monitoringMembers?.members, tasks: parts.timetable });
  const mails = createMailListener(ownCtx);
  events.subscribe(recorder.listen);
  events.subscribe(mails.listen);
  // The process that queues a job runs it if no other does: a job never waits for a server to start.
  events.subscribe((event) => {
    if (event.name !== 'job.queued' || parts.jobs === false) return;
    runner.start();
    runner.kick();
  });
  let tools: Promise<unknown> = Promise.resolve();
  const runOn = (name: EventName, work: (context: Ctx) => Promise<unknown>, failure: string) => {
    events.subscribe((event) => {
      if (event.name !== name || parts.jobs === false) return;
      const run = withOwnCtx(work).catch((error: unknown) => {
        if (!closing.signal.aborted) log.error({ err: error }, failure);
      });
      tools = Promise.all([tools, run]);
    });
  };
  runOn('tool_job.queued', runToolJobs, 'a tools job failed and will be tried again');
  runOn('update.interrupted', finishInterruptedRuns, 'interrupted updates will be finished later');
  const looks = startAbandonedChecks(events, clock, () => schedule.runNow('abandoned-refresh'));
  tasks.start = async ({ served }: { served: boolean }, context) => {
    base = context.base_url;
    runner.start();
    await schedule.start(served ? base : null);
    // A test's own timetable may have other tasks.
    if (parts.timetable === undefined) looks.start();
  };
  tasks.run_scheduled = ({ name }: { name: string }) => schedule.runNow(name);

  return {
    store,
    child,
    events,
    backupStorage,
    ctx,
    withCtx,
    async run({ task, payload }, caller) {
      const handler = tasks[task];
      if (handler === undefined) throw new ServiceError('svc_internal_error', `The engine knows no task ${task}.`);
      return withCtx(caller, (context) => handler(payload as never, context));
    },
    async close() {
      closing.abort();
      await Promise.all([runner.stop(), schedule.stop(), tools, looks.stop()]);
      await Promise.all([recorder.flush(), mails.settled()]);
      await Promise.all([child.close(), probe.close(), mailer.close(), webhooks.close(), vulnerabilities.close()]);
      await backupStorage.close();
      await Promise.all([sharedLimits?.close(), monitoringMembers?.close()]);
      await leases.close();
      metrics.close();
      await db.close();
    },
  };
}

const LOGGED_STEPS = { password: 'PUT /session/password', end_all: 'DELETE /session/everywhere' } as const;

/** What users do to their own login is in the action log like any call of theirs; that they log in and out is not. */
function loggedSessionChange(context: Ctx, change: SessionChange): Promise<boolean> {
  if (change.step !== 'password' && change.step !== 'end_all') return changeSession(context.store, change);
  const { user_id: id, name } = change;
  const actor = { type: 'user', id, name, rights: [], via: 'rest' } as const;
  const own = withOperation({ ...context, actor }, LOGGED_STEPS[change.step]);
  return own.record(own, { user: name }, () => changeSession(own.store, change));
}

/** Returns whether anything changed. */
async function changeSession({ webSessions, users }: Store, change: SessionChange): Promise<boolean> {
  switch (change.step) {
    case 'open':
      return webSessions.open(change.session, change.user_id, change.proof);
    case 'open_by_link':
      return webSessions.openByLink(change.session, change.link_hash);
    case 'rotate':
      return webSessions.rotate(change.id, change.from, change.to, change.rotated_at, change.now);
    case 'use':
      return webSessions.use(change.id, change.now, change.previous_until);
    case 'password':
      return users.replacePassword(change.user_id, change.proof, await users.hash(change.password));
    case 'end':
      return webSessions.end(change.id);
    case 'end_all':
      return webSessions.endAll(change.user_id);
  }
}

/** Metrics about the sites and the alerts that wait to be sent. */
async function fleetMetrics(ctx: Ctx) {
  const { active } = await monitoringDefaults(ctx);
  const feed = await ctx.store.vulnerabilityFeeds.state();
  const [figures, deliveries, sites] = await Promise.all([
    ctx.store.fleetFigures.read(ctx.clock.now(), active),
    ctx.store.alertDeliveries.counts(),
    // Without a feed these metrics are absent: unknown is not zero.
    feed?.checked_at == null ? [] : ctx.store.vulnerabilities.sitesBySeverity(),
  ]);
  const vulnerable = feed?.checked_at == null ? null : { checked_at: feed.checked_at, sites };
  return fleetFamilies(figures, deliveries, vulnerable);
}

/** A call installs a few versions. More than that were left by a process that died: the schedule matches those. */
const CLASSIFIED_AT_ONCE = 400;

/** The URL of the service if no public address is configured. */
export function localUrl({ host, port }: Config): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
