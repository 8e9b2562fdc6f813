/** Sending to webhooks and chat services: the port between the verbs and the network. `http.ts` implements it. */

export interface OutgoingPost {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Signs the body by Standard Webhooks. `id` stays the same for every attempt of one message. */
  sign?: { id: string; at: number; secret: string } | undefined;
  signal: AbortSignal;
}

/** A message that was not accepted. The text is safe to show: it contains neither URL nor token. */
export class PostFailure extends Error {
  /** The receiver reported that it is gone permanently (HTTP 410). */
  readonly gone: boolean;
  /** How long the receiver asks us to wait. */
  readonly retryAfterMs: number | null;

  constructor(message: string, more: { gone?: boolean; retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'PostFailure';
    this.gone = more.gone ?? false;
    this.retryAfterMs = more.retryAfterMs ?? null;
  }
}

export interface WebhookSender {
  /** Resolves when the receiver has accepted it (2xx). Redirects are not followed. Rejects with PostFailure. */
  post(message: OutgoingPost): Promise<void>;
  /** Whether a URL leads to a forbidden address: the reason, or null. A name that cannot be resolved is allowed. */
  refusal(url: string): Promise<string | null>;
  close(): Promise<void>;
}
