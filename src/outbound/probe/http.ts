import { PassThrough, type Readable, type Transform } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Client } from 'undici';
import { loginHeader } from '../http-login.js';
import { MOST_INTERIM } from '../interim-answers.js';
import { MOST_REDIRECTS } from '../redirects.js';
import { hiding } from '../sent-secrets.js';
import { type Dialled, dial } from './dial.js';
import { failureOf, StepFailure } from './failure.js';
import { hostOf, type Names } from './names.js';
import type { HttpAnswer, HttpProbe, ProbeMethod, ProbeTiming } from './probe.js';

export interface HttpParts {
  names: Names;
  context: SecureContext;
  userAgent: string;
}

/** What cannot be compressed takes a little more. */
const ROOM = 64 * 1024;
/** Pieces of a body: each costs as much as some kilobytes. */
const MOST_PIECES = 20_000;

export interface Exchange extends HttpAnswer {
  /** Response headers of the last hop, names in lower case. */
  headers: Record<string, string>;
}

/**
 * One probe over new connections, so that every step is timed and nothing of an earlier probe can hide an outage.
 * Rejects only with the caller's own abort reason.
 */
export async function probeHttp(parts: HttpParts, probe: HttpProbe, accept = '*/*'): Promise<Exchange> {
  const began = performance.now();
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), probe.timeoutMs);
  const signal = AbortSignal.any([probe.signal, limit.signal]);
  const answer: Exchange = { ...NOTHING, headers: {}, timing: { ...NOTHING.timing } };
  let url: URL | null = null;
  try {
    const first = readUrl(probe.url);
    url = first;
    let { method } = probe;
    for (;;) {
      await hop(parts, { ...probe, accept, signal }, url, method, loginHeader(probe, first, url), answer);
      const next = redirection(answer, probe, url);
      if (next === null) break;
      if (answer.redirects >= MOST_REDIRECTS)
        throw new StepFailure('bad_answer', `${url.host} redirects more than ${MOST_REDIRECTS} times.`);
      method = methodAfter(answer.http_status, method);
      url = next;
      answer.redirects++;
    }
  } catch (error) {
    if (probe.signal.aborted) throw probe.signal.reason;
    const host = url?.host ?? 'The site';
    answer.http_status = 0;
    answer.failure = limit.signal.aborted
      ? { kind: 'timed_out', message: `${host} did not answer within ${Math.round(probe.timeoutMs / 1000)} s.` }
      : failureOf(error, host);
    // A redirect may have led to a host that the site named after the login.
    const name = url?.hostname ?? '';
    answer.failure.message = answer.failure.message.replaceAll(name, hiding(probe.url, probe)(name));
  } finally {
    clearTimeout(timer);
  }
  answer.timing.total_ms = performance.now() - began;
  return answer;
}

const NOTHING: HttpAnswer = {
  http_status: 0,
  retry_after: '',
  body: '',
  truncated: false,
  ip: '',
  redirects: 0,
  timing: { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 0 },
  failure: null,
};

function readUrl(text: string): URL {
  try {
    const url = new URL(text);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // Reported below.
  }
  throw new StepFailure('bad_answer', 'The address is not an http:// or https:// URL.');
}

/** One request and the needed part of its response, written into `answer`. */
async function hop(
  parts: HttpParts,
  probe: HttpProbe & { accept: string },
  url: URL,
  method: ProbeMethod,
  login: Record<string, string>,
  answer: Exchange,
): Promise<void> {
  const secure = url.protocol === 'https:';
  const dialled: Dialled = await dial(parts.names, {
    host: hostOf(url),
    port: Number(url.port) || (secure ? 443 : 80),
    tls: secure ? { context: parts.context, verify: probe.ssl_verify, alpn: ['http/1.1'] } : null,
    signal: probe.signal,
  });
  answer.ip = dialled.ip;
  const timing: ProbeTiming = { ...answer.timing, dns_ms: dialled.dns_ms, connect_ms: dialled.connect_ms };
  timing.tls_ms = dialled.tls_ms;
  answer.timing = timing;
  const client = new Client(url.origin, {
    pipelining: 1,
    maxHeaderSize: 32_768,
    // Deferred: a client that gets its connection while it is still requesting one loses its request.
    connect: (_target, callback) => queueMicrotask(() => callback(null, dialled.socket)),
  });
  const sent = performance.now();
  let interim = 0;
  try {
    const post = method !== 'HEAD' && method !== 'GET' && method !== 'DELETE' && method !== 'OPTIONS';
    const response = await client.request({
      path: url.pathname + url.search,
      method: method as 'GET',
      headers: {
        'user-agent': parts.userAgent,
        accept: probe.accept,
        'accept-encoding': 'gzip, deflate, br',
        'cache-control': 'no-cache',
        ...login,
        ...(post ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
      // A changing value, so that no cache answers instead of the site (child protocol §7).
      body: post ? `time=${Math.floor(Date.now() / 1000)}` : null,
      signal: probe.signal,
      onInfo: () => {
        if (++interim <= MOST_INTERIM) return;
        dialled.socket.destroy(new StepFailure('bad_answer', `${url.host} sends interim answers and no real one.`));
      },
      // The probe's own deadline is the shorter one.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    timing.first_byte_ms = performance.now() - sent;
    answer.http_status = response.statusCode;
    answer.headers = flat(response.headers);
    answer.retry_after = answer.headers['retry-after'] ?? '';
    const wanted = method === 'HEAD' || probe.maxBytes === 0 ? 0 : probe.maxBytes;
    const read = await readBody(response.body, wanted, answer.headers['content-encoding'] ?? '');
    answer.truncated = read.truncated;
    answer.body = decodeText(read.bytes, answer.headers['content-type'] ?? '');
  } finally {
    // Not awaited: nothing of it matters once the socket is closed.
    client.destroy().catch(() => undefined);
    dialled.socket.destroy();
  }
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, (Array.isArray(value) ? value[0] : value) ?? '']),
  );
}

/** Up to `max` bytes after decompression, of so many pieces. Truncation or damage after that does not matter. */
async function readBody(body: Readable, max: number, encoding: string): Promise<{ bytes: Buffer; truncated: boolean }> {
  if (max === 0) {
    body.on('error', () => undefined).destroy();
    return { bytes: Buffer.alloc(0), truncated: false };
  }
  const source = decoderOf(encoding.trim().toLowerCase());
  // Not piped: undici 7 throws an error that ends the process when the server closes the connection while the body is paused.
  let received = 0;
  let pieces = 0;
  body.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (++pieces <= MOST_PIECES && received <= max + ROOM) source.write(chunk);
    else source.end();
  });
  body.on('end', () => source.end());
  body.on('error', (error) => source.writableEnded || source.destroy(error));
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > max) break;
    }
  } finally {
    body.on('error', () => undefined).destroy();
  }
  return { bytes: Buffer.concat(chunks).subarray(0, max), truncated: size > max || pieces > MOST_PIECES };
}

function decoderOf(encoding: string): Transform {
  const lenient = { finishFlush: constants.Z_SYNC_FLUSH };
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip(lenient);
  if (encoding === 'deflate') return createInflate(lenient);
  if (encoding === 'br') return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
  return new PassThrough();
}

function decodeText(bytes: Buffer, contentType: string): string {
  const charset = /charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The redirect target, or null if this is the final response. */
function redirection(answer: Exchange, probe: HttpProbe, from: URL): URL | null {
  const location = answer.headers.location ?? '';
  if (!REDIRECTS.has(answer.http_status) || location === '' || probe.expected.includes(answer.http_status)) return null;
  let next: URL;
  try {
    next = new URL(location, from);
  } catch {
    throw new StepFailure('bad_answer', `${from.host} redirects to an unreadable URL.`);
  }
  if (next.protocol !== 'http:' && next.protocol !== 'https:')
    throw new StepFailure('bad_answer', `${from.host} redirects to something that is not a web address.`);
  return next;
}

/** As browsers do: a form is not posted again after a redirect that asks for a GET. */
function methodAfter(status: number, method: ProbeMethod): ProbeMethod {
  if (method === 'GET' || method === 'HEAD' || status === 307 || status === 308) return method;
  return 'GET';
}
