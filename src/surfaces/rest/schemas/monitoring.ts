/** Schemas of the records of monitors, certificates, domains and alerts, for the interface description. */

import { WEEKDAYS } from '../../../../schemas/rollout.js';
import { z } from '../../../../schemas/zod.js';
import { once } from '../../../runtime/once.js';

const int = () => z.number().int();
const textOrNull = () => z.string().nullable();
const figure = () => z.number().nullable();
const bit = () => z.union([z.literal(0), z.literal(1)]);

const scalar = once(() => z.union([z.string(), z.number(), z.boolean(), z.null()]));
const word = once(() => z.enum(['up', 'down', 'pending', 'first', 'unknown']));

export const monitorBasicShape = once(() => z.object({ id: int(), url: z.string(), last_status: word() }));

export const monitorShape = once(() =>
  monitorBasicShape().extend({
    monitor_id: int(),
    name: z.string(),
    type: z.string(),
    check_frequency: z.string().describe('Minutes, such as 60m.'),
    maintenance_until: textOrNull(),
    paused: z.boolean().describe('Switched off, or its site is suspended.'),
    last_check_at: textOrNull(),
    last_status_code: int().nullable(),
    uptime_24h: z
      .array(z.object({ timestamp: z.string(), status: z.enum(['up', 'down', 'pending', 'unknown']) }))
      .describe('24 hours, oldest first.'),
    uptime_ratio_24h: figure().describe('Percent.'),
    uptime_ratio_7d: figure(),
    uptime_ratio_30d: figure(),
    incidents_count_7d: int(),
    incidents_count_30d: int(),
    response_time_avg_ms: figure(),
    response_time_min_ms: figure(),
    response_time_max_ms: figure(),
  }),
);

export const uptimeDayShape = once(() =>
  z.object({
    date: z.string(),
    uptime: figure().describe('Percent; null = neither up nor down was measured.'),
    up_seconds: int(),
    down_seconds: int(),
  }),
);

export const windowsShape = once(() =>
  z.object({
    zone: z.string().describe('The time zone of the site, as of its last sync; UTC if it is unknown.'),
    next: textOrNull().describe('When the next one begins.'),
    windows: z.array(z.object({ day: z.enum(WEEKDAYS), from: z.string(), to: z.string() })),
  }),
);

export const beatShape = once(() =>
  z.object({
    heartbeat_id: int(),
    monitor_id: int(),
    status: int(),
    status_label: z.enum(['up', 'down', 'pending', 'unknown']),
    importance: int(),
    msg: z.string(),
    time: z.string(),
    ping_ms: figure(),
    http_code: int().nullable(),
    duration: z.number(),
    down_count: int(),
  }),
);

const settingsShape = once(() => ({
  active: bit(),
  interval: z.string().describe('Such as 15m or 2h.'),
  interval_minutes: int(),
  timeout: int().describe('Seconds; 0 = no separate limit.'),
  timeout_label: z.string(),
  effective_timeout: int().describe('Actual time limit of a scheduled check, in seconds.'),
  maxretries: int(),
  type: z.string(),
  method: z.string(),
  expected_status: z.array(int()),
  keyword: z.string(),
}));
const useglobal = once(() => z.array(z.string()).describe('Settings that follow the global ones.'));

export const monitorDetailShape = once(() =>
  monitorShape().extend({
    ...settingsShape(),
    useglobal: useglobal(),
    last_message: textOrNull(),
    flapping: z.boolean(),
    next_check_at: textOrNull(),
    heartbeats: z.array(beatShape()),
  }),
);

export const monitorSettingsShape = once(() => z.object(settingsShape()));
export const monitorOwnShape = once(() => monitorSettingsShape().extend({ useglobal: useglobal() }));

export const monitorCheckShape = once(() =>
  z.object({
    http_code: int().describe('0 without an answer.'),
    uptime_status: z.enum(['up', 'down', 'pending']).describe('pending: in maintenance, or our own network is down.'),
    status: word(),
    response_time_ms: int().nullable(),
    timing: z.record(int().nullable()).describe('Milliseconds.'),
    msg: z.string(),
    checked_at: z.string(),
  }),
);

export const incidentShape = once(() =>
  z.object({
    id: int(),
    status: z.literal('down'),
    started_at: z.string().describe('YYYY-MM-DD HH:MM:SS, UTC.'),
    ended_at: textOrNull(),
    started_at_iso: z.string(),
    ended_at_iso: textOrNull(),
    duration_sec: int(),
    resolved: z.boolean(),
    down_count: int(),
    http_code: int().nullable(),
    msg: z.string(),
    acknowledged_at: textOrNull().describe('When a person acknowledged it.'),
    acknowledged_by: z.string(),
    acknowledged_note: z.string(),
  }),
);

export const fleetIncidentShape = once(() =>
  incidentShape().extend({ site_id: int(), url: z.string(), name: z.string() }),
);

export const certificateShape = once(() =>
  z.object({
    id: int().describe('Id of the site.'),
    url: z.string(),
    name: z.string(),
    issuer_o: textOrNull(),
    issuer_cn: textOrNull(),
    subject_cn: textOrNull(),
    subject_alt_names: z.array(z.string()),
    serial: textOrNull(),
    signature_algorithm: textOrNull(),
    fingerprint_sha256: textOrNull(),
    valid_from: textOrNull(),
    valid_to: textOrNull(),
    days_left: int().nullable().describe('Negative once it has expired.'),
    status: z.enum(['valid', 'expiring', 'expired', 'invalid', 'unknown']),
    error: textOrNull(),
    last_check: textOrNull(),
  }),
);

export const domainShape = once(() =>
  z.object({
    id: int().describe('Id of the site.'),
    url: z.string(),
    name: z.string(),
    domain_name: textOrNull(),
    registrar: textOrNull(),
    registrar_url: textOrNull(),
    registrar_iana_id: textOrNull(),
    creation_date: textOrNull(),
    updated_date: textOrNull(),
    expiry_date: textOrNull(),
    expires: int().nullable().describe('Days left, negative once expired.'),
    status: z.enum(['valid', 'expiring', 'expired', 'unknown']),
    status_label: z.string(),
    domain_status: z.array(z.string()),
    name_servers: z.array(z.string()),
    last_check: textOrNull(),
    source: textOrNull(),
    error: textOrNull(),
  }),
);

export const alertShape = once(() =>
  z.object({
    id: int(),
    kind: z.string(),
    site_id: int().nullable().describe('null = it belongs to no site.'),
    time: z.string(),
    delivered: z.boolean().describe('Whether a mail or message about it was sent; false, too, if it had no recipient.'),
    delivered_at: textOrNull(),
    facts: z.record(z.union([scalar(), z.array(scalar())])).describe('By kind.'),
  }),
);
