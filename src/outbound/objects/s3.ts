/** A bucket of an S3-compatible server that keeps the objects of the backup repository. */

import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { type Agent, request } from 'undici';
import type { Clock } from '../../runtime/clock.js';
import { RepositoryError } from '../../runtime/repository-error.js';
import { wholeBody } from '../../runtime/whole-body.js';
import type { Lookup } from '../name-lookup.js';
import { checkAddress, checkedAgent, isLate, isStep, shownCode } from '../probe/agent.js';
import { Names } from '../probe/names.js';
import type { PrivateReach } from '../public-address.js';
import { codeOf, type Listed, pageOf } from './s3-xml.js';

export interface BucketParts {
  /** `https://HOST/BUCKET`, and below it a prefix if any. */
  url: string;
  /** Null: as the address says, where it is one of a known service. */
  region: string | null;
  accessKey: string;
  secretKey: string;
  allowPrivate: PrivateReach;
  lookup?: Lookup;
  clock: Pick<Clock, 'now' | 'sleep' | 'deadline'>;
  userAgent: string;
}

interface Asked {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Of an object; '' = the bucket. */
  name: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array;
}

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;
/** A request may take so long, and so much more for what is sent or answered. */
const PATIENCE_MS = 30_000;
const LEAST_BYTES_PER_MS = 50;
/** Taken for the length of an answer that does not say it. */
const UNSAID_BYTES = 8 * 1024 * 1024;
/** No object that we make is larger. */
const MAX_BYTES = 128 * 1024 * 1024;
const PAGE = 1_000;
/** A page of the longest names that there can be is not larger. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
/** More pages than any repository has, of servers whose pages are small. */
const MAX_PAGES = 10_000;
/** More objects than any repository has: a year of daily backups of 5,000 sites, none of them removed. */
const MAX_OBJECTS = 2_000_000;
/** No name that we make is longer, below the prefix. */
const MAX_NAME = 200;
const STORED = [200, 201, 204];
/** There is an object of that name, or another request is storing one. */
const EXISTS = [409, 412];
/** Of a server that does not know conditional writes. */
const NO_CONDITIONS = [400, 501];

/** Nothing is opened until the first request. */
export function openBucket(parts: BucketParts) {
  const bucket = new Bucket(parts);
  return {
    /** Each request takes about as long, whether for a part of an object or for all of it. */
    far: true,

    /** Stores an object, in place of one of that name. The server shows it when this resolves. */
    async put(name: string, bytes: Uint8Array): Promise<void> {
      for (let attempt = 1; ; attempt++) {
        await bucket.expect({ method: 'PUT', name, body: bytes }, STORED);
        // What a server says that it has stored is not yet stored.
        const size = await sizeOf(name);
        if (size === bytes.length) return;
        if (attempt === ATTEMPTS)
          throw new RepositoryError(
            'unavailable',
            `The storage server says that it stored ${name}, but ${size === null ? 'does not have it' : `has ${size} of its ${bytes.length} bytes`}.`,
          );
        await bucket.pause(attempt);
      }
    },

    /** Stores an object unless there is one of that name, where the server knows conditions. @returns whether it was stored */
    async create(name: string, bytes: Uint8Array): Promise<boolean> {
      const put: Asked = { method: 'PUT', name, body: bytes };
      const known = [...STORED, ...EXISTS, ...NO_CONDITIONS];
      const { status } = await bucket.expect({ ...put, headers: { 'if-none-match': '*' } }, known);
      if (EXISTS.includes(status)) return false;
      if (NO_CONDITIONS.includes(status)) await bucket.expect(put, STORED);
      return true;
    },

    /** @throws RepositoryError `missing` */
    async get(name: string): Promise<Buffer> {
      return (await bucket.expect({ method: 'GET', name }, [200])).bytes;
    },

    /** Part of an object. @throws RepositoryError `missing`, `damaged` if it is shorter */
    async part(name: string, offset: number, length: number): Promise<Buffer> {
      const range = `bytes=${offset}-${offset + length - 1}`;
      const { status, bytes } = await bucket.expect({ method: 'GET', name, headers: { range } }, [200, 206, 416]);
      // Some servers know no ranges, and answer the whole object.
      const part = status === 200 ? bytes.subarray(offset, offset + length) : bytes;
      if (status === 416 || part.length !== length)
        throw new RepositoryError('damaged', `${name} in the backup repository is shorter than it was.`);
      return part;
    },

    /** The size of an object; null: there is none. */
    size: sizeOf,

    /** Names of the objects below a folder, in no order. */
    async list(folder: string): Promise<Listed[]> {
      const found: Listed[] = [];
      let token: string | null = null;
      let objects = 0;
      for (let page = 0; page < MAX_PAGES; page++) {
        const next = await listPage(folder, token);
        objects += next.objects.length;
        if (objects > MAX_OBJECTS)
          throw new RepositoryError(
            'unavailable',
            `The storage server lists more than ${MAX_OBJECTS} objects in ${folder}, more than a repository of backups has.`,
          );
        for (const { name, bytes } of next.objects)
          if (name.startsWith(`${bucket.prefix}${folder}/`) && name.length - bucket.prefix.length <= MAX_NAME)
            found.push({ name: name.slice(bucket.prefix.length), bytes });
        if (next.token === null) return found;
        if (next.token === token) break;
        token = next.token;
      }
      throw new RepositoryError('unavailable', 'The storage server sends a list that does not end.');
    },

    async remove(name: string): Promise<void> {
      await bucket.expect({ method: 'DELETE', name }, [200, 204, 404]);
    },

    close: () => bucket.close(),
  };

  async function sizeOf(name: string): Promise<number | null> {
    const { status, headers } = await bucket.expect({ method: 'HEAD', name }, [200, 404]);
    const length = headers['content-length'];
    return status === 404 ? null : typeof length === 'string' ? Number(length) : 0;
  }

  async function listPage(folder: string, token: string | null) {
    const query = {
      'list-type': '2',
      'max-keys': String(PAGE),
      prefix: `${bucket.prefix}${folder}/`,
      ...(token === null ? {} : { 'continuation-token': token }),
    };
    const page = pageOf((await bucket.expect({ method: 'GET', name: '', query }, [200])).bytes, PAGE);
    if (page !== null) return page;
    throw new RepositoryError(
      'unavailable',
      `The storage server answered a request for a list of at most ${PAGE} objects with something else.`,
    );
  }
}

/** Sends signed requests, each a few times. */
class Bucket {
  /** What the names of all objects begin with. */
  readonly prefix: string;
  readonly #root: string;
  readonly #parts: BucketParts;
  readonly #names: Names;
  readonly #keys = new Map<string, ArrayBuffer>();
  #agent: Agent | undefined;

  constructor(parts: BucketParts) {
    const { origin, pathname } = new URL(parts.url);
    const [bucket = '', ...prefix] = pathname.split('/').filter((part) => part !== '');
    this.#root = `${origin}/${bucket}`;
    this.prefix = prefix.map((part) => `${part}/`).join('');
    this.#parts = parts;
    this.#names = new Names({ allowPrivate: parts.allowPrivate, lookup: parts.lookup });
  }

  /** The answer, if its status is one of these. @throws RepositoryError */
  async expect(asked: Asked, statuses: readonly number[]): Promise<Answer> {
    const answer = await this.ask(asked);
    if (statuses.includes(answer.status)) return answer;
    throw refusal(asked, answer);
  }

  /** Any answer, but those that ask to come again. */
  async ask(asked: Asked): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      let failure: RepositoryError;
      try {
        const answer = await this.#send(asked);
        if (!(answer.status === 429 || (answer.status >= 500 && answer.status !== 501 && answer.status !== 507)))
          return answer;
        failure = refusal(asked, answer);
      } catch (error) {
        failure = asFailure(error);
        if (isStep(error)) throw failure;
      }
      if (attempt === ATTEMPTS) throw failure;
      await this.pause(attempt);
    }
  }

  async pause(attempt: number): Promise<void> {
    await this.#parts.clock.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1));
  }

  async #send({ method, name, query = {}, headers = {}, body }: Asked): Promise<Answer> {
    const { clock, userAgent, accessKey, secretKey, region } = this.#parts;
    const url = `${this.#root}${name === '' ? '' : `/${this.prefix}${name}`}${name === '' ? `?${new URLSearchParams(query)}` : ''}`;
    await checkAddress(this.#names, url);
    this.#agent ??= checkedAgent(this.#names, PATIENCE_MS);
    const signer = new AwsV4Signer({
      method,
      url,
      headers: {
        ...headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      service: 's3',
      ...(region === null ? {} : { region }),
      datetime: new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
      cache: this.#keys,
    });
    const signed = await signer.sign();
    const late = new AbortController();
    const within = async <T>(bytes: number, work: Promise<T>): Promise<T> => {
      const limit = clock.deadline(PATIENCE_MS + bytes / LEAST_BYTES_PER_MS);
      const stop = () => late.abort(new DOMException('The storage server sends nothing.', 'TimeoutError'));
      limit.signal.addEventListener('abort', stop, { once: true });
      return work.finally(limit.clear);
    };
    const asked = request(signed.url, {
      method,
      dispatcher: this.#agent,
      headers: { ...Object.fromEntries(signed.headers), 'user-agent': userAgent },
      ...(body === undefined ? {} : { body }),
      // By the limits above: a slow line needs longer for what is large.
      headersTimeout: 0,
      bodyTimeout: 0,
      signal: late.signal,
    });
    const answer = await within(body?.length ?? 0, asked);
    const length = Number(answer.headers['content-length'] ?? UNSAID_BYTES);
    const most = name === '' ? MAX_PAGE_BYTES : MAX_BYTES;
    const bytes = await within(Math.min(length, most), wholeOf(answer.body, most));
    return { status: answer.statusCode, headers: answer.headers, bytes };
  }

  async close(): Promise<void> {
    await this.#agent?.destroy();
  }
}

async function wholeOf(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const whole = await wholeBody(body, most);
  if (whole !== null) return whole;
  throw most === MAX_PAGE_BYTES
    ? new RepositoryError('unavailable', `The storage server sent more than ${most} bytes for a page of a list.`)
    : new RepositoryError('damaged', 'The storage server sent more than was ever stored there.');
}

/** Why a server refused, with the code that it names. */
function refusal({ name }: Asked, { status, bytes }: Answer): RepositoryError {
  const code = codeOf(bytes.subarray(0, 4_096));
  const said = code === null ? `HTTP ${status}` : `HTTP ${status}, ${code}`;
  if (status === 404 && name !== '' && code !== 'NoSuchBucket')
    return new RepositoryError('missing', `${name} is missing in the backup repository.`);
  if (status === 404) return new RepositoryError('unavailable', `The storage server has no such bucket (${said}).`);
  if (status === 507 || /quota|storagefull|insufficientstorage/i.test(code ?? ''))
    return new RepositoryError('full', `The bucket of the backup repository is full (${said}).`);
  const advice =
    code === 'RequestTimeTooSkewed'
      ? ' The clock of this machine is wrong.'
      : status === 401 || status === 403
        ? ' It does not accept the key, or the key may not do this: SITEFLEET_SITE_BACKUP_S3_KEY.'
        : (status >= 300 && status < 400) || code === 'AuthorizationHeaderMalformed'
          ? ' Correct SITEFLEET_SITE_BACKUP_S3, or its region.'
          : '';
  return new RepositoryError('unavailable', `The storage server refused a request (${said}).${advice}`);
}

function asFailure(error: unknown): RepositoryError {
  if (error instanceof RepositoryError) return error;
  if (isStep(error)) return new RepositoryError('unavailable', error.message, error);
  return new RepositoryError(
    'unavailable',
    isLate(error)
      ? 'The storage server did not answer in time.'
      : `The storage server could not be reached${shownCode(error)}.`,
    error,
  );
}
