/**
 * Everyday tasks of an agency, each as the calls a model would make that knows only the descriptions of the tools. The
 * outcome is checked against the problems injected into the fleet, and against the state of the sites afterwards.
 */

import { expect } from 'vitest';
import { asked, column, expectSites, idOf, ids, pluginOf, type Task } from './checks.js';
import { CAROUSEL, DAY, ELEMENTOR, type LiveSite, WOO } from './fleets.js';

/**
 * A question that a single search answers.
 * @param stored the rows of the sites that exist only in the database: what follows `FROM`, with the id of the site last
 */
function search(
  ask: string,
  input: Record<string, unknown>,
  isFound: (one: LiveSite) => boolean,
  stored: string,
): Task {
  return {
    ask,
    kind: 'read',
    async run(session, fleet) {
      const answer = await session.call('search-fleet', input);
      const count = await fleet.cell(`SELECT count(*) FROM ${stored} <= ?`, fleet.stored);
      expectSites(answer, fleet, fleet.live.filter(isFound), count);
    },
  };
}

export const EVERYDAY: readonly Task[] = [
  search(
    'Which sites have an outdated Elementor?',
    { plugin: 'elementor', has_update: ['plugins'] },
    (one) => (pluginOf(one, ELEMENTOR)?.update ?? null) !== null,
    `site_update WHERE slug = '${ELEMENTOR}' AND ignored = 0 AND site_id`,
  ),
  search(
    'Which of them have a version with known vulnerabilities?',
    { plugin: 'elementor', vulnerable: true },
    (one) => pluginOf(one, ELEMENTOR)?.version === '3.20.1',
    `site_extension e JOIN package p ON p.id = e.package_id
     WHERE p.slug = '${ELEMENTOR}' AND e.version = '3.20.1' AND e.site_id`,
  ),
  search(
    'Which sites run PHP below 8.1?',
    { php_below: '8.1' },
    ({ php }) => php < '8.1',
    "site_detail WHERE php_version LIKE '7.%' AND site_id",
  ),
  {
    ask: 'What broke last night?',
    kind: 'read',
    async run(session, fleet) {
      const since = new Date(fleet.mcp.app.clock.now() - 2 * DAY).toISOString();
      const brief = await session.call('get-fleet-brief', { since });
      const count = (matter: string) =>
        brief.needs_attention.find((line: { matter: string }) => line.matter === matter)?.count ?? 0;
      const down = (how: LiveSite['down']) => fleet.live.filter((one) => one.down === how).length;
      expect(count('down within an hour after an update')).toBe(down('after an update'));
      expect(count('down')).toBe(down('by itself'));
      expect(JSON.stringify(brief.needs_attention)).toContain('SEO Tools 1.0.0');
    },
  },
  {
    ask: 'Why is this site red?',
    kind: 'read',
    async run(session, fleet) {
      const red = fleet.live.find(({ disconnected }) => disconnected);
      const host = red?.site.url.replace(/^http:\/\//, '').replace(/\/$/, '') ?? '';
      const site = await session.call('get-site', { site_id_or_domain: host });
      expect(site).toMatchObject({ id: red?.id, status: 'disconnected' });
      const answer = await session.call('search-fleet', {
        search: host,
        fields: ['id', 'status', 'reason', 'since', 'monitor', 'last_sync'],
      });
      expect(column(answer, 'id')).toEqual([red?.id]);
      expect(String(column(answer, 'reason')[0])).toContain('The site did not answer');
    },
  },
  search(
    'Which sites have not synced for a week?',
    { not_synced_days: 7 },
    ({ unsynced }) => unsynced !== null,
    'site_detail WHERE site_id % 40 = 3 AND site_id',
  ),
  search(
    'Which certificates end in the next 14 days?',
    { certificate_days: 14 },
    ({ certificate }) => certificate <= 14,
    'site_certificate WHERE site_id % 60 = 11 AND site_id',
  ),
  {
    ask: 'How are the sites?',
    kind: 'read',
    async run(session, fleet) {
      const { sites } = await session.call('get-fleet-brief');
      expect(sites.total).toBe(fleet.live.length + fleet.stored);
      const disconnected = await fleet.cell("SELECT count(*) FROM site WHERE sync_error <> '' AND suspended = 0");
      expect(sites.disconnected).toBe(disconnected);
    },
  },
  {
    ask: 'Which sites are down?',
    kind: 'read',
    async run(session, fleet) {
      const answer = await session.call('search-fleet', { monitor: 'down' });
      const live = fleet.live.filter(({ down }) => down !== null);
      expectSites(answer, fleet, live, 0);
      expect(column(answer, 'id')).toHaveLength(answer.total);
    },
  },
  search(
    'Which domains run out within a month?',
    { domain_days: 30 },
    ({ domain }) => domain <= 30,
    'site WHERE id % 70 = 13 AND id',
  ),
  {
    ask: 'Which PHP versions do we run, and on how many sites?',
    kind: 'read',
    async run(session, fleet) {
      const { groups } = await session.call('search-fleet', { group_by: 'php' });
      const found = new Map(groups.map(({ value, count }: { value: string; count: number }) => [value, count]));
      for (const php of new Set(fleet.live.map((one) => one.php))) {
        const live = fleet.live.filter((one) => one.php === php).length;
        const stored = await fleet.cell(
          'SELECT count(*) FROM site_detail WHERE php_version = ? AND site_id <= ?',
          php,
          fleet.stored,
        );
        expect([php, found.get(php)]).toEqual([php, live + stored]);
      }
    },
  },
  {
    ask: 'How many sites has each client?',
    kind: 'read',
    async run(session, fleet) {
      const { groups, total_groups } = await session.call('search-fleet', { group_by: 'client' });
      const clients = await fleet.cell('SELECT count(DISTINCT client_id) + (count(*) > count(client_id)) FROM site');
      expect(total_groups).toBe(clients);
      const none = groups.find(({ value }: { value: string | null }) => value === null);
      expect(none?.count).toBe(fleet.live.filter(({ client }) => client === null).length);
    },
  },
  {
    ask: 'Where is WooCommerce active, and in which versions?',
    kind: 'read',
    async run(session, fleet) {
      const answer = await session.call('search-fleet', { plugin: 'WooCommerce', item_state: 'active' });
      const live = fleet.live.filter((one) => pluginOf(one, WOO)?.active === true);
      expectSites(answer, fleet, live, 0);
      expect(new Set(column(answer, 'version'))).toEqual(new Set(['10.7.0']));
    },
  },
  {
    ask: 'What uptime had this site?',
    kind: 'read',
    toolsets: 'default,monitoring',
    async run(session, fleet) {
      const one = fleet.live.find(({ place }) => place === 41);
      const { monitors } = await session.call('list-monitors', { site_id_or_domain: one?.id });
      expect(monitors).toMatchObject([{ site_id: one?.id, status: 'down', http_code: 503, uptime_30d: null }]);
      const { incidents } = await session.call('list-incidents', { site_id_or_domain: one?.id, days: 30 });
      expect(incidents).toMatchObject([{ ended_at: null, message: 'HTTP 503' }]);
    },
  },
  {
    ask: 'Make the monthly report for the client Bar.',
    kind: 'read',
    toolsets: 'default,reports',
    async run(session, fleet) {
      const client = await idOf(session, 'list-clients', 'Bar');
      const { reports, total, start_date, end_date } = await session.call('build-report', {
        client_id_or_email: client,
      });
      expect([start_date, end_date]).toEqual(['2026-10-01', '2026-10-31']);
      const sites = fleet.live.filter(({ client: of }) => of === 'Bar');
      expect(reports.map(({ site_id }: { site_id: number }) => site_id).sort()).toEqual(ids(sites).sort());
      expect(total).toBe(sites.length);
      for (const { text, site_id } of reports) {
        const one = sites.find(({ id }) => id === site_id);
        expect(text).toContain(one?.php);
      }
    },
  },
  {
    ask: 'What comments wait for approval on the sites of Bar?',
    kind: 'read',
    toolsets: 'default,content',
    async run(session, fleet) {
      const client = await idOf(session, 'list-clients', 'Bar');
      const { sites } = await session.call('list-comments', { client_ids: [client], status: 'pending' });
      const wanted = fleet.live.filter(({ client: of }) => of === 'Bar');
      const found = sites.flatMap(({ site_id, comments }: { site_id: number; comments: { id: number }[] }) =>
        comments.map(({ id }) => `${site_id}/${id}`),
      );
      const held = wanted.flatMap(({ id, site }) =>
        site.state.comments.filter(({ status }) => status === 'unapproved').map((comment) => `${id}/${comment.id}`),
      );
      expect(found.sort()).toEqual(held.sort());
    },
  },
  {
    ask: 'Reconnect the staging sites that lost their connection.',
    kind: 'change',
    async run(session, fleet) {
      const lost = fleet.live.filter((one) => one.staging && one.disconnected);
      const tag = await idOf(session, 'list-tags', 'staging');
      const found = await session.call('search-fleet', { status: 'disconnected', tag_ids: [tag] });
      expect(column(found, 'id')).toEqual(ids(lost));
      const answer = await session.call('reconnect-sites', { site_ids_or_domains: column(found, 'id') });
      expect(answer.errors).toEqual([]);
      for (const { id } of lost)
        expect(await fleet.cell("SELECT status = 'connected' FROM site WHERE id = ?", id)).toBe(1);
      for (const one of lost) one.disconnected = false;
    },
  },
  {
    ask: 'Update all on staging except WooCommerce.',
    kind: 'change',
    async run(session, fleet) {
      const staging = fleet.live.filter((one) => one.staging);
      const woo = new Map(staging.map((one) => [one.id, pluginOf(one, WOO)?.version]));
      const tag = await idOf(session, 'list-tags', 'staging');
      const call = { tag_ids: [tag], exclude_slugs: ['woocommerce'] };
      const preview = await session.call('update-all', { ...call, dry_run: true });
      expect(preview.would_affect.sites).toBe(staging.length);
      await session.call('update-all', call);
      for (const one of staging) {
        expect([one.id, pluginOf(one, 'seo-tools/seo-tools.php')?.version]).toEqual([one.id, '1.0.1']);
        expect([one.id, pluginOf(one, WOO)?.version]).toEqual([one.id, woo.get(one.id)]);
      }
      const others = fleet.live.filter((one) => !one.staging);
      expect(others.filter((one) => pluginOf(one, 'seo-tools/seo-tools.php')?.version !== '1.0.0')).toEqual([]);
    },
  },
  {
    ask: 'Update SEO Tools on this site, and put it back if I do not like it. … Put it back.',
    kind: 'change',
    async run(session, fleet) {
      const one = fleet.live[33] as LiveSite;
      await fleet.mcp.app.call('install-site-guard', { site_id_or_domain: one.id });
      const slug = 'seo-tools/seo-tools.php';
      await session.call('safe-update-site', { site_id_or_domain: one.id, types: ['plugins'], specific_items: [slug] });
      expect(pluginOf(one, slug)?.version).toBe('1.0.1');
      await session.call('roll-back', { site_id_or_domain: one.id, type: 'plugin', slug });
      expect(pluginOf(one, slug)?.version).toBe('1.0.0');
    },
  },
  {
    ask: 'Connect this new site for Foo, tagged staging.',
    kind: 'change',
    async run(session, fleet) {
      const client_id = await idOf(session, 'list-clients', 'Foo');
      const tag = await idOf(session, 'list-tags', 'staging');
      const { url, admin, password, uniqueId, state } = fleet.spare;
      await session.call('add-site', {
        url,
        admin,
        admin_password: password,
        ...(uniqueId === '' ? {} : { unique_id: uniqueId }),
        client_id,
        tags: [tag],
      });
      expect(state.connection).not.toBeNull();
      const made = await fleet.cell(
        'SELECT count(*) FROM site s JOIN site_tag t ON t.site_id = s.id WHERE s.url = ? AND s.client_id = ? AND t.tag_id = ?',
        url,
        fleet.ids.foo,
        fleet.ids.staging,
      );
      expect(made).toBe(1);
    },
  },
  {
    ask: 'Add the tag staging to this site; its other tags stay.',
    kind: 'change',
    async run(session, fleet) {
      const one = fleet.live[35] as LiveSite;
      const { app } = fleet.mcp;
      const other = Number((await app.call('add-tag', { name: 'shops' })).id);
      await app.call('update-site', { site_id_or_domain: one.id, tags: [other] });
      const tag = await idOf(session, 'list-tags', 'staging');
      await session.call('update-site', { site_id_or_domain: one.id, add_tags: [tag] });
      const tags = await app.db.all('SELECT tag_id FROM site_tag WHERE site_id = ? ORDER BY tag_id', [one.id]);
      expect(tags.map(({ tag_id }) => tag_id)).toEqual([fleet.ids.staging, other].sort((a, b) => a - b));
      await app.call('update-site', { site_id_or_domain: one.id, remove_tags: [tag] });
    },
  },
  {
    ask: 'Deactivate Old Carousel everywhere.',
    kind: 'change',
    async run(session, fleet) {
      const on = fleet.live.filter((one) => pluginOf(one, CAROUSEL)?.active === true && !one.disconnected);
      const off = fleet.live.filter((one) => pluginOf(one, CAROUSEL)?.active === false);
      const before = off.map((one) => one.site.calls.length);
      const call = { plugin: 'Old Carousel', action: 'deactivate' };
      const preview = await session.call('switch-plugin', { ...call, dry_run: true });
      expect(preview.would_affect.sites).toBe(on.length);
      const done = await session.call('switch-plugin', call);
      expect(done).toMatchObject({ total_switched: on.length, errors: [] });
      expect(on.filter((one) => pluginOf(one, CAROUSEL)?.active !== false)).toEqual([]);
      expect(off.map((one, at) => asked(one, before[at] ?? 0, 'plugin_action'))).toEqual(off.map(() => 0));
    },
  },
  {
    ask: 'Remove the inactive plugins of this site.',
    kind: 'change',
    async run(session, fleet) {
      const one = fleet.live[36] as LiveSite;
      const inactive = one.site.state.plugins
        .filter(({ active, mustUse }) => !active && !mustUse)
        .map(({ slug }) => slug);
      expect(inactive.length).toBeGreaterThan(0);
      const { plugins } = await session.call('get-site-plugins', { site_id_or_domain: one.id, status: 'inactive' });
      const call = { site_id_or_domain: one.id, slugs: plugins.map(({ slug }: { slug: string }) => slug) };
      expect([...call.slugs].sort()).toEqual([...inactive].sort());
      await session.call('delete-site-plugins', { ...call, dry_run: true });
      await session.call('delete-site-plugins', { ...call, confirm: true });
      expect(one.site.state.plugins.filter(({ active }) => !active)).toEqual([]);
      expect(one.site.state.plugins.length).toBeGreaterThan(0);
    },
  },
  {
    ask: 'Ignore the update of WooCommerce everywhere until next month.',
    kind: 'change',
    async run(session, fleet) {
      const { groups } = await session.call('search-fleet', { plugin: 'WooCommerce', group_by: 'slug' });
      expect(groups).toHaveLength(1);
      await session.call('ignore-update-everywhere', {
        action: 'ignore',
        type: 'plugin',
        slug: groups[0].value,
        until: '2026-12-01',
      });
      const visible = () => fleet.cell('SELECT count(*) FROM site_update WHERE slug = ? AND ignored = 0', WOO);
      expect(await visible()).toBe(0);
      expect(await fleet.cell('SELECT count(*) FROM site_update WHERE slug = ?', WOO)).toBeGreaterThan(0);
    },
  },
  {
    ask: 'I know that this site is down: note it.',
    kind: 'change',
    toolsets: 'default,monitoring',
    async run(session, fleet) {
      const one = fleet.live[40] as LiveSite;
      const { incidents } = await session.call('list-incidents', { site_id_or_domain: one.id, open: true });
      await session.call('acknowledge-incident', { incident_id: incidents[0].id, note: 'The host was called.' });
      const seen = await fleet.cell(
        "SELECT count(*) FROM incident WHERE site_id = ? AND ended_at IS NULL AND acknowledged_note = 'The host was called.' AND acknowledged_at IS NOT NULL",
        one.id,
      );
      expect(seen).toBe(1);
    },
  },
  {
    ask: 'Bar has not paid: suspend its sites.',
    kind: 'change',
    async run(session, fleet) {
      const client = await idOf(session, 'list-clients', 'Bar');
      await session.call('suspend-client', { client_id_or_email: client });
      const sites = fleet.live.filter(({ client: of }) => of === 'Bar').length;
      const suspended = 'SELECT count(*) FROM site WHERE client_id = ? AND suspended = 1';
      expect(await fleet.cell(suspended, fleet.ids.bar)).toBe(sites);
      await fleet.mcp.app.call('unsuspend-client', { client_id_or_email: client });
    },
  },
  {
    ask: 'Throw the spam comments of this site away.',
    kind: 'change',
    toolsets: 'default,content',
    async run(session, fleet) {
      const one = fleet.live[37] as LiveSite;
      const { comments } = one.site.state;
      for (const comment of comments.slice(0, 3)) comment.status = 'spam';
      const spam = comments.filter(({ status }) => status === 'spam');
      const { sites } = await session.call('list-comments', { site_ids_or_domains: [one.id], status: 'spam' });
      const comment_ids = sites[0].comments.map(({ id }: { id: number }) => id);
      await session.call('moderate-comments', { site_id_or_domain: one.id, comment_ids, action: 'trash' });
      expect(spam.length).toBeGreaterThan(0);
      expect(spam.map(({ status }) => status)).toEqual(spam.map(() => 'trash'));
    },
  },
  {
    ask: 'Write a post about the new opening hours on this site, and publish it.',
    kind: 'change',
    toolsets: 'default,content',
    async run(session, fleet) {
      const one = fleet.live[38] as LiveSite;
      const post = { post_title: 'New opening hours', post_content: '<p>From nine to five.</p>' };
      const { post_id } = await session.call('create-post', { site_id_or_domain: one.id, ...post });
      const made = one.site.state.posts.find(({ id }) => id === post_id);
      expect(made).toMatchObject({ title: 'New opening hours', status: 'draft' });
      await session.call('set-post-status', { site_id_or_domain: one.id, post_id, step: 'publish' });
      expect(one.site.state.posts.find(({ id }) => id === post_id)?.status).toBe('publish');
    },
  },
  {
    ask: 'Book 90 minutes of backups for Bar.',
    kind: 'change',
    toolsets: 'default,time',
    async run(session, fleet) {
      const client_id = await idOf(session, 'list-clients', 'Bar');
      const task = { title: 'Backups', client_id, duration_seconds: 5400 };
      expect(await session.call('add-time-task', task)).toMatchObject({ client_id, duration_seconds: 5400 });
      expect(
        await fleet.cell("SELECT count(*) FROM time_task WHERE title = 'Backups' AND client_id = ?", fleet.ids.bar),
      ).toBe(1);
    },
  },
  {
    ask: 'We pay 59 a year for the licence of SEO Tools on all staging sites: keep that.',
    kind: 'change',
    toolsets: 'default,costs',
    async run(session, fleet) {
      const tag = await idOf(session, 'list-tags', 'staging');
      const cost = { name: 'SEO Tools', price: '59', renewal_type: 'yearly', license_type: 'multi_site' };
      await session.call('add-cost', { ...cost, groups: [tag] });
      const { total_yearly } = await fleet.mcp.app.call('get-site-costs', {
        site_id_or_domain: fleet.live.find(({ staging }) => staging)?.id,
      });
      const sites = await fleet.cell('SELECT count(*) FROM site_tag WHERE tag_id = ?', fleet.ids.staging);
      expect(total_yearly).toBeCloseTo(59 / sites, 1);
    },
  },
  {
    ask: 'Delete the client Foo.',
    kind: 'change',
    async run(session, fleet) {
      const client = await idOf(session, 'list-clients', 'Foo');
      const preview = await session.call('delete-client', { client_id_or_email: client, dry_run: true });
      expect(preview.sites_affected).toBeGreaterThan(0);
      const sites = await fleet.cell('SELECT count(*) FROM site');
      await session.call('delete-client', { client_id_or_email: client, confirm: true });
      expect(await fleet.cell("SELECT count(*) FROM client WHERE name = 'Foo'")).toBe(0);
      expect(await fleet.cell('SELECT count(*) FROM site')).toBe(sites);
    },
  },
];
