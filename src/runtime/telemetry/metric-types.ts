/** What is counted, and the form in which it crosses threads. */

export type Labels = Readonly<Record<string, string | number>>;

/** Everything of one name, as plain data: it crosses the thread border. */
export interface MetricFamily {
  name: string;
  help: string;
  /** `counter`, `gauge` or `histogram`. */
  type: string;
  /** How samples of several threads with the same labels become one. */
  aggregator: string;
  values: { value: number; labels: Labels; metricName?: string }[];
}

/** What is counted. */
export interface Recorder {
  /** One call of an operation or route; `outcome` is `ok` or the error's code. */
  call(name: string, outcome: string, ms: number): void;
  child(facts: { fn: string; outcome: string; ms: number; queued_ms: number; bytes: number }): void;
  db(call: { method: string; ms: number; failure: string | null }): void;
  /** One HTTP request on any way in. */
  request(facts: { surface: string; method: string; status: number; ms: number }): void;
}
