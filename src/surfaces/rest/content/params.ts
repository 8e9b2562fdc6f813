/** Filters that posts and comments share (REST §3.2). */

import { z } from '../../../../schemas/zod.js';
import { once } from '../../../runtime/once.js';
import type { InnerCodes } from '../parameter-errors.js';
import { csv, day, ids } from '../params.js';

const none = <T>(): T[] => [];

export const contentChoice = once(() => ({
  websites: csv(z.union([z.string().max(2048), z.number().int()]))
    .default(none)
    .describe('Ids or domains of sites, separated by commas.'),
  groups: csv(z.union([z.string().max(255), z.number().int().transform(String)]))
    .default(none)
    .describe('Names or ids of tags, separated by commas.'),
  clients: ids().default(none).describe('Ids of clients, separated by commas.'),
}));

export const dayRange = once(() => ({
  dtsstart: day().optional().describe("First day, YYYY-MM-DD in the dashboard's time zone; needs dtsstop."),
  dtsstop: day().optional().describe('Last day, inclusive.'),
}));

const dayCode = (reason: string) => (reason === 'is not a real date' ? 'invalid_date_value' : 'invalid_date_format');

const TIME_CODES: Readonly<Record<string, string>> = {
  'is not a real date': 'invalid_datetime_date',
  'is not a real time': 'invalid_datetime_time',
};
const timeCode = (reason: string) => TIME_CODES[reason] ?? 'invalid_datetime_format';

/** Codes of days and times that are none (REST §6.12). */
export const DATE_CODES: InnerCodes = {
  dtsstart: dayCode,
  dtsstop: dayCode,
  post_date: timeCode,
  post_date_gmt: timeCode,
};
