/** Alerts to webhooks and chats, over HTTP to a receiver on loopback, set up through REST. */

import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { ALERT_KIND_NAMES, webhookBody } from '../../schemas/alerts.js';
import { deliverAlerts } from '../../src/domain/alerts/deliveries.js';
import { editMail } from '../../src/domain/alerts/mail/settings.js';
import { sampleAlert } from '../../src/domain/alerts/samples.js';
import { audienceOf } from '../../src/domain/alerts/test-alert.js';
import { type RestApp, restApp } from '../rest/client.js';
import { SYSTEM } from '../support/harness.js';
import { type Receiver, receiver } from '../support/receiver.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let app: RestApp;
let box: Receiver;
let site: number;

beforeEach(async () => {
  box = await receiver();
  app = await restApp({ sites: 2, jobs: false });
  site = await app.connect(0);
  await app.db.run("UPDATE site SET name = 'Shop' WHERE id = ?", [site]);
});

const ctx = () => app.ctx({ actor: SYSTEM });
let seq = 0;
const tell = (kind: string, facts: object = {}, site_id: number | null = site, at = app.clock.now()) =>
  app.service.store.alerts.add([{ key: `${kind}:${++seq}`, kind, site_id, at, facts: { ...facts } }]);
const add = async (type: string, more: object = {}) => {
  const path = type === 'ntfy' ? '/alerts' : '/hook';
  const reply = await app.rest('POST /alerts/recipients/add', {
    body: { type, name: type, url: `${box.url}${path}`, ...more },
  });
  expect([reply.status, reply.body.success]).toEqual([200, 1]);
  return reply.body as { data: { id: number }; secret?: string };
};
const deliver = () => deliverAlerts(ctx());
const deliveries = async (query = '') => (await app.rest(`GET /alerts/deliveries${query}`)).body.data;

describe('a webhook', () => {
  test('gets one signed message per alert, whose signature the receiver can check', async () => {
    const { secret = '' } = await add('webhook');
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await tell('monitor.down', { url: 'https://shop.example/', name: 'Shop', http_code: 503, msg: 'HTTP 503.' });
    expect(await deliver()).toBe('1 sent, 0 not');
    expect(await deliver()).toBe('nothing due');
    const [message] = box.received;
    expect(message?.path).toBe('/hook');
    expect(message?.body).toEqual({
      type: 'monitor.down',
      timestamp: '2026-11-20T12:00:00Z',
      data: {
        alert_id: 1,
        test: false,
        text: `Shop (${app.fleet.site(0).url.replace('http://', '').replace(/\/$/, '')}) is down. HTTP 503.`,
        site: { id: site, name: 'Shop', url: app.fleet.site(0).url },
        link: null,
        facts: { url: 'https://shop.example/', name: 'Shop', http_code: 503, msg: 'HTTP 503.' },
      },
    });
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = message?.headers ?? {};
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${at}.${message?.text}`).digest('base64');
    expect(signature).toBe(`v1,${expected}`);
    expect(Number(at) * 1000).toBe(app.clock.now());
    expect(await deliveries()).toMatchObject([{ status: 'sent', attempts: 1, kind: 'monitor.down', site_id: site }]);
    // The list of alerts counts a sent one as delivered.
    expect((await app.rest('GET /alerts')).body.data).toMatchObject([{ delivered: true }]);
  });

  test('reads the real name of an internationalised domain in the text, and data as it is on the wire', async () => {
    const wire = 'xn--bcher-kva.example';
    await app.db.run('UPDATE site SET url = ?, name = ? WHERE id = ?', [`https://${wire}/`, wire, site]);
    await add('webhook');
    await add('slack');
    await tell('monitor.down', { url: `https://${wire}/`, name: wire, msg: `${wire} did not answer.` });
    await deliver();
    const [hook, chat] = [...box.received].sort((a, b) => ('type' in b.body ? 1 : 0) - ('type' in a.body ? 1 : 0));
    expect(hook?.body.data).toMatchObject({
      text: 'bücher.example is down. bücher.example did not answer.',
      site: { name: wire, url: `https://${wire}/` },
      facts: { url: `https://${wire}/` },
    });
    expect(chat?.body.text).toContain('bücher.example is down.');
    const shown = JSON.stringify(chat?.body);
    expect(shown.match(/[^"]*xn--[^"]*/g)).toEqual([`https://${wire}/`]);
  });

  test('gets bodies as the interface description says, of every kind', async () => {
    const { data } = await add('webhook');
    for (const kind of ALERT_KIND_NAMES) {
      await tell(kind, JSON.parse(sampleAlert(kind, 0).facts));
      await deliver();
      const tried = await app.rest(`POST /alerts/recipients/${data.id}/test`, { body: { kind } });
      expect(tried.body.data).toMatchObject({ delivered: true, error: '' });
    }
    expect(box.received).toHaveLength(2 * ALERT_KIND_NAMES.length);
    for (const [index, { body }] of box.received.entries()) {
      const kind = ALERT_KIND_NAMES[Math.floor(index / 2)] ?? 'monitor.down';
      expect(webhookBody(kind).strict().safeParse(body)).toMatchObject({ success: true });
      expect(body.data.test).toBe(index % 2 === 1);
    }
    const described = (await app.rest('GET /openapi.json')).body.webhooks;
    expect(Object.keys(described)).toEqual([...ALERT_KIND_NAMES]);
    expect(described['monitor.down'].post.requestBody.content['application/json'].schema.properties.type.const).toBe(
      'monitor.down',
    );
  });

  test('is tried for three days as the same message, then it is dead, and can be sent again', async () => {
    await add('webhook');
    await tell('monitor.down');
    const begun = app.clock.now();
    const waits = [5_000, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)];
    for (const wait of waits) {
      box.answer(500);
      expect(await deliver()).toBe('0 sent, 1 not');
      app.clock.move(wait - 1);
      expect(await deliver()).toBe('nothing due');
      app.clock.move(1);
    }
    expect(app.clock.now() - begun).toBeGreaterThan(72 * HOUR);
    expect(await deliveries('?status=dead')).toEqual([]);
    box.answer(302);
    await deliver();
    const [dead] = await deliveries('?status=dead');
    expect(dead).toMatchObject({ attempts: 10, last_error: expect.stringContaining('HTTP 302'), next_try: null });
    expect(new Set(box.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await deliver()).toBe('nothing due');
    expect((await app.rest(`POST /alerts/deliveries/${dead.id}/resend`)).status).toBe(200);
    expect(await deliver()).toBe('1 sent, 0 not');
    expect((await app.rest('GET /alerts/recipients')).body.data).toMatchObject([{ last_error: '' }]);
  });

  test('that asks to wait is left alone as long, and one that is gone is disabled', async () => {
    const { data } = await add('webhook');
    for (let i = 0; i < 3; i++) await tell('monitor.down');
    box.answer({ status: 429, headers: { 'retry-after': '600' } });
    expect(await deliver()).toBe('0 sent, 1 not');
    // The others were not even tried, but will be in the next run.
    expect(box.received).toHaveLength(1);
    expect(await deliver()).toBe('2 sent, 0 not');
    app.clock.move(599_000);
    expect(await deliver()).toBe('nothing due');
    app.clock.move(1_000);
    box.answer(410);
    expect(await deliver()).toBe('0 sent, 1 not');
    expect((await app.rest('GET /alerts/recipients')).body.data).toMatchObject([{ id: data.id, active: false }]);
    expect(await deliveries('?status=dead')).toHaveLength(1);
  });

  test('on a private address is refused, unless the setting allows it', async () => {
    const strict = await restApp({ sites: 1, config: { allow_private_sites: false } });
    for (const url of [box.url, 'http://localhost/x', 'http://[::1]/', 'http://10.0.0.1/', 'http://169.254.169.254/']) {
      for (const way of ['add', 'test']) {
        const body = { type: 'webhook', name: 'x', url };
        const reply = await strict.rest(`POST /alerts/recipients/${way}`, { body });
        expect([url, reply.status, reply.body.data.field]).toEqual([url, 400, 'url']);
        expect(reply.body.data.params.url).toContain('private or local');
      }
    }
    // A recipient stored while it was allowed is not called either.
    const fields = { name: 'x', kinds: '[]', site_ids: '[]', quiet_from: null, quiet_to: null, enabled: 1 } as const;
    await strict.service.store.alertRecipients.add('slack', fields, { url: box.url }, 0);
    const { body } = await strict.rest('POST /alerts/recipients/1/test');
    expect(body.data).toMatchObject({ delivered: false, error: expect.stringContaining('private or local') });
    expect(box.received).toEqual([]);
  });
});

describe('a recipient', () => {
  test('gets alerts of its kinds and sites only', async () => {
    const second = await app.connect(1);
    await add('webhook', { name: 'all' });
    await add('webhook', { name: 'kinds', kinds: 'monitor.up,certificate.expired' });
    await add('webhook', { name: 'sites', sites: [second] });
    await tell('monitor.down');
    await tell('monitor.up', {}, second);
    await tell('domain.expiring', { domain_name: 'a.example', expires: 3 }, null);
    await tell('monitor.down', {}, site, app.clock.now() - 25 * HOUR);
    await deliver();
    const told = (await deliveries('?per_page=100')).map(
      (one: { recipient: string; kind: string; site_id: number }) => [one.recipient, one.kind, one.site_id],
    );
    expect(told.sort()).toEqual(
      [
        ['all', 'monitor.down', site],
        ['all', 'monitor.up', second],
        ['all', 'domain.expiring', null],
        ['kinds', 'monitor.up', second],
        ['sites', 'monitor.up', second],
      ].sort(),
    );
  });

  test('gets nothing in its quiet hours, and everything at their end', async () => {
    await app.service.store.settings.write([{ key: 'general.timezone_string', value: 'America/New_York' }], 0);
    // The test begins at noon UTC, seven in New York.
    await add('webhook', { quiet_from: '06:30', quiet_to: '08:00' });
    await add('ntfy', { quiet_from: '22:00', quiet_to: '07:00' });
    await tell('monitor.down');
    expect(await deliver()).toBe('1 sent, 0 not');
    expect(box.received[0]?.path).toBe('/');
    app.clock.move(HOUR - 1);
    expect(await deliver()).toBe('nothing due');
    app.clock.move(1);
    expect(await deliver()).toBe('1 sent, 0 not');
    // Across midnight: 22:00 there is 03:00 here.
    app.clock.move(14 * HOUR);
    await tell('monitor.up');
    expect(await deliver()).toBe('1 sent, 0 not');
    app.clock.move(9 * HOUR);
    expect(await deliver()).toBe('1 sent, 0 not');
  });

  test('that is disabled or added later gets no old alerts', async () => {
    const { data } = await add('webhook');
    await app.rest(`PATCH /alerts/recipients/${data.id}/edit`, { body: { active: false } });
    await tell('monitor.down');
    expect(await deliver()).toBe('there are no recipients');
    await app.rest(`PUT /alerts/recipients/${data.id}/edit`, { body: { active: true } });
    expect(await deliver()).toBe('nothing due');
  });

  test('has its address and tokens sealed, and never shown again', async () => {
    const { data, secret = '' } = await add('webhook', { url: `${box.url}/T000/secretpath` });
    await add('telegram', { url: box.url, token: '12345:secret-token', chat_id: '-100123' });
    box.answer(500, 500);
    await tell('monitor.down');
    await deliver();
    const shown = [
      ...(await Promise.all(['GET /alerts/recipients', 'GET /alerts/deliveries'].map((call) => app.rest(call)))),
      await app.rest(`PATCH /alerts/recipients/${data.id}/edit`, { body: { name: 'Renamed' } }),
    ].map(({ body }) => JSON.stringify(body));
    const stored = JSON.stringify(await app.db.all('SELECT * FROM alert_recipient'));
    for (const text of [...shown, stored])
      for (const part of ['secretpath', 'secret-token', secret]) expect(text).not.toContain(part);
    expect(shown[0]).toContain(new URL(box.url).host);
    // Kept by an edit that omits it.
    expect((await app.rest(`POST /alerts/recipients/${data.id}/test`)).body.data.delivered).toBe(true);
    expect(box.received.at(-1)?.path).toBe('/T000/secretpath');
  });

  test.each([
    ['telegram', { token: '12345:secret-token', chat_id: '-100' }],
    ['ntfy', { token: 'tk_secret' }],
  ])('of the type %s does not take its token to another server', async (type, more) => {
    const elsewhere = await receiver();
    const { data } = await add(type, more);
    const path = type === 'ntfy' ? '/other' : '/';
    const edit = (body: object) => app.rest(`PATCH /alerts/recipients/${data.id}/edit`, { body });
    const refused = await edit({ url: `${elsewhere.url}${path}` });
    expect([refused.status, refused.body.data.params.token]).toEqual([400, expect.stringContaining('only')]);
    await app.rest(`POST /alerts/recipients/${data.id}/test`);
    expect([box.received.length, elsewhere.received.length]).toEqual([1, 0]);
    // On the same server it stays; elsewhere it is entered again.
    expect((await edit({ url: `${box.url}${path}` })).status).toBe(200);
    expect((await edit({ url: `${elsewhere.url}${path}`, token: 'another' })).status).toBe(200);
    await app.rest(`POST /alerts/recipients/${data.id}/test`);
    expect(JSON.stringify(elsewhere.received)).toContain('another');
    expect(JSON.stringify(elsewhere.received)).not.toContain('secret');
  });

  test.each([
    [{ type: 'slack', name: 'x' }, 'url', 'needs url'],
    [{ type: 'telegram', name: 'x', token: '1:a' }, 'chat_id', 'needs chat_id'],
    [{ type: 'slack', name: 'x', url: 'https://hooks.example/x', token: 'abc' }, 'token', 'has no token'],
    [{ type: 'webhook', name: 'x', url: 'ftp://a.example/' }, 'url', 'not a web address'],
    [{ type: 'webhook', name: 'x', url: 'https://u:p@a.example/' }, 'url', 'must not contain a login'],
    [{ type: 'ntfy', name: 'x', url: 'https://ntfy.example/' }, 'url', 'no topic'],
    [{ type: 'ntfy', name: 'x', url: 'https://ntfy.example/%ZZ' }, 'url', 'no topic'],
    [{ type: 'ntfy', name: 'x', url: 'https://ntfy.example/a%20b' }, 'url', 'no topic'],
    [{ type: 'ntfy', name: 'x', url: 'https://ntfy.example/t', quiet_from: '22:00' }, 'quiet_to', 'a start and an end'],
    [{ type: 'ntfy', name: 'x', url: 'https://ntfy.example/t', quiet_from: '25:00' }, 'quiet_from', 'HH:MM'],
    [{ type: 'ntfy', name: 'x', url: 'https://ntfy.example/t', sites: [99] }, 'sites', 'No site has the id 99'],
    [{ type: 'ntfy', name: 'x', url: 'https://ntfy.example/t', kinds: 'monitor.sideways' }, 'kinds[0]', ''],
  ])('is refused when %j is wrong, naming the field', async (body, field, reason) => {
    const reply = await app.rest('POST /alerts/recipients/add', { body });
    expect([reply.status, reply.body.code]).toEqual([400, 'rest_invalid_param']);
    expect(Object.keys(reply.body.data.params)).toEqual([field]);
    expect(reply.body.data.params[field]).toContain(reason);
    expect((await app.rest('GET /alerts/recipients')).body.total).toBe(0);
  });

  test('is tried before it is added, and refused as it would be then', async () => {
    const attempt = (body: object) => app.rest('POST /alerts/recipients/test', { body });
    const slack = { type: 'slack', url: `${box.url}/hook` };
    expect((await attempt(slack)).body.data).toEqual({
      ...{ recipient_id: null, recipient: 'Test', type: 'slack' },
      ...{ delivered: true, error: '' },
    });
    expect(box.received[0]?.body.text).toContain('Test: Example');
    box.answer(500);
    const failed = await attempt({ ...slack, name: 'On call', kind: 'certificate.expired' });
    expect(failed.body).toMatchObject({
      message: 'The test was not delivered.',
      data: { recipient: 'On call', delivered: false, error: expect.stringContaining('HTTP 500') },
    });
    for (const [body, field] of [
      [{ type: 'slack' }, 'url'],
      [{ ...slack, token: 'abc' }, 'token'],
      [{ ...slack, sites: [1] }, 'sites'],
    ] as const) {
      const reply = await attempt(body);
      expect([reply.status, Object.keys(reply.body.data.params)]).toEqual([400, [field]]);
    }
    expect(box.received).toHaveLength(2);
    expect((await app.rest('GET /alerts/recipients')).body.total).toBe(0);
    expect((await app.rest('GET /alerts/deliveries')).body.total).toBe(0);
    const read = await app.rest('POST /alerts/recipients/test', { body: slack, token: app.tokens.read });
    expect(read.status).toBe(403);
    // What has left this machine is in the log; its address is a secret.
    const calls = await app.db.all(
      "SELECT operation, action, input FROM action_log WHERE operation LIKE '%recipients/test'",
    );
    expect(calls.map(({ action }) => action)).toEqual(['called', 'ended', 'called', 'ended']);
    expect(JSON.stringify(calls)).not.toContain('/hook');
  });

  test('is found by its id only', async () => {
    for (const call of ['DELETE /alerts/recipients/9/delete', 'POST /alerts/recipients/9/test'])
      expect((await app.rest(call)).body.code).toBe('svc_alert_recipient_not_found');
    expect((await app.rest('POST /alerts/deliveries/9/resend')).body.code).toBe('svc_alert_delivery_not_found');
    const { data } = await add('slack');
    expect((await app.rest(`DELETE /alerts/recipients/${data.id}/delete`)).status).toBe(200);
    expect((await app.rest('GET /alerts/recipients')).body.total).toBe(0);
  });
});

describe('a chat', () => {
  test.each(['slack', 'discord', 'teams', 'ntfy', 'webhook'])(
    'of %s gets no half characters from a name that is too long, which it would refuse',
    async (type) => {
      await add(type);
      // Whichever unit a limit falls on.
      for (const first of ['', 'x']) {
        const name = `${first}${'😀'.repeat(200)}`;
        await app.db.run('UPDATE site SET name = ? WHERE id = ?', [name, site]);
        await tell('monitor.down', { name, msg: name });
        await deliver();
      }
      expect(box.received).toHaveLength(2);
      for (const { text } of box.received) expect(text).not.toMatch(/\\ud[89a-f][0-9a-f]{2}/i);
    },
  );

  const HOSTILE = 'Fine. <!channel> @everyone *bold* <b>x</b> [a](https://evil.example) 1 < 2 & "up again"';
  /** As it is quoted: what could be markup is gone, and signs that services know are left. */
  const SAID = `"Fine. @everyone *bold* x a 1 < 2 & 'up again'"`;

  test.each([
    ['slack', (body: Received) => body.attachments[0].blocks[1].text, { type: 'plain_text' }],
    ['discord', (body: Received) => ({ ...body.allowed_mentions, colour: body.embeds[0].color }), { parse: [] }],
    ['teams', (body: Received) => body.attachments[0].content, { type: 'AdaptiveCard', version: '1.4' }],
    ['telegram', (body: Received) => body, { chat_id: '-100', link_preview_options: { is_disabled: true } }],
    ['ntfy', (body: Received) => body, { topic: 'alerts', priority: 4 }],
  ])('%s gets its own form, and a name of a site formats nothing and mentions no one', async (type, part, form) => {
    await add(type, type === 'telegram' ? { url: box.url, token: '1:abc', chat_id: '-100' } : {});
    await app.db.run('UPDATE site SET name = ? WHERE id = ?', [HOSTILE, site]);
    await tell('monitor.down', { msg: 'HTTP 503.' });
    expect(await deliver()).toBe('1 sent, 0 not');
    const [message] = box.received;
    expect(part(message?.body)).toMatchObject(form);
    expect(message?.text).toContain('HTTP 503');
    const { body } = message ?? {};
    if (type === 'slack') expect(body.text).toContain(SAID.replace('&', '&amp;').replace('<', '&lt;'));
    if (type === 'discord')
      expect(body.embeds[0].description).toContain(SAID.replaceAll('*', '\\*').replace('<', '\\<'));
    else expect(JSON.stringify(part(body))).toContain(JSON.stringify(SAID).slice(1, -1));
    if (type === 'teams') expect(body.attachments[0].content.body[0].type).toBe('RichTextBlock');
    if (type === 'telegram') expect([message?.path, body.parse_mode]).toEqual(['/bot1:abc/sendMessage', undefined]);
  });

  test('gets many alerts as one message', async () => {
    await add('slack');
    for (let i = 0; i < 30; i++) await tell('monitor.down');
    expect(await deliver()).toBe('30 sent, 0 not');
    expect(box.received).toHaveLength(1);
    const text = box.received[0]?.body.attachments[0].blocks[1].text.text as string;
    expect(text.match(/Shop \([^)]*\) is down/g)).toHaveLength(20);
    expect(text).toContain('And 10 more.');
  });
});

test('it is known when no one would get an alert', async () => {
  expect((await audienceOf(ctx())).warning).toContain('No one would receive an alert');
  // Without a mail server, mail recipients get nothing.
  await editMail(ctx(), 'uptime', { recipients: ['ada@example.com'] });
  expect((await audienceOf(ctx())).warning).toContain('SITEFLEET_SMTP_URL');
  await add('slack');
  expect(await audienceOf(ctx())).toEqual({ addresses: [], recipients: [1], warning: '' });
});

// biome-ignore lint/suspicious/noExplicitAny: messages of many shapes
type Received = any;
