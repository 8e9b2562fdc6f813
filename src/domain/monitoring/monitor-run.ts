/**
 * One run of the monitors in one process: claims due monitors in portions, checks as many sites at once as its part of
 * the configured limit allows, and stores results in groups. A slow site takes one slot of the pool and delays nothing
 * else. All state is in the database: a process may end, or be paused, at any point.
 */

import type { Members } from '../../runtime/cluster/members.js';
import { storageFailure } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';
import type { MonitoringDefaults } from '../settings/effects.js';
import { applyChecks, type ClassifiedCheck } from './apply.js';
import { checkOnce } from './check.js';
import { type ClaimedMonitor, Claims, type HeldClaim } from './claims.js';
import { type OwnNetwork, ownNetwork } from './own-network.js';
import { effectiveSettings, LONGEST_CHECK_S } from './settings.js';
import { isChange } from './state.js';

/** Maximum number of results stored together, and how long a result may wait for others. */
const GROUP = 100;
const GROUP_MS = 1_000;
/** After this a run takes on no more; the next run continues. */
const LONGEST_RUN_MS = 10 * 60_000;
/** How often a run wakes while nothing happens, and how soon it claims again after it found nothing due. */
const POLL_MS = 2_000;
/** How soon monitors are due again that this run released without a result. */
const POSTPONE_MS = 60_000;
/** In total much shorter than a claim. */
const RECORD_PAUSES_MS = [50, 200, 500, 1000] as const;

type Classified = Omit<ClassifiedCheck, 'claim'> & { claim: HeldClaim };

export class MonitorRun {
  readonly #ctx: Ctx;
  readonly #global: MonitoringDefaults;
  readonly #members: Members;
  readonly #claims: Claims;
  readonly #endsAt: number;
  readonly #running = new Set<Promise<void>>();
  readonly #ended = new AbortController();
  /** The context of checks: its signal ends with the run. */
  readonly #checkCtx: Ctx;
  #queue: ClaimedMonitor[] = [];
  #results: Classified[] = [];
  #failed: HeldClaim[] = [];
  #storedAt: number;
  #claimAgainAt = 0;
  #network: OwnNetwork | null = null;
  #offline = false;
  #done = { checked: 0, alerts: 0, postponed: 0, late: 0 };

  constructor(ctx: Ctx, global: MonitoringDefaults, members: Members) {
    this.#ctx = ctx;
    this.#global = global;
    this.#members = members;
    this.#claims = new Claims(ctx, members);
    this.#checkCtx = { ...ctx, signal: AbortSignal.any([ctx.signal, this.#ended.signal]) };
    this.#storedAt = ctx.clock.elapsed();
    this.#endsAt = this.#storedAt + LONGEST_RUN_MS;
  }

  summary(): string {
    const { checked, alerts, postponed, late } = this.#done;
    const waiting = this.#offline ? `, ${postponed} postponed: our own network is down` : '';
    return `${checked} checked, ${alerts} alerts${late > 0 ? `, ${late} late` : ''}${waiting}`;
  }

  /** @param down this machine was offline at the last check: checks whether it still is before taking anything on */
  async work(down: boolean): Promise<void> {
    try {
      if (down && (await this.#isOffline())) return;
      while (await this.#step());
    } finally {
      this.#ended.abort();
      await this.#claims.giveBackAll();
    }
  }

  /** One step; false when there is nothing left to do. */
  async #step(): Promise<boolean> {
    const { clock, signal } = this.#ctx;
    signal.throwIfAborted();
    await this.#claims.keep();
    await this.#fillSlots();
    const waited = this.#results.length > 0 && clock.elapsed() - this.#storedAt >= GROUP_MS;
    if (this.#results.length >= GROUP || waited || this.#running.size === 0) await this.#store();
    if (this.#running.size > 0) {
      await this.#waitForOne();
      return true;
    }
    // Without a slot there is nothing to wait for: queued monitors are released.
    if (this.#offline || this.#slots() === 0) return false;
    return this.#queue.length > 0 || (await this.#refill());
  }

  #slots(): number {
    return this.#offline ? 0 : this.#members.slots(this.#global.concurrency);
  }

  async #fillSlots(): Promise<void> {
    while (this.#running.size < this.#slots()) {
      if (this.#queue.length === 0 && !(await this.#refill())) return;
      const next = this.#queue.shift();
      if (next === undefined) continue;
      if (this.#claims.stands(next.claim)) this.#start(next);
      else this.#claims.drop([next.claim]);
    }
  }

  #start({ monitor, login, claim }: ClaimedMonitor): void {
    const settings = effectiveSettings(monitor, this.#global);
    const work = checkOnce(this.#checkCtx, monitor, settings, { login, limit: LONGEST_CHECK_S })
      .then(
        (result) => {
          this.#results.push({ ...result, monitor, settings, claim });
        },
        (error: unknown) => {
          if (this.#checkCtx.signal.aborted) return;
          this.#ctx.log.error({ err: error, site_id: monitor.site_id }, 'a monitor could not be checked');
          this.#failed.push(claim);
        },
      )
      .finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  /** Claims more due monitors. False if there are none. */
  async #refill(): Promise<boolean> {
    const now = this.#ctx.clock.elapsed();
    if (this.#offline || now >= this.#endsAt || now < this.#claimAgainAt) return false;
    // Results are stored before more is claimed, so that no claim is held for long.
    await this.#store();
    const slots = this.#slots();
    if (slots === 0) return false;
    const claimed = await this.#claims.take(2 * slots);
    if (claimed.length === 0) this.#claimAgainAt = now + POLL_MS;
    const isOff = ({ monitor }: ClaimedMonitor) =>
      monitor.suspended === 1 || !effectiveSettings(monitor, this.#global).active;
    await this.#claims.pause(claimed.filter(isOff).map(({ claim }) => claim));
    this.#queue = claimed.filter((monitor) => !isOff(monitor));
    if (this.#queue.length > 0 && (await this.#isOffline())) await this.#releaseQueue();
    return claimed.length > 0 && !this.#offline;
  }

  /**
   * Checked once per run, and only if there is something to check: while this machine is known to be offline, no site
   * is checked.
   */
  async #isOffline(): Promise<boolean> {
    if (this.#network !== null) return this.#offline;
    this.#network = await ownNetwork(this.#ctx, this.#members.host);
    this.#offline = await this.#network.isDown();
    return this.#offline;
  }

  /** Stores classified results. Unreachable sites are not recorded while our own network may be the cause. */
  async #store(): Promise<void> {
    const [all, failed] = [this.#results, this.#failed];
    this.#results = [];
    this.#failed = [];
    this.#storedAt = this.#ctx.clock.elapsed();
    await this.#claims.giveBack(failed, POSTPONE_MS);
    const group = all.filter(({ claim }) => this.#claims.stands(claim));
    const ours = group.length > 0 && (await this.#isOwnNetworkSilent(group));
    const believed = ours ? group.filter(({ classification }) => !classification.silent) : group;
    if (ours) await this.#postpone(group.filter(({ classification }) => classification.silent));
    const { stored, alerts } = await this.#record(believed);
    this.#claims.drop(all.map(({ claim }) => claim));
    this.#done.checked += stored;
    this.#done.alerts += alerts;
    this.#done.late += all.length - group.length + believed.length - stored;
  }

  /** Retries while the database is busy and the claims hold: a short lock must not cost a second check. */
  async #record(results: readonly Classified[]): Promise<{ stored: number; alerts: number }> {
    const claimed = results.map((result) => ({ ...result, claim: result.claim.until }));
    for (const pause of RECORD_PAUSES_MS) {
      try {
        return await applyChecks(this.#ctx, claimed);
      } catch (error) {
        if (storageFailure(error) === null) throw error;
        await this.#ctx.clock.sleep(pause, this.#ctx.signal);
      }
    }
    return applyChecks(this.#ctx, claimed);
  }

  /** This machine is offline: other processes may check at once instead; without others, it retries later. */
  async #postpone(silent: readonly Classified[]): Promise<void> {
    this.#offline = true;
    this.#done.postponed += silent.length;
    const wait = this.#members.count() > 1 ? 0 : POSTPONE_MS;
    await this.#claims.giveBack(
      silent.map(({ claim }) => claim),
      wait,
    );
    await this.#releaseQueue();
  }

  async #releaseQueue(): Promise<void> {
    const queued = this.#queue.map(({ claim }) => claim);
    this.#queue = [];
    await this.#claims.giveBack(queued, 0);
  }

  /** Checked when silence would open an incident, or when most of a group is newly silent. */
  async #isOwnNetworkSilent(group: readonly Classified[]): Promise<boolean> {
    const silent = group.filter(({ classification, monitor }) => classification.silent && monitor.confirmed === 1);
    const answered = group.filter(({ classification }) => classification.http_code !== null).length;
    const opens = silent.some(({ monitor, classification, settings }) => isChange(monitor, classification, settings));
    if (!opens && (silent.length === 0 || silent.length < answered)) return false;
    this.#network ??= await ownNetwork(this.#ctx, this.#members.host);
    return this.#network.explainsSilence();
  }

  async #waitForOne(): Promise<void> {
    const awake = new AbortController();
    const poll = this.#ctx.clock.sleep(POLL_MS, awake.signal).catch(() => undefined);
    await Promise.race([poll, ...this.#running]);
    awake.abort();
  }
}
