/**
 * The probe port: everything monitors need from the network apart from the child protocol. `create.ts` implements it.
 * What a site or registry does is a result, never a rejection: calls reject only if they were cancelled.
 */

export type ProbeMethod = 'HEAD' | 'GET' | 'POST' | 'PUSH' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

export type ProbeFailureKind =
  /** The host name does not resolve. */
  | 'dns'
  /** Refused, reset, no route. */
  | 'unreachable'
  | 'timed_out'
  | 'tls'
  /** The address is private, loopback, link-local or metadata, and that is not allowed. */
  | 'blocked_address'
  /** Not HTTP, an invalid response, or endless redirects. */
  | 'bad_answer';

export interface ProbeFailure {
  kind: ProbeFailureKind;
  /** One sentence, safe to show. */
  message: string;
}

/** Milliseconds of the last hop; null for a step that was not reached or not needed. */
export interface ProbeTiming {
  dns_ms: number | null;
  connect_ms: number | null;
  tls_ms: number | null;
  /** From sending the request to receiving the headers. */
  first_byte_ms: number | null;
  /** All hops and the body that was read. */
  total_ms: number;
}

export interface HttpProbe {
  url: string;
  method: ProbeMethod;
  http_user: string | null;
  http_pass: string | null;
  ssl_verify: boolean;
  /** The whole probe, redirects included. */
  timeoutMs: number;
  /** Statuses that count as final: a redirect with one of them is not followed. */
  expected: readonly number[];
  /** Maximum bytes of body to read. 0 = headers only. */
  maxBytes: number;
  signal: AbortSignal;
}

export interface HttpAnswer {
  /** 0 = no HTTP response. */
  http_status: number;
  /** `Retry-After` header, '' if absent. */
  retry_after: string;
  /** First bytes of the body as text in its own charset. Untrusted: match it, never show it. */
  body: string;
  /** The body was longer than `maxBytes`. */
  truncated: boolean;
  /** Address of the last hop, '' if none was reached. */
  ip: string;
  redirects: number;
  timing: ProbeTiming;
  failure: ProbeFailure | null;
}

export interface CertificateProbe {
  host: string;
  port: number;
  timeoutMs: number;
  signal: AbortSignal;
}

/** A certificate as presented by the server, trusted or not. Text is cleaned and bounded. */
export interface CertificateFacts {
  issuer_o: string | null;
  issuer_cn: string | null;
  subject_cn: string | null;
  subject_alt_names: string[];
  /** Upper-case hex. */
  serial: string;
  signature_algorithm: string | null;
  /** SHA-256 of the certificate, lower-case hex. */
  fingerprint: string;
  /** Milliseconds since the epoch. */
  valid_from: number;
  valid_to: number;
  /** Why the chain is not trusted, null if it is; ignores the leaf's dates, which are checked by the caller's clock. */
  untrusted: string | null;
  /** False if the certificate does not contain the host's name. */
  names_host: boolean;
}

export type CertificateAnswer =
  | { facts: CertificateFacts; ip: string; failure: null }
  | { facts: null; ip: string; failure: ProbeFailure };

export interface DomainFacts {
  /** Lower case, punycode. */
  domain_name: string;
  registrar: string | null;
  registrar_url: string | null;
  registrar_iana_id: string | null;
  /** Milliseconds since the epoch. */
  creation_date: number | null;
  updated_date: number | null;
  expiry_date: number | null;
  /** Registry status texts, `client transfer prohibited`. */
  domain_status: string[];
  name_servers: string[];
}

export type DomainAnswer =
  | { outcome: 'found'; source: 'rdap' | 'whois'; facts: DomainFacts }
  /** The registry answered that this domain is not registered. */
  | { outcome: 'not_found'; source: 'rdap' | 'whois'; message: string }
  /** Neither RDAP nor WHOIS serves this top-level domain. */
  | { outcome: 'unsupported'; message: string }
  | { outcome: 'rate_limited'; message: string; retryAfterMs: number }
  | { outcome: 'failed'; message: string };

export interface Probe {
  http(probe: HttpProbe): Promise<HttpAnswer>;
  /** Reads the certificate of a TLS server. Nothing is sent over the connection. */
  certificate(probe: CertificateProbe): Promise<CertificateAnswer>;
  /** The registry's record of a registrable domain: by RDAP, or by WHOIS if the registry has no RDAP or it fails. */
  domain(name: string, signal: AbortSignal): Promise<DomainAnswer>;
  /**
   * The registrable part of a host name: `shop.example.co.uk` → `example.co.uk`; null for addresses, `localhost` and
   * private names.
   */
  registrableDomain(host: string): string | null;
  /** Whether our own network is up: true if any of the reference addresses answers. */
  online(): Promise<boolean>;
  close(): Promise<void>;
}
