import { bool } from '../../schemas/common.js';
import { taskWrite, timeTask } from '../../schemas/time-tools.js';
import { z } from '../../schemas/zod.js';
import { requireModule } from '../../src/domain/settings/modules.js';
import { taskEntry } from '../../src/domain/time-tracker/entries.js';
import { addTask } from '../../src/domain/time-tracker/tasks.js';
import { stepTimer } from '../../src/domain/time-tracker/timer.js';
import { taskView } from '../../src/domain/time-tracker/views.js';
import { defineOperation } from '../../src/operation/operation.js';

const BOOKED = 'The time is recorded. paused: no timer is running; set-timer-v1 resumes or completes the task.';

export default defineOperation({
  id: 'svc/add-time-task-v1',
  title: 'Add a task',
  about: 'Adds a task to the time tracker, with time already worked or a running timer.',
  effect: 'write',
  change: 'other',
  idempotent: false,

  input: () =>
    z.object({
      ...z.object(taskWrite()).partial().shape,
      title: taskWrite().title,
      start: bool().default(false).describe('Starts the timer.'),
    }),

  output: () => timeTask().extend({ note: z.string().optional() }),

  async handle({ start, ...input }, ctx) {
    requireModule(ctx, 'time-tracker');
    const added = await addTask(ctx, input);
    const task = taskEntry(await taskView(ctx, start ? await stepTimer(ctx, added.id, 'start') : added));
    return task.status === 'paused' ? { ...task, note: BOOKED } : task;
  },
});
