/** `sitefleet demo` as a new user sees it: what it shows, and the update that breaks its site. */

import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { startFleet } from '../../src/demo/fleet.js';
import { DAY_MS, pastOf, pastUpdates } from '../../src/demo/history.js';
import { type Commands, commands, type DemoSaid } from '../support/processes/commands.js';
import { basic } from '../support/surfaces.js';

const NOW = Date.UTC(2026, 2, 29, 12);

describe('the past of the simulated sites', () => {
  it('is the same each time, and reaches two months back', async () => {
    const [one, two] = [pastOf(3, NOW), pastOf(3, NOW)];
    expect(one.outages).toEqual(two.outages);
    const times = Array.from({ length: 50 }, (_, i) => NOW - i * 29 * 3_600_000);
    expect(times.map(one.answerAt)).toEqual(times.map(two.answerAt));
    const all = Array.from({ length: 25 }, (_, index) => pastOf(index, NOW).outages).flat();
    expect(Math.min(...all.map(({ from }) => from))).toBeLessThan(NOW - 50 * DAY_MS);
    expect(Math.max(...all.map(({ to }) => to ?? NOW))).toBeLessThan(NOW);
  });

  it('has updates that led to the versions of today', async () => {
    const fleet = await startFleet({ sites: 1, now: () => NOW });
    const site = fleet.site(0);
    const updates = pastUpdates(site, NOW);
    await fleet.close();
    expect(updates.length).toBeGreaterThan(2);
    for (const { context, slug, old_version, new_version } of updates) {
      const { plugins, themes, wpVersion } = site.inner;
      const items = context === 'plugin' ? plugins : themes;
      const version = context === 'core' ? wpVersion : items.find((item) => item.slug === slug)?.version;
      expect(new_version).toBe(version);
      expect(old_version).not.toBe(new_version);
    }
  });
});

/** Calls of a person who has logged in on the page by this link. */
async function personOn(link: string) {
  const { origin, hash } = new URL(link);
  const login = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ link: hash.slice(1) }),
  });
  const { csrf } = (await login.json()) as { csrf: string };
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  const headers = { cookie, origin, 'x-sitefleet-csrf': csrf, 'content-type': 'application/json' };
  return async (path: string) =>
    (await fetch(`${origin}/v2${path}`, { method: 'POST', headers, body: '{}' })).json() as Promise<unknown>;
}

describe('sitefleet demo', () => {
  let programs: Commands;
  let said: DemoSaid;
  beforeAll(async () => {
    programs = await commands();
    said = (await programs.demo(12)).said;
  });

  const operation = async (name: string, input?: object) => {
    const headers = { authorization: basic(said.user ?? '', said.password ?? ''), 'content-type': 'application/json' };
    const init = input === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify({ input }) };
    const reply = await fetch(`${said.abilities}/svc/${name}/run`, init);
    return (await reply.json()) as Record<string, never>;
  };
  const rest = async (path: string) => {
    const reply = await fetch(`${said.v2}${path}`, { headers: { authorization: `Bearer ${said.api_key}` } });
    return (await reply.json()) as { total: number; data: Record<string, never>[] };
  };

  it('has a policy that asks before it acts', async () => {
    const listed = await rest('/policies');
    const [one] = listed.data.filter(({ policy_id }) => policy_id !== null);
    expect(one).toMatchObject({ enabled: true, acts: true, next_at: expect.stringMatching(/Z$/) });
    const { approval, level } = (await rest(`/policies/${one?.policy_id}`)).data as unknown as Record<string, unknown>;
    expect([approval, level]).toEqual(['ask', ['patch']]);
  });

  it('asks for a rollout on many sites, once, and for nothing that is documented to happen at once', async () => {
    const headers = { authorization: `Bearer ${said.api_key}`, 'content-type': 'application/json' };
    const send = async (path: string, body: object) => {
      const reply = await fetch(`${said.v2}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: reply.status, body: (await reply.json()) as Record<string, never> };
    };
    // The fleet has 12 sites, and careful lets 5 of them happen, unless the plan means every site.
    const planOf = async (types: string[], more = {}) => {
      const planned = await send('/updates/plans', { types, ...more });
      const { plan_id, digest, sites } = planned.body.plan as unknown as Record<string, string | number>;
      return { sites, start: (more = {}) => send('/rollouts', { plan_id, digest, ...more }) };
    };
    const few = await planOf(['translations'], { exclude_sites: [12] });
    expect([4, 5]).toContain(few.sites);
    expect((await few.start({ dry_run: true })).body).toMatchObject({ unguarded_sites: 0, needs_approval: null });
    const every = await planOf(['translations']);
    expect((await every.start({ dry_run: true })).body).toMatchObject({
      needs_approval: expect.stringMatching(/every site/),
    });
    const { sites, start } = await planOf(['themes', 'translations']);
    expect(sites).toBeGreaterThan(5);
    const asked = await start();
    expect(asked).toMatchObject({ status: 403, body: { code: 'svc_approval_required', data: { kind: 'rollouts' } } });
    const { approval_id } = asked.body.data as unknown as { approval_id: string };
    const page = await personOn(said.login_link ?? '');
    expect(await page(`/approvals/${approval_id}/approve`)).toMatchObject({ success: 1, data: { state: 'approved' } });
    expect((await start()).status).toBe(200);
    // The user's documents hold: what is confirmed happens, on any number of sites.
    const { id } = (await operation('add-tag-v1', { name: 'short-lived' })) as unknown as { id: number };
    expect(await operation('delete-tag-v1', { tag_id: id, confirm: true })).toMatchObject({ deleted: true });
    expect((await send('/sites/sync', {})).status).toBe(200);
    expect(await operation('suspend-site-v1', { site_id_or_domain: 12 })).not.toHaveProperty('code');
    expect(await operation('unsuspend-site-v1', { site_id_or_domain: 12 })).not.toHaveProperty('code');
    // Until its monitor has checked it again, it is not known whether the site is up.
    expect((await send('/monitors/12/check', {})).status).toBe(200);
  });

  it('has something of everything that needs a person', async () => {
    const brief = await operation('get-fleet-brief-v1');
    const matters = (brief.needs_attention as unknown as { matter: string }[]).map(({ matter }) => matter);
    expect(matters).toEqual([
      'down within an hour after an update',
      'down',
      'updates rolled back',
      'updates that failed and are still on offer',
      'certificate expires within 14 days, or has expired',
      'domain expires within 30 days, or has expired',
      'known vulnerabilities (sites)',
    ]);
    expect(brief).toMatchObject({
      sites: { total: 12, connected: 12 },
      // Most sites of the demo tell of no backup.
      not_known: [expect.stringMatching(/^the last backup .*: \d+ sites$/)],
    });
    const held = await rest('/quarantine');
    expect(held.data).toMatchObject([{ slug: 'lantern-gallery/lantern-gallery.php', version: '2.5.0' }]);
  });

  it('has clients, tags, costs, and a monitor with two months behind it', async () => {
    const [clients, tags, costs] = await Promise.all(['/clients', '/tags', '/costs'].map(rest));
    expect([clients?.total, tags?.total, costs?.total]).toEqual([5, 4, 5]);
    const { data } = await rest('/monitors?status=up&per_page=1');
    const id = data[0]?.id;
    const beats = await rest(`/monitors/${id}/heartbeat?period=2000-01-01/2100-01-01&limit=1000`);
    const times = beats.data.map(({ time }) => Date.parse(String(time)));
    expect(beats.total).toBeGreaterThan(1000);
    const oldest = await rest(`/monitors/${id}/heartbeat?period=2000-01-01/2100-01-01&limit=1&page=${beats.total}`);
    expect((Math.max(...times) - Date.parse(String(oldest.data[0]?.time))) / DAY_MS).toBeGreaterThan(59);
  });

  it('sends its alerts to its inbox', async () => {
    for (;;) {
      const { data } = await rest('/alerts/deliveries?status=sent');
      if (data.length >= 3) break;
      await pause(50);
    }
    expect((await rest('/alerts/deliveries?status=dead')).total).toBe(0);
  });

  it('names an update that breaks its site: it is rolled back, and quarantined for another one', async () => {
    const { site_id = 0, slug = '' } = said.broken_update ?? {};
    const offers = (await operation('list-updates-v1')) as unknown as { updates: { site_id: number; slug: string }[] };
    const answer = await operation('safe-update-site-v1', { site_id_or_domain: site_id, specific_items: [slug] });
    expect(answer).toMatchObject({ updated: [], errors: [{ slug, code: 'svc_update_rolled_back' }] });
    const [error] = answer.errors as unknown as { message: string }[];
    // Either side may report first: a check by Sitefleet sees the 500, or a visitor's request triggers the guard.
    expect(error?.message).toMatch(/HTTP 500|The site's guard rolled back to/);
    const others = offers.updates.filter((offer) => offer.slug === slug && offer.site_id !== site_id);
    expect(others.length).toBeGreaterThan(0);
    const [other] = others;
    const refused = await operation('safe-update-site-v1', {
      site_id_or_domain: other?.site_id,
      specific_items: [slug],
    });
    expect(refused).toMatchObject({ updated: [], errors: [{ slug, code: 'svc_version_quarantined' }] });
  });

  it('starts without its optional modules', async () => {
    const { said: plain } = await programs.demo(3, { SITEFLEET_MODULES: 'none' });
    const reply = await fetch(`${plain.v2}/sites`, { headers: { authorization: `Bearer ${plain.api_key}` } });
    expect(await reply.json()).toMatchObject({ success: 1 });
  });
});
