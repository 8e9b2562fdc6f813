/** What databases of real sites have besides tables of their own character: ties between tables, and names that look alike. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { closeTransport } from '../guard/tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from '../guard/wordpress.js';
import { bareSite } from '../support/bare-site.js';
import { tempFolder } from '../support/cleanup.js';
import { type Answer, type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';

const CHILD = 'mainwp-child/mainwp-child.php';
/** A site whose backups are made and restored. */
async function backedUpSite(host: WordPressHost, prefix = 'wp_') {
  const key = await generateKey();
  const site = await host.site('ties', { workers: 4, log: true, temporary: true, compiled: true, prefix });
  site.trust(key.public_key);
  site.write(`plugins/${CHILD}`, readFileSync(new URL('../guard/mainwp-child.php', import.meta.url)));
  site.activate(CHILD);
  const app = await testApp({
    sites: 1,
    realClock: true,
    config: {
      site_timeout_ms: 60_000,
      direct_call_ms: 300_000,
      site_backup_dir: join(tempFolder('ties'), 'repository'),
    },
  });
  const row = bareSite(site.url, { name: site.database, private_key: key.private_key });
  const one = { site_id_or_domain: Number(await app.service.store.sites.add(row, Date.now(), () => [])) };
  await app.call('sync-sites', { site_ids_or_domains: [one.site_id_or_domain] });
  await app.call('install-site-guard', one);
  return {
    app,
    site,
    sql: (statements: string) => host.query(`SET NAMES utf8mb4; USE ${site.database}; ${statements}`),
    backUp: async () => String((await app.call('back-up-site', one)).backup_id),
    restore: (backup_id: string, input: object = { what: 'site' }): Promise<Answer> =>
      app.call('restore-backup', { backup_id, confirm: true, ...input }),
  };
}

describe('the database of a real site', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let app: TestApp;
  let site: WordPress;
  let sql: (statements: string) => string;
  let backUp: () => Promise<string>;
  let restore: (backup_id: string, input?: object) => Promise<Answer>;
  const names = (like: string) =>
    sql(
      `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = '${site.database}' AND TABLE_NAME LIKE '${like}'`,
    )
      .split('\n')
      .filter(Boolean);
  const left = async (backup_id: string, why: string): Promise<string[]> =>
    (await app.call('get-backup', { backup_id })).left_out
      .filter((one: Answer) => one.why === why)
      .map(({ path }: Answer) => path)
      .sort();

  beforeAll(async () => {
    await host.start({ files: 'code' });
    ({ app, site, sql, backUp, restore } = await backedUpSite(host));
  });
  afterAll(async () => {
    await app?.close();
    await closeTransport();
    await host.close();
  });
  beforeEach(() => {
    const own = names('%').filter((name) => /^(wp_t_|wp_shop_|wp_2_|wp_mail_|crm_|sfr_)|^WP_/.test(name));
    if (own.length > 0) sql(`SET foreign_key_checks = 0; DROP TABLE ${own.join(', ')}`);
  });

  it('defaults and values of ENUM that are no ASCII come back in every character set', async () => {
    sql(`CREATE TABLE wp_t_latin (id INT PRIMARY KEY, e ENUM('grün','blau') NOT NULL DEFAULT 'grün', t VARCHAR(20) DEFAULT 'größe', s SET('ä','b'), \`ü\` INT) DEFAULT CHARSET=latin1 COMMENT='für';
      INSERT INTO wp_t_latin VALUES (1, 'grün', 'straße', 'ä,b', 1), (2, 'blau', 'x', 'b', 2);
      CREATE TABLE wp_t_cyrillic (e ENUM('да','нет') NOT NULL PRIMARY KEY, t VARCHAR(20) DEFAULT 'привет') DEFAULT CHARSET=cp1251;
      INSERT INTO wp_t_cyrillic VALUES ('нет', DEFAULT), ('да', 'x');
      CREATE TABLE wp_t_wide (e ENUM('grün','blau') PRIMARY KEY, t VARCHAR(20) DEFAULT 'größe') DEFAULT CHARSET=utf8mb4; INSERT INTO wp_t_wide VALUES ('grün', 'ä');
      CREATE TABLE wp_t_bytes (id INT PRIMARY KEY, b VARBINARY(9) DEFAULT x'005C27FF0A', t VARBINARY(9) DEFAULT 'ä''\\\\') DEFAULT CHARSET=utf8mb4;`);
    const tables = ['wp_t_latin', 'wp_t_cyrillic', 'wp_t_wide', 'wp_t_bytes'];
    const look = () =>
      tables
        .map((name) => sql(`SHOW CREATE TABLE ${name}; SELECT * FROM ${name}`))
        .concat(
          sql("SELECT HEX(COLUMN_DEFAULT) FROM information_schema.COLUMNS WHERE TABLE_NAME = 'wp_t_bytes'"),
          sql('SELECT e + 0, s + 0 FROM wp_t_latin'),
        );
    const before = look();
    const id = await backUp();
    sql(`DROP TABLE ${tables.join(', ')}`);
    for (const name of tables)
      expect(await restore(id, { what: 'table', name })).toMatchObject({ outcome: 'restored' });
    expect(look()).toEqual(before);
    expect(sql('INSERT INTO wp_t_bytes (id) VALUES (1); SELECT HEX(b), HEX(t) FROM wp_t_bytes')).toBe(
      '005C27FF0A\tC3A4275C\n',
    );
  });

  it('a table whose prefix differs in case is not one of the site', async () => {
    sql('CREATE TABLE WP_Upper (id INT PRIMARY KEY); INSERT INTO WP_Upper VALUES (1)');
    const id = await backUp();
    const { database } = await app.call('get-backup', { backup_id: id });
    expect(database.map(({ name }: Answer) => name)).not.toContain('WP_Upper');
    sql('INSERT INTO WP_Upper VALUES (2)');
    expect(await restore(id)).toMatchObject({ outcome: 'restored' });
    expect(sql('SELECT COUNT(*) FROM WP_Upper')).toBe('2\n');
  });

  it('another WordPress that shares the users of this one is left alone; tables of a former network are not', async () => {
    const others = ['options', 'posts', 'postmeta', 'orders'].map((name) => `wp_shop_${name}`);
    const own = ['wp_2_options', 'wp_2_posts', 'wp_2_postmeta', 'wp_mail_options', 'wp_mail_posts'];
    const all = [...others, ...own];
    sql(all.map((name) => `CREATE TABLE ${name} (id INT PRIMARY KEY); INSERT INTO ${name} VALUES (1)`).join('; '));
    const id = await backUp();
    expect(await left(id, 'other_wordpress')).toEqual([...others].sort());
    sql(all.map((name) => `INSERT INTO ${name} VALUES (2)`).join('; '));
    expect(await restore(id)).toMatchObject({ outcome: 'restored' });
    const rows = (name: string) => Number(sql(`SELECT COUNT(*) FROM ${name}`));
    expect(others.map(rows)).toEqual(others.map(() => 2));
    expect(own.map(rows)).toEqual(own.map(() => 1));
  });

  it('of a table that keeps earlier versions of its rows, those of now come back', async () => {
    sql(`CREATE TABLE wp_t_versions (id INT PRIMARY KEY, n INT) WITH SYSTEM VERSIONING; INSERT INTO wp_t_versions VALUES (1, 2), (2, 5); UPDATE wp_t_versions SET n = 3 WHERE id = 1;
      CREATE TABLE wp_t_periods (id INT PRIMARY KEY, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING; INSERT INTO wp_t_periods (id) VALUES (7);
      CREATE SEQUENCE wp_t_sequence`);
    const look = () =>
      sql(
        'SHOW CREATE TABLE wp_t_versions; SELECT * FROM wp_t_versions; SHOW CREATE TABLE wp_t_periods; SELECT id FROM wp_t_periods',
      );
    const before = look();
    const id = await backUp();
    expect(await left(id, 'history')).toEqual(['wp_t_periods', 'wp_t_versions']);
    expect(await left(id, 'sequence')).toEqual(['wp_t_sequence']);
    sql('DELETE FROM wp_t_versions; DELETE FROM wp_t_periods');
    const done = await restore(id);
    expect(done).toMatchObject({ outcome: 'restored' });
    expect(done.warnings.join()).toContain(
      'Earlier versions of rows are not in the backup, and are lost: wp_t_periods, wp_t_versions.',
    );
    expect(look()).toEqual(before);
    sql('DROP SEQUENCE wp_t_sequence');
  });

  it('none of it leaves a message of PHP', () => {
    expect(site.complaints('sitefleet-backup.php')).toEqual([]);
  });
});

describe('a database that keeps names of tables in small letters', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let app: TestApp | undefined;

  afterAll(async () => {
    await app?.close();
    await closeTransport();
    await host.close();
  });

  it('is backed up and restored whatever the case of the prefix', async () => {
    await host.start({ files: 'code', options: ['--lower-case-table-names=1'] });
    const { app: started, sql, backUp, restore } = await backedUpSite(host, 'Wp_');
    app = started;
    const id = await backUp();
    const { database } = await app.call('get-backup', { backup_id: id });
    const names = database.map(({ name }: Answer) => name);
    expect(names).toEqual(expect.arrayContaining(['wp_options', 'wp_users']));
    sql("UPDATE Wp_options SET option_value = 'later' WHERE option_name = 'blogname'");
    expect(await restore(id)).toMatchObject({ outcome: 'restored' });
    expect(sql("SELECT option_value FROM wp_options WHERE option_name = 'blogname'")).toBe('Test\n');
    expect(await restore(id, { what: 'table', name: 'wp_users' })).toMatchObject({ outcome: 'restored' });
  });
});
