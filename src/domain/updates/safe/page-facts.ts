/** What a page shows about a site's health: facts of one response, small enough to store. Pure. */

import { createHash } from 'node:crypto';
import type { Page } from '../../../outbound/child/port.js';

export interface PageFacts {
  /** 0 = no response. */
  status: number;
  /** Why there was none: the kind of failure. */
  failure: string;
  /** Path or address of a redirect, '' = none. */
  location: string;
  type: string;
  /** It sets cookies; absent in facts stored by older versions. */
  cookies?: boolean;
  bytes: number;
  /** Until the headers arrived. */
  ms: number;
  title: string;
  /** The page is complete: it contains `</html>`. */
  whole: boolean;
  /** Signs of a PHP or database failure. */
  errors: string[];
  /** Paths of the site's own scripts and styles. */
  assets: string[];
  /** Hashes of the distinct words of its text. */
  words: number[];
}

/**
 * Signs of a failed page, as PHP and WordPress write them. WordPress' texts are its English ones; other languages are
 * detected by a 5xx.
 */
const MARKS: readonly (readonly [string, RegExp])[] = [
  ['Fatal error', /<b>Fatal error<\/b>:|^(?:PHP )?Fatal error: /m],
  ['Parse error', /<b>Parse error<\/b>:|^(?:PHP )?Parse error: /m],
  ['There has been a critical error', /There has been a critical error on this website/],
  ['Error establishing a database connection', /Error establishing a database connection/],
];
const MAX_ASSETS = 100;
const MAX_WORDS = 1_000;

/** The facts of a response to a request for this page of this site. */
export function factsOf(page: Page, siteUrl: string): PageFacts {
  const html = page.content_type === '' || page.content_type.includes('html');
  const text = html ? page.body : '';
  return {
    status: page.status,
    failure: page.failure?.kind ?? '',
    location: locationOf(page.location, siteUrl),
    type: page.content_type,
    cookies: page.sets_cookies,
    ms: page.ms,
    bytes: Buffer.byteLength(page.body),
    title: collapse(/<title[^<>]*>([^<]{0,1000})/i.exec(text)?.[1] ?? '').slice(0, 200),
    // A truncated page cannot be compared.
    whole: page.cut || /<\/html\s*>/i.test(text),
    errors: MARKS.filter(([, mark]) => mark.test(page.body)).map(([name]) => name),
    assets: assetsOf(text, siteUrl),
    words: wordsOf(text),
  };
}

function locationOf(location: string, siteUrl: string): string {
  if (location === '') return '';
  try {
    const url = new URL(location, siteUrl);
    for (const name of [...url.searchParams.keys()]) if (name === 'sitefleet') url.searchParams.delete(name);
    return url.href.slice(0, 500);
  } catch {
    return 'unreadable';
  }
}

function assetsOf(text: string, siteUrl: string): string[] {
  const { origin } = new URL(siteUrl);
  const found = new Set<string>();
  for (const [, address = ''] of text.matchAll(
    /<(?:script|link)\b[^<>]{0,1000}?\b(?:src|href)=["']([^"'<>]{1,500})["']/gi,
  )) {
    try {
      const url = new URL(address.replaceAll('&amp;', '&').replaceAll('&#038;', '&'), siteUrl);
      // Versions in the query change with every update.
      if (url.origin === origin && /\.(js|css)$/i.test(url.pathname)) found.add(url.pathname);
    } catch {
      // Not a URL.
    }
    if (found.size >= MAX_ASSETS) break;
  }
  return [...found].sort();
}

function wordsOf(text: string): number[] {
  const plain = text
    // One that is never closed hides the rest, as in a browser; if each were searched to the end, a page would take minutes.
    .replace(/<(script|style|noscript|template)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<[^<>]{0,2000}>/g, ' ');
  const words = new Set<string>();
  for (const [word] of plain.matchAll(/\p{L}{2,40}/gu)) {
    words.add(word.toLowerCase());
    if (words.size >= MAX_WORDS) break;
  }
  const hashes = [...words].map((word) => createHash('sha256').update(word).digest().readUInt32BE(0));
  return [...new Set(hashes)].sort((a, b) => a - b);
}

function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
