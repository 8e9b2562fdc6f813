/** Compresses responses for clients that accept it. Runs in zlib's threads, so that other requests are not held up. */

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

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
  headers.vary = headers.vary === undefined ? 'Accept-Encoding' : `${headers.vary}, Accept-Encoding`;
  const encoding = accepted === null ? undefined : chosen(accepted);
  if (encoding === undefined) return new Response(text, { headers });
  const body = await ENCODERS[encoding](text);
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
  if (!response.ok || !isJson || accepted === null || chosen(accepted) === undefined) return response;
  const { 'content-length': _ofText, ...headers } = Object.fromEntries(given);
  return textResponse(await response.text(), accepted, headers);
}

function chosen(accepted: string): Encoding | undefined {
  const refused = /;\s*q=0(?:\.0*)?\s*$/i;
  const taken = new Set(
    accepted.split(',').flatMap((part) => (refused.test(part) ? [] : [part.split(';', 1)[0]?.trim().toLowerCase()])),
  );
  return taken.has('br') ? 'br' : taken.has('gzip') ? 'gzip' : undefined;
}
