/** Incidents of all sites, and acknowledging one: the same over operations, REST and in the brief. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type RestApp, restApp } from '../rest/client.js';
import { ADMIN, type Answer } from '../support/harness.js';

const HOUR = 3_600_000;

let app: RestApp;
let incidents: number[];
beforeAll(async () => {
  app = await restApp({ sites: 2 });
  for (const place of [0, 1]) await app.connect(place);
  await app.db.run('UPDATE monitor SET status = 0, active = 1, last_http_code = 503');
  const now = app.clock.now();
  const add = async (site: number, hoursAgo: number, lasted: number | null) =>
    (
      await app.db.run(
        "INSERT INTO incident (site_id, started_at, ended_at, http_code, msg, down_count) VALUES (?, ?, ?, 503, 'HTTP 503', 3)",
        [site, now - hoursAgo * HOUR, lasted === null ? null : now - (hoursAgo - lasted) * HOUR],
      )
    ).lastId;
  incidents = [await add(1, 100, 2), await add(1, 3, null), await add(2, 5, null)];
});

const idsOf = ({ incidents }: Answer) => incidents.map(({ id }: { id: number }) => id);

describe('incidents', () => {
  it('are listed newest first, of all sites or one, by state and age', async () => {
    const [ended, first, second] = incidents as [number, number, number];
    const all = await app.call('list-incidents');
    expect([idsOf(all), all.total]).toEqual([[first, second, ended], 3]);
    expect(all.incidents[2]).toEqual({
      id: ended,
      site_id: 1,
      url: app.fleet.site(0).url,
      started_at: '2026-11-16T08:00:00Z',
      ended_at: '2026-11-16T10:00:00Z',
      minutes: 120,
      http_code: 503,
      message: 'HTTP 503',
    });
    expect(idsOf(await app.call('list-incidents', { site_id_or_domain: 1 }))).toEqual([first, ended]);
    expect(idsOf(await app.call('list-incidents', { open: true }))).toEqual([first, second]);
    expect(idsOf(await app.call('list-incidents', { open: false }))).toEqual([ended]);
    expect(idsOf(await app.call('list-incidents', { days: 1, per_page: 1, page: 2 }))).toEqual([second]);
  });

  it('are acknowledged, which the first to see them is kept of, and which is taken back', async () => {
    const [, first = 0] = incidents;
    const now = '2026-11-20T12:00:00Z';
    const seen = await app.call('acknowledge-incident', { incident_id: first, note: 'The host was asked.' });
    const mark = { acknowledged_at: now, acknowledged_by: 'admin', note: 'The host was asked.' };
    expect(seen).toMatchObject({ id: first, ended_at: null, ...mark });
    app.clock.move(HOUR);
    const again = { ...ADMIN, name: 'Grace' };
    expect(
      await app.call('acknowledge-incident', { incident_id: first, note: 'It is a full disk.' }, { actor: again }),
    ).toMatchObject({ ...mark, note: 'It is a full disk.' });
    expect(idsOf(await app.call('list-incidents', { acknowledged: true }))).toEqual([first]);
    expect(idsOf(await app.call('list-incidents', { acknowledged: false }))).not.toContain(first);

    const { needs_attention } = await app.call('get-fleet-brief');
    const down = needs_attention.find(({ matter }: { matter: string }) => matter === 'down');
    // Unacknowledged ones come first, although older.
    expect(down.first).toEqual([
      expect.stringMatching(/site-0001 since 2026-11-20T07:00Z, HTTP 503$/),
      expect.stringMatching(/site-0000 since 2026-11-20T09:00Z, HTTP 503, acknowledged$/),
    ]);

    const back = await app.call('acknowledge-incident', { incident_id: first, acknowledged: false });
    expect(back).not.toHaveProperty('acknowledged_at');
    expect(back).not.toHaveProperty('note');
  });

  it('answer the same over REST, to those who may', async () => {
    const [, , second = 0] = incidents;
    const call = `POST /incidents/${second}/acknowledge`;
    expect((await app.rest(call, { token: app.tokens.read })).status).toBe(403);
    const { body } = await app.rest(call, { body: { note: 'Seen.' } });
    expect(body.data).toMatchObject({ id: second, site_id: 2, acknowledged_note: 'Seen.', acknowledged_by: /^key/ });
    const listed = await app.rest('GET /incidents?acknowledged=1&open=1');
    expect(listed.body).toMatchObject({ total: 1, data: [{ id: second, acknowledged_note: 'Seen.' }] });
    expect((await app.rest('GET /monitors/2/incidents')).body.data).toMatchObject([{ acknowledged_note: 'Seen.' }]);
    expect((await app.rest(call, { body: { acknowledged: 0 } })).body.data).toMatchObject({ acknowledged_at: null });
    expect((await app.rest('POST /incidents/9999/acknowledge')).body).toMatchObject({ code: 'svc_incident_not_found' });
    expect((await app.rest('GET /incidents?opne=1')).status).toBe(400);
  });
});
