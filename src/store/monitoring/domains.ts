/** Registered domains: one record each, however many sites live under it. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import type { ListedSites } from '../sites/filter.js';
import { type ExpiryClock, expiryList } from './expiry-list.js';

export type DomainStatus = 'valid' | 'expiring' | 'expired' | 'unknown';

interface Registration {
  registrar: string | null;
  registrar_url: string | null;
  registrar_iana_id: string | null;
  creation_date: number | null;
  updated_date: number | null;
  expiry_date: number | null;
}

interface DomainFields extends Registration {
  domain_status: readonly string[];
  name_servers: readonly string[];
  source: 'rdap' | 'whois' | 'manual';
}

interface DomainRow extends Row, Registration {
  name: string;
  /** JSON arrays. */
  domain_status: string;
  name_servers: string;
  source: string | null;
  error: string;
  last_check: number | null;
  failures: number;
  next_check_at: number;
}

/** A site with the record of its domain; all null when it has none or was not checked yet. */
export interface SiteDomainRow extends Row, Registration {
  site_id: number;
  url: string;
  site_name: string;
  domain_name: string | null;
  /** By the clock of the reader. */
  status: DomainStatus;
  domain_status: string | null;
  name_servers: string | null;
  source: string | null;
  error: string | null;
  last_check: number | null;
}

export type DomainFilter = ListedSites<DomainStatus>;

const DOMAIN = `name, registrar, registrar_url, registrar_iana_id, creation_date, updated_date, expiry_date, domain_status, name_servers,
  source, error, last_check, failures, next_check_at`;
const STATUS = `CASE WHEN o.expiry_date IS NULL THEN 'unknown' WHEN o.expiry_date <= ? THEN 'expired' WHEN o.expiry_date <= ? THEN 'expiring' ELSE 'valid' END`;
const COLUMNS = `s.id AS site_id, s.url, s.name AS site_name, o.name AS domain_name, ${STATUS} AS status, o.registrar, o.registrar_url,
  o.registrar_iana_id, o.creation_date, o.updated_date, o.expiry_date, o.domain_status, o.name_servers, o.source, o.error, o.last_check`;
const TABLES = 'site s LEFT JOIN site_domain x ON x.site_id = s.id LEFT JOIN domain o ON o.name = x.domain';

export function createDomains(db: Db) {
  return {
    /** Sites whose domain is not determined yet: new ones, and those whose URL changed. */
    unassigned(limit: number): Promise<{ id: number; url: string }[]> {
      return db.all(
        'SELECT s.id, s.url FROM site s WHERE NOT EXISTS (SELECT 1 FROM site_domain x WHERE x.site_id = s.id) ORDER BY s.id LIMIT ?',
        [limit],
      );
    },

    /** Stores the domain of each site; null = none. */
    async assign(sites: readonly { site_id: number; domain: string | null }[]): Promise<void> {
      await db.batch(
        sites.flatMap(({ site_id, domain }) => [
          ...(domain === null
            ? []
            : [sql('INSERT INTO domain (name) VALUES (?) ON CONFLICT (name) DO NOTHING', domain)]),
          sql(
            'INSERT INTO site_domain (site_id, domain) SELECT id, ? FROM site WHERE id = ? ON CONFLICT (site_id) DO UPDATE SET domain = excluded.domain',
            domain,
            site_id,
          ),
        ]),
      );
    },

    /** Deletes domains that no site uses any more. */
    async dropUnused(): Promise<void> {
      await db.run('DELETE FROM domain WHERE NOT EXISTS (SELECT 1 FROM site_domain x WHERE x.domain = domain.name)');
    },

    /** Domains that are due for a lookup, most overdue first; without those that only suspended sites use. */
    due(now: number, limit: number): Promise<DomainRow[]> {
      return db.all<DomainRow>(
        `SELECT ${DOMAIN} FROM domain WHERE next_check_at <= ? AND EXISTS (SELECT 1 FROM site_domain x JOIN site s ON s.id = x.site_id
           WHERE x.domain = domain.name AND s.suspended = 0) ORDER BY next_check_at, name LIMIT ?`,
        [now, limit],
      );
    },

    find(name: string): Promise<DomainRow | undefined> {
      return db.one<DomainRow>(`SELECT ${DOMAIN} FROM domain WHERE name = ?`, [name]);
    },

    /** Sites of a domain, by id. */
    async sitesOf(name: string): Promise<number[]> {
      const rows = await db.all('SELECT site_id FROM site_domain WHERE domain = ? ORDER BY site_id', [name]);
      return rows.map((row) => Number(row.site_id));
    },

    /** Stores the registry's facts in place of the old ones. */
    async save(name: string, fields: DomainFields, now: number, next: number): Promise<void> {
      await db.run(
        `UPDATE domain SET registrar = ?, registrar_url = ?, registrar_iana_id = ?, creation_date = ?, updated_date = ?, expiry_date = ?,
           domain_status = ?, name_servers = ?, source = ?, error = '', failures = 0, last_check = ?, next_check_at = ? WHERE name = ?`,
        [
          fields.registrar,
          fields.registrar_url,
          fields.registrar_iana_id,
          fields.creation_date,
          fields.updated_date,
          fields.expiry_date,
          JSON.stringify(fields.domain_status),
          JSON.stringify(fields.name_servers),
          fields.source,
          now,
          next,
          name,
        ],
      );
    },

    /** Records a lookup that failed; what is known stays. */
    async miss(name: string, error: string, now: number, next: number): Promise<void> {
      await db.run(
        'UPDATE domain SET error = ?, failures = failures + 1, last_check = ?, next_check_at = ? WHERE name = ?',
        [error, now, next, name],
      );
    },

    one(siteId: number, at: ExpiryClock): Promise<SiteDomainRow | undefined> {
      return db.one<SiteDomainRow>(`SELECT ${COLUMNS} FROM ${TABLES} WHERE s.id = ?`, [at.now, at.expiring, siteId]);
    },

    /** One page in URL order with the true total. */
    list(
      filter: DomainFilter,
      at: ExpiryClock,
      page: number,
      perPage: number,
    ): Promise<{ items: SiteDomainRow[]; total: number }> {
      return expiryList(db, { columns: COLUMNS, status: STATUS, from: TABLES }, filter, at, page, perPage);
    },
  };
}
