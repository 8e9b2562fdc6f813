/** What the markup of a page says: its structure, whom it links to, and what it tells search engines. Pure. */

import { bareHost } from '../../sites/urls.js';
import { commentsIn, type FormFacts, formsOf, type Said, saidOn } from './page-forms.js';
import { attribute, forbidsIndex, wordsIn } from './tag-attributes.js';

export interface PageMarkup {
  /** Number of elements that give a page its structure, by name. */
  structure: Record<string, number>;
  /** Elements that are not closed, though HTML requires it: the page was cut off. */
  open: number;
  /** Search engines must not show it. */
  noindex: boolean;
  /** Where search engines are to look for it; '' = it does not say. */
  canonical: string;
  /** Where its head sends visitors, as it is written; '' = nowhere. */
  refresh: string;
  /** Other hosts of its scripts, styles, frames and links, without links that visitors have left; null = too many. */
  hosts: string[] | null;
  /** Those of them that a link names and nothing else: it may be one that a visitor has left, and is not marked so. */
  linked: string[];
  /** Those parts of a page that it has, by any name. */
  landmarks: Landmark[];
  /** Numbers of the comments of visitors that it shows. */
  comments: string[];
  /** Links in its menus. */
  menu: number;
  forms: FormFacts[];
  /** Null = it has no forms. */
  said: Said | null;
}

export type Landmark = 'header' | 'nav' | 'main' | 'footer';

const ELEMENT = /<(\/?)(header|nav|main|footer|article|section|div|form|a|img|h[1-6])(?=[\s>/])/gi;
/** Their end tags are not optional. */
const CLOSED: readonly string[] = ['header', 'nav', 'main', 'footer', 'article', 'section', 'div', 'form'];
/** What themes call those parts, in ids and roles. Visitors can write neither. */
const LANDMARKS: Readonly<Record<string, Landmark>> = {
  ...{ header: 'header', masthead: 'header', 'site-header': 'header', banner: 'header' },
  ...{ nav: 'nav', navigation: 'nav', 'site-navigation': 'nav', menu: 'nav' },
  ...{ main: 'main', content: 'main', primary: 'main', 'site-content': 'main' },
  ...{ footer: 'footer', colophon: 'footer', 'site-footer': 'footer', contentinfo: 'footer' },
};
const MAY_BE_LANDMARK = /<(\/?)(header|nav|main|footer|article|section|div)\b([^<>]{0,2000})>/gi;
const MOST_COMMENTS = 300;
/** One that is never closed hides the rest, as in a browser; if each were searched to the end, a page would take minutes. */
const CODE = /<(script|style|noscript|template)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
const COMMENT = /<!--[\s\S]*?(?:-->|$)/g;
const LOADED = /<(script|iframe)\b([^<>]{0,2000})>/gi;
const TAG = /<(link|a)\b([^<>]{0,2000})>/gi;
/** Scripts that load pictures and frames late read their addresses there. */
const ADDRESSES = ['src', 'href', 'data-src'] as const;
const ABSOLUTE = /^(?:https?:)?\/\//i;
const LONGEST_ADDRESS = 500;
const MAX_HOSTS = 60;
const MENU = /<nav\b[\s\S]*?(?:<\/nav\s*>|$)/gi;
const META = /<meta\b([^<>]{0,2000})>/gi;
/** Names under which a page speaks to search engines. */
const ENGINES: readonly string[] = ['robots', 'googlebot'];
const HEAD_ENDS = /<\/head\b|<body\b/i;
/** Without those tags, the first element that no head may have begins the body. */
const BODY_BEGINS = /<(?!(?:html|head|title|meta|link|base)\b)[a-z]/i;
const TITLE = /<title\b[^<>]{0,2000}>[\s\S]*?(?:<\/title\b|$)/gi;

/** A page without scripts, styles and comments. */
export function shownMarkup(text: string): string {
  return text.replace(CODE, ' ').replace(COMMENT, ' ');
}

/** @param shown the same page by `shownMarkup` */
export function markupOf(text: string, shown: string, siteUrl: string): PageMarkup {
  const { structure, open } = structureOf(shown);
  const hosts = new Set<string>();
  const loaded = new Set<string>();
  const forms = formsOf(shown);
  const own = bareHost(new URL(siteUrl).hostname);
  let canonical = '';
  for (const [, tag = '', attributes = ''] of [...shown.matchAll(TAG), ...text.matchAll(LOADED)]) {
    const name = tag.toLowerCase();
    if (name === 'link' && wordsIn(attributes, 'rel').includes('canonical'))
      canonical ||= withoutComments(absolute(attributes, siteUrl)).slice(0, 500);
    else if (hosts.size <= MAX_HOSTS && bringsHost(name, attributes)) {
      const host = absolute(attributes, siteUrl)?.hostname ?? '';
      if (host === '' || bareHost(host) === own) continue;
      hosts.add(host);
      // Some plugins make a frame of each video that a visitor names.
      if (name !== 'a' && name !== 'iframe') loaded.add(host);
    }
  }
  const all = [...hosts].sort();
  const metas = metasOf(shown);
  return {
    ...{ structure, open, noindex: saysNoindex(metas), canonical, refresh: refreshOf(metas) },
    hosts: hosts.size > MAX_HOSTS ? null : all,
    linked: all.filter((host) => !loaded.has(host)),
    landmarks: landmarksOf(shown),
    comments: [...new Set(commentsIn(shown).map(({ id }) => id))].slice(0, MOST_COMMENTS),
    menu: [...shown.matchAll(MENU)].reduce((sum, [menu]) => sum + (menu.match(/<a\b/gi)?.length ?? 0), 0),
    forms,
    said: forms.length === 0 ? null : saidOn(shown),
  };
}

function structureOf(shown: string): Pick<PageMarkup, 'structure' | 'open'> {
  const structure: Record<string, number> = {};
  const balance: Record<string, number> = {};
  for (const [, slash, tag = ''] of shown.matchAll(ELEMENT)) {
    const name = tag.toLowerCase();
    if (slash === '') structure[name] = (structure[name] ?? 0) + 1;
    if (CLOSED.includes(name)) balance[name] = (balance[name] ?? 0) + (slash === '' ? 1 : -1);
  }
  const open = Object.values(balance).reduce((sum, count) => sum + Math.max(count, 0), 0);
  return { structure, open };
}

/** Each comment or entry may have a header and a footer of its own, within its article. */
function landmarksOf(shown: string): Landmark[] {
  const found = new Set<Landmark>();
  let within = 0;
  for (const [, slash, tag = '', attributes = ''] of shown.matchAll(MAY_BE_LANDMARK)) {
    const name = tag.toLowerCase();
    if (name === 'article' || name === 'section') within = Math.max(0, within + (slash === '' ? 1 : -1));
    if (slash !== '') continue;
    const own = within > 0 && (name === 'header' || name === 'footer') ? [] : [name];
    for (const called of [...own, attribute(attributes, 'id'), attribute(attributes, 'role')]) {
      const landmark = Object.hasOwn(LANDMARKS, called.toLowerCase()) ? LANDMARKS[called.toLowerCase()] : undefined;
      if (landmark !== undefined) found.add(landmark);
    }
  }
  return [...found].sort();
}

/** In the head, where no visitor writes. */
function saysNoindex(metas: readonly string[]): boolean {
  return metas.some(
    (attributes) =>
      ENGINES.includes(attribute(attributes, 'name').trim().toLowerCase()) &&
      forbidsIndex(attribute(attributes, 'content')),
  );
}

/** Where the head of a page sends its visitors, as it is written; '' = nowhere. */
function refreshOf(metas: readonly string[]): string {
  const found = metas.find((one) => attribute(one, 'http-equiv').trim().toLowerCase() === 'refresh') ?? '';
  return refreshTarget(attribute(found, 'content'));
}

/** The address in such an element, or in the header of that name; '' = none: the page is loaded again. */
export function refreshTarget(content: string): string {
  return /^[\s\d.]{0,20}[;,]?\s{0,20}url\s{0,20}=\s{0,20}['"]?([^'"]{1,2000})/i.exec(content)?.[1] ?? '';
}

/** The attributes of the `meta` elements in the head of a page. */
function metasOf(shown: string): string[] {
  const page = shown.replace(TITLE, ' ');
  const end = page.search(HEAD_ENDS);
  const length = end < 0 ? page.search(BODY_BEGINS) : end;
  const head = length < 0 ? page : page.slice(0, length);
  return [...head.matchAll(META)].map(([, attributes = '']) => attributes);
}

/** WordPress marks most links that visitors have left. Its list of the latest comments does not. */
export function isVisitors(attributes: string): boolean {
  const rel = wordsIn(attributes, 'rel');
  const latest = wordsIn(attributes, 'class').some((name) => name.startsWith('wp-block-latest-comments__'));
  return latest || rel.includes('ugc') || rel.includes('nofollow');
}

function bringsHost(name: string, attributes: string): boolean {
  if (name === 'link') return wordsIn(attributes, 'rel').includes('stylesheet');
  return name !== 'a' || !isVisitors(attributes);
}

/** WordPress names the page of a post's comments in its address, and the first visitor's comment begins it. */
function withoutComments(url: URL | null): string {
  if (url === null) return '';
  url.hash = '';
  url.searchParams.delete('cpage');
  url.pathname = url.pathname.replace(/\/comment-page-\d{1,9}\/?$/, '/');
  return url.href;
}

/** Where a tag leads, or what it loads; null if it names no server. */
function absolute(attributes: string, siteUrl: string): URL | null {
  const address = ADDRESSES.map((name) => attribute(attributes, name).trim()).find((one) => ABSOLUTE.test(one));
  if (address === undefined) return null;
  try {
    const named = address.slice(0, LONGEST_ADDRESS).replaceAll('&amp;', '&').replaceAll('&#038;', '&');
    const url = new URL(named, siteUrl);
    url.searchParams.delete('sitefleet');
    return url;
  } catch {
    return null;
  }
}
