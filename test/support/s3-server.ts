/**
 * A small S3-compatible server on loopback, for tests: path style, `ListObjectsV2`, ranges, conditional writes. It verifies
 * signatures with code of its own, and a test can have requests stall, fail, or be answered wrongly.
 */

import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenLocally } from './local-server.js';

const REGION = 'test-region-1';
const KEY = 'TESTKEYTESTKEY';
export const S3_SECRET = 'secret/of+the=test';

export interface S3Request {
  method: string;
  /** Of the object; '' = the bucket. */
  name: string;
  query: URLSearchParams;
}

/** What a request is answered with in place of the truth. */
export type Fault =
  /** Nothing, and the connection stays open. */
  | 'stall'
  /** The headers, half of the body, then the end of the connection. */
  | 'cut'
  /** Half of the body, with a length to match. */
  | 'short'
  /** A body of which one bit was flipped. */
  | 'flip'
  /** That it was stored. It was not. */
  | 'lose'
  /** A connection that is reset. */
  | 'reset'
  | { status: number; code: string }
  /** This text, as if all were well. */
  | { text: string };

export interface S3Server {
  url: string;
  objects: Map<string, Buffer>;
  requests: S3Request[];
  /** Objects of one page of a list. */
  page: number;
  /** Names that lists do not show yet. */
  unlisted: Set<string>;
  /** Knows `If-None-Match`; others replace. */
  conditions: boolean;
  /** Decides each request that was signed well; undefined = the truth. */
  fault: (request: S3Request) => Fault | undefined;
}

/** It is closed like all that tests start. */
export async function s3Server(): Promise<S3Server> {
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('error', () => undefined);
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => answer(incoming, outgoing, Buffer.concat(parts)));
  });
  const { url } = await listenLocally(server);
  const state: S3Server = {
    url: `${url}/bucket`,
    objects: new Map(),
    requests: [],
    page: 1_000,
    unlisted: new Set(),
    conditions: true,
    fault: () => undefined,
  };
  return state;

  function answer(incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer) {
    const { pathname, searchParams: query } = new URL(incoming.url ?? '', state.url);
    const [, bucket, ...rest] = pathname.split('/');
    const request = { method: incoming.method ?? '', name: rest.join('/'), query };
    const problem = signatureProblem(incoming, pathname, query, body);
    if (problem !== null) return refuse(outgoing, 403, problem);
    if (bucket !== 'bucket') return refuse(outgoing, 404, 'NoSuchBucket');
    state.requests.push(request);
    const fault = state.fault(request);
    if (fault === 'stall') return;
    if (fault === 'reset') return incoming.socket.resetAndDestroy();
    if (typeof fault === 'object' && 'text' in fault) return outgoing.writeHead(200).end(fault.text);
    if (typeof fault === 'object') return refuse(outgoing, fault.status, fault.code);
    if (request.name === '') return list(outgoing, query);
    if (request.method === 'PUT') return put(incoming, outgoing, request.name, body, fault);
    if (request.method === 'DELETE') {
      state.objects.delete(request.name);
      return outgoing.writeHead(204).end();
    }
    read(incoming, outgoing, request, fault);
  }

  function put(
    { headers }: IncomingMessage,
    outgoing: ServerResponse,
    name: string,
    body: Buffer,
    fault: Fault | undefined,
  ) {
    if (state.conditions && headers['if-none-match'] === '*' && state.objects.has(name))
      return refuse(outgoing, 412, 'PreconditionFailed');
    if (fault !== 'lose') state.objects.set(name, fault === 'flip' ? flipped(body) : body);
    outgoing.writeHead(200, { etag: `"${createHash('md5').update(body).digest('hex')}"` }).end();
  }

  function read(
    { headers }: IncomingMessage,
    outgoing: ServerResponse,
    { method, name }: S3Request,
    fault: Fault | undefined,
  ) {
    const object = state.objects.get(name);
    if (object === undefined) return refuse(outgoing, 404, 'NoSuchKey');
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    const ranged = from !== undefined && to !== undefined;
    if (ranged && Number(from) >= object.length) return refuse(outgoing, 416, 'InvalidRange');
    const whole = ranged ? object.subarray(Number(from), Number(to) + 1) : object;
    const half = whole.subarray(0, whole.length >> 1);
    const body = fault === 'short' ? half : fault === 'flip' ? flipped(whole) : whole;
    outgoing.writeHead(ranged ? 206 : 200, { 'content-length': body.length });
    if (method === 'HEAD') return outgoing.end();
    if (fault !== 'cut') return outgoing.end(body);
    outgoing.write(half, () => outgoing.destroy());
  }

  function list(outgoing: ServerResponse, query: URLSearchParams) {
    const prefix = query.get('prefix') ?? '';
    // Servers may use any text as token; this one has characters that XML escapes.
    const after = (query.get('continuation-token') ?? '').replace(/^<&/, '');
    const names = [...state.objects.keys()]
      .filter((name) => name.startsWith(prefix) && name > after && !state.unlisted.has(name))
      .sort();
    const page = names.slice(0, Math.min(state.page, Number(query.get('max-keys') ?? 1_000)));
    const more = page.length < names.length;
    const entries = page.map(
      (name) =>
        `<Contents><Key>${name}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>${state.objects.get(name)?.length}</Size></Contents>`,
    );
    const token = more ? `<NextContinuationToken>&lt;&#x26;${page.at(-1)}</NextContinuationToken>` : '';
    const text = `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><IsTruncated>${more}</IsTruncated>${entries.join('')}${token}</ListBucketResult>`;
    outgoing.writeHead(200, { 'content-type': 'application/xml' }).end(text);
  }
}

function refuse(outgoing: ServerResponse, status: number, code: string) {
  const text = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;
  return outgoing.writeHead(status, { 'content-type': 'application/xml' }).end(text);
}

function flipped(bytes: Buffer): Buffer {
  const bent = Buffer.from(bytes);
  const at = bent.length >> 1;
  bent[at] = (bent[at] ?? 0) ^ 1;
  return bent;
}

/** Settings of a service that keeps the backups of sites below a prefix of the bucket. */
export function inBucket({ url }: Pick<S3Server, 'url'>, secret = S3_SECRET) {
  return {
    site_backup_s3: `${url}/fleet/one`,
    site_backup_s3_region: REGION,
    site_backup_s3_key: KEY,
    site_backup_s3_secret: secret,
  };
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Signature version 4, by its specification. The code of the error, or null. */
function signatureProblem(
  { method, headers }: IncomingMessage,
  path: string,
  query: URLSearchParams,
  body: Buffer,
): string | null {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (parts === null) return 'AccessDenied';
  const [, key, day = '', region = '', names = '', signature] = parts;
  if (key !== KEY) return 'InvalidAccessKeyId';
  if (region !== REGION) return 'AuthorizationHeaderMalformed';
  if (headers['x-amz-content-sha256'] !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const encoded = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const canonical = [
    method,
    path,
    [...query]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const signed = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const secret = hmac(hmac(hmac(hmac(`AWS4${S3_SECRET}`, day), region), 's3'), 'aws4_request');
  return hmac(secret, signed).toString('hex') === signature ? null : 'SignatureDoesNotMatch';
}
