/**
 * Looks at pages of a site in a browser, on a desktop and on a phone: twice before the updates of a run, and once
 * after; what is worse then counts when another look shows it, too.
 */

import { createHash } from 'node:crypto';
import type { Device, PageLook, PageViewer } from '../../../outbound/pictures/pictures.js';
import { groupBy } from '../../../runtime/group-by.js';
import { Slots } from '../../../runtime/slots.js';
import type { Ctx } from '../../context.js';
import { type LoadedSite, requireConnection } from '../../sites/load.js';
import type { Look } from '../results.js';
import type { Finding } from './compare-health.js';
import { compareLayouts, type LayoutFinding } from './compare-layouts.js';
import { changedShare, differing, pixelMatch, withNeighbours } from './compare-pictures.js';
import { FRONT, keyOf, type LookedPage, listedAs, nameOf, type PageKind } from './looked-pages.js';
import { fresh, UNCACHED } from './probe.js';
import type { SafeRun } from './run-state.js';
import type { Place, PlaceBefore, SeenAfter, SeenBefore } from './seen-pages.js';

const DEVICES: readonly Device[] = ['desktop', 'phone'];
/** Pages that are seen as people see them; at most so many. */
const SEEN: readonly PageKind[] = ['front', 'asked', 'post', 'page'];
const MOST_PAGES = 4;
/** Shares of the time for looks that those before and after the updates have. */
const BEFORE = 0.6;
const AFTER = 0.4;
/** How many other looks there are between the two of a page on a device. */
const LAG = 3;
/** A free browser is waited for no longer than the checks of the same site take anyway. */
const BEFORE_WAIT_MS = 3_000;
const AFTER_WAIT_MS = 4_000;
/** Between a look that finds something and the next. */
const AGAIN_MS = 1_500;
const TABS = 2;
const NO_TIME = 'there was not enough time';
/** The share of what a picture shows that may change. */
const CHANGED = 0.3;

/** Looks at the pages of a site before it is changed. Never fails because of the pages or the browser. */
export async function lookBefore(ctx: Ctx, target: LoadedSite, pages: readonly LookedPage[]): Promise<SeenBefore> {
  const startMs = ctx.clock.now();
  if (!ctx.pictures.enabled) return { places: [], startMs, reason: '' };
  const visible = [FRONT, ...pages].filter(({ kind }) => SEEN.includes(kind));
  const places = visible.slice(0, MOST_PAGES).flatMap((page) => DEVICES.map((device): Place => ({ page, device })));
  const found: PlaceBefore[] = [];
  const limits = { forMs: ctx.config.pictures_ms * BEFORE, waitMs: BEFORE_WAIT_MS, startMs };
  const reason = await withViewer(ctx, target, limits, async (look, each) => {
    const match = await pixelMatch();
    const firsts = new Map<Place, Promise<PageLook>>();
    const begin = async (place: Place) => {
      const first = look(place);
      firsts.set(place, first);
      await first;
    };
    const complete = async (place: Place) => {
      const { layout, picture, file } = (await firsts.get(place)) as PageLook;
      const second = await look(place);
      // What does not work before is judged by other checks.
      if (layout.status !== 200 || second.layout.status !== 200) return;
      const [one, two] = [await ctx.pictures.pixelsOf(picture), await ctx.pictures.pixelsOf(second.picture)];
      const noise = withNeighbours(differing(match, one, two), one);
      found.push({ ...place, first: layout, second: second.layout, picture, file, noise });
    };
    // The front page is done before others begin, as the time may be up before all are; the looks at those are some time apart.
    const [front, others] = [places.slice(0, DEVICES.length), places.slice(DEVICES.length)];
    const steps = [...front.map((place) => () => begin(place)), ...front.map((place) => () => complete(place))];
    for (const [at, place] of others.entries()) {
      const earlier = others[at - LAG];
      steps.push(() => begin(place), ...(earlier === undefined ? [] : [() => complete(earlier)]));
    }
    steps.push(...others.slice(-LAG).map((place) => () => complete(place)));
    await each(steps, (step) => step());
  });
  return { places: inOrder(places, found), startMs, reason };
}

/** As they are named, not as they were done. */
function inOrder<T extends Place>(order: readonly Place[], done: readonly T[]): T[] {
  const at = ({ page, device }: Place) => order.findIndex((one) => one.page === page && one.device === device);
  return done.toSorted((a, b) => at(a) - at(b));
}

/** Looks at the same pages after the updates, unless it is no longer needed. */
export function lookAfter(run: SafeRun, unneeded: AbortSignal): Promise<SeenAfter> {
  return lookAgain(run, run.seen?.places ?? [], unneeded);
}

/** Whether the pages in which something was found are well again; true where that cannot be seen. */
export async function looksWell(run: SafeRun): Promise<boolean> {
  const { doubtful = [] } = run;
  return doubtful.length === 0 || (await lookAgain(run, doubtful)).findings.length === 0;
}

async function lookAgain(run: SafeRun, places: readonly PlaceBefore[], unneeded?: AbortSignal): Promise<SeenAfter> {
  const { ctx, target, seen } = run;
  const compared: PlaceBefore[] = [];
  const found = new Map<PlaceBefore, LayoutFinding[]>();
  const files = new Map<PlaceBefore, string>();
  if (seen === undefined || places.length === 0)
    return { findings: [], doubtful: [], files, places: [], reason: seen?.reason ?? '' };
  const forMs = ctx.config.pictures_ms * AFTER;
  const limits = { forMs, rounds: 2, waitMs: AFTER_WAIT_MS, startMs: seen.startMs, unneeded };
  const match = await pixelMatch();
  const compare = async (look: LookAt, place: PlaceBefore): Promise<LayoutFinding[] | null> => {
    const now = await look(place);
    files.set(place, now.file);
    if (now.layout.status !== 200) return null;
    const layouts = compareLayouts(place.first, place.second, now.layout);
    const { pixelsOf } = ctx.pictures;
    const share = changedShare(match, await pixelsOf(place.picture), await pixelsOf(now.picture), place.noise);
    const what = `looks different: ${Math.round(100 * (share ?? 0))} % of it has changed.`;
    return (share ?? 0) > CHANGED ? [...layouts, { kind: 'picture', severity: 'suspect', what }] : layouts;
  };
  const first = new Map<PlaceBefore, LayoutFinding[]>();
  const reason = await withViewer(ctx, target, limits, async (look, each) => {
    await each(places, async (place) => {
      const findings = await compare(look, place);
      if (findings === null) return;
      if (findings.length === 0) compared.push(place);
      else first.set(place, findings);
    });
    if (first.size === 0) return;
    await ctx.clock.sleep(AGAIN_MS, ctx.signal);
    await each([...first.keys()], async (place) => {
      const findings = await compare(look, place);
      if (findings === null) return;
      compared.push(place);
      const kinds = findings.map(({ kind }) => kind);
      const both = (first.get(place) ?? []).filter(({ kind }) => kinds.includes(kind));
      if (both.length > 0) found.set(place, both);
    });
  });
  const doubtful = inOrder(places, [...found.keys()]);
  const findings = summed(doubtful.map((place) => [place, found.get(place) ?? []]));
  return { findings, doubtful, files, places: inOrder(places, compared), reason };
}

/** What an answer says about it. */
export function seenIn({ seen, seenAfter }: SafeRun): Pick<Look, 'seen' | 'unseenLooks'> {
  const reason = seen?.reason || seenAfter?.reason || '';
  const byPage = groupBy(seenAfter?.places ?? [], ({ page }) => listedAs(page));
  const names = [...byPage].map(([page, on]) => `${page} on a ${on.map(({ device }) => device).join(' and a ')}`);
  return { ...(names.length > 0 && { seen: names }), ...(reason !== '' && { unseenLooks: reason }) };
}

/**
 * Keeps the pictures of the front page, and of each page in which something was found.
 * @param again those before the updates are kept already
 */
export async function keepPictures(run: SafeRun, again: boolean): Promise<void> {
  const { ctx, target, id, seenAfter } = run;
  if (id === '' || seenAfter === undefined) return;
  const { places, doubtful, files } = seenAfter;
  const taken: readonly ('before' | 'after')[] = again ? ['after'] : ['before', 'after'];
  const kept = places.filter((place) => place.page.kind === 'front' || doubtful.includes(place));
  const pictures = kept.flatMap((place) =>
    taken.map((when) => {
      const file = when === 'before' ? place.file : (files.get(place) ?? '');
      const sha256 = createHash('sha256').update(Buffer.from(file, 'base64')).digest('hex');
      return { page: `/${place.page.path}`, device: place.device, taken: when, sha256, file };
    }),
  );
  await ctx.store.receipts.addPictures(id, target.site.id, pictures);
}

/** One finding of each kind, of the first page that shows it. */
function summed(found: readonly (readonly [Place, readonly LayoutFinding[]])[]): Finding[] {
  const all = found.flatMap(([place, findings]) => findings.map((finding) => ({ place, ...finding })));
  const worst = all.toSorted((a, b) => Number(b.severity === 'broken') - Number(a.severity === 'broken'));
  const first = worst.filter(({ kind }, at) => worst.findIndex((one) => one.kind === kind) === at);
  // A page with such a finding looks different.
  const told = first.filter(({ kind }) => kind !== 'picture' || first.length === 1);
  return told.map(({ place, kind, severity, what }): Finding => {
    const others = all.filter((one) => one.kind === kind).length - 1;
    const more = others === 0 ? '' : ` The same in ${others} other ${others === 1 ? 'view' : 'views'}.`;
    return { severity, path: keyOf(place.page), what: `${nameOf(place.page)} on a ${place.device} ${what}${more}` };
  });
}

interface Limits {
  /** How long a round of looks may take. Where all pages look wrong, the first takes all of it, and the second needs its own. */
  forMs: number;
  /** How many there are at most; 1 if not given. */
  rounds?: number;
  waitMs: number;
  startMs: number;
  unneeded?: AbortSignal | undefined;
}

/**
 * Gives work a browser for some time. Pages that cannot be opened are left out.
 * @returns why not all was done; '' = it was
 */
async function withViewer(
  { clock, pictures, signal: caller, log }: Ctx,
  target: LoadedSite,
  { forMs, rounds = 1, unneeded, ...limits }: Limits,
  work: (look: LookAt, each: Each) => Promise<void>,
): Promise<string> {
  const limit = clock.deadline(forMs * rounds);
  const signal = AbortSignal.any([caller, limit.signal, ...(unneeded === undefined ? [] : [unneeded])]);
  const cookies = Object.fromEntries(UNCACHED.split('; ').map((cookie) => cookie.split('=')));
  let viewer: PageViewer | null = null;
  let left = '';
  /** A round: some at a time, in order. Looks that it has no time for are left out. */
  const each: Each = async (all, one) => {
    const round = clock.deadline(forMs);
    const late = new Promise<void>((resolve) => {
      round.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const tabs = new Slots(TABS);
    const tried = async (what: Parameters<typeof one>[0]) => {
      if (round.signal.aborted) return;
      try {
        await one(what);
      } catch (error) {
        if (!isKnown(error)) throw error;
        left ||= error.message;
      }
    };
    try {
      await Promise.race([Promise.all(all.map((what) => tabs.run(() => tried(what)))), late]);
      if (round.signal.aborted) left ||= NO_TIME;
    } finally {
      round.clear();
    }
  };
  try {
    const opened = await pictures.open({ ...limits, address: requireConnection(target), cookies, signal });
    viewer = opened;
    await work(({ page, device }) => opened.look(new URL(fresh(page.path), target.site.url).href, device), each);
    return left;
  } catch (error) {
    caller.throwIfAborted();
    if (unneeded?.aborted) return '';
    if (limit.signal.aborted) return NO_TIME;
    if (isKnown(error)) return error.message;
    // No reason not to update a site.
    log.warn({ err: error, site_id: target.site.id }, 'the pages of a site could not be looked at');
    return 'something unexpected went wrong';
  } finally {
    limit.clear();
    await viewer?.close();
  }
}

type LookAt = (place: Place) => Promise<PageLook>;
type Each = <T>(all: readonly T[], work: (one: T) => Promise<void>) => Promise<void>;

/** Recognized by name: the class belongs to the browser, which no verb imports. */
function isKnown(error: unknown): error is Error {
  return error instanceof Error && error.name === 'PictureFailure';
}
