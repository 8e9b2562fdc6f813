/**
 * Installing, reading and removing the guard of a site, undoing an update from its copies, and updates without a guard.
 */

import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { loadSite } from '../../src/domain/sites/load.js';
import {
  type Baseline,
  compare,
  NO_BASELINE,
  problemsOf,
  type SiteCheck,
} from '../../src/domain/updates/safe/compare-health.js';
import { FRONT } from '../../src/domain/updates/safe/looked-pages.js';
import { factsOf } from '../../src/domain/updates/safe/page-facts.js';
import { checkAgain, checkBefore } from '../../src/domain/updates/safe/probe.js';
import { verify } from '../../src/domain/updates/safe/verify.js';
import { createProbe } from '../../src/outbound/probe/create.js';
import type { HttpProbe, Probe } from '../../src/outbound/probe/probe.js';
import type { ServiceError } from '../../src/runtime/errors.js';
import { listenLocally } from '../support/local-server.js';
import { type SafetyApp, safetyApp } from './safety-app.js';

let app: SafetyApp;

const one = { site_id_or_domain: 1 };
/** Entries of the action log about the site's guard and rollbacks, oldest first, without the site's name. */
async function logged(): Promise<string[]> {
  await expect
    .poll(() => app.cell("SELECT count(*) FROM action_log WHERE action = 'guard-removed' OR action = 'rolled-back'"))
    .not.toBe(0);
  const { changes } = await app.call('get-site-changes', { ...one, source: 'dashboard' });
  return (changes as { description: string }[])
    .map(({ description }) => description.replace(/: [^(]+?(?= \(|$)/, ''))
    .filter((text) => /^(Guard|Rolled)/.test(text))
    .reverse();
}
const sync = () => app.call('sync-sites', { site_ids_or_domains: [1] });

describe('the guard of a site', () => {
  it('is installed through the child plugin, shows what it can do, and is removed', async () => {
    app = await safetyApp({ sites: 1, guards: false });
    const site = app.site(0);
    const unknown = await app.call('get-site-guard', one);
    expect(unknown).toMatchObject({ installed: false, version: null, can_protect: false, free_bytes: null });
    const plan = await app.call('install-site-guard', { ...one, dry_run: true });
    expect(plan).toMatchObject({ dry_run: true, installed: false, how: expect.stringContaining('mu-plugins') });
    expect(site.guard).toBeNull();

    const installed = await app.call('install-site-guard', { ...one, allow_login: true });
    expect(installed).toMatchObject({
      installed: true,
      version: plan.version,
      previous_version: null,
      login_allowed: true,
    });
    expect(site.guard).toMatchObject({ version: plan.version, login: true });
    // Omitted options stay unchanged, even while the guard does not answer.
    const renewed = { previous_version: plan.version, login_allowed: true };
    expect(await app.call('install-site-guard', { ...one, dry_run: true })).toMatchObject(renewed);
    expect(await app.call('install-site-guard', one)).toMatchObject(renewed);
    expect(site.guard?.login).toBe(true);
    site.guard = null;
    expect(await app.call('install-site-guard', one)).toMatchObject({ previous_version: null, login_allowed: true });
    expect(await app.call('install-site-guard', { ...one, allow_login: false })).toMatchObject({
      login_allowed: false,
    });
    expect(await app.call('install-site-guard', one)).toMatchObject({ login_allowed: false });
    expect(await app.call('get-site-guard', one)).toMatchObject({
      installed: true,
      can_protect: true,
      login_allowed: false,
      problems: [],
      armed: [],
    });

    // An older guard still protects.
    Object.assign(app.site(0).guard ?? {}, { version: '1.0.0' });
    expect(await app.call('get-site-guard', one)).toMatchObject({
      can_protect: true,
      problems: [expect.stringMatching(new RegExp(`older than ${plan.version}: install-site-guard-v1`))],
    });
    Object.assign(app.site(0).guard ?? {}, { version: plan.version });

    // A call without confirmation is refused without asking the guard, and stores nothing.
    const known = () => app.service.store.guards.find(1);
    const before = await known();
    app.clock.move(1000);
    expect(await app.fail('remove-site-guard', one)).toMatchObject({ code: 'svc_confirmation_required' });
    expect(await known()).toEqual(before);

    const preview = await app.call('remove-site-guard', { ...one, dry_run: true });
    expect(preview).toMatchObject({ installed: true, snapshots: 0 });
    expect(await app.call('remove-site-guard', { ...one, confirm: true })).toMatchObject({ removed: true });
    expect(site.guard).toBeNull();
    expect(await app.call('get-site-guard', one)).toMatchObject({ installed: false });
    expect(await app.call('install-site-guard', { ...one, dry_run: true })).toMatchObject({ login_allowed: false });
    expect(await logged()).toEqual([
      `Guard installed site (version ${plan.version}, logins by token allowed)`,
      `Guard renewed site (version ${plan.version}, logins by token allowed)`,
      `Guard installed site (version ${plan.version}, logins by token allowed)`,
      `Guard renewed site (version ${plan.version}, logins by token not allowed)`,
      `Guard renewed site (version ${plan.version}, logins by token not allowed)`,
      'Guard removed site',
    ]);
  });

  it('that does not answer any more is reported, and removed by the child plugin', async () => {
    app = await safetyApp({ sites: 1 });
    await app.call('get-site-guard', one);
    const { guard } = app.site(0);
    app.site(0).guard = null;
    expect(await app.call('get-site-guard', one)).toMatchObject({ installed: true, can_protect: false });
    app.site(0).guard = guard;
    app.site(0).faults.guardRefuses = { hello: 'clock' };
    expect(await app.fail('get-site-guard', one)).toMatchObject({
      code: 'svc_guard_refused',
      advice: expect.stringContaining('clock'),
    });
    app.site(0).faults.guardRefuses = {};
    app.site(0).guard = null;
    await app.call('remove-site-guard', { ...one, confirm: true });
    expect(app.site(0).state.plugins.some(({ slug }) => slug === 'sitefleet-guard.php')).toBe(false);
  });

  it('that fails where it was just written is taken away again, so that updates are not refused for it', async () => {
    app = await safetyApp({ sites: 1, guards: false });
    const site = app.site(0);
    site.faults.guardRefuses = { hello: 'failed' };
    const error = await app.fail('install-site-guard', one);
    expect(error).toMatchObject({
      code: 'svc_guard_install_failed',
      message: expect.stringMatching(/does not work.*This site cannot: failed.*It was removed again\.$/),
      data: { reason: 'failed' },
    });
    expect(site.guard).toBeNull();
    const plugin = app.offer(site);
    await sync();
    await app.safely('update-site-plugins', one);
    expect(plugin.version).toBe('99.0');
    expect(await app.call('get-site-guard', one)).toMatchObject({ installed: false });
  });

  it('that fails is replaced, and removed, all the same', async () => {
    app = await safetyApp({ sites: 1 });
    const site = app.site(0);
    await app.call('get-site-guard', one);
    // The one that is there fails, the new one works.
    let failures = 1;
    site.faults.guardRefuses = new Proxy({}, { get: () => (failures-- > 0 ? 'failed' : undefined) });
    expect(await app.call('install-site-guard', one)).toMatchObject({ installed: true, previous_version: null });

    site.faults.guardRefuses = { hello: 'failed', uninstall: 'busy' };
    expect(await app.fail('remove-site-guard', { ...one, confirm: true })).toMatchObject({ data: { reason: 'busy' } });
    expect(site.guard).not.toBeNull();
    site.faults.guardRefuses = { hello: 'failed', uninstall: 'failed' };
    expect(await app.call('remove-site-guard', { ...one, dry_run: true })).toMatchObject({
      installed: true,
      warnings: [expect.anything(), expect.stringContaining('This site cannot: failed')],
    });
    expect(await app.call('remove-site-guard', { ...one, confirm: true })).toMatchObject({ removed: true });
    expect(site.guard).toBeNull();
    expect(await app.call('get-site-guard', one)).toMatchObject({ installed: false });
  });

  it('that was copied onto the site by hand is known after a sync', async () => {
    app = await safetyApp({ sites: 1 });
    const plugin = app.offer(app.site(0));
    await sync();
    await app.safely('update-site-plugins', one);
    expect(app.site(0).guard?.kept).toMatchObject([{ slug: plugin.slug }]);
  });
});

describe('undoing an update', () => {
  it('puts the copy back, by change or by item, and hides changes of other sites', async () => {
    app = await safetyApp({ sites: 1 });
    const plugin = app.offer(app.site(0));
    const before = plugin.version;
    await sync();
    await app.safely('update-site-plugins', one);
    const { snapshots } = await app.call('list-site-snapshots', one);
    expect(snapshots).toMatchObject([{ slug: plugin.slug, version: before, role: 'snapshot' }]);
    const { change_id } = snapshots[0];
    // A rollback is allowed on a site that is down: that is its purpose.
    app.site(0).faults.breaks = { [`${plugin.slug}@99.0`]: 'fatal' };
    await app.db.run('UPDATE site_detail SET reachable = 0');
    const undone = await app.call('roll-back', { change_id });
    expect(undone).toMatchObject({
      slug: plugin.slug,
      old_version: '99.0',
      version: before,
      protection: 'guard',
      well: true,
    });
    expect(plugin.version).toBe(before);
    expect(await logged()).toEqual([`Rolled back plugin (from 99.0 to ${before})`]);
    // The replaced version is kept as well.
    app.site(0).faults.breaks = {};
    const again = await app.call('roll-back', { ...one, type: 'plugin', slug: plugin.slug, to_version: '99.0' });
    expect([again.version, plugin.version]).toEqual(['99.0', '99.0']);
  });
});

/** The archive of wordpress.org, with or without packages. */
function archive(there: boolean): { probe: Probe; asked: string[] } {
  const asked: string[] = [];
  const real = createProbe({ allowPrivate: true, references: [] });
  const timing = { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 1 };
  const http = async ({ url, method }: HttpProbe) => {
    asked.push(`${method} ${url}`);
    const answer = { retry_after: '', body: '', truncated: false, ip: '', redirects: 0, timing, failure: null };
    return { ...answer, http_status: there ? 200 : 404 };
  };
  return { probe: { ...real, http }, asked };
}

describe('a site without a guard', () => {
  it('is protected by the archive of wordpress.org, and said to be weaker', async () => {
    const { probe, asked } = archive(true);
    app = await safetyApp({ sites: 1, guards: false, probe });
    const site = app.site(0);
    const plugin = app.offer(site);
    const before = plugin.version;
    const folder = plugin.slug.split('/')[0];
    await sync();
    const plan = await app.safely('safe-update-site', { ...one, dry_run: true });
    expect(plan).toMatchObject({ planned: [{ slug: plugin.slug, protection: 'reinstall' }], updated: [] });
    expect(plan.notices.join(' ')).toContain('while WordPress still starts');
    expect(asked).toEqual([`HEAD https://downloads.wordpress.org/plugin/${folder}.${before}.zip`]);
    expect(plugin.version).toBe(before);

    // Breakage that leaves WordPress running can be rolled back, other breakage cannot.
    site.faults.breaks = { [`${plugin.slug}@99.0`]: 'front' };
    const answer = await app.safely('safe-update-site', one);
    expect(answer).toMatchObject({ updated: [], errors: [{ slug: plugin.slug, code: 'svc_update_rolled_back' }] });
    expect([plugin.version, plugin.active]).toEqual([before, true]);
    await app.call('lift-quarantine', { type: 'plugin', slug: plugin.slug, version: '99.0' });
    site.faults.breaks = { [`${plugin.slug}@99.0`]: 'fatal' };
    const dead = await app.safely('safe-update-site', one);
    expect(dead.errors).toMatchObject([{ slug: plugin.slug, code: 'svc_update_broke_site' }]);
    expect(dead.notices.join(' ')).toContain('while WordPress still starts');
  });

  it('leaves items alone that nothing protects, unless asked otherwise', async () => {
    const { probe } = archive(false);
    app = await safetyApp({ sites: 1, guards: false, probe });
    const plugin = app.offer(app.site(0));
    const before = plugin.version;
    await sync();
    const answer = await app.safely('safe-update-site', one);
    expect(answer).toMatchObject({ planned: [], updated: [], errors: [{ code: 'svc_update_unprotected' }] });
    expect(answer.errors[0].message).toMatch(/could not be rolled back if it broke the site\..*install-site-guard-v1/);
    expect(plugin.version).toBe(before);
    const told = await app.safely('safe-update-site', { ...one, least_protection: 'none' });
    expect(told.updated).toMatchObject([{ slug: plugin.slug, protection: 'none' }]);
    expect(told.notices.join(' ')).toContain('cannot be rolled back');
  });

  it('says of what no guard protects that it is never rolled back, and advises none', async () => {
    app = await safetyApp({ sites: 1 });
    Object.assign(app.site(0).state, {
      wpUpdate: '99.0',
      translations: [{ type: 'core', slug: 'default', language: 'de_DE', version: '7.1', name: 'WordPress' }],
    });
    await sync();
    const { planned, errors } = await app.safely('safe-update-site', { ...one, dry_run: true });
    expect(planned).toEqual([]);
    const told = errors.map(({ type, code, message }: Record<string, string>) => [type, code, message]);
    const sentence = (what: string) =>
      `It is left as it is: ${what} never rolled back. A lower least_protection updates it anyway.`;
    expect(told.sort()).toEqual([
      ['core', 'svc_update_unprotected', sentence('WordPress itself is')],
      ['translation', 'svc_update_unprotected', sentence('translations are')],
    ]);
  });

  it('is updated by the ordinary operations as before: no look, no wait', async () => {
    app = await safetyApp({ sites: 1, guards: false });
    const plugin = app.offer(app.site(0));
    await sync();
    // The clock stands still.
    const answer = await app.call('update-site-plugins', one);
    expect(answer.updated).toMatchObject([{ slug: plugin.slug }]);
    expect(await app.cell('SELECT count(*) FROM safe_change')).toBe(0);
  });
});

describe('what a look tells', () => {
  const page = (body: string, more: object = {}) => ({
    status: 200,
    location: '',
    content_type: 'text/html',
    sets_cookies: false,
    body,
    cut: false,
    ms: 1,
    failure: null,
    ...more,
  });
  const words = 'One two three four five six seven eight nine ten eleven twelve';
  const html = (text: string, title = 'Shop') =>
    `<html><head><title>${title}</title></head><body>${text}</body></html>`;
  const died = (text: string) => `<html><head></head><body id="error-page">${text}</body></html>`;
  /** As PHP shows an uncaught exception. */
  const SHOWN =
    '<br />\n<b>Fatal error</b>:  Uncaught Error: x in /a.php:3\n#0 {main}\n  thrown in <b>/a.php</b> on line <b>3</b><br />';
  const look = (answer: ReturnType<typeof page>): SiteCheck => ({
    at: 0,
    pages: { '': factsOf(answer, 'https://example.com/') },
    child: true,
  });
  const states = (first: ReturnType<typeof page>, second: ReturnType<typeof page>): Baseline => ({
    ...NO_BASELINE,
    first: look(first),
    second: look(second),
  });
  const steady = states(page(html(words)), page(html(words)));
  const judged = (answer: ReturnType<typeof page>, then = steady) =>
    compare(then, look(answer)).map(({ severity, what }) => [severity, what]);

  it.each([
    ['a server error', page('', { status: 503 }), 'broken', /HTTP 503/],
    ['an error of PHP in the page', page(`<html>${words}${SHOWN}\n`), 'broken', /Fatal error/],
    ['the same as text', page(`<html>${words}\nPHP Parse error:  x in /a.php on line 3`), 'broken', /Parse error/],
    [
      'the same, and WordPress in another language',
      page(`${SHOWN}${died('Kritischer Fehler')}`),
      'broken',
      /Fatal error/,
    ],
    ['WordPress gave up', page(died('There has been a critical error on this website.')), 'broken', /critical error/],
    ['no database', page(died('<h1>Error establishing a database connection</h1>')), 'broken', /database/],
    ['no database, said by the host', page(html('', 'Error establishing a database connection')), 'broken', /database/],
    ['an empty page', page(''), 'broken', /<\/html>/],
    ['a page that was cut', page(`<html><title>Shop</title>${words}`), 'broken', /<\/html>/],
    ['a page that is gone', page(html(words), { status: 404 }), 'broken', /gone/],
    ['a redirect', page('', { status: 302, location: 'https://elsewhere.example/' }), 'broken', /redirects/],
    ['another title', page(html(words, 'Else')), 'suspect', /title/],
    ['lost text', page(html('One two three')), 'suspect', /words/],
  ])('%s', (_name, answer, severity, what) => {
    expect(judged(answer)).toEqual([[severity, expect.stringMatching(what)]]);
  });

  it.each([
    ['in the title of a post', html(`<p>${words}</p>`, 'Error establishing a database connection &#8211; Shop')],
    ['at the beginning of a heading', html('<h1>Error establishing a database connection in my shop</h1>')],
    ['in a heading that goes on', html('<h1>Error establishing a database connection <i>again</i></h1>')],
    ['as the heading of a page of the site', html('<main><h1>Error establishing a database connection</h1></main>')],
    ['as that of an article', html('<article><h1>Error establishing a database connection</h1></article>')],
    [
      'as that of a page with words',
      html(`<h1>Error establishing a database connection</h1>${words.repeat(2)}
      thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty`),
    ],
    ['in a script', html('<script>"<h1>Error establishing a database connection</h1>"</script>')],
  ])('no site is ill for the words of a visitor %s', (_where, body) => {
    expect(problemsOf(look(page(body)))).toEqual([]);
  });

  it('a site without a database is ill', () => {
    const heading = '<div><h1>Error establishing a database connection.</h1><p>Please come back soon.</p></div>';
    for (const body of [html(heading), died('<h1>Error establishing a database connection</h1>')])
      expect(problemsOf(look(page(body)))).toMatchObject([
        { severity: 'broken', what: expect.stringMatching(/database/) },
      ]);
  });

  it.each([
    ['more text and another script', page(html(`${words} thirteen<script src="/a.js?ver=2"></script>`))],
    ['the same page, slow', page(html(words), { ms: 9_000 })],
  ])('nothing: %s', (_name, answer) => {
    expect(judged(answer)).toEqual([]);
  });

  /** The first site, at another address. */
  async function siteAt(url: string) {
    const { site, connection } = await loadSite(app.ctx(), 1);
    return { site: { ...site, url }, connection: connection === null ? null : { ...connection, url } };
  }

  it('follows redirects within the site, and tells one that leads elsewhere', async () => {
    app = await safetyApp({ sites: 1, realClock: true, guards: false });
    let second = (response: ServerResponse) => response.end(html(words));
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html');
      if (request.url?.startsWith('/en/')) second(response);
      else response.writeHead(302, { location: '/en/' }).end();
    });
    const url = `${(await listenLocally(server)).url}/`;
    const ctx = app.ctx();
    const target = await siteAt(url);
    const before = await checkBefore(ctx, target, []);
    expect(before.second.pages['']).toMatchObject({ status: 200, title: 'Shop', location: `${url}en/` });
    second = (response) => response.writeHead(500).end();
    const broken = await checkAgain(ctx, target, null, before, [FRONT], { depth: 'quick', child: true });
    expect(broken.findings.map(({ what }) => what)).toEqual(['The front page answers HTTP 500; before, it was 200.']);
    second = (response) => response.writeHead(302, { location: 'http://elsewhere.example/' }).end();
    const gone = await checkAgain(ctx, target, null, before, [FRONT], { depth: 'quick', child: true });
    expect(gone.findings.map(({ what }) => what)).toEqual([
      'The front page redirects to a different address than before.',
    ]);
  });

  it.each([
    ['is broken when two of the looks that count see it', ['away', 'away', 'broken', 'broken'], 'broken'],
    ['is well when two of them see nothing', ['away', 'broken', 'away', 'well', 'well'], 'well'],
    ['is not judged by one of them', ['away', 'away', 'broken', 'away', 'away', 'away'], 'svc_site_offline'],
    ['is not judged by none of them', ['away', 'away', 'away', 'away', 'away', 'away'], 'svc_site_offline'],
  ] as const)('while the network of this machine comes and goes, a site %s', async (_name, looks, ends) => {
    app = await safetyApp({ sites: 1, guards: false });
    let seen = 0;
    let now: string = 'well';
    const server = createServer((request, response) => {
      // All requests of a check are of one moment, and arrive in any order.
      if (judging && app.clock.now() !== lookedAt && looks[seen] !== undefined) {
        lookedAt = app.clock.now();
        now = looks[seen++] ?? '';
      }
      if (now === 'away') request.socket.destroy();
      else
        response
          .writeHead(now === 'broken' ? 500 : 200, { 'content-type': 'text/html', connection: 'close' })
          .end(html(words));
    });
    let judging = false;
    let lookedAt: number | null = null;
    const url = `${(await listenLocally(server)).url}/`;
    const ctx = app.ctx();
    const target = await siteAt(url);
    const before = await app.running(checkBefore(ctx, target, []));
    judging = true;
    const facts = { on_suspect: 'keep' as const, paths: [], before };
    const verdict = await app
      .running(
        verify(
          { id: '', ctx, target, facts, guard: null, open: [], looked: new Set(), ledger: null, outside: false },
          'full',
        ),
      )
      .catch((error: ServiceError) => error);
    expect('code' in verdict ? verdict.code : verdict.broken.length > 0 ? 'broken' : 'well').toBe(ends);
    expect(seen).toBe(looks.length);
  });

  it('leaves out what differed before', () => {
    const noisy = states(page(html('Red', 'A')), page(html('Blue', 'B')));
    expect(judged(page(html('Green', 'C')), noisy)).toEqual([]);
    const ill = states(page('', { status: 500 }), page(html(words)));
    expect(judged(page('', { status: 500 }), ill)).toEqual([]);
  });
});
