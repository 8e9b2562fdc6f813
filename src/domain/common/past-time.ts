/** Times that callers name as text. */

import { ServiceError } from '../../runtime/errors.js';

/**
 * A past time in milliseconds. Throws `svc_invalid_input`.
 * @param standard what is meant without it
 */
export function pastTime(field: string, text: string, now: number, standard: string): number {
  const at = /^\d{4}-\d{2}-\d{2}([T ].*)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at) && at <= now) return at;
  const what = Number.isFinite(at) ? 'is in the future' : 'is not a valid time';
  throw new ServiceError('svc_invalid_input', `${field}: ${JSON.stringify(text.slice(0, 50))} ${what}.`, {
    field,
    advice: `Send a past time as ISO 8601, such as 2026-11-21T18:00:00Z, or omit it for ${standard}.`,
  });
}
