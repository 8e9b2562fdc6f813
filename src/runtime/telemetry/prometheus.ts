/**
 * Metrics by prom-client. Each thread has its own registry; plain data crosses the thread boundary and is combined when
 * the text is rendered. Labels come from the program (operations, routes, kinds), never from callers, so their number
 * is bounded.
 */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Labels, MetricFamily, Recorder } from './metric-types.js';

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60];
const TICK_MS = 20;
/** Status classes, by their first digit. */
const CLASSES = ['', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;

export interface ThreadMetrics extends Recorder {
  collect(): Promise<MetricFamily[]>;
  close(): void;
}

/** @param thread `main` or `engine`: the label of metrics that both threads have */
export function createThreadMetrics(thread: string): ThreadMetrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Histogram({ name, help, labelNames, buckets: BUCKETS, registers });

  const calls = counter('sitefleet_calls_total', 'Calls of operations and REST routes, by outcome.', 'name', 'outcome');
  const callTime = histogram('sitefleet_call_seconds', 'Time until such a call was answered.', 'name');
  const requests = histogram(
    'http_request_duration_seconds',
    'Time to the headers of an HTTP response, by interface, method and status class.',
    'surface',
    'method',
    'status',
  );
  const childCalls = counter(
    'sitefleet_child_calls_total',
    'Calls to child sites, by function and outcome.',
    'function',
    'outcome',
  );
  const childTime = histogram(
    'sitefleet_child_call_seconds',
    'Duration of a call to a child site, excluding the wait for its turn.',
  );
  const childWait = histogram('sitefleet_child_wait_seconds', 'Time a call to a child site waited for its turn.');
  const childBytes = counter('sitefleet_child_received_bytes_total', 'Bytes in answers from child sites.');
  const dbCalls = counter('sitefleet_db_calls_total', 'Database calls, by outcome.', 'thread', 'method', 'outcome');
  const dbTime = counter('sitefleet_db_seconds_total', 'Time spent in the database.', 'thread');
  const lag = lagOf(thread, registers);
  let collected = false;

  return {
    call(name, outcome, ms) {
      calls.inc({ name, outcome });
      callTime.observe({ name }, ms / 1000);
    },
    child({ fn, outcome, ms, queued_ms, bytes }) {
      childCalls.inc({ function: fn, outcome });
      childTime.observe(ms / 1000);
      childWait.observe(queued_ms / 1000);
      childBytes.inc(bytes);
    },
    db({ method, ms, failure }) {
      dbCalls.inc({ thread, method, outcome: failure ?? 'ok' });
      dbTime.inc({ thread }, ms / 1000);
    },
    request({ surface, method, status, ms }) {
      const labels = { surface, method, status: CLASSES[Math.floor(status / 100)] ?? 'other' };
      requests.observe(labels, ms / 1000);
    },
    async collect() {
      // Its observers wake the thread, so they start with the first collection. Process metrics are the same for both
      // threads.
      if (!collected && thread === 'main') collectProcess(registry);
      collected = true;
      const families = await registry.getMetricsAsJSON();
      lag.restart();
      return plain(families);
    },
    close() {
      lag.stop();
      registry.clear();
    },
  };
}

/** Standard process metrics, except three gauges that are named like counters. */
function collectProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`);
}

/**
 * Lag of the event loop since the last collection. Measured only from the first collection on, because it wakes the
 * thread fifty times a second.
 */
function lagOf(thread: string, registers: Registry[]): { restart(): void; stop(): void } {
  const delay = monitorEventLoopDelay({ resolution: TICK_MS });
  // The histogram measures the time between two ticks; lag is what exceeds the tick interval.
  const seconds = (nanoseconds: number) =>
    Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - TICK_MS / 1000) : 0;
  const gauge = (name: string, read: () => number) =>
    new Gauge({
      name: `sitefleet_event_loop_lag_${name}_seconds`,
      help: `Event loop lag of a thread since the last collection (${name}).`,
      labelNames: ['thread'],
      registers,
      collect() {
        this.set({ thread }, seconds(read()));
      },
    });
  gauge('p50', () => delay.percentile(50));
  gauge('p99', () => delay.percentile(99));
  gauge('max', () => delay.max);
  return {
    restart() {
      delay.reset();
      delay.enable();
    },
    stop: () => void delay.disable(),
  };
}

/** Without functions, which cannot cross the thread boundary, and without empty families. */
function plain(families: Awaited<ReturnType<Registry['getMetricsAsJSON']>>): MetricFamily[] {
  return families
    .map(({ name, help, type, aggregator, values }) => ({
      name,
      help,
      type: String(type),
      // Process metrics come from one thread only, so nothing needs to be left out.
      aggregator: aggregator === 'omit' ? 'first' : aggregator,
      values: values
        .filter(({ value }) => !Number.isNaN(value))
        .map((value) => ({ ...value, labels: value.labels as Labels })),
    }))
    .filter(({ values }) => values.length > 0);
}

/** The text format of Prometheus, version 0.0.4. Families with the same name from several threads are merged. */
export function renderMetrics(threads: readonly (readonly MetricFamily[])[]): Promise<string> {
  return AggregatorRegistry.aggregate(threads as MetricFamily[][]).metrics();
}
