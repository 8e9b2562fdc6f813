/** Compresses responses for clients that accept it. Runs in zlib's threads, so that other requests are not held up. */

import { pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { onceMade } from '../../runtime/once.js';

/** Length (characters or bytes) below which compressing costs more than it saves. */
const LEAST = 1024;
/** About as fast as gzip, with smaller output. The window is small because many compressions may run at once. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 } };
const GZIP = { level: 5 };

const ENCODERS = {
  br: (text: string | Uint8Array<ArrayBuffer>) => promisify(brotliCompress)(text, BROTLI),
  gzip: (text: string | Uint8Array<ArrayBuffer>) => promisify(gzip)(text, GZIP),
} as const;
type Encoding = keyof typeof ENCODERS;
type Bytes = Uint8Array<ArrayBuffer>;

/**
 * A text response, compressed if it is long enough and the client accepts it.
 * @param text a string, or its UTF-8 bytes
 * @param accepted the request's Accept-Encoding; @param headers of the response, names in lower case
 */
export async function textResponse(
  text: string | Uint8Array<ArrayBuffer>,
  accepted: string | null,
  headers: Record<string, string>,
): Promise<Response> {
  if (text.length < LEAST) return new Response(text, { headers });
  const encoding = chosen(accepted);
  return encodedResponse(encoding === undefined ? text : await ENCODERS[encoding](text), encoding, headers);
}

/** Answers with a text that is kept. @param accepted the request's Accept-Encoding; @param headers names in lower case */
export type KeptText = (accepted: string | null, headers: Record<string, string>) => Promise<Response>;

/**
 * A long text that is the same for all, and sent without a login: encoded once in each way that is asked for, so that
 * strangers who ask again and again cost little more than the bytes.
 * @param read called once; @param ready encodings that exist
 */
export function keptText(
  read: () => Promise<string | Bytes>,
  ready: Partial<Record<Encoding, () => Promise<Bytes>>> = {},
): KeptText {
  const plain = onceMade(async () => {
    const text = await read();
    return typeof text === 'string' ? new TextEncoder().encode(text) : text;
  });
  const packed = {
    br: ready.br ?? onceMade(async () => ENCODERS.br(await plain())),
    gzip: ready.gzip ?? onceMade(async () => ENCODERS.gzip(await plain())),
  };
  return async (accepted, headers) => {
    const encoding = chosen(accepted);
    return encodedResponse(await (encoding === undefined ? plain() : packed[encoding]()), encoding, headers);
  };
}

function encodedResponse(
  body: string | Bytes,
  encoding: Encoding | undefined,
  headers: Record<string, string>,
): Response {
  headers.vary = headers.vary === undefined ? 'Accept-Encoding' : `${headers.vary}, Accept-Encoding`;
  if (encoding === undefined) return new Response(body, { headers });
  headers['content-encoding'] = encoding;
  // A weak tag: the same content in different bytes (RFC 9110 §8.8.3.3).
  if (headers.etag?.startsWith('"') === true) headers.etag = `W/${headers.etag}`;
  return new Response(body, { headers });
}

/**
 * The same response with its JSON compressed as by `textResponse`. Streams, and responses that are compressed already,
 * stay as they are.
 */
export async function compressedJson(response: Response, accepted: string | null): Promise<Response> {
  const { headers: given } = response;
  const isJson = given.get('content-type')?.startsWith('application/json') === true && !given.has('content-encoding');
  if (!response.ok || !isJson || chosen(accepted) === undefined) return response;
  const { 'content-length': _ofText, ...headers } = Object.fromEntries(given);
  return textResponse(await response.text(), accepted, headers);
}

const PACKERS = {
  br: () => createBrotliCompress({ ...BROTLI, flush: constants.BROTLI_OPERATION_FLUSH }),
  gzip: () => createGzip({ ...GZIP, flush: constants.Z_SYNC_FLUSH }),
} as const;

/**
 * The stream, compressed if the client accepts it: each piece can be read as soon as it is sent.
 * @param accepted the request's Accept-Encoding
 */
export function packedStream(stream: Readable, accepted: string | null): { stream: Readable; encoding?: Encoding } {
  const encoding = chosen(accepted);
  if (encoding === undefined) return { stream };
  // Errors reach the reader of what is returned.
  return { stream: pipeline(stream, PACKERS[encoding](), () => undefined), encoding };
}

function chosen(accepted: string | null): Encoding | undefined {
  if (accepted === null) return undefined;
  const refused = /;\s*q=0(?:\.0*)?\s*$/i;
  const taken = new Set(
    accepted.split(',').flatMap((part) => (refused.test(part) ? [] : [part.split(';', 1)[0]?.trim().toLowerCase()])),
  );
  return taken.has('br') ? 'br' : taken.has('gzip') ? 'gzip' : undefined;
}
