import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { selfSigned } from '../../src/demo/certificate.js';
import { type Faults, type Fleet, type FleetOptions, startFleet } from '../../src/demo/fleet.js';
import { closing, tracked } from '../support/cleanup.js';
import { ALWAYS, START } from '../support/dates.js';
import { ajax, call, callRaw, post, record, register, signedBody } from '../support/demo-client.js';
import { answersTogether, holdBack } from '../support/hold-back.js';
import { listenLocally } from '../support/local-server.js';
import { bundledPrograms } from '../support/processes/bundle.js';

async function start(options: FleetOptions): Promise<Fleet> {
  return closing(await startFleet({ now: () => START, ...options }));
}

describe('where sites live', () => {
  test('path: one listener, a folder per site, each with its own key', async () => {
    const fleet = await start({ sites: 3 });
    expect(fleet.sites.map((site) => site.url)).toEqual(
      [0, 1, 2].map((i) => `http://127.0.0.1:${fleet.port}/site-000${i}/`),
    );
    await register(fleet.site(0));
    expect(await call(fleet.site(0), 'stats')).toMatchObject({ siteurl: fleet.site(0).url.slice(0, -1) });
    expect(Object.keys(await call(fleet.site(1), 'stats'))).toEqual(['error']);
    const bare = await fetch(fleet.site(0).url.slice(0, -1), { redirect: 'manual' });
    expect([bare.status, bare.headers.get('location')]).toEqual([301, fleet.site(0).url]);
    expect((await fetch(`http://127.0.0.1:${fleet.port}/site-0003/`)).status).toBe(404);
    expect(() => fleet.site(3)).toThrow(/site 3: there are 3/);
  });

  test('port: a listener per site', async () => {
    const fleet = await start({ sites: 3, mode: 'port' });
    expect(new Set(fleet.sites.map((site) => new URL(site.url).port)).size).toBe(3);
    await register(fleet.site(2));
    expect(await call(fleet.site(2), 'stats')).toMatchObject({ siteurl: fleet.site(2).url.slice(0, -1) });
    expect(Object.keys(await call(fleet.site(1), 'stats'))).toEqual(['error']);
  });

  test('address: a loopback address per site', async () => {
    const fleet = await start({ sites: 3, addresses: 'distinct' });
    expect(fleet.sites.map((site) => new URL(site.url).hostname)).toEqual(['127.20.0.1', '127.20.0.2', '127.20.0.3']);
    await register(fleet.site(1));
    expect(await call(fleet.site(1), 'stats')).toMatchObject({ siteurl: fleet.site(1).url.slice(0, -1) });
    expect(fleet.stats().maxInFlightByHost).toMatchObject({ '127.20.0.2': 1 });
  });

  test('https with a certificate that nobody trusts', async () => {
    const fleet = await start({ sites: 2, mode: 'port', tls: selfSigned(ALWAYS) });
    const { url, host } = fleet.site(1);
    expect(url).toMatch(/^https:/);
    await expect(fetch(url)).rejects.toThrow();
    const socket = connect({ host, port: Number(new URL(url).port), rejectUnauthorized: false });
    const certificate = await new Promise<{ valid_to: string; subjectaltname?: string }>((done, fail) => {
      socket.once('secureConnect', () => done(socket.getPeerCertificate()));
      socket.once('error', fail);
    });
    expect(Date.parse(certificate.valid_to)).toBe(ALWAYS.notAfter);
    expect(certificate.subjectaltname).toContain('127.0.0.1');
    const page = await new Promise<string>((done) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.once('close', () => done(text));
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
    expect(page).toMatch(/^HTTP\/1\.1 200/);
    expect(page).toContain('<title>');
  });

  test('wrong options are named, a taken port leaves nothing open', async () => {
    await expect(startFleet({ sites: 0 })).rejects.toThrow(/^sites: /);
    await expect(startFleet({ sites: 1, host: '0.0.0.0' })).rejects.toThrow(/^host: .*loopback/);
    const taken = createServer();
    const { port } = await listenLocally(taken);
    await expect(startFleet({ sites: 1, port })).rejects.toThrow(/EADDRINUSE/);
  });

  test('after close nobody listens and nothing hangs', async () => {
    const fleet = await startFleet({ sites: 1 });
    fleet.site(0).faults.hang = true;
    const waiting = fetch(fleet.site(0).url).catch((error: Error) => error);
    await expect.poll(() => fleet.stats().inFlight).toBe(1);
    await fleet.close();
    expect(await waiting).toBeInstanceOf(Error);
    await expect(fetch(fleet.site(0).url)).rejects.toThrow();
    await fleet.close();
  });
});

describe('the generator', () => {
  const now = () => 1_790_000_000_000;
  const content = (fleet: Fleet) => JSON.stringify(fleet.sites.map((site) => [site.admin, site.password, site.state]));

  test('one seed, one fleet; another seed, another', async () => {
    const [one, two, three] = [
      await start({ sites: 20, seed: 7, now }),
      await start({ sites: 20, seed: 7, now }),
      await start({ sites: 20, seed: 8, now }),
    ];
    expect(content(one)).toBe(content(two));
    expect(content(one)).not.toBe(content(three));
  });

  test('every site has the child plugin active, one administrator, an existing theme and unique slugs', async () => {
    const fleet = await start({ sites: 200 });
    for (const { state, admin } of fleet.sites) {
      expect(state.plugins.find((each) => each.slug === 'mainwp-child/mainwp-child.php')?.active).toBe(true);
      expect(new Set(state.plugins.map((each) => each.slug)).size).toBe(state.plugins.length);
      expect(state.users[0]).toMatchObject({ login: admin, role: 'administrator' });
      expect(state.themes.some((theme) => theme.slug === state.activeTheme)).toBe(true);
    }
    const all = fleet.sites.flatMap((site) => site.state.plugins);
    expect(all.filter((each) => each.update !== null).length).toBeGreaterThan(100);
    expect(fleet.sites.some((site) => site.state.wpUpdate !== null)).toBe(true);
  });

  test('as many plugins as asked for', async () => {
    const fleet = await start({ sites: 5, plugins: 150 });
    expect(fleet.sites.map((site) => site.state.plugins.length)).toEqual([150, 150, 150, 150, 150]);
  });
});

describe('faults', () => {
  async function one(faults: Faults) {
    const fleet = await start({ sites: 1 });
    const site = fleet.site(0);
    await register(site);
    Object.assign(site.faults, faults);
    return { fleet, site };
  }

  test('offline, hang and a cut connection', async () => {
    const { site } = await one({ offline: true });
    await expect(callRaw(site, 'stats')).rejects.toThrow();
    site.faults.offline = false;
    expect((await callRaw(site, 'stats')).status).toBe(200);
    site.faults.hang = true;
    const body = signedBody(site, 'stats');
    const stopped = fetch(ajax(site), { method: 'POST', body, signal: AbortSignal.timeout(100) });
    await expect(stopped).rejects.toThrow(/timeout/);
  });

  test('pages without a frame: 500, firewall, maintenance, missing plugin', async () => {
    const { site } = await one({ http500: true });
    const statuses: [Faults, number, number][] = [
      [{ http500: true }, 500, 500],
      [{ firewall: true }, 403, 200],
      [{ maintenance: true }, 503, 503],
      [{ pluginMissing: true }, 400, 200],
    ];
    for (const [faults, called, visited] of statuses) {
      for (const name of Object.keys(site.faults)) Reflect.deleteProperty(site.faults, name);
      Object.assign(site.faults, faults);
      const reply = await callRaw(site, 'stats');
      expect([faults, reply.status, reply.value]).toEqual([faults, called, undefined]);
      expect([faults, (await fetch(site.url)).status]).toEqual([faults, visited]);
    }
  });

  test('a firewall of wp-admin lets the plain site URL pass', async () => {
    const { site } = await one({ firewall: 'wp-admin' });
    expect((await callRaw(site, 'stats')).status).toBe(403);
    expect((await post(site.url, signedBody(site, 'stats'))).value).toHaveProperty('version');
  });

  test('HTTP Basic in front', async () => {
    const { site } = await one({ httpAuth: { user: 'u', pass: 'p:w' } });
    expect((await callRaw(site, 'stats')).status).toBe(401);
    const authorization = `Basic ${Buffer.from('u:p:w').toString('base64')}`;
    const reply = await post(ajax(site), signedBody(site, 'stats'), { authorization });
    expect(reply.value).toHaveProperty('version');
  });

  test('redirects, 301 or as told', async () => {
    const { site } = await one({ redirect: 'https://elsewhere.example/' });
    const reply = await callRaw(site, 'stats');
    expect([reply.status, reply.headers.get('location')]).toEqual([301, 'https://elsewhere.example/']);
    site.faults.redirect = { to: '/x', status: 307 };
    expect((await fetch(site.url, { redirect: 'manual' })).status).toBe(307);
  });

  test('damaged frames', async () => {
    const { site } = await one({ emptyFrame: true });
    expect((await callRaw(site, 'stats')).body).toBe('<mainwp></mainwp>');
    site.faults.emptyFrame = false;
    site.faults.malformedJson = true;
    await expect(callRaw(site, 'stats')).rejects.toThrow(SyntaxError);
  });

  test('refused, and an outdated child', async () => {
    const { site } = await one({ refused: true });
    expect(Object.keys(await call(site, 'stats'))).toEqual(['error']);
    site.faults.refused = false;
    site.faults.outdated = true;
    const payload = await call(site, 'stats');
    expect(payload).toMatchObject({ version: '3.5.4', site_info: { child_version: '3.5.4' } });
  });

  test('bodies that dribble and bodies that never end', async () => {
    const { site } = await one({ slowBody: { bytes: 4000, everyMs: 20 } });
    const begun = performance.now();
    expect((await callRaw(site, 'stats')).value).toHaveProperty('version');
    expect(performance.now() - begun).toBeGreaterThan(50);
    site.faults.slowBody = false;
    site.faults.oversizedBody = true;
    const endless = await fetch(ajax(site), { method: 'POST', body: signedBody(site, 'stats') });
    let size = 0;
    for await (const chunk of endless.body ?? []) {
      size += chunk.length;
      if (size > 2_000_000) break;
    }
    expect(size).toBeGreaterThan(2_000_000);
  });

  test('an update that is done although its answer never comes', async () => {
    const { site } = await one({ dieMidUpdate: true });
    const plugin = site.state.plugins.find((each) => !each.slug.startsWith('mainwp-child'));
    if (plugin === undefined) throw new Error('no plugin');
    plugin.update = { version: '9.9.9', requiresPhp: '', requiresWp: '' };
    await expect(callRaw(site, 'upgradeplugintheme', { type: 'plugin', list: plugin.slug })).rejects.toThrow();
    expect(plugin.version).toBe('9.9.9');
    expect((await callRaw(site, 'stats')).status).toBe(200);
  });

  test('work goes on after the client hung up', async () => {
    const { site } = await one({});
    const held = holdBack(site, /^upgrade$/);
    Object.assign(site.state, { wpVersion: '7.0', wpUpdate: '7.1.4' });
    const body = signedBody(site, 'upgrade');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const client = new AbortController();
    const given = fetch(ajax(site), { method: 'POST', body, headers, signal: client.signal });
    void held.waiting.then(() => client.abort());
    await expect(given).rejects.toThrow();
    expect(site.state.wpVersion).toBe('7.0');
    held.letGo();
    await expect.poll(() => site.state.wpVersion).toBe('7.1.4');
  });

  test('latency as a number, a range and a function; in-flight requests are counted', async () => {
    const { fleet, site } = await one({ latencyMs: 60 });
    const begun = performance.now();
    await callRaw(site, 'security');
    expect(performance.now() - begun).toBeGreaterThan(55);
    fleet.resetStats();
    answersTogether(site, 3);
    await Promise.all([1, 2, 3].map(() => callRaw(site, 'security')));
    expect(fleet.stats()).toMatchObject({ requests: 3, maxInFlight: 3, maxInFlightByHost: { '127.0.0.1': 3 } });
    expect(fleet.stats().calls).toEqual({ security: 3 });
    site.faults.latencyMs = [40, 50];
    const second = performance.now();
    await callRaw(site, 'security');
    expect(performance.now() - second).toBeGreaterThan(35);
    const asked: string[] = [];
    site.faults.latencyMs = (name) => asked.push(name);
    await callRaw(site, 'security');
    expect(asked).toEqual(['security']);
    await expect.poll(() => fleet.stats().inFlight).toBe(0);
    expect(site.maxInFlight).toBe(3);
  });
});

describe('the front page', () => {
  test('answers GET, HEAD and POST', async () => {
    const fleet = await start({ sites: 1 });
    const { url, name } = fleet.site(0);
    const page = await fetch(url);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(name.split(' ')[1] ?? '')]);
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const form = new FormData();
    form.set('test', 'yes');
    expect((await fetch(url, { method: 'POST', body: form })).status).toBe(200);
  });

  test('shows the maintenance sentence', async () => {
    const fleet = await start({ sites: 1 });
    fleet.site(0).faults.maintenance = true;
    const text = await (await fetch(fleet.site(0).url)).text();
    expect(text).toContain('Briefly unavailable for scheduled maintenance. Check back in a minute.');
  });
});

describe('control and process', () => {
  const control = (port: number, order: unknown) =>
    fetch(`http://127.0.0.1:${port}/__control`, { method: 'POST', body: JSON.stringify(order) });

  test('faults over HTTP only when asked for, wrong names are named', async () => {
    const closed = await start({ sites: 1 });
    expect((await control(closed.port, {})).status).toBe(404);
    const fleet = await start({ sites: 3, control: true });
    expect((await control(fleet.port, { sites: [1, 2], faults: { http500: true } })).status).toBe(200);
    expect(fleet.sites.map((site) => site.faults.http500)).toEqual([undefined, true, true]);
    await control(fleet.port, { sites: 'all', faults: { http500: null } });
    expect(fleet.site(1).faults).toEqual({});
    const wrong = await control(fleet.port, { sites: 0, faults: { ofline: true } });
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('faults.ofline')]);
    expect((await control(fleet.port, { sites: 9, faults: {} })).status).toBe(400);
  });

  test('stored answers are dropped when something changes', async () => {
    const fleet = await start({ sites: 1, cache: true });
    const site = fleet.site(0);
    await register(site);
    const first = await callRaw(site, 'stats');
    expect((await callRaw(site, 'stats')).body).toBe(first.body);
    const theme = String(record(first.value).siteurl);
    await call(site, 'theme_action', { action: 'activate', theme: 'ghost' });
    expect(await call(site, 'stats')).toMatchObject({ siteurl: theme, site_info: { themeactivated: 'ghost' } });
    const narrow = await call(site, 'stats', { syncdata: '{"plugins":0}' });
    expect(narrow).not.toHaveProperty('plugins');
    site.state.title = 'handed out';
    site.state.wpUpdate = '99.0';
    expect(await call(site, 'stats', { syncdata: '{}' })).toMatchObject({ wp_updates: '99.0' });
  });

  test('runs as a process of its own and ends with its standard input', async () => {
    const script = join(await bundledPrograms(), 'fleet.js');
    const child = tracked(spawn(process.execPath, [script, '{"sites":2,"password":"pw"}']));
    const line = await new Promise<string>((done, fail) => {
      child.stdout.once('data', (chunk) => done(String(chunk)));
      child.once('exit', (code) => fail(new Error(`ended with ${code}`)));
    });
    const ready = record(JSON.parse(line));
    expect(ready).toMatchObject({ port: expect.any(Number), sites: [{ password: 'pw' }, { password: 'pw' }] });
    const [first] = ready.sites as { url: string }[];
    expect((await fetch(first?.url ?? '')).status).toBe(200);
    const ended = new Promise((done) => child.once('exit', done));
    child.stdin.end();
    expect(await ended).toBe(0);
  });

  test('a wrong argument ends the process with words', async () => {
    const script = join(await bundledPrograms(), 'fleet.js');
    const child = tracked(spawn(process.execPath, [script, '{"sites":"many"}']));
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    const code = await new Promise((done) => child.once('close', done));
    expect([code, said]).toEqual([2, expect.stringContaining('sites: expected a whole number')]);
  });
});
