/** Schemas of monitoring answers for assistants: fewer fields than the records of the REST interface. */

import { once } from '../src/runtime/once.js';
import { siteRef, timestamp } from './common.js';
import { z } from './zod.js';

const int = () => z.number().int();

/** Only of this site. */
export const ofSite = () => siteRef().optional().describe('Only of this site: id or domain.');

const site = once(() => ({ site_id: int(), url: z.string() }));

export const incidentEntry = once(() =>
  z.object({
    id: int(),
    ...site(),
    started_at: timestamp(),
    ended_at: timestamp().nullable().describe('null = ongoing.'),
    minutes: int(),
    http_code: int().nullable(),
    message: z.string(),
    acknowledged_at: timestamp().optional(),
    acknowledged_by: z.string().optional(),
    note: z.string().optional(),
  }),
);

export const monitorEntry = once(() =>
  z.object({
    ...site(),
    status: z.enum(['up', 'down', 'pending', 'first', 'unknown', 'paused']),
    last_check_at: timestamp().nullable(),
    http_code: int().nullable(),
    uptime_24h: z.number().nullable().describe('Percent.'),
    uptime_7d: z.number().nullable(),
    uptime_30d: z.number().nullable(),
    incidents_30d: int(),
    response_ms: z.number().nullable().describe('Average.'),
  }),
);

/** How one site is monitored. */
export const monitorSettingsShape = once(() =>
  z.object({
    active: z.boolean(),
    interval: int().describe('Minutes.'),
    timeout: int().describe('Seconds.'),
    maxretries: int(),
    type: z.string(),
    keyword: z.string(),
    global: z.array(z.string()).describe('These follow the global settings.'),
  }),
);

export const CERTIFICATE_STATES = ['valid', 'expiring', 'expired', 'invalid', 'unknown'] as const;
export const DOMAIN_STATES = ['valid', 'expiring', 'expired', 'unknown'] as const;

const expiry = once(() => ({
  days_left: int().nullable(),
  problem: z.string().optional(),
  last_check: timestamp().nullable(),
}));

export const certificateEntry = once(() =>
  z.object({
    ...site(),
    status: z.enum(CERTIFICATE_STATES),
    valid_to: timestamp().nullable(),
    issuer: z.string().nullable(),
    ...expiry(),
  }),
);

export const domainEntry = once(() =>
  z.object({
    ...site(),
    domain: z.string().nullable(),
    status: z.enum(DOMAIN_STATES),
    expires_at: timestamp().nullable(),
    registrar: z.string().nullable(),
    ...expiry(),
  }),
);

export const alertEntry = once(() =>
  z.object({
    id: int(),
    kind: z.string(),
    site_id: int().nullable(),
    time: timestamp(),
    delivered: z.boolean(),
    facts: z.array(z.object({ name: z.string(), value: z.string() })),
  }),
);
