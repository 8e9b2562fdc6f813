/** The calls of the recorded run, section by section, in the order of the routes document. */

import { SEGMENT_NAMES } from '../../schemas/report.js';
import { keep } from '../../src/demo/guard/state.js';
import { recordFleetDay } from '../../src/domain/fleet/days.js';
import { routes } from '../../src/surfaces/rest/index.js';
import { newKey, newSession } from '../support/logins.js';
import { type Affected, entry } from '../vulnerabilities/feed.js';
import type { RestApp } from './client.js';
import type { recorder } from './traffic.js';

type Recorder = ReturnType<typeof recorder>;

const RANGE = '?start_date=2026-11-01&end_date=2026-11-20';
const SITE = '/sites/{id_or_domain}';

export async function keys({ get, each, send }: Recorder) {
  const { body } = await each('POST', '/rest-api/add-key', {}, { active: true, permissions: 'read', description: 'x' });
  const key = { key_identifier: body.id };
  await get('/rest-api/keys');
  await get('/rest-api/keys', {}, '?per_page=201');
  await each('PUT', '/rest-api/edit-key/{key_identifier}', key, { active: false });
  await send('PUT', '/rest-api/edit-key/{key_identifier}', key, { permissions: 'all' });
  await each('DELETE', '/rest-api/delete-key/{key_identifier}', key);
  await send('DELETE', '/rest-api/delete-key/{key_identifier}', key);
}

export async function approvals({ recorded, get, send }: Recorder, app: RestApp) {
  const { token } = await newKey(app.service.store.keys, { scope: 'read', approves: true });
  /** By a key that may approve. */
  const decide = async (method: 'POST' | 'PUT' | 'PATCH', path: string, approval_id: string, body: object) => {
    const call = `${method} ${path.replace('{approval_id}', approval_id)}`;
    recorded.push({ method, path, call, reply: await app.rest(call, { body, token }) });
  };
  const rules = '/approvals/rules';
  const [approve, refuse] = ['/approvals/{approval_id}/approve', '/approvals/{approval_id}/refuse'];
  await get(rules);
  await decide('PUT', rules, '', { preset: 'careful' });
  const ask = async (name: string) => {
    const { body } = await send('POST', '/costs/add', {}, { name, price: '1', type: 'lifetime' });
    const remove = () => send('DELETE', '/costs/{cost_id}/remove', { cost_id: body.data.id });
    return { id: (await remove()).body.data.approval_id, remove };
  };
  const [used, refused] = [await ask('Used'), await ask('Refused')];
  const waiting = await ask('Waiting');
  await decide('POST', approve, used.id, { note: 'Yes.' });
  await used.remove();
  await decide('POST', approve, used.id, {});
  await decide('POST', refuse, refused.id, { note: 'No.' });
  await refused.remove();
  await decide('POST', refuse, 'apr_0123456789abcdef01234567', {});
  await send('POST', '/updates/update', {}, { exclude_items: [] });
  await send('DELETE', '/quarantine', {}, { type: 'plugin', slug: 'a/a.php', version: '1' });
  await get('/approvals');
  await get('/approvals', {}, '?state=waiting,expired&per_page=1');
  await get('/approvals/{approval_id}', { approval_id: waiting.id });
  await get('/approvals/{approval_id}', { approval_id: 'apr_0123456789abcdef01234567' });
  const withdraw = '/approvals/{approval_id}/withdraw';
  const unwanted = await ask('Unwanted');
  await send('POST', withdraw, { approval_id: unwanted.id });
  await send('POST', withdraw, { approval_id: unwanted.id });
  await send('POST', withdraw, { approval_id: 'apr_0123456789abcdef01234567' });
  const policy = '/policies/{policy_id}';
  const { token: setter } = await newKey(app.service.store.keys, { approves: true });
  const byApprover = async (
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    policy_id: number,
    body?: object,
  ) => {
    const call = `${method} ${path.replace('{policy_id}', String(policy_id))}`;
    const reply = await app.rest(call, { token: setter, ...(body === undefined ? {} : { body }) });
    recorded.push({ method, path, call, reply });
    return reply;
  };
  const night = { name: 'Night', schedule: { at: '02:00', days: ['mon'] }, window: { from: '01:00', to: '05:00' } };
  const { policy_id } = (await byApprover('POST', '/policies', 0, night)).body.data;
  await byApprover('POST', '/policies', 0, night);
  await byApprover('PUT', policy, policy_id, { enabled: false });
  await byApprover('PATCH', policy, policy_id, { minimum_age_days: 3 });
  await byApprover('POST', '/policies/preview', 0, night);
  await byApprover('POST', '/policies/preview', 0, { ...night, tag_ids: [999] });
  await get('/policies');
  await get(policy, { policy_id });
  await get(`${policy}/preview`, { policy_id });
  await byApprover('DELETE', policy, policy_id);
  await get(policy, { policy_id });
  const one = { few: 'auto', many: 'ask', all: 'never', all_by_assistant: 'never', unguarded: 'auto' };
  await decide('PATCH', rules, '', { rules: { other: one }, few_sites: 9 });
  await get(rules);
  await decide('PUT', rules, '', { preset: 'open', few_sites: 5 });
}

export async function users({ get, each, send }: Recorder) {
  const added = await send('POST', '/users/add', {}, { name: 'Ada', right: 'write', password: 'correct horse' });
  await each('POST', '/users/add', {}, { name: 'Bo', right: 'read' });
  await send('POST', '/users/add', {}, { name: 'ADA', right: 'read' });
  await get('/users');
  await get('/users', {}, '?per_page=201');
  const user = { user_id: added.body.data.id };
  await each('PUT', '/users/{user_id}/edit', user, { password: null });
  await send('PUT', '/users/{user_id}/edit', user, { right: 'read' });
  await send('PUT', '/users/{user_id}/edit', { user_id: 999 }, { right: 'read' });
  await send('DELETE', '/users/{user_id}/delete', user);
  await send('POST', '/users/add', {}, { name: 'Cy', right: 'write' });
  await each('DELETE', '/users/{user_id}/delete', user);
  await send('DELETE', '/users/{user_id}/delete', user);
}

/** Sites 3 and 4 of the fleet are added and removed: a removed site has its child plugin deactivated. */
export async function sites({ get, each, send }: Recorder, app: RestApp) {
  const fourth = app.fleet.site(3);
  const fifth = app.fleet.site(4);
  const loginOf = ({ admin, password, uniqueId }: typeof fourth) => ({
    admin,
    adminpassword: password,
    uniqueid: uniqueId,
  });
  const login = loginOf(fifth);
  const added = await each('POST', '/sites/add', {}, { url: fifth.url, name: 'Fifth', ...login });
  await send('POST', '/sites/add', {}, { url: fifth.url, name: 'Fifth', ...login });
  await send('POST', '/sites/add', {}, { url: 'ftp://example.com', admin: 'x' });
  await each('DELETE', `${SITE}/remove`, { id_or_domain: added.body.data.id });
  const batch = await each(
    'POST',
    '/sites/batch',
    {},
    {
      create: [{ url: fourth.url, name: 'Fourth', ...loginOf(fourth) }, { name: 'no address' }],
      update: [
        { id: 1, notes: 'Seen' },
        { id: 999, name: 'x' },
      ],
      sync: [1],
      delete: [999],
    },
  );
  const again = { id_or_domain: batch.body.create[0].id };
  for (const name of ['/sites', '/sites/basic', '/sites/count']) await get(name);
  await get('/sites', {}, '?full_data=false');
  await get('/sites', {}, '?full_data=false&with_tags=0&page=1&per_page=2');
  await get('/sites', {}, '?status=wrong');
  for (const path of ['/sites', '/sites/basic']) await get(path, {}, '?per_page=1&cursor=');
  for (const action of ['sync', 'disconnect', 'reconnect', 'check']) {
    await send('POST', `/sites/${action}`, {}, { include: [again.id_or_domain], dry_run: true });
    await each('POST', `/sites/${action}`, {}, { include: [again.id_or_domain] });
    await send('POST', `/sites/${action}`, {}, { include: [] });
  }
  for (const action of ['suspend', 'unsuspend']) {
    await each('POST', `/sites/${action}`, {}, { include: [again.id_or_domain] });
    await send('POST', `/sites/${action}`, {}, {});
  }
  fourth.faults.offline = true;
  for (const action of ['check', 'sync']) await send('POST', `/sites/${action}`, {}, { include: [again.id_or_domain] });
  await send('POST', `${SITE}/check`, again);
  await send('POST', `${SITE}/sync`, again);
  await get(`${SITE}/security`, again);
  fourth.faults = {};
  await each('POST', `${SITE}/sync`, again);
  for (const action of ['disconnect', 'reconnect', 'suspend', 'unsuspend', 'check'])
    await each('POST', `${SITE}/${action}`, again);
  await each('DELETE', `${SITE}/remove`, again);
}

export async function oneSite({ get, each, send }: Recorder) {
  const site = { id_or_domain: 1 };
  await get(SITE, site);
  await get(SITE, site, '?with_tags=0');
  await get(SITE, { id_or_domain: 'unknown.example' });
  await each('PUT', `${SITE}/edit`, site, {
    notes: 'Hello',
    groupids: [],
    monitoring_emails: 'a@example.com',
    automatic_update: 1,
  });
  await send('PUT', `${SITE}/edit`, site, { sslversion: 3 });
  await get(`${SITE}/security`, site);
  const plugins = (await get(`${SITE}/plugins`, site)).body.data as {
    slug: string;
    active: number;
    is_child_agent: boolean;
    mu: number;
  }[];
  const free = plugins.find((plugin) => !plugin.is_child_agent && plugin.mu === 0);
  const slug = { slug: free?.slug };
  await get(`${SITE}/plugins`, site, '?page=1&per_page=2&status=active');
  for (const action of ['deactivate', 'activate'])
    await each('POST', `${SITE}/plugins/${action}`, site, { slug: `${slug.slug},none/none.php` });
  await send('POST', `${SITE}/plugins/activate`, site, { slug: 'none/none.php' });
  await send('POST', `${SITE}/plugins/deactivate`, site, slug);
  await send('DELETE', `${SITE}/plugins/delete`, site, undefined, `?slug=${encodeURIComponent(slug.slug ?? '')}`);
  const themes = (await get(`${SITE}/themes`, site)).body.data as {
    slug: string;
    active: number;
    parent_active: number;
  }[];
  const [first, second] = themes.filter(({ active, parent_active }) => active + parent_active === 0);
  await each('POST', `${SITE}/themes/activate`, site, { slug: first?.slug });
  await send('DELETE', `${SITE}/themes/delete`, site, undefined, `?slug=${second?.slug},${first?.slug}`);
  for (const what of ['plugins', 'themes']) {
    await get(`${SITE}/${what}/abandoned`, site);
    await get(`${SITE}/${what}/abandoned`, site, '?page=1&per_page=1');
  }
  await get(`${SITE}/non-mainwp-changes`, site);
  await get(`${SITE}/non-mainwp-changes`, site, '?total_count=1');
  await get(`${SITE}/non-mainwp-changes`, site, '?source=dashboard');
  await get(`${SITE}/client`, site);
  await get(`${SITE}/costs`, site);
}

export async function comments({ get, each, send }: Recorder, app: RestApp) {
  await get('/comments/{id_or_domain}', { id_or_domain: 1 });
  const { body } = await get('/comments');
  await get('/comments', {}, '?maximum=501');
  app.fleet.site(1).faults.offline = true;
  await get('/comments');
  app.fleet.site(1).faults = {};
  const list = Object.values(
    body.data as Record<string, { comment_id: number; comment_status: string; website_id: number }[]>,
  ).flat();
  const seen = list.find(({ comment_status }) => comment_status === 'approved');
  const site = { id_or_domain: seen?.website_id ?? 0 };
  const one = { ...site, id_comment: seen?.comment_id ?? 0 };
  await each('PUT', '/comments/{id_or_domain}/{id_comment}/action', one, { action: 'unapprove' });
  await send(
    'PUT',
    '/comments/{id_or_domain}/{id_comment}/action',
    { ...one, id_comment: 99_999 },
    { action: 'approve' },
  );
  await each('PUT', '/comments/{id_or_domain}/bulk-action', site, {
    action: 'approve',
    comment_ids: [one.id_comment, 99_999],
  });
}

export async function watchers({ get, each, send }: Recorder, shop: number) {
  const site = { id_or_domain: shop };
  for (const [base, list] of [
    ['/ssl-monitor', 'info'],
    ['/domain-monitor', 'profiles'],
  ]) {
    await get(`${base}/${list}`);
    await each('POST', `${base}/{id_or_domain}`, site);
    await send('POST', `${base}/{id_or_domain}`, { id_or_domain: 999 });
    await get(`${base}/${list}`);
    await get(`${base}/${list}/{id_or_domain}`, site);
    await get(`${base}/${list}`, {}, '?status=wrong');
  }
  await each('PUT', '/domain-monitor/{id_or_domain}', site, { expiry_date: '2027-05-05' });
  await send('POST', '/domain-monitor/{id_or_domain}', { id_or_domain: 1 });
  await get('/alerts');
}

export async function audits({ get, each, send }: Recorder, app: RestApp, work: () => Promise<unknown>) {
  const site = { id_or_domain: 1 };
  // Its first answers are about a site that lacks its keyword.
  app.clock.move(60_000);
  const monitor = '/monitors/{id_or_domain}';
  await send('PUT', `${monitor}/settings`, site, {
    active: 1,
    type: 'keyword',
    keyword: 'No such words',
    maxretries: 0,
  });
  await send('POST', `${monitor}/check`, site);
  await each('POST', '/perf-audit/audit/{id_or_domain}', site);
  await get('/perf-audit/settings');
  await each('PUT', '/perf-audit/settings/edit', {}, { api_key: 'AIza-secret-key-0123456789' });
  await each('PUT', '/perf-audit/settings/{id_or_domain}/edit', site, { strategy: 'mobile' });
  await each('POST', '/perf-audit/audit/{id_or_domain}', site);
  await send('PUT', `${monitor}/settings`, site, { type: 'useglobal', keyword: null, maxretries: 'useglobal' });
  await send('POST', `${monitor}/check`, site);
  await each('POST', '/perf-audit/audit');
  await work();
  await get('/perf-audit/results');
  await get('/perf-audit/results/{id_or_domain}', site);
}

const RECORDS: Record<string, object> = {
  backups: { type: 'full' },
  scanner_a: { status: 'clean' },
  shop_status: { sales: 1 },
  scanner_b: { result: 'ok' },
  scanner_c: { status: 'clean' },
  scan_a: { plugins_count: 0, themes_count: 0 },
  protect_a: { plugins_count: 0, core: [] },
  security_plugin: { result: 'clean', blocked: 3 },
  analytics_a: { visits: 7 },
  analytics_b: { visits: 7 },
  uptime_monitor_ext: { uptime7: 100 },
};

export async function reports({ get, each, send }: Recorder) {
  const site = { id_or_domain: 1 };
  for (const [segment, values] of Object.entries(RECORDS))
    await send('POST', '/pro-reports/{id_or_domain}/records', site, { segment, values });
  for (const segment of SEGMENT_NAMES) {
    for (const format of ['raw', 'normal', 'csv', 'html'])
      await get(`/pro-reports/{id_or_domain}/${segment}`, site, `${RANGE}&format=${format}`);
    await get(`/pro-reports/{id_or_domain}/${segment}`, site);
  }
  for (const format of ['html', 'json'])
    await get('/pro-reports/{id_or_domain}/report', site, `${RANGE}&format=${format}`);
  await each('DELETE', '/pro-reports/{id_or_domain}/records/{segment}', { ...site, segment: 'backups' });
}

export async function time({ get, each, send }: Recorder) {
  const client = { id_or_email: 1 };
  const bucket = (await each('POST', '/time-tracker/buckets/add', {}, { title: 'Care', hours: '5', client_ids: [1] }))
    .body.data;
  const bucketPath = { bucket_id: bucket.id };
  await each('PUT', '/time-tracker/buckets/{bucket_id}/edit', bucketPath, { hours: '6' });
  const task = (
    await each(
      'POST',
      '/time-tracker/tasks/add',
      {},
      { title: 'Work', site_ids: [1], client_id: 1, bucket_id: bucket.id },
    )
  ).body.data;
  const path = { task_id: task.id };
  for (const step of ['start', 'pause', 'stop', 'stop'])
    await each('POST', `/time-tracker/tasks/{task_id}/${step}`, path);
  await each('PUT', '/time-tracker/tasks/{task_id}/edit', path, { title: 'Other' });
  await get('/time-tracker');
  await get('/time-tracker/settings');
  await get('/time-tracker/tasks/{task_id}', path);
  await get('/time-tracker/tasks/{task_id}', { task_id: 99 });
  await get('/time-tracker/clients');
  for (const part of ['', '/settings', '/tasks', '/buckets'])
    await get(`/time-tracker/clients/{id_or_email}${part}`, client);
  await get('/time-tracker/sites/{id_or_domain}/tasks', { id_or_domain: 1 });
  await get('/time-tracker/buckets');
  await get('/time-tracker/buckets/{bucket_id}', bucketPath);
  await each('PUT', '/time-tracker/settings/edit', {}, { decimals: 2 });
  await send('PUT', '/time-tracker/settings/edit', {}, { colour: 2 });
  await each('PUT', '/time-tracker/clients/{id_or_email}/settings/edit', client, { hourly_price: '80' });
  await each('DELETE', '/time-tracker/tasks/{task_id}/delete', path);
  await each('DELETE', '/time-tracker/buckets/{bucket_id}/delete', bucketPath);
}

const EDITS: Record<string, object> = {
  general: { timezone_string: 'Europe/Berlin' },
  advanced: { svc_maximum_requests: 5 },
  monitoring: { svc_sitehealth_threshold: 80 },
  'cost-tracker': { currency: 'EUR' },
  'dashboard-insights': { enable_insights_logging: 1 },
  tools: { guided_tours: 0 },
};

export async function settings({ get, each, send }: Recorder) {
  for (const [group, edit] of Object.entries(EDITS)) {
    await get(`/settings/${group}`);
    await each('PUT', `/settings/${group}/edit`, {}, edit);
    await send('PUT', `/settings/${group}/edit`, {}, { nonsense: 1 });
    await send('PUT', `/settings/${group}/edit`, {}, {});
  }
  await get('/settings/emails');
  await each(
    'PUT',
    '/settings/emails/{mail_type}/edit',
    { mail_type: 'uptime' },
    { subject: 'Hello', recipients: 'a@example.com' },
  );
  await send('PUT', '/settings/emails/{mail_type}/edit', { mail_type: 'none' }, { subject: 'Hello' });
  await get('/settings/api-backups');
  await each(
    'PUT',
    '/settings/api-backups/{api_slug}/edit',
    { api_slug: 'vultr' },
    { enabled: true, secrets: { api_key: 'abcdefgh' } },
  );
  for (const [list, slug] of [
    ['product-types', 'licence'],
    ['payment-methods', 'barter'],
  ] as const) {
    const base = `/settings/cost-tracker/${list}`;
    await each('POST', `${base}/add`, {}, { title: slug });
    await each('PUT', `${base}/{slug}/edit`, { slug }, { title: `${slug} two` });
    await each('DELETE', `${base}/{slug}/delete`, { slug });
    await send('DELETE', `${base}/{slug}/delete`, { slug });
  }
  await each('POST', '/settings/tools/clear-activation-data');
  await each('POST', '/settings/tools/restore-info-messages');
}

export async function monitors({ get, each, send }: Recorder, app: RestApp) {
  const site = { id_or_domain: 1 };
  const one = '/monitors/{id_or_domain}';
  await each('PUT', '/monitors/settings', {}, { active: 1, interval: '15m' });
  await each('PUT', `${one}/settings`, site, { active: 1, timeout: '30', method: 'useglobal' });
  await send('PUT', `${one}/settings`, site, { type: 'keyword', keyword: '' });
  await each('POST', `${one}/check`, site);
  app.fleet.site(0).faults.http500 = true;
  for (let look = 0; look < 3; look++) {
    app.clock.move(120_000);
    await send('POST', `${one}/check`, site);
  }
  app.fleet.site(0).faults = {};
  await send('POST', `${one}/check`, site);
  for (const path of ['/monitors', '/monitors/basic', '/monitors/count']) await get(path);
  for (const part of ['', '/basic', '/heartbeat', '/incidents', '/incidents/count']) await get(`${one}${part}`, site);
  await get(`${one}/heartbeat`, site, '?period=never');
  await get(one, { id_or_domain: 999 });
  for (const minutes of [30, 0]) await each('POST', `${one}/maintenance`, site, { minutes });
  await get('/monitors', {}, '?orderby=state&order=desc');
  const hour = Math.floor(app.clock.now() / 3_600_000);
  const measured = 'INSERT OR REPLACE INTO monitor_hour VALUES (1, ?, ?, 0, 60, 0, 0, NULL, NULL)';
  for (const [ago, up] of [
    [24, 3600],
    [48, 0],
  ])
    await app.db.run(measured, [hour - Number(ago), Number(up)]);
  const day = Math.floor(hour / 24);
  await app.db.run('INSERT INTO monitor_day VALUES (1, ?, 86400, 0, 0, 0, 0, NULL, NULL)', [day - 100]);
  await app.db.run('UPDATE monitor_engine SET summed_day = ?', [day - 3]);
  await get('/pro-reports/{id_or_domain}/uptime', site, `${RANGE}&format=normal`);
  for (const id of [1, 2]) await get(`${one}/days`, { id_or_domain: id });
  await get(`${one}/days`, { id_or_domain: 1 }, '?days=401');
  await get(`${one}/windows`, site);
  await each('PUT', `${one}/windows`, site, { windows: ['sun 02:00-04:00', 'wed 23:30-00:30'] });
  await get(`${one}/windows`, site);
  await send('PUT', `${one}/windows`, site, { windows: ['sun 02:00-25:00'] });
  await each('PUT', `${one}/windows`, site, { windows: [] });
  await app.db.run(
    "INSERT INTO incident (site_id, started_at, ended_at, http_code, msg, down_count) VALUES (1, ?, ?, 503, 'HTTP 503', 3)",
    [app.clock.now() - 120_000, app.clock.now()],
  );
  await get('/incidents', {}, '?open=0&days=3&include=1');
  const { data } = (await get('/incidents')).body as { data: { id: number }[] };
  const seen = '/incidents/{incident_id}/acknowledge';
  await each('POST', seen, { incident_id: data[0]?.id ?? 0 }, { note: 'The host was asked.' });
  await get('/incidents', {}, '?acknowledged=1');
  await each('POST', seen, { incident_id: 99_999 });
  await get('/alerts');
}

export async function guidance({ recorded, get, send }: Recorder, app: RestApp) {
  const headers = await newSession(app.service.store.users, app.service.sessions, 'ada');
  /** By a person: keys are refused. */
  const decide = async (method: 'POST' | 'DELETE', path: string, guidance_id: number) => {
    const call = `${method} ${path.replace('{guidance_id}', String(guidance_id))}`;
    recorded.push({ method, path, call, reply: await app.rest(call, { headers, token: null }) });
  };
  const { body } = await send('POST', '/guidance/add', {}, { text: 'Ask first.', site_id_or_domain: 1 });
  const one = { guidance_id: body.data.id };
  await send('POST', '/guidance/add', {}, { text: 'For all.', until: null });
  await send('POST', '/guidance/add', {}, { text: 'x', until: 'never' });
  await get('/guidance');
  await get('/guidance', {}, '?site_id_or_domain=1&per_page=1');
  await get('/guidance', {}, '?client_id_or_email=99');
  await send('POST', '/guidance/{guidance_id}/confirm', one);
  await decide('POST', '/guidance/{guidance_id}/confirm', body.data.id);
  await decide('DELETE', '/guidance/{guidance_id}/remove', body.data.id);
  await decide('DELETE', '/guidance/{guidance_id}/remove', 99);
}

/** After the monitors, whose alerts are delivered. */
export async function alertRecipients({ get, each, send }: Recorder, url: string, deliver: () => Promise<unknown>) {
  const base = '/alerts/recipients';
  const hours = { quiet_from: '01:00', quiet_to: '02:00' };
  const made = await each('POST', `${base}/add`, {}, { type: 'webhook', name: 'Hook', url, sites: [1], ...hours });
  const one = { recipient_id: made.body.data.id };
  const nowhere = 'http://127.0.0.1:9/';
  await each(
    'POST',
    `${base}/add`,
    {},
    { type: 'slack', name: 'Team', url: nowhere, kinds: 'monitor.down,monitor.up' },
  );
  await send('POST', `${base}/add`, {}, { type: 'telegram', name: 'Bot' });
  await get(base);
  await each('PUT', `${base}/{recipient_id}/edit`, one, { name: 'Hook two', ...hours });
  await each('POST', `${base}/test`, {}, { type: 'webhook', url });
  await each('POST', `${base}/test`, {}, { type: 'slack', url: nowhere });
  await send('POST', `${base}/test`, {}, { type: 'telegram' });
  await each('POST', `${base}/{recipient_id}/test`, one);
  await each('POST', `${base}/{recipient_id}/test`, { recipient_id: one.recipient_id + 1 });
  await send('POST', `${base}/{recipient_id}/test`, { recipient_id: 99 });
  await deliver();
  await get(base);
  const { data } = (await get('/alerts/deliveries')).body as { data: { id: number; status: string }[] };
  await get('/alerts/deliveries', {}, '?status=dead');
  for (const status of ['sent', 'queued']) {
    const delivery_id = data.find((delivery) => delivery.status === status)?.id ?? 99_999;
    await send('POST', '/alerts/deliveries/{delivery_id}/resend', { delivery_id });
  }
  await send('POST', '/alerts/deliveries/{delivery_id}/resend', { delivery_id: 99_999 });
  await each('DELETE', `${base}/{recipient_id}/delete`, one);
}

export async function posts({ get, each }: Recorder) {
  const site = { id_or_domain: 1 };
  const one = '/posts/{id_or_domain}/{post_id}';
  const made = await each('POST', '/posts/{id_or_domain}/create', site, {
    post_title: 'New',
    post_content: 'Text',
    post_status: 'publish',
    post_name: 'new',
  });
  const post = { ...site, post_id: made.body.data.post_id };
  await get('/posts');
  await get('/posts', {}, '?status=lost');
  await get(one, post);
  await get(one, { ...site, post_id: 99_999 });
  await each('PUT', `${one}/edit`, post, { post_title: 'Newer' });
  await each('PUT', `${one}/update-status`, post, { status: 'unpublish' });
  await each('DELETE', `${one}/delete`, post);
}

/** Sites 2 and 3 have the updates. */
export async function updates({ get, each, send }: Recorder) {
  const base = '/updates/{id_or_domain}';
  const site = { id_or_domain: 2 };
  await get('/updates');
  await get('/updates', {}, '?type=plugins&per_page=1');
  await get('/updates', {}, '?type=engines');
  const offers = (await get(base, site)).body.data[2] as Record<string, Record<string, unknown>>;
  const [plugin = ''] = Object.keys(offers.plugins ?? {});
  await each('POST', `${base}/ignore/plugins`, site, { slug: [plugin, 'none/none.php'] });
  for (const type of ['themes', 'wp']) await each('POST', `${base}/ignore/${type}`, site);
  await get('/updates/ignored');
  await get(`${base}/ignored`, site);
  await get(`${base}/ignored`, site, '?type=plugins');
  for (const type of ['wp', 'plugins', 'themes']) await each('DELETE', `${base}/ignore/${type}`, site);
  await each('POST', `${base}/update/plugins`, site, { slug: [plugin, 'none/none.php'] });
  // Where nothing is on offer, a call without slugs succeeds; one that names slugs fails.
  await each('POST', `${base}/update/plugins`, site);
  for (const type of ['themes', 'translations', 'wp']) await each('POST', `${base}/update/${type}`, site);
  await each('POST', `${base}/update`, site);
  await each('POST', `${base}/update`, { id_or_domain: 3 });
  await each('POST', '/updates/update');
  await send('POST', `${base}/update/plugins`, { id_or_domain: 999 }, {});
}

export async function safety({ get, each, send }: Recorder, app: RestApp) {
  const site = { id_or_domain: 1 };
  await send('POST', `${SITE}/guard`, site, { dry_run: true });
  await each('POST', `${SITE}/guard`, site, {});
  await get(`${SITE}/guard`, site);
  await get(`${SITE}/guard`, { id_or_domain: 'unknown.example' });
  await send('POST', `${SITE}/admin-login`, site, {});
  await send('POST', `${SITE}/guard`, site, { allow_login: true });
  await each('POST', `${SITE}/admin-login`, site, {});
  const { guard, state } = app.fleet.site(0);
  const item = state.plugins.find(({ mustUse, slug }) => !mustUse && !slug.includes('mainwp'));
  if (guard === null || item === undefined) throw new Error('the site has no guard or no plugin');
  keep(app.fleet.site(0), guard, 'plugin', item, 'snapshot');
  await get(`${SITE}/snapshots`, site);
  await each('POST', `${SITE}/safe-update`, site, { dry_run: true, types: ['core', 'plugins'] });
  await send('POST', `${SITE}/safe-update`, site, { paths: ['/x'] });
  const version = { type: 'plugin', slug: item.slug };
  await each('POST', `${SITE}/rollback`, site, { ...version, to_version: item.version });
  await send('POST', `${SITE}/rollback`, site, { change_id: 'none' });
  const held = { ...version, version: '2.0' };
  const seen = { seen: true, fleet_until: 86_400_000 };
  const entry = { name: 'A', site_id: 1, site_url: 'https://example.com/', change_id: 'c', evidence: '["It broke."]' };
  await app.service.store.quarantine.add({ ...entry, ...held, type: 1, created_at: 0 }, seen);
  await get('/quarantine');
  await each('PUT', '/quarantine', {}, { ...held, scope: 'site', reason: 'Only there.' });
  await fleet({ get, send, each }, app);
  await each('DELETE', '/quarantine', {}, held);
  await send('DELETE', '/quarantine', {}, held);
  await get('/quarantine', {}, '?include_lifted=1');
  await backups({ get, send }, app);
  await each('DELETE', `${SITE}/guard`, site);
}

/** A backup of the first site, which has a guard, and its restore. */
async function backups({ get, send }: Pick<Recorder, 'get' | 'send'>, app: RestApp) {
  const { body } = await send('POST', `${SITE}/backups`, { id_or_domain: 1 }, {});
  const one = { backup_id: String(body.data.backup_id) };
  await get('/backups');
  await get('/backups', {}, '?site=1&state=failed');
  await send('PUT', '/backups/schedule', {}, { every: 'weekly' });
  await send('PATCH', '/backups/schedule', {}, { site: '1', every: 'daily', hour: 23 });
  await send('PUT', '/backups/schedule', {}, { tag_id: 999_999, every: 'daily' });
  await get('/backups', {}, '?site=1');
  await get('/backups/sites', {}, '?lacking=recent');
  await get('/backups/{backup_id}', one);
  await get('/backups/{backup_id}/archive', one);
  await get('/backups/{backup_id}', { backup_id: `backup_${'0'.repeat(24)}` });
  await send('POST', '/backups/{backup_id}/verify', one, { percent: 50 });
  await send('POST', '/backups/{backup_id}/drill', one);
  const { files } = app.fleet.site(0).guard?.backup ?? { files: new Map() };
  for (const path of [...files.keys()].filter((name) => name.includes('/uploads/'))) files.delete(path);
  const restore = (input: object) => send('POST', '/backups/{backup_id}/restore', one, input);
  await restore({ what: 'files', name: 'wp-content/**', dry_run: true });
  await restore({ what: 'files', name: 'wp-content/**' });
  await restore({ what: 'files', name: 'wp-content/**', confirm: true });
}

/** Known vulnerabilities of the first site's items, before and after reading the feed. */
export async function vulnerabilities(
  { get, send }: Recorder,
  app: RestApp,
  read: (entries: unknown[]) => Promise<unknown>,
) {
  await get('/vulnerabilities');
  const { state } = app.fleet.site(0);
  const plugin = state.plugins.find(({ mustUse, premium, slug }) => !mustUse && !premium && !slug.includes('mainwp'));
  const [theme] = state.themes;
  if (plugin === undefined || theme === undefined) throw new Error('the site has no plugin or theme');
  for (const item of [plugin, theme]) item.update = { version: '99.0', requiresPhp: '', requiresWp: '' };
  state.wpUpdate = '99.0';
  await send('POST', `${SITE}/sync`, { id_or_domain: 1 });
  const below = { affected: [['*', true, '99', false]] as Affected[], fixed: ['99'] };
  await read([
    entry(1, { slug: plugin.slug.split('/', 1)[0] ?? '', ...below }),
    entry(2, { type: 'theme', slug: theme.slug, ...below, rating: null, cve: null }),
    entry(3, { type: 'core', slug: 'wordpress', ...below }),
    {
      ...entry(4, { type: 'core', slug: 'wordpress', affected: [['*', true, '*', true]] }),
      references: [],
      published: null,
    },
  ]);
  await get('/vulnerabilities', {}, '?severity=critical,medium');
  await get('/vulnerabilities', {}, '?severity=worst');
  await get(`${SITE}/vulnerabilities`, { id_or_domain: 1 });
  await get(`${SITE}/vulnerabilities`, { id_or_domain: 'unknown.example' });
  await get('/updates/{id_or_domain}', { id_or_domain: 1 });
}

/** Every matter that may need attention once, and the lists of the page. */
async function rollouts({ get, send }: Pick<Recorder, 'get' | 'send'>, { db }: RestApp) {
  await db.run(
    `INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, url_key)
     SELECT id, 1, 'rolled/rolled.php', 99, 'Rolled', '1.0', '2.0', url_key FROM site WHERE suspended = 0 AND disconnected = 0`,
  );
  const waves = { canaries: 1, sizes: [1], soak_minutes: 60, approve: true };
  const window = { days: ['sun'], from: '02:00', to: '02:01' };
  const { body } = await send('POST', '/updates/plans', {}, { waves, window, per_page: 500 });
  await send('POST', '/updates/plans', {}, { slugs: ['no-such-slug'] });
  const { plan_id, digest } = body.plan;
  await get('/updates/plans');
  const spare = (await send('POST', '/updates/plans', {}, { waves: { canaries: 1 } })).body.plan;
  for (let time = 0; time < 2; time++) await send('DELETE', '/updates/plans/{plan_id}', { plan_id: spare.plan_id });
  await send('POST', '/rollouts', {}, { plan_id, digest, dry_run: true });
  const { rollout_id } = (await send('POST', '/rollouts', {}, { plan_id, digest })).body;
  await send('POST', '/rollouts', {}, { plan_id, digest });
  await send('POST', '/rollouts', {}, { plan_id, digest: 'x' });
  await send('POST', '/rollouts', {}, { plan_id: 'x', digest });
  await get('/rollouts');
  await get('/rollouts', {}, '?state=halted');
  await get('/rollouts/{rollout_id}', { rollout_id });
  await get('/rollouts/{rollout_id}', { rollout_id }, '?state=untouched,kept&per_page=1');
  await get('/rollouts/{rollout_id}', { rollout_id: 'x' });
  // The canaries had their turn.
  await db.run("UPDATE rollout_wave SET state = 'done' WHERE wave = 1");
  for (const word of ['approve', 'pause', 'resume', 'abort'])
    for (const id of [rollout_id, rollout_id, 'x'])
      await send('POST', `/rollouts/{rollout_id}/${word}`, { rollout_id: id });
}

async function fleet({ get, send, each }: Pick<Recorder, 'get' | 'send' | 'each'>, app: RestApp) {
  const now = app.clock.now();
  const { db } = app;
  await db.run('UPDATE monitor SET status = 0, active = 1 WHERE site_id IN (1, 2)');
  await db.run('UPDATE monitor SET last_http_code = NULL WHERE site_id = 1');
  for (const id of [1, 2])
    await db.run('INSERT INTO incident (site_id, started_at, msg, down_count) VALUES (?, ?, ?, 1)', [
      id,
      now - 60_000,
      'Down.',
    ]);
  await app.service.store.actionLog.add([
    {
      site_id: 2,
      context: 'plugin',
      action: 'updated',
      slug: 'a',
      name: 'A',
      old_version: '1',
      new_version: '2',
      at: now - 120_000,
    },
  ]);
  const change = {
    type: 1,
    slug: 'a',
    name: 'A',
    old_version: '1.0',
    new_version: '2.0',
    protection: 'guard' as const,
  };
  const facts = { seen: ['It broke.'], by: 'guard', well_after_ms: 900, suspect: ['Another title.'] };
  const ends = [
    ['open', null],
    ['kept', 'kept'],
    ['undone', 'rolled_back'],
    ['left', 'broken'],
  ] as const;
  for (const [position, [id, outcome]] of ends.entries()) {
    const own = { id, run_id: 'run', site_id: 1, position, step: 'update' as const, started_at: now };
    await app.service.store.safeChanges.add({ ...change, ...own }, '{}');
    if (outcome !== null)
      await app.service.store.safeChanges.note(id, {
        outcome,
        evidence: JSON.stringify(id === 'left' ? { seen: [], by: null, well_after_ms: null, suspect: [] } : facts),
        updated_at: now,
        settled_at: now,
      });
  }
  await get('/sites/{id_or_domain}/safe-updates', { id_or_domain: 1 });
  const origin = JSON.stringify({ type: 'user', id: 1, name: 'Ada', via: 'rest', operation: '', request_id: '' });
  const run = { id: 'run', started_at: now, owner: '', actor: 'Ada', origin, sites: 1 };
  const { updateRuns } = app.service.store;
  await updateRuns.begin({ ...run, asked: '{"types":[1],"specific_items":["a"]}' });
  const item = { ...change, code: '', message: '', state: 'queued' as const };
  const refused = { ...item, type: 4, slug: '', state: 'skipped' as const, code: 'svc_site_suspended', message: 'No.' };
  const items = ends.map(([change_id]) => ({ ...item, slug: change_id, change_id }));
  await updateRuns.plan('run', 1, items, now);
  await updateRuns.plan('run', 2, [{ ...refused, change_id: 'change_2' }], now);
  await get('/runs');
  await get('/runs', {}, '?site=1&actor=Ada&state=running&since=2020-01-01');
  await get('/runs', {}, '?since=yesterday');
  await updateRuns.end('run', now);
  await get('/runs/{run_id}', { run_id: 'run' });
  await get('/runs/{run_id}', { run_id: 'run' }, '?state=skipped,kept');
  await get('/runs/{run_id}', { run_id: 'x' });
  const { receipts } = app.service.store;
  await receipts.save('run', { site_id: 1, document: '{}', signature: 'AA==', public_key: 'AA==' });
  const picture = { page: '/', device: 'desktop', taken: 'before' as const, sha256: 'a', file: 'AA==' };
  await receipts.addPictures('run', 1, [picture, { ...picture, device: 'phone', taken: 'after' }]);
  for (const run_id of ['run', 'x']) {
    await get('/runs/{run_id}/receipts', { run_id });
    await get('/runs/{run_id}/pictures/{site}', { run_id, site: 1 });
  }
  await updateRuns.begin({ ...run, id: 'open', asked: '{"types":[],"specific_items":[]}' });
  const queued = { id: 'update_queued', type: 'update', params: {}, sites: [1], begun: false, refused: [] } as const;
  const pace = { chunk: 20, delay_ms: 0, timeout_ms: 3_600_000, next_run_at: now + 86_400_000 };
  await app.service.store.jobs.add(
    { ...queued, ...pace, run_id: 'queued', run: { ...run, id: 'queued', asked: '{"types":[],"specific_items":[]}' } },
    now,
  );
  for (const run_id of ['queued', 'open', 'x']) await send('POST', '/runs/{run_id}/cancel', { run_id });
  for (const run_id of ['open', 'x']) await send('POST', '/runs/{run_id}/retry', { run_id });
  await rollouts({ get, send }, app);
  await get('/fleet/attention');
  await get('/fleet/attention', {}, '?cases=1');
  const today = Math.floor(now / 86_400_000);
  await db.run('INSERT INTO fleet_day (day, up_s, down_s) VALUES (?, 80000, 6400)', [today - 3]);
  await recordFleetDay(app.ctx());
  await get('/fleet/days');
  await get('/fleet/days', {}, '?days=401');
  const compared = 'site_ids_or_domains=1,2';
  await get('/fleet/compare', {}, `?${compared}&administrators=1&per_page=5`);
  await get('/fleet/compare', {}, '?site_ids_or_domains=1');
  await get('/fleet/compare', {}, '?site_ids_or_domains=1,unknown.example');
  app.fleet.site(1).faults.offline = true;
  await get('/fleet/compare', {}, `?${compared}&administrators=1&same=1&page=9`);
  app.fleet.site(1).faults = {};
  await get('/fleet/changes');
  await get('/fleet/changes', {}, '?days=1&kinds=plugin&actions=updated&via=rest&by=a&item=b&result=failed&tag=none');
  await get('/actions');
  await get('/actions', {}, '?since=2020-01-01&until=2999-01-01');
  await get(
    '/actions',
    {},
    '?site=1&operation=a&request_id=b&by=c&via=rest,mcp&contexts=call,tag&result=failed&page=2',
  );
  await send('POST', '/actions/undo', {}, { since: '2026-01-01', site: 1, dry_run: true });
  await send('POST', '/actions/undo', {}, { change_id: 'nothing', confirm: true });
  await send('POST', '/actions/undo', {}, { run_id: 'run', confirm: true });
  await get('/actions/export', {}, '?limit=20');
  await get('/actions/export', {}, '?after=3&limit=2&format=ocsf');
  await get('/actions/verify');
  await get('/actions/verify', {}, '?id=1');
  const mark = '/fleet/attention/mark';
  await each('POST', mark, {}, { subject: 'stale:1', state: 'snoozed', hours: 4, note: 'It moves.' });
  await get('/fleet/attention/aside');
  await each('POST', mark, {}, { subject: 'stale:1', state: 'open' });
  await each('POST', mark, {}, { subject: 'nothing:1', state: 'done' });
  await db.run("DELETE FROM safe_change WHERE run_id = 'run'");
  await updateRuns.settle(now, { skipped: 'Interrupted.', kept: 'Installed.', unknown: 'Unknown.' });
  await send('POST', '/runs/{run_id}/retry', { run_id: 'run' }, { dry_run: true });
  await send('POST', '/runs/{run_id}/retry', { run_id: 'run' }, { as: 'run' });
  await send('POST', '/runs/{run_id}/retry', { run_id: 'run' });
  await get('/sites/{id_or_domain}/safe-updates', { id_or_domain: 2 });
  await get('/fleet/sites', {}, '?status=any&columns=id,name,status,state,updates&orderby=updates&order=desc');
  await get('/fleet/sites', {}, '?search=nothing-is-called-so');
  await get('/fleet/sites', {}, '?certificate_days=10');
  await get('/fleet/updates');
  await get('/fleet/updates', {}, '?search=nothing-is-called-so');
  const offer = await db.one('SELECT type, slug FROM site_update WHERE ignored = 0 LIMIT 1');
  const words = ['core', 'plugin', 'theme', 'translation'];
  const slug = encodeURIComponent(String(offer?.slug));
  await get('/fleet/updates/sites', {}, `?type=${words[Number(offer?.type)]}&slug=${slug}`);
  await get('/fleet/updates/sites', {}, '?type=plugin&slug=none');
  for (const query of ['', '?search=nothing-is-called-so', '?exclude_tag_ids=1000000'])
    await get('/fleet/updates/plan', {}, query);
}

export async function records({ get, each, send }: Recorder) {
  const client = '/clients/{id_or_email}';
  const added = await each(
    'POST',
    '/clients/add',
    {},
    { name: 'Example Ltd', client_email: 'office@example.com', selected_sites: [1] },
  );
  const who = { id_or_email: added.body.data.id };
  const tag = { tag_id: (await each('POST', '/tags/add', {}, { name: 'Shops', color: '#5EC130' })).body.data.id };
  await send('POST', '/tags/add', {}, { name: 'Shops' });
  await send('PUT', `${SITE}/edit`, { id_or_domain: 1 }, { groupids: [tag.tag_id] });
  const cost = {
    cost_id: (
      await each(
        'POST',
        '/costs/add',
        {},
        {
          name: 'Hosting',
          price: '12.50',
          renewal_type: 'monthly',
          last_renewal: '2026-11-01',
          sites: [1],
          product_type: 'hosting',
          payment_method: 'paypal',
        },
      )
    ).body.data.id,
  };
  for (const path of ['/clients', '/clients/count', '/tags', '/costs', '/sites']) await get(path);
  for (const part of ['', '/sites', '/costs']) await get(`${client}${part}`, who);
  for (const part of ['', '/sites', '/clients']) await get(`/tags/{tag_id}${part}`, tag);
  await get('/costs/{cost_id}', cost);
  await get(`${SITE}/client`, { id_or_domain: 1 });
  await get(`${SITE}/costs`, { id_or_domain: 1 });
  await each('PUT', `${client}/edit`, who, { city: 'Bern', note: null });
  for (const mark of ['suspend', 'unsuspend']) await each('POST', `${client}/${mark}`, who);
  await each('PUT', '/tags/{tag_id}/edit', tag, { name: 'Stores' });
  await each('PUT', '/costs/{cost_id}/edit', cost, { price: 13 });
  for (const path of [client, '/tags/{tag_id}', '/costs/{cost_id}'])
    await get(path, { id_or_email: 999, tag_id: 999, cost_id: 999 });
  return { who, tag, cost };
}

export async function removals({ each }: Recorder, { who, tag, cost }: Awaited<ReturnType<typeof records>>) {
  await each('DELETE', '/clients/{id_or_email}/remove', who);
  await each('DELETE', '/tags/{tag_id}/remove', tag);
  await each('DELETE', '/costs/{cost_id}/remove', cost);
}

const TOOLS = {
  'destroy-sessions': 'destroy_id',
  'renew-connections': 'renew_id',
  'disconnect-all-sites': 'disconnect_id',
};

export async function tools({ get, each }: Recorder) {
  for (const [tool, name] of Object.entries(TOOLS)) {
    const { body } = await each('POST', `/settings/tools/${tool}`);
    await get(`/settings/tools/${tool}-status/{${name}}`, { [name]: body[name] });
    await get(`/settings/tools/${tool}-status/{${name}}`, { [name]: 'never' });
  }
}

/** Above the threshold of this server. */
export async function jobs({ get, send }: Recorder) {
  let cancelled = 'sync_none';
  for (const action of ['sync', 'check']) {
    const { body } = await send('POST', `/sites/${action}`, {});
    await get('/jobs/{job_id}', { job_id: body.job_id ?? 'none' });
    cancelled = body.job_id ?? cancelled;
  }
  await send('POST', '/updates/update', {}, { dry_run: true });
  await send('POST', '/updates/update', {}, { dry_run: true, exclude_items: [{ type: 'core', slug: 'platform' }] });
  await send('POST', '/updates/update', {}, { run_id: 'run' });
  await send('POST', '/updates/update', {});
  await get('/jobs');
  await get('/jobs', {}, '?open=1&page=9');
  await get('/jobs/{job_id}', { job_id: 'x' });
  for (const job_id of [cancelled, cancelled, 'x']) await send('POST', '/jobs/{job_id}/cancel', { job_id });
}

/** Calls whose query or body names missing objects, and reads of a suspended site. */
export async function refusals({ get, send }: Recorder, app: RestApp) {
  const nobody = 999;
  for (const path of ['/posts', '/comments'])
    for (const by of ['websites', 'groups', 'clients']) await get(path, {}, `?${by}=${nobody}`);
  for (const by of ['client_id', 'site_id', 'bucket_id']) await get('/time-tracker', {}, `?${by}=${nobody}`);
  await get('/time-tracker/buckets', {}, `?client_id=${nobody}`);
  for (const path of ['/updates', '/alerts', '/perf-audit/results', '/ssl-monitor/info', '/domain-monitor/profiles'])
    await get(path, {}, `?include=${nobody}`);
  const named: [string, object][] = [
    ['/clients/add', { name: 'X', selected_sites: [nobody] }],
    ['/costs/add', { name: 'X', price: '1', sites: [nobody] }],
    ['/costs/add', { name: 'X', price: '1', clients: [nobody] }],
    ['/costs/add', { name: 'X', price: '1', groups: [nobody] }],
    ['/time-tracker/tasks/add', { title: 'X', bucket_id: nobody }],
    ['/time-tracker/tasks/add', { title: 'X', client_id: nobody }],
    ['/time-tracker/tasks/add', { title: 'X', site_ids: [nobody] }],
    ['/time-tracker/buckets/add', { title: 'X', hours: 1, client_ids: [nobody] }],
    ['/sites/add', { url: 'https://x.example', admin: 'x', client_id: nobody }],
    ['/sites/add', { url: 'https://x.example', admin: 'x', groupids: [nobody] }],
    ['/perf-audit/audit', { include: [nobody] }],
  ];
  for (const [path, body] of named) await send('POST', path, {}, body);
  await app.rest('POST /sites/1/suspend');
  const values = { id_or_domain: 1, post_id: nobody };
  for (const { on, path } of routes)
    if (on.includes('GET') && path.includes('{id_or_domain}'))
      await get(path, values, path.startsWith('/pro-reports') ? RANGE : '');
  for (const { on, path } of routes)
    if (on.includes('POST') && path.includes('{id_or_domain}') && !/suspend|remove/.test(path))
      await send('POST', path, { id_or_domain: 1 }, path.includes('/ignore/') ? { slug: 'no/such.php' } : undefined);
  await app.rest('POST /sites/1/unsuspend');
  for (const id of [1, 2, 3]) await app.rest(`POST /sites/${id}/suspend`);
  for (const name of ['destroy-sessions', 'renew-connections', 'disconnect-all-sites'])
    await send('POST', `/settings/tools/${name}`, {});
}
