import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { dailyDigest } from '../../src/domain/alerts/mail/digest.js';
import { listOutbox, previewMail, sendMail } from '../../src/domain/alerts/mail/mail.js';
import { editMail } from '../../src/domain/alerts/mail/settings.js';
import { reportHealth } from '../../src/domain/connection/maintenance.js';
import { lookUpDomain } from '../../src/domain/monitoring/domain-lookup.js';
import { deleteExpired } from '../../src/domain/retention/delete-expired.js';
import { createMailer } from '../../src/outbound/mail/smtp.js';
import type { NewAlert } from '../../src/store/monitoring/alerts.js';
import { bareSite } from '../support/bare-site.js';
import { launchChromium } from '../support/chromium.js';
import { SYSTEM, type TestApp, testApp } from '../support/harness.js';
import { listenLocally } from '../support/local-server.js';
import { needs } from '../support/needs.js';
import { type Mailbox, mailbox } from '../support/smtp.js';

let box: Mailbox;
let app: TestApp;
let site: number;

beforeEach(async () => {
  box = await mailbox();
  app = await testApp({ sites: 2, config: { smtp_url: box.url } });
  site = await app.connect(0);
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ctx = (of = app) => of.ctx({ actor: SYSTEM });
const readers = (type: string, recipients = ['ada@example.com', 'ben@example.com'], more: object = {}) =>
  editMail(ctx(), type, { recipients, ...more });
let seq = 0;
/** As read from storage: facts may be missing, and there may be kinds from other versions. */
const alert = (kind: string, facts: object = {}, more: Partial<NewAlert> = {}): NewAlert =>
  ({ key: `${kind}:${++seq}`, kind, site_id: site, at: app.clock.now(), facts: { ...facts }, ...more }) as NewAlert;
const tell = (...alerts: NewAlert[]) => app.service.store.alerts.add(alerts);
/** As the address is written in a sentence. */
const address = () => app.fleet.site(0).url.replace('http://', '').replace(/\/$/, '');
const rename = (name: string) => app.db.run('UPDATE site SET name = ? WHERE id = ?', [name, site]);

describe('an alert', () => {
  test('becomes one mail in text and HTML, over a real SMTP server', async () => {
    await readers('uptime');
    await rename('Café');
    const since = new Date(app.clock.now()).toISOString();
    await tell(alert('monitor.down', { http_code: 503, msg: 'The server answered with HTTP 503.', since }));
    expect(await sendMail(ctx())).toBe('1 sent, 0 not');
    const [mail] = box.mails;
    const sentence = `"Café" (${address()}) has been down since 12:00 UTC. The server answered with HTTP 503.`;
    expect(mail).toMatchObject({ from: 'fleet@example.com', to: ['ada@example.com', 'ben@example.com'] });
    expect(mail?.headers).toMatchObject({
      subject: sentence,
      from: 'Sitefleet <fleet@example.com>',
      'auto-submitted': 'auto-generated',
    });
    expect(mail?.text).toContain(sentence);
    expect(mail?.text).toContain(app.fleet.site(0).url);
    expect(mail?.html).toContain('<h1');
    expect(mail?.html).toContain('503');
    expect(mail?.html).not.toMatch(/<script|<img|https?:\/\/(?!127)/);
    expect(await sendMail(ctx())).toBe('nothing due');
    expect(box.mails).toHaveLength(1);
    expect(await listOutbox(ctx(), 10)).toMatchObject([{ type: 'uptime', site_id: site, status: 'sent', attempts: 1 }]);
  });

  test('names an internationalised domain as people know it, and links to it as programs do', async () => {
    await readers('uptime');
    await app.db.run(
      "UPDATE site SET url = 'https://xn--bcher-kva.example/', name = 'xn--bcher-kva.example' WHERE id = ?",
      [site],
    );
    await tell(alert('monitor.down', { http_code: 0, msg: 'shop.xn--bcher-kva.example did not answer. xn--a--.' }));
    await sendMail(ctx());
    const [mail] = box.mails;
    expect(mail?.headers.subject).toContain('bücher.example is down. shop.bücher.example did not answer.');
    expect(mail?.text).toContain('Site · https://bücher.example/');
    expect(mail?.html).toContain('<td class="cell"');
    expect(mail?.html).toContain('https://bücher.example/');
    expect(mail?.html.match(/[^>"]*xn--[^<"]*/g)).toEqual(['https://xn--bcher-kva.example/']);
  });

  test.each([
    ['monitor.up', 'uptime', {}, 'SHOP is up again.'],
    ['monitor.flapping', 'uptime', {}, 'SHOP keeps changing'],
    [
      'certificate.expiring',
      'ssl_certificate',
      { days_left: 7, valid_to: '2026-11-27T00:00:00Z' },
      'The certificate of SHOP expires in 7 days, on 2026-11-27.',
    ],
    [
      'certificate.expiring',
      'ssl_certificate',
      { days_left: 0, valid_to: '2026-11-21T00:00:00Z' },
      'The certificate of SHOP expires within a day, on 2026-11-21.',
    ],
    ['certificate.expired', 'ssl_certificate', { valid_to: '2026-11-19T00:00:00Z' }, 'expired on 2026-11-19'],
    [
      'certificate.invalid',
      'ssl_certificate',
      { problem: 'It does not name this host.' },
      'is not valid. It does not name this host.',
    ],
    [
      'domain.expiring',
      'domain_expiry',
      { domain_name: 'shop.example', expires: 30, expiry_date: '2026-12-20T00:00:00Z' },
      'The registration of shop.example expires in 30 days, on 2026-12-20.',
    ],
    [
      'domain.expiring',
      'domain_expiry',
      { domain_name: 'shop.example', expires: 1, expiry_date: '2026-11-21T12:00:00Z' },
      'The registration of shop.example expires in 1 day, on 2026-11-21.',
    ],
    [
      'domain.expired',
      'domain_expiry',
      { domain_name: 'shop.example', expiry_date: '2026-11-01T00:00:00Z' },
      'The registration of shop.example expired on 2026-11-01.',
    ],
    [
      'domain.not_found',
      'domain_expiry',
      { domain_name: 'shop.example', problem: 'No such name.' },
      'shop.example is no longer registered',
    ],
  ])('%s says what happened', async (kind, type, facts, sentence) => {
    await readers(type);
    await rename('Shop');
    await tell(alert(kind, facts));
    await sendMail(ctx());
    const expected = sentence.replace('SHOP', `Shop (${address()})`);
    expect(box.mails.map(({ text }) => text)).toEqual([expect.stringContaining(expected)]);
  });

  test('is called delivered once its mail went out, not when it has no recipient', async () => {
    const { listAlerts } = await import('../../src/domain/monitoring/alerts.js');
    const listed = async () =>
      (await listAlerts(ctx(), undefined, 1, 10)).items.map((one) => [one.kind, one.delivered, one.delivered_at]);
    await editMail(ctx(), 'ssl_certificate', { disable: 1 });
    await readers('uptime');
    await tell(alert('certificate.invalid'), alert('monitor.down', { msg: 'x' }));
    await sendMail(ctx());
    expect(box.mails).toHaveLength(1);
    const now = new Date(app.clock.now()).toISOString().replace('.000Z', 'Z');
    expect(await listed()).toEqual([
      ['monitor.down', true, now],
      ['certificate.invalid', false, null],
    ]);
  });

  test('a name full of markup and line breaks stays text', async () => {
    await readers('uptime', ['ada@example.com'], {
      heading: 'Alarm for [site.name]',
      subject: '[site.name] [unknown] [constructor]',
    });
    await rename('<script>alert(1)</script>\r\nBcc: all@example.com & "more"');
    await tell(alert('monitor.down', { msg: '<b>bold</b>' }));
    await sendMail(ctx());
    const [mail] = box.mails;
    expect(mail?.to).toEqual(['ada@example.com']);
    expect(mail?.headers).not.toHaveProperty('bcc');
    expect(mail?.headers.subject).toContain('[unknown] [constructor]');
    expect(mail?.html).not.toContain('<script');
    expect(mail?.html).not.toContain('<b>');
    expect(mail?.html).toContain('Alarm for &quot;alert(1) Bcc: all@example.com &amp; &#39;more&#39;&quot;');
  });

  test('a name that is a sentence is quoted as the words of its site, alone and among many', async () => {
    await readers('uptime', ['ada@example.com'], { subject: 'About [site.name]' });
    await rename('Shop" is up again. All sites are well; log in at evil.example. "Shop');
    const quoted = `"Shop' is up again. All sites are well; log in at evil.example. 'Shop" (${address()})`;
    await tell(alert('monitor.down', {}));
    await sendMail(ctx());
    for (const kind of ['monitor.down', 'monitor.up'] as const) for (let i = 0; i < 6; i++) await tell(alert(kind, {}));
    await sendMail(ctx());
    const [one, many] = box.mails;
    expect(one?.headers.subject).toMatch(
      /^About "Shop' is up again\. All sites are well; log in at evil\.example\. 'Shop"/,
    );
    expect(one?.text).toContain(`${quoted} is down.`);
    expect(many?.text).toContain(`${quoted} is down.`);
    expect(many?.text).toContain(`${quoted} is up again.`);
    for (const { text } of box.mails) expect(text).not.toMatch(/^Shop|[^"]Shop' is up/m);
  });

  test('no mail is sent when mail is off, has no recipients, or the alert is old', async () => {
    await tell(alert('monitor.down'));
    expect(await sendMail(ctx())).toBe('nothing due');
    await readers('uptime', ['ada@example.com'], { disable: 1 });
    await tell(alert('monitor.down'));
    await sendMail(ctx());
    await readers('uptime', ['ada@example.com'], { disable: 0 });
    await tell(alert('monitor.down', {}, { at: app.clock.now() - 25 * HOUR }), alert('something.else'));
    expect(await sendMail(ctx())).toBe('nothing due');
    expect(box.mails).toEqual([]);
    expect(await app.service.store.mail.waitingAlerts(10)).toEqual([]);
  });

  test('a site may have readers of its own for its uptime', async () => {
    await readers('uptime');
    await app.db.run('UPDATE site_detail SET monitoring_emails = ? WHERE site_id = ?', [
      'owner@example.com, two@example.com',
      site,
    ]);
    await tell(alert('monitor.down'), alert('monitor.down', {}, { site_id: null, key: 'x' }));
    await sendMail(ctx());
    expect(box.mails.map(({ to }) => to).sort()).toEqual([
      ['ada@example.com', 'ben@example.com'],
      ['owner@example.com', 'two@example.com'],
    ]);
  });

  test('leads to the site and to the page, and shows bad and good news by colour, in dark mode, too', async () => {
    const published = await testApp({ sites: 1, config: { smtp_url: box.url, base_url: 'https://fleet.example' } });
    const id = await published.connect(0);
    await editMail(ctx(published), 'uptime', { recipients: ['ada@example.com'] });
    for (const kind of ['monitor.down', 'monitor.up', 'monitor.flapping'])
      await published.service.store.alerts.add([alert(kind, {}, { site_id: id, at: published.clock.now() })]);
    // An invalid address does not become a link.
    const bad = { site_id: null, at: published.clock.now() };
    await published.service.store.alerts.add([alert('monitor.down', { url: 'javascript:alert(1)//' }, bad)]);
    await sendMail(ctx(published));
    const [down, up, flapping, hostile] = box.mails;
    const colour = (html = '') => /border-top:4px solid (#\w+)/.exec(html)?.[1];
    expect([down, up, flapping].map((mail) => colour(mail?.html))).toEqual(['#dc2626', '#16a34a', '#d97706']);
    const page = `https://fleet.example/sites/${id}`;
    const links = [
      `Open: ${page}`,
      `Acknowledge: ${page}?acknowledge`,
      `Visit the site: ${published.fleet.site(0).url}`,
    ];
    expect(down?.text).toContain(links.join('\n'));
    for (const link of links) expect(down?.html).toContain(`href="${link.replace(/^[\w ]+: /, '')}"`);
    expect(up?.text).not.toContain('Acknowledge');
    expect(down?.html).toContain('prefers-color-scheme:dark');
    expect(hostile?.html).not.toMatch(/href="javascript/);
  });

  test('many at once become one mail', async () => {
    await readers('uptime');
    await rename('Shop');
    await tell(...Array.from({ length: 250 }, () => alert('monitor.down')));
    expect(await sendMail(ctx())).toBe('1 sent, 0 not');
    // All are of the same site.
    expect(box.mails[0]?.headers.subject).toBe('250 alerts on 1 site');
    expect(box.mails[0]?.text.match(/Shop \(.*\) is down/g)).toHaveLength(200);
    expect(box.mails[0]?.text).toContain('And 50 more.');
  });

  test('vulnerabilities that became known together are listed in one mail, most severe first', async () => {
    await readers('vulnerability');
    const found = (item: string, severity: string | null, fixed_in: string | null) =>
      alert('vulnerability.found', { item, version: '1.0', severity, fixed_in, count: 1, name: 'Shop' });
    await tell(found('Contact forms', null, null), found('Cart', 'critical', '1.1'), found('Maps', 'medium', '1.2'));
    expect(await sendMail(ctx())).toBe('1 sent, 0 not');
    const [mail] = box.mails;
    expect(mail?.headers.subject).toBe('Known vulnerabilities on 1 site: "Contact forms", Cart, Maps');
    expect(mail?.text).toContain(
      [
        'Most severe first',
        `- critical · Cart 1.0 · ${address()} · 1.1`,
        `- medium · Maps 1.0 · ${address()} · 1.2`,
        `- not rated · Contact forms 1.0 · ${address()} · no fixed version is known`,
      ].join('\n'),
    );
    await tell(found('Tables', 'high', '1.1'));
    await sendMail(ctx());
    expect(box.mails[1]?.headers.subject).toMatch(/^Tables 1\.0 on .* has a known vulnerability \(high\)/);
    const summary = {
      ...{ vulnerabilities: 3, critical: 1, items: 22, sites: 2 },
      worst: [{ site: 'https://shop.example/', item: 'Cart 1.0', severity: 'critical' }],
    };
    await tell(alert('vulnerability.summary', summary, { site_id: null }));
    await sendMail(ctx());
    expect(box.mails[2]?.headers.subject).toBe('3 vulnerabilities became known on 2 sites. Rated critical: 1.');
    expect(box.mails[2]?.text).toContain('- critical · Cart 1.0 · shop.example\nAnd 21 more.');
  });

  test('a mail is no wider than its window, whatever a site calls itself', needs('chromium'), async () => {
    await readers('uptime');
    await rename('W'.repeat(200));
    await tell(alert('monitor.down', { msg: 'x'.repeat(200) }));
    await sendMail(ctx());
    const browser = await launchChromium();
    try {
      const page = await browser.newPage({ viewport: { width: 700, height: 600 } });
      await page.setContent(String(box.mails[0]?.html));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(700);
    } finally {
      await browser.close();
    }
  });

  test('a subject of the user says the event where it wants to, or at its end', async () => {
    await readers('uptime', ['ada@example.com'], { subject: 'ALARM [event] ([site.name])' });
    await rename('Shop');
    await tell(alert('monitor.up'));
    await sendMail(ctx());
    await readers('uptime', ['ada@example.com'], { subject: 'News of [site.name]' });
    await tell(alert('monitor.up'));
    await sendMail(ctx());
    expect(box.mails.map(({ headers }) => headers.subject)).toEqual([
      `ALARM Shop (${address()}) is up again. (Shop)`,
      `News of Shop – Shop (${address()}) is up again.`,
    ]);
  });

  test('an outage that began on another day says which', async () => {
    await readers('uptime');
    await app.service.store.settings.write([{ key: 'general.timezone_string', value: 'America/New_York' }], 0);
    const since = new Date(app.clock.now() - 8 * HOUR).toISOString();
    await tell(alert('monitor.down', { msg: '', since }), alert('monitor.down', { msg: '', since: null }));
    await sendMail(ctx());
    const [first, second] = box.mails;
    // 04:00 UTC is 23:00 of the day before in New York.
    expect(first?.text).toContain('has been down since 2026-11-19 23:00.');
    expect(second?.text).toContain(' is down.');
  });

  test('bad health is told once a month, and again when the score changes', async () => {
    await readers('site_health');
    await app.service.store.settings.write([{ key: 'monitoring.svc_disable_sites_health_monitoring', value: 0 }], 0);
    const unhealthy = async (health_score: number, told: boolean) => {
      app.service.events.emit({ name: 'site.unhealthy', site_id: site, facts: { health_score } });
      if (told) await expect.poll(() => sendMail(ctx())).toBe('1 sent, 0 not');
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await sendMail(ctx())).toBe('nothing due');
      app.clock.move(24 * HOUR);
    };
    const scores: [number, boolean][] = [
      [70, true],
      [70, false],
      [60, true],
      [70, false],
      [95, false],
    ];
    for (const [score, told] of scores) await unhealthy(score, told);
    expect(box.mails.map(({ text }) => /is (\d+) of 100/.exec(text)?.[1])).toEqual(['70', '60']);
  });
});

test('a domain that vanished is told of, once, whoever of its sites it belongs to', async () => {
  await readers('domain_expiry');
  const second = await app.connect(1);
  await app.db.run("INSERT INTO domain (name, creation_date) VALUES ('shop.example', 1)");
  for (const id of [site, second])
    await app.db.run("INSERT OR REPLACE INTO site_domain (site_id, domain) VALUES (?, 'shop.example')", [id]);
  const nowhere = { ...ctx().probe, domain: async () => ({ outcome: 'not_found' as const, message: 'No such name.' }) };
  const look = async (error?: string) =>
    lookUpDomain(Object.assign(ctx(), { probe: nowhere }), {
      name: 'shop.example',
      creation_date: 1,
      ...(error === undefined ? {} : { error }),
    });
  await look();
  expect(await sendMail(ctx())).toBe('nothing due');
  for (let again = 0; again < 2; again++) await look('No such name.');
  expect(await sendMail(ctx())).toBe('1 sent, 0 not');
  const [mail] = box.mails;
  expect(mail?.headers.subject).toContain('shop.example is no longer registered');
  expect(mail?.text).toContain('No such name.');
  expect(mail?.html).toContain('No such name.');
});

test('a critical finding makes no mail while the score is good: the mail follows the score', async () => {
  await readers('site_health');
  await app.service.store.settings.write([{ key: 'monitoring.svc_disable_sites_health_monitoring', value: 0 }], 0);
  const report = async (good: number, critical: number) => {
    await app.db.run(
      'UPDATE site_detail SET health_good = ?, health_recommended = 0, health_critical = ? WHERE site_id = ?',
      [good, critical, site],
    );
    await reportHealth(ctx());
    await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await report(17, 1);
  expect(await sendMail(ctx())).toBe('nothing due');
  await report(3, 1);
  await expect.poll(() => sendMail(ctx())).toBe('1 sent, 0 not');
  expect(box.mails[0]?.text).toContain('The health score of');
});

describe('sending', () => {
  test('is tried again with growing waits, always as the same message, until it is taken', async () => {
    await readers('uptime');
    await tell(alert('monitor.down'));
    box.refuse(451, 421, 452);
    const waits = [1, 5, 15].map((minutes) => minutes * MINUTE);
    for (const wait of waits) {
      expect(await sendMail(ctx())).toBe('0 sent, 1 not');
      expect(await sendMail(ctx())).toBe('nothing due');
      app.clock.move(wait - 1);
      expect(await sendMail(ctx())).toBe('nothing due');
      app.clock.move(1);
    }
    expect(await sendMail(ctx())).toBe('1 sent, 0 not');
    expect(box.mails).toHaveLength(1);
    expect(await listOutbox(ctx(), 1)).toMatchObject([{ status: 'sent', attempts: 4, last_error: '' }]);
    const [row] = await app.db.all('SELECT id, created_at FROM mail');
    expect(box.mails[0]?.headers['message-id']).toBe(`<${row?.id}.${row?.created_at}@sitefleet.invalid>`);
  });

  test('a refusal for good is not tried again', async () => {
    await readers('uptime');
    await tell(alert('monitor.down'));
    box.refuse(550);
    await sendMail(ctx());
    app.clock.move(100 * HOUR);
    expect(await sendMail(ctx())).toBe('nothing due');
    expect(await listOutbox(ctx(), 1)).toMatchObject([
      { status: 'failed', last_error: 'The mail server answered with 550.' },
    ]);
  });

  // As servers answer to a sender, a login or a network from which they take no mail.
  test.each([
    ['greeting', '554 5.7.1 no service for your network', { greeting: '554 5.7.1 no service for your network' }],
    ['EHLO', '550 5.7.1 bad name', { EHLO: '550 5.7.1 bad name', HELO: '550 5.7.1 bad name' }],
    ['login', '530 5.7.0 authentication required', { MAIL: '530 5.7.0 authentication required' }],
    ['sender', '550 5.7.60 may not send as this sender', { MAIL: '550 5.7.60 may not send as this sender' }],
    ['sender, of Postfix', '553 5.7.1 not owned by user', { RCPT: '553 5.7.1 not owned by user' }],
    ['sender, at the end', '550 5.7.60 may not send as this', { '.': '550 5.7.60 may not send as this' }],
    ['quota', '552 5.2.2 daily quota exceeded', { MAIL: '552 5.2.2 daily quota exceeded' }],
  ])('a refusal that is not about the mail waits for the operator: %s', async (_what, answer, answers) => {
    const server = await scriptedServer(answers);
    const own = await testApp({ sites: 1, config: { smtp_url: server.url } });
    await editMail(ctx(own), 'uptime', { recipients: ['ada@example.com'] });
    await own.service.store.alerts.add([alert('monitor.down', {}, { site_id: null, at: own.clock.now() })]);
    expect(await sendMail(ctx(own))).toBe('0 sent, 1 not');
    expect(await listOutbox(ctx(own), 1)).toMatchObject([
      { status: 'queued', last_error: `The mail server answered with ${answer.slice(0, 3)}.` },
    ]);
    server.allow();
    own.clock.move(MINUTE);
    expect(await sendMail(ctx(own))).toBe('1 sent, 0 not');
  });

  test('a server that never ends its answer holds up one mail for two minutes', async () => {
    let taken = false;
    const server = await scriptedServer({
      '.': () => {
        taken = true;
      },
    });
    const own = await testApp({ sites: 1, config: { smtp_url: server.url } });
    await editMail(ctx(own), 'uptime', { recipients: ['ada@example.com'] });
    await own.service.store.alerts.add([alert('monitor.down', {}, { site_id: null, at: own.clock.now() })]);
    const sending = sendMail(ctx(own));
    await expect.poll(() => taken).toBe(true);
    own.clock.move(2 * MINUTE);
    expect(await sending).toBe('0 sent, 1 not');
    expect(await listOutbox(ctx(own), 1)).toMatchObject([
      { status: 'queued', last_error: 'The mail server did not answer in time.' },
    ]);
    await expect.poll(server.connections).toBe(0);
  });

  test('a recipient that has to wait gets it later, and the others get it once', async () => {
    const addresses = ['ada@example.com', 'bob@Müller.Example', 'cleo@example.net'];
    const server = await scriptedServer({
      'RCPT TO:<bob@xn--mller-kva.example>': '451 4.7.1 greylisted, try again later',
      'RCPT TO:<cleo@example.net>': '550 5.1.1 no such user',
    });
    const own = await testApp({ sites: 1, config: { smtp_url: server.url } });
    await editMail(ctx(own), 'uptime', { recipients: addresses });
    await own.service.store.alerts.add([alert('monitor.down', {}, { site_id: null, at: own.clock.now() })]);
    expect(await sendMail(ctx(own))).toBe('0 sent, 1 not');
    const [ada, bob, cleo] = addresses;
    const waiting = { recipients: [bob], status: 'queued', attempts: 1, last_error: '' };
    const partly = {
      recipients: [ada, cleo],
      status: 'failed',
      last_error: 'The mail server refused 2 of the recipients.',
    };
    expect(await listOutbox(ctx(own), 9)).toMatchObject([waiting, partly]);
    expect(await sendMail(ctx(own))).toBe('nothing due');
    server.allow();
    own.clock.move(MINUTE);
    expect(await sendMail(ctx(own))).toBe('1 sent, 0 not');
    expect(await listOutbox(ctx(own), 9)).toMatchObject([{ ...waiting, status: 'sent', attempts: 2 }, partly]);
    expect(server.taken()).toEqual([[ada], ['bob@xn--mller-kva.example']]);
  });

  test('where all recipients are taken or wait, the mail counts as sent to those who were taken', async () => {
    const server = await scriptedServer({ 'RCPT TO:<bob@example.org>': '451 4.7.1 greylisted' });
    const own = await testApp({ sites: 1, config: { smtp_url: server.url } });
    await editMail(ctx(own), 'uptime', { recipients: ['ada@example.com', 'bob@example.org'] });
    await own.service.store.alerts.add([alert('monitor.down', {}, { site_id: null, at: own.clock.now() })]);
    for (let hour = 0; hour < 72; hour++) {
      await sendMail(ctx(own));
      own.clock.move(HOUR);
    }
    expect(await listOutbox(ctx(own), 9)).toMatchObject([
      { recipients: ['bob@example.org'], status: 'failed', attempts: 9 },
      { recipients: ['ada@example.com'], status: 'sent', attempts: 1, last_error: '' },
    ]);
    expect(server.taken()).toEqual([['ada@example.com']]);
  });

  test('a look at the login ends when it is told to', async () => {
    const stop = new AbortController();
    const server = await scriptedServer({ EHLO: () => stop.abort() });
    const mailer = createMailer({ url: server.url, from: null });
    await expect(mailer.verify(stop.signal)).rejects.toMatchObject({
      permanent: false,
      message: 'The mail server did not answer in time.',
    });
    await expect(mailer.verify(AbortSignal.abort())).rejects.toMatchObject({ name: 'MailFailure' });
    await mailer.close();
  });

  test('is given up after a day and a half', async () => {
    await readers('uptime');
    await tell(alert('monitor.down'));
    for (let day = 0; day < 20; day++) {
      box.refuse(451);
      await sendMail(ctx());
      app.clock.move(12 * HOUR);
    }
    expect(await listOutbox(ctx(), 1)).toMatchObject([{ status: 'failed', attempts: 9 }]);
  });

  test('a server that is away is not asked for every mail', async () => {
    await readers('uptime');
    await tell(...Array.from({ length: 8 }, () => alert('monitor.down')));
    await box.close();
    expect(await sendMail(ctx())).toBe('0 sent, 3 not');
    const [mail] = (await listOutbox(ctx(), 10)).filter(({ attempts }) => attempts === 1);
    expect(mail).toMatchObject({ status: 'queued', last_error: 'The mail server could not be reached.' });
    box = await mailbox();
  });

  test('a wrong login waits for the operator, and is never shown', async () => {
    const mailer = createMailer({ url: box.url.replace('p%40ss', 'wrong'), from: null });
    const mail = { messageId: '<1@x>', to: ['a@example.com'], subject: 's', text: 't', html: 'h' };
    await expect(mailer.send(mail, AbortSignal.timeout(60_000))).rejects.toMatchObject({
      name: 'MailFailure',
      permanent: false,
      message: 'The mail server refused the login.',
    });
    await mailer.close();
  });

  test('a mail whose sender died is taken over once its lease is over', async () => {
    await readers('uptime');
    await tell(alert('monitor.down'));
    await app.service.store.mail.queueAlerts([], [], 0);
    box.refuse(451);
    await sendMail(ctx());
    app.clock.move(MINUTE);
    await app.service.store.mail.claim(app.clock.now(), app.clock.now() + 5 * MINUTE);
    expect(await sendMail(ctx())).toBe('nothing due');
    app.clock.move(5 * MINUTE);
    expect(await sendMail(ctx())).toBe('1 sent, 0 not');
  });

  test('without a mail server nothing is queued and nothing is sent', async () => {
    const quiet = await testApp({ sites: 1 });
    await quiet.service.store.alerts.add([alert('monitor.down', {}, { site_id: null, at: 0 })]);
    expect(await sendMail(ctx(quiet))).toBe('no mail server is configured');
    expect(await dailyDigest(ctx(quiet))).toBe('no mail server is configured');
    expect(await quiet.db.all('SELECT * FROM mail')).toEqual([]);
  });
});

/** An SMTP server that answers these commands so, until it is told to allow them. Where a function stands, it is called, and the answer never ends. */
async function scriptedServer(answers: Readonly<Record<string, string | (() => void)>>) {
  let [script, inText] = [answers, false];
  const taken: string[][] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    let recipients: string[] = [];
    const say = (command: string, otherwise: string) => {
      const answer = script[command] ?? otherwise;
      if (typeof answer === 'string') socket.write(`${answer}\r\n`);
      else {
        socket.write('250-');
        answer();
      }
    };
    say('greeting', '220 ready');
    createInterface({ input: socket }).on('line', (line) => {
      if (inText && line !== '.') return;
      inText = line === 'DATA';
      const command = script[line] === undefined ? (line.split(/[ :]/)[0] as string) : line;
      say(command, inText ? '354 go on' : '250 ok');
      if (command === 'MAIL') recipients = [];
      if (command === 'RCPT') recipients.push(/<(.*)>/.exec(line)?.[1] as string);
      if (command === '.') taken.push(recipients);
    });
  });
  const { port } = await listenLocally(server);
  return {
    url: `smtp://127.0.0.1:${port}`,
    allow() {
      script = {};
    },
    /** The recipients of each mail that was taken. */
    taken: () => taken,
    connections: () => promisify(server.getConnections.bind(server))(),
  };
}

describe('the daily digest', () => {
  test('goes out once a day, in the morning of the dashboard, with what there is to do', async () => {
    await readers('daily_digest');
    await app.service.store.settings.write([{ key: 'general.timezone_string', value: 'America/New_York' }], 0);
    const second = await app.connect(1);
    await app.call('disconnect-site', { site_id_or_domain: second });
    await app.service.store.actionLog.add([
      {
        site_id: site,
        context: 'plugin',
        action: 'updated',
        slug: 'a/a.php',
        old_version: '1',
        new_version: '2',
        at: app.clock.now() - HOUR,
      },
    ]);
    // 12:00 UTC is 07:00 in New York.
    app.clock.move(-1);
    expect(await dailyDigest(ctx())).toBe('not yet');
    app.clock.move(1);
    expect(await dailyDigest(ctx())).toBe('queued');
    app.clock.move(HOUR);
    expect(await dailyDigest(ctx())).toBe('queued before');
    await sendMail(ctx());
    const [mail] = box.mails;
    expect(mail?.headers.subject).toBe('Daily digest of your sites, 2026-11-20: 1 site disconnected');
    expect(mail?.text).toMatch(/Pending updates: .*plugins/);
    expect(mail?.text).toContain('2 sites. 1 site disconnected.');
    const lost = app.fleet.site(1).url.replace('http://', '').replace(/\/$/, '');
    expect(mail?.text).toContain(`Disconnected: 1\n- ${lost} · since 07:00: `);
    expect(mail?.text).toContain('plugin updated · 1 · on 1 site');
    app.clock.move(23 * HOUR);
    expect(await dailyDigest(ctx())).toBe('queued');
  });

  test('ends with the last entry of the log and its hash, so that its end cannot be cut unseen', async () => {
    await readers('daily_digest');
    await app.call('add-tag', { name: 'Logged' });
    expect(await dailyDigest(ctx())).toBe('queued');
    // What happens after the mail was made is not in it.
    const [last] = await app.db.all('SELECT id, hash FROM action_log ORDER BY id DESC LIMIT 1');
    await app.call('add-tag', { name: 'Later' });
    await sendMail(ctx());
    const [mail] = box.mails;
    for (const body of [mail?.text, mail?.html]) expect(body).toContain(`${last?.id}:${last?.hash}`);
    expect(String(last?.hash)).toMatch(/^[0-9a-f]{64}$/);
  });

  test('tells what was done once, however far apart two of them are', async () => {
    await readers('daily_digest');
    await app.db.run('DELETE FROM site_update');
    const update = (slug: string) =>
      app.service.store.actionLog.add([
        { site_id: site, context: 'plugin', action: slug, slug, old_version: '', new_version: '', at: app.clock.now() },
      ]);
    // Nothing to report in the morning, but at noon; that a site was added is longer ago.
    app.clock.move(25 * HOUR);
    expect(await dailyDigest(ctx())).toBe('nothing to report');
    app.clock.move(MINUTE);
    await update('first');
    app.clock.move(HOUR);
    expect(await dailyDigest(ctx())).toBe('queued');
    await update('second');
    app.clock.move(20 * HOUR);
    expect(await dailyDigest(ctx())).toBe('queued');
    await update('third');
    app.clock.move(30 * HOUR);
    expect(await dailyDigest(ctx())).toBe('queued');
    await sendMail(ctx());
    expect(box.mails.map(({ text }) => text.match(/(?<=plugin )(first|second|third)/g))).toEqual([
      ['first'],
      ['second'],
      ['third'],
    ]);
    expect(box.mails[1]?.text).toContain('Done since 2026-11-21 14:01 UTC');
  });

  test('counts every site that is down, however few it lists', async () => {
    await readers('daily_digest');
    await app.service.store.settings.write([{ key: 'monitoring.svc_uptime_monitoring_active', value: 1 }], 0);
    for (let i = 0; i < 25; i++) {
      const id = await app.service.store.sites.add(bareSite(`https://down${i}.example/`), app.clock.now(), () => []);
      await app.db.run("INSERT INTO incident (site_id, started_at, msg, down_count) VALUES (?, ?, '', 1)", [
        id ?? 0,
        app.clock.now() - HOUR,
      ]);
      await app.db.run('UPDATE monitor SET status = 0, confirmed = 0 WHERE site_id = ?', [id ?? 0]);
    }
    const { text } = await previewMail(ctx(), 'daily_digest');
    expect(text).toContain('26 sites. 25 sites down, ');
    expect(text).toContain('And 15 more.');
  });

  test('is not sent when there is nothing to tell', async () => {
    await readers('daily_digest');
    app.clock.move(25 * HOUR);
    await app.db.run('DELETE FROM site_update');
    expect(await dailyDigest(ctx())).toBe('nothing to report');
  });
});

describe('a preview', () => {
  const types = [
    'daily_digest',
    'uptime',
    'site_health',
    'deactivated_license_alert',
    'ssl_certificate',
    'domain_expiry',
  ];
  test.each(types)('shows %s and sends nothing', async (type) => {
    const preview = await previewMail(ctx(), type);
    expect(preview).toMatchObject({ type, sends: false, reason: 'It has no recipients.' });
    expect(preview.html).toContain('<!doctype html>');
    expect(preview.text.length).toBeGreaterThan(50);
    await readers(type, ['ada@example.com']);
    expect(await previewMail(ctx(), type)).toMatchObject({ sends: true, reason: '', recipients: ['ada@example.com'] });
    expect(await sendMail(ctx())).toBe('nothing due');
    expect(box.visits).toBe(0);
  });

  test.each([
    ['domain.not_found', 'domain_expiry', 'example.com is no longer registered'],
    ['domain.expired', 'domain_expiry', 'The registration of example.com expired on 2030-01-31.'],
    ['certificate.invalid', 'ssl_certificate', 'It does not name this host.'],
    ['monitor.up', 'uptime', 'Example (example.com) is up again.'],
  ])('shows the alert %s', async (kind, type, sentence) => {
    await readers(type, ['ada@example.com']);
    const preview = await previewMail(ctx(), kind);
    expect(preview).toMatchObject({ type, sends: true, recipients: ['ada@example.com'] });
    expect(preview.text).toContain(sentence);
    expect(preview.html).toContain(sentence);
    expect(preview.subject).toContain(sentence);
    expect(box.visits).toBe(0);
  });

  test('of an unknown type is refused', async () => {
    await expect(previewMail(ctx(), 'carrier_pigeon')).rejects.toMatchObject({
      code: 'invalid_mail_type',
      status: 404,
    });
  });
});

test('what the service did is kept for reports', async () => {
  const [plugin] = (await app.call('get-site-plugins', { site_id_or_domain: site })).plugins.filter(
    (item: { active: boolean }) => item.active,
  );
  await app.call('deactivate-site-plugins', { site_id_or_domain: site, slugs: [plugin.slug] });
  const { changes } = await app.call('get-site-changes', { site_id_or_domain: site, source: 'dashboard' });
  expect(changes[0]).toMatchObject({
    type: 'plugin',
    description: `Deactivated plugin: ${plugin.name}`,
    timestamp: new Date(app.clock.now()).toISOString().replace('.000Z', 'Z'),
  });
});

test('what is old is forgotten, but not the newest result of a site', async () => {
  const { store } = app.service;
  const old = app.clock.now() - 4 * 366 * 24 * HOUR;
  await store.actionLog.add([
    {
      site_id: site,
      context: 'plugin',
      action: 'updated',
      slug: 'b',
      old_version: '',
      new_version: '',
      at: app.clock.now(),
    },
  ]);
  for (const finished of [old, old + 1])
    await app.db.run(
      "INSERT INTO audit (site_id, strategy, status, requested_at, finished_at) VALUES (?, 'mobile', 'completed', ?, ?)",
      [site, finished, finished],
    );
  expect(await deleteExpired(ctx())).toBe('1 audits, 0 mails, 0 actions deleted');
  const left = await app.db.all("SELECT slug FROM action_log WHERE slug = 'b'");
  expect(left).toEqual([{ slug: 'b' }]);
  expect(await app.db.all('SELECT finished_at FROM audit')).toEqual([{ finished_at: old + 1 }]);
});
