/** `sitefleet jobs` and `sitefleet schedule`: current work, and scheduled tasks. */

import { setTimeout as pause } from 'node:timers/promises';
import { Cron } from 'croner';
import { timetable } from '../app/schedule/timetable.js';
import { cancelJob, TIMED_OUT } from '../domain/actions/jobs.js';
import type { Config } from '../runtime/config/types.js';
import { createLeases } from '../store/cluster/leases.js';
import { createMembers } from '../store/cluster/members.js';
import { createRuns } from '../store/cluster/runs.js';
import { createJobs, type JobProgress } from '../store/jobs/jobs.js';
import { CommandError } from './command-error.js';
import { withLocalService } from './local-service.js';
import { withDatabase } from './open-database.js';
import { isoTime, type JsonFlag, printJson, printTable, say } from './output.js';
import { progressBar } from './progress.js';
import { stopSignal } from './stop.js';

const LISTED = 50;
const LOOK_EVERY_MS = 500;

export async function listJobs(config: Config, options: JsonFlag): Promise<void> {
  const jobs = await withDatabase(config, ({ db }) => createJobs(db).list(LISTED));
  const rows = jobs.map((job) => ({
    job_id: job.id,
    status: job.status,
    total: job.total,
    succeeded: job.succeeded,
    failed: job.failed,
    created_at: isoTime(job.created_at),
    completed_at: isoTime(job.completed_at),
  }));
  if (options.json === true) printJson(rows);
  else
    printTable(
      ['Job', 'Status', 'Sites', 'Succeeded', 'Failed', 'Queued', 'Ended'],
      rows.map((row) => Object.values(row)),
    );
}

/** Watches a job until it ends; exit code 1 if it failed. */
export async function watchJob(config: Config, id: string, options: JsonFlag): Promise<void> {
  const stop = stopSignal();
  await withDatabase(config, async ({ db }) => {
    const jobs = createJobs(db);
    const first = await jobs.find(id);
    if (first === undefined) throw new CommandError(`There is no job ${id}. "sitefleet jobs list" shows recent ones.`);
    const bar = progressBar(first.type, first.total);
    let shown = 0;
    let job: JobProgress = first;
    for (;;) {
      for (const processed = job.succeeded + job.failed; shown < processed; shown++) bar.step();
      if (job.completed_at !== null || stop.aborted) break;
      await pause(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
      job = (await jobs.find(id)) ?? job;
    }
    bar.stop();
    const late = { site_id: 0, code: 'svc_job_timeout', message: TIMED_OUT };
    const errors = [...(await jobs.errors(id)), ...(job.timed_out === 1 ? [late] : [])];
    if (options.json === true)
      printJson({
        job_id: id,
        status: job.status,
        total: job.total,
        succeeded: job.succeeded,
        failed: job.failed,
        errors,
      });
    else {
      say(`${job.status}: ${job.succeeded} of ${job.total} sites succeeded, ${job.failed} failed.`);
      for (const { site_id, code, message } of errors)
        say(`  ${site_id === 0 ? '' : `site ${site_id}: `}${code}: ${message}`);
    }
    if (job.status === 'failed') process.exitCode = 1;
  });
}

/** Ends a job; what it did stays. */
export async function cancelQueued(config: Config, id: string, options: JsonFlag): Promise<void> {
  const job = await withLocalService(config, (ctx) => cancelJob(ctx, id));
  if (options.json === true) printJson(job);
  else
    say(`Cancelled: ${job.succeeded} of ${job.total} sites had succeeded, ${job.failed} failed or were not finished.`);
}

export async function listSchedule(config: Config, options: JsonFlag): Promise<void> {
  const now = Date.now();
  const { runs, owner, living, parts } = await withDatabase(config, async ({ db }) => {
    const lastRuns = createRuns(db);
    return {
      living: new Set(await createMembers(db).alive(now, 'monitor')),
      runs: new Map((await lastRuns.list()).map((run) => [run.name, run])),
      owner: await createLeases(db).owner('schedule', now),
      parts: await lastRuns.parts(),
    };
  });
  const rows = timetable.map((entry) => {
    const all = entry.shared === true ? parts.filter(({ name }) => name === entry.name) : [];
    const shares = all.filter((part) => living.has(part.owner));
    const last = all[0] ?? runs.get(entry.name);
    return {
      name: entry.name,
      pattern: entry.pattern,
      last_run: isoTime(last?.last_started ?? null),
      outcome: shares.length > 1 ? `shared by ${shares.length} processes` : (last?.last_outcome ?? ''),
      next_run: new Cron(entry.pattern, { paused: true, timezone: 'UTC' }).nextRun()?.toISOString() ?? null,
      about: entry.about,
      processes: shares.map((part) => ({
        process: part.owner,
        last_run: isoTime(part.last_started),
        outcome: part.last_outcome,
      })),
    };
  });
  if (options.json === true) {
    const entries = rows.map(({ processes, ...row }) => (processes.length > 0 ? { ...row, processes } : row));
    printJson({ running_in: owner, entries });
    return;
  }
  printTable(
    ['What', 'When (UTC)', 'Last run', 'Outcome', 'Next run', 'About'],
    rows.flatMap(({ processes, ...row }) => [
      Object.values(row),
      ...(processes.length < 2
        ? []
        : processes.map((part) => ['', '', part.last_run, part.outcome, '', `in ${part.process}`])),
    ]),
  );
  say(owner === null ? 'No process is running the schedule: start "sitefleet serve".' : `Run by ${owner}.`);
}
