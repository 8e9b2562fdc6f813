/** A made-up alert of each kind, for previews and tests. */

import type { AlertKind } from '../../runtime/events.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { MailedAlert } from './words.js';

const DOMAIN = { domain_name: 'example.com', expiry_date: '2030-01-31T00:00:00Z', registrar: 'Example Registrar' };
const CERTIFICATE = { valid_to: '2030-01-08T00:00:00Z', issuer: 'Example Authority' };

const CHANGE = {
  slug: 'example/example.php',
  change_id: 'change_example',
  item: 'Example',
  old_version: '1.0.0',
  new_version: '1.1.0',
};

const SAMPLES: Readonly<Record<AlertKind, Record<string, unknown>>> = {
  'monitor.down': { http_code: 503, msg: 'The server answered with HTTP 503.' },
  'monitor.up': { http_code: 200 },
  'monitor.flapping': {},
  'site.unhealthy': { health_score: 64 },
  'site.http_check_failed': { http_status: 500, part: 'front_page', items: 'Akismet 5.4' },
  'update.broke_site': { ...CHANGE, findings: 'The front page answers HTTP 500; before, it was 200.' },
  'update.suspect': { ...CHANGE, findings: 'The front page has lost 100 % of its words.' },
  'vulnerability.found': {
    type: 'plugin',
    slug: 'example/example.php',
    item: 'Example',
    version: '1.0.0',
    count: 1,
    severity: 'high',
    cve: null,
    reference: 'https://example.com/entry',
    fixed_in: '1.0.1',
  },
  'vulnerability.summary': {
    vulnerabilities: 40,
    critical: 2,
    items: 120,
    sites: 60,
    worst: [
      { site: 'https://example.com/', item: 'Example 1.0.0', severity: 'critical' },
      { site: 'https://shop.example.com/', item: 'Example 1.0.0', severity: 'critical' },
    ],
  },
  'approval.asked': {
    approval_id: 'apr_example',
    title: 'Apply selected updates',
    kind: 'updates',
    sites: 12,
    by: 'Assistant',
    url: 'https://sitefleet.example.com/approvals',
  },
  'backup.failed': { reason: 'The disk is full.', last_backup: '2030-01-01T03:25:00Z' },
  'site.backup_failed': {
    reason: 'The site did not answer.',
    last_backup: '2030-01-01T03:25:00Z',
    next_at: '2030-01-03T03:25:00Z',
  },
  'site.drill_failed': {
    backup_id: 'backup_0123456789abcdef01234567',
    made_at: '2030-01-01T02:00:00Z',
    reason: 'the front page answered with HTTP 500, 200 was recorded',
  },
  'certificate.expiring': { ...CERTIFICATE, days_left: 7 },
  'certificate.expired': CERTIFICATE,
  'certificate.invalid': { ...CERTIFICATE, problem: 'It does not name this host.' },
  'domain.expiring': { ...DOMAIN, expires: 30 },
  'domain.expired': DOMAIN,
  'domain.not_found': { domain_name: DOMAIN.domain_name, problem: 'The registry does not know the domain.' },
};

/** All kinds; the first one of a mail type represents it. */
export const SAMPLE_KINDS = Object.keys(SAMPLES) as AlertKind[];

export function sampleAlert(kind: AlertKind, now: number): MailedAlert {
  const facts = { ...SAMPLES[kind], ...(kind === 'monitor.down' && { since: isoTime(now) }) };
  return {
    id: 0,
    key: 'sample',
    kind,
    site_id: 1,
    at: now,
    facts: JSON.stringify(facts),
    site_name: 'Example',
    site_url: 'https://example.com/',
  };
}
