/** Schemas of the time tracker records, for the interface description (REST §6.9.1). */

import {
  PAYMENT_STATUSES,
  RECURRENCES,
  timeSettings as settingFields,
  TASK_STATUSES,
  TIMER_MODES,
} from '../../../../schemas/time.js';
import { z } from '../../../../schemas/zod.js';
import { once } from '../../../runtime/once.js';
import { listOf } from './records.js';

const int = () => z.number().int();
const seconds = () => int().min(0).describe('Seconds.');
const price = () => z.number().min(0);
const moment = () => z.string().datetime();
const day = () => z.string().date();

export const taskShape = once(() =>
  z.object({
    id: int(),
    title: z.string(),
    description: z.string(),
    client_id: int().nullable(),
    site_ids: z.array(int()),
    bucket_id: int().nullable(),
    timer_mode: z.enum(TIMER_MODES),
    status: z.enum(TASK_STATUSES),
    payment_status: z.enum(PAYMENT_STATUSES),
    hourly_price: price(),
    duration_seconds: seconds().describe('Seconds worked, including a running timer up to now.'),
    billable_seconds: seconds().describe('The same after rounding.'),
    total_price: price().describe('Billable hours times the hourly price.'),
    remaining_seconds: int()
      .nullable()
      .describe('Time left for count_down, negative when exceeded; null for count_up.'),
    started_at: moment().nullable(),
    completed_at: moment().nullable(),
    created_at: moment(),
    updated_at: moment(),
  }),
);

export const taskDetailShape = once(() =>
  taskShape().extend({
    entries: z
      .array(
        z.object({
          id: int(),
          started_at: moment(),
          ended_at: moment().nullable().describe('null = running.'),
          seconds: seconds(),
        }),
      )
      .describe('Spans of time, oldest first.'),
  }),
);

export const tasksShape = once(() =>
  listOf(taskShape()).extend({
    summary: z
      .object({ duration_seconds: seconds(), billable_seconds: seconds(), total_price: price() })
      .describe('Over all matches.'),
  }),
);

export const timeSettingsShape = once(() =>
  z.object({
    timer_mode: z.enum(TIMER_MODES),
    currency_symbol: z.string(),
    currency_position: settingFields().currency_position.unwrap(),
    thousand_separator: z.string().length(1),
    decimal_separator: z.string().length(1),
    decimals: int().min(0).max(4),
    rounding_enabled: z.boolean(),
    rounding_direction: settingFields().rounding_direction.unwrap(),
    rounding_minutes: z
      .union([z.literal(1), z.literal(5), z.literal(6), z.literal(10), z.literal(15), z.literal(30), z.literal(60)])
      .describe("Minutes to which a task's time is rounded."),
    hourly_price: price(),
    source: z.enum(['global', 'client']).describe('client: the client has settings of its own.'),
  }),
);

export const trackerClientShape = once(() =>
  z.object({
    id: int(),
    name: z.string(),
    email: z.string(),
    status: z.enum(['active', 'suspended']),
    settings_source: z.enum(['global', 'client']),
    tasks_count: int().min(0),
    running_tasks: int().min(0),
    duration_seconds: seconds(),
    billable_seconds: seconds(),
    billed_total: price().describe('Of tasks sent to the client; dropped ones are left out.'),
    unbilled_total: price().describe('Of tasks whose payment_status is unbilled or draft.'),
    buckets_count: int().min(0).describe('Buckets that cover the client.'),
    last_activity_at: moment().nullable(),
  }),
);

export const bucketShape = once(() =>
  z.object({
    id: int(),
    title: z.string(),
    description: z.string(),
    client_ids: z.array(int()).describe('Clients it covers; none = every client.'),
    hours: z.number().positive().describe('Hours of one period.'),
    recurrence: z.enum(RECURRENCES),
    hourly_price: price().describe('0 = from the settings.'),
    used_seconds: seconds().describe('Billable seconds in the current period.'),
    remaining_seconds: int().describe('Seconds left in the period, negative when exceeded.'),
    overage_seconds: seconds().describe('Seconds used beyond the hours.'),
    period_start: day().nullable().describe('First day of the current period; null = it has no periods.'),
    period_end: day().nullable().describe('Last day, inclusive.'),
    tasks_count: int().min(0),
    created_at: moment(),
    updated_at: moment(),
  }),
);

export const bucketDetailShape = once(() =>
  bucketShape().extend({ tasks: z.array(int()).describe('Ids of its tasks.') }),
);

export const deletedShape = once(() => z.object({ id: int() }));
