/** Warns at the start if an alert would reach no one. */

import type { Service } from '../app/service.js';
import { audienceOf } from '../domain/alerts/test-alert.js';
import type { Log } from '../runtime/log.js';
import { localCaller } from './local-actor.js';

/** Logs a line if an alert would reach no one. */
export async function warnIfAlertsReachNoOne(service: Service, log: Log): Promise<void> {
  const signal = new AbortController().signal;
  const ctx = service.ctx(localCaller(signal));
  const { warning } = await audienceOf(ctx);
  if (warning !== '') log.warn({}, warning);
}
