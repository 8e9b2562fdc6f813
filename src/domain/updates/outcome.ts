/** The meaning of a run of updates for a job: whether its site has succeeded, its error, and each item. Pure. */

import type { SiteOutcome } from '../jobs/handlers.js';
import { LONGEST, saidOfItem } from '../jobs/outcomes.js';
import type { Applied, ApplyError, ApplyResult } from './results.js';

/** One applied update makes the site a success (operations §7.2). */
export function outcomeOfUpdates({ updated, errors }: Pick<ApplyResult, 'updated' | 'errors'>): SiteOutcome {
  const items = [
    ...updated.map(({ type, slug, name, old_version, new_version }) => ({
      done: true,
      facts: { type, slug, name, old_version, new_version },
    })),
    ...errors.map(({ type, slug, code, message, unknown }) => ({
      done: unknown === true ? null : false,
      facts: { type, slug, code, message },
    })),
  ];
  return { failed: updated.length === 0 && errors.length > 0, ...joined(updated, errors), items };
}

function joined(updated: readonly Applied[], errors: readonly ApplyError[]): Pick<SiteOutcome, 'code' | 'message'> {
  const [first] = errors;
  if (first === undefined) return { code: '', message: '' };
  // A site that was never reached is offline, not a failed update (operations §7.4).
  if (updated.length === 0 && errors.every(({ code }) => code === 'svc_site_offline'))
    return { code: 'svc_site_offline', message: first.message };
  const [broken] = errors.filter(({ type }) => type === 'site');
  const message = errors
    .map(({ type, slug, message }) => saidOfItem({ type, slug, message }))
    .join('; ')
    .slice(0, LONGEST);
  return { code: broken === undefined ? 'svc_update_failed' : 'svc_site_offline', message };
}
