/** Versions that break the site they are installed on, and the watchdog that detects it. */

import { crashPage, page } from '../answer.js';
import type { Breakage, PageChange, PageVisit } from '../faults.js';
import { frontPage } from '../front.js';
import type { Answer } from '../http-answer.js';
import type { DemoSite } from '../site.js';
import { findItem, rollBack } from './state.js';
import type { ItemKind, RecordedFault } from './types.js';

interface Broken {
  kind: ItemKind;
  slug: string;
  breakage: Breakage | PageChange;
}

/** Seconds without a change in an item before the watchdog acts on it. */
const QUIET = 2;

/** How the installed versions break a site. A plugin must be active, a theme in use. */
export function brokenBy(site: DemoSite): Broken | null {
  for (const [name, breakage] of Object.entries(site.faults.breaks ?? {})) {
    const at = name.lastIndexOf('@');
    const slug = name.slice(0, at);
    const version = name.slice(at + 1);
    const plugin = findItem(site, 'plugin', slug);
    if (plugin?.version === version && 'active' in plugin && plugin.active) return { kind: 'plugin', slug, breakage };
    const theme = findItem(site, 'theme', slug);
    if (theme?.version === version && site.inner.activeTheme === slug) return { kind: 'theme', slug, breakage };
  }
  return null;
}

/**
 * The response of a broken site to this request; null = it works.
 * @param isOurs whether Sitefleet itself makes the request, to check the site
 */
export function brokenAnswer(
  site: DemoSite,
  path: string,
  isCall: boolean,
  isOurs: () => boolean = () => false,
): Answer | null {
  const broken = brokenBy(site);
  const front = path === '' && !isCall;
  if (broken !== null && ends(broken.breakage, path, front)) return fatal(site, broken, path, isOurs());
  noteLife(site);
  switch (broken?.breakage) {
    case 'white':
      return front ? page(200, '') : null;
    case 'suspect':
      return front ? page(200, different(String(frontPage(site).body))) : null;
    default:
      return null;
  }
}

/** The page that visitors get of the installed versions. */
export function changedPage(site: DemoSite, answer: Answer, visit: PageVisit): Answer {
  const breakage = brokenBy(site)?.breakage;
  const made = site.faults.pages?.(answer, visit) ?? answer;
  return typeof breakage === 'function' ? breakage(made, visit) : made;
}

/** Whether a request ends with a fatal error. */
function ends(breakage: Broken['breakage'], path: string, front: boolean): boolean {
  switch (breakage) {
    case 'fatal':
      return true;
    case 'front':
      return front;
    case 'login':
      return path === 'wp-login.php';
    case 'task':
      return path === 'wp-cron.php';
    case 'cart':
      return path === 'cart/';
    case 'admin':
      return path.startsWith('wp-admin/');
    default:
      return false;
  }
}

/** Complete, but with another title, and without its text. */
function different(text: string): string {
  return text.replace(/<title>[^<]*/, '<title>Other').replace(/<p>[\s\S]*?<\/p>|<h1>[^<]*/g, '');
}

/** A request has passed since the armed items changed: the site is not down as a whole. */
function noteLife(site: DemoSite): void {
  for (const armed of site.guard?.armed ?? []) {
    const changed = Math.floor(site.changedAt(armed.slug) / 1000);
    if (changed >= armed.at && site.now() / 1000 >= changed + 1) armed.alive = true;
  }
}

function fatal(site: DemoSite, { kind, slug }: Broken, path: string, isOurs: boolean): Answer {
  const { guard } = site;
  const now = Math.floor(site.now() / 1000);
  if (guard === null) return crashPage();
  guard.armed = guard.armed.filter(({ until }) => until > now);
  const armed = guard.armed.find((one) => one.kind === kind && one.slug === slug);
  const age = now - Math.floor(site.changedAt(slug) / 1000);
  const quiet = age >= QUIET;
  const kept = guard.kept.find(({ id }) => id === armed?.snapshot);
  // A visitor may have provoked it, unless no request has passed for a while.
  const trusted = isOurs || (path === '' && armed?.alive !== true && age >= (armed?.patience ?? 0));
  const acts = armed !== undefined && kept !== undefined && quiet && trusted && site.faults.watchdog !== false;
  if (acts) {
    rollBack(site, guard, kept);
    guard.armed = guard.armed.filter((one) => one !== armed);
  }
  const waited = armed === undefined || acts ? null : !quiet ? 'updating' : trusted ? 'failed' : 'visitor';
  record(guard.faults, {
    time: now,
    first: now,
    count: 1,
    message: 'Uncaught Error: Call to undefined function broken()',
    file: `wp-content/${kind}s/${slug.split('/')[0]}/broken.php`,
    line: 12,
    kind,
    item: slug.split('/')[0] ?? slug,
    armed: armed !== undefined,
    blames: armed?.snapshot ?? null,
    ours: isOurs ? now : null,
    cron: path === 'wp-cron.php',
    restored: acts ? kept.id : null,
    waited,
  });
  return crashPage();
}

function record(faults: RecordedFault[], fault: RecordedFault): void {
  const known = faults.find(
    ({ file, restored, waited, ours }) =>
      file === fault.file && restored === null && waited === fault.waited && (ours === null) === (fault.ours === null),
  );
  if (known === undefined || fault.restored !== null) faults.push(fault);
  else {
    known.count += 1;
    known.time = fault.time;
    known.ours = fault.ours;
  }
}
