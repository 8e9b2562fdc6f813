/** A service for one shell command: verbs run in this process, jobs and schedule are left to the server. */

import { createService, type Service } from '../app/service.js';
import { type Ctx, withOperation } from '../domain/context.js';
import type { Config } from '../runtime/config/types.js';
import type { Progress } from '../runtime/progress.js';
import { createLog } from '../runtime/telemetry/log.js';
import { currentCommand } from './current-command.js';
import { assertWritable } from './file-access.js';
import { localCaller } from './local-actor.js';
import { stopSignal } from './stop.js';

/** Runs the work with a context, and closes everything afterwards. Ctrl-C aborts `ctx.signal`. */
export async function withLocalService<T>(
  config: Config,
  work: (ctx: Ctx) => Promise<T>,
  progress?: (progress: Progress) => void,
): Promise<T> {
  assertWritable(config);
  const signal = stopSignal();
  const { name, ...input } = currentCommand();
  return withService(config, false, (service) => {
    const ctx = withOperation(service.ctx({ ...localCaller(signal), progress }), name);
    return ctx.record(ctx, input, () => work(ctx));
  });
}

/** Runs the work with a service in this thread, and stops it afterwards. @param jobs whether it may work on jobs */
export async function withService<T>(
  config: Config,
  jobs: boolean,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const service = await createService({ config, log: createLog(config.log_level), engine: 'inline', jobs });
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}
