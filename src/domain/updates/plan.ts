/** Plans updates of one site: in which order, how each is protected, and which are left out. Changes nothing. */

import { siteWord } from '../../../schemas/site-text.js';
import type { ErrorCode } from '../../runtime/errors.js';
import type { Protection } from '../../store/safety/changes.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { inOrder } from './order.js';
import { coreBySite, isBeyond, missingError } from './requirements.js';
import { type ApplyError, failed, isGuardable, UPDATE_TYPES, type UpdateType } from './results.js';
import { type OpenGuard, openGuard } from './safe/find-guard.js';
import { archiveProtection, isWeaker } from './safe/protection.js';
import { splitQuarantined } from './safe/quarantine.js';

/** One item of a plan. */
export interface Step {
  offer: FleetOffer;
  type: UpdateType;
  protection: Protection;
}

export interface Plan {
  /** The guard that protects them; null if the site has none. */
  open: OpenGuard | null;
  /** In update order; without protection, as offered. */
  steps: Step[];
  /** Items left unchanged, and why. */
  refused: ApplyError[];
}

/**
 * @param least items with weaker protection are left out; without it, all are taken, and wordpress.org is not asked
 * @throws ServiceError if the site is known to have a guard that cannot do its work
 */
export async function planUpdates(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  least?: Protection,
): Promise<Plan> {
  const { passed: free, quarantined, guarded } = await splitQuarantined(ctx, target.site.id, offers);
  const passed = free.filter((offer) => !isBeyond(offer));
  // Unprotected updates still keep to what is quarantined.
  const protects = least !== undefined || ctx.config.safe_updates !== 'off';
  const open = protects && guarded && passed.length > 0 ? await openGuard(ctx, target) : null;
  const cores = coreBySite(passed);
  const refused = [
    ...quarantined.map(({ offer, reason }) => refusal(target, offer, 'svc_version_quarantined', reason)),
    ...free.filter(isBeyond).map((offer) => missingError(offer, cores)),
  ];
  const steps: Step[] = [];
  // What no guard protects is sent type by type, as it was offered.
  for (const offer of open === null && least === undefined ? passed : inOrder(passed)) {
    const type = UPDATE_TYPES[offer.type] ?? 'plugin';
    const protection = await protectionOf(ctx, open !== null, type, offer, least !== undefined);
    if (least !== undefined && isWeaker(protection, least)) refused.push(unprotected(target, offer, protection));
    else steps.push({ offer, type, protection });
  }
  return { open, steps, refused };
}

/** The best available protection of an item: WordPress itself and translations have none. */
async function protectionOf(
  ctx: Ctx,
  guarded: boolean,
  type: UpdateType,
  offer: FleetOffer,
  askArchive: boolean,
): Promise<Protection> {
  if (type !== 'plugin' && type !== 'theme') return 'none';
  if (guarded) return 'guard';
  return askArchive ? archiveProtection(ctx, type, offer.slug, offer.current_version) : 'none';
}

/** Why an item is left unchanged: its protection is too weak. */
function unprotected(target: LoadedSite, offer: FleetOffer, protection: Protection): ApplyError {
  if (protection === 'none' && !isGuardable(offer.type))
    return refusal(
      target,
      offer,
      'svc_update_unprotected',
      `It is left as it is: ${UPDATE_TYPES[offer.type] === 'core' ? 'WordPress itself is' : 'translations are'} never rolled back. A lower least_protection updates it anyway.`,
    );
  const what =
    protection === 'reinstall'
      ? 'could only be reinstalled from wordpress.org, while WordPress still starts'
      : 'could not be rolled back if it broke the site';
  return refusal(
    target,
    offer,
    'svc_update_unprotected',
    `It is left as it is: ${siteWord(offer.current_version)} ${what}. install-site-guard-v1 protects it; a lower least_protection updates it anyway.`,
  );
}

/** The error entry of an offer that is left alone. */
export function refusal(
  target: LoadedSite,
  { type, slug }: Pick<FleetOffer, 'type' | 'slug'>,
  code: ErrorCode,
  message: string,
): ApplyError {
  return failed(target, UPDATE_TYPES[type] ?? 'plugin', slug, code, message);
}
