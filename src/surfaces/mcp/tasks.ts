/**
 * The tasks extension of 2026-07-28: a call whose work goes on in the background answers a task, which is the job or the
 * rollout itself. So tasks outlive the process and every connection, and nothing is kept for them.
 */

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from '../../../schemas/zod.js';
import { type EndedJob, type JobTask, jobTask, type SiteItem } from '../../domain/actions/job-task.js';
import { RUN_DAYS } from '../../domain/retention/delete-expired.js';
import { defineOperation } from '../../operation/operation.js';
import { asServiceError, ServiceError } from '../../runtime/errors.js';
import type { Participant } from './call-deduplication.js';
import type { ToolRegistry } from './registry.js';
import type { JsonObject } from './tool-result.js';

const EXTENSION = 'io.modelcontextprotocol/tasks';
/** The member of `capabilities.extensions` that declares it. */
export const TASKS = { [EXTENSION]: {} };

const JOB_STATUS = 'svc/get-batch-job-status-v1';
/** The ids of jobs and rollouts. */
const TASK_ID = /^[a-z]+_[0-9a-f-]{36}$/;
const JOB_POLL_MS = 5000;
/** Waves soak for an hour unless their plan says otherwise. */
const ROLLOUT_POLL_MS = 60_000;
const DAY_MS = 86_400_000;

/** Parameters of all its methods: the SDK takes the responses of `tasks/update` away. */
export const taskParams = z.object({ taskId: z.string() });

/** A task as its creation answers it; `result` once it is completed. */
interface Task {
  taskId: string;
  status: 'working' | 'completed' | 'cancelled';
  statusMessage: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number | null;
  pollIntervalMs: number;
  result?: CallToolResult;
}

/** @param capabilities as the client declared them with its request */
export function declaresTasks(capabilities: unknown): boolean {
  const { extensions } = (capabilities ?? {}) as { extensions?: Record<string, unknown> | null };
  return extensions?.[EXTENSION] !== undefined;
}

/** Data of the error (-32021) for a client that did not declare the extension. */
export const TASKS_REQUIRED = { requiredCapabilities: { extensions: TASKS } };

/** Thrown when there is no such task for this caller: whether it is hidden, or was deleted, is not told. */
export class UnknownTask extends Error {
  constructor() {
    super('There is no task with this id.');
    this.name = 'UnknownTask';
  }
}

/** A job with everything that answers are made of. In no list: a task is read by a method of the protocol. */
const READ_JOB = defineOperation({
  id: 'svc/get-task-v1',
  title: 'Read a task',
  about: 'Reads a job for the call that queued it.',
  run: 'GET',
  effect: 'read',
  input: () => z.object({ job_id: z.string() }),
  output: () => z.object({ job: z.unknown() }),
  handle: async ({ job_id }, ctx) => ({ job: await jobTask(ctx, job_id) }),
});

/** The error entries of calls that answer sites. */
function siteErrors({ undone, errors, counts }: EndedJob, withItems = false) {
  const entries = withItems ? [...undone, ...errors] : errors;
  return {
    errors: entries.map((entry) => ({ ...entry, identifier: entry.site_id, site_id: entry.site_id || null })),
    total_errors: counts.errors + (withItems ? counts.undone : 0),
  };
}

/** The answer of a call that lists the sites on which it succeeded, under this name. */
const listing = (name: string) => (job: EndedJob) => ({
  [name]: job.sites,
  [`total_${name}`]: job.succeeded,
  ...siteErrors(job),
});

/** Members of what was updated, besides the list or the counts of it. */
function updates({ run_id, done, undone, errors, counts }: EndedJob) {
  const doubtful = done.filter(({ findings }) => Array.isArray(findings) && findings.length > 0);
  const total_errors = counts.undone + counts.errors;
  const whole = (entry: SiteItem) => ({ type: 'site', slug: '', ...entry });
  return {
    ...(run_id === '' ? {} : { run_id }),
    errors: [...undone, ...errors.map(whole)],
    ...(doubtful.length === 0 ? {} : { suspects: doubtful }),
    summary: { total_updated: counts.done, total_errors, sites_updated: counts.sites },
    total_errors,
  };
}

const listedUpdates = (job: EndedJob) => ({ updated: job.done, ...updates(job) });

/**
 * What a call would have answered, had it been done at once, by its operation; without `queued`. A call of another
 * operation gets no task: what undo-change-v1 restored before it queued the rest, its job does not know.
 */
const ANSWERS: Readonly<Record<string, (job: EndedJob) => JsonObject>> = {
  'svc/sync-sites-v1': listing('synced'),
  'svc/reconnect-sites-v1': listing('reconnected'),
  'svc/disconnect-sites-v1': listing('disconnected'),
  'svc/suspend-sites-v1': listing('suspended'),
  'svc/unsuspend-sites-v1': listing('unsuspended'),
  'svc/check-sites-v1': (job) => ({
    results: [...job.done, ...job.undone],
    summary: {
      total_checked: job.counts.done + job.counts.undone,
      reachable: job.counts.done,
      unreachable: job.counts.undone,
    },
    ...siteErrors(job),
  }),
  'svc/switch-plugin-v1': (job) => ({
    plugin: job.plugin,
    switched: job.sites.map(({ id, url }) => ({ id, url })),
    total_switched: job.succeeded,
    ...siteErrors(job, true),
  }),
  'svc/run-updates-v1': listedUpdates,
  'svc/retry-run-v1': listedUpdates,
  'svc/update-all-v1': (job) => {
    const { core = 0, plugin = 0, theme = 0, translation = 0 } = job.types;
    return { updated: { core, plugins: plugin, themes: theme, translations: translation }, ...updates(job) };
  },
};

/** Reads and ends tasks. Works for every caller under the caller's own rights. */
export class Tasks {
  readonly #registry: ToolRegistry;

  constructor(registry: ToolRegistry) {
    this.#registry = registry;
  }

  /** The task that the result of a call becomes; undefined for a call that has been done, or cannot be followed. */
  async created({ structuredContent: answer = {} }: CallToolResult, caller: Participant): Promise<Task | undefined> {
    const { queued, job_id, rollout_id, already_started, errors } = answer;
    const job = queued === true ? job_id : undefined;
    // Only a start answers both.
    const id = typeof already_started === 'boolean' ? rollout_id : job;
    if (typeof id !== 'string' || namesNothing(errors)) return undefined;
    try {
      const { result: _, ...task } = await this.get(id, caller);
      return task;
    } catch {
      return undefined;
    }
  }

  /** Rejects with UnknownTask unless there is such a task for this caller. */
  async get(id: string, caller: Participant): Promise<Task> {
    if (!TASK_ID.test(id)) throw new UnknownTask();
    try {
      return id.startsWith('rollout_') ? await this.#rollout(id, caller) : await this.#job(id, caller);
    } catch (error) {
      throw error instanceof ServiceError && error.status < 500 ? new UnknownTask() : error;
    }
  }

  /** Ends a task that is at work; one that has ended stays as it is. Rejects as `get`, and with ServiceError. */
  async cancel(id: string, caller: Participant): Promise<void> {
    const { status } = await this.get(id, caller);
    if (status !== 'working') return;
    const [operation, input] = id.startsWith('rollout_')
      ? ['svc/control-rollout-v1', { rollout_id: id, action: 'abort' }]
      : ['svc/cancel-job-v1', { job_id: id }];
    try {
      await this.#registry.runUnshown(operation, { ...input, confirm: true }, caller);
    } catch (error) {
      // It has ended meanwhile.
      if (asServiceError(error).code !== 'svc_rest_conflict') throw error;
    }
  }

  async #job(id: string, caller: Participant): Promise<Task> {
    const job = (await this.#registry.readUnlisted(READ_JOB, JOB_STATUS, { job_id: id }, caller)).job as JobTask;
    const answer = ANSWERS[job.operation];
    if (answer === undefined) throw new UnknownTask();
    const { reason, total, succeeded, failed } = job;
    const counts = `${succeeded + failed} of ${total} ${total === 1 ? 'site' : 'sites'}, ${failed} failed.`;
    const task = {
      taskId: id,
      statusMessage: reason === '' ? counts : `${counts} ${reason}`,
      createdAt: job.queued_at,
      lastUpdatedAt: job.changed_at,
      ttlMs: job.kept_ms,
      pollIntervalMs: JOB_POLL_MS,
    };
    if (job.state === 'working' || job.state === 'cancelled') return { ...task, status: job.state };
    const result = await this.#registry.resultOf(job.operation, { queued: false, ...answer(job) }, caller);
    const said = reason === '' ? [] : [`svc_job_timeout: ${reason}`];
    return { ...task, status: 'completed', result: job.state === 'failed' ? failure(result, said) : result };
  }

  async #rollout(id: string, caller: Participant): Promise<Task> {
    const input = { rollout_id: id, per_page: 1 };
    const rollout = (await this.#registry.read('svc/get-rollout-v1', input, caller, true)) as unknown as RolloutFacts;
    const { state, reason, summary, next, started_at, ended_at, approval_wave, waves } = rollout;
    const sum = (member: 'sites' | 'updates') => waves.reduce((total, wave) => total + wave[member], 0);
    const approval = approval_wave === null ? '' : 'A person approves it on the page.';
    const begun = waves.flatMap((wave) => wave.started_at ?? []);
    const ended = next === '' && state !== 'running' && state !== 'paused';
    const told = [summary, ended ? reason : next, approval].filter((part) => part !== '').join(' ');
    const task = {
      taskId: id,
      statusMessage: told,
      createdAt: started_at,
      lastUpdatedAt: [started_at, ...begun, ...(ended_at === null ? [] : [ended_at])].sort().at(-1) ?? started_at,
      ttlMs: !ended || ended_at === null ? null : Date.parse(ended_at) - Date.parse(started_at) + RUN_DAYS * DAY_MS,
      pollIntervalMs: ROLLOUT_POLL_MS,
    };
    if (!ended) return { ...task, status: 'working' };
    if (state === 'aborted') return { ...task, status: 'cancelled' };
    const counts = { waves: waves.length, sites: sum('sites'), updates: sum('updates') };
    const output = { rollout_id: id, already_started: false, state, summary: told, ...counts };
    const result = await this.#registry.resultOf('svc/start-rollout-v1', output, caller);
    return { ...task, status: 'completed', result: state === 'halted' ? failure(result, [told]) : result };
  }
}

interface RolloutFacts {
  state: 'running' | 'paused' | 'completed' | 'halted' | 'aborted';
  reason: string;
  summary: string;
  next: string;
  started_at: string;
  ended_at: string | null;
  approval_wave: number | null;
  waves: { sites: number; updates: number; started_at: string | null }[];
}

/** The job does not keep what the call says of an item that is on offer nowhere, so the answer itself has to be read. */
function namesNothing(errors: unknown): boolean {
  return Array.isArray(errors) && errors.some((entry) => (entry as { code?: unknown }).code === 'svc_no_updates');
}

/** Clients show the model the text of an error: why it is one comes first. */
function failure(result: CallToolResult, why: readonly string[]): CallToolResult {
  return {
    ...result,
    isError: true,
    content: [...why.map((text) => ({ type: 'text' as const, text })), ...result.content],
  };
}
