/**
 * Guidance: what to watch out for on the fleet, on a client's sites or on a site before it is changed. What a person
 * writes holds at once; what a program proposes is marked as unverified until a person confirms it.
 */

import type { guidanceEntry } from '../../../schemas/guidance.js';
import { siteWord } from '../../../schemas/site-text.js';
import { cleanLine } from '../../../schemas/text.js';
import type { z } from '../../../schemas/zod.js';
import { isPerson } from '../../runtime/actor.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime, timestampOf } from '../../runtime/iso-time.js';
import type { GuidanceRow } from '../../store/guidance/guidance.js';
import { type ClientRef, findClient } from '../clients/records.js';
import type { Ctx } from '../context.js';
import { getSite, type SiteRef } from '../sites/resolve.js';

/** Kept in all: assistants read all that concerns a site. */
const MOST = 1_000;
/** Of these, what programs proposed, so that there is room for what people write. */
const MOST_UNVERIFIED = 200;
const MOST_TEXT = 500;
/** Lines that a plan, or a preview of a change, shows. */
const MOST_LINES = 5;

export interface GuidanceInput {
  text: string;
  site_id_or_domain?: SiteRef | undefined;
  client_id_or_email?: ClientRef | undefined;
  /** ISO 8601. */
  until?: string | undefined;
}

type View = z.output<ReturnType<typeof guidanceEntry>> & Pick<GuidanceRow, 'site_name' | 'client_name'>;

/** What holds now: all, or what to watch out for on one site or with one client. */
export async function listGuidance(
  ctx: Ctx,
  { site_id_or_domain: site, client_id_or_email: client }: Omit<GuidanceInput, 'text' | 'until'>,
  page: number,
  perPage: number,
) {
  if (site !== undefined && client !== undefined) throw oneOnly();
  const now = ctx.clock.now();
  const owner = client === undefined ? undefined : (await findClient(ctx, client)).id;
  const { items, total } =
    site === undefined
      ? await ctx.store.guidance.list(owner, now, page, perPage)
      : await ctx.store.guidance.heeded([(await getSite(ctx, site)).id], now, page, perPage);
  return { guidance: items.map(viewOf), total, page, per_page: perPage };
}

/** Throws `svc_invalid_input`, and for a site or client that does not exist. */
export async function addGuidance(ctx: Ctx, input: GuidanceInput): Promise<View & { note: string }> {
  const { site_id_or_domain: site, client_id_or_email: client } = input;
  if (site !== undefined && client !== undefined) throw oneOnly();
  const text = cleanLine(input.text, MOST_TEXT);
  if (text === '') throw invalid('text', 'text is empty');
  const now = ctx.clock.now();
  const until = input.until === undefined ? null : Date.parse(input.until);
  if (until !== null && !(until > now))
    throw invalid('until', 'until is not a time in the future, such as 2030-05-01T08:00:00Z');
  const confirmed_by = isPerson(ctx.actor) ? ctx.actor.name : null;
  const { all, unverified } = await ctx.store.guidance.count(now);
  if (all >= MOST) throw invalid('text', `there are already ${MOST} entries`);
  if (confirmed_by === null && unverified >= MOST_UNVERIFIED)
    throw invalid('text', `${MOST_UNVERIFIED} entries are already waiting for a person to confirm or remove them`);
  const ofSite = site === undefined ? null : await getSite(ctx, site);
  const ofClient = client === undefined ? null : await findClient(ctx, client);
  const row = {
    ...{ site_id: ofSite?.id ?? null, client_id: ofClient?.id ?? null },
    ...{ text, author: ctx.actor.name, created_at: now, until },
    confirmed_by,
  };
  const id = await ctx.store.guidance.add(row);
  const names = { site_name: ofSite?.name ?? null, client_name: ofClient?.name ?? null };
  ctx.events.emit({ name: 'guidance.added', facts: { guidance_id: id, guidance_name: text } });
  const note = confirmed_by === null ? `${HOLDS_NOTHING} ${UNCONFIRMED}` : HOLDS_NOTHING;
  return { ...viewOf({ id, ...row, ...names }), note };
}

const HOLDS_NOTHING =
  'It is shown with plans and previews of changes, and does not stop any update: leave an update out with exclude_slugs, or ignore it.';
const UNCONFIRMED = 'It is marked as unverified until a person confirms it on the page.';

/** Confirms or removes one. Throws `svc_permission_denied` for who is no person, and `svc_invalid_input`. */
export async function decideGuidance(ctx: Ctx, id: number, decision: 'confirm' | 'remove'): Promise<View> {
  if (!isPerson(ctx.actor))
    throw new ServiceError('svc_permission_denied', 'Only a person decides about guidance. Nothing changed.', {
      advice: `Ask the user to do it on the page, or to run: sitefleet call decide-guidance-v1 '${JSON.stringify({ guidance_id: id, decision })}'`,
    });
  const row = await ctx.store.guidance.find(id);
  const { guidance } = ctx.store;
  const done = decision === 'confirm' ? await guidance.confirm(id, ctx.actor.name) : await guidance.remove(id);
  if (row === undefined || !done) throw invalid('guidance_id', `there is no guidance ${id}`);
  const facts = { guidance_id: id, guidance_name: row.text };
  if (decision === 'confirm') ctx.events.emit({ name: 'guidance.confirmed', facts });
  else ctx.events.emit({ name: 'guidance.removed', facts });
  return viewOf({ ...row, confirmed_by: decision === 'confirm' ? ctx.actor.name : row.confirmed_by });
}

interface Told {
  lines: string[];
  /** The lines of what a person wrote or confirmed. */
  heeded: string[];
  /** The same as it is stored. */
  said: GuidanceRow[];
  /** How many of the lines no person has confirmed. */
  unverified: number;
}

/** What people and programs say of these sites, or of all, in lines; undefined if there is nothing. */
export async function guidanceFor(
  ctx: Ctx,
  siteIds: readonly number[] | 'all',
  most = MOST_LINES,
): Promise<Told | undefined> {
  const now = ctx.clock.now();
  const { guidance } = ctx.store;
  const { items, total } = await (siteIds === 'all'
    ? guidance.list(undefined, now, 1, most)
    : guidance.heeded(siteIds, now, 1, most));
  if (total === 0) return undefined;
  const more = total > items.length ? [`${total - items.length} more: list-guidance-v1.`] : [];
  const said = items.filter(({ confirmed_by }) => confirmed_by !== null);
  const unverified = items.length - said.length;
  return { lines: [...items.map(lineOf), ...more], heeded: said.map(lineOf), said, unverified };
}

/** The same for a summary, whose own words tell to heed only what a person has said. */
export function guidanceWords({ heeded, unverified }: Told): string[] {
  const more = heeded.length > 0 ? 'more ' : '';
  return [
    ...(heeded.length > 0 ? [`Guidance: ${heeded.join('; ')}.`] : []),
    ...(unverified > 0
      ? [
          unverified === 1
            ? `One ${more}piece of guidance was proposed by a program, and no person has confirmed it.`
            : `${unverified} ${more}pieces of guidance were proposed by programs, and no person has confirmed them.`,
        ]
      : []),
  ];
}

function lineOf({ site_id, client_id, text, author, until, confirmed_by }: GuidanceRow): string {
  const of = site_id !== null ? `site ${site_id}` : client_id !== null ? `client ${client_id}` : 'all sites';
  const ends = until === null ? '' : `until ${isoTime(until)}`;
  const [by, said] = [siteWord(author), `"${text.replaceAll('"', "'")}"`];
  // First, as lines may be cut.
  if (confirmed_by === null) return `Unverified, proposed by ${by}, for ${of}: ${said}${ends && ` (${ends})`}`;
  return `${of.charAt(0).toUpperCase()}${of.slice(1)}: ${said} (by ${by}${ends && `, ${ends}`})`;
}

function viewOf({ author, created_at, until, confirmed_by, ...row }: GuidanceRow): View {
  const { id, site_id, site_name, client_id, client_name, text } = row;
  const when = { at: timestampOf(created_at), until: isoTime(until) };
  const of = { site_id, site_name, client_id, client_name };
  return { id, ...of, text, by: author, ...when, verified: confirmed_by !== null };
}

function oneOnly(): ServiceError {
  return invalid('client_id_or_email', 'a site or a client can be named, not both');
}

function invalid(field: string, what: string): ServiceError {
  return new ServiceError('svc_invalid_input', `${field}: ${what}. Nothing changed.`, {
    field,
    advice: 'Read what there is with list-guidance-v1.',
  });
}
