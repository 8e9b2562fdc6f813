/** Compares a site with its state before an update: what is worse now, and how severe it is. Pure. */

import type { PageFacts } from './page-facts.js';

/** One check of a site. */
export interface SiteCheck {
  /** Milliseconds. */
  at: number;
  /** By path below the site's address, '' = the front page. */
  pages: Record<string, PageFacts>;
  /** The child plugin responds; null = it was not asked. */
  child: boolean | null;
}

/**
 * A site before an update: two checks, so that differences between them are recognized as the site's normal variation.
 */
export interface Baseline {
  first: SiteCheck;
  second: SiteCheck;
}

/** Of a site whose earlier state is not known: what is wrong with it counts, whatever it was like. */
const EMPTY: SiteCheck = { at: 0, pages: {}, child: null };
export const NO_BASELINE: Baseline = { first: EMPTY, second: EMPTY };

export type Severity = 'broken' | 'suspect';

export interface Finding {
  severity: Severity;
  /** Path, or '' for the front page; null = the site as a whole. */
  path: string | null;
  /** One sentence of ours; words of the site only through `siteWord`. */
  what: string;
}

/** It always sets a cookie, to test whether the browser accepts cookies. */
const LOGIN = 'wp-login.php';
/** A text that lost this share of its words is suspicious. */
const LOST = 0.5;

/** Findings that speak against changing the site at all. */
export function problemsOf(check: SiteCheck): Finding[] {
  const findings: Finding[] = Object.entries(check.pages).flatMap(([path, page]) => ailmentsOfPage(path, page));
  if (check.child === false) findings.push(broken(null, 'The MainWP Child plugin does not answer.'));
  return findings;
}

function ailmentsOfPage(path: string, page: PageFacts): Finding[] {
  if (page.status === 0) return [broken(path, `${nameOf(path)} does not answer (${page.failure}).`)];
  if (page.status >= 500) return [broken(path, `${nameOf(path)} answers HTTP ${page.status}.`)];
  return page.errors.map((mark) => broken(path, `${nameOf(path)} says "${mark}".`));
}

/** What is worse than before. A fact that differed between the two earlier checks is not compared. */
export function compare(before: Baseline, now: SiteCheck): Finding[] {
  if (Object.keys(before.second.pages).length === 0) return problemsOf(now);
  const findings = Object.entries(now.pages).flatMap(([path, page]) => {
    const first = before.first.pages[path];
    const second = before.second.pages[path];
    return first === undefined || second === undefined ? [] : comparePage(path, first, second, page);
  });
  if (now.child === false && before.first.child !== false && before.second.child !== false)
    findings.push(broken(null, 'The MainWP Child plugin no longer answers.'));
  return findings;
}

function comparePage(path: string, first: PageFacts, second: PageFacts, now: PageFacts): Finding[] {
  const name = nameOf(path);
  const wasBad = (page: PageFacts) => page.status === 0 || page.status >= 500;
  if (wasBad(first) || wasBad(second)) return [];
  if (now.status === 0) return [broken(path, `${name} no longer answers (${now.failure}).`)];
  if (now.status >= 500) return [broken(path, `${name} answers HTTP ${now.status}; before, it was ${second.status}.`)];
  const steady = first.status === second.status;
  if (steady && now.status >= 400 && second.status < 400)
    return [broken(path, `${name} is gone: HTTP ${now.status}; before, it was ${second.status}.`)];
  const fresh = now.errors.filter((mark) => !first.errors.includes(mark) && !second.errors.includes(mark));
  if (fresh.length > 0) return fresh.map((mark) => broken(path, `${name} says "${mark}".`));
  if (steady && first.location === second.location && now.location !== second.location && now.location !== '')
    return [broken(path, `${name} redirects to a different address than before.`)];
  if (now.status !== second.status) return [];
  // Output before the headers prevents WordPress from setting its cookies: no one can log in.
  if (path === LOGIN && first.cookies === true && second.cookies === true && now.cookies === false)
    return [broken(path, `${name} no longer sets cookies, so no one can log in.`)];
  if (first.whole && second.whole && !now.whole) return [broken(path, `${name} ends before its </html>.`)];
  return suspicions(path, first, second, now);
}

function suspicions(path: string, first: PageFacts, second: PageFacts, now: PageFacts): Finding[] {
  const name = nameOf(path);
  const found: Finding[] = [];
  if (first.title === second.title && first.title !== now.title)
    found.push({ severity: 'suspect', path, what: `${name} has a different title.` });
  const then = new Set(first.words.filter((word) => second.words.includes(word)));
  const kept = now.words.filter((word) => then.has(word)).length;
  if (then.size >= 10 && kept < then.size * LOST)
    found.push({
      severity: 'suspect',
      path,
      what: `${name} has lost ${100 - Math.round((100 * kept) / then.size)} % of its words.`,
    });
  return found;
}

/** Paths of scripts and styles that a page includes now and did not before. */
export function newAssets(before: Baseline, now: SiteCheck): string[] {
  const known = new Set(
    [before.first, before.second].flatMap((check) => Object.values(check.pages).flatMap(({ assets }) => assets)),
  );
  const named = new Set(Object.values(now.pages).flatMap(({ assets }) => assets));
  return [...named].filter((path) => !known.has(path));
}

function broken(path: string | null, what: string): Finding {
  return { severity: 'broken', path, what };
}

function nameOf(path: string): string {
  return path === '' ? 'The front page' : `The page /${path}`;
}
