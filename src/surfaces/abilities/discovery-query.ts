/** Query parameters and headers of the two discovery collections (operations §2). */

import { queryOf } from '../http/request-url.js';
import type { Fields, Filters, View } from './discovery-entries.js';
import { invalidParam, type RunContext } from './responses.js';

/** The requested page. Throws `rest_invalid_param` outside the bounds. */
function paging(query: URLSearchParams): { page: number; perPage: number } {
  return { page: bounded(query, 'page', 1, Number.MAX_SAFE_INTEGER), perPage: bounded(query, 'per_page', 50, 100) };
}

function bounded(query: URLSearchParams, name: string, standard: number, max: number): number {
  const text = query.get(name);
  if (text === null) return standard;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= max) return value;
  throw invalidParam(name, max === 100 ? 'must be a whole number from 1 to 100' : 'must be a whole number from 1');
}

/** The requested `context`. Throws `rest_invalid_param`. */
export function viewOf(query: URLSearchParams): View {
  const text = query.get('context') ?? 'view';
  if (text === 'view' || text === 'edit' || text === 'embed') return text;
  throw invalidParam('context', 'must be view, edit or embed');
}

/** The requested fields: `_fields=name,meta.annotations` or `_fields[]=name&_fields[]=label`. */
export function fieldsOf(query: URLSearchParams): Fields {
  const texts = [...query.entries()].filter(([name]) => /^_fields(\[\d*\])?$/.test(name)).map(([, value]) => value);
  const names = texts.flatMap((text) => text.split(/[\s,]+/)).filter((name) => name !== '');
  return names.length === 0 ? undefined : names.map((name) => name.split('.'));
}

/** The requested filters. Throws `rest_invalid_param`. */
export function filtersOf(query: URLSearchParams): Filters {
  const annotation = (name: string) => flag(query, `meta[annotations][${name}]`);
  return {
    category: query.get('category') || undefined,
    namespace: query.get('namespace') || undefined,
    readonly: annotation('readonly'),
    destructive: annotation('destructive'),
    idempotent: annotation('idempotent'),
  };
}

function flag(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name)?.toLowerCase();
  if (text === undefined || text === '') return undefined;
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw invalidParam(name, 'must be true or false');
}

/** One page of a collection with its count and `Link` headers. `url` is that of the collection. */
export function collectionResponse<T>(
  c: RunContext,
  all: readonly T[],
  url: string,
  show: (item: T) => object,
): Response {
  const query = queryOf(c.req.url);
  const { page, perPage } = paging(query);
  const pages = Math.ceil(all.length / perPage);
  c.header('X-WP-Total', String(all.length));
  c.header('X-WP-TotalPages', String(pages));
  const links: string[] = [];
  const link = (rel: string, to: number) => {
    query.set('page', String(to));
    links.push(`<${url}?${query}>; rel="${rel}"`);
  };
  if (page > 1) link('prev', Math.min(page - 1, Math.max(pages, 1)));
  if (page < pages) link('next', page + 1);
  if (links.length > 0) c.header('Link', links.join(', '));
  return c.json(all.slice((page - 1) * perPage, page * perPage).map(show));
}
