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
/** Those whose answers never end. */
const ENDLESS = /^\/v2\/events(?:[/?]|$)/;

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
    !ENDLESS.test(path)
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
  const under = new Map(paths.map((path, index) => [index, answer(path, index)]));
  try {
    while (under.size > 0) {
      const { index, lines } = await Promise.race(under.values());
      under.delete(index);
      yield Buffer.from(lines);
    }
  } finally {
    // Who asked has gone.
    left.abort();
  }
}

async function linesOf(index: number, reading: Response | Promise<Response>): Promise<string> {
  const response = await reading;
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  if (!isJson) await response.body?.cancel();
  const status = isJson ? response.status : 406;
  const json = isJson ? await response.text() : JSON.stringify(errorBody(notJson()));
  return `${JSON.stringify({ index, status })}\n${json.replaceAll('\n', ' ')}\n`;
}

function notJson(): ServiceError {
  return new ServiceError('svc_invalid_input', 'The answer is not JSON.', { advice: 'Read it on its own.' });
}
