/**
 * `POST /session/reads`: several reads of `/v2` in one request, because a view of the page needs up to fifteen and a browser
 * sends six at once. Each passes through the whole server as if it had been sent alone, and its answer is sent as soon as it
 * is there: a line with `{index, status}`, then one with its JSON.
 */

import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { errorBody, ServiceError } from '../../runtime/errors.js';
import { packedStream } from '../http/compression.js';
import { isAmbiguous } from '../http/request-url.js';

/** A view reads fifteen at most. */
const MOST_READS = 20;
const MOST_LETTERS = 4000;
/** Those whose answers never end, or are files of many megabytes. */
const NOT_HERE = /^\/v2\/(?:events|actions\/export)(?:[/?]|$)/;
/** Reads at a time, as of a browser. The next begins once the client has taken an answer. */
const AT_ONCE = 6;
/** Bytes of one answer, which waits here as a whole. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Throws `svc_invalid_input`, which names the first address that cannot be read this way. */
export function pathsOf({ paths, ...others }: Record<string, unknown>): string[] {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw refused(unknown, 'is not a field of this request', 'Send only paths.');
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > MOST_READS)
    throw refused('paths', `is not a list of 1 to ${MOST_READS} addresses`, 'Split it, or send it.');
  const wrong = paths.findIndex((path) => typeof path !== 'string' || !isRead(path));
  if (wrong >= 0)
    throw refused(`paths[${wrong}]`, 'is not the address of a read of /v2', 'Send it as in "/v2/sites?page=1".');
  return paths as string[];
}

function isRead(path: string): boolean {
  return (
    path.length <= MOST_LETTERS &&
    /^\/v2\/[\x21-\x7e]+$/.test(path) &&
    !path.includes('#') &&
    !isAmbiguous(path, undefined) &&
    !NOT_HERE.test(path)
  );
}

function refused(field: string, what: string, advice: string): ServiceError {
  return new ServiceError('svc_invalid_input', `${field} ${what}.`, { field, advice });
}

/**
 * The answers in the order in which they arrive.
 * @param accepted the request's Accept-Encoding
 * @param read reads one address
 */
export function readsResponse(
  paths: readonly string[],
  accepted: string | null,
  read: (path: string, signal: AbortSignal) => Response | Promise<Response>,
): Response {
  const { stream, encoding } = packedStream(Readable.from(answers(paths, read)), accepted);
  const headers = new Headers({
    ...{ 'content-type': 'application/x-ndjson', 'cache-control': 'no-store', vary: 'Accept-Encoding' },
    ...{ 'x-accel-buffering': 'no' },
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
  });
  return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array> as never, { headers });
}

async function* answers(paths: readonly string[], read: Parameters<typeof readsResponse>[2]) {
  const left = new AbortController();
  const answer = async (path: string, index: number) => ({
    index,
    lines: await linesOf(index, read(path, left.signal)),
  });
  const waiting = [...paths.entries()];
  const under = new Map<number, ReturnType<typeof answer>>();
  const begin = () => {
    for (const [index, path] of waiting.splice(0, AT_ONCE - under.size)) under.set(index, answer(path, index));
  };
  try {
    for (begin(); under.size > 0; begin()) {
      const { index, lines } = await Promise.race(under.values());
      yield lines;
      // Only now, as it is held until it is taken.
      under.delete(index);
    }
  } finally {
    // Who asked has gone.
    left.abort();
  }
}

async function linesOf(index: number, reading: Response | Promise<Response>): Promise<Buffer> {
  const response = await reading;
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  if (!isJson) await response.body?.cancel();
  const pieces = isJson ? await piecesOf(response) : notHere('svc_invalid_input', 'The answer is not JSON.');
  const error = pieces instanceof ServiceError ? pieces : undefined;
  const status = error === undefined ? response.status : isJson ? error.status : 406;
  const json = pieces instanceof ServiceError ? [Buffer.from(JSON.stringify(errorBody(pieces)))] : pieces;
  return Buffer.concat([Buffer.from(`${JSON.stringify({ index, status })}\n`), ...json, Buffer.from('\n')]);
}

/** The bytes of an answer, on one line. */
async function piecesOf({ body }: Response): Promise<Uint8Array[] | ServiceError> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length;
    // Leaving the loop cancels the rest.
    if (size > MOST_BYTES) return notHere('svc_rest_request_entity_too_large', 'The answer is larger than 4 MB.');
    // Copied where it is changed, as others may be sent the same bytes.
    pieces.push(piece.includes(LINE_END) ? piece.map((byte) => (byte === LINE_END ? SPACE : byte)) : piece);
  }
  return pieces;
}

const [LINE_END, SPACE] = [0x0a, 0x20];

function notHere(code: 'svc_invalid_input' | 'svc_rest_request_entity_too_large', what: string): ServiceError {
  return new ServiceError(code, what, { advice: 'Read it on its own.' });
}
