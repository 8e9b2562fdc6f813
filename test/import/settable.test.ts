/** Whatever can be set of a site and its monitor arrives in another Sitefleet: the file takes what the routes take. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { z } from '../../schemas/zod.js';
import { ownSettings } from '../../src/surfaces/rest/monitoring/monitor-params.js';
import { editSiteFields } from '../../src/surfaces/rest/sites/edit.js';
import { type RestApp, restOver } from '../rest/client.js';
import { tempFolder } from '../support/cleanup.js';
import { testApp } from '../support/harness.js';
import { program } from './program.js';

/** They move the site, name records of this service, or are another name of a field. */
const NOT_TRIED = ['url', 'protocol', 'client_id', 'groupids', 'suspended', 'note'];
/** Under these names a site and its monitor are shown. */
const SHOWN = [
  [
    ...['name', 'notes', 'admin_username', 'verify_certificate', 'force_use_ipv4', 'ssl_version', 'suspended'],
    ...[
      'automatic_update',
      'backup_before_upgrade',
      'disable_health_checking',
      'health_threshold',
      'monitoring_emails',
    ],
    ...['is_ignoreCoreUpdates', 'is_ignorePluginUpdates', 'is_ignoreThemeUpdates'],
  ],
  [...Object.keys(ownSettings()), 'useglobal'],
];
const numbers = Array.from({ length: 6_000 }, (_none, at) => at);
const texts = [1, 100, 191, 255, 1_024, 2_048, 65_535].map((length) => 'x'.repeat(length));
const words = ['http', 'ping', 'keyword', 'head', 'get', 'post', 'push', 'patch', 'delete', 'put', 'options'];
const address = (at: number) => `${'a'.repeat(40)}${at}@${'b'.repeat(60)}.${'c'.repeat(60)}.example`;

/** The outermost values that a field takes: smallest and largest number, shortest and longest text, every word, all members of a list. */
function edges(field: z.ZodTypeAny): unknown[] {
  const taken = (values: readonly unknown[]) => values.filter((value) => field.safeParse(value).success);
  const ends = (values: readonly unknown[]) => [...values.slice(0, 1), ...values.slice(-1)];
  const text = ends(taken(texts));
  if (text.length > 0) return text;
  const members = [numbers.filter((number) => field.safeParse([number]).success), numbers.slice(0, 20).map(address)];
  const lists = taken(members.filter((list) => list.length > 0));
  return lists.length > 0 ? lists : [...ends(taken(numbers)), ...taken(words)];
}

const edgesOf = (fields: Record<string, z.ZodTypeAny>) =>
  Object.entries(fields)
    .filter(([name]) => !NOT_TRIED.includes(name))
    .map(([name, field]) => ({ name, values: edges(field) }));

it('exports and imports whatever the routes of a site and its monitor take', async () => {
  const [monitor, site] = [edgesOf(ownSettings()), edgesOf(editSiteFields())];
  expect([...monitor, ...site].filter(({ values }) => values.length === 0)).toEqual([]);
  const turns = Math.max(...[...monitor, ...site].map(({ values }) => values.length));
  const folder = tempFolder('settable');
  const on = async (database: string): Promise<RestApp> =>
    restOver(
      await testApp({
        sites: turns,
        config: {
          db: `file:${join(folder, database)}`,
          secret_key: null,
          secret_key_file: join(folder, 'secret.key'),
        },
      }),
    );
  /** What is set, and not what the site says of itself. */
  const state = async (app: RestApp, id: number) => {
    const { data: record } = (await app.rest(`GET /sites/${id}`)).body;
    const { data: watch } = (await app.rest(`GET /monitors/${id}`)).body;
    const { http_user, http_pass, unique_id } = (await app.service.store.sites.connections([id])).get(id) ?? {};
    const shown = [record, watch].map((of, at) =>
      Object.fromEntries(Object.entries(of).filter(([name]) => SHOWN[at]?.includes(name))),
    );
    return { url: record.url, shown, http_user, http_pass, unique_id };
  };

  const source = await on('source.db');
  const before = [];
  for (let turn = 0; turn < turns; turn++) {
    const id = await source.connect(turn);
    const values = (fields: typeof site) =>
      Object.fromEntries(fields.map(({ name, values }) => [name, values[turn % values.length]]));
    // A suspended site is imported without being contacted.
    const edited = await source.rest(`PUT /sites/${id}/edit`, { body: { ...values(site), suspended: 1 } });
    expect(edited.status, JSON.stringify(edited.body)).toBe(200);
    const set = await source.rest(`PUT /monitors/${id}/settings`, { body: values(monitor) });
    expect(set.status, JSON.stringify(set.body)).toBe(200);
    before.push(await state(source, id));
  }
  await source.close();
  writeFileSync(join(folder, 'pass'), 'correct horse battery\n');
  const from = program(folder, 'source.db');
  const exported = await from.run(['export', 'all.json', '--passphrase-file', 'pass']);
  expect(exported.code, exported.err).toBe(0);

  const there = program(folder, 'target.db');
  await there.run(['migrate']);
  const report = await there.json(['import', 'all.json', '--passphrase-file', 'pass']);
  expect(report).toMatchObject({ invalid: [], unreachable: [], warnings: [], imported: { length: turns } });
  const target = await on('target.db');
  const ids = new Map(report.imported.map((one: { url: string; site_id: number }) => [one.url, one.site_id]));
  const after = await Promise.all(before.map(({ url }) => state(target, ids.get(url) as number)));
  expect(after).toEqual(before);
});
