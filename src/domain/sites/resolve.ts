/** Resolves the sites that a caller names: in one round trip, without duplicates, with access checked. */

import type { siteError } from '../../../schemas/common.js';
import { cut } from '../../../schemas/text.js';
import type { z } from '../../../schemas/zod.js';
import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import { groupBy } from '../../runtime/group-by.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { urlReference } from './urls.js';

export type SiteRef = number | string;

/** A member of a selection that matched no usable site. */
export type ResolveError = z.output<ReturnType<typeof siteError>>;

export interface Selection {
  /** Distinct sites in the given order ("all": URL order). */
  sites: SiteRow[];
  /** How the caller named each site, by id. */
  identifiers: Map<number, SiteRef>;
  errors: ResolveError[];
}

const DIGITS = /^\d{1,15}$/;
/** Characters of a name of a site that are repeated where there is none of that name. */
const LONGEST_SHOWN = 2_000;

type Parsed = { id: number } | { exact: string | null; url_key: string } | null;

const meaning = (ref: string) => `site ${ref.trim()}`;

function parseRef({ call }: Ctx, ref: SiteRef): Parsed {
  const known = typeof ref === 'string' ? call?.meant.get(meaning(ref)) : undefined;
  if (known !== undefined) return { id: known };
  if (typeof ref === 'number') return Number.isInteger(ref) ? { id: ref } : null;
  if (DIGITS.test(ref.trim())) return { id: Number(ref.trim()) };
  return urlReference(ref);
}

/**
 * One site by id, domain or URL (operations §4.1), or by its exact name. Throws `svc_site_not_found`, or
 * `svc_ambiguous_site` with `data.site_ids`.
 */
export async function getSite(ctx: Ctx, ref: SiteRef, field = 'site_id_or_domain'): Promise<SiteRow> {
  const [outcome] = await resolve(ctx, [ref], field, false);
  if (outcome === undefined) throw notFound(ref, field).asError();
  if (outcome instanceof Refusal) throw outcome.asError();
  return outcome;
}

/** The same; of several sites the one with the lowest id, which is the one that a route means (REST §3.3). */
export async function lowestSite(ctx: Ctx, ref: SiteRef, field: string): Promise<SiteRow> {
  try {
    return await getSite(ctx, ref, field);
  } catch (error) {
    const ids = error instanceof ServiceError && error.code === 'svc_ambiguous_site' ? error.data.site_ids : undefined;
    if (!Array.isArray(ids) || ids.length === 0) throw error;
    const site = await getSite(ctx, Math.min(...(ids as number[])), field);
    ctx.call?.meant.set(meaning(String(ref)), site.id);
    return site;
  }
}

/** The id of a site as a filter; undefined = no filter, if none is named. Throws as `getSite`. */
export async function oneOrAll(ctx: Ctx, ref: SiteRef | undefined): Promise<number[] | undefined> {
  return ref === undefined ? undefined : [(await getSite(ctx, ref)).id];
}

/** Resolves a list of sites; an unusable entry becomes an error entry and never stops the rest (operations §6). */
export async function resolveSites(
  ctx: Ctx,
  refs: readonly SiteRef[],
  field = 'site_ids_or_domains',
): Promise<Selection> {
  const selection: Selection = { sites: [], identifiers: new Map(), errors: [] };
  const outcomes = await resolve(ctx, refs, field, true);
  refs.forEach((ref, index) => {
    const outcome = outcomes[index];
    if (outcome === undefined) return;
    if (outcome instanceof Refusal) {
      const { code, message, data } = outcome;
      const identifier = typeof ref === 'string' ? cut(ref, LONGEST_SHOWN) : ref;
      selection.errors.push({ identifier, site_id: data.site_id ?? null, code, message });
    } else if (!selection.identifiers.has(outcome.id)) {
      selection.identifiers.set(outcome.id, ref);
      selection.sites.push(outcome);
    }
  });
  return selection;
}

/** Sites chosen by the service itself ("all sites"), in URL order. */
export function selectionOf(sites: SiteRow[]): Selection {
  return { sites, identifiers: new Map(sites.map((site) => [site.id, site.id])), errors: [] };
}

async function resolve(
  ctx: Ctx,
  refs: readonly SiteRef[],
  field: string,
  many: boolean,
): Promise<(SiteRow | Refusal)[]> {
  const parsed = refs.map((ref) => parseRef(ctx, ref));
  const ids = parsed.flatMap((ref) => (ref !== null && 'id' in ref ? [ref.id] : []));
  const keys = parsed.flatMap((ref) => (ref !== null && 'url_key' in ref ? [ref.url_key] : []));
  const rows = ids.length + keys.length === 0 ? [] : await ctx.store.sites.candidates(ids, keys);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const byKey = groupBy(rows, ({ url_key }) => url_key);
  const found = parsed.map((ref) => {
    if (ref === null) return [];
    return 'id' in ref ? present(byId.get(ref.id)) : matches(byKey.get(ref.url_key) ?? [], ref.exact);
  });
  const named = await sitesNamed(
    ctx,
    refs.filter((_, index) => found[index]?.length === 0),
  );
  return refs.map((given, index) => {
    const at = many ? `${field}[${index}]` : field;
    const own = found[index] ?? [];
    const all = own.length > 0 ? own : (named.get(given) ?? []);
    const [site, ...more] = all;
    if (site === undefined) return notFound(given, at);
    if (more.length > 0) return ambiguous(given, at, all);
    if (typeof given === 'string') ctx.call?.meant.set(meaning(given), site.id);
    return site;
  });
}

/** A number, or what may be the address of a site. */
const ADDRESS = /^\d+$|^[^\s]*[.:/@][^\s]*$/;
const LONGEST_NAME = 255;

/**
 * The sites of the references that are exact names. What looks like an address is never a name: sites name themselves, so
 * one could take the place of another that is gone.
 */
async function sitesNamed(ctx: Ctx, refs: readonly SiteRef[]): Promise<Map<SiteRef, SiteRow[]>> {
  const keyOf = (ref: SiteRef) => {
    const name = typeof ref === 'string' ? ref.trim() : '';
    return name === '' || name.length > LONGEST_NAME || ADDRESS.test(name) ? undefined : name.toLowerCase();
  };
  const keys = new Set(refs.flatMap((ref) => keyOf(ref) ?? []));
  if (keys.size === 0) return new Map();
  const ids = await ctx.store.sites.idsNamed([...keys]);
  const rows = ids.size === 0 ? [] : await ctx.store.sites.candidates([...ids.values()].flat());
  const byId = new Map(rows.map((row) => [row.id, row]));
  const sitesOf = (ref: SiteRef) => ids.get(keyOf(ref) ?? '')?.flatMap((id) => byId.get(id) ?? []) ?? [];
  return new Map(refs.map((ref) => [ref, sitesOf(ref)]));
}

function present<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

/** One exact full-URL match takes precedence over several sites with the same identifying form. */
function matches<T extends { url: string }>(rows: readonly T[], exact: string | null): readonly T[] {
  if (rows.length < 2 || exact === null) return rows;
  const same = rows.filter((row) => row.url === exact);
  return same.length === 1 ? same : rows;
}

/** Why a reference cannot be used. Not an Error, because a call may contain thousands and errors are slow to create. */
class Refusal {
  constructor(
    readonly code: ErrorCode,
    readonly message: string,
    private readonly field: string,
    private readonly advice: string,
    readonly data: { site_id?: number; site_ids?: number[] } = {},
  ) {}

  asError(): ServiceError {
    const { field, advice, data } = this;
    return new ServiceError(this.code, this.message, { field, advice, data });
  }
}

function notFound(ref: SiteRef, field: string): Refusal {
  const message = `${field}: there is no site ${quote(ref)}.`;
  return new Refusal('svc_site_not_found', message, field, 'Find the id or domain with list-sites-v1.');
}

/** The error for a site that was deleted between two steps of a call. */
export function removedMeanwhile(id: number): ServiceError {
  return new ServiceError('svc_site_not_found', `Site ${id} has been removed in the meantime.`, {
    data: { site_id: id },
  });
}

const MOST_CANDIDATES = 10;

function ambiguous(ref: SiteRef, field: string, found: readonly SiteRow[]): Refusal {
  const candidates = found.slice(0, MOST_CANDIDATES).map(({ id, url }) => `${id} (${url})`);
  const more = found.length > MOST_CANDIDATES ? ', …' : '';
  const message = `${field}: ${quote(ref)} names ${found.length} sites: ${candidates.join(', ')}${more}.`;
  const advice = 'Name the site by its id, or by its full URL with the scheme.';
  return new Refusal('svc_ambiguous_site', message, field, advice, { site_ids: found.map((site) => site.id) });
}

/** Callers' text is shortened when it is repeated: it may be anything. */
function quote(ref: SiteRef): string {
  return JSON.stringify(typeof ref === 'string' && ref.length > 100 ? `${ref.slice(0, 100)}…` : ref);
}

/** A row without what names its site, for a call that named it. */
export function withoutSite<Row extends { site_id: unknown; url: unknown }>(row: Row): Omit<Row, 'site_id' | 'url'> {
  const { site_id: _id, url: _url, ...rest } = row;
  return rest;
}
