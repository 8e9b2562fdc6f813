/**
 * The probe port: what the monitors ask of the network apart from the child protocol. `create.ts` implements it. What a site or registry does is an answer, never a rejection:
 * calls reject only when they were cancelled.
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
  /** Not HTTP, a broken answer, or redirects without end. */
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
  /** From the request sent until the headers came. */
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
  /** Statuses that answer the question: a redirect with one of them is not followed. */
  expected: readonly number[];
  /** Most bytes of body to read; the rest is not asked for. 0 = headers only. */
  maxBytes: number;
  signal: AbortSignal;
}

export interface HttpAnswer {
  /** 0 = no HTTP answer. */
  http_status: number;
  /** `Retry-After` header, '' when none. */
  retry_after: string;
  /** First bytes of the body as text in its own charset. A stranger's text: match it, never show it. */
  body: string;
  /** The body was longer than `maxBytes`. */
  truncated: boolean;
  /** Address of the last hop, '' when none was reached. */
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

/** A certificate as the server showed it, whether or not it can be trusted. Text is cleaned and capped. */
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
  /** Why the chain is not trusted, null when it is; leaf dates left out, they are judged by the caller's clock. */
  untrusted: string | null;
  /** False when the certificate does not name the host. */
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
  /** Registry status words, `client transfer prohibited`. */
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
  /** The registry's record of a registrable domain: RDAP, or WHOIS where the registry has no RDAP or it fails. */
  domain(name: string, signal: AbortSignal): Promise<DomainAnswer>;
  /** The part of a host name that is registered: `shop.example.co.uk` → `example.co.uk`; null for addresses, `localhost` and private names. */
  registrableDomain(host: string): string | null;
  /** Is our own network up? True when any of the reference addresses answers. */
  online(signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}
