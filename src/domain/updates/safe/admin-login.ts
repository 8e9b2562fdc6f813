/**
 * Opens WordPress' administration in one click: the guard of a site issues a URL that logs a browser in once. The child
 * plugin's login link is not used: it keeps working for anyone who finds it in a history or a log.
 */

import { GuardFailure } from '../../../outbound/guard/failure.js';
import { ServiceError } from '../../../runtime/errors.js';
import { isoTime } from '../../../runtime/iso-time.js';
import { ownMember } from '../../../runtime/own-member.js';
import type { Ctx } from '../../context.js';
import { type LoadedSite, loadWritable, requireConnection } from '../../sites/load.js';
import type { SiteRef } from '../../sites/resolve.js';
import { guardError } from './find-guard.js';
import { installGuard } from './site-guard.js';

/** How long the guard accepts an unused token. */
const TOKEN_MS = 60_000;

/**
 * A URL that logs in as this administrator of the site; by default as the one who connected it.
 * @param setUp consent to install the guard, or renew it, with logins allowed, where that is what is missing
 * @throws ServiceError `svc_guard_refused` with `reason` and `login_page` if only the site's own login is left
 */
export async function adminLogin(ctx: Ctx, ref: SiteRef, user: string | undefined, setUp = false) {
  const target = await loadWritable(ctx, ref);
  const asked = user ?? target.site.admin_username;
  const expires_at = isoTime(ctx.clock.now() + TOKEN_MS) ?? '';
  try {
    const { url } = await ctx.guards.of(requireConnection(target)).login(asked, { signal: ctx.signal });
    ctx.events.emit({ name: 'site.admin_login', site_id: target.site.id, facts: { user: asked } });
    return { url, expires_at, user: asked };
  } catch (error) {
    if (!(error instanceof GuardFailure)) throw guardError(error, target.site.id);
    if (setUp && NOT_SET_UP.includes(error.code)) {
      await installGuard(ctx, ref, true, false);
      return adminLogin(ctx, ref, user);
    }
    throw refused(error, target, user === undefined ? undefined : 'user');
  }
}

/** Refusals that end with a guard that allows logins. */
const NOT_SET_UP: readonly string[] = ['no_guard', 'login_not_allowed'];

/** Refusals that leave only the site's own login. */
const REFUSALS: Readonly<Record<string, { message: string; advice: string }>> = {
  no_guard: {
    message: 'No guard answers on this site.',
    advice: "Install the guard with allow_login, or log in on the site's own page.",
  },
  login_not_allowed: {
    message: "This site's owner has not allowed logins by token.",
    advice: "Install the guard again with allow_login if the site's owner agrees, or log in on the site's own page.",
  },
  not_found: {
    message: 'The site has no administrator with this name.',
    advice: "Name one of the site's administrators, or log in on its own page.",
  },
};

function refused(failure: GuardFailure, { site }: LoadedSite, field: string | undefined): ServiceError {
  const { code } = failure;
  const known = ownMember(REFUSALS, code);
  const {
    message,
    advice = '',
    data,
  } = known === undefined ? guardError(failure, site.id) : { ...known, data: { site_id: site.id, reason: code } };
  // WordPress redirects from there to its login page, even if a plugin has moved it.
  const login_page = new URL('wp-admin/', site.url).href;
  return new ServiceError('svc_guard_refused', message, {
    advice,
    data: { ...data, login_page },
    ...(code === 'not_found' && field !== undefined ? { field } : {}),
  });
}
