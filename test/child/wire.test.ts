import { createPrivateKey, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChildParams } from '../../src/outbound/child/port.js';
import { encodeForm, passwordValue } from '../../src/outbound/child/wire/form.js';
import { readFrame } from '../../src/outbound/child/wire/frame.js';
import { generateKey, newNonce, SIGN_ALGOS, Signer } from '../../src/outbound/child/wire/sign.js';
import wire from './wire.json' with { type: 'json' };

/** Parses a body as PHP does: form decoding, brackets into nested maps. */
function phpDecode(body: string): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(body)) {
    const keys = [name.replace(/\[.*$/s, ''), ...[...name.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? '')];
    let place = root;
    for (const key of keys.slice(0, -1)) {
      place[key] ??= {};
      place = place[key] as Record<string, unknown>;
    }
    place[keys.at(-1) ?? ''] = value;
  }
  return root;
}

describe('request bodies', () => {
  it.each(wire.calls)('builds the body a real child accepted: $function', (call) => {
    const fields = { user: 'admin4', function: call.function, nonce: call.nonce, mainwpver: '6.1.2' };
    const params = call.params as ChildParams;
    const body = encodeForm({ ...fields, ...params, sign_algo: SIGN_ALGOS.SHA256, mainwpsignature: call.signature });
    expect(body).toBe(call.body);
  });

  it('builds the registration a real child accepted, password and all', () => {
    expect(`userpwd=${wire.password.wire}`).toBe(encodeForm({ userpwd: passwordValue(wire.password.plain) }));
    const body = encodeForm({
      user: 'admin4',
      function: 'register',
      mainwpver: '6.1.2',
      pubkey: wire.public_key,
      server: 'http://127.0.0.1:9999/wp-admin/',
      uniqueId: '',
      userpwd: passwordValue(wire.password.plain),
    });
    expect(body).toBe(wire.register_body);
  });

  it('nests in brackets, numbers flags, sends nothing for what is empty', () => {
    const body = encodeForm({
      a: { b: 1, c: { d: 'x y' } },
      list: ['p', 7],
      yes: true,
      no: false,
      none: {},
      empty: [],
    });
    expect(decodeURIComponent(body)).toBe('a[b]=1&a[c][d]=x y&list[0]=p&list[1]=7&yes=1&no=0');
  });

  it('decodes to what went in, whatever the text', () => {
    const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/).filter((name) => name !== '__proto__');
    const text = fc.string({ unit: 'binary' });
    const tree = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof({ depthSize: 'small' }, text, fc.dictionary(key, tie('node'), { minKeys: 1, maxKeys: 3 })),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, tree.node, { maxKeys: 5 }), (params) => {
        expect(phpDecode(encodeForm(params as ChildParams))).toEqual({ ...params });
      }),
    );
  });

  it('does not throw on half a surrogate pair', () => {
    expect(encodeForm({ t: 'a\uD800b' })).toBe('t=a%EF%BF%BDb');
  });

  it('passwords survive both decodings', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (password) => {
        const once = new URLSearchParams(encodeForm({ userpwd: passwordValue(password) })).get('userpwd') ?? '';
        // WordPress adds slashes before quotes in between: there must be nothing to escape.
        expect(once).not.toMatch(/['"\\\0]/);
        expect(decodeURIComponent(once)).toBe(password);
      }),
    );
  });
});

describe('signatures', () => {
  it.each(wire.calls)('covers function and nonce as a real child checks it: $function', (call) => {
    const data = Buffer.from(call.function + call.nonce);
    expect(verify('sha256', data, createPublicKey(wire.public_key), Buffer.from(call.signature, 'base64'))).toBe(true);
  });

  it('signs so that the public half verifies', async () => {
    const pair = await generateKey();
    expect(pair.public_key).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
    expect(pair.private_key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    const signature = Buffer.from(await new Signer().sign(pair.private_key, 'stats', 'abc'), 'base64');
    expect(verify('sha256', Buffer.from('statsabc'), pair.public_key, signature)).toBe(true);
    expect(verify('sha256', Buffer.from('statsabd'), pair.public_key, signature)).toBe(false);
  });

  it('keeps a bounded number of parsed keys and still signs with those that left', async () => {
    const pairs = await Promise.all([generateKey(), generateKey(), generateKey()]);
    const signer = new Signer(2);
    const signAll = () => Promise.all(pairs.map((pair) => signer.sign(pair.private_key, 'f', '1')));
    const first = await signAll();
    expect(signer.size).toBe(2);
    expect(await signAll()).toEqual(first);
  });

  it.each([
    ['2048 bits, PKCS#8', 2048, 'pkcs8'],
    ['2048 bits, PKCS#1, as a key that was brought along may be', 2048, 'pkcs1'],
    ['512 bits, whose lengths are shorter', 512, 'pkcs8'],
    // Generating one of 4096 bits takes seconds.
    ['3072 bits, longer than ours', 3072, 'pkcs8'],
  ] as const)('reads a key of %s', async (_, modulusLength, type) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength });
    const pem = privateKey.export({ type, format: 'pem' }) as string;
    for (const text of [pem, pem.replaceAll('\n', '\r\n')]) {
      const signature = Buffer.from(await new Signer().sign(text, 'stats', 'abc'), 'base64');
      expect(verify('sha256', Buffer.from('statsabc'), publicKey, signature)).toBe(true);
    }
  });

  it('refuses a key of another kind, and one that is cut off', async () => {
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
    const { private_key } = await generateKey();
    const lines = private_key.split('\n');
    const cut = [...lines.slice(0, 10), ...lines.slice(-2)].join('\n');
    for (const pem of [ec as string, cut, '-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n'])
      await expect(new Signer().sign(pem, 'f', '1')).rejects.toMatchObject({ kind: 'refused' });
  });

  it('refuses a key that can be read but not used', async () => {
    const numbers = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
    const key = createPrivateKey({ key: { ...numbers, q: 'Ag' }, format: 'jwk' });
    for (const type of ['pkcs8', 'pkcs1'] as const) {
      const pem = key.export({ type, format: 'pem' }) as string;
      await expect(new Signer().sign(pem, 'f', '1')).rejects.toMatchObject({ kind: 'refused' });
    }
  });

  it('says what is wrong with an unreadable key without quoting it', async () => {
    await expect(new Signer().sign('-----BEGIN secret', 'f', '1')).rejects.toMatchObject({
      kind: 'refused',
      message: expect.not.stringContaining('secret'),
    });
  });

  it('makes nonces of 32 hex digits, never the same', () => {
    const nonces = Array.from({ length: 100 }, newNonce);
    expect(nonces.every((nonce) => /^[0-9a-f]{32}$/.test(nonce))).toBe(true);
    expect(new Set(nonces).size).toBe(100);
  });
});

const framed = (value: unknown): string => `<mainwp>${Buffer.from(JSON.stringify(value)).toString('base64')}</mainwp>`;

describe('frames', () => {
  it.each(wire.frames)('reads $body', ({ body, decoded }) => {
    expect(readFrame(Buffer.from(body))).toEqual(decoded);
  });

  it('finds the frame in any junk', () => {
    const junk = fc.string({ unit: 'binary' }).filter((text) => !text.includes('<mainwp>'));
    fc.assert(
      fc.property(junk, fc.jsonValue(), junk, (before, value, after) => {
        const body = Buffer.from(before + framed(value) + after);
        expect(readFrame(body)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('takes the last readable of several frames', () => {
    const body = `${framed({ n: 1 })}notice${framed({ n: 2 })}<mainwp>@@@</mainwp><mainwp></mainwp>`;
    expect(readFrame(Buffer.from(body))).toEqual({ n: 2 });
  });

  it('says nothing of a body without a frame', () => {
    expect(readFrame(Buffer.from('<html>maintenance</html>'))).toBeUndefined();
    expect(readFrame(Buffer.alloc(0))).toBeUndefined();
  });

  it.each([
    ['<mainwp></mainwp>', 'empty'],
    ['x<mainwp>eyJ', 'cut short'],
    ['<mainwp>bm90IGpzb24=</mainwp>', 'JSON'],
    [
      framed('[').replace(/<mainwp>.*<\/mainwp>/, `<mainwp>${Buffer.from('{"a":"b').toString('base64')}</mainwp>`),
      'JSON',
    ],
  ])('names what is wrong with %s', (body, word) => {
    expect(() => readFrame(Buffer.from(body))).toThrow(
      expect.objectContaining({ kind: 'bad_answer', message: expect.stringContaining(word) }),
    );
  });

  it('refuses structures that are small to send and huge to hold, before building them', () => {
    const deep = `<mainwp>${Buffer.from('['.repeat(100_000)).toString('base64')}</mainwp>`;
    expect(() => readFrame(Buffer.from(deep))).toThrow(
      expect.objectContaining({ message: expect.stringContaining('nested') }),
    );
    const wide = `<mainwp>${Buffer.from(`[${'[],'.repeat(600_000)}0]`).toString('base64')}</mainwp>`;
    expect(() => readFrame(Buffer.from(wide))).toThrow(
      expect.objectContaining({ message: expect.stringContaining('parts') }),
    );
    const brackets = { text: `${'[{'.repeat(1000)}\\"[` };
    expect(readFrame(Buffer.from(framed(brackets)))).toEqual(brackets);
  });

  it('leaves prototypes alone', () => {
    const body = `<mainwp>${Buffer.from('{"__proto__":{"polluted":1}}').toString('base64')}</mainwp>`;
    const value = readFrame(Buffer.from(body)) as Record<string, unknown>;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
