/** A process that works jobs off until it is killed: the other side of the crash tests. Started with its configuration as JSON. */

import { createLog } from '../../src/log.js';
import { assemble } from '../../src/main.js';

const { config, sharedKey } = JSON.parse(process.argv[2] ?? '{}');
const service = await assemble({ config, log: createLog('silent'), engine: 'inline', sharedKey, jobLeaseMs: 2000 });
await service.start();
process.stdout.write('ready\n');
process.stdin.resume();
process.stdin.on('end', () => void service.stop().then(() => process.exit(0)));
