/** Program that adds tags as fast as it can and writes the name of each to stdout once it is stored. Started with its configuration as JSON. */

import { createService } from '../../../src/app/service.js';
import { createLog } from '../../../src/runtime/telemetry/log.js';

const { config, prefix } = JSON.parse(process.argv[2] ?? '{}');
const service = await createService({ config, log: createLog('silent'), engine: 'inline' });
const add = service.operations.find(({ id }) => id === 'svc/add-tag-v1');
if (add === undefined) throw new Error('no operation add-tag');
process.stdout.write('ready\n');
for (let n = 0; ; n++) {
  const name = `${prefix}-${n}`;
  await service.invoke(
    add,
    { name },
    {
      actor: { type: 'local', id: null, name: 'local', rights: ['read', 'write'], via: 'cli' },
      request_id: name,
      signal: new AbortController().signal,
    },
  );
  // Written before the next begins: everything the parent has read was acknowledged.
  await new Promise<void>((done) => process.stdout.write(`${name}\n`, () => done()));
}
