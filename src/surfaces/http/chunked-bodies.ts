/**
 * Bodies that come in chunks, without a length. They are read as they arrive, into one buffer each: kept apart, each chunk costs an
 * object, and may hold a single byte. What strangers may have read here has an end, for each network and for all.
 */

import type { Readable } from 'node:stream';
import { ServiceError } from '../../runtime/errors.js';

/** Bytes of bodies that are kept before their logins have been checked: of all, and of one network. */
const MOST_OF_ALL = 16 * 1024 * 1024;
const MOST_OF_NETWORK = 2 * 1024 * 1024;
const FIRST_ROOM = 1024;
const RETRY_AFTER_S = 5;

export interface ChunkedBody {
  /** The body as a whole, once it is asked for; fails with its refusal. */
  stream: ReadableStream<Uint8Array>;
  /** Reads and keeps no more. Returns whether the connection cannot be reused, as the body was refused. */
  end(): boolean;
}

/** @param mostBeforeLogin the limit of a route that reads the body before any login; others read it after theirs */
export type OpenBody = (source: Readable, network: string, mostBeforeLogin: () => number | undefined) => ChunkedBody;

/** @param max largest body in bytes */
export function createChunkedBodies(max: number): OpenBody {
  const room = strangersRoom();
  return (source, network, mostBeforeLogin) => {
    let kept: Buffer = Buffer.alloc(0);
    let size = 0;
    let counted = 0;
    let refusal: ServiceError | undefined;
    let isOver = false;
    let isKnown = false;
    const uncount = () => {
      room.give(network, counted);
      counted = 0;
    };
    const keep = (piece: Uint8Array): ServiceError | undefined => {
      const most = mostBeforeLogin() ?? max;
      const needed = size + piece.length;
      if (needed > most) return bodyTooLarge(most);
      if (needed > kept.length) {
        const length = Math.min(max, Math.max(needed, kept.length * 2, FIRST_ROOM));
        const more = length - kept.length;
        if (!isKnown && !room.take(network, more)) return tooManyBodies();
        if (!isKnown) counted += more;
        const larger = Buffer.alloc(length);
        kept.copy(larger, 0, 0, size);
        kept = larger;
      }
      kept.set(piece, size);
      size = needed;
      return undefined;
    };
    const drop = () => {
      isOver = true;
      kept = Buffer.alloc(0);
      uncount();
    };
    const whole = new Promise<Uint8Array>((resolve, reject) => {
      // What comes after the end is read and dropped, until the server closes the connection.
      source.on('data', (piece: Uint8Array) => {
        if (isOver) return;
        refusal = keep(piece);
        if (refusal === undefined) return;
        drop();
        reject(refusal);
      });
      source.once('end', () => resolve(kept.subarray(0, size)));
      source.once('error', reject);
      source.once('close', () => reject(new Error('The connection was closed before the body had ended.')));
    });
    // Of a route that does not ask for it.
    whole.catch(() => undefined);
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(to) {
          isKnown = mostBeforeLogin() === undefined;
          if (isKnown) uncount();
          const bytes = await whole;
          if (bytes.length > 0) to.enqueue(bytes);
          to.close();
        },
      },
      // Asked for by a reader only.
      { highWaterMark: 0 },
    );
    const end = () => {
      drop();
      return refusal !== undefined;
    };
    return { stream, end };
  };
}

/** The refusal of a body with more than so many bytes. */
export function bodyTooLarge(most: number): ServiceError {
  const advice = 'Split it into smaller calls.';
  return new ServiceError('svc_rest_request_entity_too_large', `The body is larger than ${most} bytes.`, { advice });
}

function tooManyBodies(): ServiceError {
  return new ServiceError('svc_rest_too_many_requests', 'Too many bodies without a length are being sent.', {
    advice: 'Send a Content-Length, or fewer bodies at a time.',
    data: { retry_after: RETRY_AFTER_S },
  });
}

function strangersRoom() {
  const of = new Map<string, number>();
  let all = 0;
  return {
    take(network: string, bytes: number): boolean {
      const taken = (of.get(network) ?? 0) + bytes;
      if (taken > MOST_OF_NETWORK || all + bytes > MOST_OF_ALL) return false;
      of.set(network, taken);
      all += bytes;
      return true;
    },
    give(network: string, bytes: number): void {
      const left = (of.get(network) ?? 0) - bytes;
      if (left > 0) of.set(network, left);
      else of.delete(network);
      all -= bytes;
    },
  };
}
