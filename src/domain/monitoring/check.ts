/** Checks one monitored site: a probe, and a second one at once if the first failed. */

import type { HttpAnswer, ProbeMethod } from '../../outbound/probe/probe.js';
import type { MonitorRow } from '../../store/monitoring/monitors.js';
import type { Ctx } from '../context.js';
import { type Classification, classify } from './classify.js';
import { type MonitorSettings, methodOf } from './settings.js';

/** Enough to recognize a maintenance page; a keyword may be anywhere. */
const PAGE_BYTES = 32 * 1024;
const KEYWORD_BYTES = 2 * 1024 * 1024;

export interface CheckOutcome {
  classification: Classification;
  answer: HttpAnswer;
}

export interface CheckOptions {
  login: { user: string; pass: string } | undefined;
  /** Time limit of a single probe, in seconds. */
  limit: number;
}

/**
 * One check. A site that is known to be down is probed once; any other is probed again at once, because most single
 * failures are a lost packet or a restarting worker.
 */
export async function checkOnce(
  ctx: Ctx,
  monitor: MonitorRow,
  settings: MonitorSettings,
  options: CheckOptions,
): Promise<CheckOutcome> {
  const method = methodOf(settings);
  const first = await once(ctx, monitor, settings, method, options);
  const { classification, answer } = first;
  if (classification.kind === 'failing' && monitor.confirmed === 1) {
    // Only a body distinguishes maintenance from an outage, and a 503 without one is mostly maintenance.
    const again = classification.http_code === 503 && method === 'HEAD' && settings.type !== 'ping' ? 'GET' : method;
    return once(ctx, monitor, settings, again, options);
  }
  const emptyPage =
    classification.kind === 'up' && method !== 'HEAD' && answer.http_status === 200 && answer.body === '';
  return emptyPage ? once(ctx, monitor, settings, method, options) : first;
}

async function once(
  ctx: Ctx,
  monitor: MonitorRow,
  settings: MonitorSettings,
  method: ProbeMethod,
  { login, limit }: CheckOptions,
): Promise<CheckOutcome> {
  const answer = await ctx.probe.http({
    url: monitor.url,
    method,
    http_user: login?.user ?? null,
    http_pass: login?.pass ?? null,
    ssl_verify: monitor.ssl_verify === 1,
    timeoutMs: (settings.timeout === 0 ? limit : Math.min(settings.timeout, limit)) * 1000,
    expected: settings.expected_status,
    maxBytes: settings.type === 'keyword' ? KEYWORD_BYTES : settings.type === 'ping' ? 0 : PAGE_BYTES,
    signal: ctx.signal,
  });
  return { classification: classify(answer, settings), answer };
}
