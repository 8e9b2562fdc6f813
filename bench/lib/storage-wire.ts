/** Traffic from the processes of the simulation to the storage server, counted by the purpose of each statement. */

/** The purpose of a statement. `leases` and `claims` keep processes from doing the same work twice. */
export const PURPOSES = [
  'leases',
  'claims',
  'timetable',
  'results of monitors',
  'BEGIN and COMMIT',
  'all else',
] as const;
export type Purpose = (typeof PURPOSES)[number];

export interface Traffic {
  statements: number;
  rowsRead: number;
  rowsWritten: number;
  /** Of the SQL, its arguments and its results, as far as they can be attributed. */
  bytes: number;
}

/** Counts of one process, since they were last read. */
export interface WireCounts {
  requests: number;
  /** Of whole requests and answers, without HTTP headers. */
  bytesUp: number;
  bytesDown: number;
  /** Milliseconds until the server had answered, one figure per request. */
  waits: number[];
  /** Error answers, with the first words of each. */
  errors: string[];
  by: Record<Purpose, Traffic>;
}

export interface WireSpec {
  /** `127.0.0.1:PORT` of the storage server. */
  target: string;
  /** One for each process that is counted separately. */
  wires: number;
}

export interface WireReady {
  ports: number[];
}

const NAMED: readonly (readonly [Purpose, RegExp])[] = [
  ['BEGIN and COMMIT', /^(begin|commit|rollback)\b/i],
  ['leases', /\b(into|update|from) lease\b/i],
  ['timetable', /\bschedule_(run|part)\b/i],
  ['claims', /^update (monitor|certificate_plan) set next_check_at = /i],
  ['claims', /^update (job|tool_job|mail|audit|alert_delivery)\b.*\b(owner|lease_until)\b/is],
  ['results of monitors', /\b(into|update|from) (heartbeat|monitor_hour|incident)\b|^update monitor set status\b/i],
];

function purposeOf(sql: string): Purpose {
  const text = sql.trimStart();
  return NAMED.find(([, pattern]) => pattern.test(text))?.[0] ?? 'all else';
}

export function noTraffic(): Record<Purpose, Traffic> {
  const none = () => ({ statements: 0, rowsRead: 0, rowsWritten: 0, bytes: 0 });
  return Object.fromEntries(PURPOSES.map((purpose) => [purpose, none()])) as Record<Purpose, Traffic>;
}

interface Stmt {
  sql?: string;
  sql_id?: number;
}

interface StmtResult {
  rows_read?: number;
  rows_written?: number;
}

interface Pipeline {
  requests: { type: string; sql?: string; sql_id?: number; stmt?: Stmt; batch?: { steps: { stmt: Stmt }[] } }[];
}

interface PipelineAnswer {
  results: {
    type: string;
    error?: { message: string };
    response?: {
      result?: StmtResult & {
        step_results?: (StmtResult | null)[];
        step_errors?: ({ message: string } | null)[];
      };
    };
  }[];
}

/** Adds one request of the Hrana protocol over HTTP (version 2) and its answer to the counts. */
export function count(counts: Pick<WireCounts, 'by' | 'errors'>, asked: string, answered: string): void {
  const { requests } = JSON.parse(asked) as Pipeline;
  const { results } = JSON.parse(answered) as PipelineAnswer;
  const texts = new Map<number, string>();
  const add = (stmt: Stmt, result: StmtResult | null | undefined, error?: { message: string } | null): void => {
    if (error != null) counts.errors.push(error.message.slice(0, 120));
    // A batch step whose condition was false did not run.
    if (result == null) return;
    const sql = stmt.sql ?? texts.get(stmt.sql_id ?? -1) ?? '';
    const traffic = counts.by[purposeOf(sql)];
    traffic.statements++;
    traffic.rowsRead += result.rows_read ?? 0;
    traffic.rowsWritten += result.rows_written ?? 0;
    traffic.bytes +=
      JSON.stringify(stmt).length + JSON.stringify(result).length + (stmt.sql === undefined ? sql.length : 0);
  };
  requests.forEach((request, at) => {
    const answer = results[at];
    if (request.type === 'store_sql') texts.set(request.sql_id ?? -1, request.sql ?? '');
    if (request.type === 'execute') add(request.stmt ?? {}, answer?.response?.result, answer?.error);
    request.batch?.steps.forEach(({ stmt }, step) => {
      const result = answer?.response?.result;
      add(stmt, result?.step_results?.[step], result?.step_errors?.[step]);
    });
  });
}
