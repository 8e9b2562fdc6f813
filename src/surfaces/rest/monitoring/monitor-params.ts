/** Parameters of the monitor rows (REST §6.11.2). */

import { numberAs } from '../../../../schemas/common.js';
import {
  interval,
  MONITOR_METHODS,
  MONITOR_TYPES,
  MOST_RETRIES,
  monitorKeyword,
  statusCodes,
  timeout,
} from '../../../../schemas/monitoring.js';
import { onOff } from '../../../../schemas/settings.js';
import { z } from '../../../../schemas/zod.js';
import { once } from '../../../runtime/once.js';
import { cleared, csv, ids, int, paging, text } from '../params.js';

const WORDS = ['up', 'down', 'pending', 'first', 'unknown', 'paused'] as const;

export const filter = once(() => ({
  status: csv(z.enum(WORDS))
    .default([])
    .describe('Comma-separated: up, down, pending, first (enabled, not checked yet), unknown and paused; any of them.'),
  search: text(255).optional().describe('Part of name or URL.'),
  include: ids().optional().describe('Only these sites.'),
  exclude: ids().optional().describe('All except these sites.'),
}));
export const listParams = once(() => z.object({ ...filter(), ...paging(20, 200) }));

const BEAT_CODES: Readonly<Record<string, number>> = { down: 0, up: 1, pending: 2, first: 3 };
export const beatStatus = once(() =>
  z.preprocess((value) => {
    const word = typeof value === 'string' ? value.toLowerCase() : value;
    if (typeof word === 'string' && Object.hasOwn(BEAT_CODES, word)) return BEAT_CODES[word];
    return typeof word === 'string' && /^\d$/.test(word) ? Number(word) : value;
  }, numberAs('must be down, up, pending or first').int().min(0).max(3)),
);

/** A global value; null or "" resets it to the default. */
function common<T>(schema: z.ZodType<T, z.ZodTypeDef, unknown>, about: string) {
  return cleared.value(schema.nullable()).optional().describe(about);
}

const FOLLOW = 'useglobal';

/** A value of one monitor; `useglobal`, null or "" follow the global one. */
function own<T>(schema: z.ZodType<T, z.ZodTypeDef, unknown>, about: string) {
  const follows = (value: unknown) =>
    value === '' || value === FOLLOW || (Array.isArray(value) && value.includes(FOLLOW));
  // The word is an alternative of the schema for its errors and its description: it never arrives there.
  const value = z.union([schema.nullable(), z.literal(FOLLOW).transform(() => null)]);
  return z
    .preprocess((sent) => (follows(sent) ? null : sent), value)
    .optional()
    .describe(`${about} useglobal follows the global setting.`);
}

const retries = (): z.ZodType<number, z.ZodTypeDef, unknown> => int(0, MOST_RETRIES);
const ABOUT = {
  active: 'Monitor the site: 1 or 0.',
  interval: 'Between checks: 1m, 5m, 10m, 15m, 30m, 45m, 1h … 24h, or minutes.',
  timeout: 'Seconds a check may take, or a label such as 60s or 2min; 0 = no separate limit.',
  maxretries: 'Failed checks, 20 seconds apart, before the site counts as down.',
  type: 'http: the status; ping: only the headers; keyword: a word in the page.',
  method: 'HTTP method; the keyword type uses get instead of head.',
  expected_status: 'HTTP codes that count as up, comma-separated or an array.',
  keyword: 'Word to find with the keyword type, case-insensitive.',
};
export const ownSettings = once(() => ({
  active: own(onOff(), ABOUT.active),
  interval: own(interval(), ABOUT.interval),
  timeout: own(timeout(), ABOUT.timeout),
  maxretries: own(
    z.preprocess((value) => (value === -1 || value === '-1' ? null : value), retries().nullable()) as z.ZodType<
      number | null,
      z.ZodTypeDef,
      unknown
    >,
    ABOUT.maxretries,
  ),
  type: own(z.enum(MONITOR_TYPES), ABOUT.type),
  method: own(z.enum(MONITOR_METHODS), ABOUT.method),
  expected_status: own(
    z.preprocess(
      (value) => (typeof value === 'string' && value.includes('useglobal') ? null : value),
      statusCodes().nullable(),
    ),
    ABOUT.expected_status,
  ),
  keyword: own(monitorKeyword(), ABOUT.keyword),
}));
export const commonSettings = once(() => ({
  active: common(onOff(), ABOUT.active),
  interval: common(interval(), ABOUT.interval),
  timeout: common(timeout(), ABOUT.timeout),
  maxretries: common(retries(), ABOUT.maxretries),
  type: common(z.enum(MONITOR_TYPES), ABOUT.type),
  method: common(z.enum(MONITOR_METHODS), ABOUT.method),
  expected_status: common(statusCodes(), ABOUT.expected_status),
  keyword: common(monitorKeyword(), ABOUT.keyword),
}));
