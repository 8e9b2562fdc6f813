/** Schemas of the time tracker as assistants read and write it. */

import { once } from '../src/runtime/once.js';
import { id, int, plainText, timestamp } from './common.js';
import { PAYMENT_STATUSES, RECURRENCES, TASK_STATUSES, taskFields } from './time.js';
import { z } from './zod.js';

const whole = () => z.number().int();
const seconds = () => whole();

export const taskId = () => id().describe('From list-time-tasks-v1.');

export const timeTask = once(() =>
  z.object({
    id: whole(),
    title: z.string(),
    description: z.string().optional(),
    client_id: whole().nullable(),
    site_ids: z.array(whole()),
    bucket_id: whole().nullable(),
    status: z.enum(TASK_STATUSES),
    payment_status: z.enum(PAYMENT_STATUSES),
    hourly_price: z.number(),
    duration_seconds: seconds().describe('A running timer up to now.'),
    billable_seconds: seconds().describe('After rounding.'),
    total_price: z.number(),
    updated_at: timestamp(),
  }),
);

export const timeSums = once(() =>
  z.object({
    duration_seconds: seconds(),
    billable_seconds: seconds(),
    total_price: z.number(),
  }),
);

export const timeClient = once(() =>
  z.object({
    id: whole(),
    name: z.string(),
    tasks_count: whole(),
    running_tasks: whole(),
    billable_seconds: seconds(),
    billed_total: z.number(),
    unbilled_total: z.number(),
    last_activity_at: timestamp().nullable(),
  }),
);

export const timeBucket = once(() =>
  z.object({
    id: whole(),
    title: z.string(),
    client_ids: z.array(whole()).describe('Empty = every client.'),
    hours: z.number().describe('Of one period.'),
    recurrence: z.enum(RECURRENCES),
    used_seconds: seconds(),
    remaining_seconds: seconds().describe('Negative when more was used.'),
    period_start: z.string().nullable(),
    period_end: z.string().nullable(),
  }),
);

export const taskWrite = once(() => ({
  // As `taskFields.title`, but without a pipe, which no published schema shows.
  title: plainText(255)
    .refine((text) => text !== '', 'must contain at least one visible character')
    .describe('What is done.'),
  description: taskFields().description.describe('Free text.'),
  client_id: taskFields().client_id.describe("Default: the first site's client."),
  site_ids: taskFields().site_ids.describe('Ids of sites; replaces.'),
  bucket_id: taskFields().bucket_id.describe('Hour bucket it is taken from.'),
  hourly_price: taskFields().hourly_price.describe("Decimal; default: the bucket's or the settings'."),
  payment_status: taskFields().payment_status.describe('Whether it is billed and paid.'),
  duration_seconds: taskFields().duration_seconds.describe('Time already worked; replaces.'),
}));

export const clientId = () => int(1).optional().describe('Only of this client.');
