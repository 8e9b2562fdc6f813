/**
 * Tells what an update has taken from the pages of a site from what a visitor may have taken. A visitor may shorten what
 * visitors wrote on a page, or book up its form: alone, such a loss is suspect. Two pages of different kinds that have each
 * lost something else at once are broken. Pure.
 */

import type { LookedPage, PageKind } from './looked-pages.js';

/** What counts as broken where another page has lost something of the kind, too. */
export interface Loss {
  of: 'text' | 'button';
  /** The words, or the fields of the forms without a button. */
  what: ReadonlySet<string | number>;
}

/** Two losses that share this much of the smaller are one. */
const SHARED = 0.5;
/** One page in three looks. */
const FRONT_PAGES: readonly PageKind[] = ['front', 'phone', 'member'];

interface Judged {
  severity: 'broken' | 'suspect';
  loss?: Loss;
}

export function judgedTogether<F extends Judged>(
  found: readonly { page: LookedPage; finding: F }[],
): Omit<F, 'loss'>[] {
  return found.map(({ page, finding: { loss, ...finding } }) => {
    const again = found.some(
      (other) => other.finding.loss !== undefined && isOtherKind(page, other.page) && isOther(loss, other.finding.loss),
    );
    return again ? { ...finding, severity: 'broken' } : finding;
  });
}

function isOtherKind(page: LookedPage, other: LookedPage): boolean {
  if (FRONT_PAGES.includes(page.kind)) return !FRONT_PAGES.includes(other.kind);
  return page.kind !== other.kind;
}

/** Lists of the same entries, or a form at the foot of every page, are one thing that a visitor changes. */
function isOther(loss: Loss | undefined, other: Loss): boolean {
  if (loss === undefined || loss.of !== other.of) return false;
  const [fewer, more] = loss.what.size < other.what.size ? [loss.what, other.what] : [other.what, loss.what];
  const shared = [...fewer].filter((one) => more.has(one)).length;
  return shared < fewer.size * SHARED;
}
