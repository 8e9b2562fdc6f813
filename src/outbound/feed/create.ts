/** Opens a feed of known vulnerabilities over HTTP or from a file. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { addAbortSignal } from 'node:stream';
import { withTimeLimit } from '../../runtime/abort-signals.js';
import type { Lookup } from '../name-lookup.js';
import { checkAddress, checkedLookup, isLate, isStep, shownCode } from '../probe/agent.js';
import { Names } from '../probe/names.js';
import type { PrivateReach } from '../public-address.js';
import { entriesOf, late } from './entries.js';
import { type FeedCopy, FeedFailure, type FeedStamp, type VulnerabilityFeed } from './vulnerability-feed.js';

/** Servers prepare the whole feed before they begin to send; also the limit for a connection, and between the pieces. */
const SILENCE_MS = 60_000;
const TOTAL_MS = 15 * 60_000;
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

export interface FeedParts {
  /** `http(s)://…`, or the path of a file; null = none. */
  location: string | null;
  /** Sent as bearer token. */
  key: string | null;
  allowPrivate: PrivateReach;
  lookup?: Lookup;
  userAgent: string;
  /** Maximum size of the feed, uncompressed. */
  maxBytes?: number | undefined;
  /** From the start of the request to the end of the feed. Default 15 minutes. */
  totalMs?: number;
}

/** Nothing is opened until the first read. */
export function createVulnerabilityFeed(parts: FeedParts): VulnerabilityFeed {
  const { location, allowPrivate, lookup } = parts;
  if (location === null) return noFeed;
  const source = createHash('sha256').update(location).digest('base64url').slice(0, 22);
  if (!/^https?:/i.test(location))
    return { source, open: (known) => openFile(location, known, parts.maxBytes), close: async () => undefined };
  const names = new Names({ allowPrivate, lookup });
  return {
    source,
    async open(known, signal) {
      try {
        await checkAddress(names, location);
        return await ask(names, location, parts, known, withTimeLimit(signal, parts.totalMs ?? TOTAL_MS));
      } catch (error) {
        throw asFailure(error);
      }
    },
    close: async () => undefined,
  };
}

const noFeed: VulnerabilityFeed = {
  source: null,
  open: async () => {
    throw new FeedFailure('No feed is configured.');
  },
  close: async () => undefined,
};

async function ask(
  names: Names,
  location: string,
  parts: FeedParts,
  known: FeedStamp | null,
  signal: AbortSignal,
): Promise<FeedCopy> {
  const { key } = parts;
  const asked = {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': parts.userAgent,
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(known?.etag == null ? {} : { 'if-none-match': known.etag }),
    ...(known?.last_modified == null ? {} : { 'if-modified-since': known.last_modified }),
  };
  const body = await answerTo(names, new URL(location), asked, signal);
  const { statusCode: status = 0, headers } = body;
  if (status === 200) {
    const stamp = { etag: headerOf(headers.etag), last_modified: headerOf(headers['last-modified']) };
    return { changed: true, stamp, batches: entriesOf(body, parts.maxBytes) };
  }
  body.on('error', () => undefined).destroy();
  if (status === 304 && known !== null) return { changed: false };
  throw new FeedFailure(`The feed answered with HTTP ${status}.${adviceFor(status, key)}`, {
    retryAfterMs: retryAfter(headers['retry-after']),
  });
}

/**
 * Not by undici 7: entries are stored while they come, and if a body has to wait while its server hangs up, that ends the
 * process.
 */
function answerTo(
  names: Names,
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    const sent = request(url, { agent: false, headers, lookup: checkedLookup(names), signal, timeout: SILENCE_MS });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      sent.on('timeout', () => answer.destroy(silence()));
      resolve(addAbortSignal(signal, answer));
    });
    sent.on('timeout', () => sent.destroy(silence()));
    sent.end();
  });
}

function silence(): DOMException {
  return new DOMException('The server sends nothing.', 'TimeoutError');
}

function adviceFor(status: number, key: string | null): string {
  if (status === 401 || status === 403)
    return key === null ? ' It requires a key: SITEFLEET_VULNERABILITY_KEY.' : ' It does not accept the key.';
  if (status === 429) return ' It received too many requests.';
  return status >= 300 && status < 400 ? ' Redirects are not followed: use the URL it leads to.' : '';
}

/** A file is distinguished from its next copy by size and time. */
async function openFile(path: string, known: FeedStamp | null, maxBytes: number | undefined): Promise<FeedCopy> {
  const facts = await stat(path).catch((cause: unknown) => {
    throw new FeedFailure(`The feed file cannot be read${shownCode(cause)}.`, { cause });
  });
  if (!facts.isFile()) throw new FeedFailure('SITEFLEET_VULNERABILITY_FEED does not name a file.');
  const etag = `${facts.size}-${facts.mtimeMs}`;
  if (known?.etag === etag) return { changed: false };
  return { changed: true, stamp: { etag, last_modified: null }, batches: entriesOf(createReadStream(path), maxBytes) };
}

function headerOf(value: string | string[] | undefined): string | null {
  return typeof value === 'string' && value.length <= 500 ? value : null;
}

function retryAfter(value: string | string[] | undefined): number | null {
  const seconds = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  return Number.isNaN(seconds) ? null : Math.min(seconds * 1000, MAX_RETRY_AFTER_MS);
}

function asFailure(error: unknown): FeedFailure {
  if (error instanceof FeedFailure) return error;
  if (isStep(error)) return new FeedFailure(error.message, { cause: error });
  return isLate(error)
    ? late(error)
    : new FeedFailure(`The feed could not be reached${shownCode(error)}.`, { cause: error });
}
