/** A service in this process, and its operations by their short names. */

import { createService, type Service } from '../../src/app/service.js';
import type { GroupedOperation } from '../../src/operation/operation.js';
import type { Config } from '../../src/runtime/config/types.js';
import { benchConfig, CALLER } from './config.js';

export interface BenchService extends Service {
  operation(name: string): GroupedOperation;
  /** Runs `svc/<name>-v1` as the interfaces do after parsing the input. */
  call(name: string, input: unknown): Promise<Record<string, unknown>>;
}

/** Opened as `serve` does: reads in this thread, the engine in a thread that starts with the first write. */
export async function openService(db: string, change: Partial<Config> = {}): Promise<BenchService> {
  const service = await createService({ config: benchConfig({ db, ...change }), engine: 'thread' });
  const byName = new Map(service.operations.map((operation) => [operation.id, operation]));
  const operation = (name: string): GroupedOperation => {
    const found = byName.get(`svc/${name}-v1`);
    if (found === undefined) throw new Error(`There is no operation ${name}.`);
    return found;
  };
  return { ...service, operation, call: (name, input) => service.invoke(operation(name), input, CALLER) };
}
