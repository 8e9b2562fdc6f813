/**
 * The cases of the operations: each once, with the error codes that the interface documents for it (operations §8, §9)
 * and a working call. Tests that cover all operations read this list; a new operation adds one line.
 */

import { randomUUID } from 'node:crypto';
import { findItem, keep } from '../../src/demo/guard/state.js';
import type { ErrorCode } from '../../src/runtime/errors.js';
import { type Answer, START, type TestApp } from '../support/harness.js';

/** Input of a working call, or a function that builds it from the results of earlier calls. */
type Input = object | ((walk: Walk) => object | Promise<object>);

export interface OperationCase {
  name: string;
  /** Without the codes that every operation has: rights, input, output. */
  codes: readonly ErrorCode[];
  calls: readonly Input[];
}

/** Data shared by the calls of a walk through all cases. */
interface Walk {
  app: TestApp;
  /** The sites 1 to this one are connected; plugins, themes and offers are those of site 1. */
  sites: number;
  /** The tag and the client that were added. */
  tag: { tag_id: number };
  client: { client_id_or_email: number };
  /** A plugin that may be deactivated and deleted. */
  plugin: string;
  /** Themes that are not active. */
  themes: readonly string[];
  /** The last answer of an operation. */
  answer(name: string): Answer;
  /** A plugin that had an update available when first asked, or any. */
  offered(): Promise<string>;
}

function walkThrough(app: TestApp, sites: number, answers: ReadonlyMap<string, Answer>): Walk {
  const answer = (name: string): Answer => {
    const found = answers.get(name);
    if (found === undefined) throw new Error(`${name} was not called yet`);
    return found;
  };
  let offered: Promise<string> | undefined;
  return {
    app,
    sites,
    answer,
    get tag() {
      return { tag_id: Number(answer('add-tag').id) };
    },
    get client() {
      return { client_id_or_email: Number(answer('add-client').id ?? answer('add-client').client_id) };
    },
    get plugin() {
      const plugins = answer('get-site-plugins').plugins as { slug: string }[];
      return String(plugins.find(({ slug }) => !slug.includes('mainwp'))?.slug);
    },
    get themes() {
      const themes = answer('get-site-themes').themes as { slug: string; active: boolean }[];
      return themes.filter(({ active }) => !active).map(({ slug }) => slug);
    },
    offered() {
      offered ??= app.call('list-updates', { per_page: 200 }).then(({ updates }) => {
        const offers = updates as { type: string; slug: string }[];
        return offers.find(({ type }) => type === 'plugin')?.slug ?? this.plugin;
      });
      return offered;
    },
  };
}

export const SITE: ErrorCode[] = ['svc_site_not_found', 'svc_ambiguous_site'];
const CONFIRM: ErrorCode[] = ['svc_invalid_input', 'svc_confirmation_required'];
/** Codes of update filters that name something that does not exist. */
const FILTERS = ['svc_invalid_input', 'svc_tag_not_found', 'svc_client_not_found'] as const;
export const REACH: ErrorCode[] = ['svc_site_suspended', 'svc_site_offline', 'svc_child_version_outdated'];
const APPLY: ErrorCode[] = ['svc_update_failed', 'svc_update_exception'];
const BACKUP: ErrorCode[] = ['svc_backup_not_found'];
const CLIENT: ErrorCode[] = ['svc_client_not_found'];
const TAG: ErrorCode[] = ['svc_tag_not_found', 'svc_operation_failed'];
const QUEUE: ErrorCode[] = ['svc_queue_failed'];
const MODULE: ErrorCode[] = ['svc_module_not_available'];

const site = { site_id_or_domain: 1 };
const few = { site_ids_or_domains: [1, 2] };
/** One that there is not, where no site was backed up. */
const backup = ({ answer }: Walk) => ({ backup_id: answer('back-up-site').backup_id ?? `backup_${'0'.repeat(24)}` });
const tag = (walk: Walk) => walk.tag;
const client = (walk: Walk) => walk.client;

/** Makes the guard of the first site keep a copy of this plugin in its current version. */
function keptVersion(app: TestApp, slug: string): string {
  const site = app.fleet.site(0);
  const item = findItem(site, 'plugin', slug);
  if (site.guard === null || item === undefined) return '1.0';
  return keep(site, site.guard, 'plugin', item, 'snapshot').version;
}

/** A job whose turn does not come before it is cancelled. */
export async function waitingJob({ app }: Pick<Walk, 'app'>): Promise<object> {
  const job_id = `sync_${randomUUID()}`;
  const now = app.ctx().clock.now();
  const pace = { chunk: 20, delay_ms: 0, timeout_ms: 3_600_000, next_run_at: now + 86_400_000 };
  const job = { id: job_id, type: 'sync', params: {}, sites: [1], begun: false, refused: [], ...pace } as const;
  await app.service.store.jobs.add(job, now);
  return { job_id, confirm: true };
}

/** A rollout of which no wave has begun. */
async function startedRollout({ app }: Pick<Walk, 'app'>): Promise<object> {
  const { plan_id, digest } = await app.call('plan-updates', {});
  const origin = JSON.stringify({ type: 'user', id: 1, name: 'admin', via: 'run', operation: '', request_id: '' });
  const rollout = { id: `rollout_${randomUUID()}`, plan_id, digest, actor: 'admin', origin };
  const started = await app.service.store.rollouts.start({ ...rollout, started_at: app.ctx().clock.now() });
  return { rollout_id: started?.id };
}

/** A policy that is never due. */
async function offPolicy({ app }: Pick<Walk, 'app'>): Promise<object> {
  const definition = JSON.stringify({ schedule: { at: '02:00' } });
  const made = { name: randomUUID(), enabled: 0, definition, changed_by: 'admin', changed_at: 0 };
  const policy_id = await app.service.store.policies.add({ ...made, name_key: made.name });
  return { policy_id };
}

function operation(name: string, codes: readonly ErrorCode[], ...calls: Input[]): OperationCase {
  return { name, codes, calls };
}

/** In an order in which each call prepares the next. */
export const CASES: readonly OperationCase[] = [
  operation('get-site-plugins', SITE, site),
  operation('get-site-themes', SITE, site),
  operation('add-tag', ['svc_already_exists', 'svc_invalid_input', 'svc_operation_failed'], {
    name: 'production',
    color: '#00ff00',
  }),
  operation(
    'add-client',
    ['svc_invalid_input', 'svc_already_exists', 'svc_site_not_found', 'svc_client_creation_failed'],
    { name: 'Ada', client_email: 'ada@example.com', selected_sites: [1] },
  ),

  operation('list-sites', [], {}),
  operation('count-sites', [], {}),
  operation('get-sites-basic', [], {}),
  operation('list-updates', [...SITE, ...FILTERS], {}),
  operation('list-ignored-updates', [], {}),
  operation('get-abandoned-plugins', [], {}),
  operation('get-abandoned-themes', [], {}),
  operation('list-clients', [], {}),
  operation('count-clients', [], {}),
  operation('list-tags', ['svc_operation_failed'], {}),
  operation('get-site', SITE, site),
  operation('get-site-security', SITE, site),
  operation('get-site-changes', [...SITE, 'svc_module_not_available'], site),
  operation('get-site-client', SITE, site),
  operation('get-site-costs', [...SITE, 'svc_module_not_available'], site),
  operation('get-site-updates', SITE, site),
  operation('get-client', CLIENT, client),
  operation('get-client-sites', CLIENT, client),
  operation('count-client-sites', CLIENT, client),
  operation('get-client-costs', [...CLIENT, 'svc_module_not_available'], client),
  operation('get-tag', TAG, tag),
  operation('get-tag-sites', TAG, tag),
  operation('get-tag-clients', TAG, tag),

  operation('update-site', [...SITE, 'svc_client_not_found', 'svc_tag_not_found', 'svc_invalid_input'], (walk) => ({
    ...site,
    name: 'First',
    notes: 'seen',
    tags: [walk.tag.tag_id],
  })),
  operation('update-tag', [...TAG, 'svc_already_exists', 'svc_invalid_input'], (walk) => ({
    ...walk.tag,
    name: 'live',
  })),
  operation(
    'update-client',
    [...CLIENT, 'svc_invalid_input', 'svc_already_exists', 'svc_site_not_found', 'svc_client_update_failed'],
    (walk) => ({ ...walk.client, city: 'London' }),
  ),
  operation('suspend-client', [...CLIENT, 'svc_client_update_failed'], client),
  operation('unsuspend-client', [...CLIENT, 'svc_client_update_failed', 'svc_reconnect_failed'], client),
  operation('suspend-site', SITE, site),
  operation('suspend-sites', [...QUEUE, ...SITE, 'svc_invalid_input', 'svc_suspend_failed'], few),
  operation('unsuspend-site', [...SITE, 'svc_reconnect_failed'], site, { site_id_or_domain: 2 }),
  operation('disconnect-site', SITE, site),
  operation('reconnect-site', [...SITE, 'svc_reconnect_failed'], site),
  operation('check-site', [...SITE, 'svc_check_failed'], site),
  operation('check-sites', [...QUEUE, ...SITE, 'svc_check_failed'], few),
  operation('sync-sites', [...QUEUE, ...SITE, ...REACH, 'svc_sync_failed'], few),
  operation('disconnect-sites', [...QUEUE, ...SITE, 'svc_invalid_input', 'svc_disconnect_failed'], few),
  operation('reconnect-sites', [...QUEUE, ...SITE, 'svc_reconnect_failed'], few),

  operation(
    'deactivate-site-plugins',
    [...SITE, ...REACH, 'svc_invalid_input', 'svc_deactivation_failed'],
    ({ plugin }) => ({ ...site, slugs: [plugin] }),
  ),
  operation(
    'activate-site-plugins',
    [...SITE, ...REACH, 'svc_invalid_input', 'svc_activation_failed'],
    ({ plugin }) => ({ ...site, slugs: [plugin] }),
  ),
  operation('activate-site-theme', [...SITE, ...REACH, 'svc_invalid_input', 'svc_activation_failed'], ({ themes }) => ({
    ...site,
    slug: themes[0],
  })),
  operation('ignore-site-core', SITE, { ...site, action: 'add' }, { ...site, action: 'remove' }),
  operation(
    'ignore-site-plugins',
    [...SITE, 'svc_invalid_input'],
    async (walk) => ({ ...site, action: 'add', slugs: [await walk.offered()] }),
    async (walk) => ({ ...site, action: 'remove', slugs: [await walk.offered()] }),
  ),
  operation(
    'ignore-site-themes',
    [...SITE, 'svc_invalid_input'],
    ({ themes }) => ({ ...site, action: 'add', slugs: themes.slice(0, 1) }),
    ({ themes }) => ({ ...site, action: 'remove', slugs: themes.slice(0, 1) }),
  ),
  operation(
    'set-ignored-updates',
    [...SITE, 'svc_invalid_input'],
    async (walk) => ({ ...site, action: 'ignore', type: 'plugin', slug: await walk.offered() }),
    async (walk) => ({ ...site, action: 'unignore', type: 'plugin', slug: await walk.offered() }),
  ),
  operation('update-site-core', [...SITE, ...REACH, ...APPLY], site),
  operation('update-site-plugins', [...SITE, ...REACH, ...APPLY, 'svc_no_updates'], site),
  operation('update-site-themes', [...SITE, ...REACH, ...APPLY, 'svc_no_updates'], site),
  operation('update-site-translations', [...SITE, ...REACH, ...APPLY], site),
  operation('run-updates', [...QUEUE, ...SITE, ...REACH, ...APPLY, ...FILTERS], { ...few, types: ['plugins'] }),
  operation('update-all', [...QUEUE, ...SITE, ...REACH, ...APPLY, ...FILTERS], few),
  operation('get-batch-job-status', ['svc_job_not_found', 'ability_invalid_input'], async ({ app }) => ({
    job_id: (await app.call('sync-sites', {})).job_id ?? 'sync_00000000-0000-0000-0000-000000000000',
  })),
  operation(
    'unsuspend-sites',
    [...QUEUE, ...SITE, 'svc_invalid_input', 'svc_suspend_failed', 'svc_reconnect_failed'],
    few,
  ),
  operation('search-fleet', ['svc_invalid_input'], { php_below: '9', per_page: 5 }, { plugin: 'a', group_by: 'slug' }),
  operation('get-fleet-brief', ['svc_invalid_input'], {}, { since: '2020-01-01' }),
  operation('list-vulnerabilities', [...SITE, ...FILTERS], site, { severity: ['high'], fixed: true }),
  operation('ignore-update-everywhere', ['svc_invalid_input'], {
    action: 'ignore',
    type: 'core',
    slug: 'platform',
    until: '2999-01-01',
  }),
  operation('install-site-guard', [...SITE, ...REACH, 'svc_guard_install_failed'], site),
  operation('get-site-guard', [...SITE, ...REACH], site),
  operation('list-site-snapshots', [...SITE, ...REACH], site),
  operation('safe-update-site', [...SITE, ...REACH, 'svc_invalid_input', 'svc_no_updates'], {
    ...site,
    specific_items: ['none/none.php'],
  }),
  operation(
    'roll-back',
    [...SITE, ...REACH, 'svc_invalid_input', 'svc_change_not_found', 'svc_snapshot_not_found'],
    ({ app, plugin }) => ({ ...site, type: 'plugin', slug: plugin, to_version: keptVersion(app, plugin) }),
  ),
  operation('list-runs', [...SITE, 'svc_invalid_input'], {}, { ...site, since: '2020-01-01', state: 'ended' }),
  operation('get-run', ['svc_run_not_found'], async ({ app }) => {
    const { runs } = await app.call('list-runs', {});
    return { run_id: (runs as { run_id: string }[])[0]?.run_id };
  }),
  operation('retry-run', ['svc_run_not_found', 'svc_rest_conflict'], async ({ app }) => {
    const { runs } = await app.call('list-runs', { state: 'ended' });
    return { run_id: (runs as { run_id: string }[])[0]?.run_id, dry_run: true };
  }),
  operation('list-quarantined-versions', [], {}),
  operation('lift-quarantine', ['svc_quarantine_not_found'], async ({ app }) => {
    const version = { type: 'plugin', slug: 'held/held.php', version: '2.0' };
    const entry = {
      name: 'Held',
      site_id: 1,
      site_url: 'https://example.com/',
      change_id: 'change_1',
      created_at: START,
    };
    await app.service.store.quarantine.add(
      { ...version, ...entry, type: 1, evidence: '["It broke."]' },
      { seen: true, fleet_until: null },
    );
    return version;
  }),
  operation('set-quarantine-scope', ['svc_quarantine_not_found'], async ({ app }) => {
    const version = { type: 'plugin', slug: 'held/held.php', version: '2.0' };
    const entry = { name: 'Held', site_id: 1, site_url: 'https://example.com/', change_id: 'c', created_at: START };
    const told = { ...version, ...entry, type: 1, evidence: '["It broke."]' };
    await app.service.store.quarantine.add(told, { seen: true, fleet_until: null });
    return { ...version, scope: 'fleet', reason: 'The author took it back.' };
  }),
  // The remaining operations: their codes are in the tests of their groups, unless a rule covers all operations.
  operation('switch-plugin', [], ({ plugin }) => ({ ...few, plugin, action: 'activate' })),
  operation('list-incidents', SITE, {}, { ...site, open: false, days: 3 }),
  operation('acknowledge-incident', [], async ({ app }) => {
    const { lastId } = await app.db.run(
      "INSERT INTO incident (site_id, started_at, ended_at, http_code, msg, down_count) VALUES (1, ?, ?, 503, 'HTTP 503', 3)",
      [START, START + 60_000],
    );
    return { incident_id: lastId, note: 'The host was asked.' };
  }),
  operation('list-monitors', SITE, {}, site),
  operation('check-monitor', SITE, site, { ...site, what: 'certificate' }),
  operation('update-monitors', [], { ...few, interval: 15, dry_run: true }, { ...few, maintenance_minutes: 0 }),
  operation('list-certificates', [...SITE, 'svc_module_not_available'], {}, site),
  operation('list-domains', [...SITE, 'svc_module_not_available'], {}, site),
  operation('list-alerts', SITE, {}, site),
  operation('list-report-segments', [], {}),
  operation('build-report', [...SITE, 'svc_client_not_found', 'svc_module_not_available'], site, (walk) => walk.client),
  operation('list-posts', [], few),
  operation('create-post', SITE, { ...site, post_title: 'Opening hours', post_content: '<p>From nine to five.</p>' }),
  operation('get-post', SITE, ({ answer }) => ({ ...site, post_id: answer('create-post').post_id })),
  operation('edit-post', SITE, ({ answer }) => ({
    ...site,
    post_id: answer('create-post').post_id,
    post_title: 'New opening hours',
  })),
  operation('set-post-status', SITE, ({ answer }) => ({
    ...site,
    post_id: answer('create-post').post_id,
    step: 'publish',
  })),
  operation('list-comments', ['svc_module_not_available'], few),
  operation('moderate-comments', [...SITE, 'svc_module_not_available'], ({ answer }) => ({
    ...site,
    comment_ids: [answer('list-comments').sites[0].comments[0].id],
    action: 'trash',
  })),
  operation('list-costs', MODULE, {}),
  operation('add-cost', MODULE, { name: 'Shop licence', price: '12.50', renewal_type: 'yearly', sites: [1] }),
  operation('update-cost', MODULE, ({ answer }) => ({ cost_id: answer('add-cost').id, price: 20 })),
  operation('list-time-tasks', MODULE, {}),
  operation('add-time-task', MODULE, { title: 'Backups', site_ids: [1], start: true }),
  operation('update-time-task', MODULE, ({ answer }) => ({
    task_id: answer('add-time-task').id,
    title: 'Backups of June',
  })),
  operation('set-timer', MODULE, ({ answer }) => ({ task_id: answer('add-time-task').id, step: 'stop' })),
  operation('list-time-clients', MODULE, {}),
  operation('list-time-buckets', MODULE, {}),
  operation('diagnose-site', SITE, site),
  operation('search-changes', [...SITE, ...FILTERS, ...MODULE], {}, { kinds: ['plugin'], by: 'admin' }),
  operation('list-actions', SITE, {}, { by: 'admin' }),
  operation('compare-sites', [], few, { ...few, administrators: true, same: true }),
  operation('tag-sites', [], { ...few, add: ['Shops'], create: true }, { ...few, remove: ['shops'] }),
  operation('add-guidance', [], { text: 'No updates of the shop before Monday.', ...site }),
  operation('list-guidance', [], {}, site),
  // Refused to programs, which these calls are.
  operation('decide-guidance', []),
  operation('list-approvals', [], {}, { states: ['waiting', 'used'] }),
  // Of requests that wait, of which there are none here.
  operation('withdraw-approval', []),
  operation('plan-updates', FILTERS, {}, { waves: { canaries: 1 }, window: { from: '01:00', to: '03:00' } }),
  operation(
    'start-rollout',
    [...CONFIRM, 'svc_plan_not_found', 'svc_plan_changed', 'svc_no_updates'],
    async ({ app }) => {
      const { plan_id, digest } = await app.call('plan-updates', { types: ['plugins'] });
      return { plan_id, digest, dry_run: true };
    },
  ),
  operation('list-rollouts', [], {}, { state: 'running' }),
  operation('get-rollout', ['svc_rollout_not_found'], startedRollout),
  operation('control-rollout', [...CONFIRM, 'svc_rollout_not_found', 'svc_rest_conflict'], async (walk) => {
    return { ...(await startedRollout(walk)), action: 'pause', confirm: true };
  }),
  operation('list-policies', [], {}),
  operation('preview-policy', ['svc_policy_not_found', ...FILTERS], offPolicy),
  operation(
    'undo-change',
    [...CONFIRM, ...SITE, 'svc_action_not_found', 'svc_change_not_found', 'svc_run_not_found', 'svc_undo_plan_changed'],
    { since: '2026-01-01', confirm: true },
    { since: '2026-01-01', by: 'admin', ...site, dry_run: true },
  ),
  operation('back-up-site', [...SITE, ...REACH, 'svc_invalid_input'], site),
  operation('list-backups', SITE, {}, site),
  operation('list-backup-status', [], {}),
  operation('get-backup', BACKUP, backup),
  operation('verify-backup', BACKUP, backup),
  operation('drill-backup', [...BACKUP, ...SITE, 'svc_invalid_input'], site),
  operation('restore-backup', BACKUP, (walk) => ({
    ...backup(walk),
    what: 'site',
    dry_run: true,
  })),
  operation('schedule-backups', [...SITE, 'svc_tag_not_found', 'svc_invalid_input'], {
    ...site,
    every: 'weekly',
    hour: 2,
  }),
  // New operations: above this line (`npm run new:operation` puts them here). Deletions come last.
  operation('remove-site-guard', [...CONFIRM, ...SITE, ...REACH], { ...site, confirm: true }),
  operation('delete-site-plugins', [...CONFIRM, ...SITE, ...REACH, 'svc_deletion_failed'], ({ plugin }) => ({
    ...site,
    slugs: [plugin],
    confirm: true,
  })),
  operation('delete-site-themes', [...CONFIRM, ...SITE, ...REACH, 'svc_deletion_failed'], ({ themes }) => ({
    ...site,
    slugs: [themes[1] ?? themes[0]],
    dry_run: true,
  })),
  operation('delete-cost', [...CONFIRM, ...MODULE], ({ answer }) => ({
    cost_id: answer('add-cost').id,
    confirm: true,
  })),
  operation('delete-time-task', [...CONFIRM, ...MODULE], ({ answer }) => ({
    task_id: answer('add-time-task').id,
    confirm: true,
  })),
  operation('cancel-job', [...CONFIRM, 'svc_job_not_found', 'svc_rest_conflict'], waitingJob),
  operation('delete-tag', [...CONFIRM, ...TAG], (walk) => ({ ...walk.tag, confirm: true })),
  operation('delete-client', [...CONFIRM, ...CLIENT, 'svc_client_deletion_failed'], (walk) => ({
    ...walk.client,
    confirm: true,
  })),
  operation('delete-site', [...CONFIRM, ...SITE, 'svc_deletion_failed'], ({ sites }) => ({
    site_id_or_domain: sites,
    confirm: true,
  })),
  operation(
    'add-site',
    [
      'svc_invalid_input',
      'svc_invalid_url',
      'svc_site_already_exists',
      'svc_connection_failed',
      'svc_invalid_credentials',
      'svc_site_add_failed',
      'svc_client_not_found',
      'svc_tag_not_found',
    ],
    ({ app, sites }) => {
      const { url, admin, password, uniqueId } = app.fleet.site(sites - 1);
      return { url, admin, admin_password: password, unique_id: uniqueId };
    },
  ),
];

/** Runs every working call. Needs the sites 1 to `sites` connected; deletes the last one and adds it again. */
export async function everyOperation(
  app: TestApp,
  sites: number,
  run: (call: { name: string; input: object }) => Promise<Answer>,
): Promise<void> {
  const answers = new Map<string, Answer>();
  const walk = walkThrough(app, sites, answers);
  for (const { name, calls } of CASES) {
    for (const input of calls)
      answers.set(name, await run({ name, input: typeof input === 'function' ? await input(walk) : input }));
  }
}

/** Input of a well-formed and confirmed call, with plugins and themes that no site has. */
export async function wellFormed(app: TestApp, name: string): Promise<object> {
  const [input = {}] = CASES.find((one) => one.name === name)?.calls ?? [];
  if (typeof input !== 'function') return input;
  const walk = {
    app,
    sites: 1,
    tag: { tag_id: 1 },
    client: { client_id_or_email: 1 },
    plugin: 'a/a.php',
    themes: ['a'],
    answer: () => ({ id: 1, post_id: 99, sites: [{ comments: [{ id: 99 }] }] }),
  };
  const { dry_run, ...rest } = (await input({ ...walk, offered: async () => 'a/a.php' })) as { dry_run?: boolean };
  return dry_run === true ? { ...rest, confirm: true } : rest;
}
