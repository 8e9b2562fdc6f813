/** Every documented code of every operation (operations §8, §9), each produced once. */

import { beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../src/runtime/errors.js';
import { operations } from '../../tools/index.js';
import { ADMIN } from '../support/harness.js';
import { CASES, REACH, SITE, wellFormed } from './cases.js';
import { type CheckedApp, checkedApp, codesOf, offers, ordinary } from './checked-app.js';

let app: CheckedApp;
const produced = new Map<string, Set<string>>();
const note = (name: string, code: string) => produced.set(name, (produced.get(name) ?? new Set()).add(code));

/** The whole call fails with the code. */
async function refused(name: string, code: ErrorCode, input: object, options: Parameters<CheckedApp['fail']>[2] = {}) {
  const error = await app.fail(name, input, options);
  expect([name, error.code]).toEqual([name, code]);
  note(name, error.code);
  return error;
}

/** The call succeeds and one item fails with the code. */
async function listed(name: string, code: ErrorCode, input: object, options: Parameters<CheckedApp['call']>[2] = {}) {
  const answer = await app.call(name, input, options);
  expect([name, codesOf(answer)]).toEqual([name, expect.arrayContaining([code])]);
  note(name, code);
  return answer;
}

const inputs = (name: string) => {
  const operation = operations.find(({ id }) => id === `svc/${name}-v1`);
  return Object.keys(operation?.input().shape ?? {});
};
const documented = new Map(CASES.map(({ name, codes }) => [name, codes]));
const names = operations.map(({ id }) => id.replace(/^svc\/|-v1$/g, ''));
const single = names.filter((name) => inputs(name).includes('site_id_or_domain'));
const multi = names.filter((name) => inputs(name).includes('site_ids_or_domains'));
const having = (from: readonly string[], code: ErrorCode) =>
  from.filter((name) => documented.get(name)?.includes(code));

// Roles of the sites, by id.
const GOOD = 1;
const SUSPENDED = 2;
const DISCONNECTED = 3;
const OUTDATED = 4;
const BROKEN = 5;

beforeAll(async () => {
  app = await checkedApp({ sites: 8 });
  await app.connectAll(5);
  await app.call('suspend-site', { site_id_or_domain: SUSPENDED });
  await app.call('disconnect-site', { site_id_or_domain: DISCONNECTED });
  app.site(OUTDATED - 1).faults.outdated = true;
  for (const id of [GOOD, SUSPENDED, DISCONNECTED, OUTDATED, BROKEN])
    offers(app.site(id - 1), { plugins: 2, themes: 1, core: true, translations: true });
  await app.call('sync-sites', { site_ids_or_domains: [GOOD, OUTDATED, BROKEN] });
  await app.twins();
});

describe('naming a site', () => {
  it.each(having(single, 'svc_site_not_found'))('%s', async (name) => {
    const before = await app.content();
    const call = await wellFormed(app, name);
    const unknown = await refused(name, 'svc_site_not_found', { ...call, site_id_or_domain: 'nowhere.example' });
    const ambiguous = await refused(name, 'svc_ambiguous_site', { ...call, site_id_or_domain: 'twin.example' });
    expect(ambiguous.data.site_ids).toHaveLength(2);
    for (const error of [unknown, ambiguous]) {
      expect(error.field).toBe('site_id_or_domain');
      expect(error.advice).toMatch(/\.$/);
    }
    expect(await app.content()).toBe(before);
  });

  it.each(having(multi, 'svc_site_not_found'))('%s, with others that are fine', async (name) => {
    const answer = await app.call(name, { site_ids_or_domains: ['nowhere.example', 'twin.example', GOOD] });
    expect(codesOf(answer).slice(0, 2)).toEqual(SITE.map((code) => code));
    for (const code of SITE) note(name, code);
    // Restores the good site.
    await app.call('unsuspend-site', { site_id_or_domain: GOOD });
    await app.call('reconnect-site', { site_id_or_domain: GOOD });
  });

  it.each(['reconnect-sites', 'disconnect-sites', 'check-sites', 'suspend-sites', 'unsuspend-sites'])(
    '%s, of which none can be used',
    async (name) => {
      const error = await app.fail(name, { site_ids_or_domains: ['nowhere.example', 0] });
      expect(error).toMatchObject({ code: 'svc_site_not_found', status: 404, field: 'site_ids_or_domains' });
      expect(error.data.errors).toMatchObject([
        { identifier: 'nowhere.example', site_id: null, code: 'svc_site_not_found' },
        { identifier: 0, site_id: null, code: 'svc_site_not_found' },
      ]);
    },
  );
});

describe('states of a site', () => {
  it.each(having(single, 'svc_site_suspended'))('%s', async (name) => {
    const before = await app.content();
    const calls = app.fleet.stats().requests;
    const call = await wellFormed(app, name);
    await refused(name, 'svc_site_suspended', { ...call, site_id_or_domain: SUSPENDED });
    await refused(name, 'svc_site_offline', { ...call, site_id_or_domain: DISCONNECTED });
    await refused(name, 'svc_child_version_outdated', { ...call, site_id_or_domain: OUTDATED });
    expect(await app.content()).toBe(before);
    expect(app.fleet.stats().requests).toBe(calls);
  });

  it.each(having(multi, 'svc_site_suspended'))('%s', async (name) => {
    const answer = await app.call(name, { site_ids_or_domains: [SUSPENDED, DISCONNECTED, OUTDATED] });
    expect(codesOf(answer)).toEqual(['svc_site_suspended', 'svc_site_offline', 'svc_child_version_outdated']);
    for (const code of REACH) note(name, code);
  });
});

describe('inputs that contradict each other or name nothing', () => {
  it.each(['list-updates', 'run-updates', 'update-all', 'list-vulnerabilities'])(
    '%s, filtered by what there is not',
    async (name) => {
      for (const [code, input] of [
        ['svc_invalid_input', { slug: 'no-such-slug' }],
        ['svc_tag_not_found', { tag_ids: [999] }],
        ['svc_client_not_found', { client_ids: [999] }],
      ] as const)
        expect((await refused(name, code, input)).field).toBe(Object.keys(input)[0]);
    },
  );

  it.each([
    ['search-fleet', 'plugin'],
    ['search-fleet', 'theme'],
    ['list-updates', 'slug'],
    ['list-vulnerabilities', 'slug'],
    ['list-actions', 'by'],
    ['search-changes', 'by'],
    ['search-changes', 'item'],
    ['search-changes', 'new_role'],
  ])('%s, %s with a control character', async (name, field) => {
    const input = { [field]: 'a\u0000b' };
    expect(await refused(name, 'ability_invalid_input', input)).toMatchObject({ field });
  });

  it('of operations on the whole fleet', async () => {
    await refused('search-fleet', 'svc_invalid_input', { version_below: '2' });
    await refused('get-fleet-brief', 'svc_invalid_input', { since: 'yesterday' });
    await refused('search-changes', 'svc_invalid_input', { until: '2999-01-01' });
    await refused('search-changes', 'svc_tag_not_found', { tag: 'nothing' });
    await refused('list-actions', 'svc_invalid_input', { since: '2999-01-01' });
    await refused('undo-change', 'svc_action_not_found', { change_id: 999_999, confirm: true });
    await refused('undo-change', 'svc_change_not_found', { change_id: 'nothing', confirm: true });
    await refused('undo-change', 'svc_run_not_found', { run_id: 'nothing', confirm: true });
    await refused('undo-change', 'svc_undo_plan_changed', { since: '2026-01-01', digest: 'x', confirm: true });
    const call = { action: 'ignore', type: 'plugin', slug: 'no-such-slug' };
    await refused('ignore-update-everywhere', 'svc_invalid_input', call);
  });

  it('plans and rollouts', async () => {
    for (const [code, field, input] of [
      ['svc_invalid_input', 'slugs', { slugs: ['no-such-slug'] }],
      ['svc_tag_not_found', 'tag_ids', { tag_ids: [999] }],
      ['svc_client_not_found', 'client_ids', { client_ids: [999] }],
      ['svc_tag_not_found', 'waves.canary_tag_ids', { waves: { canary_tag_ids: [999] } }],
    ] as const)
      expect((await refused('plan-updates', code, input)).field).toBe(field);
    const plan = await app.call('plan-updates', { site_ids_or_domains: [SUSPENDED] });
    const start = { plan_id: plan.plan_id, digest: plan.digest, confirm: true };
    await refused('start-rollout', 'svc_plan_not_found', { ...start, plan_id: 'x' });
    await refused('start-rollout', 'svc_plan_changed', { ...start, digest: 'x' });
    await refused('start-rollout', 'svc_no_updates', start);
    await refused('start-rollout', 'svc_invalid_input', { ...start, dry_run: true });
    await refused('get-rollout', 'svc_rollout_not_found', { rollout_id: 'x' });
    const control = { rollout_id: 'x', action: 'resume', confirm: true };
    await refused('control-rollout', 'svc_rollout_not_found', control);
    await refused('control-rollout', 'svc_invalid_input', { ...control, dry_run: true });
    await refused('preview-policy', 'svc_policy_not_found', { policy_id: 999 });
    for (const [code, filter] of [
      ['svc_invalid_input', { slugs: ['no-such-slug'] }],
      ['svc_tag_not_found', { tag_ids: [999] }],
      ['svc_client_not_found', { client_ids: [999] }],
    ] as const) {
      const { policy_id } = (await wellFormed(app, 'preview-policy')) as { policy_id: number };
      const definition = JSON.stringify({ ...filter, schedule: { at: '02:00' } });
      await app.db.run('UPDATE policy SET definition = ? WHERE id = ?', [definition, policy_id]);
      await refused('preview-policy', code, { policy_id });
    }
    const { rollout_id } = (await wellFormed(app, 'get-rollout')) as { rollout_id: string };
    await refused('control-rollout', 'svc_rest_conflict', { ...control, rollout_id });
  });

  it.each(having(names, 'svc_confirmation_required'))('%s', async (name) => {
    if (name.endsWith('client')) await app.call('add-client', { name: 'Ada', client_email: 'ada@example.com' });
    if (name.endsWith('tag')) await app.call('add-tag', { name: 'blue' });
    if (name.endsWith('cost')) await app.call('add-cost', { name: 'Shop', price: 1, renewal_type: 'yearly' });
    if (name.endsWith('time-task')) await app.call('add-time-task', { title: 'Backups' });
    const { confirm: _, ...call } = (await wellFormed(app, name)) as { confirm?: boolean };
    const before = await app.content();
    for (const confirm of [undefined, false, 'false', 0]) {
      const error = await refused(name, 'svc_confirmation_required', {
        ...call,
        ...(confirm === undefined ? {} : { confirm }),
      });
      expect(error.field).toBe('confirm');
    }
    const both = await refused(name, 'svc_invalid_input', { ...call, confirm: true, dry_run: true });
    expect(both.field).toBe('confirm');
    expect(await app.fail(name, { ...call, confirm: 'yes' })).toMatchObject({
      code: 'ability_invalid_input',
      field: 'confirm',
    });
    expect(await app.content()).toBe(before);
  });

  it.each([
    ['activate-site-plugins', { slugs: [] }, 'slugs'],
    ['deactivate-site-plugins', { slugs: [' '] }, 'slugs'],
    ['activate-site-theme', { slug: ' ' }, 'slug'],
    ['update-site', { name: ' \u0007 ' }, 'name'],
    ['set-ignored-updates', { action: 'ignore', type: 'plugin', slug: '' }, 'slug'],
    ['set-ignored-updates', { action: 'ignore', type: 'core', slug: 'wordpress' }, 'slug'],
    ['ignore-site-plugins', { action: 'add', slugs: [] }, 'slugs'],
    ['ignore-site-themes', { action: 'remove', slugs: [] }, 'slugs'],
    ['delete-site-plugins', { slugs: [], confirm: true }, 'slugs'],
    ['delete-site-themes', { slugs: [''], dry_run: true }, 'slugs'],
  ])('%s %j', async (name, more, field) => {
    expect((await refused(name, 'svc_invalid_input', { ...more, site_id_or_domain: GOOD })).field).toBe(field);
  });

  it.each(['disconnect-sites', 'suspend-sites', 'unsuspend-sites'])('%s has no "all sites"', async (name) => {
    expect((await refused(name, 'svc_invalid_input', { site_ids_or_domains: [] })).field).toBe('site_ids_or_domains');
    expect(await app.fail(name, {})).toMatchObject({ code: 'ability_invalid_input', field: 'site_ids_or_domains' });
  });
});

describe('adding and changing a site', () => {
  it('add-site', async () => {
    const site = app.site(5);
    const good = { url: site.url, admin: site.admin, admin_password: site.password, unique_id: site.uniqueId };
    const before = await app.content();
    const cases: [ErrorCode, object, string][] = [
      ['svc_invalid_input', { url: ' ' }, 'url'],
      ['svc_invalid_input', { admin: '  ' }, 'admin'],
      ['svc_invalid_url', { url: 'example.com' }, 'url'],
      ['svc_site_already_exists', { url: app.site(0).url }, 'url'],
      ['svc_client_not_found', { client_id: 99 }, 'client_id'],
      ['svc_tag_not_found', { tags: [1, 99] }, 'tags'],
      ['svc_invalid_credentials', { admin_password: 'wrong' }, 'admin_password'],
      ['svc_invalid_credentials', { unique_id: 'wrong' }, 'unique_id'],
      ['svc_connection_failed', { url: 'http://127.0.0.1:9/' }, 'url'],
    ];
    for (const [code, change, field] of cases)
      expect(await refused('add-site', code, { ...good, ...change })).toMatchObject({
        field,
        advice: expect.stringMatching(/\.$/),
      });
    site.state.openssl = false;
    await refused('add-site', 'svc_site_add_failed', good);
    site.state.openssl = true;
    expect(await app.content()).toBe(before);
  });

  it('update-site and delete-site', async () => {
    const before = await app.content();
    await refused('update-site', 'svc_client_not_found', { site_id_or_domain: GOOD, name: 'x', client_id: 99 });
    await refused('update-site', 'svc_tag_not_found', { site_id_or_domain: GOOD, name: 'x', tags: [99] });
    await app.failing(/DELETE FROM site /, () =>
      refused('delete-site', 'svc_deletion_failed', { site_id_or_domain: GOOD, confirm: true }),
    );
    expect(await app.content()).toBe(before);
  });
});

describe('what the site does', () => {
  it('sync, reconnect, check', async () => {
    const site = app.site(BROKEN - 1);
    site.faults = { http500: true };
    await listed('sync-sites', 'svc_sync_failed', { site_ids_or_domains: [BROKEN] });
    await refused('reconnect-site', 'svc_reconnect_failed', { site_id_or_domain: BROKEN });
    await listed('reconnect-sites', 'svc_reconnect_failed', { site_ids_or_domains: [BROKEN] });
    const suspend = () => app.call('suspend-site', { site_id_or_domain: BROKEN });
    await suspend();
    await refused('unsuspend-site', 'svc_reconnect_failed', { site_id_or_domain: BROKEN });
    await suspend();
    await listed('unsuspend-sites', 'svc_reconnect_failed', { site_ids_or_domains: [BROKEN] });
    const { id } = await app.call('add-client', { name: 'Of a broken site', selected_sites: [BROKEN] });
    await app.call('suspend-client', { client_id_or_email: id });
    await listed('unsuspend-client', 'svc_reconnect_failed', { client_id_or_email: id });
    site.faults = { offline: true };
    await listed('sync-sites', 'svc_site_offline', { site_ids_or_domains: [BROKEN] });
    site.faults = {};
    await app.call('reconnect-site', { site_id_or_domain: BROKEN });
  });

  it('check-site: no visit could be made', async () => {
    const strict = await checkedApp({ sites: 1, config: { allow_private_sites: false } });
    const id = await strict.row('http://127.0.0.1:1/');
    const error = await strict.fail('check-site', { site_id_or_domain: id });
    expect(error).toMatchObject({ code: 'svc_check_failed', data: { site_id: id } });
    note('check-site', error.code);
    expect(codesOf(await strict.call('check-sites'))).toEqual(['svc_check_failed']);
    note('check-sites', 'svc_check_failed');
  });

  it('writes on plugins and themes', async () => {
    const site = app.site(BROKEN - 1);
    const [plugin] = ordinary(site);
    const theme = site.state.themes.find(({ slug }) => slug !== site.state.activeTheme);
    if (plugin === undefined || theme === undefined) throw new Error('the site has too little');
    plugin.active = false;
    site.faults = { falseSuccess: true };
    const of = { site_id_or_domain: BROKEN };
    await listed('activate-site-plugins', 'svc_activation_failed', { ...of, slugs: [plugin.slug] });
    await listed('deactivate-site-plugins', 'svc_deactivation_failed', { ...of, slugs: ['none/none.php'] });
    await listed('delete-site-plugins', 'svc_deletion_failed', { ...of, slugs: [plugin.slug], confirm: true });
    await listed('delete-site-themes', 'svc_deletion_failed', { ...of, slugs: [theme.slug], confirm: true });
    await refused('activate-site-theme', 'svc_activation_failed', { ...of, slug: theme.slug });
    site.faults = { offline: true };
    for (const name of ['activate-site-plugins', 'deactivate-site-plugins'])
      await listed(name, 'svc_site_offline', { ...of, slugs: [plugin.slug] });
    await listed('delete-site-plugins', 'svc_site_offline', { ...of, slugs: [plugin.slug], confirm: true });
    await listed('delete-site-themes', 'svc_site_offline', { ...of, slugs: [theme.slug], confirm: true });
    await refused('activate-site-theme', 'svc_site_offline', { ...of, slug: theme.slug });
    site.faults = {};
  });

  const UPDATES: [string, object, boolean][] = [
    ['run-updates', { site_ids_or_domains: [BROKEN] }, false],
    ['update-all', { site_ids_or_domains: [BROKEN] }, false],
    ['update-site-core', { site_id_or_domain: BROKEN }, true],
    ['update-site-plugins', { site_id_or_domain: BROKEN }, false],
    ['update-site-themes', { site_id_or_domain: BROKEN }, false],
    ['update-site-translations', { site_id_or_domain: BROKEN }, true],
  ];
  it.each(UPDATES)('%s', async (name, input, whole) => {
    const site = app.site(BROKEN - 1);
    offers(site, { plugins: 2, themes: 1, core: true, translations: true });
    site.faults = { falseSuccess: true };
    await app.call('sync-sites', { site_ids_or_domains: [BROKEN] });
    await (whole ? refused : listed)(name, 'svc_update_failed', input);
    site.faults = {};
    // The sync after the update cannot be stored.
    await app.failing(/content_hash = \?/, () => (whole ? refused : listed)(name, 'svc_update_exception', input));
    await app.call('sync-sites', { site_ids_or_domains: [BROKEN] });
  });

  it.each(['update-site-plugins', 'update-site-themes'])('%s of what is not on offer', async (name) => {
    await listed(name, 'svc_no_updates', { site_id_or_domain: GOOD, slugs: ['none'] });
  });
});

describe('safe updates', () => {
  const of = { site_id_or_domain: GOOD };

  it('install-site-guard where the code cannot run', async () => {
    const { faults } = app.site(GOOD - 1);
    for (const [fault, reason] of [
      ['refuseCode', 'not_run'],
      ['readOnlyFiles', 'not_writable'],
    ] as const) {
      faults[fault] = true;
      const error = await refused('install-site-guard', 'svc_guard_install_failed', of);
      expect([error.data.reason, error.advice]).toEqual([reason, expect.stringContaining('manually')]);
      faults[fault] = false;
    }
    expect(app.site(GOOD - 1).guard).toBeNull();
  });

  it('safe-update-site', async () => {
    for (const path of [
      'https://other.example/',
      '//other.example/',
      '/ https://other.example/',
      '../wp-admin',
      'a\\b',
      '#x',
    ]) {
      const error = await refused('safe-update-site', 'svc_invalid_input', { ...of, paths: ['shop/', path] });
      expect(error.field).toBe('paths[1]');
    }
    await listed('safe-update-site', 'svc_no_updates', { ...of, specific_items: ['none'] });
  });

  it('roll-back', async () => {
    expect((await refused('roll-back', 'svc_invalid_input', { type: 'plugin', slug: 'a/a.php' })).field).toBe(
      'site_id_or_domain',
    );
    expect((await refused('roll-back', 'svc_invalid_input', { ...of, slug: 'a/a.php' })).field).toBe('type');
    await refused('roll-back', 'svc_change_not_found', { change_id: 'change_0' });
    await refused('roll-back', 'svc_change_not_found', { ...of, type: 'plugin', slug: 'a/a.php' });
    const [plugin] = ordinary(app.site(GOOD - 1));
    await refused('roll-back', 'svc_snapshot_not_found', { ...of, type: 'plugin', slug: 'a/a.php', to_version: '1' });
    // Only loopback can be reached here, so wordpress.org has none either.
    await refused('roll-back', 'svc_snapshot_not_found', {
      ...of,
      type: 'plugin',
      slug: plugin?.slug,
      to_version: '0.0.1',
    });
  });

  it.each(having(names, 'svc_backup_not_found'))('%s', async (name) => {
    const { field } = await refused(name, 'svc_backup_not_found', await wellFormed(app, name));
    expect(field).toBe(name === 'drill-backup' ? 'site_id_or_domain' : 'backup_id');
  });

  it('back-up-site', async () => {
    await refused('back-up-site', 'svc_invalid_input', { site_id_or_domain: 1, site_ids_or_domains: [2] });
    await refused('drill-backup', 'svc_invalid_input', {});
  });

  it('schedule-backups', async () => {
    const both = { site_id_or_domain: 1, tag_id: 1, every: 'daily' };
    expect((await refused('schedule-backups', 'svc_invalid_input', both)).field).toBe('tag_id');
  });

  it('lift-quarantine', async () => {
    const version = { type: 'plugin', slug: 'a/a.php', version: '1.0' };
    expect((await refused('lift-quarantine', 'svc_quarantine_not_found', version)).field).toBe('version');
  });
  it('set-quarantine-scope', async () => {
    const version = { type: 'plugin', slug: 'a/a.php', version: '1.0' };
    expect(
      (await refused('set-quarantine-scope', 'svc_quarantine_not_found', { ...version, scope: 'fleet', reason: 'x' }))
        .field,
    ).toBe('version');
  });
});

describe('modules that are off', () => {
  it.each(having(names, 'svc_module_not_available'))('%s', async (name) => {
    const bare = await checkedApp({ sites: 1, config: { modules: [] } });
    await bare.connect(0);
    await bare.call('add-client', { name: 'Ada' });
    const error = await bare.fail(name, await wellFormed(bare, name));
    expect(error).toMatchObject({ code: 'svc_module_not_available', status: 501 });
    note(name, error.code);
  });
});

describe('storage that fails', () => {
  it.each(having(multi, 'svc_queue_failed'))('%s: no job, nothing started', async (name) => {
    const small = await checkedApp({ sites: 2, config: { batch_threshold: 1 } });
    await small.connectAll(2);
    const calls = small.fleet.stats().requests;
    const error = await small.failing(/INSERT INTO job/, () => small.fail(name, { site_ids_or_domains: [1, 2] }));
    expect([name, error.code]).toEqual([name, 'svc_queue_failed']);
    note(name, error.code);
    expect(small.fleet.stats().requests).toBe(calls);
    expect(await small.cell('SELECT count(*) FROM job')).toBe(0);
  });

  it('marks', async () => {
    await app.failing(/UPDATE site SET/, async () => {
      await listed('disconnect-sites', 'svc_disconnect_failed', { site_ids_or_domains: [GOOD] });
      await listed('suspend-sites', 'svc_suspend_failed', { site_ids_or_domains: [GOOD] });
      await listed('unsuspend-sites', 'svc_suspend_failed', { site_ids_or_domains: [GOOD] });
    });
    expect(await app.call('get-site', { site_id_or_domain: GOOD })).toMatchObject({ status: 'connected' });
  });

  it('clients and tags', async () => {
    await app.failing(/INTO client|UPDATE client|DELETE FROM client/, async () => {
      await refused('add-client', 'svc_client_creation_failed', { name: 'x' });
      await refused('update-client', 'svc_client_update_failed', { client_id_or_email: 1, name: 'x' });
      await refused('suspend-client', 'svc_client_update_failed', { client_id_or_email: 1 });
      await refused('unsuspend-client', 'svc_client_update_failed', { client_id_or_email: 1 });
      await refused('delete-client', 'svc_client_deletion_failed', { client_id_or_email: 1, confirm: true });
    });
    await app.failing(/\btag\b/, async () => {
      for (const name of having(names, 'svc_operation_failed'))
        await refused(
          name,
          'svc_operation_failed',
          {
            'list-tags': {},
            'add-tag': { name: 'x' },
            'update-tag': { tag_id: 1, name: 'x' },
            'delete-tag': { tag_id: 1, confirm: true },
          }[name] ?? { tag_id: 1 },
        );
    });
  });
});

describe('clients, tags and jobs', () => {
  it.each(having(names, 'svc_client_not_found').filter((name) => inputs(name).includes('client_id_or_email')))(
    '%s',
    async (name) => {
      const more = name === 'delete-client' ? { confirm: true } : {};
      expect((await refused(name, 'svc_client_not_found', { client_id_or_email: 99, ...more })).field).toBe(
        'client_id_or_email',
      );
    },
  );

  it.each(having(names, 'svc_tag_not_found').filter((name) => inputs(name).includes('tag_id')))('%s', async (name) => {
    const more =
      {
        'delete-tag': { confirm: true },
        'update-tag': { name: 'new' },
        'schedule-backups': { every: 'daily' },
      }[name] ?? {};
    expect((await refused(name, 'svc_tag_not_found', { tag_id: 99, ...more })).field).toBe('tag_id');
  });

  it('names, e-mails and sites of clients and tags', async () => {
    const before = await app.content();
    await refused('add-client', 'svc_invalid_input', { name: ' ' });
    await refused('update-client', 'svc_invalid_input', { client_id_or_email: 1, name: ' ' });
    await refused('add-client', 'svc_already_exists', { name: 'B', client_email: 'ADA@example.com' });
    await refused('add-client', 'svc_site_not_found', { name: 'B', selected_sites: [999] });
    await refused('update-client', 'svc_site_not_found', { client_id_or_email: 1, selected_sites: [999] });
    await refused('add-tag', 'svc_already_exists', { name: 'BLUE' });
    await refused('add-tag', 'svc_invalid_input', { name: ' \n ' });
    await refused('update-tag', 'svc_invalid_input', { tag_id: 1, name: ' ' });
    expect(await app.content()).toBe(before);
    await app.call('add-client', { name: 'B', client_email: 'b@example.com' });
    await refused('update-client', 'svc_already_exists', {
      client_id_or_email: 'b@example.com',
      client_email: 'ada@example.com',
    });
    const { id } = await app.call('add-tag', { name: 'green' });
    await refused('update-tag', 'svc_already_exists', { tag_id: id, name: 'Blue' });
  });

  it('get-run, retry-run and list-runs', async () => {
    for (const run_id of ['run_0', '', 'x'])
      for (const name of ['get-run', 'retry-run']) await refused(name, 'svc_run_not_found', { run_id });
    const { updateRuns } = app.service.store;
    await updateRuns.begin({ id: 'open', started_at: 0, owner: '', actor: '', origin: '{}', asked: '{}', sites: 1 });
    await refused('retry-run', 'svc_rest_conflict', { run_id: 'open' });
    await updateRuns.drop('open');
    await refused('list-runs', 'svc_invalid_input', { since: 'yesterday' });
  });

  it('get-batch-job-status', async () => {
    for (const id of ['sync_0', 'update_00000000-0000-4000-8000-000000000000', 'check_\0', 'sync_'])
      await refused('get-batch-job-status', 'svc_job_not_found', { job_id: id });
    for (const id of ['', 'sync', 'Sync_1', 'delete_1', 7])
      await refused('get-batch-job-status', 'ability_invalid_input', { job_id: id });
  });

  it('cancel-job', async () => {
    await refused('cancel-job', 'svc_job_not_found', { job_id: 'sync_0', confirm: true });
    const call = await wellFormed(app, 'cancel-job');
    await app.call('cancel-job', call);
    await refused('cancel-job', 'svc_rest_conflict', call);
  });
});

describe('rights', () => {
  const reader = { ...ADMIN, rights: ['read'] as const };
  const refusedRight = { code: 'svc_permission_denied', status: 403 };
  it.each(operations.map(({ id, effect }) => [id.replace(/^svc\/|-v1$/g, ''), effect] as const))(
    '%s',
    async (name, effect) => {
      const needed = effect === 'read' ? 'read' : 'write';
      const other = { ...ADMIN, rights: needed === 'read' ? (['write'] as const) : reader.rights };
      expect(await app.fail(name, { nonsense: 1 }, { actor: other })).toMatchObject(refusedRight);
      // With the right, the input is validated.
      expect(await app.fail(name, { nonsense: 1 }, { actor: { ...ADMIN, rights: [needed] } })).toMatchObject({
        code: 'ability_invalid_input',
      });
    },
  );
});

it('every documented code was produced, and for every operation', () => {
  expect([...documented.keys()].sort()).toEqual([...names].sort());
  expect(CASES).toHaveLength(names.length);
  const missing = names.flatMap((name) =>
    (documented.get(name) ?? [])
      .filter((code) => produced.get(name)?.has(code) !== true)
      .map((code) => `${name}: ${code}`),
  );
  expect(missing).toEqual([]);
});
