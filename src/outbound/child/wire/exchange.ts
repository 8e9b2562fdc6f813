import { promisify } from 'node:util';
import { constants, createGunzip, gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../../runtime/clock.js';
import { MOST_INTERIM } from '../../interim-answers.js';
import { ChildFailure } from '../failure.js';
import { networkFailure } from './network-failure.js';

const unzip = promisify(gunzip);

/** Each piece of a body costs as much as some kilobytes: those of one byte would fill the memory long before the limit. */
const MOST_PIECES = 200_000;
const JOINED_AT = 1024;

export type MinTls = 'TLSv1.2' | 'TLSv1.3';

export interface WireRequest {
  url: URL;
  method: 'GET' | 'HEAD' | 'POST';
  headers: Record<string, string>;
  body: string | null;
  verify: boolean;
  /** Omitted: as in the resolver. */
  ipv4Only?: boolean | undefined;
  minTls?: MinTls | undefined;
  /** Maximum bytes of body, as sent and as decompressed. */
  maxBytes: number;
  /** At the limit: fail with `too_large`, or keep what was received. */
  atLimit: 'fail' | 'keep';
  /** Time limits between two pieces of the body (0 = none) / of the whole exchange, in milliseconds. */
  bodyTimeoutMs: number;
  deadlineMs: number;
  /**
   * Once sent, it continues until its deadline even if its caller gives up: a site must not be disconnected in the
   * middle of a change.
   */
  finish?: boolean;
  /** Over a connection of its own, and so sent once. With `finish`, that holds anyway. */
  once?: boolean;
  /**
   * Called when the exchange has ended, even after its caller gave up: with the status of a complete response,
   * otherwise 0.
   */
  onOver?: (status: number) => void;
  signal?: AbortSignal | undefined;
}

export interface WireAnswer {
  status: number;
  /** Of a visit that ended at a redirect: it leads to another site, or back within this one without end. */
  redirect?: 'elsewhere' | 'endless' | undefined;
  /** `Location` header, '' if absent. */
  location: string;
  /** `Retry-After` header, '' if absent. */
  retryAfter?: string;
  /** `X-Robots-Tag` header, '' if absent. */
  robots?: string;
  /** `Refresh` header, '' if absent. */
  refresh?: string;
  /** `X-Sitefleet-Session` header of the site's guard, '' if absent. */
  session?: string;
  /** `Nonce` header of WooCommerce's Store API, '' if absent. */
  nonce?: string;
  /** `Set-Cookie` headers. */
  cookies?: readonly string[];
  /** `text/html`, without parameters, in lower case; '' if absent. */
  contentType: string;
  body: Buffer;
  /** The body is the beginning of one that is longer than the limit of the request. */
  cut: boolean;
  /** Bytes of body on the wire. */
  bytes: number;
  /** Milliseconds from the call until the headers. */
  headersMs: number;
  /** Address that answered; only known for `visit`. */
  address: string;
}

/**
 * Sends the request and decompresses the response, within the limits of the request. Rejects with ChildFailure.
 * @param clock by which its deadline comes
 * @param over called when the connection is free again: later than the rejection if a caller gave up on a request with
 * `finish`; as `WireRequest.onOver`
 */
export async function perform(
  dispatcher: Dispatcher,
  request: WireRequest,
  clock: Pick<Clock, 'after'>,
  over: (status: number) => void = () => undefined,
): Promise<WireAnswer> {
  const { answer, encoding } = await new Promise<{ answer: WireAnswer; encoding: string }>((resolve, reject) => {
    new Exchange(request, { resolve, reject, over }).start(dispatcher, request, clock);
  });
  if (encoding === '' || encoding === 'identity' || encoding === 'none') return answer;
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw undecodable(answer, `uses the compression "${encoding.replace(/[^\w-]/g, '').slice(0, 20)}"`);
  try {
    if (request.atLimit === 'keep') return { ...answer, ...(await beginningOf(answer, request.maxBytes)) };
    return { ...answer, body: await unzip(answer.body, { maxOutputLength: request.maxBytes }) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(request, answer.status);
    throw undecodable(answer, 'is damaged');
  }
}

/** Decompresses as much as is kept. One that was cut on the way ends in the middle, any other is damaged if it does. */
async function beginningOf({ body, cut }: WireAnswer, most: number): Promise<Pick<WireAnswer, 'body' | 'cut'>> {
  const stream = createGunzip({ finishFlush: cut ? constants.Z_SYNC_FLUSH : constants.Z_FINISH });
  stream.end(body);
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > most) break;
  }
  return { body: Buffer.concat(pieces).subarray(0, most), cut: cut || bytes > most };
}

interface Outcome {
  resolve: (value: { answer: WireAnswer; encoding: string }) => void;
  reject: (error: ChildFailure) => void;
  over: (status: number) => void;
}

/**
 * One request in progress. Settles exactly once, at the latest at the deadline, even while still connecting.
 *
 * A settled exchange holds no contents any more: nearly every exchange is promoted to the old generation while its site
 * is working, and what is dead there keeps what it points to until the next full collection. That was two copies of
 * each response.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: WireRequest;
  readonly #began = performance.now();
  /** Null once it has settled. */
  #outcome: Outcome | null;
  /** Null once it was called. */
  #over: ((status: number) => void) | null;
  readonly #chunks: Buffer[] = [];
  #interim = 0;
  #pieces = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #cancelDeadline: (() => void) | undefined;
  #bytes = 0;
  #status = 0;
  #location = '';
  #retryAfter = '';
  #robots = '';
  #refresh = '';
  #session = '';
  #nonce = '';
  #cookies: readonly string[] = [];
  #encoding = '';
  #contentType = '';
  #headersMs = 0;

  constructor(request: WireRequest, outcome: Outcome) {
    this.#request = { ...request, headers: {}, body: null };
    this.#outcome = outcome;
    this.#over = outcome.over;
  }

  start(dispatcher: Dispatcher, { headers, body }: WireRequest, clock: Pick<Clock, 'after'>): void {
    const { url, method, bodyTimeoutMs, deadlineMs, signal } = this.#request;
    if (signal?.aborted === true) {
      this.#fail(this.#cancelled());
      return;
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#cancelDeadline = clock.after(deadlineMs, () => this.#end(this.#late()));
    const options = {
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers,
      body,
      bodyTimeout: bodyTimeoutMs,
      // The deadline above limits this, too.
      headersTimeout: 0,
    };
    try {
      dispatcher.dispatch(options, this);
    } catch (error) {
      this.#fail(networkFailure(error, url.host, false));
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Abandoned while connecting: nothing must be sent any more.
    if (this.#settled) controller.abort(new Error('given up'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // undici fills a list that it created at the end of the previous call, which is in the old generation by now: each
    // of these small views would keep the whole chunk it was read from until the next full collection.
    if (Array.isArray(controller.rawHeaders)) controller.rawHeaders.length = 0;
    if (status < 200) {
      if (++this.#interim > MOST_INTERIM) this.#fail(tooManyInterim(this.#request));
      return;
    }
    this.#status = status;
    this.#headersMs = performance.now() - this.#began;
    this.#location = first(headers.location);
    // Older versions of WooCommerce give it a name of their own.
    this.#retryAfter = first(headers['retry-after']) || first(headers['ratelimit-retry-after']);
    this.#robots = [headers['x-robots-tag'] ?? []].flat().join(', ');
    this.#refresh = first(headers.refresh);
    this.#session = first(headers['x-sitefleet-session']);
    this.#nonce = first(headers.nonce);
    const cookies = headers['set-cookie'] ?? [];
    this.#cookies = typeof cookies === 'string' ? [cookies] : cookies;
    this.#contentType = (first(headers['content-type']).split(';')[0] ?? '').trim().toLowerCase();
    this.#encoding = first(headers['content-encoding']).trim().toLowerCase();
    const announced = Number(first(headers['content-length']));
    if (announced > this.#request.maxBytes && this.#request.atLimit === 'fail')
      this.#fail(tooLarge(this.#request, status));
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#bytes += chunk.length;
    const over = this.#bytes - this.#request.maxBytes;
    if (++this.#pieces > MOST_PIECES) {
      this.#fail(tooManyPieces(this.#request, this.#status));
    } else if (over <= 0) {
      this.#chunks.push(chunk);
      if (this.#pieces % JOINED_AT === 0) this.#chunks.push(Buffer.concat(this.#chunks.splice(-JOINED_AT)));
    } else if (this.#request.atLimit === 'fail') {
      this.#fail(tooLarge(this.#request, this.#status));
    } else {
      this.#chunks.push(chunk.subarray(0, chunk.length - over));
      this.#succeed();
      this.#controller?.abort(new Error('enough'));
    }
  }

  onResponseEnd(): void {
    this.#succeed();
    this.#release(this.#status);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(networkFailure(error, this.#request.url.host, this.#sent));
    this.#release();
  }

  get #settled(): boolean {
    return this.#outcome === null;
  }

  get #sent(): boolean {
    return this.#controller !== undefined;
  }

  readonly #onAbort = (): void => {
    if (this.#request.finish === true && this.#sent) this.#settle()?.reject(this.#cancelled());
    else this.#end(this.#cancelled());
  };

  #succeed(): void {
    if (this.#outcome === null) return;
    const body =
      this.#chunks.length === 1 && this.#chunks[0] !== undefined ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.#settle()?.resolve({
      answer: {
        status: this.#status,
        location: this.#location,
        retryAfter: this.#retryAfter,
        robots: this.#robots,
        refresh: this.#refresh,
        session: this.#session,
        nonce: this.#nonce,
        cookies: this.#cookies,
        body,
        cut: this.#bytes > this.#request.maxBytes,
        bytes: this.#bytes,
        contentType: this.#contentType,
        headersMs: this.#headersMs,
        address: '',
      },
      encoding: this.#encoding,
    });
  }

  #fail(failure: ChildFailure): void {
    if (!this.#settled) this.#end(failure);
  }

  /** Also hangs up, even on a settled exchange that was left to finish. */
  #end(failure: ChildFailure): void {
    const outcome = this.#settle();
    this.#release();
    outcome?.reject(failure);
    this.#controller?.abort(failure);
  }

  #settle(): Outcome | null {
    const outcome = this.#outcome;
    this.#outcome = null;
    this.#chunks.length = 0;
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return outcome;
  }

  #release(status = 0): void {
    this.#cancelDeadline?.();
    const over = this.#over;
    this.#over = null;
    over?.(status);
  }

  #cancelled(): ChildFailure {
    return new ChildFailure('cancelled', 'The call was cancelled.', { mayHaveRun: this.#sent });
  }

  #late(): ChildFailure {
    const { url, deadlineMs } = this.#request;
    return new ChildFailure('timed_out', `${url.host} did not answer within ${Math.round(deadlineMs)} ms.`, {
      httpStatus: this.#status,
      advice: 'Try again later, or raise the time limit.',
      mayHaveRun: this.#sent,
    });
  }
}

function first(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? '';
}

function tooLarge(request: WireRequest, httpStatus: number): ChildFailure {
  return new ChildFailure('too_large', `${request.url.host} sent more than ${request.maxBytes} bytes.`, {
    httpStatus,
    advice: 'Ask for less, or check on the site what makes its answer so large.',
    mayHaveRun: true,
  });
}

function tooManyPieces(request: WireRequest, httpStatus: number): ChildFailure {
  return new ChildFailure('too_large', `${request.url.host} sent its answer in more than ${MOST_PIECES} pieces.`, {
    httpStatus,
    advice: 'Check what on the site, or in front of it, sends a few bytes at a time.',
    mayHaveRun: true,
  });
}

function tooManyInterim(request: WireRequest): ChildFailure {
  return new ChildFailure(
    'bad_answer',
    `${request.url.host} sent more than ${MOST_INTERIM} interim answers and no real one.`,
    {
      advice: 'Check what on the site, or in front of it, sends them.',
      mayHaveRun: true,
    },
  );
}

function undecodable(answer: WireAnswer, what: string): ChildFailure {
  return new ChildFailure('bad_answer', `The body of the answer ${what} and cannot be read.`, {
    httpStatus: answer.status,
    mayHaveRun: true,
  });
}
