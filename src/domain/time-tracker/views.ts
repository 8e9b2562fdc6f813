/** Formats tasks and their totals. */

import { timestampOf } from '../../runtime/iso-time.js';
import type { PriceGroup, TaskRow } from '../../store/time-tracker/tasks.js';
import type { Ctx } from '../context.js';
import { decimal, over, plus, rounded, times, ZERO } from '../costs/money.js';
import { remainingSeconds } from './buckets.js';

export type TaskView = Awaited<ReturnType<typeof taskViews>>[number];

export function summaryOf(groups: readonly PriceGroup[]) {
  const sum = (pick: (group: PriceGroup) => number) => groups.reduce((total, group) => total + pick(group), 0);
  return {
    duration_seconds: sum((group) => group.duration_seconds),
    billable_seconds: sum((group) => group.billable_seconds),
    total_price: priceOf(groups),
  };
}

/** The price of the hours of some groups, rounded once. */
export function priceOf(groups: readonly PriceGroup[]): number {
  const parts = groups.map((group) => over(times(decimal(group.hourly_price), group.billable_seconds), 3600));
  return rounded(parts.reduce(plus, ZERO));
}

export async function taskView(ctx: Ctx, task: TaskRow): Promise<TaskView> {
  const [view] = await taskViews(ctx, [task]);
  return view as TaskView;
}

export async function taskViews(ctx: Ctx, tasks: readonly TaskRow[]) {
  // Before its first start a count_down shows what the bucket has left now; afterwards, what it had left then.
  const waiting = new Set(
    tasks.flatMap((task) =>
      task.timer_mode === 'count_down' && task.allowance === null && task.bucket_id !== null ? [task.bucket_id] : [],
    ),
  );
  const left = await remainingSeconds(ctx, [...waiting]);
  return tasks.map((task) => {
    const { allowance, running_since: _since, ...row } = task;
    const budget = allowance ?? (task.bucket_id === null ? null : (left.get(task.bucket_id) ?? null));
    const counting = task.timer_mode === 'count_down' && budget !== null;
    return {
      ...row,
      hourly_price: Number(task.hourly_price),
      total_price: rounded(over(times(decimal(task.hourly_price), task.billable_seconds), 3600)),
      remaining_seconds: counting ? budget - (allowance === null ? 0 : task.duration_seconds) : null,
      started_at: task.started_at === null ? null : timestampOf(task.started_at),
      completed_at: task.completed_at === null ? null : timestampOf(task.completed_at),
      created_at: timestampOf(task.created_at),
      updated_at: timestampOf(task.updated_at),
    };
  });
}
