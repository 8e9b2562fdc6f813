/**
 * Numbers about this process, as Prometheus reads them. Each thread counts for itself; what crosses the thread border is
 * plain data. Labels come from the program (operations, routes, kinds), never from callers, so their number is bounded.
 */

import { monitorEventLoopDelay } from 'node:perf_hooks';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** '' or `_sum`, `_count`, `_bucket`. */
  suffix: string;
  labels: Labels;
  value: number;
}

export interface MetricFamily {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  samples: Sample[];
}

export interface Metrics {
  /** One call of an operation or route; `outcome` is `ok` or the error's code. */
  call(name: string, outcome: string, ms: number): void;
  child(facts: { fn: string; outcome: string; ms: number; queued_ms: number; bytes: number }): void;
  db(call: { method: string; ms: number; failure: string | null }): void;
  request(status: number): void;
  collect(): MetricFamily[];
  close(): void;
}

/** Seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60] as const;

const TICK_MS = 20;
/** Of HTTP statuses, by their first digit. */
const CLASSES = ['', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** Sums by labels. */
class Counter {
  readonly #series: { labels: Labels; value: number }[] = [];
  readonly #byName = new Map<string, Map<string, { labels: Labels; value: number }>>();

  /** @param a @param b what tells the series apart; `labels` is asked for at its first use only */
  add(a: string, b: string, by: number, labels: (a: string, b: string) => Labels): void {
    let series = this.#byName.get(a)?.get(b);
    if (series === undefined) {
      series = { labels: labels(a, b), value: 0 };
      this.#series.push(series);
      this.#byName.set(a, (this.#byName.get(a) ?? new Map()).set(b, series));
    }
    series.value += by;
  }

  family(name: string, help: string): MetricFamily {
    return {
      name,
      help,
      type: 'counter',
      samples: this.#series.map(({ labels, value }) => ({ suffix: '', labels, value })),
    };
  }
}

class Histogram {
  readonly #series = new Map<string, { labels: Labels; counts: number[]; sum: number; n: number }>();

  /** @param name value of the label `name`; '' for a histogram without labels */
  observe(name: string, seconds: number): void {
    let series = this.#series.get(name);
    if (series === undefined) {
      series = { labels: name === '' ? {} : { name }, counts: BUCKETS.map(() => 0), sum: 0, n: 0 };
      this.#series.set(name, series);
    }
    const at = BUCKETS.findIndex((bound) => seconds <= bound);
    if (at >= 0) series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sum += seconds;
    series.n++;
  }

  family(name: string, help: string): MetricFamily {
    const samples = [...this.#series.values()].flatMap(({ labels, counts, sum, n }) => {
      let total = 0;
      const buckets = BUCKETS.map((bound, i) => {
        total += counts[i] ?? 0;
        return { suffix: '_bucket', labels: { ...labels, le: String(bound) }, value: total };
      });
      return [
        ...buckets,
        { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: n },
        { suffix: '_sum', labels, value: sum },
        { suffix: '_count', labels, value: n },
      ];
    });
    return { name, help, type: 'histogram', samples };
  }
}

const named = (name: string, outcome: string): Labels => ({ name, outcome });
const ofFunction = (fn: string, outcome: string): Labels => ({ function: fn, outcome });
const ofStatus = (status: string): Labels => ({ status });
const unlabelled = (): Labels => ({});

/** @param thread `main` or `engine`: stands on what both have */
export function createMetrics(thread: string): Metrics {
  const calls = new Counter();
  const callTime = new Histogram();
  const childCalls = new Counter();
  const childTime = new Histogram();
  const childWait = new Histogram();
  const childBytes = new Counter();
  const dbCalls = new Counter();
  const dbTime = new Counter();
  const requests = new Counter();
  // It wakes the thread fifty times a second, so it begins with the first collection: a desktop app over stdio, which
  // never collects, does not pay for it.
  const lag = monitorEventLoopDelay({ resolution: TICK_MS });

  const ofMethod = (method: string, outcome: string): Labels => ({ thread, method, outcome });
  const ofThread = (): Labels => ({ thread });

  return {
    call(name, outcome, ms) {
      calls.add(name, outcome, 1, named);
      callTime.observe(name, ms / 1000);
    },
    child({ fn, outcome, ms, queued_ms, bytes }) {
      childCalls.add(fn, outcome, 1, ofFunction);
      childTime.observe('', ms / 1000);
      childWait.observe('', queued_ms / 1000);
      childBytes.add('', '', bytes, unlabelled);
    },
    db({ method, ms, failure }) {
      dbCalls.add(method, failure ?? 'ok', 1, ofMethod);
      dbTime.add('', '', ms / 1000, ofThread);
    },
    request: (status) => requests.add(CLASSES[Math.floor(status / 100)] ?? 'other', '', 1, ofStatus),
    collect() {
      // What is measured is the time between two ticks; what is more than their distance is lag.
      const seconds = (nanoseconds: number) =>
        Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - TICK_MS / 1000) : 0;
      const delay = [
        ['0.5', lag.percentile(50)],
        ['0.99', lag.percentile(99)],
        ['1', lag.max],
      ] as const;
      const families = [
        calls.family('sitefleet_calls_total', 'Calls of operations and REST routes, by outcome.'),
        callTime.family('sitefleet_call_seconds', 'Time until such a call was answered.'),
        requests.family('sitefleet_http_requests_total', 'HTTP requests of all kinds, by class of status.'),
        childCalls.family('sitefleet_child_calls_total', 'Calls to child sites, by function and outcome.'),
        childTime.family(
          'sitefleet_child_call_seconds',
          'Time of a call to a child site, without the wait for its turn.',
        ),
        childWait.family('sitefleet_child_wait_seconds', 'Wait of a call to a child site for its turn.'),
        childBytes.family('sitefleet_child_received_bytes_total', 'Bytes of answers of child sites.'),
        dbCalls.family('sitefleet_db_calls_total', 'Calls of the database, by outcome.'),
        dbTime.family('sitefleet_db_seconds_total', 'Time spent in the database.'),
        gauge(
          'sitefleet_event_loop_lag_seconds',
          'Lag of the event loop since it was last asked for.',
          ...delay.map(([quantile, value]) => ({ labels: { thread, quantile }, value: seconds(value) })),
        ),
      ];
      lag.reset();
      lag.enable();
      return families.filter(({ samples }) => samples.length > 0);
    },
    close: () => {
      lag.disable();
    },
  };
}

export function gauge(name: string, help: string, ...samples: { labels?: Labels; value: number }[]): MetricFamily {
  return {
    name,
    help,
    type: 'gauge',
    samples: samples.map(({ labels = {}, value }) => ({ suffix: '', labels, value })),
  };
}

/** What the operating system knows of the process. */
export function processMetrics(version: string): MetricFamily[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    gauge('sitefleet_build_info', 'The running version.', { labels: { version, node: process.version }, value: 1 }),
    gauge('process_resident_memory_bytes', 'Memory the process occupies.', { value: rss }),
    gauge('nodejs_heap_used_bytes', 'Heap of the main thread.', { value: heapUsed }),
    { ...gauge('process_cpu_seconds_total', 'CPU time used.', { value: (user + system) / 1e6 }), type: 'counter' },
    gauge('process_uptime_seconds', 'Time since the start.', { value: process.uptime() }),
  ];
}

/** The text format of Prometheus, version 0.0.4. Families of one name from several threads become one. */
export function renderMetrics(families: readonly MetricFamily[]): string {
  const byName = new Map<string, MetricFamily>();
  for (const family of families) {
    const known = byName.get(family.name);
    if (known === undefined) byName.set(family.name, { ...family, samples: [...family.samples] });
    else known.samples.push(...family.samples);
  }
  const lines = [...byName.values()].flatMap(({ name, help, type, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ suffix, labels, value }) => `${name}${suffix}${labelText(labels)} ${value}`),
  ]);
  return `${lines.join('\n')}\n`;
}

function labelText(labels: Labels): string {
  const entries = Object.entries(labels);
  if (entries.length === 0) return '';
  const escaped = (text: string) => text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
  return `{${entries.map(([key, value]) => `${key}="${escaped(value)}"`).join(',')}}`;
}
