/** Certificates and domains over a week and over their lifetime: who is notified of what, and how often. */

import { describe, expect, it } from 'vitest';
import { enterDomain } from '../../src/domain/monitoring/domains.js';
import { runCertificates, runDomains } from '../../src/domain/monitoring/expiry-checks.js';
import type { CertificateAnswer, CertificateFacts, DomainAnswer } from '../../src/outbound/probe/probe.js';
import { START } from '../support/harness.js';
import { answers, type MonitoringApp, monitoringApp } from './monitoring-app.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let app: MonitoringApp;

function seen(change: Partial<CertificateFacts> = {}): CertificateAnswer {
  return {
    ip: '192.0.2.1',
    failure: null,
    facts: {
      issuer_o: 'Test Authority',
      issuer_cn: 'Test Root',
      subject_cn: 's1.example',
      subject_alt_names: ['s1.example'],
      serial: '01AB',
      signature_algorithm: 'RSA-SHA256',
      fingerprint: 'aa'.repeat(32),
      valid_from: START - 30 * DAY,
      valid_to: START + 60 * DAY,
      untrusted: null,
      names_host: true,
      ...change,
    },
  };
}

async function certificates(answer: () => CertificateAnswer): Promise<void> {
  app = await monitoringApp({
    http: () => answers(200),
    probe: { certificate: async () => answer() },
  });
}

async function days(n: number, run: () => Promise<string>): Promise<void> {
  for (let hour = 0; hour < n * 24; hour++) {
    await run();
    app.clock.move(HOUR);
  }
}

const told = async () => (await app.db.all('SELECT kind, facts FROM alert ORDER BY id')).map(({ kind }) => kind);
const read = (id: number) =>
  app.service.store.certificates.one(id, { now: app.clock.now(), expiring: app.clock.now() + 31 * DAY - 1 });

describe('certificates', () => {
  it('are checked once a day, and an end is reported once per step', async () => {
    let looks = 0;
    await certificates(() => {
      looks++;
      return seen();
    });
    const [id = 0] = await app.addSites(1);
    await days(10, () => runCertificates(app.ctx()));
    expect(looks).toBeGreaterThanOrEqual(10);
    expect(looks).toBeLessThanOrEqual(11);
    expect(await told()).toEqual([]);
    await days(55, () => runCertificates(app.ctx()));
    // 30, 14, 7 and 1 days before the end, and the end.
    expect(await told()).toEqual([...Array(4).fill('certificate.expiring'), 'certificate.expired']);
    expect(await read(id)).toMatchObject({ status: 'expired' });
    expect(await app.service.store.findings.certificate(id)).toMatchObject({ good: 0 });
  });

  it('that come late are reported once, by the nearest step', async () => {
    await certificates(() => seen({ valid_to: START + 5 * DAY }));
    await app.addSites(1);
    await days(2, () => runCertificates(app.ctx()));
    expect(await told()).toEqual(['certificate.expiring']);
  });

  it('that alternate between two machines are reported once each', async () => {
    let n = 0;
    await certificates(() =>
      seen(
        n++ % 2 === 0 ? { valid_to: START + 20 * DAY } : { fingerprint: 'bb'.repeat(32), valid_to: START + 20 * DAY },
      ),
    );
    await app.addSites(1);
    await days(5, () => runCertificates(app.ctx()));
    expect(await told()).toEqual(['certificate.expiring', 'certificate.expiring']);
  });

  it('that are wrong are reported once, and not where they are not checked', async () => {
    await certificates(() => seen({ untrusted: 'the certificate is self-signed' }));
    const [, second = 0] = await app.addSites(2);
    await app.db.run('UPDATE site_detail SET ssl_verify = 0 WHERE site_id = ?', [second]);
    await days(3, () => runCertificates(app.ctx()));
    expect(await told()).toEqual(['certificate.invalid']);
    expect(await read(second)).toMatchObject({
      status: 'invalid',
      error: 'The certificate is not trusted: the certificate is self-signed.',
    });
  });

  it('keep what is known while the server does not answer, and ask again sooner', async () => {
    let silent = false;
    let looks = 0;
    await certificates(() => {
      looks++;
      return silent
        ? { ip: '', facts: null, failure: { kind: 'timed_out', message: 'No handshake within 10 s.' } }
        : seen();
    });
    const [id = 0] = await app.addSites(1);
    await days(2, () => runCertificates(app.ctx()));
    silent = true;
    looks = 0;
    await days(1, () => runCertificates(app.ctx()));
    expect(looks).toBeGreaterThanOrEqual(5);
    expect(await read(id)).toMatchObject({
      status: 'valid',
      error: 'No handshake within 10 s.',
      subject_cn: 's1.example',
    });
    expect(await told()).toEqual([]);
  });

  it('of plain HTTP sites are unknown, and of suspended ones wait', async () => {
    let looks = 0;
    await certificates(() => {
      looks++;
      return seen();
    });
    const [plain = 0, secure = 0] = await app.addSites(2, (i) => `${i === 1 ? 'http' : 'https'}://s${i}.example/`);
    await app.service.store.sites.mark([secure], { suspended: true });
    await days(2, () => runCertificates(app.ctx()));
    expect(looks).toBe(0);
    expect(await read(plain)).toMatchObject({ status: 'unknown', error: 'The site is served over plain HTTP.' });
    await app.service.store.sites.mark([secure], { suspended: false });
    await runCertificates(app.ctx());
    expect(looks).toBe(1);
  });

  it('tell of a change as an event, not as an alert', async () => {
    let fingerprint = 'aa'.repeat(32);
    await certificates(() => seen({ fingerprint }));
    await app.addSites(1);
    await days(1, () => runCertificates(app.ctx()));
    fingerprint = 'cc'.repeat(32);
    await days(3, () => runCertificates(app.ctx()));
    expect(app.events.filter(({ name }) => name === 'certificate.changed')).toHaveLength(1);
    expect(await told()).toEqual([]);
  });

  it('of 400 sites cost a few statements a step, and are spread over the day', async () => {
    await certificates(() => seen());
    await app.addSites(400);
    app.db.reset();
    await runCertificates(app.ctx());
    // Two batches of 200 and a query that finds nothing more: each is a query and a transaction or two.
    expect(app.db.counts.calls).toBeLessThan(12);
    const perHour = new Map<number, number>();
    for (const row of await app.db.all('SELECT next_check_at FROM certificate_plan')) {
      const hour = Math.floor((Number(row.next_check_at) - START) / HOUR);
      perHour.set(hour, (perHour.get(hour) ?? 0) + 1);
    }
    expect(Math.max(...perHour.values())).toBeLessThanOrEqual(20);
  });
});

function record(expiry: number | null): DomainAnswer {
  return {
    outcome: 'found',
    source: 'rdap',
    facts: {
      domain_name: 'example.org',
      registrar: 'Registrar',
      registrar_url: null,
      registrar_iana_id: '1',
      creation_date: START - 900 * DAY,
      updated_date: null,
      expiry_date: expiry,
      domain_status: ['active'],
      name_servers: ['ns.example'],
    },
  };
}

async function domains(answer: (name: string) => DomainAnswer): Promise<string[]> {
  const asked: string[] = [];
  app = await monitoringApp({
    http: () => answers(200),
    probe: {
      domain: async (name) => {
        asked.push(name);
        return answer(name);
      },
    },
  });
  return asked;
}

describe('domains', () => {
  it('are requested once, however many sites are under them, and reported once', async () => {
    const asked = await domains(() => record(START + 20 * DAY));
    const ids = await app.addSites(5, (i) => `https://s${i}.example.org/`);
    await runDomains(app.ctx());
    expect(asked).toEqual(['example.org']);
    await days(25, () => runDomains(app.ctx()));
    // 20 days left: step 30; then 14, 7, 1, and the end.
    expect(await told()).toEqual([...Array(4).fill('domain.expiring'), 'domain.expired']);
    const [alert] = await app.service.store.mail.waitingAlerts(1);
    expect(JSON.parse(alert?.facts ?? '')).toMatchObject({ domain_name: 'example.org', site_ids: ids, expires: 20 });
    // Daily near the end.
    expect(asked.length).toBeGreaterThan(22);
    expect(asked.length).toBeLessThan(32);
  });

  it('that end far away are asked for weekly', async () => {
    const asked = await domains(() => record(START + 300 * DAY));
    await app.addSites(1, () => 'https://example.org/');
    await days(28, () => runDomains(app.ctx()));
    expect(asked.length).toBeGreaterThanOrEqual(4);
    expect(asked.length).toBeLessThanOrEqual(5);
    expect(await told()).toEqual([]);
  });

  it('keep what is known when the registry fails or limits us, and wait longer each time', async () => {
    let outcome: DomainAnswer = record(START + 40 * DAY);
    const asked = await domains(() => outcome);
    const [id = 0] = await app.addSites(1, () => 'https://example.org/');
    await runDomains(app.ctx());
    outcome = { outcome: 'failed', message: 'no answer' };
    await days(9, () => runDomains(app.ctx()));
    expect(asked.length).toBeLessThan(9);
    const at = { now: app.clock.now(), expiring: app.clock.now() + 31 * DAY };
    expect(await app.service.store.domains.one(id, at)).toMatchObject({
      status: 'expiring',
      expiry_date: START + 40 * DAY,
      error: 'no answer',
    });
    outcome = { outcome: 'rate_limited', message: 'limited', retryAfterMs: 2 * HOUR };
    await days(9, () => runDomains(app.ctx()));
    expect(await app.service.store.domains.one(id, at)).toMatchObject({ error: 'limited' });
  });

  it('whose end was entered by hand are reported where no registry can be asked', async () => {
    await domains(() => ({ outcome: 'unsupported', message: 'nobody to ask' }));
    const [id = 0] = await app.addSites(1, () => 'https://example.org/');
    // Its next turn is a month away.
    await runDomains(app.ctx());
    await enterDomain(app.ctx(), { id, url: 'https://example.org/' }, { expiry_date: START + 20 * DAY });
    await days(22, () => runDomains(app.ctx()));
    expect(await told()).toEqual([...Array(4).fill('domain.expiring'), 'domain.expired']);
    // A new end causes new alerts.
    await enterDomain(app.ctx(), { id, url: 'https://example.org/' }, { expiry_date: START + 40 * DAY });
    await days(2, () => runDomains(app.ctx()));
    expect((await told()).slice(5)).toEqual(['domain.expiring']);
  });

  it('that are gone are reported when a second check says so', async () => {
    let outcome: DomainAnswer = record(START + 300 * DAY);
    await domains(() => outcome);
    await app.addSites(1, () => 'https://example.org/');
    await runDomains(app.ctx());
    outcome = { outcome: 'not_found', source: 'rdap', message: 'nobody' };
    app.clock.move(8 * DAY);
    await runDomains(app.ctx());
    expect(await told()).toEqual([]);
    await days(5, () => runDomains(app.ctx()));
    expect(await told()).toEqual(['domain.not_found']);
  });

  it('follow the site: a new address is a new domain, and the old one is forgotten', async () => {
    const asked = await domains(() => record(null));
    const [id = 0] = await app.addSites(2, (i) => (i === 1 ? 'https://old.org/' : 'http://127.0.0.1:8080/'));
    await runDomains(app.ctx());
    await app.db.run("UPDATE site SET url = 'https://www.new.org/', url_key = 'new.org/' WHERE id = ?", [id]);
    await runDomains(app.ctx());
    expect(asked).toEqual(['old.org', 'new.org']);
    expect(await app.db.all('SELECT name FROM domain')).toEqual([{ name: 'new.org' }]);
  });
});
