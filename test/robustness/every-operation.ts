/** One working call of each operation, in an order that leaves something for the next: for tests that go through all of them. */

import type { Answer, TestApp } from '../support/harness.js';

export interface Step {
  name: string;
  input: object;
}

/** Needs the sites 1 to `sites` connected; ends with site `sites` removed. Plugins, themes and offers are those of site 1. */
export async function everyOperation(
  app: TestApp,
  sites: number,
  run: (step: Step) => Promise<Answer>,
): Promise<string[]> {
  const done = new Set<string>();
  const step = (name: string, input: object = {}): Promise<Answer> => {
    done.add(name);
    return run({ name, input });
  };
  const site = { site_id_or_domain: 1 };
  const few = { site_ids_or_domains: [1, 2] };
  const { items: plugins } = await pluginsOf(await step('get-site-plugins', site));
  const { items: themes } = await themesOf(await step('get-site-themes', site));
  const tag = await step('add-tag', { name: 'production', color: '#00ff00' });
  const client = await step('add-client', { name: 'Ada', client_email: 'ada@example.com', selected_sites: [1] });
  const tagged = { tag_id: Number(tag.id) };
  const asked = { client_id_or_email: Number(client.id ?? client.client_id) };

  for (const name of ['list-sites', 'count-sites', 'get-sites-basic', 'list-updates', 'list-ignored-updates'])
    await step(name);
  for (const name of ['get-abandoned-plugins', 'get-abandoned-themes', 'list-clients', 'count-clients', 'list-tags'])
    await step(name);
  for (const name of ['get-site', 'get-site-security', 'get-site-changes', 'get-site-client', 'get-site-costs'])
    await step(name, site);
  await step('get-site-updates', site);
  for (const name of ['get-client', 'get-client-sites', 'count-client-sites', 'get-client-costs'])
    await step(name, asked);
  for (const name of ['get-tag', 'get-tag-sites', 'get-tag-clients']) await step(name, tagged);

  await step('update-site', { ...site, name: 'First', notes: 'seen', tags: [tagged.tag_id] });
  await step('update-tag', { ...tagged, name: 'live' });
  await step('update-client', { ...asked, city: 'London' });
  for (const name of ['suspend-client', 'unsuspend-client']) await step(name, asked);
  for (const name of ['suspend-site', 'unsuspend-site', 'disconnect-site', 'reconnect-site', 'check-site'])
    await step(name, site);
  for (const name of ['check-sites', 'sync-sites', 'disconnect-sites', 'reconnect-sites']) await step(name, few);
  await step('suspend-sites', few);
  for (const id of [1, 2]) await step('unsuspend-site', { site_id_or_domain: id });

  const slugs = [String(plugins.find((plugin) => !plugin.slug.includes('mainwp'))?.slug)];
  const theme = themes.find((item) => !item.active)?.slug ?? themes[0]?.slug;
  for (const name of ['deactivate-site-plugins', 'activate-site-plugins']) await step(name, { ...site, slugs });
  await step('activate-site-theme', { ...site, slug: theme });
  const offers = (await app.call('list-updates', { per_page: 200 })).updates as { type: string; slug: string }[];
  const ignored = offers.find((offer) => offer.type === 'plugin')?.slug ?? slugs[0];
  await step('ignore-site-core', { ...site, action: 'add' });
  await step('ignore-site-core', { ...site, action: 'remove' });
  for (const kind of ['plugins', 'themes']) {
    for (const action of ['add', 'remove'])
      await step(`ignore-site-${kind}`, { ...site, action, slugs: [kind === 'plugins' ? ignored : theme] });
  }
  await step('set-ignored-updates', { ...site, action: 'ignore', type: 'plugin', slug: ignored });
  await step('set-ignored-updates', { ...site, action: 'unignore', type: 'plugin', slug: ignored });
  for (const kind of ['core', 'plugins', 'themes', 'translations']) await step(`update-site-${kind}`, site);
  await step('run-updates', { ...few, types: ['plugins'] });
  await step('update-all', few);
  await step('delete-site-plugins', { ...site, slugs, confirm: true });
  const spare = themes.find((item) => !item.active && item.slug !== theme)?.slug ?? theme;
  await step('delete-site-themes', { ...site, slugs: [spare], dry_run: true });

  const queued = (await app.call('sync-sites', {})) as { job_id?: string };
  await step('get-batch-job-status', { job_id: queued.job_id ?? 'sync_00000000-0000-0000-0000-000000000000' });
  await step('delete-tag', { ...tagged, confirm: true });
  await step('delete-client', { ...asked, confirm: true });
  await step('delete-site', { site_id_or_domain: sites, confirm: true });
  const last = app.fleet.site(sites - 1);
  await step('add-site', { url: last.url, admin: last.admin, admin_password: last.password, unique_id: last.uniqueId });
  return [...done];
}

type Item = { slug: string; active?: boolean; status?: string };

async function pluginsOf(answer: Answer): Promise<{ items: Item[] }> {
  return { items: (answer.plugins ?? answer.items) as Item[] };
}

async function themesOf(answer: Answer): Promise<{ items: Item[] }> {
  const themes = (answer.themes ?? answer.items) as (Item & { is_active?: boolean })[];
  return { items: themes.map((theme) => ({ ...theme, active: theme.active ?? theme.status === 'active' })) };
}
