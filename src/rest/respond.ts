/** Answers on the wire: the envelope, count headers, validators, and errors (REST §2). */

import { hash } from 'node:crypto';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { HttpEnv } from '../auth.js';
import { errorBody, type ServiceError } from '../errors.js';
import { pickFields } from './fields.js';
import type { Answer, AnswerFile, Route } from './route.js';

export type RestContext = Context<HttpEnv>;

/** A successful answer with its headers; 304 when the caller has it already. */
export function answered(c: RestContext, route: Route, answer: Answer, query: URLSearchParams): Response {
  countHeaders(c, answer, query);
  const own = route.headers?.(answer) ?? {};
  for (const [name, value] of Object.entries(own)) c.header(name, value);
  const file = fileOf(answer);
  const text = file?.text ?? JSON.stringify(envelope(route, pickFields(answer, query.get('_fields'))));
  // Read from storage: a caller may keep it and ask whether it changed.
  if (!route.engine && !('Cache-Control' in own)) {
    const tag = `"${hash('sha256', text, 'base64url').slice(0, 27)}"`;
    c.header('ETag', tag);
    c.header('Cache-Control', 'private, no-cache');
    c.header('Vary', 'Authorization');
    if (sameTag(c.req.header('if-none-match'), tag)) return c.body(null, 304);
  }
  if (file !== undefined) return c.body(text, 200, fileHeaders(file));
  return c.body(text, 200, { 'Content-Type': 'application/json; charset=UTF-8' });
}

/** An answer that is a file and no envelope: `file: {type, name, text}`. */
function fileOf({ file }: Answer): AnswerFile | undefined {
  return file as AnswerFile | undefined;
}

/** A page shows what child sites told: it may run, load and send nothing. */
function fileHeaders({ type, name }: AnswerFile): Record<string, string> {
  return {
    'Content-Type': `${type}; charset=UTF-8`,
    'Content-Disposition': `${type === 'text/html' ? 'inline' : 'attachment'}; filename="${name}"`,
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'X-Content-Type-Options': 'nosniff',
  };
}

function envelope(route: Route, answer: Answer): Answer {
  if (route.bare) return answer;
  return { success: 1, ...answer, ...pagesOf(answer) };
}

/** Weak comparison, as If-None-Match wants it (RFC 9110 §13.1.2). */
function sameTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((entry) => entry.trim().replace(/^W\//, '') === tag);
}

function pagesOf(answer: Answer): { pages?: number } {
  const { total, per_page } = answer;
  if (typeof total !== 'number' || typeof per_page !== 'number' || 'pages' in answer) return {};
  return { pages: Math.ceil(total / per_page) };
}

/** `X-Total`, `X-Total-Pages` and `Link`, and the first two under the names that WordPress clients read. */
function countHeaders(c: RestContext, answer: Answer, query: URLSearchParams): void {
  const { total, page } = answer;
  if (typeof total !== 'number') return;
  c.header('X-Total', String(total));
  c.header('X-WP-Total', String(total));
  const pages = typeof answer.pages === 'number' ? answer.pages : pagesOf(answer).pages;
  if (pages === undefined || typeof page !== 'number') return;
  c.header('X-Total-Pages', String(pages));
  c.header('X-WP-TotalPages', String(pages));
  const links = pageLinks(c, page, pages, query);
  if (links !== '') c.header('Link', links);
}

function pageLinks(c: RestContext, page: number, pages: number, query: URLSearchParams): string {
  const url = `${c.get('arrival').base_url}${new URL(c.req.url).pathname}`;
  const link = (rel: string, to: number) => {
    const params = new URLSearchParams(query);
    params.set('page', String(to));
    return `<${url}?${params}>; rel="${rel}"`;
  };
  const links: string[] = [];
  if (page > 1 && pages > 0) links.push(link('first', 1), link('prev', Math.min(page - 1, pages)));
  if (page < pages) links.push(link('next', page + 1), link('last', pages));
  return links.join(', ');
}

/** The error as an answer, with the headers that belong to its status. */
export function failed(c: RestContext, error: ServiceError): Response {
  if (error.status === 401) c.header('WWW-Authenticate', 'Bearer realm="svc"');
  if (typeof error.data.retry_after === 'number') c.header('Retry-After', String(error.data.retry_after));
  if (Array.isArray(error.data.allow)) c.header('Allow', error.data.allow.join(', '));
  return c.json({ success: 0, ...errorBody(error) }, error.status as ContentfulStatusCode);
}
