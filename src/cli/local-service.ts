/** A service for one shell command: verbs run in this process, jobs and schedule are left to the server. */

import { randomUUID } from 'node:crypto';
import { createService } from '../app/service.js';
import type { Config } from '../config/types.js';
import type { Progress } from '../core/progress.js';
import type { Ctx } from '../domain/context.js';
import { createLog } from '../telemetry/log.js';
import { assertWritable } from './file-access.js';
import { localActor } from './local-actor.js';
import { stopSignal } from './stop.js';

/** Runs the work with a context, and closes everything afterwards. Ctrl-C aborts `ctx.signal`. */
export async function withLocalService<T>(
  config: Config,
  work: (ctx: Ctx) => Promise<T>,
  progress?: (progress: Progress) => void,
): Promise<T> {
  assertWritable(config);
  const signal = stopSignal();
  const service = await createService({ config, log: createLog(config.log_level), engine: 'inline', jobs: false });
  try {
    return await work(service.ctx({ actor: localActor('cli'), request_id: randomUUID(), signal, progress }));
  } finally {
    await service.stop();
  }
}
