/** Compares a site with its state before an update: what is worse now, and how severe it is. Pure. */

import { siteWord } from '../../../../schemas/site-text.js';
import { FRONT, isInside, isPlain, keyOf, LOGIN, type LookedPage, nameOf, type PageKind } from './looked-pages.js';
import { judgedTogether, type Loss } from './lost-at-once.js';
import { EDITORS, isTurnedAway, MAX_WORDS, type PageFacts } from './page-facts.js';
import { formOfSite, lostForms, MOST_FORMS } from './page-forms.js';
import type { PageMarkup } from './page-markup.js';
import { kindsOf } from './php-messages.js';

/** One check of a site. */
export interface SiteCheck {
  /** Milliseconds. */
  at: number;
  /** By `keyOf`: the path below the site's address, '' = the front page. */
  pages: Record<string, PageFacts>;
  /** The child plugin responds; null = it was not asked, or a limit of requests turned that away. */
  child: boolean | null;
}

/**
 * A site before an update: two checks, so that differences between them are recognized as the site's normal variation.
 */
export interface Baseline {
  first: SiteCheck;
  second: SiteCheck;
  /** Requests of the front page between the two. */
  between: { requests: number; failures: number };
  /** Paths of scripts and styles of the items to be updated, which were there. */
  files?: readonly string[];
}

/** What a look in the sandbox says: a right password is accepted, and admin-ajax.php knows its user. */
export const TRIED = '<sitefleet-passwords>';
export const ACCEPTED = `${TRIED}accepted</sitefleet-passwords>`;
export const LOGGED_IN = '1';

/** Of a site whose earlier state is not known: what is wrong with it counts, whatever it was like. */
const EMPTY: SiteCheck = { at: 0, pages: {}, child: null };
export const NO_BASELINE: Baseline = { first: EMPTY, second: EMPTY, between: { requests: 0, failures: 0 } };

export type Severity = 'broken' | 'suspect';

export interface Finding {
  severity: Severity;
  /** Path, or '' for the front page; null = the site as a whole. */
  path: string | null;
  /** One sentence of ours; words of the site only through `siteWord`. */
  what: string;
  /** It is said, and nothing is rolled back for it: a visitor may have written what was found, or it is usual. */
  hearsay?: true;
}

/** With what it says is lost, if a visitor may have taken that from the page. */
interface PageFinding extends Finding {
  loss?: Loss;
}

/** A text that lost this share of its words is suspicious. */
const LOST = 0.5;
/** Shares that are left of a page that is broken: of its words, its elements, and the words of one that was cut off. */
const NEARLY_NONE = 0.2;
const FEW = 0.25;
const MOST = 0.8;
/** As many words may have made room for those that say that a form is booked up. */
const WORDS_OF_A_NOTICE = 30;

/** Findings that speak against changing the site at all: not those of pages that only stand for others. */
export function problemsOf(check: SiteCheck, pages: readonly LookedPage[] = []): Finding[] {
  const findings = Object.entries(check.pages).flatMap(([key, facts]) => {
    const page = pageOf(key, pages);
    return ['front', 'login', 'asked'].includes(page.kind) ? ailmentsOfPage(key, nameOf(page), facts) : [];
  });
  if (check.child === false) findings.push(broken(null, 'The MainWP Child plugin does not answer.'));
  return findings;
}

function ailmentsOfPage(key: string, name: string, facts: PageFacts): Finding[] {
  if (facts.status === 0) return [broken(key, `${name} ${silence(facts, 'does not')}.`)];
  if (facts.status >= 500) return [broken(key, `${name} answers HTTP ${facts.status}.`)];
  return facts.errors.map((mark) => broken(key, `${name} says "${mark}".`));
}

/** Why there is no page to compare. */
function silence({ failure }: PageFacts, not: 'does not' | 'no longer'): string {
  const s = not === 'does not' ? '' : 's';
  const answered = failure === 'bad_answer' || failure === 'too_large';
  return answered ? `${not} send${s} an answer that can be read` : `${not} answer${s} (${failure})`;
}

/** The page of these facts. Without a list it is one of those that are always looked at, or was named by the caller. */
function pageOf(key: string, pages: readonly LookedPage[]): LookedPage {
  const known = [FRONT, LOGIN, ...pages].find((page) => keyOf(page) === key);
  return known ?? { kind: 'asked', path: key };
}

/** What is worse than before. A fact that differed between the two earlier checks is not compared. */
export function compare(before: Baseline, now: SiteCheck, pages: readonly LookedPage[] = []): Finding[] {
  if (Object.keys(before.second.pages).length === 0) return problemsOf(now);
  const hosts = hostsOf([before.first, before.second]);
  const found = Object.entries(now.pages).flatMap(([key, facts]) => {
    // Some are looked at once.
    const first = before.first.pages[key];
    const second = before.second.pages[key] ?? first;
    if (first === undefined || second === undefined) return [];
    const page = pageOf(key, pages);
    const worse = comparePage(page, first, second, facts, before.second.pages[key] === undefined ? null : hosts);
    return worse.map((one) => ({ page, finding: isInside(page) ? excused(one, first, second, facts) : one }));
  });
  const findings: Finding[] = judgedTogether(withPlain(found));
  const children = [before.first.child, before.second.child];
  if (now.child === false && children.includes(true) && !children.includes(false))
    findings.push(broken(null, 'The MainWP Child plugin no longer answers.'));
  return findings;
}

/**
 * With what is broken in pages that visitors get while the same page past all caches is well. A visitor may have a cache keep
 * a broken copy of one: alone it is suspect.
 */
function withPlain<F extends { page: LookedPage; finding: PageFinding }>(found: readonly F[]): F[] {
  const bad = found.filter(({ finding }) => finding.severity === 'broken');
  const others = bad.filter(({ page }) => !isPlain(page));
  const only = bad.filter(({ page }) => isPlain(page) && !others.some((one) => one.page.path === page.path));
  const severity = new Set(only.map(({ page }) => page.path)).size > 1 ? 'broken' : 'suspect';
  const told = only.map((one) => {
    const what = `${one.finding.what} Past caches and uncompressed it is not so.`;
    return { ...one, finding: { severity, path: one.finding.path, what } as PageFinding };
  });
  return [...found.filter(({ page }) => !isPlain(page)), ...told];
}

/** What a page was refused in the sandbox, and was not before, may be why it fails. */
function excused(finding: PageFinding, first: PageFacts, second: PageFacts, now: PageFacts): PageFinding {
  const known = new Set([...(first.inside ?? []), ...(second.inside ?? [])]);
  if ((now.inside ?? []).every((refused) => known.has(refused))) return finding;
  const { loss: _, ...rest } = finding;
  return {
    ...rest,
    severity: 'suspect',
    what: `${finding.what} It may only be because a check must not store anything.`,
  };
}

/** Hosts that some page of the site named. */
function hostsOf(checks: readonly SiteCheck[]): ReadonlySet<string> {
  return new Set(checks.flatMap(({ pages }) => Object.values(pages).flatMap(({ markup }) => markup.hosts ?? [])));
}

/** Whether a page answers nothing that could be compared. */
const wasBad = ({ status }: PageFacts) => status === 0 || status >= 500;

/** Whether a page could be compared with how it was; one that was looked at once has one answer. */
export function isComparable(page: LookedPage, { first, second }: Baseline): boolean {
  const key = keyOf(page);
  // Other plugins may make the sitemap, at other addresses.
  const answered = (facts: PageFacts) => (page.kind === 'sitemap' ? facts.status === 200 : !wasBad(facts));
  return [first, second].every(({ pages }) => pages[key] === undefined || answered(pages[key]));
}

/** @param hosts those that the site named; null = it was looked at once, and what differs on its own is not known */
function comparePage(
  page: LookedPage,
  first: PageFacts,
  second: PageFacts,
  now: PageFacts,
  hosts: ReadonlySet<string> | null,
): PageFinding[] {
  const key = keyOf(page);
  const name = nameOf(page);
  if (wasBad(first) || wasBad(second)) return [];
  if (now.status === 0) return [broken(key, `${name} ${silence(now, 'no longer')}.`)];
  // Limits of requests are put on logins, and bots use them up for everybody.
  if (LOGINS.includes(page.kind) && isTurnedAway(now))
    return [
      { severity: 'suspect', path: key, what: `${name} answers HTTP ${now.status}; before, it was ${second.status}.` },
    ];
  if (now.status >= 500) return [broken(key, `${name} answers HTTP ${now.status}; before, it was ${second.status}.`)];
  // The guard has not made it.
  if (isInside(page) && now.inside === undefined) return [];
  const steady = first.status === second.status;
  if (steady && now.status >= 400 && second.status < 400) return [gone(page, second, now)];
  const fresh = now.errors.filter((mark) => !first.errors.includes(mark) && !second.errors.includes(mark));
  if (fresh.length > 0) return fresh.map((mark) => broken(key, `${name} says "${mark}".`));
  if (steady && first.location === second.location && now.location !== '') {
    if (now.location !== second.location) return [redirected(page, now)];
    // Where it led before, it leads back to now.
    if (now.status >= 300 && second.status < 300) return [broken(key, `${name} redirects in circles.`)];
  }
  if (now.status !== second.status) return [];
  // Output before the headers prevents WordPress from setting its cookies: no one can log in.
  if (page.kind === 'login' && first.cookies && second.cookies && !now.cookies)
    return [broken(key, `${name} no longer sets cookies, so no one can log in.`)];
  if (first.whole && second.whole && !now.whole) return [broken(key, `${name} ends before its </html>.`)];
  if (first.data !== '' && first.data === second.data && now.data !== first.data)
    return [
      {
        severity: page.kind === 'sitemap' ? 'suspect' : 'broken',
        path: key,
        what: `${name} is no longer well-formed ${first.data.toUpperCase()}.`,
      },
    ];
  const words = wordsKept(first, second, now);
  const wrong = wrongIn(page, first, second, now, words);
  const more = wrong.length > 0 ? wrong : doubtsAbout(page, first, second, now, words, hosts);
  return isInside(page) ? more : [...more, ...lossesOf(page, first, second, now)];
}

/** Parts of a page, or of what it tells, that are gone, though the page is whole. */
function lossesOf(page: LookedPage, first: PageFacts, second: PageFacts, now: PageFacts): PageFinding[] {
  const found: PageFinding[] = [];
  const lost = (severity: Severity, what: string, loss?: Loss) =>
    found.push({ severity, path: keyOf(page), what, ...(loss !== undefined && { loss }) });
  // Visitors may make a page longer than what is read of it, and choose what lies behind that. How much a page varies anyway
  // is not known of pages that were looked at once; the login is the same each time.
  if (!now.cut && (first !== second || page.kind === 'login')) {
    const [one, two, three] = [first.markup, second.markup, now.markup];
    const name = nameOf(page);
    const words = { more: saysMore(first, second, now), muchLess: saysMuchLess(one, two, three) };
    const { unsendable, replaced, replacedFields, gone, fields } = lostForms(one.forms, two.forms, three.forms, words);
    const of = (names: readonly string[]) => names.slice(0, 5).map(siteWord).join(', ');
    const unsent = (names: readonly string[]) => `${name} has a form without a button now: that of ${of(names)}.`;
    if (unsendable.length > 0) lost('broken', unsent(unsendable));
    // What a visitor has booked up says so, beside the form or elsewhere.
    if (replaced.length > 0) lost('suspect', unsent(replaced), { of: 'button', what: new Set(replacedFields) });
    if (gone.length > 0) lost('suspect', `${name} has lost a form: that of ${of(gone)}.`);
    if (fields.length > 0) lost('suspect', `${name} has lost fields of a form: ${of(fields)}.`);
    if (Math.min(one.menu, two.menu) > 1 && three.menu === 0) lost('suspect', `${name} has lost its menu.`);
  }
  if ((first.sitemaps ?? 0) > 0 && now.sitemaps === 0) lost('suspect', 'robots.txt no longer names a sitemap.');
  const parts = lostNamespaces(first.namespaces ?? [], now.namespaces ?? first.namespaces ?? []);
  if (parts.length > 0) lost('suspect', `The REST API has lost parts: ${parts.slice(0, 5).map(siteWord).join(', ')}.`);
  return found;
}

/** Whether a page says something, elsewhere than in comments, that it said in neither earlier look. */
function saysMore(first: PageFacts, second: PageFacts, now: PageFacts): boolean {
  const [one, two, three] = [first.markup.said, second.markup.said, now.markup.said];
  if (one === null || two === null || three === null) return false;
  if ([one.digest, two.digest].includes(three.digest)) return false;
  if (three.words > Math.max(one.words, two.words)) return true;
  // Of longer ones not all words are known.
  if ([first, second, now].some(({ words }) => words.length >= MAX_WORDS)) return true;
  const known = new Set([...first.words, ...second.words]);
  return now.words.some((word) => !known.has(word));
}

/** It has lost more words than a notice replaces. */
function saysMuchLess(first: PageMarkup, second: PageMarkup, now: PageMarkup): boolean {
  return (now.said?.words ?? 0) < Math.min(first.said?.words ?? 0, second.said?.words ?? 0) - WORDS_OF_A_NOTICE;
}

/** Another version of the same is none that is lost. */
function lostNamespaces(before: readonly string[], now: readonly string[]): string[] {
  const base = (name: string) => name.replace(/\/v\d[\w.-]*$/, '');
  const left = new Set(now.map(base));
  return before.filter((name) => !left.has(base(name)));
}

/** What these say where all is well, and what it means if they do not. */
const SAYING: Readonly<Partial<Record<PageKind, string>>> = { password: ACCEPTED, member_ajax: LOGGED_IN };
const SAID: Readonly<Partial<Record<PageKind, string>>> = {
  password: 'Right passwords are no longer accepted.',
  member_ajax: 'admin-ajax.php no longer answers logged-in users.',
};

const LOGINS: readonly PageKind[] = ['login', 'password'];
/** Plugins hide the login, or close feeds and interfaces to visitors, on purpose. */
const CLOSABLE: readonly PageKind[] = ['login', 'feed', 'robots', 'sitemap'];
const INTERFACES: readonly PageKind[] = ['search', 'rest', 'collection', 'ajax'];

function gone(page: LookedPage, before: PageFacts, now: PageFacts): Finding {
  const what = `${nameOf(page)} is gone: HTTP ${now.status}; before, it was ${before.status}.`;
  const closed = now.status === 401 || now.status === 403;
  const meant = CLOSABLE.includes(page.kind) || (closed && INTERFACES.includes(page.kind));
  return { severity: meant ? 'suspect' : 'broken', path: keyOf(page), what };
}

/** Within the site it may be a language or another address of the login, unless it asks visitors to log in. */
function redirected(page: LookedPage, now: PageFacts): Finding {
  const what = `${nameOf(page)} redirects to a different address than before.`;
  const ends = now.status < 300 || now.status >= 400;
  const locked = /\/wp-(?:admin|login)\b/.test(now.location) && page.kind !== 'login';
  const stays = ends && !locked && now.elsewhere !== true;
  if (!isInside(page)) return { severity: stays ? 'suspect' : 'broken', path: keyOf(page), what };
  // Many plugins lead administrators to a page of their own once.
  const login = /\/wp-login\.php\b|[?&]redirect_to=/.test(now.location);
  return login || now.elsewhere
    ? broken(keyOf(page), what)
    : { severity: 'suspect', path: keyOf(page), what, hearsay: true };
}

/** Pages that search engines are meant to find. */
const PUBLIC: readonly PageKind[] = ['front', 'phone', 'plain', 'plain_page', 'post', 'page', 'product', 'robots'];

/** What is broken in a page that answers as before. */
function wrongIn(page: LookedPage, first: PageFacts, second: PageFacts, now: PageFacts, words: WordsKept): Finding[] {
  const key = keyOf(page);
  const name = nameOf(page);
  const found: Finding[] = [];
  const messages = newMessages(first, second, now, 'own');
  // A site that shows messages anyway is one of developers.
  const quiet = first.php.own.length + second.php.own.length === 0;
  if (messages.length > 0 && quiet) found.push(broken(key, `${name} shows a message of PHP: ${kindsOf(messages)}.`));
  if (newlyUnindexed(first, second, now) && PUBLIC.includes(page.kind) && !showsOtherComments(first, second, now))
    found.push(broken(key, `${name} now keeps search engines away (noindex).`));
  if (SAYING[page.kind] === first.says && now.says !== first.says) found.push(broken(key, SAID[page.kind] ?? ''));
  const needed = now.cut ? [] : partsNeeded(page, first);
  const lost = needed.filter((part) => second.parts?.includes(part) && !now.parts?.includes(part));
  const switched = page.kind === 'editor' && lost.length > 0 && hasOtherEditor(first, now);
  const missed = lost.filter((part) => !switched || !EDITORS.flat().includes(part));
  if (lost.length > 0 && !opensAnother(first, now)) {
    const parts = `${name} has lost parts that it needs: ${missed.slice(0, 3).join(', ')}.`;
    if (missed.length > 0) found.push(broken(key, parts));
    else found.push({ severity: 'suspect', path: key, what: `${name} is another one than before.` });
  }
  // The two have neither words nor elements in common that would have to stay.
  const damage = switched ? null : damageOf(first, second, now, words);
  if (damage !== null) found.push(broken(key, `${name} ${damage}`));
  return found;
}

/** The scripts are those of the block editor: elsewhere plugins load them, and stop loading them, as they like. */
function partsNeeded({ kind }: LookedPage, { parts = [] }: PageFacts): string[] {
  if (kind !== 'dashboard' && kind !== 'editor') return [];
  return kind === 'editor' && parts.includes('editor') ? parts : parts.filter((part) => !part.endsWith('.js'));
}

/** Of the two editors of WordPress, it has all of the one that it had not: an update, or its settings, may mean that. */
function hasOtherEditor({ parts: before = [] }: PageFacts, { parts = [] }: PageFacts): boolean {
  return EDITORS.some((own) => own.every((part) => parts.includes(part)) && !before.includes(own[0] ?? ''));
}

/** The newest post is another one meanwhile, which may have another editor. */
function opensAnother(first: PageFacts, now: PageFacts): boolean {
  return now.editing !== undefined && now.editing !== first.editing;
}

function newMessages(first: PageFacts, second: PageFacts, now: PageFacts, where: 'own' | 'text'): string[] {
  const known = [first.php, second.php].flatMap(({ own, text }) => [...own, ...text]);
  return now.php[where].filter((message) => !known.includes(message));
}

function newlyUnindexed(first: PageFacts, second: PageFacts, now: PageFacts): boolean {
  return !first.markup.noindex && !second.markup.noindex && now.markup.noindex;
}

/** A page that is blank, was emptied by none of its visitors, or was cut off, with or without an end tag; null = neither. */
function damageOf(first: PageFacts, second: PageFacts, now: PageFacts, words: WordsKept): string | null {
  if (now.cut) return null;
  if (words.had > 0 && now.words.length === 0) return 'is blank.';
  if (isEmptied(first, second, now, words) && lacksWhatNoVisitorWrites(first, second, now)) return EMPTIED;
  const shorter = now.bytes < Math.min(first.bytes, second.bytes);
  const less = words.kept < words.had * MOST || structureKept(first.markup, second.markup, now.markup).ends;
  return endsEarlier(first, second, now) && shorter && less ? 'is cut off: it ends in the middle.' : null;
}

const EMPTIED = 'has lost nearly all of its text and structure.';

/** Hardly any of its text and structure is left. */
function isEmptied(first: PageFacts, second: PageFacts, now: PageFacts, { had, kept }: WordsKept): boolean {
  const structure = structureKept(first.markup, second.markup, now.markup);
  return had >= 10 && kept <= had * NEARLY_NONE && structure.had > 0 && structure.kept <= structure.had * FEW;
}

/** Most of a page may be what visitors wrote, and they may replace that by less. The rest of it they cannot. */
function lacksWhatNoVisitorWrites(first: PageFacts, second: PageFacts, now: PageFacts): boolean {
  const [one, two, three] = [first.markup, second.markup, now.markup];
  const lacks = (before: readonly string[], again: readonly string[], left: readonly string[]) =>
    before.some((part) => part !== '' && again.includes(part) && !left.includes(part));
  if (lacks(one.landmarks, two.landmarks, three.landmarks) || endsEarlier(first, second, now)) return true;
  const formsOfSite = ({ forms }: PageMarkup) => forms.map(formOfSite);
  if (three.forms.length < MOST_FORMS && lacks(formsOfSite(one), formsOfSite(two), formsOfSite(three))) return true;
  // WordPress lets no visitor remove comments, and shows some of a post that has any.
  const commented = one.comments.length > 0 && two.comments.length > 0;
  return Object.keys(three.structure).length === 0 || (commented && three.comments.length === 0);
}

/** Elements that were closed in both earlier looks no longer are. */
function endsEarlier(first: PageFacts, second: PageFacts, now: PageFacts): boolean {
  return first.markup.open === second.markup.open && now.markup.open > first.markup.open;
}

/**
 * Comments that it showed have given way to others: a visitor's may begin a new page of them, which WordPress then shows in place of
 * the last, full one, or visitors have written as many as a page of the newest has.
 */
function showsNewerComments(first: PageFacts, second: PageFacts, now: PageFacts): boolean {
  const [one, two, three] = [first.markup.comments, second.markup.comments, now.markup.comments];
  return three.length > 0 && one.some((id) => two.includes(id) && !three.includes(id));
}

/** Nor are pages of comments meant to be found, which a post becomes with a visitor's first one. */
function showsOtherComments(first: PageFacts, second: PageFacts, now: PageFacts): boolean {
  const shown = now.markup.comments;
  return shown.length > 0 && [first, second].every(({ markup }) => markup.comments.join() !== shown.join());
}

type WordsKept = ReturnType<typeof wordsKept>;

/** How many words there were in both looks, and still are. Of a page that has more than are read, any may come later. */
function wordsKept(first: PageFacts, second: PageFacts, now: PageFacts) {
  const later = new Set(second.words);
  const then = first.words.filter((word) => later.has(word));
  const left = new Set(now.words);
  const all = now.cut || now.words.length >= MAX_WORDS;
  const lost = new Set(all ? [] : then.filter((word) => !left.has(word)));
  return { had: then.length, kept: then.length - lost.size, lost };
}

/** How many elements there were in both looks and still are; `ends` = the main part or the footer is gone. */
function structureKept(first: PageMarkup, second: PageMarkup, now: PageMarkup) {
  let had = 0;
  let kept = 0;
  let ends = false;
  for (const [name, count] of Object.entries(first.structure)) {
    const steady = Math.min(count, second.structure[name] ?? 0);
    const left = Math.min(now.structure[name] ?? 0, steady);
    had += steady;
    kept += left;
    ends ||= (name === 'main' || name === 'footer') && steady > 0 && left === 0;
  }
  return { had, kept, ends };
}

/** @param hosts null = little is known of how it differs on its own */
function doubtsAbout(
  page: LookedPage,
  first: PageFacts,
  second: PageFacts,
  now: PageFacts,
  words: WordsKept,
  hosts: ReadonlySet<string> | null,
): PageFinding[] {
  const path = keyOf(page);
  const name = nameOf(page);
  const newer = showsNewerComments(first, second, now);
  const { had, kept, lost } = words;
  const found: PageFinding[] = [];
  if (isEmptied(first, second, now, words) && !newer)
    found.push({ severity: 'suspect', path, what: `${name} ${EMPTIED}`, loss: { of: 'text', what: lost } });
  else if (hosts !== null && had >= 10 && kept < had * LOST) {
    const what = `${name} has lost ${100 - Math.round((100 * kept) / had)} % of its words.`;
    found.push({ severity: 'suspect', path, what, ...(newer && { hearsay: true }) });
  }
  return hosts === null ? found : [...found, ...suspicions(page, first, second, now, hosts)];
}

function suspicions(
  page: LookedPage,
  first: PageFacts,
  second: PageFacts,
  now: PageFacts,
  known: ReadonlySet<string>,
): Finding[] {
  const path = keyOf(page);
  const name = nameOf(page);
  const found: Finding[] = [];
  const suspect = (what: string, hearsay = false) =>
    found.push({ severity: 'suspect', path, what: `${name} ${what}`, ...(hearsay && { hearsay: true }) });
  if (first.title === second.title && first.title !== now.title) suspect('has a different title.');
  const own = newMessages(first, second, now, 'own');
  if (own.length > 0) suspect(`shows another message of PHP: ${kindsOf(own)}.`);
  // Plugins change what they show there, and whom they link to.
  if (isInside(page)) return found;
  const text = kindsOf(newMessages(first, second, now, 'text'));
  if (text !== '') suspect(`holds the text of a message of PHP: ${text}.`, true);
  const [one, two, three] = [first.markup, second.markup, now.markup];
  if (newlyUnindexed(first, second, now))
    suspect('now keeps search engines away (noindex).', showsOtherComments(first, second, now));
  if (one.canonical !== '' && one.canonical === two.canonical && ![one.canonical, ''].includes(three.canonical))
    suspect('names a different canonical address.');
  // Advertisements bring other hosts each time; and what was not read may have named them.
  const steady =
    !first.cut && !second.cut && one.hosts !== null && two.hosts !== null && one.hosts.join() === two.hosts.join();
  const hosts = steady ? (three.hosts ?? []).filter((host) => !known.has(host)) : [];
  const unseen = (names: readonly string[]) =>
    `of hosts that were not there: ${names.slice(0, 5).map(siteWord).join(', ')}.`;
  const linked = hosts.filter((host) => three.linked.includes(host));
  const loaded = hosts.filter((host) => !linked.includes(host));
  if (loaded.length > 0) suspect(`has scripts or styles ${unseen(loaded)}`);
  if (linked.length > 0) suspect(`has links or frames ${unseen(linked)}`, true);
  return found;
}

/**
 * Paths of scripts and styles that a page includes now and that may not exist: first those that none included before, where
 * all of it was read then, and then those of the updated items.
 */
export function doubtfulAssets({ first, second, files = [] }: Baseline, now: SiteCheck): string[] {
  const checks = [first, second];
  const known = new Set(checks.flatMap(({ pages }) => Object.values(pages).flatMap(({ assets }) => assets)));
  const whole = Object.entries(now.pages).filter(([key]) => checks.every(({ pages }) => pages[key]?.cut !== true));
  const named = new Set(whole.flatMap(([, { assets }]) => assets));
  return [...[...named].filter((path) => !known.has(path)), ...files.filter((path) => named.has(path))];
}

function broken(path: string | null, what: string): Finding {
  return { severity: 'broken', path, what };
}
