/** A certificate chain like those public authorities issue today: P-384 root and intermediate, P-256 leaf. */

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

const DAY = 86_400_000;
const ECDSA_SHA384 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03));
const BASIC_CONSTRAINTS = oid(0x55, 0x1d, 0x13);
const ALTERNATIVE_NAME = oid(0x55, 0x1d, 0x11);
const TRUE = Buffer.from([0x01, 0x01, 0xff]);

interface Issuer {
  name: string;
  key: KeyObject;
}

/** PEM key and chain for a server on 127.0.0.1, and the root that a client must trust. */
export function certificateChain(): { key: string; cert: string; root: string } {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const middle = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rootIssuer = { name: 'Bench Root', key: root.privateKey };
  const middleIssuer = { name: 'Bench Intermediate', key: middle.privateKey };
  const authority = sequence(BASIC_CONSTRAINTS, TRUE, octets(sequence(TRUE)));
  const address = sequence(ALTERNATIVE_NAME, octets(sequence(der(0x87, Buffer.from([127, 0, 0, 1])))));
  return {
    key: String(leaf.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    cert:
      certificate(middleIssuer, '127.0.0.1', leaf.publicKey, address) +
      certificate(rootIssuer, middleIssuer.name, middle.publicKey, authority),
    root: certificate(rootIssuer, rootIssuer.name, root.publicKey, authority),
  };
}

function certificate(issuer: Issuer, subject: string, key: KeyObject, extension: Buffer): string {
  const now = Date.now();
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA384,
    commonName(issuer.name),
    sequence(time(now - DAY), time(now + 30 * DAY)),
    commonName(subject),
    key.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha384', body, issuer.key)]);
  const text = sequence(body, ECDSA_SHA384, der(0x03, signature)).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${(text.match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;
}

function commonName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))));
}

function time(ms: number): Buffer {
  return der(0x17, Buffer.from(`${new Date(ms).toISOString().slice(2, 19).replace(/\D/g, '')}Z`));
}

function oid(...bytes: number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function octets(content: Buffer): Buffer {
  return der(0x04, content);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const digits = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length, ...digits]), content]);
}
