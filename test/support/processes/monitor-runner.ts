/**
 * Program that runs its share of the due monitors every second until it is killed. Writes the outcome of each run and
 * each event to stdout, one line of JSON each. Its probes carry its name. Started with its configuration as JSON.
 */

import { timetable } from '../../../src/app/schedule/timetable.js';
import { createService } from '../../../src/app/service.js';
import { runDueMonitors } from '../../../src/domain/monitoring/due-monitors.js';
import { createProbe } from '../../../src/outbound/probe/create.js';
import { createLog } from '../../../src/runtime/telemetry/log.js';

const { config, name, beatMs, reference } = JSON.parse(process.argv[2] ?? '{}');
const say = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`);
const probe = createProbe({ allowPrivate: true, userAgent: name, references: [reference], onlineFreshMs: 500 });
const service = await createService({
  config,
  log: createLog(config.log_level),
  engine: 'inline',
  beatMs,
  probe,
  timetable: timetable
    .filter((entry) => entry.name === 'monitors')
    .map((entry) => ({
      ...entry,
      pattern: '* * * * * *',
      run: async (ctx, members) => {
        const outcome = await runDueMonitors(ctx, members);
        say({ outcome });
        return outcome;
      },
    })),
});
service.events.subscribe(({ name: event, site_id }) => say({ event, site_id }));
await service.start();
say({ ready: true });
process.stdin.resume();
process.stdin.on('end', () => void service.stop().then(() => process.exit(0)));
