/**
 * Backups of real WordPress on real MariaDB: destroyed sites come back equal, restores that break the site are taken
 * back, and a kill at any moment leaves the old site or the new one.
 */

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { clientOf, closeTransport, contents, visit } from '../guard/tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from '../guard/wordpress.js';
import { zip } from '../guard/zip.js';
import { tempFolder } from '../support/cleanup.js';
import type { Answer, TestApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { pause } from '../support/processes/program.js';
import { addRealSite, backupsApp } from './real-site.js';

const HEAD = (name: string, version: string) => `<?php\n/* Plugin Name: ${name}\nVersion: ${version} */\n`;
/** Fatal while a file beside wp-content says so, which no backup has. */
const DOOMED = `${HEAD('Doomed', '1.0')}if ( file_exists( dirname( WP_CONTENT_DIR ) . '/doom' ) ) { undefined_function_of_doom(); }\n`;
const MANY = 1_500;
/** So many that their swap takes a while. */
const EXTRA = 3_000;
/** Where their number does not matter. */
const FEW = 100;
/** Between two looks at a site, which would otherwise keep a processor busy: shorter than any step that a test waits for. */
const LOOK_MS = 2;

describe('backups of real WordPress', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let app: TestApp;
  let site: WordPress;
  let privateKey: string;
  const one = { site_id_or_domain: 0 };
  let whole: Answer;

  beforeAll(async () => {
    await host.start({ files: 'code' });
    const key = await generateKey();
    privateKey = key.private_key;
    site = await host.site('backups', { workers: 6, log: true, temporary: true, updates: true, compiled: true });
    site.trust(key.public_key);
    furnish();
    app = await backupsApp('real-backups');
    Object.assign(one, await addRealSite(app, site, key.private_key));
    whole = (await app.call('back-up-site', one)).backups[0];
  });

  afterAll(async () => {
    await app?.close();
    await closeTransport();
    await host.close();
  });

  beforeEach(async () => {
    rmSync(doom(), { force: true });
    expect(await front()).toBe(200);
  });

  function furnish(): void {
    site.write(
      'plugins/mainwp-child/mainwp-child.php',
      readFileSync(new URL('../guard/mainwp-child.php', import.meta.url)),
    );
    site.write('plugins/doomed/doomed.php', DOOMED);
    site.write('plugins/quiet/quiet.php', HEAD('Quiet', '1.0'));
    site.activate('mainwp-child/mainwp-child.php', 'doomed/doomed.php', 'quiet/quiet.php');
    const files: Record<string, string | Buffer> = {
      'uploads/2026/photo of a 🦊 & "friends".jpg': bytes(7_000_000, 7),
      'uploads/2026/empty.txt': '',
      'uploads/a b/ä ö/x.txt': 'text\n',
      'uploads/a b/back\\slash, line\nbreak.txt': 'strange name\n',
      'languages/de_DE.mo': bytes(20_000, 3),
    };
    for (let index = 0; index < MANY; index++) files[`uploads/many/${index}.txt`] = `file ${index}\n`;
    site.writeAll(files);
    sql(`
      CREATE TABLE wp_nokey (a INT NULL, b VARBINARY(40), c TEXT) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
      INSERT INTO wp_nokey VALUES (1, x'00FF10', 'eins'), (1, x'00FF10', 'eins'), (NULL, NULL, NULL), (3, '', '🦊');
      CREATE TABLE wp_ties (a VARCHAR(40), b VARCHAR(40), c FLOAT, d TEXT) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
      INSERT INTO wp_ties SELECT ELT(1 + seq % 4, 'abc', 'ABC', 'äbc', 'abc '), ELT(1 + (seq DIV 4) % 3, 'x', 'X', 'x '), 1 + seq % 3 / 10000000, CONCAT(REPEAT('long ', 300), seq % 7)
        FROM seq_1_to_1500 ORDER BY MD5(seq);
      CREATE TABLE wp_net (id INT PRIMARY KEY, u UUID, i INET6, j JSON);
      INSERT INTO wp_net VALUES (1, '01020304-0506-0708-090a-0b0c0d0e0f10', '2001:db8::1', '{"🦊": 1}'), (2, NULL, NULL, NULL);
      CREATE TABLE wp_large (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(80) NOT NULL, data BLOB, made DATETIME(3),
        twice BIGINT AS (id * 2) VIRTUAL, KEY name (name)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
      INSERT INTO wp_large (id, name, data, made) SELECT seq, CONCAT('Zeile ', seq, ' 🦊'), UNHEX(SHA2(seq, 256)), '2026-01-01 10:00:00.123' + INTERVAL seq SECOND FROM seq_1_to_10000;
      CREATE TABLE wp_pair (lang VARCHAR(20) COLLATE utf8mb4_general_ci NOT NULL, n INT NOT NULL, flag BIT(3), price DECIMAL(10,3), PRIMARY KEY (lang, n)) DEFAULT CHARSET=utf8mb4;
      INSERT INTO wp_pair SELECT ELT(1 + seq % 5, 'de', 'DÄ', 'en', 'ß', 'ñ'), seq, seq % 8, seq / 7 FROM seq_1_to_3000;
      CREATE TABLE wp_child (id INT PRIMARY KEY, of BIGINT UNSIGNED, CONSTRAINT to_large FOREIGN KEY (of) REFERENCES wp_large (id)) ENGINE=InnoDB;
      INSERT INTO wp_child VALUES (1, 17), (2, NULL);
      CREATE TABLE wp_old (id INT PRIMARY KEY, t VARCHAR(20)) ENGINE=MyISAM DEFAULT CHARSET=latin1;
      INSERT INTO wp_old VALUES (1, 'Ã¤');
      CREATE TABLE wp_none (id INT PRIMARY KEY);`);
    site.wp(
      "update_option( 'theme_mods_x', array( 'a' => \"li\\nne\", 'o' => (object) array( 'k' => '🦊' ) ) ); wp_insert_post( array( 'post_title' => 'Kept', 'post_status' => 'publish' ) );",
    );
  }

  const sql = (statements: string) => host.query(`SET NAMES utf8mb4; USE ${site.database}; ${statements}`);
  const doom = () => join(site.content, '..', 'doom');
  const front = () => visit(site.url).then(({ status }) => status);
  const guard = () => clientOf(site, privateKey);
  /** Files of wp-content without what belongs to Sitefleet. */
  const files = (of = site.content) =>
    Object.fromEntries(
      Object.entries(contents(of))
        .filter(([path]) => !/sitefleet|\/$/.test(path))
        .map(([path, digest]) => [path.replace(/^\//, ''), digest]),
    );
  const tables = (ask = sql) => ask("SHOW TABLES LIKE 'wp\\_%'").split('\n').filter(Boolean);
  /** The rows of every table and how it is made; without what WordPress stores by itself, and names of constraints. */
  const dump = (ask = sql, database = site.database) => {
    const names = tables(ask);
    const columns = new Map(
      ask(
        `SELECT TABLE_NAME, GROUP_CONCAT('HEX(\`', COLUMN_NAME, '\`)' ORDER BY ORDINAL_POSITION) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '${database}' GROUP BY TABLE_NAME`,
      )
        .split('\n')
        .map((line) => line.split('\t') as [string, string]),
    );
    const where = (table: string) =>
      table === 'wp_options'
        ? "WHERE option_name NOT LIKE '%transient%' AND option_name NOT LIKE 'recovery\\_%' AND option_name <> 'cron'"
        : '';
    // In one process of the client, not two for each table.
    const asked = names.map((table) => [
      `SHOW CREATE TABLE ${table}`,
      `SELECT ${columns.get(table)} FROM ${table} ${where(table)}`,
    ]);
    const parts = ask(asked.flat().join("; SELECT 'then'; ")).split('then\n');
    expect(parts).toHaveLength(2 * names.length);
    return Object.fromEntries(
      names.map((table, index) => {
        const [made = '', rows = ''] = parts.slice(2 * index);
        const definition = made.replace(/CONSTRAINT `\w+` /g, '').replace(/ AUTO_INCREMENT=\d+/, '');
        return [table, `${definition}\n${rows.split('\n').sort().join('\n')}`];
      }),
    );
  };
  const restore = (input: object, backup_id = whole.backup_id) =>
    app.call('restore-backup', { backup_id, confirm: true, ...input });

  it('reads everything, and says how consistent it is', async () => {
    expect(whole).toMatchObject({ changed_count: 0, consistency: 'best_effort' });
    const { database } = await app.call('get-backup', { backup_id: whole.backup_id });
    expect(database).toContainEqual({ name: 'wp_large', rows: 10_000, consistency: 'instant' });
    expect(database).toContainEqual({ name: 'wp_old', rows: 1, consistency: 'best_effort' });
    expect(await app.call('verify-backup', { backup_id: whole.backup_id })).toMatchObject({ sound: true });
    expect(site.complaints('sitefleet-backup.php')).toEqual([]);
  });

  it('a day later adds less than a twentieth of the bytes', async () => {
    site.write('uploads/2026/new.txt', 'new\n');
    site.wp("wp_insert_post( array( 'post_title' => 'New', 'post_status' => 'publish' ) );");
    sql("UPDATE wp_large SET name = 'changed' WHERE id = 5000");
    const [next] = (await app.call('back-up-site', one)).backups as Answer[];
    expect(next?.added_bytes).toBeLessThan(whole.added_bytes * 0.05);
    whole = next as Answer;
  });

  it('a destroyed site comes back equal by digest and by dump', async () => {
    const before = { files: files(), tables: dump() };
    for (const name of ['uploads', 'languages', 'plugins/quiet']) rmSync(join(site.content, name), { recursive: true });
    site.write('plugins/doomed/doomed.php', HEAD('Doomed', '0.1'));
    site.write('uploads/shell.php', '<?php evil();');
    sql(
      "DROP TABLE wp_child; DROP TABLE wp_nokey; TRUNCATE wp_posts; DELETE FROM wp_large WHERE id % 3 = 0; UPDATE wp_options SET option_value = 'hacked' WHERE option_name = 'blogname'; ALTER TABLE wp_pair DROP COLUMN price;",
    );
    const done = await restore({ what: 'site' });
    expect(done).toMatchObject({ outcome: 'restored', findings: [], files_removed: 1 });
    expect(files()).toEqual(before.files);
    expect(dump()).toEqual(before.tables);
    expect(await front()).toBe(200);
    expect(await guard().backups().restoring()).toBeNull();
    expect(site.complaints('sitefleet-backup.php')).toEqual([]);
  });

  it('leaves as an archive from which tar and mariadb make the site again', async () => {
    const before = { files: files(), tables: dump() };
    const [last] = (await app.call('back-up-site', one)).backups as Answer[];
    const { stream } = await app.service.openArchive(
      { backup_id: last?.backup_id, site_id: one.site_id_or_domain },
      new AbortController().signal,
    );
    const folder = tempFolder('by-hand');
    await writeFile(join(folder, 'site.tar'), stream as never);
    execFileSync('tar', ['-xf', 'site.tar', '--no-same-owner'], { cwd: folder });
    expect(readdirSync(folder).sort()).toEqual(['README.txt', 'database.sql', 'files', 'site.tar']);
    const fresh = await host.site('by_hand', { compiled: true });
    const foreign = (statements: string) => host.query(`SET NAMES utf8mb4; USE ${fresh.database}; ${statements}`);
    host.load(fresh.database, join(folder, 'database.sql'));
    expect(dump(foreign, fresh.database)).toEqual(before.tables);
    expect(files(join(folder, 'files/wp-content'))).toEqual(before.files);
    rmSync(fresh.content, { recursive: true });
    execFileSync('cp', ['-r', join(folder, 'files/wp-content'), fresh.content]);
    foreign(
      `UPDATE wp_options SET option_value = '${fresh.url.replace(/\/$/, '')}' WHERE option_name IN ('siteurl', 'home')`,
    );
    expect(await visit(fresh.url)).toMatchObject({ status: 200 });
    fresh.stop();
  });

  it('names a file that PHP cannot read, and a restore leaves it where it is', async () => {
    site.writeAll({ 'uploads/locked.txt': 'locked\n', 'uploads/beside.txt': 'old\n' });
    const locked = join(site.content, 'uploads/locked.txt');
    chmodSync(locked, 0);
    const [last] = (await app.call('back-up-site', one)).backups as Answer[];
    const { left_out } = await app.call('get-backup', { backup_id: last?.backup_id });
    expect(left_out).toContainEqual({ path: 'wp-content/uploads/locked.txt', why: 'unreadable' });
    // Of another length: times are whole seconds, and this is the same one.
    site.write('uploads/beside.txt', 'newer\n');
    const done = await restore({ what: 'files', name: 'wp-content/uploads/*' }, last?.backup_id);
    expect(done).toMatchObject({ outcome: 'restored', files_replaced: 1, files_removed: 0 });
    expect(existsSync(locked)).toBe(true);
    rmSync(locked);
    rmSync(join(site.content, 'uploads/beside.txt'));
  });

  it('brings rows back that are larger than a request', async () => {
    const digests = (text: string, from: string) => `SELECT GROUP_CONCAT(${text} SEPARATOR '') FROM seq_1_to_${from}`;
    sql(`SET SESSION group_concat_max_len = 100000000;
      CREATE TABLE wp_entries (id INT PRIMARY KEY, text LONGTEXT, data LONGBLOB, facts JSON, flag BIT(3)) DEFAULT CHARSET=utf8mb4;
      INSERT INTO wp_entries VALUES (1, 'first', NULL, NULL, 1), (2, (${digests('TO_BASE64(UNHEX(SHA2(seq, 512)))', '15000')}), '', '{"a": 1}', 2),
        (3, '🦊', (${digests('UNHEX(SHA2(seq, 512))', '50000')}), NULL, 3), (4, REPEAT('"', 3500000), x'00FF', NULL, 4),
        (5, '?', NULL, (SELECT CONCAT('["', GROUP_CONCAT(SHA2(seq, 512) SEPARATOR ''), '"]') FROM seq_1_to_20000), NULL), (6, 'last', NULL, NULL, 5);`);
    try {
      const before = dump().wp_entries;
      const [last] = (await app.call('back-up-site', one)).backups as Answer[];
      expect(last).toMatchObject({ rows_left_out: 0 });
      sql('TRUNCATE wp_entries');
      const named = { what: 'table', name: 'wp_entries' };
      expect(await restore(named, last?.backup_id)).toMatchObject({ outcome: 'restored' });
      // Not in one piece: a failure would print all of it.
      expect(dump().wp_entries === before).toBe(true);
      sql('DELETE FROM wp_entries WHERE id > 1');
      expect(await restore({ what: 'site' }, last?.backup_id)).toMatchObject({ outcome: 'restored' });
      expect(dump().wp_entries === before).toBe(true);
      expect(site.complaints('sitefleet-backup.php')).toEqual([]);
    } finally {
      sql('DROP TABLE IF EXISTS wp_entries');
    }
  });

  it('leaves out rows that are too large to be read, names them, and restores all others', async () => {
    sql(`CREATE TABLE wp_entries (id VARCHAR(20) PRIMARY KEY, text LONGTEXT) DEFAULT CHARSET=utf8mb4;
      INSERT INTO wp_entries VALUES ('a', 'first'), ('b', REPEAT('"', 4500000)), ('c', REPEAT('x', 9000000)), ('d', REPEAT('x', 8000000)), ('e', REPEAT(CHAR(1), 1500000)), ('f', 'last');
      CREATE TABLE wp_loose (n INT NULL, text LONGTEXT) DEFAULT CHARSET=utf8mb4;
      INSERT INTO wp_loose VALUES (1, 'first'), (2, REPEAT('"', 4500000)), (3, 'last');
      INSERT INTO wp_loose SELECT 4, REPEAT(MD5(seq), 20) FROM seq_1_to_2500;`);
    try {
      const [last] = (await app.call('back-up-site', one)).backups as Answer[];
      const backup_id = last?.backup_id;
      expect(last).toMatchObject({ rows_left_out: 4 });
      const { left_out, database } = await app.call('get-backup', { backup_id });
      expect(left_out.slice(0, 4).map(({ path }: Answer) => path)).toEqual([
        ...['b', 'c', 'e'].map((id) => `wp_entries: id ${id}`),
        'wp_loose: row 2',
      ]);
      expect(database).toContainEqual({ name: 'wp_entries', rows: 3, consistency: 'instant' });
      expect(await app.call('verify-backup', { backup_id })).toMatchObject({ sound: true, rows_left_out: 4 });
      const loose =
        'SELECT COUNT(*), MD5(GROUP_CONCAT(MD5(CONCAT(n, text)) ORDER BY n, text)) FROM wp_loose WHERE n <> 2';
      const before = sql(loose);
      const plan = await restore({ what: 'site', dry_run: true, confirm: false }, backup_id);
      expect(plan.warnings.join()).toContain(
        '"wp_entries: id b"; "wp_entries: id c"; "wp_entries: id e"; "wp_loose: row 2".',
      );
      for (const name of ['wp_entries', 'wp_loose'])
        expect(await restore({ what: 'table', name }, backup_id)).toMatchObject({ outcome: 'restored' });
      expect(sql('SELECT id, LENGTH(text) FROM wp_entries').split(/\s+/)).toEqual([
        'a',
        '5',
        'd',
        '8000000',
        'f',
        '4',
        '',
      ]);
      expect(sql(loose)).toBe(before);
      expect(sql('SELECT COUNT(*) FROM wp_loose')).toBe('2502\n');
      expect(await restore({ what: 'site' }, backup_id)).toMatchObject({ outcome: 'restored' });
      expect(site.complaints('sitefleet-backup.php')).toEqual([]);
    } finally {
      sql('DROP TABLE IF EXISTS wp_entries; DROP TABLE IF EXISTS wp_loose');
    }
  });

  it('leaves the tables of another WordPress in the same database alone', async () => {
    const others = ['options', 'posts', 'users', 'usermeta', 'orders'].map((name) => `wp_shop_${name}`);
    // Of plugins of this site.
    const own = ['wp_mail_options', 'wp_shopping'];
    for (const name of [...others, ...own])
      sql(`CREATE TABLE ${name} (id INT PRIMARY KEY); INSERT INTO ${name} VALUES (1)`);
    try {
      const [last] = (await app.call('back-up-site', one)).backups as Answer[];
      const { left_out, database } = await app.call('get-backup', { backup_id: last?.backup_id });
      const named = (rows: Answer[]) =>
        rows.flatMap(({ name, path }) => name ?? path).filter((name) => /shop|mail/.test(name));
      expect(named(left_out.filter(({ why }: Answer) => why === 'other_wordpress')).sort()).toEqual([...others].sort());
      expect(named(database)).toEqual(own);
      for (const name of [...others, ...own]) sql(`INSERT INTO ${name} VALUES (2)`);
      expect(await restore({ what: 'site' }, last?.backup_id)).toMatchObject({ outcome: 'restored' });
      const rows = (name: string) => Number(sql(`SELECT count(*) FROM ${name}`));
      expect(others.map(rows)).toEqual(others.map(() => 2));
      expect(own.map(rows)).toEqual([1, 1]);
    } finally {
      for (const name of [...others, ...own]) sql(`DROP TABLE IF EXISTS ${name}`);
    }
  });

  it('goes back when the restored site is unwell', async () => {
    site.write('plugins/doomed/doomed.php', HEAD('Doomed', '2.0'));
    sql("UPDATE wp_options SET option_value = 'later' WHERE option_name = 'blogname'");
    const before = { files: files(), tables: dump() };
    writeFileSync(doom(), '');
    const plugin = await restore({ what: 'plugin', name: 'doomed' });
    expect(plugin).toMatchObject({ outcome: 'taken_back' });
    expect(plugin.findings.join(' ')).toContain('HTTP 500');
    expect(files()).toEqual(before.files);
    const all = await restore({ what: 'site' });
    expect(all).toMatchObject({ outcome: 'taken_back' });
    expect(files()).toEqual(before.files);
    expect(dump()).toEqual(before.tables);
    expect(await front()).toBe(200);
  });

  it('is restored where PHP has no folder for temporary files, and so reads no long requests', async () => {
    site.stop();
    await site.serve({ temporary: false });
    const before = { files: files(), pair: dump().wp_pair };
    site.write('uploads/2026/photo of a 🦊 & "friends".jpg', 'lost');
    sql('TRUNCATE wp_pair');
    const photo = await restore({ what: 'files', name: 'wp-content/uploads/2026/*' });
    expect(photo).toMatchObject({ outcome: 'restored', files_replaced: 1 });
    expect(await restore({ what: 'table', name: 'wp_pair' })).toMatchObject({ outcome: 'restored' });
    expect(files()).toEqual(before.files);
    expect(dump().wp_pair).toEqual(before.pair);
    site.stop();
    await site.serve();
  });

  it('a kill while files are swapped leaves the old site, and a repeated call completes the restore', async () => {
    await disturb({ missing: MANY, extra: EXTRA });
    const before = { files: files(), tables: dump() };
    const call = restore({ what: 'site' }).catch((error: unknown) => error);
    await reached(() => swappedFiles() > 20, call);
    await killed();
    await call;
    expect(await front()).toBe(200);
    expect(files()).toEqual(before.files);
    expect(dump()).toEqual(before.tables);
    expect(await restore({ what: 'site' })).toMatchObject({ outcome: 'restored' });
    expect(files()['uploads/many/7.txt']).toBeDefined();
    expect(sql("SELECT option_value FROM wp_options WHERE option_name = 'blogname'")).not.toContain('later');
  });

  it('a kill while the tables wait to be renamed leaves a whole site', async () => {
    await disturb();
    const before = { files: files(), tables: dump() };
    const holder = host.hold(`USE ${site.database}; LOCK TABLES wp_nokey READ;`);
    await reached(() => sql('SHOW OPEN TABLES WHERE In_use > 0').includes('wp_nokey'));
    const call = restore({ what: 'site' }).catch((error: unknown) => error);
    await reached(() => journal().includes('swapping'), call);
    await reached(() => sql('SHOW PROCESSLIST').includes('RENAME TABLE'), call);
    await killed();
    await call;
    await reached(async () => (await front()) === 200);
    holder();
    expect(files()).toEqual(before.files);
    expect(dump()).toEqual(before.tables);
    expect(await restore({ what: 'site' })).toMatchObject({ outcome: 'restored' });
  });

  it('a call that dies between the swap and the judgement is completed by the next one', async () => {
    await disturb();
    const plan = await app.call('restore-backup', { backup_id: whole.backup_id, what: 'site', dry_run: true });
    expect(plan.files_added).toBe(FEW);
    // As a process leaves it that dies right after the swap.
    const job = 'ab'.repeat(16);
    const client = guard().backups();
    await client.stage(job, []);
    await client.plan(job, 0, [['wp-content/uploads/2026/empty.txt', 'remove']]);
    await client.swap(job);
    await app.service.store.siteBackups.beginRestore(
      {
        site_id: one.site_id_or_domain,
        job,
        backup_id: String(whole.backup_id),
        selection: JSON.stringify({ what: 'files', name: 'wp-content/uploads/2026/*' }),
      },
      Date.now(),
    );
    const done = await restore({ what: 'files', name: 'wp-content/uploads/2026/*' });
    expect(done).toMatchObject({ outcome: 'restored' });
    expect(await client.restoring()).toBeNull();
    expect(await restore({ what: 'site' })).toMatchObject({ outcome: 'restored' });
    expect(files()['uploads/2026/empty.txt']).toBeDefined();
  });

  it('is made before an update, and brings the old version back', async () => {
    const slug = 'quiet/quiet.php';
    const before = Object.fromEntries(Object.entries(files()).filter(([path]) => path.startsWith('plugins/quiet/')));
    site.write(
      'packages/quiet.zip',
      zip({ [slug]: HEAD('Quiet', '2.0'), 'quiet/new.php': '<?php // of the new version\n' }),
    );
    site.write(
      'offers.json',
      JSON.stringify({ plugin: { [slug]: ['2.0', join(site.content, 'packages/quiet.zip')] }, theme: {} }),
    );
    await app.call('sync-sites', { site_ids_or_domains: [one.site_id_or_domain] });
    // The backups of this file are too old to count.
    await app.db.run('UPDATE backup SET started_at = started_at - ?', [30 * 86_400_000]);
    await app.db.run('UPDATE site_detail SET backup_before_upgrade = 1');
    const updated = await app.call('update-site-plugins', { ...one, slugs: [slug] });
    const { items } = await app.call('get-run', { run_id: updated.run_id });
    expect(items).toMatchObject([{ slug, state: 'kept', backup_id: expect.stringMatching(/^backup_/) }]);
    expect(readFileSync(join(site.content, 'plugins', slug), 'utf8')).toContain('Version: 2.0');
    const done = await restore({ what: 'plugin', name: 'quiet' }, items[0].backup_id);
    expect(done).toMatchObject({ outcome: 'restored', files_replaced: 1, files_removed: 1 });
    const after = Object.fromEntries(Object.entries(files()).filter(([path]) => path.startsWith('plugins/quiet/')));
    expect(after).toEqual(before);
  });

  /** Makes files and a table differ from the backup. @param missing files that are there no more @param extra new ones */
  async function disturb({ missing = FEW, extra = FEW } = {}): Promise<void> {
    for (let index = 0; index < missing; index++) rmSync(join(site.content, `uploads/many/${index}.txt`));
    site.write('plugins/doomed/doomed.php', HEAD('Doomed', '2.0'));
    for (let index = 0; index < extra; index++) site.write(`uploads/extra/${index}.txt`, 'x');
    sql("UPDATE wp_options SET option_value = 'later' WHERE option_name = 'blogname'");
    expect(await front()).toBe(200);
  }

  const store = () =>
    join(site.content, readdirSync(site.content).find((name) => name.startsWith('sitefleet-guard-')) ?? '');
  /** What the plugin has noted of a restore. */
  const journal = () => {
    const path = join(store(), 'backup.json');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };

  function swappedFiles(): number {
    const job = readdirSync(store()).find((name) => name.startsWith('restore-')) ?? '';
    const old = join(store(), job, 'o');
    // It may just be removed.
    return existsSync(old) ? readdirSync(old).length : 0;
  }

  async function killed(): Promise<void> {
    site.stop();
    await site.serve();
  }
});

/** Waits for a state of the site; fails when the call that leads to it has ended before. */
async function reached(there: () => boolean | Promise<boolean>, call?: Promise<unknown>): Promise<void> {
  let ended: unknown = null;
  void call?.then((answer) => {
    ended = answer;
  });
  while (!(await there())) {
    if (ended !== null)
      throw new Error(`the call has ended: ${ended instanceof Error ? ended.message : JSON.stringify(ended)}`);
    await pause(LOOK_MS);
  }
}

/** Bytes that do not compress, the same in each run. */
function bytes(length: number, seed: number): Buffer {
  const all = Buffer.alloc(length);
  for (let at = 0, state = seed; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    all[at] = state >>> 16;
  }
  return all;
}
