/**
 * Tasks on what has been done and how it is taken back: changes, comparisons, drafts, tags, jobs, money, waves and undo.
 * The outcome is checked against the problems injected into the fleet, and against the state of the sites afterwards.
 */

import { expect } from 'vitest';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { running } from '../safety/safety-app.js';
import { runNextChunk } from '../support/chunks.js';
import { SYSTEM } from '../support/harness.js';
import { expectSites, ids, pluginOf, type Task } from './checks.js';
import { type AssistantFleet, DAY, ELEMENTOR, type LiveSite, PROMOTED } from './fleets.js';

const MINUTE = 60_000;
const WEEK = 7 * DAY;
const iso = (ms: number) => new Date(ms).toISOString();

/** The site at this place. */
function at(fleet: AssistantFleet, place: number): LiveSite {
  const one = fleet.live.find((each) => each.place === place);
  if (one === undefined) throw new Error(`no site at place ${place}`);
  return one;
}

/** What people did on the sites themselves since then. */
const loggedSince = ({ live }: AssistantFleet, since: number) =>
  live.flatMap(({ id, logged }) =>
    logged.filter(({ created }) => created * 1000 >= since).map((one) => ({ id, ...one })),
  );

/** Lets the rollouts and jobs that are due do their work. */
async function turn({ mcp: { app } }: AssistantFleet): Promise<void> {
  for (let jobs = 0; jobs < 3; jobs++) {
    await advanceRollouts(app.ctx({ actor: SYSTEM }));
    await running(app, app.drain());
  }
}

export const SUPPORT_TASKS: readonly Task[] = [
  {
    ask: 'Which certificates or domains end within two weeks?',
    kind: 'read',
    async run(session, fleet) {
      const answer = await session.call('search-fleet', { ends_within_days: 14 });
      const due = fleet.live.filter(({ certificate, domain }) => Math.min(certificate, domain) <= 14);
      const stored = 'SELECT count(*) FROM site_certificate WHERE site_id % 60 = 11 AND site_id <= ?';
      expectSites(answer, fleet, due, await fleet.cell(stored, fleet.stored));
      expect(session.calls).toBe(1);
    },
  },
  {
    ask: 'Who changed what on my sites this week?',
    kind: 'read',
    toolsets: 'default,support',
    async run(session, fleet) {
      const since = fleet.mcp.app.clock.now() - WEEK;
      const people = await session.call('search-changes', { since: iso(since), via: 'site', group_by: 'person' });
      const logged = loggedSince(fleet, since);
      const counts = new Map<string, number>();
      for (const { user } of logged) counts.set(user, (counts.get(user) ?? 0) + 1);
      const told = people.groups.map(({ group, count }: { group: string; count: number }) => [group, count]);
      expect(new Map(told)).toEqual(counts);
      const { changes, total } = await session.call('search-changes', { since: iso(since), via: 'site' });
      expect(total).toBe(logged.length);
      const newest = [...logged].sort((a, b) => b.created - a.created || b.id - a.id).slice(0, changes.length);
      const by = (rows: { user?: string; by?: string }[]) => rows.map((row) => row.user ?? row.by).sort();
      expect(by(changes)).toEqual(by(newest));
    },
  },
  {
    ask: 'Whose administrators changed this week?',
    kind: 'read',
    toolsets: 'default,support',
    async run(session, fleet) {
      const since = fleet.mcp.app.clock.now() - WEEK;
      const { changes, total } = await session.call('search-changes', { since: iso(since), new_role: 'administrator' });
      const promoted = loggedSince(fleet, since).filter(({ context }) => context === 'user');
      expect(promoted.length).toBeGreaterThan(0);
      expect(total).toBe(promoted.length);
      const told = changes.map(({ site_id, by }: { site_id: number; by: string }) => `${site_id} ${by}`);
      expect(told.sort()).toEqual(promoted.map(({ id, user }) => `${id} ${user}`).sort());
      for (const { what } of changes) expect(what).toContain(PROMOTED);
    },
  },
  {
    ask: 'Compare these two sites.',
    kind: 'read',
    toolsets: 'default,support',
    async run(session, fleet) {
      const pair = [at(fleet, 2), at(fleet, 3)];
      const { rows, different, total } = await session.call('compare-sites', {
        site_ids_or_domains: ids(pair),
        per_page: 50,
      });
      expect(total).toBe(rows.length);
      const versions = (slug: string) => pair.map((one) => pluginOf(one, slug)?.version);
      const slugs = new Set(pair.flatMap(({ site }) => site.state.plugins.map(({ slug }) => slug)));
      const active = (slug: string) => pair.map((one) => pluginOf(one, slug)?.active);
      const differing = [...slugs].filter((slug) => [versions(slug), active(slug)].some(([a, b]) => a !== b));
      const told = rows
        .filter(({ area }: { area: string }) => area === 'plugin')
        .map(({ slug }: { slug: string }) => slug);
      expect(told.sort()).toEqual(differing.sort());
      expect(different.find(({ area }: { area: string }) => area === 'plugin').count).toBe(differing.length);
    },
  },
  {
    ask: 'Which drafts are there on these three sites?',
    kind: 'read',
    async run(session, fleet) {
      const three = [4, 5, 6].map((place) => at(fleet, place));
      for (const [index, { site }] of three.entries()) {
        const [post] = site.state.posts.filter(({ type }) => type === 'post');
        if (post !== undefined && index < 2) post.status = 'draft';
      }
      const { sites, errors } = await session.findAndRun('which drafts are there', 'list-posts', {
        site_ids_or_domains: ids(three),
        status: ['draft'],
      });
      const told = sites.flatMap(({ site_id, posts }: { site_id: number; posts: { id: number }[] }) =>
        posts.map(({ id }) => `${site_id}/${id}`),
      );
      const drafts = three.flatMap(({ id, site }) =>
        site.state.posts
          .filter(({ type, status }) => type === 'post' && status === 'draft')
          .map((post) => `${id}/${post.id}`),
      );
      expect(drafts.length).toBeGreaterThan(1);
      expect([told.sort(), errors]).toEqual([drafts.sort(), []]);
    },
  },
  {
    ask: 'Which sites and which clients cost more than they bring?',
    kind: 'read',
    toolsets: 'default,costs',
    async run(session, fleet) {
      const { app } = fleet.mcp;
      const [losing, even, gaining] = [26, 25, 24].map((place) => at(fleet, place).id);
      const yearly = (name: string, price: string, site: number | undefined, kind = 'cost') =>
        app.call('add-cost', { name, kind, price, renewal_type: 'yearly', sites: [site] });
      await yearly('Hosting', '120', losing);
      await yearly('Care', '100', losing, 'income');
      await yearly('Hosting', '50', even);
      await yearly('Care', '50', even, 'income');
      await yearly('Hosting', '10', gaining);
      await yearly('Care', '20', gaining, 'income');
      // The licence of SEO Tools is shared by all staging sites, which bring nothing.
      const staging = await app.db.all(
        'SELECT site_id, client_id FROM site_tag t JOIN site s ON s.id = t.site_id WHERE tag_id = ?',
        [fleet.ids.staging],
      );
      const clients = await session.call('list-costs', { group_by: 'client', losing: true });
      const owners = new Set<number | null>([
        fleet.ids.bar,
        ...staging.map(({ client_id }) => client_id as number | null),
      ]);
      const owner = ({ id }: { id?: number }) => id ?? null;
      expect(new Set(clients.groups.map(owner))).toEqual(owners);
      const bar = clients.groups.find(({ id }: { id?: number }) => id === fleet.ids.bar);
      expect(bar).toMatchObject({ total_yearly: 180, income_yearly: 170 });
      const sites = await session.call('list-costs', { group_by: 'site', losing: true });
      const spending = new Set([losing, ...staging.map(({ site_id }) => Number(site_id))]);
      expect(new Set(sites.groups.map(({ id }: { id: number }) => id))).toEqual(spending);
      expect([sites.total, sites.groups[0]]).toEqual([spending.size, expect.objectContaining({ id: losing })]);
    },
  },
  {
    ask: 'Tag these three sites VIP.',
    kind: 'change',
    toolsets: 'default,support',
    async run(session, fleet) {
      const three = ids([7, 8, 9].map((place) => at(fleet, place)));
      await session.call('tag-sites', { site_ids_or_domains: three, add: ['VIP'], create: true });
      const { db } = fleet.mcp.app;
      const tagged = await db.all(
        "SELECT site_id FROM site_tag WHERE tag_id = (SELECT id FROM tag WHERE name = 'VIP')",
      );
      expect(tagged.map(({ site_id }) => Number(site_id)).sort((a, b) => a - b)).toEqual(three);
    },
  },
  {
    ask: 'Stop that job.',
    kind: 'change',
    toolsets: 'default,support',
    async run(session, fleet) {
      const { app } = fleet.mcp;
      const all = ids(fleet.live);
      const before = fleet.live.map(({ site }) => site.calls.length);
      const { job_id } = await app.call('sync-sites', { site_ids_or_domains: all });
      await running(app, runNextChunk(app.ctx(), 'test'));
      const visited = () => fleet.live.filter(({ site }, index) => site.calls.length > (before[index] ?? 0)).length;
      const done = visited();
      expect(done).toBeGreaterThan(0);
      const { not_begun } = await session.call('cancel-job', { job_id, dry_run: true });
      expect(not_begun.count).toBe(all.length - done);
      const answer = await session.call('cancel-job', { job_id, confirm: true });
      expect(answer).toMatchObject({ cancelled: true, not_begun: { count: all.length - done } });
      await app.drain();
      expect(visited()).toBe(done);
      const { status } = await session.call('get-batch-job-status', { job_id });
      expect(status).toBe('failed');
    },
  },
  {
    ask: 'Update Elementor in waves, first on one site.',
    kind: 'change',
    toolsets: 'default,rollouts',
    async run(session, fleet) {
      const { app } = fleet.mcp;
      const due = fleet.live.filter(
        (one) => pluginOf(one, ELEMENTOR)?.update && !one.disconnected && one.down === null,
      );
      const sites = due.slice(0, 6);
      const updated = () => sites.filter((one) => pluginOf(one, ELEMENTOR)?.version === '3.35.2').length;
      expect([sites.length, updated()]).toEqual([6, 0]);
      const { plan_id, digest, waves } = await session.call('plan-updates', {
        site_ids_or_domains: ids(sites),
        slugs: ['elementor'],
        waves: { canaries: 1, sizes: [2] },
      });
      expect(waves.map((wave: { sites: number }) => wave.sites)).toEqual([1, 2, 3]);
      await session.call('start-rollout', { plan_id, digest, dry_run: true });
      const { rollout_id } = await session.call('start-rollout', { plan_id, digest, confirm: true });
      await turn(fleet);
      expect(updated()).toBe(1);
      for (const done of [3, 6]) {
        app.clock.move(61 * MINUTE);
        await turn(fleet);
        expect(updated()).toBe(done);
      }
      app.clock.move(61 * MINUTE);
      await turn(fleet);
      const { state, counts } = await session.call('get-rollout', { rollout_id });
      expect([state, counts.kept]).toEqual(['completed', 6]);
    },
  },
  {
    ask: 'Undo the last ten minutes.',
    kind: 'change',
    toolsets: 'default,undo',
    async run(session, fleet) {
      const { app } = fleet.mcp;
      const [site, other] = [at(fleet, 12), at(fleet, 13)];
      const slug = 'seo-tools/seo-tools.php';
      const tags = (id: number) => fleet.cell('SELECT count(*) FROM site_tag WHERE site_id = ?', id);
      const client = () => fleet.cell("SELECT count(*) FROM client WHERE name = 'Slip'");
      // Not among the last ten minutes.
      await app.call('deactivate-site-plugins', { site_id_or_domain: other.id, slugs: [slug] });
      app.clock.move(30 * MINUTE);
      await app.call('deactivate-site-plugins', { site_id_or_domain: site.id, slugs: [slug] });
      await app.call('update-site', { site_id_or_domain: site.id, add_tags: [fleet.ids.staging] });
      await app.call('add-client', { name: 'Slip', client_email: 'slip@example.com' });
      app.clock.move(5 * MINUTE);
      expect([pluginOf(site, slug)?.active, await tags(site.id), await client()]).toEqual([false, 1, 1]);
      const since = iso(app.clock.now() - 10 * MINUTE);
      const { digest, total_undo } = await session.call('undo-change', { since, dry_run: true });
      expect(total_undo).toBe(3);
      await session.call('undo-change', { since, digest, confirm: true });
      expect([pluginOf(site, slug)?.active, await tags(site.id), await client()]).toEqual([true, 0, 0]);
      expect(pluginOf(other, slug)?.active).toBe(false);
    },
  },
];
