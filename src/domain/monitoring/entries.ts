/** Monitoring records as returned to assistants: without duplicated facts and empty texts. */

import type {
  alertEntry,
  certificateEntry,
  domainEntry,
  incidentEntry,
  monitorEntry,
} from '../../../schemas/monitoring-tools.js';
import { siteWord } from '../../../schemas/site-text.js';
import type { z } from '../../../schemas/zod.js';
import { isObject } from '../../runtime/plain-json.js';
import type { AlertView } from './alerts.js';
import type { CertificateView } from './certificates.js';
import type { DomainView } from './domains.js';
import type { FleetIncident } from './incidents.js';
import type { MonitorView } from './monitors.js';

export function incidentEntryOf(view: FleetIncident): z.output<ReturnType<typeof incidentEntry>> {
  const { id, site_id, url, http_code, acknowledged_at, acknowledged_by, acknowledged_note } = view;
  return {
    id,
    site_id,
    url,
    started_at: view.started_at_iso,
    ended_at: view.ended_at_iso,
    minutes: Math.round(view.duration_sec / 60),
    http_code,
    message: view.msg,
    ...(acknowledged_at === null ? {} : { acknowledged_at, acknowledged_by }),
    ...(acknowledged_note === '' ? {} : { note: acknowledged_note }),
  };
}

export function monitorEntryOf(view: MonitorView): z.output<ReturnType<typeof monitorEntry>> {
  return {
    site_id: view.id,
    url: view.url,
    status: view.paused ? 'paused' : (view.last_status as z.output<ReturnType<typeof monitorEntry>>['status']),
    last_check_at: view.last_check_at,
    http_code: view.last_status_code,
    uptime_24h: hundredths(view.uptime_ratio_24h),
    uptime_7d: hundredths(view.uptime_ratio_7d),
    uptime_30d: hundredths(view.uptime_ratio_30d),
    incidents_30d: view.incidents_count_30d,
    response_ms: view.response_time_avg_ms,
  };
}

/** Rounded down: 99.999 is not 100. */
function hundredths(percent: number | null): number | null {
  return percent === null ? null : Math.floor(percent * 100 + 1e-6) / 100;
}

export function certificateEntryOf(view: CertificateView): z.output<ReturnType<typeof certificateEntry>> {
  const { id, url, status, valid_to, days_left, error, last_check } = view;
  const issuer = view.issuer_o ?? view.issuer_cn;
  return { site_id: id, url, status, valid_to, issuer, days_left, ...problem(error), last_check };
}

export function domainEntryOf(view: DomainView): z.output<ReturnType<typeof domainEntry>> {
  const { id, url, domain_name, status, expiry_date, registrar, expires, error, last_check } = view;
  const known = { site_id: id, url, domain: domain_name, status, expires_at: expiry_date, registrar };
  return { ...known, days_left: expires, ...problem(error), last_check };
}

function problem(error: string | null): { problem?: string } {
  return error === null || error === '' ? {} : { problem: error };
}

export function alertEntryOf({
  id,
  kind,
  site_id,
  time,
  delivered,
  facts,
}: AlertView): z.output<ReturnType<typeof alertEntry>> {
  const present = Object.entries(facts).filter(([, value]) => value !== null && value !== '');
  const list = present.map(([name, value]) => ({ name, value: textOf(value) }));
  return { id, kind, site_id, time: time ?? '', delivered, facts: list };
}

/** A fact as text. What has members is told by their names, without those that are unknown. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(value.some(isObject) ? '; ' : ', ');
  if (!isObject(value)) return String(value);
  return Object.entries(value)
    .filter(([, inner]) => inner !== null && inner !== '')
    .map(([name, inner]) => `${name} ${memberText(inner)}`)
    .join(', ');
}

/** Quoted unless it is a plain word or an address: what a site calls something must not pass for the next member. */
function memberText(value: unknown): string {
  if (typeof value !== 'string') return textOf(value);
  const address = /^https?:\/\/([^\s:]+?)(?::\d{1,5})?(\/\S*)?$/.exec(value);
  const plain = address === null ? '' : `${address[1]}${address[2] ?? ''}`;
  return plain !== '' && siteWord(plain) === plain ? value : siteWord(value);
}
