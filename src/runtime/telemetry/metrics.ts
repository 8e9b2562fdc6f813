/**
 * Numbers about this process, as Prometheus reads them. They are counted only where they can be asked for: an assistant's process
 * over stdio does not even load the library.
 */

import type { Labels, MetricFamily, Recorder } from './metric-types.js';
import type { ThreadMetrics } from './prometheus.js';

export interface Metrics extends Recorder {
  /** Starts counting. */
  open(): Promise<void>;
  collect(): Promise<MetricFamily[]>;
  close(): void;
}

/** @param thread `main` or `engine`: the label of metrics that both threads have */
export function createMetrics(thread: string): Metrics {
  let counting: ThreadMetrics | undefined;
  return {
    async open() {
      const { createThreadMetrics } = await import('./prometheus.js');
      counting ??= createThreadMetrics(thread);
    },
    call: (name, outcome, ms) => counting?.call(name, outcome, ms),
    child: (facts) => counting?.child(facts),
    db: (call) => counting?.db(call),
    request: (facts) => counting?.request(facts),
    collect: async () => (await counting?.collect()) ?? [],
    close: () => counting?.close(),
  };
}

export function gauge(name: string, help: string, ...samples: { labels?: Labels; value: number }[]): MetricFamily {
  const values = samples.map(({ labels = {}, value }) => ({ labels, value }));
  return { name, help, type: 'gauge', aggregator: 'sum', values };
}

/** The running version, as a label. */
export function buildInfo(version: string): MetricFamily {
  return gauge('sitefleet_build_info', 'The running version.', {
    labels: { version, node: process.version },
    value: 1,
  });
}
