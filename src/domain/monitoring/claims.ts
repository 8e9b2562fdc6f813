/**
 * The monitors claimed by one run: renewed while it works on them, released when it stops. While the database is busy
 * or away nothing here fails: running checks continue, and claims that could not be renewed or released lapse.
 */

import type { Members } from '../../runtime/cluster/members.js';
import { storageFailure } from '../../runtime/errors.js';
import type { Login, MonitorRow } from '../../store/monitoring/monitors.js';
import type { Ctx } from '../context.js';

/** With several processes no claim is longer than this, and no monitor's interval is shorter. */
const LONGEST_MS = 60_000;

export interface HeldClaim {
  readonly site_id: number;
  /** When it lapses; also proves ownership. Grows as the claim is renewed. */
  until: number;
  /** The same on the monotonic clock: the wall clock may be set back. */
  untilElapsed: number;
}

export interface ClaimedMonitor {
  monitor: MonitorRow;
  login: Login | undefined;
  claim: HeldClaim;
}

export class Claims {
  readonly #ctx: Ctx;
  readonly #members: Members;
  readonly #held = new Set<HeldClaim>();

  constructor(ctx: Ctx, members: Members) {
    this.#ctx = ctx;
    this.#members = members;
  }

  /** Claims up to `most` due monitors. */
  async take(most: number): Promise<ClaimedMonitor[]> {
    const { store, clock } = this.#ctx;
    const now = clock.now();
    const { leaseMs } = this.#members;
    const until = now + leaseMs;
    const untilElapsed = clock.elapsed() + leaseMs;
    const lapsed = now - clock.steps(Math.min(leaseMs, LONGEST_MS)).forward;
    const part = { most, members: this.#members.count() };
    const found = await this.#unlessAway(() => store.monitorClaims.claim(lapsed, until, part));
    return (found?.rows ?? []).map((monitor) => {
      const claim = { site_id: monitor.site_id, until, untilElapsed };
      this.#held.add(claim);
      return { monitor, login: found?.logins.get(monitor.site_id), claim };
    });
  }

  /** False once it has lapsed, for example after a pause: another process may hold it by now. */
  stands(claim: HeldClaim): boolean {
    const { clock } = this.#ctx;
    return claim.until > clock.now() && claim.untilElapsed > clock.elapsed();
  }

  /**
   * Renews the held claims when a third of any claim's time has passed. Claims that were lost in the meantime are
   * dropped.
   */
  async keep(): Promise<void> {
    const { clock } = this.#ctx;
    const now = clock.now();
    const elapsed = clock.elapsed();
    const standing = [...this.#held].filter((claim) => this.stands(claim));
    if (!standing.some(({ untilElapsed }) => untilElapsed - elapsed < (this.#members.leaseMs * 2) / 3)) return;
    const until = now + this.#members.leaseMs;
    const kept = await this.#unlessAway(() => this.#ctx.store.monitorClaims.move(standing, now, until));
    if (kept === undefined) return;
    for (const claim of standing) {
      claim.until = kept.has(claim.site_id) ? until : 0;
      claim.untilElapsed = elapsed + this.#members.leaseMs;
    }
  }

  /** Forgets claims whose monitors were stored: they are scheduled again. */
  drop(claims: readonly HeldClaim[]): void {
    for (const claim of claims) this.#held.delete(claim);
  }

  /** Makes the monitors due again in `wait` milliseconds, for whichever process claims them first. */
  async giveBack(claims: readonly HeldClaim[], wait: number): Promise<void> {
    const standing = claims.filter((claim) => this.#held.has(claim) && this.stands(claim));
    this.drop(claims);
    const now = this.#ctx.clock.now();
    await this.#unlessAway(() => this.#ctx.store.monitorClaims.move(standing, now, now + wait));
  }

  /**
   * For the end of a run, including a failed one: never rejects, so that the error that ended the run is the one
   * reported.
   */
  async giveBackAll(): Promise<void> {
    await this.giveBack([...this.#held], 0).catch((error: unknown) =>
      this.#ctx.log.warn({ err: error }, 'claimed monitors could not be released'),
    );
  }

  /** Unschedules monitors that are switched off. */
  async pause(claims: readonly HeldClaim[]): Promise<void> {
    if (claims.length === 0) return;
    const now = this.#ctx.clock.now();
    await this.#unlessAway(() => this.#ctx.store.monitorClaims.pause(claims, now));
    this.drop(claims);
  }

  /** Undefined if the database is busy or away, which is logged elsewhere. */
  async #unlessAway<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (storageFailure(error) === null) throw error;
      return undefined;
    }
  }
}
