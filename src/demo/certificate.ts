import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface CertificateOptions {
  /** Host name or IPv4 address; also the common name. Default 127.0.0.1. */
  host?: string;
  /** Milliseconds since 1970. */
  notBefore: number;
  notAfter: number;
}

const OID_CN = [0x55, 0x04, 0x03];
const OID_SAN = [0x55, 0x1d, 0x11];
const OID_SHA256_RSA = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];

/** A self-signed certificate with its key, both PEM, for the `tls` option of a fleet. No client trusts it. */
export function selfSigned(options: CertificateOptions): { key: string; cert: string } {
  const host = options.host ?? '127.0.0.1';
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const algorithm = sequence(der(0x06, Buffer.from(OID_SHA256_RSA)), der(0x05, Buffer.alloc(0)));
  const name = sequence(der(0x31, sequence(der(0x06, Buffer.from(OID_CN)), der(0x0c, Buffer.from(host)))));
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(8)]);
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    algorithm,
    name,
    sequence(time(options.notBefore), time(options.notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(der(0x06, Buffer.from(OID_SAN)), der(0x04, sequence(alternativeName(host)))))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]);
  const certificate = sequence(body, algorithm, der(0x03, signature));
  return { key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), cert: pem(certificate) };
}

function alternativeName(host: string): Buffer {
  const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(host);
  return isAddress ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

/** Tag, length, content: the only construction of DER. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const digits = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length, ...digits]), content]);
}

/** UTCTime up to 2049, as X.509 wants it; GeneralizedTime after that. */
function time(millis: number): Buffer {
  const digits = `${new Date(millis).toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
  return digits < '2050' ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
