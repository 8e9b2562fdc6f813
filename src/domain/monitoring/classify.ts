/** Classifies one response of a site (REST §6.11.3, child protocol §7). Pure. */

import { isMaintenancePage } from '../../outbound/maintenance-page.js';
import type { HttpAnswer } from '../../outbound/probe/probe.js';
import type { MonitorSettings } from './settings.js';

export interface Classification {
  /** `maintenance`: WordPress reports it itself; neither up nor down. */
  kind: 'up' | 'failing' | 'maintenance';
  http_code: number | null;
  /** Wall time of the whole probe; null without a response. */
  ping_ms: number | null;
  /** The failure, in words for people; '' if there is none. */
  msg: string;
  /** No HTTP response arrived: the cause may be on our side. */
  silent: boolean;
}

export function classify(answer: HttpAnswer, settings: MonitorSettings): Classification {
  const { http_status: code, failure } = answer;
  if (code === 0) {
    return {
      kind: 'failing',
      http_code: null,
      ping_ms: null,
      msg: failure?.message ?? 'The site did not answer.',
      // A refused private address is our own decision, not silence of the site.
      silent: failure?.kind !== 'blocked_address',
    };
  }
  const seen = { http_code: code, ping_ms: Math.max(1, Math.round(answer.timing.total_ms)), silent: false };
  if (isMaintenancePage({ status: code, retryAfter: answer.retry_after, body: answer.body }))
    return { ...seen, kind: 'maintenance', msg: 'The site is in maintenance.' };
  if (!settings.expected_status.includes(code))
    return { ...seen, kind: 'failing', msg: `The site answered HTTP ${code}.` };
  if (
    settings.type === 'keyword' &&
    settings.keyword !== '' &&
    !answer.body.toLowerCase().includes(settings.keyword.toLowerCase())
  ) {
    const where = answer.truncated ? 'the first 2 MB of the page' : 'the page';
    return { ...seen, kind: 'failing', msg: `The keyword is not in ${where} (HTTP ${code}).` };
  }
  return { ...seen, kind: 'up', msg: '' };
}
