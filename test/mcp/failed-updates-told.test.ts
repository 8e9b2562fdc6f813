/** What the brief and the page say of updates that failed, and which of the sites that are down comes first. */

import { expect, it } from 'vitest';
import { plugin, type SupportApp, supportApp } from '../operations/support-app.js';
import { restOver } from '../rest/client.js';

const HOUR = 3_600_000;
/** The first sites of the same language. */
const SPEAKING = [0, 3];
const SHOP = 'shop/shop.php';
const offered = {
  slug: SHOP,
  name: 'Shop',
  version: '1.0',
  update: { version: '2.0', requiresPhp: '', requiresWp: '' },
};

const failures = (brief: { needs_attention: { matter: string }[] }) =>
  brief.needs_attention.find(({ matter }) => matter.startsWith('updates that failed'));

async function failed(): Promise<SupportApp> {
  const support = await supportApp({
    connected: 4,
    prepare(app) {
      for (const place of [0, 1, 2, 3]) plugin(app, place, offered);
    },
  });
  // The others speak other languages.
  for (const place of SPEAKING) support.app.fleet.site(place).faults.failUpdates = [SHOP];
  const asked = { slug: SHOP, types: ['plugins'] };
  expect((await support.tool('run-updates', asked)).errors).toHaveLength(2);
  return support;
}

it('tells of updates that failed by reason, and no more once they were made, are ignored or a day old', async () => {
  const support = await failed();
  const { app } = support;
  const brief = await support.ask('get-fleet-brief');
  const matter = failures(brief);
  expect(matter).toMatchObject({
    count: 2,
    first: [
      expect.stringMatching(/ Shop 1\.0 to 2\.0 \(newest of 2 on 2 sites\): The site says: "Download failed"\.$/),
    ],
    next: expect.stringMatching(/^svc-get-run-v1 \{"run_id":"run_.*","state":"failed"\}$/),
  });
  const told = await support.follow((matter as unknown as { next: string }).next);
  expect(told.items).toHaveLength(2);
  const done = (of: { done: { what: string }[] }) => of.done.find(({ what }) => what === 'plugin update failed');
  expect(done(brief)).toMatchObject({
    count: 2,
    sites: 2,
    newest: expect.stringMatching(/ Shop 1\.0 to 2\.0: .*Download/),
  });
  // The page has the same.
  const { matters } = (await (await restOver(app)).rest('GET /fleet/attention')).body.data;
  expect(matters.find((one: { matter: string }) => one.matter === 'update_failed')).toMatchObject({
    count: 2,
    cases: [
      { failed: 2, total: 2, item: 'Shop', run_id: told.run_id, seen: [expect.stringContaining('Download failed')] },
    ],
  });
  // One is made up for, the other one ignored.
  app.clock.move(HOUR);
  app.fleet.site(0).faults.failUpdates = [];
  await support.tool('update-site-plugins', { site_id_or_domain: 1, slugs: [SHOP] });
  const later = await support.ask('get-fleet-brief');
  expect(failures(later)).toMatchObject({ count: 1 });
  expect(done(later)).toMatchObject({ count: 2 });
  await app.call('ignore-site-plugins', { site_id_or_domain: 4, action: 'add', slugs: [SHOP] });
  expect(failures(await support.ask('get-fleet-brief'))).toBeUndefined();
});

it('counts a second failure once, and none after a day', async () => {
  const support = await failed();
  support.app.clock.move(HOUR);
  await support.tool('update-site-plugins', { site_id_or_domain: 1, slugs: [SHOP] });
  const matter = failures(await support.ask('get-fleet-brief'));
  expect(matter).toMatchObject({ count: 2, next: 'svc-list-runs-v1 {"state":"failed"}' });
  support.app.clock.move(25 * HOUR);
  expect(failures(await support.ask('get-fleet-brief'))).toBeUndefined();
});

it('has the site first that visitors do not get, longest without it, and says what is missing on one that they get', async () => {
  const support = await supportApp({ connected: 3 });
  const { app } = support;
  const now = app.clock.now();
  const down = async (site: number, hours: number, code: number | null, msg: string) => {
    await app.db.run('UPDATE monitor SET status = 0, active = 1, last_http_code = ?, last_msg = ? WHERE site_id = ?', [
      code,
      msg,
      site,
    ]);
    const incident = "INSERT INTO incident (site_id, started_at, msg, down_count) VALUES (?, ?, '', 1)";
    await app.db.run(incident, [site, now - hours * HOUR]);
  };
  await down(1, 1, 200, 'The keyword is not in the page (HTTP 200).');
  await down(2, 3, 500, 'The site answered HTTP 500.');
  await down(3, 2, null, 'The site did not answer.');
  const { needs_attention } = await support.ask('get-fleet-brief');
  expect(needs_attention[0]).toMatchObject({ matter: 'down', count: 3 });
  const host = (place: number) => app.fleet.site(place).url.replace(/^https?:\/\/|\/$/g, '');
  expect(needs_attention[0].first.map((line: string) => line.split(' ')[0])).toEqual([host(1), host(2), host(0)]);
  expect(needs_attention[0].first[2]).toMatch(/, The keyword is not in the page \(HTTP 200\)\.$/);
  expect(needs_attention[0].first[0]).toMatch(/Z, HTTP 500$/);
});
