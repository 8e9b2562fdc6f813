/**
 * The monitors that one run has claimed: kept while it works on them, given back when it does not. While the database is busy or
 * away none of this fails: checks in flight go on, and what could not be kept or given back lapses.
 */

import type { Members } from '../cluster/members.js';
import { storageFailure } from '../core/errors.js';
import type { Ctx } from '../domain/context.js';
import type { Login, MonitorRow } from '../store/monitoring/monitors.js';

/** Where several processes claim, no claim is longer; and no monitor's interval is shorter. */
const LONGEST_MS = 60_000;

export interface HeldClaim {
  readonly site_id: number;
  /** When it lapses, and the proof of it; grows as the claim is kept. */
  until: number;
  /** The same by the clock that only grows: the other one may be put back. */
  untilElapsed: number;
}

export class Claims {
  readonly #ctx: Ctx;
  readonly #members: Members;
  readonly #held = new Set<HeldClaim>();

  constructor(ctx: Ctx, members: Members) {
    this.#ctx = ctx;
    this.#members = members;
  }

  /** Claims up to `most` monitors that are due. */
  async take(most: number): Promise<{ monitor: MonitorRow; login: Login | undefined; claim: HeldClaim }[]> {
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

  /** False once it has lapsed, as after a pause: another process may have it by now. */
  stands(claim: HeldClaim): boolean {
    const { clock } = this.#ctx;
    return claim.until > clock.now() && claim.untilElapsed > clock.elapsed();
  }

  /** Renews what is held, when a third of the time of any has gone by. What was lost meanwhile lapses for us as well. */
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

  /** Forgets claims whose monitors were stored: they are in the plan again. */
  drop(claims: readonly HeldClaim[]): void {
    for (const claim of claims) this.#held.delete(claim);
  }

  /** Due again in `wait` milliseconds, for the process that comes first. */
  async giveBack(claims: readonly HeldClaim[], wait: number): Promise<void> {
    const standing = claims.filter((claim) => this.#held.has(claim) && this.stands(claim));
    this.drop(claims);
    const now = this.#ctx.clock.now();
    await this.#unlessAway(() => this.#ctx.store.monitorClaims.move(standing, now, now + wait));
  }

  /** At the end of a run, also of one that failed: never rejects, for the error that ended it is the one to tell. */
  async giveBackAll(): Promise<void> {
    await this.giveBack([...this.#held], 0).catch((error: unknown) =>
      this.#ctx.log.warn({ err: error }, 'claimed monitors could not be given back'),
    );
  }

  /** Takes monitors that are switched off out of the plan. */
  async pause(claims: readonly HeldClaim[]): Promise<void> {
    if (claims.length === 0) return;
    const now = this.#ctx.clock.now();
    await this.#unlessAway(() => this.#ctx.store.monitorClaims.pause(claims, now));
    this.drop(claims);
  }

  /** Undefined when the database is busy or away, which is logged where it is noticed. */
  async #unlessAway<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (storageFailure(error) === null) throw error;
      return undefined;
    }
  }
}
