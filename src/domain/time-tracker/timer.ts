/** The timer's state machine (REST §6.9.2). All times are the server's; all state is in the database. */

import type { TaskRow, TaskStatus } from '../../store/time-tracker/tasks.js';
import type { Ctx } from '../context.js';
import { withStorageError } from '../storage-messages.js';
import { remainingSeconds } from './buckets.js';
import { findTask, transition } from './tasks.js';

export type TimerStep = 'start' | 'pause' | 'stop';

const FROM: Record<TimerStep, readonly TaskStatus[]> = {
  start: ['idle', 'paused'],
  pause: ['running'],
  stop: ['running', 'paused'],
};

/** Performs the step or throws `svc_time_tracker_invalid_transition` with `data.status_from`. */
export async function stepTimer(ctx: Ctx, id: number, step: TimerStep): Promise<TaskRow> {
  const task = await findTask(ctx, id);
  if (!FROM[step].includes(task.status)) throw refused(step, task.status);
  const allowance = step === 'start' ? await allowanceOf(ctx, task) : null;
  const now = ctx.clock.now();
  const done = await withStorageError('svc_operation_failed', 'The timer was not changed.', () =>
    step === 'start'
      ? ctx.store.timeTasks.start(id, allowance, now)
      : ctx.store.timeTasks.halt(id, FROM[step], step === 'pause' ? 'paused' : 'completed', now),
  );
  const after = await findTask(ctx, id);
  // Another call was faster: the step is judged by the state it left.
  if (!done) throw refused(step, after.status);
  ctx.events.emit({ name: `task.${NAME[step]}`, facts: { task_id: id, title: after.title } });
  return after;
}

const NAME = { start: 'started', pause: 'paused', stop: 'completed' } as const satisfies Record<TimerStep, string>;

/**
 * The start value of a count_down. Time logged on the task before its first start was already deducted from the bucket,
 * and `remaining` deducts it again, so it is added here.
 */
async function allowanceOf(ctx: Ctx, task: TaskRow): Promise<number | null> {
  if (task.timer_mode !== 'count_down' || task.allowance !== null || task.bucket_id === null) return null;
  const left = await remainingSeconds(ctx, [task.bucket_id]);
  return (left.get(task.bucket_id) ?? 0) + task.duration_seconds;
}

function refused(step: TimerStep, status: TaskStatus) {
  return transition(status, `A task that is ${status} cannot be ${PAST[step]}.`);
}

const PAST: Record<TimerStep, string> = { start: 'started', pause: 'paused', stop: 'stopped' };
