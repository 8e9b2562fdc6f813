/** Splits stdin into lines and refuses those that are too long, or JSON beyond the bounds of `core/json.ts`. */

import { Transform, type TransformCallback } from 'node:stream';
import { jsonProblem } from '../core/json.js';
import { holdsLongLists, LISTS_TOO_LONG } from './long-lists.js';

/** Longest line in bytes: the limit of a body over HTTP. */
const MAX_LINE = 1024 * 1024;
const NEWLINE = 0x0a;

/** Passes whole lines on. Calls `refuse` for the others, with the id of the request when it is readable. */
export class LineFilter extends Transform {
  readonly #refuse: (message: string, id: string | number | null) => void;
  /** Chunks of the line that has not ended yet. */
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
    // A list member takes two characters, so a short line cannot hold too many.
    const message = text.length > 2000 ? parsed(text) : undefined;
    if (holdsLongLists(message)) this.#refuse(`The line ${LISTS_TOO_LONG}.`, idOf(message));
    else this.push(line);
  }
}

/** Id of a request, by which its client waits for the response; null when there is none. */
function idOf(message: unknown): string | number | null {
  const { id } = (message ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Undefined for invalid JSON, which the SDK reports. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
