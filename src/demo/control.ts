import { page } from './answer.js';
import type { Counters } from './counters.js';
import { mergeFaults } from './faults.js';
import type { Answer } from './http-answer.js';
import { isRecord, json } from './params.js';
import type { DemoSite } from './site.js';

/** Outside every site; served only when the fleet was started with `control`. */
export const CONTROL_PATH = '/__control';

/**
 * GET: the counters. POST `{"sites": 3 | [3,4] | "all", "faults": {…}, "reset": true}`: merges faults into sites
 * (null removes one) and resets the peaks. A wrong member is answered 400 with its name.
 */
export function answerControl(method: string, body: string, sites: readonly DemoSite[], counters: Counters): Answer {
  try {
    if (method === 'POST') change(json(body), sites, counters);
    return reply(200, counters.snapshot());
  } catch (error) {
    if (error instanceof TypeError) return reply(400, { error: error.message });
    throw error;
  }
}

function change(order: unknown, sites: readonly DemoSite[], counters: Counters): void {
  if (!isRecord(order)) throw new TypeError('body: expected a JSON object');
  if (order.faults !== undefined) for (const site of chosen(order.sites, sites)) mergeFaults(site.faults, order.faults);
  if (order.reset === true) counters.reset();
}

function chosen(which: unknown, sites: readonly DemoSite[]): readonly DemoSite[] {
  if (which === 'all') return sites;
  const numbers: unknown[] = Array.isArray(which) ? which : [which];
  return numbers.map((number) => {
    const site = typeof number === 'number' ? sites[number] : undefined;
    if (site === undefined) throw new TypeError(`sites: ${JSON.stringify(number)} is not a number of a site`);
    return site;
  });
}

function reply(status: number, value: unknown): Answer {
  return { ...page(status, `${JSON.stringify(value)}\n`), headers: { 'content-type': 'application/json' } };
}
