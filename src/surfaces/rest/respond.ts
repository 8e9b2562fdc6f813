/** Successful answers: the envelope, count headers, and ETags (REST §2). */

import type { Context } from 'hono';
import { textResponse } from '../http/compression.js';
import type { HttpEnv } from '../http/request-info.js';
import { endOfPath, pathOf } from '../http/request-url.js';
import { holdsTag, tagOfRevision, tagOfText } from './etag.js';
import { askedFields, pickFields } from './fields.js';
import { jsonOf } from './json-text.js';
import type { AnswerFile, Route, RouteAnswer } from './route.js';
import { answerInRoutes } from './route-names.js';

export type RestContext = Context<HttpEnv>;

/**
 * Headers of an answer, names in lower case. Always a plain object: with a `Headers` object, the headers of a list
 * would cost more than its items.
 */
export type HeaderFields = Record<string, string>;

interface Asked {
  query: URLSearchParams;
  /** Headers that are already set. */
  headers: HeaderFields;
  /** The part of the ETag before the revision; undefined for a row without revisions. */
  asked: string | undefined;
  /** Told how long the answer is. */
  built: (bytes: number) => void;
  /** The answer contains only the revision, which the caller already has. */
  unchanged: boolean;
}

/** A successful answer; 304 when the caller already has it. */
export async function answered(
  c: RestContext,
  route: Route,
  { revision, ...answer }: RouteAnswer,
  { query, headers, asked, built, unchanged }: Asked,
): Promise<Response> {
  const revised = asked === undefined ? undefined : tagOfRevision(asked, String(revision));
  if (revised !== undefined && unchanged) return notModified(headers, revised);
  countHeaders(c, answer, query, headers);
  const own = route.headers?.(answer) ?? {};
  for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = value;
  // An answer that is a file instead of an envelope.
  const file = answer.file as AnswerFile | undefined;
  const text = encoded(file?.text ?? jsonOf(envelope(pickFields(route, answer, askedFields(query)))));
  // Read from storage: a caller may cache it and revalidate.
  if (!route.engine && headers['cache-control'] === undefined) {
    const tag = revised ?? tagOfText(text);
    if (holdsTag(c.req.raw.headers.get('if-none-match'), tag)) return notModified(headers, tag);
    mayBeKept(headers, tag);
  }
  if (file === undefined) headers['content-type'] = 'application/json; charset=UTF-8';
  else Object.assign(headers, fileHeaders(file));
  built(text.length);
  return textResponse(text, c.req.raw.headers.get('accept-encoding'), headers);
}

function mayBeKept(headers: HeaderFields, tag: string): void {
  headers.etag = tag;
  headers['cache-control'] = 'private, no-cache';
  headers.vary = 'Authorization';
}

function notModified(headers: HeaderFields, tag: string): Response {
  mayBeKept(headers, tag);
  return new Response(null, { status: 304, headers });
}

/**
 * From this many characters, a text is encoded once for both hashing and sending. Shorter ones are faster as strings.
 */
const LONG = 65_536;

function encoded(text: string | Uint8Array<ArrayBuffer>): string | Uint8Array<ArrayBuffer> {
  return typeof text !== 'string' || text.length < LONG ? text : Buffer.from(text);
}

/** Headers of a file. An HTML file shows text of child sites, so it may run, load and send nothing. */
function fileHeaders({ type, name }: AnswerFile): HeaderFields {
  return {
    'content-type': `${type}; charset=UTF-8`,
    'content-disposition': `${type === 'text/html' ? 'inline' : 'attachment'}; filename="${name}"`,
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
  };
}

function envelope(answer: RouteAnswer): RouteAnswer {
  return { success: 1, ...answerInRoutes(answer), ...pagesOf(answer) };
}

function pagesOf(answer: RouteAnswer): { pages?: number } {
  const { total, per_page } = answer;
  if (typeof total !== 'number' || typeof per_page !== 'number' || 'pages' in answer) return {};
  return { pages: Math.ceil(total / per_page) };
}

/** Sets `X-Total`, `X-Total-Pages` and `Link`, and the first two also under the names that WordPress clients read. */
function countHeaders(c: RestContext, answer: RouteAnswer, query: URLSearchParams, headers: HeaderFields): void {
  const { total, page } = answer;
  if (typeof total !== 'number') return;
  headers['x-total'] = headers['x-wp-total'] = String(total);
  const pages = typeof answer.pages === 'number' ? answer.pages : pagesOf(answer).pages;
  if (pages === undefined || typeof page !== 'number') return;
  headers['x-total-pages'] = headers['x-wp-totalpages'] = String(pages);
  const links = query.has('cursor') ? cursorLink(c, answer, query) : pageLinks(c, answer, page, pages, query);
  if (links !== '') headers.link = links;
}

function pageLinks(c: RestContext, answer: RouteAnswer, page: number, pages: number, query: URLSearchParams): string {
  if (pages <= 1 && page <= 1) return '';
  const others = otherThanPage(c.req.url, query);
  const before = `${others === '' ? '' : `${others}&`}${sizeIn(answer, query)}`;
  const address = `${c.env.info.base_url}${pathOf(c.req.url)}?${before}page=`;
  const link = (rel: string, to: number) => `<${address}${to}>; rel="${rel}"`;
  const links: string[] = [];
  if (page > 1 && pages > 0) links.push(link('first', 1), link('prev', Math.min(page - 1, pages)));
  if (page < pages) links.push(link('next', page + 1), link('last', pages));
  return links.join(', ');
}

/** Names of `per_page` in a call. */
const SIZES = ['per_page', 'items_per_page', 'limit'];

/**
 * The length of this page where the call does not name it: without one, a call that names a page has shorter pages than
 * one that names none (REST §3.1). Heartbeats, with `meta`, have a `limit` instead.
 */
function sizeIn(answer: RouteAnswer, query: URLSearchParams): string {
  if (typeof answer.per_page !== 'number' || 'meta' in answer || SIZES.some((name) => query.has(name))) return '';
  return `per_page=${answer.per_page}&`;
}

/** The `Link` of a page requested by cursor, which knows only the next one. */
function cursorLink(c: RestContext, { next_cursor }: RouteAnswer, query: URLSearchParams): string {
  if (typeof next_cursor !== 'string') return '';
  const others = new URLSearchParams(query);
  others.set('cursor', next_cursor);
  return `<${c.env.info.base_url}${pathOf(c.req.url)}?${others}>; rel="next"`;
}

/** A query with only these characters needs no encoding, so it is copied instead of parsed and rebuilt. */
const PLAIN_QUERY = /^[\w.=&-]*$/;

function otherThanPage(url: string, query: URLSearchParams): string {
  const sent = url.slice(endOfPath(url) + 1);
  if (PLAIN_QUERY.test(sent) && !query.has('page')) return sent;
  const others = new URLSearchParams(query);
  others.delete('page');
  return others.toString();
}
