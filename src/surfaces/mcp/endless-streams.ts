/** Streams on which clients only listen: each ends when its login does, or when what that login may do has changed. */

import type { Actor } from '../../runtime/actor.js';
import { asServiceError } from '../../runtime/errors.js';
import { principalOf } from './confirm.js';

/** How often each login is checked. */
const CHECK_EVERY_MS = 5_000;

interface EndlessStream {
  /** Who opened it, with the rights of then. */
  actor: Actor;
  /** Whom its credentials stand for now. Rejects with ServiceError. */
  admitted(): Promise<Actor>;
  end(): void;
}

export class EndlessStreams {
  readonly #open = new Set<EndlessStream>();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => {
      for (const stream of this.#open) void this.#check(stream);
    }, CHECK_EVERY_MS);
    this.#timer.unref();
  }

  /** The response with a body that can be ended. @param ended called once; `cut` = because of the login */
  watch(response: Response, who: Pick<EndlessStream, 'actor' | 'admitted'>, ended: (cut: boolean) => void): Response {
    if (response.body === null) return response;
    const reader = response.body.getReader();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const close = (cut: boolean) => {
      const open = this.#open.delete(stream);
      if (open) ended(cut);
      return open;
    };
    const stream: EndlessStream = {
      ...who,
      end: () => {
        if (!close(true)) return;
        controller?.close();
        reader.cancel().catch(() => undefined);
      },
    };
    this.#open.add(stream);
    const body = new ReadableStream<Uint8Array>({
      start: (started) => {
        controller = started;
      },
      pull: async (into) => {
        const { done, value } = await reader.read();
        if (!this.#open.has(stream)) return;
        if (!done) return into.enqueue(value);
        close(false);
        into.close();
      },
      cancel: (reason) => {
        close(false);
        return reader.cancel(reason);
      },
    });
    return new Response(body, response);
  }

  /** Number of open streams of the principal. */
  countOf(actor: Actor): number {
    const principal = principalOf(actor);
    return [...this.#open].filter((stream) => principalOf(stream.actor) === principal).length;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(stream: EndlessStream): Promise<void> {
    try {
      if (accessOf(await stream.admitted()) !== accessOf(stream.actor)) stream.end();
    } catch (error) {
      const { status } = asServiceError(error);
      // Too many wrong logins of its network say nothing about a user's password, but a valid key is never refused so.
      if ([401, 403].includes(status) || (status === 429 && stream.actor.type === 'key')) stream.end();
    }
  }
}

function accessOf({ rights }: Actor): string {
  return [...rights].sort().join();
}
