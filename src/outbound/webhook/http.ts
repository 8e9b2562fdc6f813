/** Posts to webhooks over undici: only to allowed addresses, bounded in time and size, signed on request. */

import { Webhook } from 'standardwebhooks';
import { type Agent, request } from 'undici';
import { withTimeLimit } from '../../runtime/abort-signals.js';
import type { Lookup } from '../name-lookup.js';
import { checkAddress, checkedAgent, isLate, isStep, shownCode } from '../probe/agent.js';
import { Names } from '../probe/names.js';
import type { PrivateReach } from '../public-address.js';
import { type OutgoingPost, PostFailure, type WebhookSender } from './sender.js';

const TIMEOUT_MS = 15_000;
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
/** How much of a response is read, to keep the connection; a longer one is cut off. */
const MAX_ANSWER = 64 * 1024;

export interface SenderParts {
  allowPrivate: PrivateReach;
  lookup?: Lookup;
  userAgent: string;
  /** Until a receiver begins to answer, and between the pieces of its answer; all together may take twice as long. */
  timeoutMs?: number;
}

/** Nothing is opened until the first message. */
export function createWebhookSender(parts: SenderParts): WebhookSender {
  const { allowPrivate, lookup, userAgent, timeoutMs = TIMEOUT_MS } = parts;
  const names = new Names({ allowPrivate, lookup });
  let agent: Agent | undefined;
  const dispatcher = () => {
    agent ??= checkedAgent(names, timeoutMs);
    return agent;
  };

  return {
    async post(message) {
      try {
        await checkAddress(names, message.url);
        await exchange(dispatcher(), message, { userAgent, timeoutMs });
      } catch (error) {
        throw asFailure(error, timeoutMs);
      }
    },
    async refusal(url) {
      try {
        await checkAddress(names, url);
        return null;
      } catch (error) {
        return isStep(error) && error.kind === 'blocked_address' ? error.message : null;
      }
    },
    async close() {
      await agent?.destroy();
    },
  };
}

async function exchange(
  dispatcher: Agent,
  message: OutgoingPost,
  { userAgent, timeoutMs }: { userAgent: string; timeoutMs: number },
): Promise<void> {
  const { url, headers, body, sign, signal } = message;
  const answer = await request(url, {
    method: 'POST',
    dispatcher,
    headers: {
      'content-type': 'application/json',
      'user-agent': userAgent,
      ...headers,
      ...(sign === undefined ? {} : signature(sign, body)),
    },
    body,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    signal: withTimeLimit(signal, 2 * timeoutMs),
  });
  await answer.body.dump({ limit: MAX_ANSWER }).catch(() => undefined);
  const { statusCode: status } = answer;
  if (status >= 200 && status < 300) return;
  const wait = retryAfter(answer.headers['retry-after']);
  const redirect = status >= 300 && status < 400 ? ' Redirects are not followed: use the URL it leads to.' : '';
  throw new PostFailure(`The receiver answered with HTTP ${status}.${redirect}`, {
    gone: status === 410,
    retryAfterMs: wait,
  });
}

/** The headers of Standard Webhooks. */
function signature({ id, at, secret }: NonNullable<OutgoingPost['sign']>, body: string): Record<string, string> {
  const when = new Date(Math.floor(at / 1000) * 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(when.getTime() / 1000),
    'webhook-signature': new Webhook(secret).sign(id, when, body),
  };
}

/** Seconds; these services do not use a date, and only our own clock is trusted. */
function retryAfter(header: string | string[] | undefined): number | null {
  const seconds = typeof header === 'string' && /^\d{1,9}(\.\d+)?$/.test(header) ? Number(header) : Number.NaN;
  return Number.isNaN(seconds) ? null : Math.min(seconds * 1000, MAX_RETRY_AFTER_MS);
}

function asFailure(error: unknown, timeoutMs: number): PostFailure {
  if (error instanceof PostFailure) return error;
  if (isStep(error)) return new PostFailure(error.message, { cause: error });
  return new PostFailure(
    isLate(error)
      ? `The receiver did not answer within ${timeoutMs / 1000} s.`
      : `The receiver could not be reached${shownCode(error)}.`,
    { cause: error },
  );
}
