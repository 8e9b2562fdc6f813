/**
 * "Am I online?": asked before silence is taken for an outage. State is in the database, so a restart during a cut does
 * not turn it into a thousand alerts.
 */

import type { Ctx } from '../context.js';
import type { EngineRow } from '../store/monitors.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A reference that was not reachable from here for so long says nothing about our network. */
const TRUSTED_MS = 2 * DAY_MS;

export interface OwnNetwork {
  /** True while our network is known to be down. Asks again whether it is back. */
  isDown(): Promise<boolean>;
  /** Is this silence our own? Asks the references. */
  explainsSilence(): Promise<boolean>;
}

/** One guard for one run of the monitors. */
export async function ownNetwork(ctx: Ctx): Promise<OwnNetwork> {
  const state: EngineRow = await ctx.store.monitors.engine();
  // Once a day, so that it is known whether the references can be reached from here at all (closed networks).
  const lastOk = state.reference_ok_at ?? 0;
  const wait = state.reference_asked_at === state.reference_ok_at ? DAY_MS : HOUR_MS;
  if (state.network_down_since === null && ctx.clock.now() - (state.reference_asked_at ?? 0) >= wait) await ask();

  async function ask(): Promise<boolean> {
    const online = await ctx.probe.online(ctx.signal);
    const now = ctx.clock.now();
    state.reference_asked_at = now;
    if (online) state.reference_ok_at = now;
    await ctx.store.monitors.saveNetwork(state);
    return online;
  }
  async function change(downSince: number | null): Promise<void> {
    const before = state.network_down_since;
    state.network_down_since = downSince;
    await ctx.store.monitors.saveNetwork(state);
    const facts = before === null ? {} : { down_for_s: Math.round((ctx.clock.now() - before) / 1000) };
    ctx.events.emit({ name: downSince === null ? 'network.up' : 'network.down', facts });
    ctx.log.warn(facts, downSince === null ? 'our own network is back' : 'our own network is down: monitoring waits');
  }
  return {
    async isDown() {
      if (state.network_down_since === null) return false;
      if (!(await ask())) return true;
      await change(null);
      return false;
    },
    async explainsSilence() {
      if (await ask()) {
        if (state.network_down_since !== null) await change(null);
        return false;
      }
      const trusted = ctx.clock.now() - (state.reference_ok_at ?? lastOk) <= TRUSTED_MS;
      if (state.network_down_since === null && !trusted) return false;
      if (state.network_down_since === null) await change(ctx.clock.now());
      return true;
    },
  };
}
