/** `sitefleet call`: one operation from the shell. */

import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { createService, type Service } from '../app/service.js';
import type { Config } from '../config/types.js';
import { errorBody, ServiceError } from '../core/errors.js';
import { closestNames } from '../mcp/closest-name.js';
import type { GroupedOperation } from '../operation/operation.js';
import { createLog } from '../telemetry/log.js';
import { print, printJson, say } from './output.js';
import { localActor } from './stdio.js';
import { stopSignal } from './stop.js';

/**
 * Prints the answer as JSON on stdout; on failure the error body on stderr, with exit code 1.
 * @param name id with or without `svc/` and `-v1`, or the tool name
 * @param input JSON object, or `-` to read it from stdin
 */
export async function call(config: Config, name: string, input: string): Promise<void> {
  const signal = stopSignal();
  // In one thread: a single call keeps no other caller waiting.
  const service = await createService({ config, log: createLog(config.log_level), engine: 'inline' });
  try {
    const operation = findOperation(service.operations, name);
    const raw = parseInput(input === '-' ? await text(process.stdin) : input);
    const answer = await run(service, operation, raw, signal);
    if (process.stdout.isTTY) print(JSON.stringify(answer, null, 2));
    else printJson(answer);
  } catch (error) {
    say(JSON.stringify(errorBody(error)));
    process.exitCode = 1;
  } finally {
    await service.stop();
  }
}

function run(service: Service, operation: GroupedOperation, raw: unknown, signal: AbortSignal) {
  return service.invoke(operation, raw, { actor: localActor('cli'), request_id: randomUUID(), signal });
}

function findOperation(operations: readonly GroupedOperation[], name: string): GroupedOperation {
  const bare = name.replace(/^svc[/-]/, '');
  const found = [bare, `${bare}-v1`]
    .map((id) => operations.find((operation) => operation.id === `svc/${id}`))
    .find((operation) => operation !== undefined);
  if (found !== undefined) return found;
  const close = closestNames(
    name,
    operations.map(({ id }) => id.replace('svc/', '')),
  );
  throw new ServiceError('rest_ability_not_found', `There is no operation ${JSON.stringify(name.slice(0, 100))}.`, {
    advice: close.length === 0 ? 'Names are like list-sites-v1.' : `Did you mean ${close.join(' or ')}?`,
  });
}

function parseInput(input: string): unknown {
  try {
    return input.trim() === '' ? {} : JSON.parse(input);
  } catch {
    throw new ServiceError('rest_invalid_json', 'The input is not valid JSON.', {
      advice: `Quote it for the shell: sitefleet call list-sites-v1 '{"page": 2}'.`,
    });
  }
}
