/**
 * Parses a feed while it arrives: decompresses it, and extracts its entries one by one. At most one entry is in memory.
 */

import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { JSONParser, TokenizerError, TokenParserError } from '@streamparser/json';
import { shownCode } from '../probe/agent.js';
import { FeedFailure } from './vulnerability-feed.js';

/** A feed of 42,500 entries has 158 MB (October 2026). */
const MAX_BYTES = 1024 * 1024 * 1024;
/** An entry has a few kilobytes; those of WordPress itself, with all its branches, a few dozen. */
const MAX_ENTRY_BYTES = 4 * 1024 * 1024;

/** Members of the feed's single object, in batches. Rejects with FeedFailure unless the feed is complete. */
export async function* entriesOf(source: Readable, maxBytes = MAX_BYTES): AsyncGenerator<readonly unknown[]> {
  let batch: unknown[] = [];
  const parser = new JSONParser({ paths: ['$.*'], keepStack: false, stringBufferSize: 64 * 1024 });
  parser.onValue = ({ value }) => {
    batch.push(value);
  };
  let bytes = 0;
  let sinceEntry = 0;
  try {
    for await (const chunk of unpacked(source)) {
      bytes += chunk.length;
      sinceEntry += chunk.length;
      if (bytes > maxBytes) throw new FeedFailure(`The feed is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB.`);
      parser.write(chunk);
      if (batch.length > 0) {
        sinceEntry = 0;
        yield batch;
        batch = [];
      } else if (sinceEntry > MAX_ENTRY_BYTES) throw new FeedFailure('The feed has an entry that is too large.');
    }
  } catch (error) {
    throw asFailure(error);
  } finally {
    source.destroy();
  }
  if (!parser.isEnded) throw new FeedFailure('The feed is incomplete.');
}

/** Unchanged, or decompressed if it begins like gzip: both servers and files may be compressed. */
async function* unpacked(source: Readable): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const rest = (async function* () {
    yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  })();
  if (head[0] !== 0x1f || head[1] !== 0x8b) yield* rest;
  else
    yield* pipeline(rest, createGunzip(), () => {
      // An error of either end reaches the iteration.
    });
}

function asFailure(error: unknown): FeedFailure {
  if (error instanceof FeedFailure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code.startsWith('Z_'))
    return new FeedFailure('The feed is compressed and cannot be decompressed.', { cause: error });
  if (error instanceof TokenizerError || error instanceof TokenParserError)
    return new FeedFailure('The feed is not JSON.', { cause: error });
  if (error instanceof Error && /TimeoutError|AbortError/.test(error.name)) return late(error);
  return new FeedFailure(`The feed could not be read completely${shownCode(error)}.`, { cause: error });
}

export function late(error: unknown): FeedFailure {
  return new FeedFailure('The feed did not arrive in time.', { cause: error });
}
