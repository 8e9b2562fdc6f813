/**
 * Judges a site after an update: at once, and again after 5 and 15 seconds. A finding counts if two of three checks
 * show it, or if one check and a fatal error recorded by the guard agree. Checks while our own network is down do not
 * count.
 */

import { siteWord } from '../../../schemas/site-text.js';
import { ChildFailure } from '../../child/child.js';
import { ServiceError } from '../../core/errors.js';
import { GuardFailure } from '../../guard/failure.js';
import type { GuardFault } from '../../guard/guards.js';
import type { Finding } from './compare-health.js';
import { type Depth, lookAgain } from './probe.js';
import type { SafeItem, SafeRun } from './safe-run.js';

export interface Verdict {
  broken: Finding[];
  suspect: Finding[];
  /** Items that the guard restored on its own. */
  restored: SafeItem[];
}

const PAUSES_MS = [0, 5_000, 10_000] as const;
/** Maximum number of checks, including those that do not count because our own network was down. */
const MOST_LOOKS = 6;
/**
 * Replaces the first pause while a fatal error is undecided: the guard waits this long after the last change of a file.
 */
const UNDECIDED_MS = 2_500;
/** After a restore. */
const RECOVERY_PAUSES_MS = [0, 3_000, 5_000] as const;
/**
 * Reasons of the guard for leaving an item alone that do not speak against it: the old version had the error too, or
 * the item is half unpacked.
 */
const EXCUSED: readonly (string | null)[] = ['known', 'resources', 'updating'];

/** A quick judgement ends with the first check that finds nothing: the full one at the end of the run checks again. */
export async function judge(run: SafeRun, depth: Depth): Promise<Verdict> {
  let broken: Finding[] = [];
  let suspect: Finding[] | null = null;
  let bad = 0;
  let fine = 0;
  let undecided = false;
  for (let look = 0; look < MOST_LOOKS && bad + fine < PAUSES_MS.length; look++) {
    const pause = PAUSES_MS[Math.min(look, PAUSES_MS.length - 1)] ?? 0;
    if (pause > 0) await run.ctx.clock.sleep(undecided ? UNDECIDED_MS : pause, run.ctx.signal);
    const { findings: found, silent } = await lookAgain(run.ctx, run.target, run.facts.before, depth, run.facts.paths);
    // Afterwards: what this check triggered is recorded by now, even if no page shows it.
    const recorded = await faultsOf(run);
    // Silence of the site means nothing while our own network is down. If the guard answered, it is not down.
    if (silent && recorded === null && !(await run.ctx.probe.online())) continue;
    const faults = recorded ?? [];
    const restored = run.open.filter((item) => faults.some((fault) => fault.restored === item.snapshot));
    // The error may have occurred while the item was half copied. Nothing else on the site is started before that is
    // known.
    undecided = faults.some(({ restored: done, waited }) => done === null && waited === 'updating');
    const seen = [...found.filter(isBroken), ...faults.filter(counts).map(findingOf)];
    if (seen.length > 0) broken = seen;
    if (restored.length > 0) return { broken: seen.length > 0 ? seen : broken, suspect: [], restored };
    if (seen.length > 0) bad++;
    else fine++;
    const witnesses = bad + (found.some(isBroken) && faults.some(counts) ? 1 : 0);
    if (witnesses >= 2) return { broken, suspect: [], restored };
    if (seen.length === 0) suspect = agreed(suspect, found);
    if (!undecided && (fine === 2 || (depth === 'quick' && bad === 0))) break;
  }
  // Too few checks counted: a single bad one proves nothing either way.
  if (fine === 0 || (bad > 0 && fine < 2)) throw unseen(run);
  return { broken: [], suspect: suspect ?? [], restored: [] };
}

export function isBad({ broken, restored }: Verdict): boolean {
  return broken.length + restored.length > 0;
}

/** Whether the site is as it was before the run. `suspect`: suspicious findings count, too. */
export async function isWell(run: SafeRun, depth: Depth, suspect: boolean): Promise<boolean> {
  for (const pause of RECOVERY_PAUSES_MS) {
    if (pause > 0) await run.ctx.clock.sleep(pause, run.ctx.signal);
    const { findings } = await lookAgain(run.ctx, run.target, run.facts.before, depth, run.facts.paths);
    if (!findings.some((finding) => isBroken(finding) || suspect)) return true;
  }
  return false;
}

function unseen({ target: { site } }: SafeRun): ServiceError {
  return new ServiceError(
    'svc_site_offline',
    `Site ${site.id} could not be looked at after an update: neither it nor any other address answers this machine. It is looked at again as soon as one does.`,
    { advice: 'Check the network of this machine.', data: { site_id: site.id } },
  );
}

function isBroken({ severity }: Finding): boolean {
  return severity === 'broken';
}

/** Suspicions that this check shares with the previous one. */
function agreed(before: Finding[] | null, now: readonly Finding[]): Finding[] {
  return before === null ? [...now] : now.filter(({ path }) => before.some((finding) => finding.path === path));
}

function counts({ restored, waited }: GuardFault): boolean {
  return restored !== null || !EXCUSED.includes(waited);
}

function findingOf({ message, file }: GuardFault): Finding {
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
  if (item.snapshot === null) return false;
  if (fault.restored !== null) return fault.restored === item.snapshot;
  const folder = item.slug.split('/')[0];
  return fault.armed && fault.kind === item.type && fault.item === folder;
}
