/**
 * Reads and writes content on the child sites while the caller waits: chooses sites, limits concurrency, and collects
 * failures.
 */

import { ServiceError } from '../../runtime/errors.js';
import type { SiteConnection, SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { fanOutPace } from '../settings/effects.js';
import { liveSiteError, requireLive } from '../sites/live.js';
import {
  type LoadedSite,
  loadSite,
  loadSites,
  requireConnection,
  requireNotOnTrial,
  requireVersion,
} from '../sites/load.js';
import { resolveSites, type SiteRef } from '../sites/resolve.js';
import { allSites } from '../sites/sites.js';
import { inTurn } from './reading-turns.js';

/** The union of these sites; all three empty = every site. */
export interface LiveFilter {
  websites: readonly SiteRef[];
  /** Tags by name or id. */
  groups: readonly string[];
  clients: readonly number[];
}

/** A site, or the reference to one, that contributed nothing. */
export interface LiveError {
  site_id?: number;
  code: string;
  message: string;
}

export interface LiveSelection {
  sites: SiteRow[];
  errors: LiveError[];
  /** False: the call covers the whole fleet. */
  named?: boolean;
}

/** Throws `website_not_found` if a filter was given and matches no site the caller may use. */
export async function resolveLiveSites(ctx: Ctx, choice: LiveFilter): Promise<LiveSelection> {
  if (choice.websites.length + choice.groups.length + choice.clients.length === 0)
    return { sites: await allSites(ctx), errors: [], named: false };
  const named = await resolveSites(ctx, choice.websites, 'websites');
  const { groups, clients } = choice;
  const linked = await ctx.store.content.sitesOf({ groups, clients });
  const sites = [...new Map([...named.sites, ...linked.sites].map((site) => [site.id, site])).values()];
  const errors: LiveError[] = [
    ...named.errors.map(({ site_id, code, message }) => ({ ...(site_id === null ? {} : { site_id }), code, message })),
    ...linked.unknown_groups.map((group) => ({
      code: 'svc_tag_not_found',
      message: `groups: there is no tag ${JSON.stringify(group.slice(0, 100))}.`,
    })),
    ...linked.unknown_clients.map((id) => ({
      code: 'svc_client_not_found',
      message: `clients: no client has the id ${id}.`,
    })),
  ];
  if (sites.length > 0) return { sites, errors };
  throw new ServiceError('website_not_found', 'The filters match no site.', {
    advice: 'Check websites, groups and clients; without any of them, all sites are used.',
    data: { errors },
  });
}

/** Maximum text of one answer, in characters: held in memory and sent for one call. */
const MAX_ANSWER = 16_000_000;

/** Queries one site; `weight` is the amount of text in the answer, in characters. */
export type SiteRequest<T> = (
  ctx: Ctx,
  target: LoadedSite,
  connection: SiteConnection,
) => Promise<{ value: T; weight: number }>;

export interface Answers<T> {
  answers: { site: SiteRow; value: T }[];
  errors: LiveError[];
}

/**
 * Queries many sites in parallel, within the limits of the child connection and the time of a direct call. Sites that
 * failed, are suspended or disconnected, or were not reached in time are listed in `errors`, in the order of the sites.
 * Throws only if the caller gave up, or has too many such reads at once.
 */
export function readFromSites<T>(ctx: Ctx, selection: LiveSelection, ask: SiteRequest<T>): Promise<Answers<T>> {
  return inTurn(ctx, 'many', () => readNow(ctx, selection, ask));
}

async function readNow<T>(ctx: Ctx, selection: LiveSelection, ask: SiteRequest<T>): Promise<Answers<T>> {
  const { sites, named = true } = selection;
  const targets = await loadSites(
    ctx,
    sites.map((site) => site.id),
  );
  const deadline = ctx.clock.deadline(ctx.config.direct_call_ms);
  const signal = AbortSignal.any([ctx.signal, deadline.signal]);
  const limited: Ctx = { ...ctx, child: ctx.child.many(), signal };
  const room = { left: MAX_ANSWER };
  const outcomes: ({ value: T } | { error: ServiceError })[] = [];
  try {
    const { chunk, pause_ms } = await fanOutPace(ctx);
    for (let start = 0; start < sites.length; start += chunk) {
      if (start > 0) await pause(limited, pause_ms);
      const part = sites.slice(start, start + chunk);
      outcomes.push(
        ...(await Promise.all(part.map((site) => one(limited, site, targets.get(site.id), ask, { room, named })))),
      );
    }
    ctx.signal.throwIfAborted();
  } finally {
    deadline.clear();
  }
  const answers: { site: SiteRow; value: T }[] = [];
  const errors = [...selection.errors];
  outcomes.forEach((outcome, index) => {
    const site = sites[index];
    if (site === undefined) return;
    if ('value' in outcome) answers.push({ site, value: outcome.value });
    else {
      const { code, message } = outcome.error;
      const late = deadline.signal.aborted && code === 'svc_cancelled';
      errors.push({
        site_id: site.id,
        ...(late ? { code: 'svc_still_running', message: TOO_LATE } : { code, message }),
      });
    }
  });
  return { answers, errors };
}

const TOO_LATE = 'The site did not answer within the time limit of a call.';

async function pause(ctx: Ctx, ms: number): Promise<void> {
  if (ms === 0 || ctx.signal.aborted) return;
  // After the deadline the remaining sites fail one by one, each with its own entry.
  await ctx.clock.sleep(ms, ctx.signal).catch(() => undefined);
}

async function one<T>(
  ctx: Ctx,
  site: SiteRow,
  target: LoadedSite | undefined,
  ask: SiteRequest<T>,
  { room, named }: { room: { left: number }; named: boolean },
): Promise<{ value: T } | { error: ServiceError }> {
  try {
    if (target === undefined)
      throw new ServiceError('svc_site_not_found', `Site ${site.id} has been removed in the meantime.`);
    requireLive(target, named);
    ctx.signal.throwIfAborted();
    if (room.left <= 0) throw tooMuch();
    const { value, weight } = await ask(ctx, target, requireConnection(target));
    room.left -= weight;
    if (room.left < 0) throw tooMuch();
    return { value };
  } catch (error) {
    if (ctx.signal.aborted && !(error instanceof ServiceError))
      return { error: new ServiceError('svc_cancelled', 'The call was cancelled before the site answered.') };
    const failure = liveSiteError(error, site.id);
    if (failure.code === 'svc_internal_error')
      ctx.log.error({ site_id: site.id, err: failure.cause ?? error }, 'unexpected failure of a live read');
    return { error: failure };
  }
}

function tooMuch(): ServiceError {
  return new ServiceError('svc_answer_too_large', "The other sites' answers already filled the response.", {
    advice: 'Ask for fewer sites at once, or lower maximum.',
  });
}

/**
 * Runs work on one site; the work fails by throwing, and uses the context it is given. A write locks the site; it waits
 * for a running sync or update.
 */
export async function withLiveSite<T>(
  caller: Ctx,
  siteId: number,
  kind: 'read' | 'write',
  work: (ctx: Ctx, connection: SiteConnection, target: LoadedSite) => Promise<T>,
): Promise<T> {
  const run = async (ctx: Ctx) => {
    const target = await loadSite(ctx, siteId);
    if (kind === 'write') requireNotOnTrial(target);
    requireLive(target);
    requireVersion(target);
    return work(ctx, requireConnection(target), target);
  };
  try {
    if (kind === 'read') return await run(caller);
    return await caller.locks.exclusive(siteId, caller.signal, (held) =>
      run({ ...caller, signal: AbortSignal.any([caller.signal, held]) }),
    );
  } catch (error) {
    throw liveSiteError(error, siteId);
  }
}
