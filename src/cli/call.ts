/** `sitefleet call` and `sitefleet ops`: the operations from the shell. */

import { text } from 'node:stream/consumers';
import { createService } from '../app/service.js';
import type { GroupedOperation } from '../operation/operation.js';
import { closestNames } from '../runtime/closest-names.js';
import type { Config } from '../runtime/config/types.js';
import { asServiceError, errorBody, ServiceError } from '../runtime/errors.js';
import { readJson } from '../runtime/json.js';
import type { Progress } from '../runtime/progress.js';
import { createLog } from '../runtime/telemetry/log.js';
import { answerText } from './answer-text.js';
import { localCaller } from './local-actor.js';
import { printOperationHelp, printOperations, shortName } from './operation-help.js';
import { type JsonFlag, print, printJson, problemText, say } from './output.js';
import { type Bar, progressBar } from './progress.js';
import { stopSignal } from './stop.js';

export interface CallOptions {
  /** JSON even on a terminal. */
  json?: boolean;
  /** Tables even without a terminal. */
  table?: boolean;
}

/**
 * Prints the answer on stdout: as JSON, or on a terminal with lists as tables. On failure the error goes to stderr, as its
 * body or on a terminal as sentences, with exit code 1. After Ctrl-C it reports which sites were done.
 * @param name id with or without `svc/` and `-v1`, or the tool name
 * @param input JSON object, or `-` to read it from stdin
 */
export async function call(config: Config, name: string, input: string, options: CallOptions = {}): Promise<void> {
  const signal = stopSignal();
  // Single-threaded: one call keeps no other caller waiting.
  const service = await createService({ config, log: createLog(config.log_level), engine: 'inline' });
  const watch = watchProgress(name);
  try {
    const operation = findOperation(service.operations, name);
    const raw = await readInput(input, `sitefleet call list-sites-v1 '{"page": 2}'`);
    const caller = { ...localCaller(signal), progress: watch.progress };
    const answer = await service.invoke(operation, raw, caller);
    watch.stop();
    show(answer, options);
  } catch (error) {
    watch.stop();
    const { sites } = asServiceError(error).data;
    if (signal.aborted && sites !== undefined) say(stoppedText(sites as StoppedSites));
    say(failureText(error, options));
    process.exitCode = 1;
  } finally {
    await service.stop();
  }
}

/** For a person on a terminal sentences, otherwise the body as data. */
function failureText(error: unknown, { json, table }: CallOptions): string {
  if (table !== true && (json === true || !process.stderr.isTTY)) return JSON.stringify(errorBody(error));
  const known = asServiceError(error);
  return `${problemText(known)}\n(${known.code})`;
}

function show(answer: Record<string, unknown>, { json, table }: CallOptions): void {
  const asTable = table === true || (process.stdout.isTTY && json !== true) ? answerText(answer) : null;
  if (asTable !== null) print(asTable);
  else if (process.stdout.isTTY) print(JSON.stringify(answer, null, 2));
  else printJson(answer);
}

/** A progress bar on a terminal, from the first progress on: a short call shows none. */
function watchProgress(name: string): { progress(news: Progress): void; stop(): void } {
  let bar: Bar | undefined;
  let shown = 0;
  return {
    progress({ done, total }) {
      if (total < 2) return;
      bar ??= progressBar(name, total);
      for (; shown < done; shown++) bar.step();
    },
    stop: () => bar?.stop(),
  };
}

interface StoppedSites {
  done: number[];
  failed: number[];
  not_done: number[];
}

function stoppedText({ done, failed, not_done }: StoppedSites): string {
  const list = (ids: readonly number[]) => (ids.length === 0 ? 'none' : ids.join(', '));
  return `Stopped.\n  Done      ${list(done)}\n  Failed    ${list(failed)}\n  Not done  ${list(not_done)}`;
}

/** Lists the operations. */
export async function listOperations(options: JsonFlag): Promise<void> {
  const { operations } = await import('../../tools/index.js');
  printOperations(operations, options.json === true);
}

/** Prints the inputs of an operation, with an example. */
export async function helpOfOperation(name: string): Promise<void> {
  const { operations } = await import('../../tools/index.js');
  printOperationHelp(findOperation(operations, name));
}

function findOperation(operations: readonly GroupedOperation[], name: string): GroupedOperation {
  const bare = name.replace(/^svc[/-]/, '');
  const found = [bare, `${bare}-v1`]
    .map((id) => operations.find((operation) => operation.id === `svc/${id}`))
    .find((operation) => operation !== undefined);
  if (found !== undefined) return found;
  const close = closestNames(name, operations.map(shortName));
  throw new ServiceError('rest_ability_not_found', `There is no operation ${JSON.stringify(name.slice(0, 100))}.`, {
    advice: `${close.length === 0 ? 'Names are like list-sites-v1.' : `Did you mean ${close.join(' or ')}?`} "sitefleet ops" lists them.`,
  });
}

/** The JSON of an argument, or of stdin for `-`. @param example of a call, for the advice */
export async function readInput(argument: string, example: string): Promise<unknown> {
  const input = argument === '-' ? await text(process.stdin) : argument;
  if (input.trim() === '') return {};
  const json = readJson(input);
  if (json.problem === undefined) return json.value;
  throw new ServiceError('rest_invalid_json', `The input ${json.problem}.`, {
    advice: `Quote it for the shell: ${example}.`,
  });
}
