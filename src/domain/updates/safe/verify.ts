/**
 * Verifies a site after an update: at once, and again after 5 and 15 seconds. A finding counts if two of three checks
 * show it, or if one check and a fatal error that the guard recorded in our own requests agree. What only visitors'
 * requests have met is reported and rolls nothing back: a visitor may provoke it in any version. Checks while our own
 * network is down do not count. What refuses all that is asked is asked once more after a while in silence.
 */

import { siteWord } from '../../../../schemas/site-text.js';
import { ChildFailure } from '../../../outbound/child/port.js';
import { GuardFailure } from '../../../outbound/guard/failure.js';
import type { GuardFault } from '../../../outbound/guard/guards.js';
import { ServiceError } from '../../../runtime/errors.js';
import { type Finding, isComparable, type SiteCheck } from './compare-health.js';
import { FailureRates, isFailure, MOST_REQUESTS } from './failure-rates.js';
import { looksWell } from './look-at-pages.js';
import { FRONT, isInside, isPlain, keyOf, type LookedPage, listedAs } from './looked-pages.js';
import { isRefused, isTurnedAway } from './page-facts.js';
import { type Comparison, checkAgain, type Depth, pagesOf, runTasks, sample, visitsAfter } from './probe.js';
import { furtherPages, plainPagesOf, type SafeItem, type SafeRun } from './run-state.js';
import { keepOpen } from './sandbox.js';
import { shopWell } from './shop.js';

export interface Verification {
  broken: Finding[];
  suspect: Finding[];
  /** Items that the guard restored on its own. */
  restored: SafeItem[];
  /** The answers to our own requests show it: it is not only the word of the site's guard. */
  seen: boolean;
  /** Items with a file of theirs in the stack of an error that ended a request of ours, by the guard's record. */
  blamed: SafeItem[];
  /** What only visitors' requests have met. */
  rumours: Rumour[];
}

/** A fatal error of an item in requests of visitors that none of ours has met: it may be new, or provoked. */
export interface Rumour {
  item: SafeItem;
  what: string;
}

/** Nothing but these findings. */
export function verificationOf(broken: Finding[]): Verification {
  return { broken, suspect: [], restored: [], seen: true, blamed: [], rumours: [] };
}

const PAUSES_MS = [0, 5_000, 10_000] as const;
/** Maximum number of checks, including those that do not count because our own network was down. */
const MOST_CHECKS = 6;
/**
 * Replaces the first pause while a fatal error is undecided: the guard waits this long after the last change of a file.
 */
const UNDECIDED_MS = 2_500;
/** Requests of a page between two checks, and after a restore; and of how many pages. */
const FEW_SAMPLES = 3;
const MOST_SAMPLES = 6;
/** More of them in a longer pause. */
const SAMPLES_MS = 6_000;
const STEADY_SAMPLES = 6;
const MOST_SAMPLED = 3;
/** Between the end of a full check and the next one. */
const SHORTEST_PAUSE_MS = 2_500;
/** How long a site that says itself that it is away is waited for, and how often it is looked at meanwhile. */
const AWAY_MS = 30_000;
const AWAY_PAUSE_MS = 3_000;
/** How long nothing is asked of a site that seems to have banned this machine's address: such bans last a minute, or from the last request. */
const BANNED_MS = 75_000;
/** After a restore. */
const RECOVERY_PAUSES_MS = [0, 3_000, 5_000] as const;
/**
 * Reasons of the guard for leaving an item alone that do not speak against it: the old version had the error too, or
 * the item is half unpacked.
 */
const EXCUSED: readonly (string | null)[] = ['known', 'resources', 'updating', 'visitor'];

/** A quick verification ends with the first check that finds nothing: the full one at the end of the run checks again. */
export async function verify(run: SafeRun, depth: Depth): Promise<Verification> {
  let broken: Finding[] = [];
  let suspect: Finding[] | null = null;
  let bad = 0;
  let fine = 0;
  let seen = false;
  let undecided = false;
  let tasksRun = false;
  let faults: GuardFault[] = [];
  let doubtful: Doubts | undefined;
  const turned = new Set<string>();
  let took = 0;
  let banned = false;
  const rates = new FailureRates(run.facts.before);
  const sampled = samples(run, depth);
  const began = run.ctx.clock.elapsed();
  for (let check = 0; check < MOST_CHECKS && bad + fine < PAUSES_MS.length; check++) {
    const pause = PAUSES_MS[Math.min(check, PAUSES_MS.length - 1)] ?? 0;
    // Pauses are from the start of one check to the start of the next, with time for what is asked between them.
    const spent = Math.min(took, pause - SHORTEST_PAUSE_MS);
    if (pause > 0) await wait(run, depth, undecided ? UNDECIDED_MS : pause - spent, rates);
    const started = run.ctx.clock.elapsed();
    const doubts = doubtful;
    let looked = await checkOnce(run, depth, doubts);
    for (; looked.away && run.ctx.clock.elapsed() - began < AWAY_MS; looked = await checkOnce(run, depth, doubts))
      await run.ctx.clock.sleep(AWAY_PAUSE_MS, run.ctx.signal);
    const { findings: found, silent } = looked;
    took = run.ctx.clock.elapsed() - started;
    for (const page of pagesOf(depth, furtherPages(run.facts))) {
      const facts = looked.seen[keyOf(page)];
      // A visitor may have a cache keep an error.
      if (facts !== undefined && !isPlain(page)) rates.note(page, facts);
    }
    // Afterwards: what this check triggered is recorded by now, even if no page shows it.
    const recorded = await faultsOf(run);
    // Silence of the site means nothing while our own network is down. If the guard answered, it is not down.
    if (silent && recorded === null && !(await run.ctx.probe.online())) continue;
    faults = recorded ?? [];
    doubtful = new Set([...(doubtful ?? []), ...found.map(({ path }) => path)]);
    notePlain(run, looked);
    const restored = run.open.filter((item) => faults.some((fault) => fault.restored === item.snapshot));
    // The error may have occurred while the item was half copied. Nothing else on the site is started before that is
    // known.
    undecided = faults.some(({ restored: done, waited }) => done === null && waited === 'updating');
    if (!tasksRun && run.guard !== null && restored.length === 0 && faults.some(inTasks)) {
      await runTasks(run.ctx, run.target, run.guard);
      tasksRun = true;
      undecided = true;
    }
    run.unsteady = rates.unsteady();
    const now = [...found.filter(isBroken), ...faults.filter(counts).map(findingOf)];
    seen ||= found.some(isBroken);
    if (now.length > 0) broken = [...now, ...reasonsOf(run, now, faults)];
    const known = { suspect: [], restored, seen, blamed: blamedBy(run, faults), rumours: rumoursOf(run, faults) };
    if (restored.length > 0) return { broken, ...known };
    const facts = (key: string) => looked.seen[key] ?? SHOWN;
    const keys = now
      .flatMap(({ path }) => path ?? [])
      .filter((key) => isTurnedAway(facts(key)) || isFailure(facts(key)));
    // A limit of requests, or a host that fails now and then, ends now this page, now that one: what it did to another is no second
    // witness, nor is a page that has answered in between. How often it fails decides then.
    const recovered = rates.recovered();
    const passes = keys.length > 0 && keys.length === now.length;
    const moved = passes && turned.size > 0 && !keys.some((key) => turned.has(key));
    const comes = passes && keys.every((key) => recovered.has(key));
    for (const key of keys) turned.add(key);
    if (now.length === 0) fine++;
    else if (!moved && !comes) bad++;
    const witnesses = bad + (found.some(isBroken) && faults.some(counts) ? 1 : 0);
    if (witnesses >= 2) {
      if (banned || faults.some(counts) || !isBan(now, looked)) return { broken, ...known };
      banned = true;
      // One look more decides, at once.
      [bad, fine, check] = [1, 0, -1];
      await run.ctx.clock.sleep(BANNED_MS, run.ctx.signal);
      continue;
    }
    if (sampled) await askMore(run, rates);
    const unsteady = sampled ? rates.findings().filter(isBroken) : [];
    if (unsteady.length > 0) return { broken: unsteady, ...known, seen: true };
    if (now.length === 0) suspect = agreed(suspect, found);
    // One failure may be the first of many.
    if (sampled && rates.failing().length > 0) continue;
    if (!undecided && (fine === 2 || (depth === 'quick' && bad === 0))) break;
  }
  // Too few checks counted: a single bad one proves nothing either way.
  if (fine === 0 || (bad > 0 && fine < 2)) throw unseen(run);
  const told = sampled ? rates.findings() : [];
  return { ...verificationOf([]), suspect: [...(suspect ?? []), ...told], rumours: rumoursOf(run, faults) };
}

/** Keeps the pages in which something was found as visitors get them, and only so. */
function notePlain(run: SafeRun, { findings, seen }: Comparison): void {
  for (const page of plainPagesOf(run)) {
    const facts = seen[keyOf(page)];
    if (facts !== undefined && findings.some(({ path }) => path === keyOf(page)))
      run.plain = { ...run.plain, [keyOf(page)]: facts };
  }
}

/** Whether a cache may have made this finding: it shows a copy of what is rolled back by now. */
function isCopy(run: SafeRun, { path }: Finding, seen: SiteCheck['pages']): boolean {
  if (path === null || !plainPagesOf(run).some((page) => keyOf(page) === path)) return false;
  const [then, now] = [run.plain?.[path], seen[path]];
  return then === undefined || (then.status === now?.status && then.bytes === now.bytes);
}

/** Of what was not looked at. */
const SHOWN = { status: 200 };

/** Whether all that was found may be because this machine's address is banned. */
function isBan(broken: readonly Finding[], { seen }: Comparison): boolean {
  const refused = (key: string) => isRefused(seen[key] ?? SHOWN);
  return broken.every(({ path }) => (path === null ? Object.keys(seen).some(refused) : refused(path)));
}

/** Whether pages are requested between the checks, too: in full ones, where it is known how they were before. */
function samples({ facts }: SafeRun, depth: Depth): boolean {
  return depth === 'full' && facts.pages !== undefined;
}

/** Until the next check, which looks at the pages once more. */
async function wait(run: SafeRun, depth: Depth, ms: number, rates: FailureRates): Promise<void> {
  const pause = run.ctx.clock.sleep(ms, run.ctx.signal);
  const times = samples(run, depth) ? (ms > SAMPLES_MS ? MOST_SAMPLES : FEW_SAMPLES) : 0;
  const pages = () => [FRONT, ...rates.failing().filter(({ kind }) => kind !== 'front')];
  await Promise.all([request(run, rates, times, pages), pause]);
}

/** Requests pages that seem to fail more often than before until that is clear, or has been asked often enough. */
async function askMore(run: SafeRun, rates: FailureRates): Promise<void> {
  for (let more = 0; more < MOST_REQUESTS && rates.undecided().length > 0; more++)
    await request(run, rates, 1, () => rates.undecided());
}

/** Requests the first of these pages some times, and counts how often they fail. */
function request(run: SafeRun, rates: FailureRates, times: number, pages: () => readonly LookedPage[]): Promise<void> {
  return sample(run.ctx, run.target, {
    times,
    how: visitsAfter(run.facts.before, run.guard),
    pages: () => pages().slice(0, MOST_SAMPLED),
    count: (page, facts) => rates.note(page, facts),
  });
}

/** @param again pages other than those of the caller are looked at only where an earlier check has found something */
async function checkOnce(run: SafeRun, depth: Depth, again?: Doubts): Promise<Comparison> {
  const { ctx, target, guard, facts, looked } = run;
  const repeated = (page: LookedPage) =>
    page.kind === 'asked' || page.kind === 'front' || isPlain(page) || again?.has(keyOf(page)) !== false;
  const pages = pagesOf(depth, furtherPages(facts)).filter(repeated);
  const known = depth === 'full' ? run.quick : undefined;
  const child = again?.has(null) !== false && known === undefined;
  await keepOpen(run, pages);
  const compared = await checkAgain(ctx, target, guard, facts.before, pages, { depth, child, known });
  // A quick check that found nothing broken is the beginning of the full one that follows it.
  run.quick = depth === 'quick' && !compared.findings.some(isBroken) ? compared.seen : undefined;
  for (const page of pages) {
    const seen = compared.seen[keyOf(page)];
    if (isInside(page) ? seen?.inside !== undefined : isComparable(page, facts.before)) looked.add(listedAs(page));
    if (seen?.cut === true) run.long?.add(listedAs(page));
  }
  return compared;
}

/** Keys of pages with findings. */
type Doubts = ReadonlySet<string | null>;

export function isBad({ broken, restored }: Verification): boolean {
  return broken.length + restored.length > 0;
}

/** Whether the site is as it was before the run. `suspect`: suspicious findings count, too. */
export async function isHealthy(run: SafeRun, depth: Depth, suspect: boolean): Promise<boolean> {
  for (const pause of RECOVERY_PAUSES_MS) {
    if (pause > 0) await run.ctx.clock.sleep(pause, run.ctx.signal);
    const { findings, seen } = await checkOnce(run, depth);
    const own = findings.filter((finding) => !isCopy(run, finding, seen));
    const bad = own.some((finding) => isBroken(finding) || (suspect && finding.hearsay !== true));
    if (!bad && (await isSteady(run)) && (await looksWell(run)) && (await shopWell(run, suspect))) return true;
  }
  return false;
}

/** Whether pages that failed now and then do so no longer, as far as some requests show. */
async function isSteady(run: SafeRun): Promise<boolean> {
  const { unsteady: pages = [] } = run;
  if (pages.length === 0) return true;
  const rates = new FailureRates(run.facts.before);
  await request(run, rates, STEADY_SAMPLES, () => pages);
  return rates.failing().length === 0;
}

function unseen({ target: { site } }: SafeRun): ServiceError {
  return new ServiceError(
    'svc_site_offline',
    `Site ${site.id} could not be checked after an update: neither it nor any other address answers this machine. It is checked again as soon as one does.`,
    { advice: "Check this machine's network.", data: { site_id: site.id } },
  );
}

export function isBroken({ severity }: Pick<Finding, 'severity'>): boolean {
  return severity === 'broken';
}

/** Suspicions that this check shares with the previous one. */
function agreed(before: Finding[] | null, now: readonly Finding[]): Finding[] {
  return before === null ? [...now] : now.filter(({ path }) => before.some((finding) => finding.path === path));
}

/** Errors of our own requests, those that the guard has acted on, and those that it could not decide on. */
function counts({ restored, waited, ours }: GuardFault): boolean {
  return restored !== null || (ours !== null && !EXCUSED.includes(waited));
}

/**
 * What ended a look in the sandbox that had been refused something: alone it proves nothing. It is said where a page of the
 * sandbox is broken without such an excuse.
 */
function reasonsOf(run: SafeRun, found: readonly Finding[], faults: readonly GuardFault[]): Finding[] {
  const inside = new Set<string | null>(furtherPages(run.facts).filter(isInside).map(keyOf));
  if (!found.some(({ path }) => inside.has(path))) return [];
  return faults.filter(({ waited }) => waited === 'refused').map(findingOf);
}

/** Visitors met it in scheduled tasks of WordPress: a request of ours can repeat it. */
function inTasks({ cron, ours, waited }: GuardFault): boolean {
  return cron && ours === null && waited === 'visitor';
}

function blamedBy(run: SafeRun, faults: readonly GuardFault[]): SafeItem[] {
  return run.open.filter((item) => faults.some(({ ours, blames }) => ours !== null && blames === item.snapshot));
}

function rumoursOf(run: SafeRun, faults: readonly GuardFault[]): Rumour[] {
  return faults.flatMap((fault) => {
    const item = run.open.find((one) => concerns(fault, one));
    if (item === undefined || fault.waited !== 'visitor' || fault.restored !== null) return [];
    return [{ item, what: rumour(fault) }];
  });
}

/** What is said of a fatal error that only visitors have met. */
export function rumour({ file, message }: GuardFault): string {
  return `Requests of visitors ended with a fatal error in ${siteWord(file)} that no request of Sitefleet ran into: ${siteWord(message)}. It may be new or old.`;
}

export function findingOf({ message, file }: GuardFault): Finding {
  return { severity: 'broken', path: null, what: `PHP recorded in ${siteWord(file)}: ${siteWord(message)}.` };
}

/** Fatal errors of the run's items since they were armed. Null if the guard cannot be asked: then the checks decide. */
async function faultsOf(run: SafeRun): Promise<GuardFault[] | null> {
  const since = run.open.flatMap(({ faults_since }) => (faults_since === null ? [] : [faults_since]));
  if (run.guard === null || since.length === 0) return null;
  try {
    const faults = await run.guard.faults(Math.min(...since), { signal: run.ctx.signal });
    return faults.filter((fault) => run.open.some((item) => concerns(fault, item)));
  } catch (error) {
    if (run.ctx.signal.aborted || !(error instanceof GuardFailure || error instanceof ChildFailure)) throw error;
    return null;
  }
}

function concerns(fault: GuardFault, item: SafeItem): boolean {
  return item.snapshot !== null && [fault.restored, fault.blames].includes(item.snapshot);
}
