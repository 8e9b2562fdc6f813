/**
 * Routes of the time tracker: tasks, timers, clients, buckets (REST §6.9). Those not in the routes document: extra.ts.
 */

import { PAYMENT_STATUSES, RECURRENCES, TASK_ORDERS, TASK_STATUSES, taskFields } from '../../../../schemas/time.js';
import { z } from '../../../../schemas/zod.js';
import type { Ctx } from '../../../domain/context.js';
import { getBucket, listBuckets } from '../../../domain/time-tracker/buckets.js';
import { getTrackerClient, listTrackerClients } from '../../../domain/time-tracker/clients.js';
import { timeSettings } from '../../../domain/time-tracker/settings.js';
import { addTask, changeTask, getTask, listTasksOfDays } from '../../../domain/time-tracker/tasks.js';
import { stepTimer, type TimerStep } from '../../../domain/time-tracker/timer.js';
import { taskView } from '../../../domain/time-tracker/views.js';
import { ServiceError } from '../../../runtime/errors.js';
import { once } from '../../../runtime/once.js';
import { clientOf, clientPath } from '../clients/path.js';
import { cleared, csv, day, flag, ids, int, paging, sitePath, text } from '../params.js';
import { listRoute, ofModule, type Route, route } from '../route.js';
import { listOf, recordOf, withSite, writtenOf } from '../schemas/records.js';
import {
  bucketDetailShape,
  bucketShape,
  taskDetailShape,
  taskShape,
  tasksShape,
  timeSettingsShape,
  trackerClientShape,
} from '../schemas/time-tracker.js';
import { simpleSite, siteOf } from '../sites/references.js';

export const TIME_MODULE = 'time-tracker' as const;
const MODULE = TIME_MODULE;

export const taskPath = once(() => ({ task_id: int(1).describe('Id of the task.') }));
export const bucketPath = once(() => ({ bucket_id: int(1).describe('Id of the bucket.') }));
export const DIGITS = { task_id: /^\d+$/, bucket_id: /^\d+$/ };

const taskFilters = once(() => ({
  status: csv(z.enum(TASK_STATUSES)).optional().describe('Comma-separated; any of them.'),
  payment_status: csv(z.enum(PAYMENT_STATUSES)).optional().describe('Comma-separated; any of them.'),
  dtsstart: day().optional().describe('With dtsstop: tasks with time between the two days, inclusive.'),
  dtsstop: day().optional().describe('See dtsstart.'),
  client_id: int(1).optional(),
  site_id: int(1).optional(),
  bucket_id: int(1).optional(),
  search: text(255).optional().describe('Part of title or description.'),
  ...paging(20, 100),
  order: z.enum(['asc', 'desc']).default('desc'),
  orderby: z.enum(TASK_ORDERS).default('created_at'),
}));
const listParams = once(() => z.object(taskFilters()));

async function tasksAnswer(ctx: Ctx, params: z.output<ReturnType<typeof listParams>>) {
  const { dtsstart, dtsstop, page, per_page, order, orderby, ...filter } = params;
  const at = { page, perPage: per_page, order, orderby };
  const { items, summary, ...paged } = await listTasksOfDays(ctx, filter, { dtsstart, dtsstop }, at);
  return { ...paged, data: items, summary };
}

const REST_CODES: Readonly<Record<string, 'svc_rest_invalid_client_id' | 'svc_rest_invalid_site_id'>> = {
  svc_client_not_found: 'svc_rest_invalid_client_id',
  svc_site_not_found: 'svc_rest_invalid_site_id',
};

/** A client or site that a change names and that there is not, with its code there (REST §2.3). */
export async function inRestWords<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    const code = error instanceof ServiceError ? REST_CODES[error.code] : undefined;
    if (code === undefined || !(error instanceof ServiceError)) throw error;
    const { message, field, advice, data } = error;
    throw new ServiceError(code, message, {
      data,
      ...(field === undefined ? {} : { field }),
      ...(advice === undefined ? {} : { advice }),
    });
  }
}

function timerRow(step: TimerStep, summary: string, message: string): Route {
  return route({
    on: `POST /time-tracker/tasks/{task_id}/${step}`,
    change: 'other',
    summary,
    where: { task_id: DIGITS.task_id },
    params: () => z.object(taskPath()),
    returns: () => writtenOf(taskShape()),
    answer: async ({ task_id }, ctx) => {
      const task = await stepTimer(ctx, task_id, step);
      return { message, data: await taskView(ctx, task) };
    },
  });
}

export const time = ofModule(MODULE, [
  route({
    on: 'GET /time-tracker',
    summary: 'List tasks, with totals over all matches',
    params: listParams,
    returns: tasksShape,
    answer: (params, ctx) => tasksAnswer(ctx, params),
  }),
  route({
    on: 'GET /time-tracker/settings',
    summary: 'Read the global settings of the time tracker',
    params: () => z.object({}),
    returns: () => recordOf(timeSettingsShape()),
    answer: async (_params, ctx) => ({ data: await timeSettings(ctx, null) }),
  }),
  route({
    on: 'GET /time-tracker/tasks/{task_id}',
    summary: 'Read a task with its entries',
    where: { task_id: DIGITS.task_id },
    params: () => z.object(taskPath()),
    returns: () => recordOf(taskDetailShape()),
    answer: async ({ task_id }, ctx) => ({ data: await getTask(ctx, task_id) }),
  }),
  route({
    on: 'POST /time-tracker/tasks/add',
    change: 'other',
    body: 'required',
    fails: [404],
    summary: 'Add a task',
    description: 'With start, its timer runs immediately. With time entered in duration_seconds, the task is paused.',
    params: () =>
      z.object({
        ...z.object(taskFields()).partial().shape,
        title: taskFields().title,
        start: flag().default(false).describe('True starts the timer immediately.'),
      }),
    returns: () => writtenOf(taskShape()),
    answer: async ({ start, ...input }, ctx) => {
      const added = await inRestWords(addTask(ctx, input));
      const task = start ? await stepTimer(ctx, added.id, 'start') : added;
      return {
        message: start ? 'The task was added and its timer is running.' : 'The task was added.',
        data: await taskView(ctx, task),
      };
    },
  }),
  route({
    on: 'PUT /time-tracker/tasks/{task_id}/edit',
    change: 'other',
    body: 'required',
    summary: 'Change a task',
    description:
      'A running task keeps its timer_mode and bucket_id; on a completed one, only title, description, payment_status and hourly_price can change.',
    where: { task_id: DIGITS.task_id },
    params: () =>
      z.object({
        ...z.object(taskFields()).partial().shape,
        payment_status: cleared.setting(taskFields().payment_status, 'unbilled').optional(),
        ...taskPath(),
      }),
    returns: () => writtenOf(taskShape()),
    answer: async ({ task_id, ...change }, ctx) => {
      const task = await inRestWords(changeTask(ctx, task_id, change));
      return { message: 'The task was changed.', data: await taskView(ctx, task) };
    },
  }),
  timerRow('start', 'Start or resume the timer', 'The timer is running.'),
  timerRow('pause', 'Pause the timer', 'The timer is paused.'),
  timerRow('stop', 'Stop the timer and complete the task', 'The task is completed.'),
  listRoute({
    on: 'GET /time-tracker/clients',
    summary: 'List clients with the time worked for them',
    params: () =>
      z.object({
        search: text(255).optional().describe('Part of name or e-mail.'),
        include: ids().optional(),
        exclude: ids().optional(),
        ...paging(20, 100),
      }),
    returns: () => listOf(trackerClientShape()),
    list: ({ page, per_page, ...filter }, ctx) => listTrackerClients(ctx, filter, page, per_page),
  }),
  route({
    on: 'GET /time-tracker/clients/{id_or_email}',
    summary: 'Read a client with the time worked for it',
    params: () => z.object(clientPath()),
    returns: () => recordOf(trackerClientShape()),
    answer: async ({ id_or_email }, ctx) => {
      const { id } = await clientOf(ctx, id_or_email);
      return { data: await getTrackerClient(ctx, id) };
    },
  }),
  route({
    on: 'GET /time-tracker/clients/{id_or_email}/settings',
    summary: 'Read the settings in force for a client',
    params: () => z.object(clientPath()),
    returns: () => recordOf(timeSettingsShape()),
    answer: async ({ id_or_email }, ctx) => {
      const { id } = await clientOf(ctx, id_or_email);
      return { data: await timeSettings(ctx, id) };
    },
  }),
  route({
    on: 'GET /time-tracker/clients/{id_or_email}/tasks',
    summary: 'List the tasks of a client',
    params: () => listParams().omit({ client_id: true }).extend(clientPath()),
    returns: tasksShape,
    answer: async ({ id_or_email, ...params }, ctx) => {
      const { id } = await clientOf(ctx, id_or_email);
      return tasksAnswer(ctx, { ...params, client_id: id });
    },
  }),
  route({
    on: 'GET /time-tracker/clients/{id_or_email}/buckets',
    summary: 'List the hour buckets that cover a client',
    params: () => z.object({ ...clientPath(), ...paging(20, 100) }),
    returns: () => listOf(bucketShape()),
    answer: async ({ id_or_email, page, per_page }, ctx) => {
      const { id } = await clientOf(ctx, id_or_email);
      const { items, ...paged } = await listBuckets(ctx, { client_id: id }, page, per_page);
      return { ...paged, data: items };
    },
  }),
  route({
    on: 'GET /time-tracker/sites/{id_or_domain}/tasks',
    summary: 'List the tasks for a site',
    params: () => listParams().omit({ site_id: true }).extend(sitePath()),
    returns: () => tasksShape().extend(withSite()),
    answer: async ({ id_or_domain, ...params }, ctx) => {
      const site = await siteOf(ctx, id_or_domain);
      return { ...(await tasksAnswer(ctx, { ...params, site_id: site.id })), site: await simpleSite(ctx, site) };
    },
  }),
  listRoute({
    on: 'GET /time-tracker/buckets',
    summary: 'List hour buckets',
    params: () =>
      z.object({
        client_id: int(1).optional().describe('Only buckets that cover this client.'),
        search: text(255).optional().describe('Part of the title.'),
        recurrence: z.enum(RECURRENCES).optional(),
        ...paging(20, 100),
      }),
    returns: () => listOf(bucketShape()),
    list: ({ page, per_page, ...filter }, ctx) => listBuckets(ctx, filter, page, per_page),
  }),
  route({
    on: 'GET /time-tracker/buckets/{bucket_id}',
    summary: 'Read an hour bucket with its task ids',
    where: { bucket_id: DIGITS.bucket_id },
    params: () => z.object(bucketPath()),
    returns: () => recordOf(bucketDetailShape()),
    answer: async ({ bucket_id }, ctx) => ({ data: await getBucket(ctx, bucket_id) }),
  }),
]);
