/** Alerts: the kinds of occasion that people hear of, each with its facts. Plain shapes, no zod. */

type MonitorFacts = { url: string; name: string; http_code: number | null; msg: string };

type CertificateFacts = {
  url: string;
  name: string;
  /** ISO time. */
  valid_to: string | null;
  days_left: number;
  issuer: string | null;
  problem: string;
};

type DomainFacts = { domain_name: string; site_ids: number[] };

type DomainExpiryFacts = DomainFacts & {
  /** ISO time. */
  expiry_date: string | null;
  /** Whole days left. */
  expires: number;
  registrar: string | null;
};

/** A new kind is one line here; the compiler then names every place that must know it. */
export type AlertFacts = {
  'monitor.down': MonitorFacts;
  'monitor.up': MonitorFacts;
  'monitor.flapping': MonitorFacts;
  'certificate.expiring': CertificateFacts;
  'certificate.expired': CertificateFacts;
  'certificate.invalid': CertificateFacts;
  'domain.expiring': DomainExpiryFacts;
  'domain.expired': DomainExpiryFacts;
  'domain.not_found': DomainFacts & { problem: string };
  'site.unhealthy': { health_score: number; threshold?: number };
  'site.http_check_failed': { http_status: number };
};

export type AlertKind = keyof AlertFacts;

/** A kind with the facts that belong to it. */
export type AlertContent = { [K in AlertKind]: { kind: K; facts: AlertFacts[K] } }[AlertKind];
