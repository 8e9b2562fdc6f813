/** Sending to webhooks and chat services: the port between the verbs and the network. `http.ts` implements it. */

export interface OutgoingPost {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Signs the body as Standard Webhooks says. `id` stays the same for every try of one message. */
  sign?: { id: string; at: number; secret: string } | undefined;
  signal: AbortSignal;
}

/** A message that was not taken. The text is safe to show: no address, no token. */
export class PostFailure extends Error {
  /** The receiver said that it is gone for good (HTTP 410). */
  readonly gone: boolean;
  /** How long the receiver asks to be left alone. */
  readonly retryAfterMs: number | null;

  constructor(message: string, more: { gone?: boolean; retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'PostFailure';
    this.gone = more.gone ?? false;
    this.retryAfterMs = more.retryAfterMs ?? null;
  }
}

export interface WebhookSender {
  /** Resolves when the receiver has taken it (2xx). Redirects are not followed. Rejects with PostFailure. */
  post(message: OutgoingPost): Promise<void>;
  /** Whether a URL leads to an address that is not called: the reason, or null. A name that cannot be resolved is no reason. */
  refusal(url: string): Promise<string | null>;
  close(): Promise<void>;
}
