/** Entry point of the engine thread. */

import { parentPort, workerData } from 'node:worker_threads';
import { type EngineParts, type Reply, type Request, toWire } from '../runtime/engine/client.js';
import { lowerPriority } from '../runtime/engine/thread-priority.js';
import { asServiceError, isOurFault } from '../runtime/errors.js';
import { createLog } from '../runtime/telemetry/log.js';
import { createEngine } from './engine-services.js';

const port = parentPort;
if (port === null) throw new Error('The engine is started as a worker thread only.');

lowerPriority();
const { config, sharedKey, serves, file } = workerData as EngineParts;
const log = createLog(config.log_level);
const calls = new Map<number, AbortController>();
const send = (reply: Reply) => port.postMessage(reply);
const engine = await createEngine({ config, log, sharedKey, serves, file });

async function run(request: Extract<Request, { type: 'run' }>): Promise<void> {
  const controller = new AbortController();
  calls.set(request.id, controller);
  try {
    const value = await engine.run(request.task, {
      actor: request.actor,
      request_id: request.request_id,
      base_url: request.base_url,
      client: request.client,
      signal: controller.signal,
      progress: request.progress ? (progress) => send({ type: 'progress', id: request.id, progress }) : undefined,
    });
    send({ type: 'done', id: request.id, value });
  } catch (error) {
    const known = asServiceError(error);
    if (isOurFault(known)) {
      log.error({ err: known.cause ?? known, request_id: request.request_id }, 'engine call failed');
    }
    send({ type: 'failed', id: request.id, error: toWire(known) });
  } finally {
    calls.delete(request.id);
  }
}

port.on('message', (request: Request) => {
  if (request.type === 'run') void run(request);
  else if (request.type === 'abort') calls.get(request.id)?.abort();
  else {
    for (const controller of calls.values()) controller.abort();
    void engine.close().finally(() => port.close());
  }
});
send({ type: 'ready' });
