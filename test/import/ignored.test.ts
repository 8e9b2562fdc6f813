/** Updates that an import hides: named before and after, and in the log, with the words of the file quoted. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sealFile } from '../../src/domain/import/sealed.js';
import { openDb } from '../../src/store/driver/open.js';
import { closing, tempFolder } from '../support/cleanup.js';
import { testKey } from '../support/harness.js';
import { program } from './program.js';

const PASSPHRASE = 'correct horse battery';
/** Turns the direction of what follows. */
const TURN = '\u202E';

it('are named by the dry run, the summary and the log', async () => {
  const folder = tempFolder('import-ignored');
  const { private_key } = await testKey;
  const plugin = (slug: string, version = '*') => ({ type: 'plugin', slug, name: `Name ${TURN}of ${slug}`, version });
  const everywhere = [
    plugin('a/a.php'),
    plugin('b/b.php', '2.0'),
    plugin('b/b.php', '2.1'),
    plugin(`c/"${TURN}c.php`),
    { type: 'core', slug: 'platform', name: 'WordPress', version: '*' },
  ];
  const own = { active: null, interval: null, timeout: null, maxretries: null, type: null, method: null };
  const site = {
    ...{ key: 'site:1', url: 'https://s1.example/', admin: 'boss', name: `Shop${TURN}gro`, private_key },
    ...{ regverify: null, unique_id: '', http_user: null, http_pass: null, ssl_verify: true, ssl_version: 0 },
    ...{ force_use_ipv4: 2, notes: '', client: null, tags: [], automatic_update: false, backup_before_upgrade: 2 },
    ...{ disable_health_checking: 2, health_threshold: 0, monitoring_emails: '', trial_obstacle: '' },
    ...{ ignore_core: false, ignore_plugins: false, ignore_themes: true, ignored: [plugin('d/d.php', '3.0')] },
    monitor: { ...own, expected_status: null, keyword: null },
    // Suspended sites are not contacted.
    suspended: true,
  };
  async function* records() {
    yield { type: 'source', product: 'sitefleet', version: '1', url: 'https://old.example/' };
    yield { type: 'ignored', ignored: everywhere };
    yield { type: 'site', site };
    yield { type: 'end', sites: 1 };
  }
  let sealed = '';
  for await (const part of sealFile(records(), { passphrase: PASSPHRASE })) sealed += part;
  writeFileSync(join(folder, 'fleet.json'), sealed);
  writeFileSync(join(folder, 'pass'), `${PASSPHRASE}\n`);
  const here = program(folder);
  expect((await here.run(['migrate'])).code).toBe(0);
  const db = closing(await openDb(`file:${join(folder, 'fleet.db')}`));
  // Ignored here until a time: that stays.
  await db.run(
    "INSERT INTO ignored_everywhere (type, slug, version, name, until) VALUES (1, 'b/b.php', '2.0', 'B', 9e15)",
  );

  const command = ['import', 'fleet.json', '--passphrase-file', 'pass'];
  const lines = (text: string) => text.split('\n').filter((line) => line.includes('ignored on every site: '));
  const named = [
    '  - ignored on every site: plugin "a/a.php", every version',
    '  - ignored on every site: plugin "b/b.php", version "2.1"',
    '  - ignored on every site: plugin "c/\\"c.php", every version',
    '  - ignored on every site: core "platform", every version',
  ];
  const dry = await here.run([...command, '--dry-run']);
  expect(dry.err).toContain('; 4 updates ignored on every site');
  expect(lines(dry.err)).toEqual(named);
  expect(dry.err).toContain('  + https://s1.example/  Shopgro');
  const data = await here.json([...command, '--dry-run']);
  expect(data).toMatchObject({ ignored_everywhere: 4, imported: [{ name: 'Shopgro' }] });
  expect(data.ignored.map(({ slug }: { slug: string }) => slug)).toEqual([
    'a/a.php',
    'b/b.php',
    everywhere[3]?.slug,
    'platform',
  ]);
  expect(await db.all('SELECT * FROM action_log')).toEqual([]);

  const done = await here.run(command);
  expect(lines(done.err)).toEqual(named);
  expect(done.err).not.toMatch(/\p{Cf}/u);
  const logged = await db.all(
    "SELECT site_id, context, slug, name, detail, fields FROM action_log WHERE action = 'ignored' AND operation = 'sitefleet import file' ORDER BY id",
  );
  const all = { site_id: null, detail: 'on every site' };
  const forever = { version: '*', until: null };
  expect(logged.map(({ fields, name: _, ...row }) => ({ ...row, ...JSON.parse(String(fields)) }))).toEqual([
    { ...all, context: 'plugin', slug: 'a/a.php', everywhere: [[], [forever]] },
    {
      ...{ ...all, context: 'plugin', slug: 'b/b.php' },
      everywhere: [
        [{ version: '2.0', until: 9e15 }],
        [
          { version: '2.0', until: 9e15 },
          { version: '2.1', until: null },
        ],
      ],
    },
    { ...all, context: 'plugin', slug: 'c/"c.php', everywhere: [[], [forever]] },
    { ...all, context: 'core', slug: 'platform', everywhere: [[], [forever]] },
    { site_id: 1, detail: '', context: 'theme', slug: '', ignore_themes: [0, 1] },
    { site_id: 1, detail: '', context: 'plugin', slug: 'd/d.php', ignored: [[], ['3.0']] },
  ]);
  // Nothing is new the second time.
  expect(lines((await here.run([...command, '--dry-run'])).err)).toEqual([]);
});
