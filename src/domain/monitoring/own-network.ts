/**
 * Detects an outage of our own network, before silence of sites is taken for theirs. Reference hosts decide, never the
 * share of failed checks: with several processes a round may be a single check. State is in the database, so a restart
 * during an outage does not turn it into a thousand alerts; it is kept per machine, because one machine may be cut off
 * while others are not.
 */

import { hostname } from 'node:os';
import type { NetworkRow } from '../../store/monitoring/own-network.js';
import type { Ctx } from '../context.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A reference that has been unreachable for this long says nothing about our network. */
const TRUSTED_MS = 2 * DAY_MS;

export interface OwnNetwork {
  /** True while our network is known to be down. Checks whether it is back. */
  isDown(): Promise<boolean>;
  /** Whether the silence of a site may be caused by our own network. Checks the references. */
  explainsSilence(): Promise<boolean>;
}

/**
 * Creates the guard for one run of the monitors.
 * @param host name of this machine
 */
export async function ownNetwork(ctx: Ctx, host = hostname()): Promise<OwnNetwork> {
  const rows = ctx.store.monitorNetwork;
  const state: NetworkRow = await rows.of(host);
  // Once a day, to know whether the references can be reached from here at all (closed networks).
  const wait = state.asked_at === state.ok_at ? DAY_MS : HOUR_MS;
  if (state.down_since === null && ctx.clock.now() - (state.asked_at ?? 0) >= wait) await ask();

  async function ask(): Promise<boolean> {
    const online = await ctx.probe.online();
    const now = ctx.clock.now();
    state.asked_at = now;
    if (online) state.ok_at = now;
    await rows.asked(host, now, online);
    return online;
  }
  async function change(downSince: number | null): Promise<void> {
    const before = state.down_since;
    state.down_since = downSince;
    // Another process of this machine may have reported it first.
    if (!(await rows.change(host, downSince))) return;
    const facts = before === null ? { host } : { host, down_for_s: Math.round((ctx.clock.now() - before) / 1000) };
    ctx.events.emit({ name: downSince === null ? 'network.up' : 'network.down', facts });
    ctx.log.warn(
      facts,
      downSince === null ? 'our own network is back' : 'our own network is down: monitoring is paused',
    );
  }
  return {
    async isDown() {
      if (state.down_since === null) return false;
      if (!(await ask())) return true;
      await change(null);
      return false;
    },
    async explainsSilence() {
      if (await ask()) {
        if (state.down_since !== null) await change(null);
        return false;
      }
      const trusted = ctx.clock.now() - (state.ok_at ?? 0) <= TRUSTED_MS;
      if (state.down_since === null && !trusted) return false;
      if (state.down_since === null) await change(ctx.clock.now());
      return true;
    },
  };
}
