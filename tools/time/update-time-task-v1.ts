import { taskId, taskWrite, timeTask } from '../../schemas/time-tools.js';
import { z } from '../../schemas/zod.js';
import { requireModule } from '../../src/domain/settings/modules.js';
import { taskEntry } from '../../src/domain/time-tracker/entries.js';
import { changeTask } from '../../src/domain/time-tracker/tasks.js';
import { taskView } from '../../src/domain/time-tracker/views.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/update-time-task-v1',
  title: 'Change a task',
  about: 'Changes the given fields of a task. Once completed: only texts, price and payment status.',
  effect: 'write',
  change: 'other',
  idempotent: true,
  replaces: true,

  input: () => z.object({ task_id: taskId(), ...z.object(taskWrite()).partial().shape }),

  output: timeTask,

  async handle({ task_id, ...change }, ctx) {
    requireModule(ctx, 'time-tracker');
    return taskEntry(await taskView(ctx, await changeTask(ctx, task_id, change)));
  },
});
