import { taskId, timeTask } from '../../schemas/time-tools.js';
import { z } from '../../schemas/zod.js';
import { requireModule } from '../../src/domain/settings/modules.js';
import { taskEntry } from '../../src/domain/time-tracker/entries.js';
import { stepTimer } from '../../src/domain/time-tracker/timer.js';
import { taskView } from '../../src/domain/time-tracker/views.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/set-timer-v1',
  title: 'Start or stop a timer',
  about: 'Starts, pauses or stops the timer of a task. A stopped task is completed.',
  effect: 'write',
  change: 'other',
  idempotent: false,

  input: () => z.object({ task_id: taskId(), step: z.enum(['start', 'pause', 'stop']).describe('stop completes it.') }),

  output: timeTask,

  async handle({ task_id, step }, ctx) {
    requireModule(ctx, 'time-tracker');
    return taskEntry(await taskView(ctx, await stepTimer(ctx, task_id, step)));
  },
});
