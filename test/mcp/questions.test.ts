/** What people are asked through their client: sentences with names, choices and what cannot be taken back, in both eras. */

import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { putFile } from '../../src/demo/guard/backup.js';
import { DEFAULT_TOOLSETS } from '../../src/runtime/toolsets.js';
import { operations } from '../../tools/index.js';
import { waitingJob } from '../operations/cases.js';
import { offers } from '../operations/checked-app.js';
import { plugin } from '../operations/support-app.js';
import { running } from '../safety/safety-app.js';
import { tempFolder } from '../support/cleanup.js';
import type { Answer } from '../support/harness.js';
import { connect, type Era, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';

const NAMES = ['Novak Law Office', 'Silva & Rossi', 'Bakery', 'Kaya Choir', 'Moreau'];
const CAROUSEL = 'carousel/carousel.php';

let mcp: McpApp;
let toolsets: string[];

beforeAll(async () => {
  toolsets = [...DEFAULT_TOOLSETS, 'guard', 'support', 'costs', 'time', 'undo', 'rollouts'];
  mcp = await mcpApp({
    sites: 5,
    connected: 5,
    jobs: false,
    fleet: { plugins: 3 },
    config: { toolsets: toolsets as never },
  });
  const { app } = mcp;
  for (const [at, site] of app.fleet.sites.entries()) {
    offers(site, { plugins: 2, core: true });
    // Patches on the first three sites, else minor.
    for (const item of site.state.plugins)
      if (item.update !== null)
        Object.assign(item, { version: '1.0', update: { ...item.update, version: at < 3 ? '1.0.1' : '1.1' } });
    plugin(app, at, { slug: CAROUSEL, name: 'Old Carousel', active: at > 0 });
  }
  await app.call('sync-sites');
  for (const [at, name] of NAMES.entries()) await app.call('update-site', { site_id_or_domain: at + 1, name });
  await app.call('add-client', { name: 'Foo & Sons', selected_sites: [1, 2] });
  await app.call('add-tag', { name: 'Shop' });
  await app.call('tag-sites', { site_ids_or_domains: [1, 2, 3], add: ['Shop'] });
  await app.call('add-cost', { name: 'Shop licence', price: 5, renewal_type: 'yearly', sites: [1] });
  await app.call('add-time-task', { title: 'Backups', site_ids: [1] });
});

interface Asked {
  message: string;
  which?: readonly string[];
}

/** Calls a tool as a client whose user answers so; the question, if there was one, and the result. */
async function ask(
  era: Era,
  tool: string,
  args: Record<string, unknown>,
  reply: 'decline' | 'cancel' | object,
  of = mcp,
) {
  const asked: Asked[] = [];
  const driver = await connect([era, 'http'], {
    ...of.target,
    url: `${of.url}?toolsets=${toolsets.join(',')}`,
    answer: async (question) => {
      asked.push(question);
      return typeof reply === 'string'
        ? { action: reply as 'decline' }
        : { action: 'accept', content: { confirm: true, ...reply } };
    },
  });
  const result = await driver.call(`svc-${tool}-v1`, args);
  await driver.close();
  return { asked, result, text: textOf(result) };
}

const host = (at: number) => mcp.app.fleet.site(at).url.replace(/^https?:\/\/|\/$/g, '');
const site = { site_id_or_domain: 1 };

/** What each tool asks; names stand in quotes, as they come from sites and from people. */
const QUESTIONS: [string, (() => Promise<object> | object) | object, () => string][] = [
  [
    'run-updates',
    {},
    () =>
      'Update 10 plugins and WordPress 7.0 to 7.1 on 5 sites on "Novak Law Office", "Silva & Rossi" and 3 more sites? 6 of 15 are patches. None of it can be rolled back.',
  ],
  [
    'update-all',
    { level: ['minor'], exclude_slugs: ['wordpress'] },
    () =>
      'Update 4 plugins on "Kaya Choir" and Moreau? Only minor updates. Left out as asked: wordpress. None of it can be rolled back.',
  ],
  [
    'switch-plugin',
    { plugin: CAROUSEL, action: 'deactivate' },
    () => `Deactivate "Old Carousel" on "${host(1)}", "${host(2)}" and 2 more sites?`,
  ],
  [
    'reconnect-sites',
    async () => {
      await mcp.app.db.run('UPDATE site SET disconnected = 1 WHERE id > 3');
      return {};
    },
    () => `Restore the connection of "${host(3)}" and "${host(4)}"?`,
  ],
  [
    'delete-site',
    site,
    () =>
      `Remove "Novak Law Office" (${mcp.app.fleet.site(0).url}) and its history from here? This cannot be undone. The site itself keeps running.`,
  ],
  [
    'delete-site-plugins',
    { site_id_or_domain: 2, slugs: [CAROUSEL, 'no/such.php'] },
    () =>
      `Delete "Old Carousel" from ${host(1)}? This cannot be undone. ${CAROUSEL} is active and will be deactivated first. Left as they are: no/such.php.`,
  ],
  ['delete-client', { client_id_or_email: 1 }, () => 'Delete the client "Foo & Sons"? 2 sites stay, without a client.'],
  ['delete-tag', { tag_id: 1 }, () => 'Delete the tag Shop? 3 sites lose it.'],
  ['delete-cost', { cost_id: 1 }, () => 'Delete the cost "Shop licence"? This cannot be undone.'],
  ['delete-time-task', { task_id: 1 }, () => 'Delete the task Backups and its 0 minutes? This cannot be undone.'],
  [
    'cancel-job',
    async () => ({ job_id: ((await waitingJob(mcp)) as Answer).job_id }),
    () => 'End the sync job? Of 1 site 0 done, 0 failed, 1 not started: these are left as they are.',
  ],
  [
    'undo-change',
    async () => ({ change_id: (await mcp.app.call('list-actions', { contexts: 'tag' })).actions[0].id }),
    () => expect.stringMatching(/^Restore what \d+ changes? replaced\? /) as never,
  ],
];

QUESTIONS.push(
  [
    'delete-site-themes',
    () => ({ ...site, slugs: mcp.app.fleet.site(0).state.themes.map(({ slug }) => slug) }),
    () =>
      expect.stringMatching(
        `^Delete .+ and .+ from ${host(0)}\\? This cannot be undone\\. Left as they are: `,
      ) as never,
  ],
  [
    'remove-site-guard',
    site,
    () =>
      expect.stringMatching(
        `^Remove the guard from ${host(0)}, with its 0 copies of earlier versions\\? This cannot be undone\\. Updates of this site are no longer checked`,
      ) as never,
  ],
  [
    'start-rollout',
    async () => {
      const { plan_id, digest } = await mcp.app.call('plan-updates', {});
      return { plan_id, digest };
    },
    () => expect.stringMatching(/^Start \d+ updates on 5 sites, in \d waves\? .*You can pause or abort it/) as never,
  ],
  [
    'control-rollout',
    async () => {
      const { plan_id, digest } = await mcp.app.call('plan-updates', {});
      const { rollout_id } = await mcp.app.call('start-rollout', { plan_id, digest, confirm: true });
      return { rollout_id, action: 'abort' };
    },
    () => expect.stringMatching(/^Abort the rollout for good\? Updates: /) as never,
  ],
);

it('covers every operation about which a person is asked', () => {
  const guarded = operations.filter(({ effect, wholeFleet }) => effect === 'destroy' || wholeFleet);
  expect(guarded.map(({ id }) => id.slice('svc/'.length, -'-v1'.length)).sort()).toEqual(
    [...QUESTIONS.map(([tool]) => tool), RESTORE].sort(),
  );
});

/** A restore needs a site with a guard and a backup, which the fleet of the other questions has not. */
const RESTORE = 'restore-backup';

describe.each(['2025-11-25', '2026-07-28'] as const)('a person is asked before a restore (%s)', (era) => {
  it('how many files and tables it would replace; the site stays as it is without agreement, and is restored with it', async () => {
    const fleet = await mcpApp({
      ...{ sites: 1, connected: 1, realClock: false, fleet: { plugins: 3 } },
      config: { site_backup_dir: join(tempFolder('asked-restore'), 'repository'), toolsets: null },
    });
    const { app } = fleet;
    toolsets = [...new Set([...toolsets, 'backups'])];
    await app.call('install-site-guard', site);
    const made_at = new Date(app.clock.now()).toISOString().replace('.000Z', 'Z');
    const { backup_id } = await app.call('back-up-site', site);
    app.clock.move(3_600_000);
    const state = app.fleet.sites[0]?.guard?.backup;
    if (state == null) throw new Error('the site has no plugin for backups');
    const contents = () => [...state.files].map(([path, { bytes }]) => `${path} ${bytes.toString('hex')}`).sort();
    const backedUp = contents();
    // One file is gone, two were changed, and three are new.
    const paths = [...state.files.keys()].filter((path) => path.startsWith('wp-content/plugins/')).sort();
    const put = (path: string) => putFile(state, path, Buffer.from('defaced'), Math.floor(app.clock.now() / 1000) + 5);
    state.files.delete(paths[0] ?? '');
    for (const path of paths.slice(1, 3)) put(path);
    for (const name of ['a', 'b', 'c']) put(`wp-content/uploads/${name}.php`);
    const defaced = contents();
    expect(defaced).toHaveLength(backedUp.length + 2);

    const args = { backup_id, what: 'site', confirm: true };
    const counts = `2 files would be replaced, 1 added, 3 removed, and ${state.tables.size} tables replaced. What was written to these tables since the backup is lost.`;
    const question = `Restore ${new URL(app.fleet.site(0).url).host}/site-0000 from the backup of ${made_at}? ${counts}`;
    for (const reply of ['decline', 'cancel'] as const) {
      const { asked, result, text } = await running(app, ask(era, RESTORE, args, reply, fleet));
      expect(asked.map(({ message }) => message)).toEqual([question]);
      expect(result.isError).toBe(true);
      expect(text).toContain('Nothing changed.');
      expect(contents()).toEqual(defaced);
    }
    const { asked, result } = await running(app, ask(era, RESTORE, args, {}, fleet));
    expect(asked.map(({ message }) => message)).toEqual([question]);
    expect(result.structuredContent).toMatchObject({ outcome: 'restored' });
    expect(contents()).toEqual(backedUp);
  });
});

describe.each(['2025-11-25', '2026-07-28'] as const)('a person is asked (%s)', (era) => {
  it.each(QUESTIONS)('by %s', async (tool, input, words) => {
    const args = (typeof input === 'function' ? await input() : input) as Record<string, unknown>;
    const guarded = mcp.core.registry.listTools({
      type: 'local',
      id: null,
      name: '',
      rights: ['read', 'write'],
      via: 'mcp',
    });
    const takes = guarded.find(({ name }) => name === `svc-${tool}-v1`)?.inputSchema.properties ?? {};
    const before = await mcp.app.db.all('SELECT * FROM site ORDER BY id');
    const { asked, result, text } = await ask(
      era,
      tool,
      { ...args, ...('confirm' in takes ? { confirm: true } : {}) },
      'decline',
    );
    await mcp.app.db.run('UPDATE site SET disconnected = 0');
    expect(asked.map(({ message }) => message)).toEqual([words()]);
    expect(result.isError).toBe(true);
    expect(text).toContain('The user declined. Nothing changed.');
    expect(text).not.toContain('confirmation_token');
    if (tool !== 'reconnect-sites') expect(await mcp.app.db.all('SELECT * FROM site ORDER BY id')).toEqual(before);
  });

  it('and may choose a part of it, which alone is done; another choice is none', async () => {
    await mcp.app.call('sync-sites');
    const levels = async () => (await mcp.app.call('run-updates', { dry_run: true })).would_affect.by_item.join();
    const before = await levels();
    expect(before).toContain('patch');
    const refused = await ask(era, 'run-updates', {}, { which: 'everything else' });
    expect(refused.text).toContain('The user declined.');
    expect(await levels()).toBe(before);
    const { asked, result } = await ask(era, 'run-updates', { types: ['plugins'] }, { which: 'only the patches' });
    expect(asked[0]?.which).toEqual(['all of it', 'only the patches']);
    expect(asked[0]?.message).toContain('6 of 10 are patches.');
    expect(result.structuredContent).toMatchObject({
      summary: { total_updated: 6, sites_updated: 3, total_errors: 0 },
    });
    const after = await levels();
    expect(after).not.toContain('patch');
    expect(after).toContain('minor');
    // For the other era.
    for (const at of [0, 1, 2]) {
      for (const item of offers(mcp.app.fleet.site(at), { plugins: 2, core: true }).plugins)
        Object.assign(item, { version: '1.0', update: { version: '1.0.1', requiresPhp: '', requiresWp: '' } });
    }
    await mcp.app.call('sync-sites');
  });
});
