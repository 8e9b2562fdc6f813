/** The lines of a client over stdio, without those that no message of ours can be: too long, or JSON beyond the bounds of `json.ts`. */

import { Transform, type TransformCallback } from 'node:stream';
import { jsonProblem } from '../core/json.js';
import { holdsLongLists, LISTS_TOO_LONG } from './long-lists.js';

/** Longest line in bytes: what a body over HTTP may be. */
const MAX_LINE = 1024 * 1024;
const NEWLINE = 0x0a;

/** Hands on whole lines. What is refused is told to `refuse`, with the id of the request where it can be had. */
export class LineFilter extends Transform {
  readonly #refuse: (message: string, id: string | number | null) => void;
  /** Of the line that has not ended yet. */
  #parts: Buffer[] = [];
  #size = 0;

  constructor(refuse: (message: string, id: string | number | null) => void) {
    super();
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

  /** A last line without its end is no message. */
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
      this.#refuse(`The line is longer than ${MAX_LINE} bytes.`, null);
      return;
    }
    const line = more.length === 0 ? first : Buffer.concat([first, ...more], size);
    const text = line.toString('utf8');
    const problem = jsonProblem(text);
    if (problem !== undefined) {
      this.#refuse(`The line ${problem}.`, idOf(parsed(text)));
      return;
    }
    // A list takes two characters for each member. Looking at a short line would only take time.
    const message = text.length > 2000 ? parsed(text) : undefined;
    if (holdsLongLists(message)) this.#refuse(`The line ${LISTS_TOO_LONG}.`, idOf(message));
    else this.push(line);
  }
}

/** A client waits for the answer to a request by its id. */
function idOf(message: unknown): string | number | null {
  const { id } = (message ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Undefined for what is no JSON, which the SDK tells. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
