/**
 * The client of the engine thread, and the messages between the two. Everything that writes or contacts child sites
 * runs in the engine, so that the serving thread stays free to respond. Both sides identify operations and routes by
 * id.
 */

import { Worker } from 'node:worker_threads';
import type { Actor } from '../actor.js';
import type { Config } from '../config/types.js';
import { endProcess } from '../end-process.js';
import { ServiceError } from '../errors.js';
import type { Log } from '../log.js';
import type { Progress } from '../progress.js';

/** Work for the engine. `task` names an entry of the table the engine was built with. */
export interface Task {
  task: string;
  payload: unknown;
}

/** The caller of a task, as far as it can cross the thread boundary. */
export interface TaskCaller {
  actor: Actor;
  request_id: string;
  base_url: string;
  signal: AbortSignal;
  progress?: ((progress: Progress) => void) | undefined;
  /** The program that calls, as it names itself. */
  client?: string | undefined;
}

export interface Engine {
  run(task: Task, caller: TaskCaller): Promise<unknown>;
  /** Saves its work and ends. If that takes too long, the process ends: a thread in native code cannot be ended alone. */
  close(): Promise<void>;
}

/** Messages from the serving thread. */
export type Request =
  | {
      type: 'run';
      id: number;
      task: Task;
      actor: Actor;
      request_id: string;
      base_url: string;
      client: string;
      progress: boolean;
    }
  | { type: 'abort'; id: number }
  | { type: 'close' };

/** Messages from the engine thread. */
export type Reply =
  | { type: 'ready' }
  | { type: 'done'; id: number; value: unknown }
  | { type: 'failed'; id: number; error: WireError }
  | { type: 'progress'; id: number; progress: Progress };

/** A ServiceError without its cause, which was logged where it occurred. */
type WireError = Pick<ServiceError, 'code' | 'message' | 'status' | 'field' | 'advice' | 'data'>;

export function toWire(error: ServiceError): WireError {
  const { code, message, status, field, advice, data } = error;
  return { code, message, status, field, advice, data };
}

function fromWire(error: WireError): ServiceError {
  return new ServiceError(error.code, error.message, {
    status: error.status,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.advice === undefined ? {} : { advice: error.advice }),
    data: error.data,
  });
}

/** How long the thread may take to save its work when the process ends. */
const CLOSE_MS = 45_000;

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  progress: ((progress: Progress) => void) | undefined;
}

/** What the thread is started with: plain data. */
export interface EngineParts {
  config: Config;
  sharedKey: { private_key: string; public_key: string } | undefined;
  /** HTTP is served, so the modules its requests need in the engine are loaded at once. */
  serves: boolean;
  /** The database file that the serving thread has open. */
  file: { dev: bigint; ino: bigint } | null;
}

/** Starts the engine thread, whose `program` opens the writer connection from the configuration. */
export function startEngineThread(
  program: URL,
  parts: EngineParts,
  log: Log,
  onDeath: () => void,
  closeMs = CLOSE_MS,
): Engine {
  const worker = new Worker(program, { workerData: parts });
  // Lost work is reported below; an idle engine must not keep a finished command alive.
  worker.unref();
  const pending = new Map<number, Pending>();
  let next = 1;
  let broken: Error | null = null;

  const failAll = (error: Error) => {
    broken = error;
    for (const call of pending.values())
      call.reject(new ServiceError('svc_internal_error', 'The engine stopped unexpectedly.', { cause: error }));
    pending.clear();
  };
  worker.on('message', (reply: Reply) => {
    if (reply.type === 'ready') return;
    const call = pending.get(reply.id);
    if (call === undefined) return;
    if (reply.type === 'progress') {
      call.progress?.(reply.progress);
      return;
    }
    pending.delete(reply.id);
    if (pending.size === 0) worker.unref();
    if (reply.type === 'done') call.resolve(reply.value);
    else call.reject(fromWire(reply.error));
  });
  worker.on('error', (error) => {
    log.error({ err: error }, 'the engine thread failed');
    failAll(error);
  });
  let closing = false;
  worker.on('exit', (code) => {
    failAll(new Error(`The engine thread ended with code ${code}.`));
    if (!closing) onDeath();
  });

  const send = (request: Request) => worker.postMessage(request);
  return {
    run(task, caller) {
      if (broken !== null)
        return Promise.reject(new ServiceError('svc_internal_error', 'The engine is not running.', { cause: broken }));
      const id = next++;
      const abort = () => send({ type: 'abort', id });
      worker.ref();
      const done = new Promise<unknown>((resolve, reject) =>
        pending.set(id, { resolve, reject, progress: caller.progress }),
      );
      send({
        type: 'run',
        id,
        task,
        actor: caller.actor,
        request_id: caller.request_id,
        base_url: caller.base_url,
        client: caller.client ?? '',
        progress: caller.progress !== undefined,
      });
      if (caller.signal.aborted) abort();
      caller.signal.addEventListener('abort', abort, { once: true });
      return done.finally(() => caller.signal.removeEventListener('abort', abort));
    },
    async close() {
      if (broken !== null) return;
      closing = true;
      const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
      worker.ref();
      send({ type: 'close' });
      const timer = setTimeout(() => {
        log.error({}, 'the engine thread does not end, and is ended with the process');
        endProcess('SIGKILL', 1);
      }, closeMs);
      await exited;
      clearTimeout(timer);
    },
  };
}
