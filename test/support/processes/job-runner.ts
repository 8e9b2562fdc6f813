/** Program that runs queued jobs until it is killed, for the crash tests. Started with its configuration as JSON. */

import { createService } from '../../../src/app/service.js';
import { createLog } from '../../../src/runtime/telemetry/log.js';

const { config, sharedKey, jobLeaseMs = 2000, beatMs = 500, location } = JSON.parse(process.argv[2] ?? '{}');
const log = createLog(config.log_level);
const service = await createService({ config, log, engine: 'inline', sharedKey, jobLeaseMs, beatMs, location });
await service.start();
process.stdout.write('ready\n');
process.stdin.resume();
process.stdin.on('end', () => void service.stop().then(() => process.exit(0)));
