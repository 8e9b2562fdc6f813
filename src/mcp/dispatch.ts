/** Handing requests to a server of either SDK without having it find out what they are. */

import { isEvidentRequest } from './messages.js';

interface Wire {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  start(): Promise<void>;
}

/** Of the servers of both SDKs; declared private there, as of the pinned versions. */
interface Internals {
  _onrequest(message: unknown, extra: unknown): void;
}

/**
 * To be called before the server connects. The SDKs hold each message against the schemas of a result and of an error before
 * that of a request, and a schema that does not match costs six times one that does: a quarter of a small call over stdio, and more.
 */
export function sortRequests(server: object, transport: Wire): void {
  const start = transport.start.bind(transport);
  transport.start = () => {
    const handle = transport.onmessage as ((message: unknown, extra?: unknown) => void) | undefined;
    const sorted = (message: unknown, extra?: unknown) => {
      if (isEvidentRequest(message)) handRequest(server, message, extra);
      else handle?.(message, extra);
    };
    transport.onmessage = sorted;
    return start();
  };
}

/** A message that is evidently a request, to a server that is connected. */
export function handRequest(server: object, request: unknown, extra?: unknown): void {
  (server as Internals)._onrequest(request, extra);
}
