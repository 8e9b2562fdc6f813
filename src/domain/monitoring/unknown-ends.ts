/** Of how many sites it is unknown when their certificate or domain ends, and why, in words. Pure. */

import type { UnknownEnds } from '../../store/fleet/search.js';

export type Ending = 'certificate' | 'domain';

const REASONS: Readonly<Record<Ending, readonly (readonly [keyof UnknownEnds, string])[]>> = {
  certificate: [
    ['certificate_never', 'not looked at yet'],
    ['certificate_failed', 'the look failed'],
    ['certificate_none', 'no HTTPS'],
  ],
  domain: [
    ['domain_never', 'not looked up yet'],
    ['domain_failed', 'the look-up failed'],
    ['domain_untold', 'the registry does not tell it'],
    ['domain_none', 'no registered domain'],
  ],
};

/** `when the domain ends: unknown of 5 sites (3 the look-up failed, 2 not looked up yet)` */
export function unknownEndWords(ending: Ending, counts: Partial<UnknownEnds>): string[] {
  const reasons = REASONS[ending].flatMap(([name, words]) => {
    const sites = counts[name] ?? 0;
    return sites === 0 ? [] : [{ sites, words }];
  });
  const all = reasons.reduce((sum, { sites }) => sum + sites, 0);
  if (all === 0) return [];
  const why = reasons.map(({ sites, words }) => `${sites} ${words}`).join(', ');
  return [`when the ${ending} ends: unknown of ${all === 1 ? '1 site' : `${all} sites`} (${why})`];
}
