import { describe, expect, it } from 'vitest';
import { selfSigned } from '../../src/demo/certificate.js';
import { createProbe } from '../../src/outbound/probe/create.js';
import { closing } from '../support/cleanup.js';
import { ALWAYS, OVER, TO_COME } from '../support/dates.js';
import { authority } from './authority.js';
import { tcpServer, tlsServer } from './servers.js';

const ca = authority();
const probeThatTrusts = (...roots: string[]) =>
  createProbe({
    allowPrivate: true,
    references: [],
    ca: roots,
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  });
const probe = closing(probeThatTrusts(ca.root));

const look = (host: string, port: number, timeoutMs = 3_000, by = probe) =>
  by.certificate({ host, port, timeoutMs, signal: new AbortController().signal });

describe('a look at a certificate', () => {
  it('reads a good one whole', async () => {
    const port = await tlsServer(ca.issue({ host: 'good.example', notAfter: Date.UTC(2095, 0, 2, 3, 4, 5) }));
    const { facts, failure, ip } = await look('good.example', port);
    expect(failure).toBeNull();
    expect(ip).toBe('127.0.0.1');
    expect(facts).toMatchObject({
      issuer_o: 'Test Authority',
      issuer_cn: 'Test Root',
      subject_cn: 'good.example',
      subject_alt_names: ['good.example'],
      signature_algorithm: 'ECDSA-SHA256',
      valid_from: ALWAYS.notBefore,
      valid_to: Date.UTC(2095, 0, 2, 3, 4, 5),
      untrusted: null,
      names_host: true,
    });
    expect(facts?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(facts?.serial).toMatch(/^01[0-9A-F]{16}$/);
  });

  it('reads an untrusted certificate, and says why it is not trusted', async () => {
    const port = await tlsServer(selfSigned({ host: 'self.example', ...ALWAYS }));
    const { facts } = await look('self.example', port);
    expect(facts).toMatchObject({
      subject_cn: 'self.example',
      signature_algorithm: 'RSA-SHA256',
      untrusted: 'the certificate is self-signed',
      names_host: true,
    });
  });

  it('sees an incomplete chain, and a complete one', async () => {
    const leaf = ca.issue({ host: 'deep.example' }, { deep: true });
    const incomplete = await look('deep.example', await tlsServer(leaf));
    expect(incomplete.facts?.untrusted).toMatch(/chain/);
    const whole = await tlsServer({ key: leaf.key, cert: `${leaf.cert}${ca.intermediate}` });
    expect((await look('deep.example', whole)).facts?.untrusted).toBeNull();
  });

  it.each([
    ['is over', OVER],
    ['is to come', TO_COME],
  ])('leaves the dates of the leaf to the caller, and sees a wrong name beside them: it %s', async (_, dates) => {
    const port = await tlsServer(ca.issue({ host: 'old.example', ...dates }));
    expect((await look('old.example', port)).facts).toMatchObject({
      valid_from: dates.notBefore,
      valid_to: dates.notAfter,
      untrusted: null,
      names_host: true,
    });
    expect((await look('other.example', port)).facts).toMatchObject({ untrusted: null, names_host: false });
  });

  it.each([
    ['has expired', OVER],
    ['is not valid yet', TO_COME],
  ])('sees that another one of the chain %s', async (words, dates) => {
    const other = authority(dates);
    const leaf = other.issue({ host: 'deep.example' }, { deep: true });
    const port = await tlsServer({ key: leaf.key, cert: `${leaf.cert}${other.intermediate}` });
    const own = probeThatTrusts(other.root);
    const { facts } = await look('deep.example', port, undefined, own);
    await own.close();
    expect(facts?.untrusted).toBe(`a certificate of the chain ${words}`);
  });

  it('sends the name, so that the server can choose', async () => {
    const names: string[] = [];
    const one = ca.issue({ host: 'one.example' });
    const port = await tlsServer({
      ...one,
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    });
    await look('one.example', port);
    expect(names).toEqual(['one.example']);
  });

  it('has a reason when there is none to read', async () => {
    const plain = await tcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect((await look('plain.example', plain)).failure?.kind).toBe('tls');
    const silent = await tcpServer(() => undefined);
    expect((await look('silent.example', silent, 100)).failure?.kind).toBe('timed_out');
    expect((await look('closed.example', 9)).failure?.kind).toBe('unreachable');
  });
});
