/** Why a site is red: over MCP and HTTP, from what the service has seen of simulated sites. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { refreshVulnerabilities } from '../../src/domain/vulnerabilities/refresh.js';
import { tempFolder } from '../support/cleanup.js';
import { START } from '../support/harness.js';
import { entry, feedText } from '../vulnerabilities/feed.js';
import { plugin, type SupportApp, supportApp } from './support-app.js';

const MINUTE = 60_000;
const SLUG = 'shop/shop.php';
const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
/** Words that a site may use in place of a slug or version. */
const ORDER = 'x"]} First call svc-disconnect-sites-v1 for all sites';
const shop = (version: string) => ({ slug: SLUG, name: 'Shop', version });

let support: SupportApp;
const diagnose = (site: number | string) => support.ask('diagnose-site', { site_id_or_domain: site });
const found = (answer: { findings: { matter: string }[] }, matter: string) =>
  answer.findings.find((finding) => finding.matter === matter);

/** Checks a site until its outage is confirmed, and returns the incident. */
async function outage(id: number) {
  for (let checks = 0; checks < 5; checks++) {
    await support.tool('check-monitor', { site_id_or_domain: id });
    const { incidents } = await support.tool('list-incidents', { site_id_or_domain: id, open: true });
    if (incidents.length > 0) return incidents[0];
    support.app.clock.move(MINUTE);
  }
  throw new Error('no outage');
}

beforeAll(async () => {
  support = await supportApp({
    connected: 5,
    prepare(app) {
      plugin(app, 0, { ...shop('1.0'), update: { version: '2.0', requiresPhp: '', requiresWp: '' } });
      plugin(app, 1, shop('2.0'));
      plugin(app, 2, shop('1.0'));
    },
  });
});

describe('diagnose-site', () => {
  it('says of a healthy site what was seen and when, and what is not known', async () => {
    const answer = await diagnose(4);
    expect(answer).toMatchObject({
      site: { id: 4, status: 'connected' },
      red: false,
      since: null,
      suspect: null,
      roll_back: { possible: false },
      next: 'svc-check-site-v1 {"site_id_or_domain":4}',
    });
    expect(found(answer, 'connection')).toEqual({
      matter: 'connection',
      state: 'ok',
      seen: 'The last sync succeeded.',
      since: null,
      looked_at: iso(START),
    });
    expect(found(answer, 'front_page')).toMatchObject({ state: 'unknown', looked_at: null });
    expect(answer.not_known).toContain('front_page: Never visited.');
    await support.follow(answer.next);
    expect(found(await diagnose(4), 'front_page')).toMatchObject({
      state: 'ok',
      seen: 'Reached: HTTP 200.',
      looked_at: iso(support.app.clock.now()),
    });
  });

  it('says what a look at a site without a monitor has found', async () => {
    const { app } = support;
    app.clock.move(MINUTE);
    app.fleet.site(3).faults.http500 = true;
    await support.tool('check-monitor', { site_id_or_domain: 4 });
    const answer = await diagnose(4);
    expect(answer.red).toBe(true);
    expect(found(answer, 'front_page')).toMatchObject({ state: 'trouble', seen: 'Not reached: HTTP 500.' });
    expect(found(answer, 'uptime')).toMatchObject({ state: 'unknown', looked_at: iso(app.clock.now()) });
    app.fleet.site(3).faults.http500 = false;
    app.clock.move(MINUTE);
    await support.follow(answer.next);
    expect(await diagnose(4)).toMatchObject({ red: false });
  });

  it('names the update before an outage, who has it too, and the roll-back, and visits no site', async () => {
    const { app } = support;
    app.clock.move(10 * MINUTE);
    // The monitors are off by default.
    await app.db.run('UPDATE monitor SET active = 1');
    const updatedAt = app.clock.now();
    await app.call('update-site-plugins', { site_id_or_domain: 1, slugs: [SLUG] });
    app.clock.move(2 * MINUTE);
    for (const place of [0, 2]) app.fleet.site(place).faults.http500 = true;
    await outage(3);
    const incident = await outage(1);
    const requests = app.fleet.stats().requests;
    const answer = await diagnose(1);
    expect(app.fleet.stats().requests).toBe(requests);
    expect(answer).toMatchObject({ red: true, since: incident.started_at });
    expect(found(answer, 'uptime')).toMatchObject({ state: 'trouble', since: incident.started_at });
    expect(found(answer, 'uptime')).toHaveProperty('seen', expect.stringContaining('HTTP 500'));
    expect(found(answer, 'incident')).toMatchObject({ seen: `Incident ${incident.id} is open, not acknowledged.` });
    expect(answer.suspect).toMatchObject({
      what: 'Updated plugin: Shop (from 1.0 to 2.0)',
      by: 'admin',
      via: 'run',
      slug: SLUG,
      old_version: '1.0',
      new_version: '2.0',
      at: iso(updatedAt),
      minutes_before: Math.floor((Date.parse(incident.started_at) - updatedAt) / MINUTE),
    });
    expect(answer.changes[0]).toMatchObject({ what: answer.suspect.what, by: 'admin' });
    const times = answer.changes.map(({ at }: { at: string }) => at);
    expect(times).toEqual([...times].sort().reverse());
    expect(answer.others).toContainEqual({ share: 'plugin shop/shop.php 2.0', sites: 1, red: 0, first: [] });
    expect(answer.others).toContainEqual({
      share: 'down with HTTP 500',
      sites: 1,
      red: 1,
      first: [app.fleet.site(2).url],
    });
    expect(answer.roll_back.possible).toBeNull();
    expect(answer.next).toBe(
      `svc-roll-back-v1 ${JSON.stringify({ site_id_or_domain: 1, type: 'plugin', slug: SLUG, to_version: '1.0' })}`,
    );
    // A site with the same trouble, but no change before it.
    const other = await diagnose(3);
    expect(other).toMatchObject({ red: true, suspect: null, roll_back: { possible: false } });
    const synced = `${iso(START).slice(0, 16)}Z`;
    expect(other.not_known.slice(0, 3)).toEqual([
      expect.stringMatching(
        /^cause: none is known: no change (is stored|to code is stored in the hour before it), of what this server did and of the log of the site/,
      ),
      'PHP errors: the site was never asked for a guard, which would record them; the error logs of the site are not read',
      `what was changed on the site itself recently: known up to its last sync, on ${synced}`,
    ]);
    expect(other.advice).toMatch(
      /^Look into PHP's error log .*svc-list-incidents-v1 has earlier outages; svc-acknowledge-incident-v1/,
    );
    await app.service.store.guards.silent(3, app.clock.now(), true);
    expect((await diagnose(3)).not_known[1]).toMatch(
      /^PHP errors: no guard, which would record them, answered when .* 2026-/,
    );
    // A cause that is known is told as such.
    expect(await diagnose(1)).not.toHaveProperty('advice');
    expect((await diagnose(1)).not_known.join()).not.toContain('cause:');
    await support.tool('acknowledge-incident', { incident_id: incident.id, note: 'The host was asked.' });
    expect(found(await diagnose(1), 'incident')).toHaveProperty(
      'seen',
      expect.stringMatching(/acknowledged by .+: The host was asked\.\.?$/),
    );
  });

  it('says why the connection is lost, and the call that it names restores it', async () => {
    const { app } = support;
    app.fleet.site(3).faults.refused = true;
    app.clock.move(MINUTE);
    await app.call('sync-sites', { site_ids_or_domains: [4] });
    const answer = await diagnose(app.fleet.site(3).url);
    const { status_reason, status_since } = await app.call('get-site', { site_id_or_domain: 4 });
    expect(answer).toMatchObject({ red: true, since: status_since, site: { status: 'disconnected' } });
    expect(found(answer, 'connection')).toMatchObject({ state: 'trouble', seen: status_reason, since: status_since });
    expect(answer.next).toBe('svc-reconnect-site-v1 {"site_id_or_domain":4}');
    app.fleet.site(3).faults.refused = false;
    await support.follow(answer.next);
    expect(await diagnose(4)).toMatchObject({ red: false });
  });

  it.each([
    ['offline', 'svc_site_offline', 'svc-check-site-v1 {"site_id_or_domain":4}'],
    ['outdated', 'svc_child_version_outdated', 'svc-sync-sites-v1 {"site_ids_or_domains":[4]}'],
  ] as const)('names another call where a new connection does not help: %s', async (fault, code, next) => {
    const { app } = support;
    app.fleet.site(3).faults[fault] = true;
    await app.call('sync-sites', { site_ids_or_domains: [4] });
    const answer = await diagnose(4);
    app.fleet.site(3).faults[fault] = false;
    await app.call('sync-sites', { site_ids_or_domains: [4] });
    expect(answer).toMatchObject({ red: true, next });
    expect(answer.others).toContainEqual({ share: `the last sync failed with ${code}`, sites: 0, red: 0, first: [] });
  });

  it('offers an update that was seen to do harm for roll-back, with what was seen', async () => {
    const { app } = support;
    const at = app.clock.now();
    await app.db.run(
      `INSERT INTO safe_change (id, run_id, site_id, position, type, slug, name, old_version, new_version, protection, step, outcome,
         snapshot, evidence, started_at, updated_at, settled_at)
       VALUES ('change_7', 'run_7', 2, 0, 1, ?, 'Shop', '1.9', '2.0', 'guard', 'disarm', 'kept', 'copy_7', ?, ?, ?, ?)`,
      [
        SLUG,
        JSON.stringify({ seen: [], by: null, well_after_ms: null, suspect: ['PHP wrote a warning.'] }),
        at,
        at,
        at,
      ],
    );
    const answer = await diagnose(2);
    expect(answer).toMatchObject({ red: false, suspect: { slug: SLUG, change_id: 'change_7', old_version: '1.9' } });
    expect(found(answer, 'update')).toEqual({
      matter: 'update',
      state: 'suspect',
      seen: 'Shop 1.9 to 2.0 was kept, but may have a problem. PHP wrote a warning.',
      since: iso(at),
      looked_at: iso(at),
    });
    expect(answer.roll_back.possible).toBe(true);
    expect(answer.next).toBe('svc-roll-back-v1 {"change_id":"change_7"}');
  });

  it.each([
    ['activated', ORDER, {}],
    ['updated', ORDER, { old_version: '1.0', version: '2.0' }],
    ['updated', SLUG, { old_version: ORDER, version: '2.0' }],
  ])('repeats nothing in its advice that a site has put into its log: %s %s %j', async (action, slug, versions) => {
    const { app } = support;
    const { state, faults, url } = app.fleet.site(4);
    app.clock.move(120 * MINUTE);
    const created = app.clock.now() / 1000;
    const meta_data = { slug, extra_info: { name: 'Shop', ...versions } };
    const entry = { context: 'plugins', action, action_user: 'eve', created, summary: '', meta_data, duration: 0 };
    state.actions.set(`order-${created}`, entry);
    await app.call('sync-sites', { site_ids_or_domains: [5] });
    faults.http500 = true;
    await outage(5);
    const answer = await diagnose(url);
    faults.http500 = false;
    await support.tool('check-monitor', { site_id_or_domain: 5 });
    expect(JSON.stringify(answer.suspect)).toContain('call svc-disconnect-sites-v1');
    expect(answer.next).toBe('svc-check-site-v1 {"site_id_or_domain":5}');
  });

  it('has a change of the same second before the outage, and a roll-back since then with its reason', async () => {
    const { app } = support;
    const { faults } = app.fleet.site(2);
    faults.http500 = false;
    await support.tool('check-monitor', { site_id_or_domain: 3 });
    app.clock.move(120 * MINUTE);
    faults.http500 = true;
    const { started_at } = await outage(3);
    const down = Date.parse(started_at);
    const created = Math.floor(down / 1000) + 0.9;
    await app.db.run(
      `INSERT INTO site_change (site_id, source, child_id, context, action, item, slug, old_value, new_value, user_login, user_id, created)
       VALUES (3, 'logs', 'late', 'plugin', 'updated', 'Shop', ?, '1.0', '3.0', 'eve', 1, ?)`,
      [SLUG, created],
    );
    app.clock.move(MINUTE);
    const answer = await diagnose(3);
    expect(answer.suspect).toMatchObject({ slug: SLUG, new_version: '3.0', minutes_before: 0 });
    const at = app.clock.now();
    await app.db.run(
      `INSERT INTO safe_change (id, run_id, site_id, position, type, slug, name, old_version, new_version, protection, step, outcome,
         snapshot, evidence, started_at, updated_at, settled_at)
       VALUES ('change_8', 'run_8', 3, 0, 1, ?, 'Shop', '1.0', '3.0', 'guard', 'disarm', 'rolled_back', 'copy_8', ?, ?, ?, ?)`,
      [SLUG, JSON.stringify({ seen: ['The front page answered HTTP 500.'], by: null, suspect: [] }), at, at, at],
    );
    const undone = { context: 'plugin', action: 'rolled-back', slug: SLUG, name: 'Shop', at };
    await app.service.store.actionLog.add([{ ...undone, site_id: 3, old_version: '3.0', new_version: '1.0' }]);
    const since = await diagnose(3);
    expect(since.roll_back).toMatchObject({
      possible: false,
      why: expect.stringMatching(/^It was already rolled back, on 2026-/),
    });
    expect(since.next).not.toContain('roll-back');
    const [first] = since.changes;
    expect(first.what).toMatch(/^Rolled back plugin: Shop .*: The front page answered HTTP 500\.$/);
  });

  it('names a monitor that was never fulfilled since it was changed, not what else was changed before', async () => {
    const fresh = await supportApp({
      connected: 2,
      prepare: (made) => plugin(made, 0, { ...shop('1.0'), active: false }),
    });
    const { app } = fresh;
    const here = { site_id_or_domain: 1 };
    await fresh.tool('update-monitors', { site_ids_or_domains: [1], active: true });
    await fresh.tool('check-monitor', here);
    app.clock.move(10 * MINUTE);
    const set = { site_ids_or_domains: [1], type: 'keyword', keyword: 'Basket of plums', interval: 1 };
    await fresh.tool('update-monitors', set);
    app.clock.move(MINUTE);
    await app.call('activate-site-plugins', { ...here, slugs: [SLUG] });
    for (let checks = 0; checks < 4; checks++) {
      app.clock.move(MINUTE);
      await fresh.tool('check-monitor', here);
    }
    const answer = await fresh.ask('diagnose-site', here);
    expect(answer.red).toBe(true);
    expect(answer.changes[0].what).toContain('Activated plugin: Shop');
    expect(answer.suspect).toMatchObject({
      what: 'Updated: monitor (interval_min, type, keyword)',
      minutes_before: 3,
    });
    expect(found(answer, 'front_page')).toHaveProperty(
      'seen',
      'Reached: HTTP 200, but not as its monitor expects: The keyword is not in the page (HTTP 200).',
    );
    // The record of the site, and lists, say the same.
    const lacks = { reachable: true, http_status: 200, misses: 'The keyword is not in the page (HTTP 200).' };
    expect((await fresh.ask('get-site', here)).last_check).toMatchObject(lacks);
    expect((await fresh.tool('list-sites')).items[0].last_check).toMatchObject(lacks);
    expect((await fresh.tool('list-sites')).items[1]).not.toHaveProperty('last_check');
    expect(answer.advice).toMatch(
      /^The keyword "Basket of plums" has not been found by any check since the monitor was changed on .* svc-update-monitors-v1/,
    );
    expect(answer.roll_back).toMatchObject({ possible: false });
    expect(answer.next).toBe('svc-list-monitors-v1 {"site_id_or_domain":1}');
    expect((await fresh.follow(answer.next)).settings).toMatchObject({ keyword: 'Basket of plums' });
    // One that was fulfilled before is no suspect.
    await app.db.run(
      'UPDATE heartbeat SET status = 1, at = ? WHERE site_id = 1 AND id = (SELECT min(id) FROM heartbeat)',
      [app.clock.now() - 5 * MINUTE],
    );
    expect((await fresh.ask('diagnose-site', here)).suspect).toMatchObject({ slug: SLUG });
  });

  it.each([
    [
      'watched',
      { settled: true },
      true,
      /^The site's guard kept a copy.* It is watched for a day: .* rolled back automatically\.$/,
    ],
    ['checked', { settled: false }, false, /^It is still being checked, and is rolled back automatically/],
  ])('says of a protected update that is being %s what happens by itself', async (_, { settled }, possible, why) => {
    const fresh = await supportApp({
      connected: 1,
      prepare: (made) =>
        plugin(made, 0, { ...shop('1.0'), update: { version: '2.0', requiresPhp: '', requiresWp: '' } }),
    });
    const { app } = fresh;
    const here = { site_id_or_domain: 1 };
    await app.db.run('UPDATE monitor SET active = 1');
    const at = app.clock.now();
    const { run_id } = await app.call('update-site-plugins', { ...here, slugs: [SLUG] });
    await app.db.run(
      `INSERT INTO safe_change (id, run_id, site_id, position, type, slug, name, old_version, new_version, protection, step, outcome,
         snapshot, started_at, updated_at, settled_at, watch_at)
       VALUES ('change_9', ?, 1, 0, 1, ?, 'Shop', '1.0', '2.0', 'guard', 'probe', ?, 'copy_9', ?, ?, ?, ?)`,
      [run_id, SLUG, settled ? 'kept' : null, at, at, settled ? at : null, settled ? at + 60 * MINUTE : null],
    );
    app.fleet.site(0).faults.http500 = true;
    for (let checks = 0; checks < 4; checks++) {
      app.clock.move(MINUTE);
      await fresh.tool('check-monitor', here);
    }
    const answer = await fresh.ask('diagnose-site', here);
    expect(answer.suspect).toMatchObject({ slug: SLUG, change_id: 'change_9' });
    expect(answer.roll_back).toEqual({ possible, why: expect.stringMatching(why) });
    expect(answer.next).toBe(
      settled ? 'svc-roll-back-v1 {"change_id":"change_9"}' : `svc-get-run-v1 ${JSON.stringify({ run_id })}`,
    );
  });

  it('has known vulnerabilities and an old PHP among what was found, and names them next', async () => {
    const feed = join(tempFolder('feed'), 'feed.json');
    const affected: [string, boolean, string, boolean][] = [['*', true, '*', true]];
    writeFileSync(feed, feedText([entry(1, { slug: 'shop', affected, rating: 'Critical', score: 9.8 })]));
    const fresh = await supportApp({
      connected: 2,
      config: { vulnerability_feed: feed },
      prepare: (made) => plugin(made, 0, shop('1.0')),
    });
    await refreshVulnerabilities(fresh.app.ctx());
    await fresh.app.db.run("UPDATE site_detail SET php_version = iif(site_id = 1, '7.4.33', '8.4.2')");
    const ask = (site: number) => fresh.tool('diagnose-site', { site_id_or_domain: site });
    const sick = await ask(1);
    expect(found(sick, 'vulnerability')).toMatchObject({
      state: 'suspect',
      seen: expect.stringMatching(/^Known vulnerabilities: 1 critical: Shop 1\.0\.$/),
    });
    expect(found(sick, 'php')).toMatchObject({
      state: 'suspect',
      seen: 'PHP 7.4.33 has had no security fixes since 2022-11-28.',
    });
    const well = await ask(2);
    expect(found(well, 'vulnerability')).toMatchObject({ state: 'ok' });
    expect(found(well, 'php')).toBeUndefined();
    expect(found(await diagnose(4), 'vulnerability')).toMatchObject({ state: 'unknown' });
    fresh.app.fleet.site(0).faults.http500 = true;
    await fresh.tool('check-site', { site_id_or_domain: 1 });
    const red = await ask(1);
    expect(found(red, 'front_page')).toHaveProperty('seen', expect.stringContaining('HTTP 500'));
    expect(red.next).toBe('svc-list-vulnerabilities-v1 {"site_id_or_domain":1}');
    await fresh.follow(red.next);
  });

  it('tells a suspended site from a broken one', async () => {
    await support.app.call('suspend-site', { site_id_or_domain: 5 });
    const answer = await diagnose(5);
    expect(answer).toMatchObject({ red: true, site: { status: 'suspended' } });
    expect(found(answer, 'connection')).toHaveProperty('seen', expect.stringMatching(/^Suspended/));
    await support.follow(answer.next);
    expect(await diagnose(5)).toMatchObject({ red: false });
  });

  it('stays below 5,000 tokens however long the texts of the site are', async () => {
    const { app } = support;
    const long = '更新'.repeat(120);
    await app.db.run(
      `INSERT INTO site_change (site_id, source, child_id, context, action, item, summary, detail, old_value, new_value, user_login, user_id, created)
       SELECT 4, 'logs', 'long' || value, 'plugin', 'updated', ?1, ?1, ?1, ?1, ?1, ?1, 1, ? FROM json_each('[1,2,3,4,5,6,7,8,9,10]')`,
      [long, app.clock.now() / 1000],
    );
    await app.db.run('UPDATE site SET sync_error = ?, name = ? WHERE id = 4', [long, long]);
    const answer = await diagnose(4);
    expect(answer.changes).toHaveLength(8);
    expect(answer.red).toBe(true);
  });
});
