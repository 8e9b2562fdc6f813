/** TLS certificates of sites as they were last seen. Their status depends on the time, so it is computed when they are read. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import type { ListedSites } from '../sites/filter.js';
import { type ExpiryClock, expiryList } from './expiry-list.js';

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

export interface CertificateRecord {
  site_id: number;
  /** The claim it was checked under; null for a check that a user asked for. */
  claim: number | null;
  seen: SeenCertificate | null;
  error: string | null;
  /** What is known is deleted: the site has no TLS. */
  forget: boolean;
  next_check_at: number;
}

export type CertificateFilter = ListedSites<CertificateStatus>;

const STATUS = `CASE WHEN c.valid_to IS NULL THEN 'unknown' WHEN c.valid_to <= ? THEN 'expired' WHEN c.status = 'invalid' THEN 'invalid'
  WHEN c.valid_to <= ? THEN 'expiring' ELSE 'valid' END`;
const COLUMNS = `s.id AS site_id, s.url, s.name, d.ssl_verify, ${STATUS} AS status, c.issuer_o, c.issuer_cn, c.subject_cn, c.subject_alt_names,
  c.serial, c.signature_algorithm, c.fingerprint, c.valid_from, c.valid_to, c.error, c.last_check`;
const OF_SITE = 'JOIN site_detail d ON d.site_id = s.id LEFT JOIN site_certificate c ON c.site_id = s.id';

export function createCertificates(db: Db) {
  return {
    /**
     * Claims certificates that are due by `lapsed`, most overdue first, by moving their next check to `until` (see claims.ts):
     * at most `most`, and no more than this process's part. Suspended sites are left out.
     */
    async claim(
      at: ExpiryClock,
      until: number,
      { most, members, lapsed = at.now }: { most: number; members: number; lapsed?: number },
    ): Promise<CertificateRow[]> {
      const due =
        'FROM certificate_plan p JOIN site x ON x.id = p.site_id WHERE p.next_check_at <= ?2 AND x.suspended = 0';
      const claimed = await db.all(
        `UPDATE certificate_plan SET next_check_at = ?1 WHERE site_id IN (
           SELECT p.site_id ${due} ORDER BY p.next_check_at, p.site_id LIMIT CAST(min(?3,
             ((SELECT count(*) FROM (SELECT 1 ${due} LIMIT ?3 * ?4)) + ?4 - 1) / ?4) AS INTEGER)) RETURNING site_id`,
        [until, lapsed, most, members],
      );
      if (claimed.length === 0) return [];
      return db.all<CertificateRow>(
        `SELECT ${COLUMNS} FROM site s ${OF_SITE} WHERE s.id IN (SELECT value FROM json_each(?))`,
        // The statuses of the column list come first in the text.
        [at.now, at.expiring, JSON.stringify(claimed.map(({ site_id }) => Number(site_id)))],
      );
    },

    one(siteId: number, at: ExpiryClock): Promise<CertificateRow | undefined> {
      return db.one<CertificateRow>(`SELECT ${COLUMNS} FROM site s ${OF_SITE} WHERE s.id = ?`, [
        at.now,
        at.expiring,
        siteId,
      ]);
    },

    /** One page in URL order with the true total. */
    list(
      filter: CertificateFilter,
      at: ExpiryClock,
      page: number,
      perPage: number,
    ): Promise<{ items: CertificateRow[]; total: number }> {
      return expiryList(db, { columns: COLUMNS, status: STATUS, from: `site s ${OF_SITE}` }, filter, at, page, perPage);
    },

    /**
     * Stores checks and the time of the next ones; returns the sites of those that were stored. A check that saw no
     * certificate keeps what is known and records why. One whose claim went to another process is not stored.
     */
    async save(checks: readonly CertificateRecord[], now: number): Promise<Set<number>> {
      const results = await db.batch(
        checks.flatMap((check) => [
          check.seen === null ? missedStatement(check, now) : seenStatement(check, check.seen, now),
          // Last: it ends the claim.
          sql(
            `UPDATE certificate_plan SET next_check_at = ? WHERE site_id = ? AND next_check_at = coalesce(?, next_check_at)`,
            check.next_check_at,
            check.site_id,
            check.claim,
          ),
        ]),
      );
      return new Set(checks.filter((_, i) => results[2 * i + 1]?.changes === 1).map(({ site_id }) => site_id));
    },
  };
}

/** The site, while the claim is valid. */
const STANDS = 'FROM certificate_plan WHERE site_id = ? AND next_check_at = coalesce(?, next_check_at)';

function seenStatement({ site_id, claim }: CertificateRecord, seen: SeenCertificate, now: number) {
  const inDate = seen.valid_from <= now && now < seen.valid_to;
  return sql(
    `INSERT INTO site_certificate (site_id, status, good, issuer_o, issuer_cn, subject_cn, subject_alt_names, serial, signature_algorithm,
       fingerprint, valid_from, valid_to, error, last_check) SELECT site_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? ${STANDS}
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
    site_id,
    claim,
  );
}

function missedStatement({ site_id, claim, error, forget }: CertificateRecord, now: number) {
  return sql(
    `INSERT INTO site_certificate (site_id, status, error, last_check) SELECT site_id, 'unknown', ?, ? ${STANDS}
     ON CONFLICT (site_id) DO UPDATE SET error = excluded.error, last_check = excluded.last_check${
       forget
         ? `, status = 'unknown', good = 0, issuer_o = NULL, issuer_cn = NULL, subject_cn = NULL, subject_alt_names = '[]', serial = NULL,
       signature_algorithm = NULL, fingerprint = NULL, valid_from = NULL, valid_to = NULL`
         : ''
     }`,
    error,
    now,
    site_id,
    claim,
  );
}
