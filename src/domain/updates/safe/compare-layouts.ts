/** Compares what a browser made of a page with what it made of it before an update. Pure. */

import { siteWord } from '../../../../schemas/site-text.js';
import type { Layout } from '../../../outbound/pictures/pictures.js';
import type { Severity } from './compare-health.js';

/** What is worse on one page; `what` follows the name of the page. */
export interface LayoutFinding {
  kind: 'text' | 'styles' | 'images' | 'landmark' | 'menu' | 'failed' | 'error' | 'overflow' | 'picture';
  severity: Severity;
  what: string;
}

/** Shares that are left of what can be read, and of the rules of the style sheets. */
const NEARLY_NONE = 0.2;
const HALF = 0.5;
const FEW = 0.25;
/** Fewer tell nothing. */
const WORDS = 10;
const RULES = 20;
const IMAGES = 2;
const LINKS = 2;
/** Share of a phone's width by which a page may be too wide, and its width. */
const TOO_WIDE = 40;

/** The same page, before the update: two looks, so that what differs between them is not judged. */
export function compareLayouts(first: Layout, second: Layout, now: Layout): LayoutFinding[] {
  const found: LayoutFinding[] = [];
  const add = (kind: LayoutFinding['kind'], severity: Severity, what: string) => found.push({ kind, severity, what });
  const text = textLost(first, second, now);
  if (text !== null) found.push(text);
  const styles = stylesLost(first, second, now);
  if (styles !== null) found.push(styles);
  const images = imagesLost(first, second, now);
  if (images !== null) found.push(images);
  const gone = first.landmarks.filter((name) => second.landmarks.includes(name) && !now.landmarks.includes(name));
  if (gone.length > 0) add('landmark', 'suspect', `shows no ${gone.join(', ')} any more.`);
  if (Math.min(first.menu, second.menu) >= LINKS && now.menu === 0)
    add('menu', 'suspect', 'shows no link of a menu any more.');
  const failed = newIn(first.failed, second.failed, now.failed);
  if (failed.length > 0) add('failed', 'suspect', `uses files of the site that do not load: ${listed(failed)}.`);
  const errors = newIn(first.errors, second.errors, now.errors);
  if (errors.length > 0) add('error', 'suspect', `has a new error of a script: ${listed(errors.slice(0, 1))}.`);
  if (Math.max(first.overflow, second.overflow) <= 4 && now.overflow > TOO_WIDE)
    add('overflow', 'suspect', 'is wider than the window.');
  return found;
}

/** Words that are still in the page and can no longer be read. Others are judged by what the site sends. */
function textLost(first: Layout, second: Layout, now: Layout): LayoutFinding | null {
  const later = new Set(second.readable);
  const steady = first.readable.filter((word) => later.has(word));
  const readable = new Set(now.readable);
  const present = new Set(now.words);
  const unread = steady.filter((word) => present.has(word) && !readable.has(word)).length;
  if (steady.length < WORDS || unread < steady.length * HALF) return null;
  const share = Math.round((100 * unread) / steady.length);
  const hidden = now.hidden - first.hidden >= now.covered - first.covered;
  const what = `has ${hidden ? 'hidden' : 'covered'} ${share} % of the words that could be read.`;
  // What covers a page may be a window that asks something.
  const broken = hidden && unread >= steady.length * (1 - NEARLY_NONE);
  return { kind: 'text', severity: broken ? 'broken' : 'suspect', what };
}

/** Those of a theme or plugin, unless they are elsewhere now: some plugins join the sheets of all. */
function stylesLost(
  { styles: first }: Layout,
  { styles: second }: Layout,
  { styles: now }: Layout,
): LayoutFinding | null {
  // What another host delivers cannot be counted.
  if (now.foreign > first.foreign) return null;
  const before = sum(first.rules);
  const lost = Object.entries(first.rules).flatMap(([from, rules]) => {
    const had = Math.min(rules, second.rules[from] ?? 0);
    const left = now.rules[from] ?? 0;
    const gone = had >= RULES && left < had * FEW && sum(now.rules) <= before - had * (1 - FEW);
    return gone && from !== 'page' ? [{ from, had, left }] : [];
  });
  const [worst] = lost.toSorted((a, b) => b.had - a.had);
  if (worst === undefined) return null;
  const { from, had, left } = worst;
  const most = from.startsWith('/themes/') || had >= before * HALF;
  const what = `has lost styles of ${siteWord(from)}: of ${had} rules ${left} are left.`;
  return { kind: 'styles', severity: most ? 'broken' : 'suspect', what };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((all, one) => all + one, 0);
}

function imagesLost(first: Layout, second: Layout, now: Layout): LayoutFinding | null {
  const well = Math.min(...[first, second].map(({ images }) => images.shown - images.broken));
  const broken = now.images.broken - Math.max(first.images.broken, second.images.broken);
  if (broken <= 0 || well === 0) return null;
  const all = well >= IMAGES && now.images.broken === now.images.shown;
  return all
    ? { kind: 'images', severity: 'broken', what: `shows none of its ${now.images.shown} pictures any more.` }
    : { kind: 'images', severity: 'suspect', what: `has pictures that no longer load: ${broken}.` };
}

function newIn(first: readonly string[], second: readonly string[], now: readonly string[]): string[] {
  return now.filter((one) => !first.includes(one) && !second.includes(one));
}

function listed(names: readonly string[]): string {
  return names.slice(0, 3).map(siteWord).join(', ');
}
