/** How much of the due work a simulation did, and how late: read from the database that the processes shared. */

import { nextRun } from '../../src/scheduler/timer.js';
import { timetable } from '../../src/scheduler/timetable.js';
import type { Db } from '../../src/store/driver/db.js';
import { checkEveryMin, dueWithin, type Pace, syncDueAt } from './scale-seed.js';

/** Rows per query: a server limits the size of its answers. */
const ROWS = 20_000;
/** A run that begins later than this after its turn belongs to a later turn. */
const LATEST_MS = 600_000;

export interface Done {
  /** Came due in the counted time; for syncs, until the timetable last looked for due ones. */
  due: number;
  /** How many of these were done. */
  done: number;
  /** Milliseconds from when each was due until its result was stored. */
  late: number[];
}

export interface Outcome {
  checks: Done;
  syncs: Done;
  /** Checks that found their site up. */
  up: number;
  /** Syncs that failed. */
  failed: number;
  databaseBytes: number;
}

export async function outcomeOf(
  db: Db,
  { from, until, start, pace }: { from: number; until: number; start: number; pace: Pace },
): Promise<Outcome> {
  const { checks, up } = await checksDone(db, { from, until, pace });
  const { syncs, failed } = await syncsDone(db, { until, start, pace });
  const size = await db.one('SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()');
  return { checks, up, syncs, failed, databaseBytes: Number(size?.bytes ?? Number.NaN) };
}

/** Each monitor's turns are on its own grid: the turns that came due follow from its id alone. */
async function checksDone(db: Db, { from, until, pace }: { from: number; until: number; pace: Pace }) {
  const interval = checkEveryMin(pace) * 60_000;
  const offset = (id: number) => Math.floor(((id * 0.6180339887498949) % 1) * interval);
  const turns = (id: number, at: number) => Math.floor((at - offset(id)) / interval);
  let due = 0;
  for (let id = 1; id <= pace.sites; id++) due += turns(id, until) - turns(id, from);
  const late: number[] = [];
  let up = 0;
  for (let last = 0; ; ) {
    const rows = await db.all(
      `SELECT id, site_id, at, status FROM heartbeat WHERE id > ? AND at > ? ORDER BY id LIMIT ${ROWS}`,
      [last, from],
    );
    if (rows.length === 0) break;
    last = Number(rows.at(-1)?.id);
    for (const { site_id, at, status } of rows) {
      const turn = offset(Number(site_id)) + turns(Number(site_id), Number(at)) * interval;
      if (turn <= from || turn > until) continue;
      late.push(Number(at) - turn);
      if (status === 1) up++;
    }
  }
  return { checks: { due, done: late.length, late }, up };
}

/** Syncs that were due when the timetable last looked, including those left over from before the counting began. */
async function syncsDone(db: Db, { until, start, pace }: { until: number; start: number; pace: Pace }) {
  const asked = turnBefore(patternOf('daily-sync') ?? '', until);
  const rows = await db.all(
    'SELECT d.site_id, d.last_attempt, s.sync_error FROM site_detail d JOIN site s ON s.id = d.site_id WHERE d.site_id <= ?',
    [dueWithin(pace).syncs],
  );
  const syncs: Done = { due: 0, done: 0, late: [] };
  let failed = 0;
  for (const row of rows) {
    const due = syncDueAt(Number(row.site_id), start, pace) ?? 0;
    if (asked < start || due > asked) continue;
    syncs.due++;
    if (Number(row.last_attempt) < due) continue;
    syncs.done++;
    syncs.late.push(Number(row.last_attempt) - due);
    if (row.sync_error !== '') failed++;
  }
  return { syncs, failed };
}

export interface Tick {
  name: string;
  /** Milliseconds from its turn until it began. */
  late: number;
  /** Milliseconds it took; null while it runs. */
  took: number | null;
  outcome: string;
}

/** The timetable runs of all processes, as far as polling the database every second shows them. */
export class Ticks {
  readonly #db: Db;
  readonly #from: number;
  readonly #seen = new Map<string, Tick>();

  /** @param from runs that began before this instant are left out */
  constructor(db: Db, from: number) {
    this.#db = db;
    this.#from = from;
  }

  get all(): readonly Tick[] {
    return [...this.#seen.values()];
  }

  /** Whether a run of this task is under way. */
  isRunning(name: string): boolean {
    return this.all.some((tick) => tick.name === name && tick.took === null);
  }

  async look(): Promise<void> {
    const [runs = [], parts = []] = await this.#db.read([
      {
        sql: "SELECT name, '' AS owner, last_started, last_finished, last_outcome FROM schedule_run WHERE last_started IS NOT NULL",
        args: [],
      },
      { sql: 'SELECT name, owner, last_started, last_finished, last_outcome FROM schedule_part', args: [] },
    ]);
    for (const { name, owner, last_started, last_finished, last_outcome } of [...runs, ...parts]) {
      const pattern = patternOf(name);
      if (pattern === undefined) continue;
      const started = Number(last_started);
      if (started < this.#from) continue;
      const finished = last_finished !== null && Number(last_finished) >= started ? Number(last_finished) : null;
      this.#seen.set(`${name} ${owner} ${started}`, {
        name: String(name),
        late: started - turnBefore(pattern, started),
        took: finished === null || last_outcome === 'running' ? null : finished - started,
        outcome: String(last_outcome),
      });
    }
  }
}

function patternOf(name: unknown): string | undefined {
  return timetable.find((task) => task.name === name)?.pattern;
}

/** The last turn of a pattern at or before an instant. */
function turnBefore(pattern: string, at: number): number {
  let turn = at;
  for (let next = nextRun(pattern, at - LATEST_MS); next !== null && next <= at; next = nextRun(pattern, next))
    turn = next;
  return turn;
}
