/**
 * Program that makes one backup, one restore, or two sweeps a day apart, and kills itself at a chosen moment: before or after it
 * touches the repository, the site or the database. Without one it counts these moments, into a file. What it was refused it writes into
 * another, if one is named.
 */

import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createService } from '../../../src/app/service.js';
import { pruneBackups } from '../../../src/domain/backups/retention.js';
import { systemClock } from '../../../src/runtime/clock.js';
import { createLog } from '../../../src/runtime/telemetry/log.js';
import type { Db } from '../../../src/store/driver/db.js';

const { config, sharedKey, step, input, dieAt, report, refusal } = JSON.parse(process.argv[2] ?? '{}');
let moments = 0;
let armed = false;
const moment = () => {
  if (armed && ++moments === dieAt) process.kill(process.pid, 'SIGKILL');
};
/** The same function, between two moments. */
const between =
  <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
  async (...args: A): Promise<R> => {
    moment();
    const result = await work(...args);
    moment();
    return result;
  };

const files = createRequire(import.meta.url)('node:fs/promises');
for (const name of ['open', 'rename', 'link', 'rm']) files[name] = between(files[name]);
subscribe('undici:request:create', moment);
subscribe('undici:request:headers', moment);

let later = 0;
const service = await createService({
  config,
  log: createLog(config.log_level),
  engine: 'inline',
  sharedKey,
  jobs: false,
  clock: { ...systemClock, now: () => systemClock.now() + later },
  wrapDb: (db: Db) => ({
    kind: db.kind,
    all: (...args) => db.all(...args),
    one: (...args) => db.one(...args),
    read: (statements) => db.read(statements),
    script: (text) => db.script(text),
    close: () => db.close(),
    run: between((...args: Parameters<Db['run']>) => db.run(...args)),
    batch: between((statements: Parameters<Db['batch']>[0]) => db.batch(statements)),
  }),
});
const caller = {
  actor: { type: 'user', id: 1, name: 'admin', rights: ['read', 'write'], via: 'run' },
  request_id: 'step',
  signal: new AbortController().signal,
} as const;
armed = true;
if (step === 'prune') {
  await pruneBackups(service.ctx(caller));
  later = 25 * 3_600_000;
  await pruneBackups(service.ctx(caller));
} else {
  const operation = service.operations.find(({ id }) => id === `svc/${step}-v1`);
  if (operation === undefined) throw new Error(`no operation ${step}`);
  await service.invoke(operation, input, caller).catch((error: unknown) => {
    if (refusal === undefined) throw error;
    writeFileSync(refusal, (error as Error).message);
  });
}
armed = false;
if (report !== undefined) writeFileSync(report, String(moments));
await service.stop();
process.stdout.write('done\n');
process.exit(0);
