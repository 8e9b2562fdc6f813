/** A small certificate authority for tests: real X.509 using only Node, so that the tests run on a bare machine. */

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { ALWAYS } from '../support/dates.js';

const ECDSA_SHA256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));

export interface Issued {
  key: string;
  cert: string;
}

interface Signer {
  name: Buffer;
  key: KeyObject;
}

interface Dates {
  notBefore: number;
  notAfter: number;
}

export interface Leaf extends Partial<Dates> {
  host: string;
}

export interface Authority {
  /** The root's certificate, PEM. */
  root: string;
  /** The intermediate's certificate, PEM. */
  intermediate: string;
  /** Issues a certificate of the root or, with `deep`, of the intermediate. */
  issue(leaf: Leaf, options?: { deep?: boolean }): Issued;
}

/** Elliptic curve keys, because generating an RSA key takes a tenth of a second. */
const makeKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const leafKey = makeKeys();

/** @param middleDates validity of the intermediate's certificate */
export function authority(middleDates: Dates = ALWAYS): Authority {
  const rootKeys = makeKeys();
  const middleKeys = makeKeys();
  const root: Signer = { name: distinguishedName('Test Root', 'Test Authority'), key: rootKeys.privateKey };
  const middle: Signer = { name: distinguishedName('Test Intermediate', 'Test Authority'), key: middleKeys.privateKey };
  return {
    root: certificate({ subject: root.name, publicKey: rootKeys.publicKey, issuer: root, ca: true, ...ALWAYS }),
    intermediate: certificate({
      subject: middle.name,
      publicKey: middleKeys.publicKey,
      issuer: root,
      ca: true,
      ...middleDates,
    }),
    issue: (leaf, { deep = false } = {}) => ({
      key: String(leafKey.privateKey.export({ type: 'pkcs8', format: 'pem' })),
      cert: certificate({
        subject: distinguishedName(leaf.host),
        publicKey: leafKey.publicKey,
        issuer: deep ? middle : root,
        ca: false,
        ...ALWAYS,
        ...leaf,
      }),
    }),
  };
}

interface Body extends Dates {
  subject: Buffer;
  publicKey: KeyObject;
  issuer: Signer;
  ca: boolean;
  host?: string;
}

function certificate(body: Body): string {
  const extensions = [
    sequence(
      der(0x06, Buffer.from('551d13', 'hex')),
      der(0x01, Buffer.from([0xff])),
      der(0x04, body.ca ? sequence(der(0x01, Buffer.from([0xff]))) : sequence()),
    ),
    ...(body.host === undefined
      ? []
      : [sequence(der(0x06, Buffer.from('551d11', 'hex')), der(0x04, sequence(alternativeName(body.host))))]),
  ];
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    body.issuer.name,
    sequence(time(body.notBefore), time(body.notAfter)),
    body.subject,
    body.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', signed, body.issuer.key);
  const whole = sequence(signed, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName(commonName: string, organisation?: string): Buffer {
  const attribute = (oid: string, value: string) =>
    der(0x31, sequence(der(0x06, Buffer.from(oid, 'hex')), der(0x0c, Buffer.from(value))));
  return sequence(
    ...(organisation === undefined ? [] : [attribute('55040a', organisation)]),
    attribute('550403', commonName),
  );
}

function alternativeName(host: string): Buffer {
  const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(host);
  return isAddress ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
}

function time(millis: number): Buffer {
  const digits = `${new Date(millis).toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
  return digits < '2050' ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
