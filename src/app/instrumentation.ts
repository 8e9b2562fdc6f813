/** Instrumentation of calls, storage and the database file: metrics, and a log line when storage fails. */

import type { PacedChildSites } from '../outbound/child/create.js';
import type { Clock } from '../runtime/clock.js';
import { asServiceError } from '../runtime/errors.js';
import type { Log } from '../runtime/log.js';
import type { MetricFamily } from '../runtime/telemetry/metric-types.js';
import { gauge, type Metrics } from '../runtime/telemetry/metrics.js';
import { type FileGuard, guardFile } from '../store/driver/file-guard.js';
import type { DbCall } from '../store/driver/instrumented-db.js';
import type { Store } from '../store/store.js';

/** Failures of the storage itself; the other kinds are results, such as a name that is taken. */
const OUT_OF_ORDER = new Set<DbCall['failure']>(['busy', 'full', 'readonly', 'disk', 'unavailable', 'corrupt']);
/** A full disk fails every call: one line per this interval says as much as a thousand. */
const QUIET_MS = 10_000;

/**
 * @returns an observer of database calls that counts them and logs storage failures, each kind at most every ten
 * seconds
 */
export function instrumentStorage(metrics: Metrics, log: Log, clock: Clock): (call: DbCall) => void {
  const reported = new Map<DbCall['failure'], number>();
  return (call) => {
    metrics.db(call);
    const { failure } = call;
    if (failure === null || !OUT_OF_ORDER.has(failure)) return;
    const now = clock.elapsed();
    if (now - (reported.get(failure) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    reported.set(failure, now);
    log.error({ storage: failure, method: call.method, ms: Math.round(call.ms) }, 'the database failed');
  };
}

/**
 * Whether storage takes writes. After a failure a small write proves nothing: it may go into the last free page of a
 * disk, while all others are refused. So the last failure counts until a large write has succeeded.
 */
export function createWriteCheck(): {
  observe(call: DbCall): void;
  /** Rejects as the write does. */
  check(writes: { small(): Promise<unknown>; large(): Promise<unknown> }): Promise<void>;
} {
  let failed = false;
  return {
    observe({ failure }) {
      if (failure !== null && OUT_OF_ORDER.has(failure)) failed = true;
    },
    async check({ small, large }) {
      const asked = failed ? large : small;
      // A failure meanwhile, also of this write, counts again.
      failed = false;
      await asked();
    },
  };
}

/** How often to check that the database file is still in place. */
const FILE_MS = 1_000;

/** A guard of the database file that also logs changes of its state. */
export function monitorDatabaseFile(path: string, log: Log): FileGuard & { reason(): string | null; close(): void } {
  const guard = guardFile(path);
  let lost = false;
  const check = () => {
    const problem = guard.problem();
    if ((problem !== null) === lost) return;
    lost = problem !== null;
    if (problem === null) log.info({}, 'the database file is back in its place');
    else log.error({ advice: problem.advice }, problem.message);
  };
  const timer = setInterval(check, FILE_MS);
  timer.unref();
  return {
    ...guard,
    reason() {
      const problem = guard.problem();
      return problem === null ? null : [problem.publicMessage?.message, problem.advice].join(' ');
    },
    close: () => clearInterval(timer),
  };
}

/** Runs a call and counts it by outcome. */
export async function measured<T>(metrics: Metrics, name: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    const result = await work();
    metrics.call(name, 'ok', performance.now() - began);
    return result;
  } catch (error) {
    metrics.call(name, asServiceError(error).code, performance.now() - began);
    throw error;
  }
}

/** Amount of queued and running work, and the age of the oldest job. */
export async function workloadMetrics(parts: {
  store: Store;
  child: PacedChildSites;
  now: number;
  members: number;
}): Promise<MetricFamily[]> {
  const { unfinished, oldest_ms } = await parts.store.jobs.backlog(parts.now);
  const { running, queued } = parts.child.load();
  return [
    gauge('sitefleet_jobs_unfinished', 'Queued jobs that are not done.', { value: unfinished }),
    gauge('sitefleet_jobs_oldest_age_seconds', 'Age of the oldest queued job.', { value: oldest_ms / 1000 }),
    gauge('sitefleet_child_calls_running', 'Calls to child sites in progress.', { value: running }),
    gauge('sitefleet_child_calls_queued', 'Calls to child sites waiting for their turn.', { value: queued }),
    gauge('sitefleet_processes', 'Processes that share the limits towards child sites.', { value: parts.members }),
  ];
}
