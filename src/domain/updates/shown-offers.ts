/** Keeps updates that a person approved to what was on offer then: some sites have their turn hours later. */

import { siteWord } from '../../../schemas/site-text.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { Ctx } from '../context.js';
import { withinLimits } from '../extensions/offer-filters.js';
import type { LoadedSite } from '../sites/load.js';
import type { UpdateParams } from './params.js';
import { refusal } from './plan.js';
import type { ApplyError } from './results.js';

const keyOf = ({ type, slug, new_version }: FleetOffer) => `${type} ${slug} ${new_version}`;

/** Whether an update is among those that a call names. */
export function isNamed(offer: FleetOffer, { specific_items: named, limits }: UpdateParams): boolean {
  return (named.length === 0 || named.includes(offer.slug)) && (limits === undefined || withinLimits(offer, limits));
}

/** The parameters of a call; of one that a person approved, with what is on offer on these sites. */
export async function asApproved<P extends UpdateParams>(
  ctx: Ctx,
  sites: readonly Pick<SiteRow, 'id'>[],
  params: P,
): Promise<P> {
  if (ctx.call?.approved !== true || params.rollout !== undefined) return params;
  const { updates } = ctx.store;
  const ids = sites.map(({ id }) => id);
  const offers = [
    ...(await updates.ofSites(ids, params.types)),
    ...(params.even_ignored === true ? await updates.ignoredOf(ids, params.types) : []),
  ];
  const shown = new Set(offers.filter((offer) => isNamed(offer, params)).map(keyOf));
  return { ...params, shown: [...shown].sort() };
}

/** Those of the updates of a site that were on offer when the call was approved, and what is said of the others. */
export function onlyShown(
  target: LoadedSite,
  { shown }: UpdateParams,
  offers: readonly FleetOffer[],
): { offers: FleetOffer[]; refused: ApplyError[] } {
  const known = shown === undefined ? null : new Set(shown);
  const isShown = (offer: FleetOffer) => known === null || known.has(keyOf(offer));
  const changed = offers.filter((offer) => !isShown(offer));
  const refused = changed.map((offer) => {
    const version = siteWord(offer.new_version);
    return refusal(
      target,
      offer,
      'svc_offer_changed',
      `Version ${version} was not on offer when the call was approved.`,
    );
  });
  return { offers: offers.filter(isShown), refused };
}
