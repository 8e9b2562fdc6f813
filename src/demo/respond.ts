import type { IncomingHttpHeaders } from 'node:http';
import { crashPage, page } from './answer.js';
import type { PageVisit } from './faults.js';
import { adminPage, firewallPage, insidePage, maintenancePage, publicPage } from './front.js';
import { answerGuard, enterSite, isLook, lookInside } from './guard/answer.js';
import { brokenAnswer, changedPage } from './guard/break.js';
import type { Answer } from './http-answer.js';
import { cached } from './page-cache.js';
import { type Params, text } from './params.js';
import { answerCall, type ProtocolRequest } from './protocol.js';
import type { DemoSite } from './site.js';

/** One request, read completely. */
export interface SiteRequest extends ProtocolRequest {
  method: string;
  /** Inside the site, without leading slash: `wp-admin/admin-ajax.php`. */
  path: string;
  authorization: string;
  /** Of a request that is meant for the guard; null for everything else. */
  guard: { headers: IncomingHttpHeaders; body: string } | null;
  /** The header by which the guard recognizes Sitefleet's own looks. */
  look: string | string[];
  /** The header of a look in the guard's sandbox, and the address it is for, below the site's. */
  session: string | string[];
  address: string;
  userAgent: string;
  /** Of compression, that it takes. */
  encodings: string;
}

/** What the site answers, faults included that can be told in one answer. */
export function respond(site: DemoSite, request: SiteRequest): Answer {
  const asks = Object.keys(request.query).length > 0;
  return cached(site, { ...request, asks }, () => answerOf(site, request));
}

function answerOf(site: DemoSite, request: SiteRequest): Answer {
  const { faults } = site;
  site.arrive();
  if (faults.httpAuth !== undefined && request.authorization !== basic(faults.httpAuth)) {
    return page(401, '<h1>401 Authorization Required</h1>', { 'www-authenticate': 'Basic realm="Restricted"' });
  }
  if (faults.noHead && request.method === 'HEAD') return page(405, '');
  if (faults.redirect !== undefined) {
    const { to, status } = typeof faults.redirect === 'string' ? { to: faults.redirect, status: 301 } : faults.redirect;
    return page(status, '', { location: to });
  }
  // Must-use plugins load before all others. Of a site in maintenance only this page loads them.
  if (request.guard !== null && (faults.maintenance !== true || request.path === 'wp-activate.php'))
    return answerGuard(site, request.guard.headers, request.guard.body, request.verify);
  const token = request.method === 'GET' ? text(request.query, 'sitefleet-login') : '';
  const entered = token === '' ? null : enterSite(site, token);
  if (entered !== null) return entered;
  if (faults.http500) return crashPage();
  const inside =
    request.method === 'GET' && request.session !== ''
      ? lookInside(site, request.session, request.address, request.verify)
      : null;
  if (inside === null) return pageOf(site, request, '');
  const made = pageOf(site, request, inside.name);
  return {
    ...made,
    headers: {
      ...made.headers,
      'x-sitefleet-session': `${inside.nonce} ${(faults.refusedInside ?? ['0badcafe']).join()} all`,
    },
  };
}

/** @param inside what is looked at in the sandbox; '' = the request of a visitor */
function pageOf(site: DemoSite, request: SiteRequest, inside: string): Answer {
  const { faults } = site;
  const isCall = text(request.params, 'function') !== '';
  if (faults.refuseCode && text(request.params, 'function') === 'code_snippet') return firewallPage();
  const ajax = request.path === 'wp-admin/admin-ajax.php';
  const guarded = isCall || (ajax && request.method === 'POST' && request.guard === null);
  if (guarded && blocked(site, request.path)) return firewallPage(faults.firewallAnswer);
  if (inMaintenance(site)) return maintenancePage(site, ajax);
  const place = request.path === '' && namesPage(request.query) ? '?' : request.path;
  const broken = brokenAnswer(site, place, isCall, () => isLook(site, request.look, request.verify));
  if (broken !== null) return broken;
  const plugin = !faults.pluginMissing && site.inner.pluginActive;
  // The plugin listens at every entry point of WordPress, not only at this one (child protocol §1).
  if (isCall && plugin) {
    const answer = answerCall(site, request);
    return ajax && faults.firewallFilters?.includes(text(request.params, 'function')) ? firewallPage() : answer;
  }
  const visitor = /(?:^|;\s*)wordpress_logged_in_demo=([^;]+)/.exec(request.cookie ?? '')?.[1];
  if (request.path === 'wp-admin/' && visitor !== undefined) return adminPage(site, decodeURIComponent(visitor));
  const visit: PageVisit = {
    path: request.path,
    query: (name) => text(request.query, name),
    phone: /\bMobile\b/.test(request.userAgent),
    gzip: /\bgzip\b/.test(request.encodings),
    inside,
  };
  const made = inside !== '' ? insidePage(site, inside) : ajax ? page(400, '0') : publicPage(site, visit);
  return changedPage(site, made, visit);
}

/** Another page than the front page. */
function namesPage(query: Params): boolean {
  return ['p', 'page_id', 'cat', 's', 'feed', 'rest_route'].some((name) => text(query, name) !== '');
}

function inMaintenance({ faults }: DemoSite): boolean {
  if (typeof faults.maintenance !== 'number') return faults.maintenance === true;
  return faults.maintenance-- > 0;
}

/** Whether a firewall keeps protocol calls from this path. */
export function blocked(site: DemoSite, path: string): boolean {
  const { firewall } = site.faults;
  return firewall === true || (firewall === 'wp-admin' && path.startsWith('wp-admin'));
}

function basic(login: { user: string; pass: string }): string {
  return `Basic ${Buffer.from(`${login.user}:${login.pass}`).toString('base64')}`;
}
