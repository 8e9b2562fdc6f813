/**
 * `sitefleet work`: queued jobs and the schedule, without serving requests. Any number of them may share a database.
 */

import { createService } from '../app/service.js';
import type { Config } from '../runtime/config/types.js';
import { maskedUrl } from '../runtime/masked-url.js';
import { createLog } from '../runtime/telemetry/log.js';
import { warnIfAlertsReachNoOne } from './alert-warning.js';
import { warnOfCheckpoints } from './checkpoint-warning.js';
import { CommandError } from './command-error.js';
import { assertWritable } from './file-access.js';
import { printJson, say } from './output.js';
import { stopAll, stopSignal, whenAborted } from './stop.js';

export async function work(config: Config, options: { json: boolean }): Promise<void> {
  if (config.db === ':memory:') {
    throw new CommandError(
      'A database in memory is visible only to its own process: set SITEFLEET_DB to the shared one.',
    );
  }
  assertWritable(config);
  const stop = stopSignal();
  const log = createLog(config.log_level);
  // Single-threaded: this process serves no requests.
  const service = await createService({ config, log, engine: 'inline' });
  await service.start();
  if (options.json) printJson({ ready: true });
  else say('Sitefleet works on queued jobs; the schedule runs in one of the processes. Ctrl+C stops.');
  await warnIfAlertsReachNoOne(service, log);
  await warnOfCheckpoints(config, log);
  log.info({ db: maskedUrl(config.db) }, 'working');
  await whenAborted(stop);
  log.info({}, 'stopping');
  await stopAll([() => service.stop()]);
}
