/** Reads the signature algorithm of a certificate from its DER: Node 20 does not expose it. */

const NAMES: Readonly<Record<string, string>> = {
  '2a864886f70d010104': 'RSA-MD5',
  '2a864886f70d010105': 'RSA-SHA1',
  '2a864886f70d01010a': 'RSA-PSS',
  '2a864886f70d01010b': 'RSA-SHA256',
  '2a864886f70d01010c': 'RSA-SHA384',
  '2a864886f70d01010d': 'RSA-SHA512',
  '2a8648ce3d0401': 'ECDSA-SHA1',
  '2a8648ce3d040302': 'ECDSA-SHA256',
  '2a8648ce3d040303': 'ECDSA-SHA384',
  '2a8648ce3d040304': 'ECDSA-SHA512',
  '2b6570': 'Ed25519',
  '2b6571': 'Ed448',
};

/** `Certificate ::= SEQUENCE { tbs, AlgorithmIdentifier { OID, … }, signature }`; null if it is unknown. */
export function signatureAlgorithm(der: Buffer): string | null {
  const certificate = element(der, 0);
  const body = certificate === null ? null : element(der, certificate.start);
  const algorithm = body === null ? null : element(der, body.end);
  const oid = algorithm === null ? null : element(der, algorithm.start);
  if (oid === null || oid.tag !== 0x06) return null;
  return NAMES[der.subarray(oid.start, oid.end).toString('hex')] ?? null;
}

function element(der: Buffer, at: number): { tag: number; start: number; end: number } | null {
  const tag = der[at];
  const first = der[at + 1];
  if (tag === undefined || first === undefined) return null;
  const digits = first < 0x80 ? 0 : first & 0x7f;
  if (digits > 4 || at + 2 + digits > der.length) return null;
  const length = digits === 0 ? first : der.readUIntBE(at + 2, digits);
  const start = at + 2 + digits;
  return start + length > der.length ? null : { tag, start, end: start + length };
}
