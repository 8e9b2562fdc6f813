/** `sitefleet stdio`: MCP for one assistant on the same machine. */

import { setTimeout as pause } from 'node:timers/promises';
import { createService, openMcp, type Service } from '../app/service.js';
import { systemClock } from '../runtime/clock.js';
import type { Config } from '../runtime/config/types.js';
import { createLog } from '../runtime/telemetry/log.js';
import { serveStdio } from '../surfaces/mcp/stdio.js';
import { toolChoice, withToolChoice } from '../surfaces/mcp/toolsets-header.js';
import { assertWritable } from './file-access.js';
import { localActor } from './local-actor.js';
import { stopSignal } from './stop.js';

/** How long opening the database waits for the greeting, unless a call comes first. */
const GREETING_MS = 150;
/** The schedule is checked when the assistant has finished its own start. */
const SETTLED_MS = 2_000;
/** How often to check whether this process must run the schedule. */
const LOOK_MS = 30_000;
/** How long before its turn due work has the engine started: until the next check and while the engine starts. */
const AHEAD_MS = LOOK_MS + 10_000;

/** Answers the greeting before anything is opened: the assistant waits for it. */
export async function stdio(config: Config, chosen: { toolsets?: string; readonly?: boolean } = {}): Promise<void> {
  const actor = withToolChoice(
    localActor('mcp'),
    toolChoice({ toolsets: chosen.toolsets, readonly: chosen.readonly === true ? '1' : undefined }),
  );
  const asked = stopSignal();
  const broken = new AbortController();
  const signal = AbortSignal.any([asked, broken.signal]);
  const log = createLog(config.log_level);
  const open = async () => {
    assertWritable(config);
    return createService({ config, log });
  };
  let opened: Promise<Service> | undefined;
  const service = (): Promise<Service> => {
    opened ??= open();
    return opened;
  };
  const core = await openMcp(config, {
    log,
    clock: systemClock,
    invoke: async (...call) => (await service()).invoke(...call),
  });
  const ended = new AbortController();
  const running = runSchedule(service, ended.signal).catch((error: unknown) => {
    // Without its database the service is useless: it ends and reports why.
    broken.abort();
    throw error;
  });
  // Its failure is thrown below, after the assistant was disconnected.
  running.catch(() => undefined);
  await serveStdio({ core, actor, signal });
  ended.abort();
  await running;
  core.close();
  await (await opened)?.stop();
  // An open pipe without a reader would keep the process alive.
  process.stdin.destroy();

  async function runSchedule(open: () => Promise<Service>, stop: AbortSignal): Promise<void> {
    await untilAborted(GREETING_MS, stop);
    if (stop.aborted && opened === undefined) return;
    const ready = await open();
    await untilAborted(SETTLED_MS, stop);
    // The engine takes as much memory as everything else: reads do not need it, nor does an assistant next to a running
    // server.
    while (!stop.aborted && !(await isNeeded(ready))) await untilAborted(LOOK_MS, stop);
    if (stop.aborted) return;
    ready.start().catch((error: unknown) => log.error({ err: error }, 'the schedule does not run'));
  }

  async function isNeeded(ready: Service): Promise<boolean> {
    return ready.isScheduleNeeded(AHEAD_MS).catch((error: unknown) => {
      log.warn({ err: error }, 'could not read whether the schedule should run here');
      return false;
    });
  }
}

/** Waits, but no longer than the command lives. */
function untilAborted(ms: number, signal: AbortSignal): Promise<void> {
  return pause(ms, undefined, { signal }).catch(() => undefined);
}
