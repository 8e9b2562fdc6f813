import { int, list, paged, paging } from '../../schemas/common.js';
import { calendarDate } from '../../schemas/cost.js';
import { searchText } from '../../schemas/search.js';
import { PAYMENT_STATUSES, TASK_STATUSES } from '../../schemas/time.js';
import { clientId, timeSums, timeTask } from '../../schemas/time-tools.js';
import { z } from '../../schemas/zod.js';
import { requireModule } from '../../src/domain/settings/modules.js';
import { taskEntry } from '../../src/domain/time-tracker/entries.js';
import { listTasksOfDays } from '../../src/domain/time-tracker/tasks.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-time-tasks-v1',
  title: 'List tasks with their time',
  about: 'Lists time tracker tasks, newest first, with totals over all matches.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      client_id: clientId(),
      site_id: int(1).optional().describe('Only of this site.'),
      status: list(z.enum(TASK_STATUSES)).default([]).describe('Any of them.'),
      payment_status: list(z.enum(PAYMENT_STATUSES)).default([]).describe('Any of them.'),
      start_date: calendarDate().optional().describe('With time since this day; needs end_date.'),
      end_date: calendarDate().optional().describe('Last day, inclusive.'),
      search: searchText().describe('Part of title or description.'),
      ...paging(20, 100),
    }),

  output: () =>
    z.object({
      tasks: z.array(timeTask()),
      summary: timeSums().describe('Over all matches.'),
      ...paged(),
    }),

  async handle({ page, per_page, start_date, end_date, ...filter }, ctx) {
    requireModule(ctx, 'time-tracker');
    const at = { page, perPage: per_page, order: 'desc' as const, orderby: 'created_at' as const };
    const days = { dtsstart: start_date, dtsstop: end_date };
    const { items, summary, total } = await listTasksOfDays(ctx, filter, days, at);
    return { tasks: items.map(taskEntry), summary, total, page, per_page };
  },
});
