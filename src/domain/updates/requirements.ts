/** Updates that need a newer PHP or WordPress than their site has: they are not tried, and their errors say why. Pure. */

import { siteWord } from '../../../schemas/site-text.js';
import type { ErrorCode } from '../../runtime/errors.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { compareVersions } from '../sites/versions.js';
import { type ApplyError, UPDATE_TYPES } from './results.js';

export const MISSING = 'svc_requirement_missing' satisfies ErrorCode;

/** Whether the site is known to lack what the update needs. */
export function isBeyond({ needs = '' }: Pick<FleetOffer, 'needs'>): boolean {
  return needs !== '';
}

/** The updates of WordPress itself among these, by site. */
export function coreBySite(offers: readonly FleetOffer[]): ReadonlyMap<number, FleetOffer> {
  return new Map(offers.flatMap((offer) => (UPDATE_TYPES[offer.type] === 'core' ? [[offer.site_id, offer]] : [])));
}

/** Whether all that its site lacks is the WordPress that the same run installs: the next run takes it. */
export function awaitsCore({ site_id, needs = '' }: FleetOffer, cores: ReadonlyMap<number, FleetOffer>): boolean {
  const [, wanted] = /^WordPress (\S+)$/.exec(needs) ?? [];
  const core = cores.get(site_id);
  return wanted !== undefined && core !== undefined && compareVersions(core.new_version, wanted) >= 0;
}

/**
 * What a run answers for it, as `Version 2.0 of Shop needs PHP 8.4; the site has PHP 8.1.`
 * @param cores the updates of WordPress itself that are made in the same run
 */
export function missingError(offer: FleetOffer, cores: ReadonlyMap<number, FleetOffer>): ApplyError {
  const { site_id, site_url, site_name, type, slug } = offer;
  const { name, new_version, needs = '', php_version, wp_version } = offer;
  const has = [
    ...(needs.includes('PHP') ? [`PHP ${siteWord(php_version ?? '')}`] : []),
    ...(needs.includes('WordPress') ? [`WordPress ${siteWord(wp_version ?? '')}`] : []),
  ];
  return {
    ...{ site_id, site_url, site_name, type: UPDATE_TYPES[type] ?? 'plugin', slug },
    code: MISSING,
    message: `Version ${siteWord(new_version)} of ${siteWord(name)} needs ${needs}; the site has ${has.join(' and ')}.${awaitsCore(offer, cores) ? AWAITS : ''}`,
  };
}

const AWAITS = ' The same run installs that WordPress: the update is for the run after it.';

/** A member of lists; none if nothing is known to be missing. */
export function needsMember({ needs = '' }: Pick<FleetOffer, 'needs'>): { needs?: string } {
  return needs === '' ? {} : { needs };
}
