/**
 * Reads JSON-RPC messages from stdin, one per line. Refuses lines that are not messages, are too long, or exceed the
 * bounds of `runtime/json.ts`.
 */

import { Transform, type TransformCallback } from 'node:stream';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { jsonProblem } from '../../runtime/json.js';
import { holdsLongLists, LISTS_TOO_LONG } from './long-lists.js';

/** Longest line in bytes: the same limit as for a body over HTTP. */
const MAX_LINE = 1024 * 1024;
const NEWLINE = 0x0a;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/** Answers a line that is not passed on: error code, reason, and the id of the request when it is readable. */
export type Refuse = (code: number, message: string, id: string | number | null) => void;

/** Bytes in, messages out. */
export class MessageReader extends Transform {
  readonly #refuse: Refuse;
  /** Chunks of the line that has not ended yet. */
  #parts: Buffer[] = [];
  #size = 0;

  constructor(refuse: Refuse) {
    super({ readableObjectMode: true });
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end + 1));
      this.#end();
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
    done();
  }

  /** A last line without a line break is not a message. */
  override _flush(done: TransformCallback): void {
    this.#parts = [];
    done();
  }

  #take(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > MAX_LINE) this.#parts = [];
    else this.#parts.push(part);
  }

  #end(): void {
    const [first, ...more] = this.#parts;
    const size = this.#size;
    this.#parts = [];
    this.#size = 0;
    if (first === undefined) {
      this.#refuse(INVALID_REQUEST, `The line is longer than ${MAX_LINE} bytes.`, null);
      return;
    }
    const line = more.length === 0 ? first : Buffer.concat([first, ...more], size);
    const text = line.toString('utf8');
    const problem = jsonProblem(text);
    const message = parsed(text);
    if (problem !== undefined) this.#refuse(INVALID_REQUEST, `The line ${problem}.`, idOf(message));
    else if (message === undefined) this.#refuse(PARSE_ERROR, 'The line is not valid JSON.', null);
    else if (Array.isArray(message))
      this.#refuse(INVALID_REQUEST, 'The line is a batch: send each message on its own line.', null);
    else if (holdsLongLists(message)) this.#refuse(INVALID_REQUEST, `The line ${LISTS_TOO_LONG}.`, idOf(message));
    else this.#pass(message);
  }

  #pass(value: unknown): void {
    const { success, data } = JSONRPCMessageSchema.safeParse(value);
    if (success) this.push(data satisfies JSONRPCMessage);
    else this.#refuse(INVALID_REQUEST, 'The line is not a JSON-RPC 2.0 message.', idOf(value));
  }
}

/** Id of a request, by which its client recognizes the response; null when there is none. */
function idOf(message: unknown): string | number | null {
  const { id } = (message ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Undefined for invalid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
