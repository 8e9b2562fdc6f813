/**
 * The monitors by the clock. `runDueMonitors` is called every few seconds; a call works off what is due, as many sites at
 * once as the settings allow, and stores results in groups. A slow site holds back nobody: its place in the pool is taken,
 * and nothing else. What is known is in the database only: a process may end anywhere in here.
 */

import type { Ctx } from '../context.js';
import { applyLooks, type Looked } from '../domain/monitor-apply.js';
import { lookAt } from '../domain/monitor-check.js';
import { effectiveSettings, LONGEST_CHECK_S } from '../domain/monitor-settings.js';
import { isChange } from '../domain/monitor-state.js';
import { type OwnNetwork, ownNetwork } from '../domain/own-network.js';
import { type MonitoringDefaults, monitoringDefaults } from '../domain/settings-effect.js';
import type { MonitorRow } from '../store/monitors.js';

/** Results stored at once at most, and how long one may wait for company. */
const GROUP = 100;
const GROUP_MS = 1_000;
/** A run takes on no more after this; the next call goes on. */
const LONGEST_RUN_MS = 10 * 60_000;
const POLL_MS = 2_000;
const POSTPONE_MS = 60_000;

/** Checks every monitor whose time has come. Answers what came of it, in a few words. */
export async function runDueMonitors(ctx: Ctx): Promise<string> {
  const global = await monitoringDefaults(ctx);
  await replanIfChanged(ctx, global);
  const run = new Run(ctx, global);
  await run.work();
  return run.summary();
}

/** Monitors that follow the global switch or interval get new turns when these change, whoever changed them. */
async function replanIfChanged(ctx: Ctx, global: MonitoringDefaults): Promise<void> {
  const plan = { active: global.active ? 1 : 0, interval_min: global.interval };
  const planned = JSON.stringify(plan);
  if ((await ctx.store.monitors.engine()).planned === planned) return;
  await ctx.store.monitors.replan(plan, planned, ctx.clock.now());
}

class Run {
  readonly #ctx: Ctx;
  readonly #global: MonitoringDefaults;
  readonly #endsAt: number;
  readonly #underWay = new Map<number, Promise<void>>();
  /** Being looked at, or looked at and not stored yet: the database still calls them due. */
  readonly #taken = new Set<number>();
  #queue: { monitor: MonitorRow; login: { user: string; pass: string } | undefined }[] = [];
  #looked: Looked[] = [];
  #storedAt: number;
  #network: OwnNetwork | null = null;
  #held = false;
  #done = { checked: 0, alerts: 0, held: 0 };

  constructor(ctx: Ctx, global: MonitoringDefaults) {
    this.#ctx = ctx;
    this.#global = global;
    this.#storedAt = ctx.clock.now();
    this.#endsAt = this.#storedAt + LONGEST_RUN_MS;
  }

  summary(): string {
    const { checked, alerts, held } = this.#done;
    const waiting = this.#held ? `, ${held} put off: our own network is down` : '';
    return `${checked} checked, ${alerts} alerts${waiting}`;
  }

  async work(): Promise<void> {
    const { clock, signal } = this.#ctx;
    for (;;) {
      signal.throwIfAborted();
      await this.#startWhatFits();
      const waited = this.#looked.length > 0 && clock.now() - this.#storedAt >= GROUP_MS;
      if (this.#looked.length >= GROUP || waited || this.#underWay.size === 0) await this.#store();
      if (this.#underWay.size > 0) await this.#nextToFinish();
      else if (this.#queue.length === 0 && !(await this.#refill())) return;
    }
  }

  async #startWhatFits(): Promise<void> {
    while (!this.#held && this.#underWay.size < this.#global.concurrency) {
      if (this.#queue.length === 0 && !(await this.#refill())) return;
      const next = this.#queue.shift();
      if (next !== undefined) this.#start(next.monitor, next.login);
    }
  }

  #start(monitor: MonitorRow, login: { user: string; pass: string } | undefined): void {
    const settings = effectiveSettings(monitor, this.#global);
    this.#taken.add(monitor.site_id);
    const work = lookAt(this.#ctx, monitor, settings, { login, limit: LONGEST_CHECK_S })
      .then(
        (look) => {
          this.#looked.push({ ...look, monitor, settings });
        },
        async (error: unknown) => {
          if (this.#ctx.signal.aborted) return;
          this.#ctx.log.error({ err: error, site_id: monitor.site_id }, 'a monitor could not be checked');
          await this.#ctx.store.monitorResults.postpone([monitor.site_id], this.#ctx.clock.now() + POSTPONE_MS);
          this.#taken.delete(monitor.site_id);
        },
      )
      .catch((error: unknown) => this.#ctx.log.error({ err: error, site_id: monitor.site_id }, 'a check was lost'))
      .finally(() => this.#underWay.delete(monitor.site_id));
    this.#underWay.set(monitor.site_id, work);
  }

  /** Takes on more of what is due. False when there is nothing. */
  async #refill(): Promise<boolean> {
    const { store, clock } = this.#ctx;
    const now = clock.now();
    if (this.#held || now >= this.#endsAt) return false;
    // What is judged but not stored would still count as due.
    await this.#store();
    if (this.#held) return false;
    const rows = await store.monitors.due(now, 2 * this.#global.concurrency + this.#taken.size);
    const fresh = rows.filter(({ site_id }) => !this.#taken.has(site_id));
    const off = fresh.filter((row) => row.suspended === 1 || !effectiveSettings(row, this.#global).active);
    if (off.length > 0)
      await store.monitorResults.pause(
        off.map(({ site_id }) => site_id),
        now,
      );
    const on = fresh.filter((row) => !off.includes(row));
    if (on.length > 0 && (await this.#isCutOff())) return false;
    const logins = await store.monitors.logins(on.map(({ site_id }) => site_id));
    this.#queue = on.map((monitor) => ({ monitor, login: logins.get(monitor.site_id) }));
    return fresh.length > 0;
  }

  /** Asked once a run, and only when there is something to check: while we know that we are cut off, nobody is. */
  async #isCutOff(): Promise<boolean> {
    if (this.#network !== null) return false;
    this.#network = await ownNetwork(this.#ctx);
    this.#held = await this.#network.isDown();
    return this.#held;
  }

  /** Stores what was judged. Silence is not believed while our own network may be the cause. */
  async #store(): Promise<void> {
    const group = this.#looked;
    this.#looked = [];
    this.#storedAt = this.#ctx.clock.now();
    if (group.length === 0) return;
    const believed = (await this.#isOurSilence(group)) ? group.filter(({ verdict }) => !verdict.silent) : group;
    if (believed.length < group.length) {
      this.#held = true;
      this.#done.held += group.length - believed.length;
      const silent = group.filter(({ verdict }) => verdict.silent).map(({ monitor }) => monitor.site_id);
      await this.#ctx.store.monitorResults.postpone(silent, this.#ctx.clock.now() + POSTPONE_MS);
    }
    const { stored, alerts } = await applyLooks(this.#ctx, believed);
    for (const { monitor } of group) this.#taken.delete(monitor.site_id);
    this.#done.checked += stored;
    this.#done.alerts += alerts;
  }

  /** Asked when silence would open an incident, or when most of a group is newly silent. */
  async #isOurSilence(group: readonly Looked[]): Promise<boolean> {
    const silent = group.filter(({ verdict, monitor }) => verdict.silent && monitor.settled === 1);
    const answered = group.filter(({ verdict }) => verdict.http_code !== null).length;
    const opens = silent.some(({ monitor, verdict, settings }) => isChange(monitor, verdict, settings));
    if (!opens && (silent.length === 0 || silent.length < answered)) return false;
    this.#network ??= await ownNetwork(this.#ctx);
    return this.#network.explainsSilence();
  }

  async #nextToFinish(): Promise<void> {
    const awake = new AbortController();
    const poll = this.#ctx.clock.sleep(POLL_MS, awake.signal).catch(() => undefined);
    await Promise.race([poll, ...this.#underWay.values()]);
    awake.abort();
  }
}

const DAY_MS = 24 * 3_600_000;
/** Beats 180 days, hourly sums 31, incidents and alerts two years. */
const KEEP = { beats: 180 * DAY_MS, hours: 31 * DAY_MS, incidents: 730 * DAY_MS } as const;
const PRUNE_ROWS = 5_000;
const PRUNE_STEPS = 40;

/** Forgets what is older than its time, in small steps so that nobody waits for the writer long. Once an hour is plenty. */
export async function pruneMonitoring(ctx: Ctx): Promise<string> {
  const now = ctx.clock.now();
  const before = { beats: now - KEEP.beats, hours: now - KEEP.hours, incidents: now - KEEP.incidents };
  let total = 0;
  for (let step = 0; step < PRUNE_STEPS && !ctx.signal.aborted; step++) {
    const forgotten =
      (await ctx.store.monitorResults.prune(before, PRUNE_ROWS)) +
      (await ctx.store.alerts.prune(before.incidents, PRUNE_ROWS));
    total += forgotten;
    if (forgotten === 0) break;
  }
  return `${total} rows forgotten`;
}
