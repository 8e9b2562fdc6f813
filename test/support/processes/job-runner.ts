/**
 * Program that runs queued jobs until it is killed, for the crash tests. Started with its configuration as JSON. With `call`,
 * it also makes this call over and over until it succeeds, as a client does that got no answer.
 */

import { createService } from '../../../src/app/service.js';
import { createLog } from '../../../src/runtime/telemetry/log.js';

const { config, sharedKey, jobLeaseMs = 2000, beatMs = 500, location, call } = JSON.parse(process.argv[2] ?? '{}');
const log = createLog(config.log_level);
const service = await createService({ config, log, engine: 'inline', sharedKey, jobLeaseMs, beatMs, location });
await service.start();
process.stdout.write('ready\n');
process.stdin.resume();
process.stdin.on('end', () => void service.stop().then(() => process.exit(0)));

if (call !== undefined) {
  const { path, body, token } = call;
  const http = await service.http();
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const send = () =>
    http.request(`http://127.0.0.1/v2${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  while ((await send()).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
}
