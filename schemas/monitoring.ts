/** Schemas of the monitoring defaults (REST §6.10.3, §6.11.2). */

import { once } from '../src/runtime/once.js';
import { numberAs } from './common.js';
import { listMembers } from './lists.js';
import { type Fields, field, onOff, whole } from './setting-fields.js';
import { z } from './zod.js';
import { bounded } from './zod-internals.js';

export const MONITOR_TYPES = ['http', 'ping', 'keyword'] as const;
export const MONITOR_METHODS = ['head', 'get', 'post', 'push', 'patch', 'delete', 'put', 'options'] as const;

/** Minutes between checks: 1, 5 to 45 in steps, then whole hours to a day. */
const INTERVALS = [1, 5, 10, 15, 30, 45, ...Array.from({ length: 24 }, (_, hour) => (hour + 1) * 60)];

/** `15m`, `2h`. */
export function intervalLabel(minutes: number): string {
  return minutes < 60 ? `${minutes}m` : `${minutes / 60}h`;
}

/** Minutes as a number, its text, or a label. */
export const interval = once(
  (): z.ZodType<number, z.ZodTypeDef, unknown> =>
    z.preprocess(
      (value) => {
        if (typeof value !== 'string') return value;
        const [, number, unit] = /^(\d{1,4})\s*(m|min|h)?$/i.exec(value.trim()) ?? [];
        return number === undefined ? value : Number(number) * (unit?.toLowerCase() === 'h' ? 60 : 1);
      },
      numberAs('must be minutes or a label (15m, 2h)')
        .int()
        .refine(
          (minutes) => INTERVALS.includes(minutes),
          'must be 1, 5, 10, 15, 30, 45 or whole hours up to 24, in minutes',
        ),
    ),
);

const LABELS: readonly (readonly [string, number])[] = [
  ['No limit', 0],
  ['30s', 30],
  ['45s', 45],
  ['60s', 60],
  ['90s', 90],
  ...Array.from({ length: 9 }, (_, index) => [`${index + 2}min`, (index + 2) * 60] as const),
  ...[15, 30, 45, 60, 90].map((minutes) => [`${minutes}min`, minutes * 60] as const),
];

const SECONDS: ReadonlyMap<string, number> = new Map(LABELS.map(([name, seconds]) => [name.toLowerCase(), seconds]));

/** Label for a number of seconds; the number itself if there is no label. */
export function timeoutLabel(seconds: number): string {
  return LABELS.find(([, value]) => value === seconds)?.[0] ?? `${seconds}s`;
}

/** Seconds as a number, its text, or a label; 0 = no limit set here. */
export const timeout = once(
  (): z.ZodType<number, z.ZodTypeDef, unknown> =>
    z.preprocess((value) => {
      if (typeof value !== 'string') return value;
      const text = value.trim().toLowerCase();
      return SECONDS.get(text) ?? (/^\d{1,4}s?$/.test(text) ? Number.parseInt(text, 10) : value);
    }, numberAs('must be seconds or a label (60s, 2min)').int().min(0).max(5400)),
);

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Selectable codes. */
const STATUS_CODES: ReadonlySet<number> = new Set([
  100,
  101,
  ...range(200, 206),
  ...range(300, 307),
  ...range(400, 417),
  ...range(500, 505),
]);

/** More than there are. */
const MAX_CODES = 100;

/** A list or comma-separated text of HTTP codes, without repeats, in order. */
export const statusCodes = once(
  (): z.ZodType<number[], z.ZodTypeDef, unknown> =>
    z.preprocess(
      (value) => {
        const parts = listMembers(value);
        if (!Array.isArray(parts) || parts.length > MAX_CODES) return parts;
        const codes = parts.map((part: unknown) =>
          typeof part === 'string' && /^\d{3}$/.test(part) ? Number(part) : part,
        );
        return [...new Set(codes)].sort();
      },
      bounded(
        z
          .array(
            numberAs('must be an HTTP status code')
              .int()
              .refine((code) => STATUS_CODES.has(code), 'is not a supported HTTP status code'),
          )
          .min(1)
          .max(MAX_CODES),
      ),
    ),
);

export const monitorKeyword = once(() =>
  z
    .string()
    .trim()
    .max(255)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters'),
);

/** Maximum failed checks before a site counts as down. */
export const MOST_RETRIES = 10;

/** Failed checks before down; also as a switch, which means one or none. */
function retries(): z.ZodType<number, z.ZodTypeDef, unknown> {
  return z.preprocess(
    (value) => {
      const asSwitch = onOff().safeParse(value);
      return asSwitch.success ? asSwitch.data : value;
    },
    whole(0, MOST_RETRIES),
  );
}

function healthThreshold(): z.ZodType<80 | 100, z.ZodTypeDef, unknown> {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value),
    z.union([z.literal(80), z.literal(100)]),
  );
}

export const MONITORING = {
  svc_uptime_monitoring_active: field(onOff, 0, 'Monitor sites that have no setting of their own.'),
  svc_uptime_monitoring_interval: field(interval, 60, 'Minutes between checks, or a label such as 15m or 2h.'),
  svc_uptime_monitoring_type: field(
    () => z.enum(MONITOR_TYPES),
    'http',
    'What is checked: the status, only the headers, or a word in the page.',
  ),
  svc_uptime_monitoring_method: field(
    () => z.enum(MONITOR_METHODS),
    'head',
    'HTTP method; the keyword type uses get instead of head.',
  ),
  svc_uptime_monitoring_timeout: field(timeout, 60, 'Seconds a check may take, or a label such as 60s or 2min.'),
  svc_uptime_monitoring_up_status_codes: field(statusCodes, () => range(200, 206), 'HTTP codes that count as up.'),
  svc_uptime_monitoring_down_confirmation_check: field(
    retries,
    1,
    'Failed checks, 20 seconds apart, before a site counts as down: 0 to 10; true = 1.',
  ),
  svc_uptime_monitoring_keyword: field(monitorKeyword, '', 'Word to find with the keyword type.'),
  svc_disable_sites_health_monitoring: field(onOff, 1, 'Do not report poor site health.'),
  svc_sitehealth_threshold: field(healthThreshold, 80, 'Health score below which a site is reported.'),
} satisfies Fields;
