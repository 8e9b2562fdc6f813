/** Schemas of the time tracker (REST §6.9): tasks, buckets and settings, as callers send them. */

import { once } from '../src/runtime/once.js';
import { int, plainText } from './common.js';
import { calendarDate, price } from './cost.js';
import { listMembers } from './lists.js';
import { z } from './zod.js';
import { bounded } from './zod-internals.js';

export const TIMER_MODES = ['count_up', 'count_down'] as const;
export const TASK_STATUSES = ['idle', 'running', 'paused', 'completed'] as const;
export const TASK_ORDERS = ['created_at', 'updated_at', 'started_at', 'title', 'id'] as const;
export const PAYMENT_STATUSES = [
  'unbilled',
  'draft',
  'sent',
  'pending',
  'paid',
  'partially_paid',
  'overdue',
  'canceled',
  'disputed',
  'refunded',
  'write_off',
] as const;
export const RECURRENCES = ['none', 'weekly', 'monthly', 'quarterly', 'yearly'] as const;
const ROUNDING_MINUTES = [1, 5, 6, 10, 15, 30, 60] as const;
const CURRENCY_POSITIONS = ['left', 'right', 'left_space', 'right_space'] as const;

/** A year of hours: more on one task is a typing error. */
const MAX_SECONDS = 366 * 24 * 3600;

/** Empty text means no id, as a form sends it. */
const optionalId = once(() => z.preprocess((value) => (value === '' ? null : value), int(1).nullable()));

const optionalPrice = once(() => z.preprocess((value) => (value === '' ? null : value), price().nullable()));

const title = once(() => plainText(255).pipe(z.string().min(1, 'must contain at least one visible character')));
const ids = (of: string) =>
  z
    .preprocess((value) => (value === null ? [] : listMembers(value)), bounded(z.array(int(1)).max(1000)))
    .transform((list) => [...new Set(list)])
    .describe(`Ids of ${of}, as a list or comma-separated; replaces the current ones.`);

export const taskFields = once(() => ({
  title: title().describe('What is done.'),
  description: plainText(65_535).nullable().describe('Free text.'),
  client_id: optionalId().describe('Client the time is for; default: the client of the first site.'),
  site_ids: ids('sites'),
  bucket_id: optionalId().describe('Hour bucket that the time is taken from; it must cover the client.'),
  timer_mode: z.enum(TIMER_MODES).describe('count_down shows the time left in the bucket, and needs one.'),
  hourly_price: optionalPrice().describe('Decimal; default: from the bucket, then from the settings.'),
  payment_status: z.enum(PAYMENT_STATUSES),
  duration_seconds: int(0, MAX_SECONDS).describe("Time already worked, entered by hand; replaces the task's time."),
}));

export const bucketFields = once(() => ({
  title: title().describe('Name of the bucket.'),
  description: plainText(65_535).nullable().describe('Free text.'),
  client_ids: ids('clients it covers; none = every client'),
  hours: price()
    .refine((text) => Number(text) > 0, 'must be more than 0')
    .describe('Hours of one period, decimal.'),
  recurrence: z.enum(RECURRENCES).describe('How often the hours reset.'),
  hourly_price: optionalPrice().describe('Decimal; hourly price of its tasks. 0 = from the settings.'),
  starts_on: calendarDate().describe('First day of the first period, YYYY-MM-DD.'),
}));

const separator = once(() =>
  z
    .string()
    .length(1, 'must be one character')
    .regex(/^\P{Cc}*$/u, 'must not be a control character'),
);

export const timeSettings = once(() => ({
  timer_mode: z.enum(TIMER_MODES).nullable(),
  currency_symbol: plainText(8).nullable(),
  currency_position: z.enum(CURRENCY_POSITIONS).nullable(),
  thousand_separator: separator().nullable(),
  decimal_separator: separator().nullable(),
  decimals: int(0, 4).nullable(),
  rounding_enabled: z.preprocess((value) => FLAGS.get(value) ?? value, z.boolean().nullable()),
  rounding_direction: z.enum(['nearest', 'up', 'down']).nullable(),
  rounding_minutes: int(1, 60)
    .refine((minutes) => (ROUNDING_MINUTES as readonly number[]).includes(minutes), 'must be 1, 5, 6, 10, 15, 30 or 60')
    .nullable(),
  hourly_price: optionalPrice(),
}));

const FLAGS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [1, true],
  ['1', true],
  ['true', true],
  ['yes', true],
  [0, false],
  ['0', false],
  ['false', false],
  ['no', false],
]);
