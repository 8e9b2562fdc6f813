/** Sites behind a limit of requests per address, as `limit_req` of nginx has it: more of them answer 503, or 429. */

import { beforeEach, describe, expect, it } from 'vitest';
import type { PageChange } from '../../src/demo/faults.js';
import { ChildFailure } from '../../src/outbound/child/port.js';
import { type SafetyApp, safetyApp } from './safety-app.js';

let app: SafetyApp;
beforeEach(async () => {
  app = await safetyApp({ sites: 1, config: { update_wait_ms: 60_000 } });
});

const one = { site_id_or_domain: 1 };

/** Lets so many requests pass at once, and one more each second. Counts what it turns away, by path. */
function limit(status: number, burst: number) {
  let tokens = burst;
  let at = app.clock.now();
  const counts = { turnedAway: 0 };
  const pages: PageChange = (made) => {
    const now = app.clock.now();
    tokens = Math.min(burst, tokens + (now - at) / 1_000);
    at = now;
    if (tokens >= 1) {
      tokens -= 1;
      return made;
    }
    counts.turnedAway++;
    const body = '<html><head><title>Try later</title></head><body><center><h1>nginx</h1></center></body></html>';
    return { status, headers: { 'content-type': 'text/html' }, body };
  };
  return { counts, pages };
}

const MINUTE = 60_000;

/** After some requests all are refused, for a minute: from the first of those, or from the last one. Keeps when it was asked. */
function ban(status: number, from: 'first' | 'last', after: number) {
  let requests = 0;
  let until = 0;
  const asked: number[] = [];
  const pages: PageChange = (made) => {
    const now = app.clock.now();
    if (++requests <= after) return made;
    asked.push(now);
    if (until !== 0 && now >= until) return made;
    if (until === 0 || from === 'last') until = now + MINUTE;
    const body = '<html><head><title>Refused</title></head><body><p>Your address is blocked.</p></body></html>';
    const headers = { 'content-type': 'text/html', ...(status === 503 && { 'retry-after': '60' }) };
    return { status, headers, body };
  };
  return { asked, pages };
}

describe('a ban of the address of this machine', () => {
  it.each([
    [403, 'first', 0],
    [403, 'last', 0],
    [403, 'last', 2],
    [429, 'last', 0],
    [503, 'last', 0],
  ] as const)(
    'that answers %i for a minute from its %s request on is waited for in silence',
    async (status, from, after) => {
      const plugin = app.offer(app.site(0));
      const { asked, pages } = ban(status, from, after);
      app.site(0).faults.breaks = { [`${plugin.slug}@99.0`]: pages };
      await app.call('sync-sites', {});
      const answer = await app.safely('safe-update-site', one);
      expect(answer).toMatchObject({ updated: [{ slug: plugin.slug }], errors: [], suspects: [] });
      expect(plugin.version).toBe('99.0');
      expect((await app.call('list-quarantined-versions')).versions).toEqual([]);
      expect(Math.max(...asked.slice(1).map((at, nth) => at - (asked[nth] ?? 0)))).toBeGreaterThanOrEqual(MINUTE);
    },
  );

  it.each([403, 429, 503])('is none where a version answers %i to everyone, and stays so', async (status) => {
    const plugin = app.offer(app.site(0));
    const old = plugin.version;
    const breaks: PageChange = () => ({ status, headers: { 'content-type': 'text/html' }, body: '' });
    app.site(0).faults.breaks = { [`${plugin.slug}@99.0`]: breaks };
    await app.call('sync-sites', {});
    const answer = await app.safely('safe-update-site', one);
    expect(answer).toMatchObject({ updated: [], errors: [{ code: 'svc_update_rolled_back' }] });
    expect(answer.errors[0].evidence).toContainEqual(expect.stringContaining(`HTTP ${status}`));
    expect(plugin.version).toBe(old);
  });
});

describe('a limit of requests in front of the site', () => {
  it.each([503, 429])('that answers %i is no reason to undo an update', async (status) => {
    const plugin = app.offer(app.site(0));
    const { counts, pages } = limit(status, 5);
    app.site(0).faults.pages = pages;
    await app.call('sync-sites', {});
    const answer = await app.safely('safe-update-site', one);
    expect(answer).toMatchObject({ updated: [{ slug: plugin.slug }], errors: [], suspects: [] });
    expect(plugin.version).toBe('99.0');
    expect(counts.turnedAway).toBeGreaterThan(0);
  });

  it('hides no page that the new version answers with 503 each time', async () => {
    const plugin = app.offer(app.site(0));
    const old = plugin.version;
    const { pages } = limit(503, 5);
    app.site(0).faults.pages = pages;
    const breaks: PageChange = (made, { path }) =>
      path === '' ? { status: 503, headers: { 'content-type': 'text/html' }, body: '' } : made;
    app.site(0).faults.breaks = { [`${plugin.slug}@99.0`]: breaks };
    await app.call('sync-sites', {});
    const answer = await app.safely('safe-update-site', one);
    expect(answer).toMatchObject({ updated: [], errors: [{ code: 'svc_update_rolled_back' }] });
    expect(answer.errors[0].evidence).toContainEqual(expect.stringContaining('answers HTTP 503'));
    expect(plugin.version).toBe(old);
  });

  it.each([503, 429])('on the login, which bots use up with %i, is told, and undoes nothing', async (status) => {
    const plugin = app.offer(app.site(0));
    const breaks: PageChange = (made, { path }) =>
      path === 'wp-login.php' ? { status, headers: { 'content-type': 'text/html' }, body: '' } : made;
    app.site(0).faults.breaks = { [`${plugin.slug}@99.0`]: breaks };
    await app.call('sync-sites', {});
    const answer = await app.safely('safe-update-site', one);
    expect(answer).toMatchObject({ updated: [{ slug: plugin.slug }], errors: [] });
    expect(JSON.stringify(answer.suspects)).toContain(`${status}`);
    expect(plugin.version).toBe('99.0');
    expect((await app.call('list-quarantined-versions')).versions).toEqual([]);
  });

  it('that turns away the login in one check, and the front page in the next, is none either', async () => {
    const plugin = app.offer(app.site(0));
    let logins = 0;
    let until = 0;
    const turned = new Set<string>();
    const breaks: PageChange = (made, { path }) => {
      const front = path === '' && app.clock.now() < until;
      if (!front && (path !== 'wp-login.php' || logins === 3)) return made;
      if (!front && ++logins === 3) until = app.clock.now() + 9_500;
      turned.add(path);
      return { status: 503, headers: { 'content-type': 'text/html' }, body: '' };
    };
    app.site(0).faults.breaks = { [`${plugin.slug}@99.0`]: breaks };
    await app.call('sync-sites', {});
    expect(await app.safely('safe-update-site', one)).toMatchObject({ updated: [{ slug: plugin.slug }], errors: [] });
    expect([...turned]).toEqual(['wp-login.php', '']);
  });

  it('that turns the child plugin away says nothing of the site', async () => {
    const plugin = app.offer(app.site(0));
    const { child } = app.ctx();
    const ask = child.connectionState.bind(child);
    let refused = 0;
    child.connectionState = async (...asked) => {
      if (plugin.version !== '99.0') return ask(...asked);
      refused++;
      throw new ChildFailure('unframed', 'The site answers HTTP 429.', { httpStatus: 429 });
    };
    await app.call('sync-sites', {});
    expect(await app.safely('safe-update-site', one)).toMatchObject({ updated: [{ slug: plugin.slug }], errors: [] });
    expect(refused).toBeGreaterThan(1);
  });

  it('is spared: no more than four pages are asked for at once', async () => {
    const site = app.site(0);
    const { child } = app.ctx();
    let [open, most] = [0, 0];
    const page = child.page.bind(child);
    child.page = async (...asked) => {
      most = Math.max(most, ++open);
      return page(...asked).finally(() => open--);
    };
    app.offer(site);
    await app.call('sync-sites', {});
    await app.safely('safe-update-site', one);
    expect(most).toBeGreaterThan(1);
    // The front page is also asked for between the two first checks.
    expect(most).toBeLessThanOrEqual(5);
  });
});
