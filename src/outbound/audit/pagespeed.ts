/** PageSpeed Insights: the same measurement by Google, with the user's own key. For public sites only. */

import { request as send } from 'undici';
import { withTimeLimit } from '../../runtime/abort-signals.js';
import { parsedOrNull } from '../../runtime/plain-json.js';
import { wholeBody } from '../../runtime/whole-body.js';
import { AuditFailure, type AuditOutcome, type AuditRequest } from './audit.js';
import { outcomeOf } from './result.js';

/** Google itself gives up after a minute. */
const ANSWER_MS = 120_000;
const RETRY_MS = 10 * 60_000;
const MAX_ANSWER = 64 * 1024 * 1024;
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'];

export async function runPagespeed(endpoint: string, request: AuditRequest): Promise<AuditOutcome> {
  if (request.key === null) throw new AuditFailure('No PageSpeed Insights key is set.', null);
  const url = new URL(endpoint);
  url.searchParams.set('url', request.url);
  url.searchParams.set('strategy', request.strategy);
  url.searchParams.set('locale', request.locale);
  url.searchParams.set('key', request.key);
  for (const category of CATEGORIES) url.searchParams.append('category', category);
  const signal = withTimeLimit(request.signal, ANSWER_MS);
  let status: number;
  let body: unknown;
  try {
    const reply = await send(url, { signal, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });
    status = reply.statusCode;
    body = await readJson(reply.body);
  } catch {
    if (request.signal.aborted) throw request.signal.reason;
    // The cause may contain the URL with the key: it is not passed on.
    throw new AuditFailure('PageSpeed Insights did not answer.', RETRY_MS);
  }
  if (status !== 200) throw refusal(status, body);
  return outcomeOf((body as { lighthouseResult?: unknown } | null)?.lighthouseResult, 'pagespeed');
}

async function readJson(body: AsyncIterable<Buffer>): Promise<unknown> {
  const whole = await wholeBody(body, MAX_ANSWER);
  if (whole === null) throw new Error('The answer is too large.');
  return parsedOrNull(whole.toString('utf8'));
}

/** The error format of Google's interfaces: `{error: {code, message, errors: [{reason}], details: [{reason}]}}`. */
interface GoogleError {
  error?: { message?: unknown; errors?: { reason?: unknown }[]; details?: { reason?: unknown }[] };
}

function refusal(status: number, body: unknown): AuditFailure {
  const error = (body as GoogleError | null)?.error;
  const reasons = [...(error?.details ?? []), ...(error?.errors ?? [])].map(({ reason }) => String(reason));
  if (status === 429 || reasons.includes('rateLimitExceeded') || reasons.includes('quotaExceeded'))
    return new AuditFailure('The quota of the PageSpeed Insights key is used up for now.', 60 * 60_000);
  if (reasons.some((reason) => reason === 'API_KEY_INVALID' || reason === 'keyInvalid'))
    return new AuditFailure('PageSpeed Insights does not accept the key.', null);
  if (status === 403)
    return new AuditFailure(
      'PageSpeed Insights refused the key: it may be restricted, or the API not enabled for it.',
      null,
    );
  if (status >= 500 && !reasons.includes('lighthouseError'))
    return new AuditFailure(`PageSpeed Insights answered with HTTP ${status}.`, RETRY_MS);
  const reported = typeof error?.message === 'string' ? error.message.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, 300) : '';
  return new AuditFailure(`The page could not be measured: ${reported === '' ? `HTTP ${status}` : reported}`, null);
}
