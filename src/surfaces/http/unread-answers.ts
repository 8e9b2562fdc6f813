/** Long answers wait in memory until their caller has read them: those of each caller have an end. */

import type { ServerResponse } from 'node:http';
import { ServiceError } from '../../runtime/errors.js';

/** Bytes of unread answers of one caller. Beyond it gets no further ones. */
const MOST_BYTES = 32 * 1024 * 1024;
/** Shorter ones fit into what the system keeps of a connection. */
const LONG_BYTES = 65_536;
const RETRY_AFTER_S = 5;

export interface UnreadAnswers {
  /**
   * Begins an answer, which ends with its connection or as a whole.
   * @param large it may have many megabytes
   * @returns what counts its bytes once they are known
   * @throws ServiceError `svc_rest_too_many_requests` with `data.retry_after` in seconds
   */
  begin(principal: string, large: boolean, outgoing: ServerResponse | undefined): (bytes: number) => void;
}

/** @param mostLarge answers of many megabytes of one caller that may be under way or unread */
export function createUnreadAnswers(mostLarge: number): UnreadAnswers {
  const of = new Map<string, { bytes: number; large: number }>();
  const add = (principal: string, bytes: number, large: number) => {
    const held = of.get(principal) ?? { bytes: 0, large: 0 };
    held.bytes += bytes;
    held.large += large;
    if (held.bytes > 0 || held.large > 0) of.set(principal, held);
    else of.delete(principal);
  };
  return {
    begin(principal, large, outgoing) {
      const held = of.get(principal);
      if (held !== undefined && (held.bytes >= MOST_BYTES || (large && held.large >= mostLarge))) throw tooMany();
      // A request of this program itself has no connection, and one that has closed does not tell so again.
      if (outgoing === undefined || hasGone(outgoing)) return () => undefined;
      if (large) {
        add(principal, 0, 1);
        outgoing.once('close', () => add(principal, 0, -1));
      }
      return (bytes) => {
        if (bytes < LONG_BYTES || hasGone(outgoing)) return;
        add(principal, bytes, 0);
        outgoing.once('close', () => add(principal, -bytes, 0));
      };
    },
  };
}

function hasGone({ destroyed, req }: ServerResponse): boolean {
  return destroyed || req.socket.destroyed;
}

function tooMany(): ServiceError {
  return new ServiceError('svc_rest_too_many_requests', 'Too many long answers of this login have not been read yet.', {
    advice: 'Read those first.',
    data: { retry_after: RETRY_AFTER_S },
  });
}
