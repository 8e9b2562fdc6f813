/** The wire format, on both sides, against vectors made with OpenSSL; and the PHP side's own tests. */

import { execFileSync, spawnSync } from 'node:child_process';
import { constants, createPrivateKey, createPublicKey, publicDecrypt, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { WireRequest } from '../../src/outbound/child/wire/exchange.js';
import { GuardClient, type GuardSite } from '../../src/outbound/guard/client.js';
import {
  canonicalText,
  GUARD_PROTOCOL,
  keyId,
  lookHeaders,
  readReply,
  sessionHeaders,
  signedRequest,
  siteName,
} from '../../src/outbound/guard/protocol.js';
import { needs } from '../support/needs.js';
import { PHP } from '../support/php.js';
import { codeOf } from './tools.js';

const root = new URL('../../php/', import.meta.url);
const vectors = JSON.parse(readFileSync(new URL('vectors.json', root), 'utf8')) as {
  private_key: string;
  public_key: string;
  key_id: string;
  requests: {
    url: string;
    site: string;
    time: number;
    nonce: string;
    action: string;
    parameters: Record<string, unknown>;
    body: string;
    canonical: string;
    signature: string;
  }[];
};
const NONCE = '0'.repeat(32);

function framed(value: unknown): Buffer {
  return Buffer.from(`<b>noise</b><sitefleet-guard>${JSON.stringify(value)}</sitefleet-guard>more`);
}

/** What the three kinds of headers sign, as docs/guard.md says it. */
function textsOf(now: number, asked: { headers: Record<string, string>; body: string }, nonce: string): string[] {
  const seconds = now / 1000;
  return ['1', '2'].flatMap((version) => [
    canonicalText('example.com/', seconds, String(asked.headers['x-sitefleet-nonce']), asked.body).replace(
      /v\d/,
      `v${version}`,
    ),
    `sitefleet-look-v${version}\nexample.com/\n${seconds}\n`,
    `sitefleet-session-v${version}\nexample.com/\n${seconds}\n${nonce}\n/wp-admin/?sitefleet=0123456789ab\n`,
  ]);
}

/** A client whose network answers with the given function. */
function client(answer: (request: WireRequest) => { status: number; body: Buffer | string }) {
  const asked: WireRequest[] = [];
  const site: GuardSite = {
    url: 'https://example.com/blog/',
    private_key: vectors.private_key,
    http_user: 'client',
    http_pass: 'pässword',
    ssl_verify: true,
  };
  const guard = new GuardClient(site, {
    now: () => 1_790_000_000_000,
    userAgent: 'test',
    exchange: async (request) => {
      asked.push(request);
      const { status, body } = answer(request);
      return {
        status,
        body: Buffer.from(body),
        location: '',
        contentType: '',
        cut: false,
        bytes: 0,
        headersMs: 0,
        address: '',
      };
    },
  });
  return { guard, asked };
}

const reply = (request: WireRequest, value: Record<string, unknown>) => ({
  status: 200,
  body: framed({ protocol: GUARD_PROTOCOL, nonce: request.headers['x-sitefleet-nonce'], ok: true, ...value }),
});

describe('what is signed', () => {
  it.each(vectors.requests)('is byte for byte the agreed text: $action at $url', (one) => {
    expect(siteName(one.url)).toBe(one.site);
    expect(canonicalText(one.site, one.time, one.nonce, one.body)).toBe(one.canonical);
    const site = { url: one.url, private_key: vectors.private_key };
    const made = signedRequest(site, one.action, one.parameters, one.time * 1000 + 999, one.nonce);
    expect(made.body).toBe(one.body);
    expect(made.headers).toEqual({
      'x-sitefleet-guard': vectors.key_id,
      'x-sitefleet-site': one.site,
      'x-sitefleet-time': String(one.time),
      'x-sitefleet-nonce': one.nonce,
      'x-sitefleet-signature': one.signature,
    });
  });

  it('names a key the same from both its halves', () => {
    expect(keyId(createPrivateKey(vectors.private_key))).toBe(vectors.key_id);
    expect(keyId(createPublicKey(vectors.public_key))).toBe(vectors.key_id);
  });

  // MainWP Child takes each text with such a signature as a login, whatever the text says, and again and again.
  it('is nothing that the check of the child plugin accepts, in no header', () => {
    const site = { url: 'https://example.com/', private_key: vectors.private_key };
    const now = 1_790_000_000_000;
    const page = new URL('https://example.com/wp-admin/?sitefleet=0123456789ab');
    const asked = signedRequest(site, 'hello', {}, now);
    const look = String(lookHeaders(site, now)['x-sitefleet-look']);
    const session = sessionHeaders(site, page, now);
    const signatures = [asked.headers['x-sitefleet-signature'], look, session.headers['x-sitefleet-session']].map(
      (header) => Buffer.from(String(header.split(' ').at(-1)), 'base64'),
    );
    const { PKCS1, PSS } = { PKCS1: constants.RSA_PKCS1_PADDING, PSS: constants.RSA_PKCS1_PSS_PADDING };
    for (const signature of signatures) {
      expect(signature).toHaveLength(256);
      // With PKCS #1 the check compares the whole padded text: with the name of a hash before the digest it is another one.
      const signed = publicDecrypt({ key: vectors.public_key, padding: PKCS1 }, signature);
      expect(signed.subarray(0, 15).toString()).toBe('sitefleet-guard');
      expect(signed).toHaveLength(47);
      for (const text of textsOf(now, asked, session.nonce))
        for (const hash of ['sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'RSA-MD5'])
          for (const padding of [PKCS1, PSS])
            expect(verify(hash, Buffer.from(text), { key: vectors.public_key, padding }, signature)).toBe(false);
    }
  });

  it('has another nonce each time, and at most 64 KB', () => {
    const site = { url: 'https://example.com/', private_key: vectors.private_key };
    const nonces = [1, 2, 3].map(() => signedRequest(site, 'hello', {}, 0).nonce);
    expect(new Set(nonces).size).toBe(3);
    expect(() => signedRequest(site, 'hello', { x: 'x'.repeat(65_600) }, 0)).toThrow(RangeError);
  });
});

describe('what is read', () => {
  it('finds the answer among other output, and takes only one to this request', () => {
    const good = { protocol: GUARD_PROTOCOL, nonce: NONCE, ok: true, x: 1 };
    expect(readReply(framed(good), NONCE)).toEqual({ ok: true, value: good });
    const bad = [{ ...good, nonce: 'f'.repeat(32) }, { ...good, protocol: 'other' }, { ...good, ok: 1 }, [], null, 'x'];
    for (const one of bad) expect(readReply(framed(one), NONCE)).toBeNull();
    for (const text of [
      '',
      '<html>',
      '<sitefleet-guard>{',
      '<sitefleet-guard>{</sitefleet-guard>',
      '</sitefleet-guard><sitefleet-guard>',
    ])
      expect(readReply(Buffer.from(text), NONCE)).toBeNull();
  });

  it('passes the code, the text and the clock of a refusal on', () => {
    const refusal = {
      protocol: GUARD_PROTOCOL,
      nonce: NONCE,
      ok: false,
      time: 12,
      error: { code: 'clock', message: 'late' },
    };
    expect(readReply(framed(refusal), NONCE)).toEqual({ ok: false, code: 'clock', message: 'late', time: 12 });
  });

  it('keeps the login that was sent out of what is passed on', async () => {
    const sent = (request: WireRequest) => `got ${request.headers.authorization} (client:pässword)`;
    const { guard } = client((request) =>
      reply(request, { ok: false, error: { code: `no ${request.headers.authorization}`, message: sent(request) } }),
    );
    await expect(guard.drop('a'.repeat(32))).rejects.toMatchObject({
      code: 'no Basic (hidden)',
      message: 'got Basic (hidden) (client:(hidden))',
    });
    const fault = { time: 1, first: 1, count: 1, file: '/x.php', line: 1, kind: null, item: null, armed: false };
    const rest = { blames: null, ours: null, cron: false, restored: null, waited: null };
    const { guard: other } = client((request) =>
      reply(request, { faults: [{ ...fault, ...rest, message: `Uncaught: sign_in('client', 'pässword')` }] }),
    );
    expect(await other.faults(0)).toMatchObject([{ message: `Uncaught: sign_in('client', '(hidden)')` }]);
  });

  it('tries the next address where something else answered, each time with another nonce', async () => {
    const { guard, asked } = client((request) =>
      request.url.pathname.endsWith('wp-activate.php')
        ? reply(request, { dropped: true })
        : { status: 503, body: 'maintenance' },
    );
    expect(await guard.drop('a'.repeat(32))).toBe(true);
    expect(asked.map(({ url }) => url.href)).toEqual([
      'https://example.com/blog/',
      'https://example.com/blog/wp-login.php',
      'https://example.com/blog/wp-activate.php',
    ]);
    expect(new Set(asked.map(({ headers }) => headers['x-sitefleet-nonce'])).size).toBe(3);
    expect(asked[0]?.headers.authorization).toBe(`Basic ${Buffer.from('client:pässword').toString('base64')}`);
  });

  it('says what it saw when no address has a guard', async () => {
    const { guard } = client(() => ({ status: 403, body: '<h1>Firewall</h1>' }));
    const failure = await guard.hello().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'no_guard', statuses: [403, 403, 403] });
    expect(String(failure)).toContain('HTTP 403, 403, 403');
  });

  it('refuses answers that are not as agreed', async () => {
    const wrong: Record<string, unknown>[] = [
      {},
      { snapshots: 'x' },
      { snapshots: [{ id: '../x' }] },
      { snapshots: [null] },
    ];
    for (const value of wrong) {
      const { guard } = client((request) => reply(request, value));
      expect(await codeOf(guard.list())).toBe('bad_answer');
    }
    const mended = { files: [{ toString: 1 }], options: [], events: [] };
    const { guard } = client((request) => reply(request, { mended }));
    expect(await codeOf(guard.mend('0'.repeat(32), mended as never))).toBe('bad_answer');
  });
});

describe('the PHP side', needs('php'), () => {
  it('passes its own tests', () => {
    const run = spawnSync(PHP, [fileURLToPath(new URL('test/run.php', root))], { encoding: 'utf8' });
    expect(run.stdout.split('\n').filter((line) => line.startsWith('FAIL'))).toEqual([]);
    expect(run.stdout).toMatch(/^(\d+) of \1 tests passed$/m);
    expect(run.status).toBe(0);
  });

  it('has its version in its header, as inventories show it', () => {
    const text = readFileSync(new URL('sitefleet-guard.php', root), 'utf8');
    const [header, own] = [/^ \* Version: (\S+)$/m, /const VERSION\s*= '(.*)'/].map((place) => place.exec(text)?.[1]);
    expect(header).toBe(own);
  });

  it('is valid PHP without a word of output', () => {
    const file = fileURLToPath(new URL('sitefleet-guard.php', root));
    expect(execFileSync(PHP, ['-r', `define('ABSPATH', '/'); require '${file}';`], { encoding: 'utf8' })).toBe('');
    expect(execFileSync(PHP, [file], { encoding: 'utf8' })).toBe('');
  });
});
