/** Certificates of the sites: checked on a schedule or on request, and read from storage (REST §6.5). */

import type { CertificateAnswer } from '../../outbound/probe/probe.js';
import { ServiceError } from '../../runtime/errors.js';
import { type Alert, emitAlerts } from '../../runtime/events.js';
import { isoTime } from '../../runtime/iso-time.js';
import type {
  CertificateFilter,
  CertificateRecord,
  CertificateRow,
  SeenCertificate,
} from '../../store/monitoring/certificates.js';
import type { SiteRecord } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import { daysLeft, expiryClock, expiryStep } from './expiry.js';
import { nextTurn } from './settings.js';

/** Any handshake that succeeds is over long before (REST §6.5). */
const HANDSHAKE_MS = 10_000;
const DAILY_MIN = 24 * 60;
/** A server that did not complete the handshake is checked again sooner. */
const RETRY_MS = 4 * 3_600_000;

/** As shown to callers. `days_left` is negative once it has expired. */
function view(row: CertificateRow, now: number) {
  return {
    id: row.site_id,
    url: row.url,
    name: row.name,
    issuer_o: row.issuer_o,
    issuer_cn: row.issuer_cn,
    subject_cn: row.subject_cn,
    subject_alt_names: JSON.parse(row.subject_alt_names ?? '[]') as string[],
    serial: row.serial,
    signature_algorithm: row.signature_algorithm,
    fingerprint_sha256: row.fingerprint,
    valid_from: isoTime(row.valid_from),
    valid_to: isoTime(row.valid_to),
    days_left: row.valid_to === null ? null : daysLeft(row.valid_to, now),
    status: row.status,
    error: row.error,
    last_check: isoTime(row.last_check),
  };
}

export type CertificateView = ReturnType<typeof view>;

export async function listCertificates(
  ctx: Ctx,
  filter: CertificateFilter,
  page: number,
  perPage: number,
): Promise<{ items: CertificateView[]; total: number }> {
  requireModule(ctx, 'ssl-monitor');
  const now = ctx.clock.now();
  const { items, total } = await ctx.store.certificates.list(filter, expiryClock(now), page, perPage);
  return { items: items.map((row) => view(row, now)), total };
}

export async function getCertificate(ctx: Ctx, siteId: number): Promise<CertificateView> {
  requireModule(ctx, 'ssl-monitor');
  return view(await rowOf(ctx, siteId), ctx.clock.now());
}

async function rowOf(ctx: Ctx, siteId: number): Promise<CertificateRow> {
  const row = await ctx.store.certificates.one(siteId, expiryClock(ctx.clock.now()));
  if (row !== undefined) return row;
  throw new ServiceError('svc_site_not_found', `Site ${siteId} has been removed in the meantime.`, {
    data: { site_id: siteId },
  });
}

/** Checks the certificate now and stores the result. An unreachable server is a result: `error` has the reason. */
export async function checkCertificate(ctx: Ctx, siteId: number): Promise<CertificateView> {
  requireModule(ctx, 'ssl-monitor');
  const row = await rowOf(ctx, siteId);
  await storeCertificates(ctx, [await probeCertificate(ctx, row)], null);
  return getCertificate(ctx, siteId);
}

/**
 * Checks the certificate of a site for the first time, right after the site was added or first synced, so that its
 * state is known. Never fails: the timetable tries again.
 */
export async function firstCertificateLook(ctx: Ctx, site: SiteRecord): Promise<void> {
  const wanted = ctx.config.modules.includes('ssl-monitor') && site.suspended === 0 && site.url.startsWith('https:');
  if (!wanted || site.certificate_checked_at !== null) return;
  try {
    const row = await rowOf(ctx, site.id);
    await storeCertificates(ctx, [await probeCertificate(ctx, row)], null);
  } catch (err) {
    ctx.log.warn({ site_id: site.id, err }, "a site's certificate could not be checked");
  }
}

export interface ProbedCertificate {
  row: CertificateRow;
  /** Null: the site is served without TLS. */
  answer: CertificateAnswer | null;
}

export async function probeCertificate(ctx: Ctx, row: CertificateRow): Promise<ProbedCertificate> {
  const url = new URL(row.url);
  if (url.protocol !== 'https:') return { row, answer: null };
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port) || 443;
  return { row, answer: await ctx.probe.certificate({ host, port, timeoutMs: HANDSHAKE_MS, signal: ctx.signal }) };
}

/**
 * Stores results, and raises the alerts that are due: each one once per certificate.
 * @param claim until when the sites were claimed; null for a manual check
 */
export async function storeCertificates(
  ctx: Ctx,
  checks: readonly ProbedCertificate[],
  claim: number | null,
): Promise<{ stored: number; alerts: number }> {
  if (checks.length === 0) return { stored: 0, alerts: 0 };
  const now = ctx.clock.now();
  const stored = await ctx.store.certificates.save(
    checks.map((check) => ({ ...recordOf(check, now), claim })),
    now,
  );
  const kept = checks.filter(({ row }) => stored.has(row.site_id));
  for (const { row, answer } of kept) {
    const fingerprint = answer?.facts?.fingerprint;
    if (fingerprint === undefined || row.fingerprint === null || row.fingerprint === fingerprint) continue;
    ctx.events.emit({
      name: 'certificate.changed',
      site_id: row.site_id,
      facts: { fingerprint, previous: row.fingerprint },
    });
  }
  const alerts = await ctx.store.alerts.add(kept.flatMap((check) => alertsOf(check, now)));
  emitAlerts(ctx.events, alerts);
  return { stored: kept.length, alerts: alerts.length };
}

function recordOf({ row, answer }: ProbedCertificate, now: number): Omit<CertificateRecord, 'claim'> {
  const turn = nextTurn(now, DAILY_MIN, phaseOf(row.site_id));
  const base = { site_id: row.site_id, seen: null, forget: false, error: null };
  if (answer === null)
    return { ...base, error: 'The site is served over plain HTTP.', forget: true, next_check_at: turn };
  if (answer.facts === null)
    return { ...base, error: answer.failure.message, next_check_at: Math.min(turn, now + RETRY_MS) };
  return { ...base, seen: seenCertificate(answer.facts, now), next_check_at: turn };
}

function phaseOf(siteId: number): number {
  return (siteId * 0.6180339887498949) % 1;
}

function seenCertificate(facts: NonNullable<CertificateAnswer['facts']>, now: number): SeenCertificate {
  const { untrusted, names_host, ...rest } = facts;
  const problems = problemsOf(facts, now);
  return { ...rest, trusted: untrusted === null && names_host, error: problems === '' ? null : problems };
}

/** The problems of a certificate as one text; '' if there are none. */
function problemsOf(facts: NonNullable<CertificateAnswer['facts']>, now: number): string {
  return [
    ...(facts.valid_to <= now ? ['The certificate has expired.'] : []),
    ...(facts.valid_from > now ? ['The certificate is not valid yet.'] : []),
    ...(facts.names_host ? [] : ['The certificate does not name this host.']),
    ...(facts.untrusted === null ? [] : [`The certificate is not trusted: ${facts.untrusted}.`]),
  ].join(' ');
}

type CertificateAlert = Alert<'certificate.expiring' | 'certificate.expired' | 'certificate.invalid'>;

/** At most one alert per check: expired takes precedence over invalid, which takes precedence over expiring. */
function alertsOf({ row, answer }: ProbedCertificate, now: number): CertificateAlert[] {
  const facts = answer?.facts;
  if (facts === null || facts === undefined) return [];
  const step = expiryStep(facts.valid_to, now);
  const wrong = facts.untrusted !== null || !facts.names_host || facts.valid_from > now;
  const alert = (kind: CertificateAlert['kind'], occasion: string): CertificateAlert => ({
    key: `certificate:${row.site_id}:${facts.fingerprint}:${occasion}`,
    kind,
    site_id: row.site_id,
    at: now,
    facts: {
      url: row.url,
      name: row.name,
      valid_to: isoTime(facts.valid_to),
      days_left: daysLeft(facts.valid_to, now),
      issuer: facts.issuer_o ?? facts.issuer_cn,
      problem: problemsOf(facts, now),
    },
  });
  if (step === 'expired') return [alert('certificate.expired', 'expired')];
  // Where the certificate check of a site is switched off, an unknown authority is expected.
  if (wrong && row.ssl_verify === 1) return [alert('certificate.invalid', 'invalid')];
  return step === null ? [] : [alert('certificate.expiring', String(step))];
}
