import { confirmation } from '../../schemas/common.js';
import { siteWord } from '../../schemas/site-text.js';
import { taskId } from '../../schemas/time-tools.js';
import { z } from '../../schemas/zod.js';
import { counted } from '../../src/domain/common/question.js';
import { requireModule } from '../../src/domain/settings/modules.js';
import { deleteTask, findTask } from '../../src/domain/time-tracker/tasks.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/delete-time-task-v1',
  title: 'Delete a task',
  about: 'Deletes a task and its time.',
  effect: 'destroy',
  change: 'deletions',
  idempotent: false,

  input: () => z.object({ task_id: taskId(), ...confirmation() }),

  output: () =>
    z.object({
      deleted: z.boolean(),
      id: z.number().int(),
      title: z.string(),
      duration_seconds: z.number().int(),
      dry_run: z.boolean().optional().describe('True for a preview.'),
    }),

  question: ({ title, duration_seconds }) => ({
    text: `Delete the task ${siteWord(title)} and its ${counted(Math.round(duration_seconds / 60), 'minute')}? This cannot be undone.`,
  }),

  async preview({ task_id }, ctx) {
    requireModule(ctx, 'time-tracker');
    const { id, title, duration_seconds } = await findTask(ctx, task_id);
    return { deleted: false, dry_run: true, id, title, duration_seconds };
  },

  async handle({ task_id }, ctx) {
    const { id, title, duration_seconds } = await findTask(ctx, task_id);
    await deleteTask(ctx, task_id);
    return { deleted: true, id, title, duration_seconds };
  },
});
