import { X509Certificate } from 'node:crypto';
import { checkServerIdentity, type PeerCertificate, type SecureContext, type TLSSocket } from 'node:tls';
import { dial } from './dial.js';
import { failureOf, StepFailure, tlsReason } from './failure.js';
import type { Names } from './names.js';
import type { CertificateAnswer, CertificateFacts, CertificateProbe } from './probe.js';
import { signatureAlgorithm } from './signature-algorithm.js';
import { line, lineOrNull } from './text.js';

/** Maximum names kept of one certificate: large shared ones contain hundreds. */
const MAX_NAMES = 200;

/** A handshake that reads the certificate even if it is not trusted; no byte of application data is sent. */
export async function probeCertificate(
  parts: { names: Names; context: SecureContext },
  probe: CertificateProbe,
): Promise<CertificateAnswer> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), probe.timeoutMs);
  let ip = '';
  try {
    const dialled = await dial(parts.names, {
      host: probe.host,
      port: probe.port,
      tls: { context: parts.context, verify: false },
      signal: AbortSignal.any([probe.signal, limit.signal]),
    });
    ip = dialled.ip;
    try {
      return { facts: read(dialled.socket as TLSSocket, probe.host), ip, failure: null };
    } finally {
      dialled.socket.destroy();
    }
  } catch (error) {
    if (probe.signal.aborted) throw probe.signal.reason;
    const where = `${probe.host}:${probe.port}`;
    const failure = limit.signal.aborted
      ? {
          kind: 'timed_out' as const,
          message: `${where} did not finish a TLS handshake within ${probe.timeoutMs / 1000} s.`,
        }
      : failureOf(error, where);
    return { facts: null, ip, failure };
  } finally {
    clearTimeout(timer);
  }
}

function read(socket: TLSSocket, host: string): CertificateFacts {
  const peer = socket.getPeerCertificate(false);
  const raw = peer.raw as Buffer | undefined;
  if (raw === undefined) throw new StepFailure('tls', `${host} presents no certificate.`);
  const certificate = new X509Certificate(raw);
  const from = Date.parse(certificate.validFrom);
  const to = Date.parse(certificate.validTo);
  return {
    issuer_o: lineOrNull(one(peer.issuer?.O), 200),
    issuer_cn: lineOrNull(one(peer.issuer?.CN), 200),
    subject_cn: lineOrNull(one(peer.subject?.CN), 255),
    subject_alt_names: alternativeNames(peer),
    serial: line(certificate.serialNumber, 64),
    signature_algorithm: signatureAlgorithm(raw),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    valid_from: Number.isNaN(from) ? 0 : from,
    valid_to: Number.isNaN(to) ? 0 : to,
    untrusted: untrusted(socket, from, to),
    names_host: checkServerIdentity(host, peer) === undefined,
  };
}

/**
 * Why OpenSSL does not trust the chain. It checks dates by the machine's clock; those of the leaf are left to the
 * caller, who has its own clock.
 */
function untrusted(socket: TLSSocket, validFrom: number, validTo: number): string | null {
  const error: unknown = socket.authorizationError;
  if (socket.authorized || error === null || error === undefined) return null;
  const code = typeof error === 'string' ? error : String((error as { code?: unknown }).code ?? 'unknown');
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return null;
  if (code === 'CERT_HAS_EXPIRED') return validTo <= Date.now() ? null : 'a certificate of the chain has expired';
  if (code === 'CERT_NOT_YET_VALID')
    return validFrom > Date.now() ? null : 'a certificate of the chain is not valid yet';
  return tlsReason(code);
}

/** A repeated attribute arrives as an array. */
function one(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}

function alternativeNames(peer: PeerCertificate): string[] {
  const text = (peer as { subjectaltname?: string }).subjectaltname ?? '';
  // Node quotes names that could be mistaken for several.
  const members = text.match(/(?:[^",]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return members
    .map((member) => line(member.trim().replace(/^(?:DNS|IP Address):/, ''), 255))
    .filter((name) => name !== '')
    .slice(0, MAX_NAMES);
}
