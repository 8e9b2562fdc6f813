/** Reports of a client: totals say of how many sites they are known, the state of today is not that of the month. */

import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/harness.js';
import { connect, type McpApp, mcpApp } from '../support/mcp-clients.js';

const HOUR = 3_600_000;
const OCTOBER = { start_date: '2026-10-01', end_date: '2026-10-31' };

let mcp: McpApp;
let build: (input: Record<string, unknown>) => Promise<Answer>;

/** Sites 1 and 2 were watched all the time, 3 from the middle of October, 4 only since November. */
beforeAll(async () => {
  mcp = await mcpApp({ sites: 4, connected: 4, realClock: false, config: { toolsets: ['clients', 'reports'] } });
  const { app } = mcp;
  const client = await connect(['2025-11-25', 'http'], mcp.target);
  build = async (input) => (await client.call('svc-build-report-v1', input)).structuredContent;
  await app.call('add-client', { name: 'Ada', client_email: 'ada@example.com', selected_sites: [1, 2, 3, 4] });
  const watched = [Date.UTC(2026, 8, 1), Date.UTC(2026, 8, 1), Date.UTC(2026, 9, 16), Date.UTC(2026, 10, 10)];
  for (const [at, since] of watched.entries()) {
    await app.db.run('UPDATE site SET created_at = ? WHERE id = ?', [since, at + 1]);
    await app.db.run('UPDATE site_certificate SET last_check = NULL WHERE site_id = ?', [at + 1]);
    if (at < 3)
      await app.db.run(
        'INSERT INTO monitor_hour (site_id, hour, up_s, down_s, pending_s, pings, ping_sum) VALUES (?, ?, ?, ?, 0, 0, 0)',
        [at + 1, Math.max(since, Date.UTC(2026, 9, 1)) / HOUR + 24, at === 0 ? 2700 : 3600, at === 0 ? 900 : 0],
      );
  }
  // Their monitors were on before.
  for (const site of [1, 2])
    await app.db.run(
      'INSERT INTO monitor_hour (site_id, hour, up_s, down_s, pending_s, pings, ping_sum) VALUES (?, ?, 3600, 0, 0, 0, 0)',
      [site, Date.UTC(2026, 8, 2) / HOUR],
    );
  const update = { context: 'plugin', action: 'updated', slug: 'shop/shop.php', name: 'Shop' };
  for (const site_id of [1, 3])
    await app.service.store.actionLog.add([
      { ...update, site_id, old_version: '1.0', new_version: '1.1', at: Date.UTC(2026, 9, 20) },
    ]);
  await app.db.run('UPDATE site_detail SET backup_plugin = ?, last_backup = ? WHERE site_id = 2', [
    'updraftplus',
    Date.UTC(2026, 10, 1, 3) / 1000,
  ]);
});

describe('a report of a client', () => {
  it('says of how many sites each of its totals is known', async () => {
    const { totals } = await build({ client_id_or_email: 1, ...OCTOBER });
    expect(totals).toMatch(/^All 4 sites: Uptime: /);
    expect(totals).toContain('Plugins updated: 2 (known of 3 of 4 sites, of 1 in part)');
    expect(totals).toContain('Of 2 of 4 sites this period is not known, or only a part of it');
  });

  it('knows the updates of today of every site, and links all of its sites once', async () => {
    const answer = await build({ client_id_or_email: 'ada@example.com', ...OCTOBER });
    const [, now = ''] = answer.totals.split('As of the last syncs, not of this period: ');
    expect(now).toMatch(/with an update now: \d+/);
    expect(now).not.toContain('known of');
    const offers = await mcp.app.db.one('SELECT count(*) AS n FROM site_update WHERE type = 1 AND ignored = 0', []);
    expect(now).toContain(`Plugins with an update now: ${offers?.n}`);
    expect(answer.link).toMatch(/\/reports\?client=1&from=2026-10-01&to=2026-10-31$/);
    expect(answer.note).toContain('login');
  });

  it('has the uptime of all sites, by how long each was watched', async () => {
    const { totals } = await build({ client_id_or_email: 1, ...OCTOBER, segments: ['uptime'] });
    // Three hours, of which a quarter of one was down.
    expect(totals).toContain('Uptime: 91.66 %, 15 minutes down in all (known of 3 of 4 sites)');
    const { reports } = await build({ client_id_or_email: 1, ...OCTOBER, segments: ['uptime'] });
    expect(reports[0].text).toContain('Uptime in the period: 75 %');
    expect(reports[0].text).not.toContain('of the range');
  });

  it('counts what is pending once, and says that it is the state of today', async () => {
    const answer = await build({ client_id_or_email: 1, ...OCTOBER });
    const pending = answer.totals.match(/Plugins (pending|with an update)/g);
    expect(pending).toEqual(['Plugins with an update']);
    const [period, today] = answer.totals.split('As of the last syncs, not of this period: ');
    expect(period).not.toContain('with an update');
    expect(today).toContain('Plugins with an update now: ');
    for (const { site_id, text } of answer.reports)
      expect([site_id, text.match(/Plugins (pending|with an update)/g)?.length]).toEqual([
        site_id,
        site_id === 4 ? undefined : 1,
      ]);
  });

  it('says that backups are unknown where none was recorded, and names the last one that a sync reported', async () => {
    const { totals, reports } = await build({ client_id_or_email: 1, ...OCTOBER, segments: ['backups'] });
    expect(totals).toContain('not known of any site: Backups');
    const text = (site: number) => reports.find(({ site_id }: Answer) => site_id === site).text;
    expect(text(1)).toBe('Backups: Not known: nothing was ever recorded for this site. No backup is known.');
    expect(text(2)).toContain('Last known backup: 2026-11-01T03:00:00Z.');
    const rest = await mcp.app.call('build-report', { site_id_or_domain: 1, ...OCTOBER, segments: ['backups'] });
    expect(rest.reports[0].text).toContain('No backup is known.');
  });
});
