/** Rules for reading PHP's JSON, used everywhere. */

import { numberOf } from '../../../../schemas/php-json.js';
import type { LocalRange } from '../content-types.js';

export {
  asMap,
  countOf,
  entriesOf,
  flagOf,
  get,
  listOf,
  numberOf,
} from '../../../../schemas/php-json.js';

/** A string as it is; '' for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Unix seconds up to the year 9999; null for an invalid time, such as WordPress' zero date, which arrives as
 * -62169984000.
 */
export function secondsOf(value: unknown): number | null {
  const seconds = numberOf(value);
  return seconds === null || seconds <= 0 || seconds > 253_402_300_799 ? null : seconds;
}

/** The child's parameters for a range in its local time, both ends exclusive (child protocol §6.4). */
export function rangeParams(range: LocalRange | undefined): { dtsstart?: string; dtsstop?: string } {
  return range === undefined ? {} : { dtsstart: range.after, dtsstop: range.before };
}
