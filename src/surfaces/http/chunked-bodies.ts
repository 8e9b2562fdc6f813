/**
 * Bodies that come in chunks, without a length. They are read as they arrive, into one buffer each: kept apart, each chunk costs an
 * object, and may hold a single byte. What strangers may have read here has an end, for each network and for all.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { ServiceError } from '../../runtime/errors.js';

/** The largest body. */
export const MAX_BODY = 1024 * 1024;
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

/** The part of a body that has arrived before its request is handled. */
interface FirstPart {
  isWhole: boolean;
  /** What comes from now on is for others. `isLong`: it is longer than any body may be, and not kept. */
  take(): { bytes: Buffer; isLong: boolean };
}

const FIRST_PARTS = new WeakMap<Readable, FirstPart>();

/**
 * Joins what arrives of a body until it is opened, up to so many bytes. To be called as its request arrives: Node hands on
 * 10,000 chunks of one byte that came in one packet before anybody else has a turn, each as an object.
 */
export function joinFirstPart(request: IncomingMessage, response: ServerResponse, max: number): void {
  let bytes: Buffer = Buffer.alloc(0);
  let size = 0;
  const join = (piece: Uint8Array) => {
    const needed = size + piece.length;
    if (needed <= max) {
      bytes = withRoom(bytes, size, needed, max);
      bytes.set(piece, size);
    }
    size = needed;
  };
  const take = () => {
    request.off('data', join);
    FIRST_PARTS.delete(request);
    const joined = bytes.subarray(0, size);
    bytes = Buffer.alloc(0);
    return { bytes: joined, isLong: size > max };
  };
  const part: FirstPart = { isWhole: false, take };
  FIRST_PARTS.set(request, part);
  request.on('data', join);
  request.once('end', () => {
    part.isWhole = true;
  });
  // Of one that is answered without its body, nothing more is kept.
  response.once('close', () => FIRST_PARTS.has(request) && dropBody(request));
}

/** Discards an unread body as it arrives. */
export function dropBody(request: Readable): void {
  FIRST_PARTS.get(request)?.take();
  request.resume();
}

/** A buffer for so many bytes with what is in it: this one, or one twice as large. */
function withRoom(buffer: Buffer, size: number, needed: number, most: number): Buffer {
  if (needed <= buffer.length) return buffer;
  const larger = Buffer.alloc(Math.min(most, Math.max(needed, buffer.length * 2, FIRST_ROOM)));
  buffer.copy(larger, 0, 0, size);
  return larger;
}

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
        const larger = withRoom(kept, size, needed, max);
        const more = larger.length - kept.length;
        if (!isKnown && !room.take(network, more)) return tooManyBodies();
        if (!isKnown) counted += more;
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
    const first = FIRST_PARTS.get(source);
    const arrived = first?.take() ?? { bytes: Buffer.alloc(0), isLong: false };
    const refuse = (error: ServiceError): ServiceError => {
      refusal = error;
      drop();
      return error;
    };
    const whole = new Promise<Uint8Array>((resolve, reject) => {
      const closed = () => reject(new Error('The connection was closed before the body had ended.'));
      // What comes after the end is read and dropped, until the server closes the connection.
      const take = (piece: Uint8Array) => {
        const wrong = isOver ? undefined : keep(piece);
        if (wrong !== undefined) reject(refuse(wrong));
      };
      if (arrived.isLong) reject(refuse(bodyTooLarge(max)));
      else take(arrived.bytes);
      const end = () => resolve(kept.subarray(0, size));
      if (first?.isWhole) return end();
      if (source.destroyed) return closed();
      source.on('data', take);
      source.once('end', end);
      source.once('error', reject);
      source.once('close', closed);
    });
    // Of a route that does not ask for it.
    whole.catch(() => undefined);
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(to) {
          const most = mostBeforeLogin();
          isKnown = most === undefined;
          if (isKnown) uncount();
          if (most !== undefined && size > most) throw refuse(bodyTooLarge(most));
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
