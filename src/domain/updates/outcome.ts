/** The meaning of a run of updates for a job: whether its site has succeeded, its error, and each item. Pure. */

import type { SiteOutcome } from '../actions/handler.js';
import { outcomeOfItems } from '../actions/outcomes.js';
import { type ApplyResult, BROKE, UNSEEN } from './results.js';

/** One applied update makes the site a success (operations §7.2). */
export function outcomeOfUpdates({
  updated,
  errors,
  suspects = [],
  look,
}: Pick<ApplyResult, 'updated' | 'errors' | 'suspects' | 'look'>): SiteOutcome {
  const doubts = (slug: string) => suspects.find((suspect) => suspect.slug === slug)?.findings;
  const outcome = outcomeOfItems([
    ...updated.map(({ type, slug, name, old_version, new_version, change_id }) => ({
      done: true,
      facts: { type, slug, name, old_version, new_version, change_id, findings: doubts(slug), checked: look?.pages },
    })),
    ...errors.map(({ type, slug, new_version, code, message, unknown }) => ({
      done: unknown === true ? null : false,
      facts: { type, slug, ...(new_version === undefined ? {} : { new_version }), code, message },
    })),
  ]);
  const [first] = errors;
  if (first === undefined) return outcome;
  // A site that was never reached is offline or slow, not a failed update (operations §7.4).
  const unseen = UNSEEN.find((code) => errors.every((error) => error.code === code));
  if (updated.length === 0 && unseen !== undefined) return { ...outcome, code: unseen, message: first.message };
  if (errors.some(({ code }) => code === BROKE)) return { ...outcome, code: BROKE };
  const silent = errors.find(({ type }) => type === 'site');
  const code = silent === undefined ? undefined : (UNSEEN.find((known) => known === silent.code) ?? 'svc_site_offline');
  return { ...outcome, code: code ?? 'svc_update_failed' };
}
