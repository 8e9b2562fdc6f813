/** Matches installed versions with the ranges of the feed, by PHP's version order. */

import type { VersionRange } from '../../../schemas/vulnerability.js';
import type { Finding } from '../../store/vulnerabilities/classifications.js';
import type { Ctx } from '../context.js';
import { compareVersions } from '../sites/versions.js';

/** Versions per transaction. */
const CHUNK = 200;

/**
 * Classifies pending versions: those that are new to the fleet, and those whose feed entries changed.
 * @param most stops after about this many; the others wait for the next time
 * @returns how many it classified
 */
export async function classifyVersions(ctx: Ctx, most = Number.POSITIVE_INFINITY): Promise<number> {
  const { classifications } = ctx.store;
  for (let classified = 0; ; ) {
    ctx.signal.throwIfAborted();
    const waiting = await classifications.waiting(CHUNK);
    if (waiting.length === 0 || classified >= most) return classified;
    const findings = waiting.flatMap(({ package_id, version, software }) =>
      software.flatMap(([vulnerability, ranges, fixes]): Finding[] =>
        isAffected(version, ranges)
          ? [{ package_id, version, vulnerability, fixed_in: firstFix(version, ranges, fixes) }]
          : [],
      ),
    );
    await classifications.replace(waiting, findings);
    classified += waiting.length;
  }
}

/** Whether a version is in any of the ranges. An unknown version is only in a range without bounds. */
export function isAffected(version: string, ranges: readonly VersionRange[]): boolean {
  return ranges.some(([from, fromInclusive, to, toInclusive]) => {
    if (from === null && to === null) return true;
    if (version === '') return false;
    return isWithin(from, version, fromInclusive) && isWithin(version, to, toInclusive);
  });
}

function isWithin(lower: string | null, upper: string | null, inclusive: boolean): boolean {
  if (lower === null || upper === null) return true;
  const order = compareVersions(lower, upper);
  return order < 0 || (order === 0 && inclusive);
}

/** The lowest fixed version above this one; null if none is known. */
function firstFix(version: string, ranges: readonly VersionRange[], fixes: readonly string[]): string | null {
  const later = fixes.filter((fix) => compareVersions(fix, version) > 0 && !isAffected(fix, ranges));
  return later.sort(compareVersions)[0] ?? null;
}
