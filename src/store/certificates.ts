/** Certificates of sites as they were last seen. Whether one still holds depends on the time: it is asked when reading. */

import type { Db, Row, Value } from './db.js';
import { sql } from './db.js';
import { sitePredicate } from './site-filter.js';

export type CertificateStatus = 'valid' | 'expiring' | 'expired' | 'invalid' | 'unknown';

export interface CertificateRow extends Row {
  site_id: number;
  url: string;
  name: string;
  ssl_verify: number;
  /** By the clock of the reader. */
  status: CertificateStatus;
  issuer_o: string | null;
  issuer_cn: string | null;
  subject_cn: string | null;
  /** JSON array. */
  subject_alt_names: string | null;
  serial: string | null;
  signature_algorithm: string | null;
  fingerprint: string | null;
  valid_from: number | null;
  valid_to: number | null;
  error: string | null;
  last_check: number | null;
}

export interface SeenCertificate {
  /** Trusted chain and right name, whatever the dates. */
  trusted: boolean;
  issuer_o: string | null;
  issuer_cn: string | null;
  subject_cn: string | null;
  subject_alt_names: readonly string[];
  serial: string;
  signature_algorithm: string | null;
  fingerprint: string;
  valid_from: number;
  valid_to: number;
  error: string | null;
}

export interface CertificateFilter {
  /** OR-ed; empty = all. */
  status: readonly CertificateStatus[];
  search?: string | undefined;
  include?: readonly number[] | undefined;
  exclude?: readonly number[] | undefined;
  denied: readonly number[];
}

/** Instants that the statuses are told by. */
export interface CertificateClock {
  now: number;
  /** A certificate that ends before this is `expiring`. */
  expiring: number;
}

const STATUS = `CASE WHEN c.valid_to IS NULL THEN 'unknown' WHEN c.valid_to <= ? THEN 'expired' WHEN c.status = 'invalid' THEN 'invalid'
  WHEN c.valid_to <= ? THEN 'expiring' ELSE 'valid' END`;
const COLUMNS = `s.id AS site_id, s.url, s.name, d.ssl_verify, ${STATUS} AS status, c.issuer_o, c.issuer_cn, c.subject_cn, c.subject_alt_names,
  c.serial, c.signature_algorithm, c.fingerprint, c.valid_from, c.valid_to, c.error, c.last_check`;
const OF_SITE = 'JOIN site_detail d ON d.site_id = s.id LEFT JOIN site_certificate c ON c.site_id = s.id';

export function createCertificates(db: Db) {
  return {
    /** Sites whose certificate is to be looked at, most overdue first. Suspended sites wait. */
    due(at: CertificateClock, limit: number): Promise<CertificateRow[]> {
      return db.all<CertificateRow>(
        `SELECT ${COLUMNS} FROM (SELECT p.site_id, p.next_check_at FROM certificate_plan p JOIN site x ON x.id = p.site_id
           WHERE p.next_check_at <= ? AND x.suspended = 0 ORDER BY p.next_check_at, p.site_id LIMIT ?) k
         JOIN site s ON s.id = k.site_id ${OF_SITE} ORDER BY k.next_check_at, s.id`,
        // The statuses of the column list come first in the text.
        [at.now, at.expiring, at.now, limit],
      );
    },

    one(siteId: number, at: CertificateClock): Promise<CertificateRow | undefined> {
      return db.one<CertificateRow>(`SELECT ${COLUMNS} FROM site s ${OF_SITE} WHERE s.id = ?`, [
        at.now,
        at.expiring,
        siteId,
      ]);
    },

    /** One page in URL order with the true total. */
    async list(
      filter: CertificateFilter,
      at: CertificateClock,
      page: number,
      perPage: number,
    ): Promise<{ items: CertificateRow[]; total: number }> {
      const base = sitePredicate({
        search: filter.search,
        ids: filter.include,
        exclude: filter.exclude,
        denied: filter.denied,
      });
      const byStatus = filter.status.length > 0;
      const where = byStatus ? `${base.where} AND ${STATUS} IN (SELECT value FROM json_each(?))` : base.where;
      const args: Value[] = byStatus
        ? [...base.args, at.now, at.expiring, JSON.stringify(filter.status)]
        : [...base.args];
      const [items = [], counts = []] = await db.read([
        sql(
          `SELECT ${COLUMNS} FROM site s ${OF_SITE} WHERE ${where} ORDER BY s.url_key, s.id LIMIT ? OFFSET ?`,
          at.now,
          at.expiring,
          ...args,
          perPage,
          Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER),
        ),
        byStatus
          ? sql(`SELECT count(*) AS n FROM site s ${OF_SITE} WHERE ${where}`, ...args)
          : sql(`SELECT count(*) AS n FROM site s WHERE ${where}`, ...args),
      ]);
      return { items: items as CertificateRow[], total: Number(counts[0]?.n ?? 0) };
    },

    /** Stores looks and the next time of each. A look that saw no certificate keeps what is known and notes why. */
    async save(
      looks: readonly {
        site_id: number;
        seen: SeenCertificate | null;
        error: string | null;
        /** Nothing is known any more: the site has no TLS. */
        forget: boolean;
        next_check_at: number;
      }[],
      now: number,
    ): Promise<void> {
      await db.batch(
        looks.flatMap(({ site_id, seen, error, forget, next_check_at }) => [
          seen === null ? missedStatement(site_id, error, forget, now) : seenStatement(site_id, seen, now),
          sql('UPDATE certificate_plan SET next_check_at = ? WHERE site_id = ?', next_check_at, site_id),
        ]),
      );
    },
  };
}

function seenStatement(siteId: number, seen: SeenCertificate, now: number) {
  const inDate = seen.valid_from <= now && now < seen.valid_to;
  return sql(
    `INSERT INTO site_certificate (site_id, status, good, issuer_o, issuer_cn, subject_cn, subject_alt_names, serial, signature_algorithm,
       fingerprint, valid_from, valid_to, error, last_check) SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM site WHERE id = ?
     ON CONFLICT (site_id) DO UPDATE SET status = excluded.status, good = excluded.good, issuer_o = excluded.issuer_o,
       issuer_cn = excluded.issuer_cn, subject_cn = excluded.subject_cn, subject_alt_names = excluded.subject_alt_names,
       serial = excluded.serial, signature_algorithm = excluded.signature_algorithm, fingerprint = excluded.fingerprint,
       valid_from = excluded.valid_from, valid_to = excluded.valid_to, error = excluded.error, last_check = excluded.last_check`,
    seen.trusted && now >= seen.valid_from ? 'valid' : 'invalid',
    seen.trusted && inDate,
    seen.issuer_o,
    seen.issuer_cn,
    seen.subject_cn,
    JSON.stringify(seen.subject_alt_names),
    seen.serial,
    seen.signature_algorithm,
    seen.fingerprint,
    seen.valid_from,
    seen.valid_to,
    seen.error,
    now,
    siteId,
  );
}

function missedStatement(siteId: number, error: string | null, forget: boolean, now: number) {
  return sql(
    `INSERT INTO site_certificate (site_id, status, error, last_check) SELECT id, 'unknown', ?, ? FROM site WHERE id = ?
     ON CONFLICT (site_id) DO UPDATE SET error = excluded.error, last_check = excluded.last_check${
       forget
         ? `, status = 'unknown', good = 0, issuer_o = NULL, issuer_cn = NULL, subject_cn = NULL, subject_alt_names = '[]', serial = NULL,
       signature_algorithm = NULL, fingerprint = NULL, valid_from = NULL, valid_to = NULL`
         : ''
     }`,
    error,
    now,
    siteId,
  );
}
