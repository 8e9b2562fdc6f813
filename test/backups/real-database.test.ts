/** What databases of real sites have besides tables of their own character: ties between tables, and names that look alike. */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { clientOf, closeTransport, visit } from '../guard/tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from '../guard/wordpress.js';
import type { Answer, TestApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { pause } from '../support/processes/program.js';
import { addRealSite, backupsApp } from './real-site.js';

const CHILD = 'mainwp-child/mainwp-child.php';
/** Fatal while a file beside wp-content says so. */
const DOOMED =
  "<?php\n/* Plugin Name: Doomed\nVersion: 1.0 */\nif ( file_exists( dirname( WP_CONTENT_DIR ) . '/doom' ) ) { undefined_function_of_doom(); }\n";

/** A site whose backups are made and restored. */
async function backedUpSite(host: WordPressHost, prefix = 'wp_') {
  const key = await generateKey();
  const site = await host.site('ties', { workers: 4, log: true, temporary: true, compiled: true, prefix });
  site.trust(key.public_key);
  site.write(`plugins/${CHILD}`, readFileSync(new URL('../guard/mainwp-child.php', import.meta.url)));
  site.write('plugins/doomed/doomed.php', DOOMED);
  site.activate(CHILD, 'doomed/doomed.php');
  const app = await backupsApp('ties');
  const one = await addRealSite(app, site, key.private_key);
  return {
    app,
    site,
    privateKey: key.private_key,
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
  let privateKey: string;
  let sql: (statements: string) => string;
  let backUp: () => Promise<string>;
  let restore: (backup_id: string, input?: object) => Promise<Answer>;
  const doom = () => join(site.content, '..', 'doom');
  const front = () => visit(site.url).then(({ status }) => status);
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
    ({ app, site, privateKey, sql, backUp, restore } = await backedUpSite(host));
  });
  afterAll(async () => {
    await app?.close();
    await closeTransport();
    await host.close();
  });
  beforeEach(() => {
    rmSync(doom(), { force: true });
    const own = names('%').filter((name) => /^(wp_t_|wp_shop_|wp_2_|wp_mail_|crm_|sfr_)|^WP_/.test(name));
    if (own.length > 0) sql(`SET foreign_key_checks = 0; DROP TABLE ${own.join(', ')}`);
    sql('DROP DATABASE IF EXISTS beside');
  });

  describe('a foreign key of a table that is not restored', () => {
    const PARENT =
      'CREATE TABLE wp_t_permission (id BIGINT UNSIGNED PRIMARY KEY, lang VARCHAR(9) NOT NULL, n INT NOT NULL, KEY both_parts (lang, n)) ENGINE=InnoDB; INSERT INTO wp_t_permission VALUES (1, "de", 1), (2, "en", 2)';
    const CHILDREN = `CREATE TABLE wp_t_log (id INT PRIMARY KEY, permission BIGINT UNSIGNED NOT NULL, lang VARCHAR(9), n INT, KEY k (permission), KEY l (lang, n),
        CONSTRAINT fk_permission FOREIGN KEY (permission) REFERENCES wp_t_permission (id) ON DELETE CASCADE ON UPDATE CASCADE,
        CONSTRAINT fk_both FOREIGN KEY (lang, n) REFERENCES wp_t_permission (lang, n) ON DELETE SET NULL) ENGINE=InnoDB;
      CREATE TABLE crm_contacts (id INT PRIMARY KEY, user BIGINT UNSIGNED NOT NULL, KEY k (user), FOREIGN KEY (user) REFERENCES wp_users (ID)) ENGINE=InnoDB;
      CREATE DATABASE beside;
      CREATE TABLE beside.notes (id INT PRIMARY KEY, permission BIGINT UNSIGNED, KEY k (permission), CONSTRAINT fk_note FOREIGN KEY (permission) REFERENCES ties.wp_t_permission (id) ON DELETE NO ACTION) ENGINE=InnoDB;
      INSERT INTO wp_t_log VALUES (1, 1, 'de', 1); INSERT INTO crm_contacts VALUES (1, 1); INSERT INTO beside.notes VALUES (1, 2)`;
    const made = () => ['wp_t_log', 'crm_contacts', 'beside.notes'].map((name) => sql(`SHOW CREATE TABLE ${name}`));

    it('refers to the restored table, by its name and rules, and rows that have lost theirs do not stop it', async () => {
      sql(PARENT);
      const id = await backUp();
      sql(CHILDREN);
      sql("INSERT INTO wp_t_permission VALUES (3, 'fr', 3); INSERT INTO wp_t_log VALUES (2, 3, NULL, NULL)");
      const before = made();
      const done = await restore(id);
      expect(done).toMatchObject({ outcome: 'restored' });
      const said = done.warnings.find((text: string) => text.startsWith('Tables that were not restored'));
      for (const name of ['wp_t_log', 'crm_contacts', 'notes']) expect(said).toContain(name);
      expect(made()).toEqual(before);
      sql(
        "INSERT INTO wp_t_log VALUES (3, 2, 'en', 2); INSERT INTO crm_contacts VALUES (2, 1); INSERT INTO beside.notes VALUES (2, 1)",
      );
      expect(() => sql('INSERT INTO wp_t_log VALUES (4, 3, NULL, NULL)')).toThrow('fk_permission');
      sql('DELETE FROM beside.notes; DELETE FROM wp_t_permission WHERE id = 2');
      expect(sql('SELECT id FROM wp_t_log').split('\n')).toEqual(['1', '2', '']);
      expect(names('sfr%')).toEqual([]);
      // Nothing of it is said where there is no such table.
      sql('SET foreign_key_checks = 0; DROP TABLE wp_t_log, crm_contacts, beside.notes');
      expect((await restore(id)).warnings.join()).not.toContain('not restored');
    });

    it('refers to the table from before when the restore is taken back', async () => {
      sql(PARENT);
      const id = await backUp();
      sql(CHILDREN);
      const before = made();
      writeFileSync(doom(), '');
      site.write('plugins/doomed/doomed.php', DOOMED.replace('undefined_function_of_doom();', ''));
      expect(await restore(id)).toMatchObject({ outcome: 'taken_back' });
      rmSync(doom());
      site.write('plugins/doomed/doomed.php', DOOMED);
      expect(made()).toEqual(before);
      sql("INSERT INTO wp_t_log VALUES (3, 2, 'en', 2); INSERT INTO crm_contacts VALUES (2, 1)");
      expect(names('sfr%')).toEqual([]);
    });

    it('is mended by the next request when the process dies after the swap', async () => {
      sql(PARENT);
      const id = await backUp();
      sql(CHILDREN);
      const before = made();
      const holders = [host.hold(`USE ${site.database}; LOCK TABLES wp_t_permission READ;`)];
      try {
        await reached(() => sql('SHOW OPEN TABLES WHERE In_use > 0').includes('wp_t_permission'));
        const call = restore(id, { what: 'table', name: 'wp_t_permission' }).catch((error: unknown) => error);
        await reached(() => sql('SHOW PROCESSLIST').includes('RENAME TABLE'), call);
        holders.push(host.hold(`USE ${site.database}; LOCK TABLES wp_t_log READ;`));
        await reached(() => sql('SHOW OPEN TABLES WHERE In_use > 0').includes('wp_t_log'), call);
        holders[0]?.();
        await reached(() => sql('SHOW PROCESSLIST').includes('DROP FOREIGN KEY'), call);
        site.stop();
        await site.serve();
        holders[1]?.();
        await call;
      } finally {
        for (const release of holders) release();
      }
      await reached(async () => (await front()) === 200);
      expect(made()).toEqual(before);
      expect(journal()).toContain('swapped');
      expect(await restore(id, { what: 'table', name: 'wp_t_permission' })).toMatchObject({ outcome: 'restored' });
      expect(made()).toEqual(before);
      expect(names('sfr%')).toEqual([]);
    });

    it('stops the restore before anything is changed where the restored table does not fit it', async () => {
      sql('CREATE TABLE wp_t_permission (id INT PRIMARY KEY); INSERT INTO wp_t_permission VALUES (1)');
      const id = await backUp();
      sql('DROP TABLE wp_t_permission');
      sql(`${PARENT}; ${CHILDREN}`);
      const before = [...made(), sql('SHOW CREATE TABLE wp_t_permission')];
      await expect(restore(id)).rejects.toThrow(/Table (notes|wp_t_log), which is not restored/);
      expect([...made(), sql('SHOW CREATE TABLE wp_t_permission')]).toEqual(before);
      expect(names('sfr%')).toEqual([]);
      expect(journal()).not.toContain('staging');
      expect(await front()).toBe(200);
      sql('SET foreign_key_checks = 0; DROP TABLE wp_t_log, beside.notes');
      expect(await restore(id)).toMatchObject({ outcome: 'restored' });
    });
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

  it('triggers of a replaced table are kept, and those that do not fit any more are named', async () => {
    sql(
      'CREATE TABLE wp_t_notes (id INT PRIMARY KEY) ENGINE=InnoDB; CREATE TABLE wp_t_count (n VARCHAR(9)) CHARSET utf8mb4',
    );
    const id = await backUp();
    sql(`ALTER TABLE wp_t_notes ADD COLUMN more INT;
      CREATE DEFINER = root@localhost TRIGGER wp_t_second AFTER INSERT ON wp_t_notes FOR EACH ROW INSERT INTO wp_t_count VALUES ('zählt');
      CREATE DEFINER = root@localhost TRIGGER wp_t_first AFTER INSERT ON wp_t_notes FOR EACH ROW PRECEDES wp_t_second INSERT INTO wp_t_count VALUES ('zuerst');
      CREATE DEFINER = root@localhost TRIGGER wp_t_more BEFORE INSERT ON wp_t_notes FOR EACH ROW SET NEW.more = 1;`);
    const shown = () =>
      sql('SHOW TRIGGERS')
        .split('\n')
        .map((line) => line.split('\t').slice(0, 5));
    const before = shown();
    // Taken back, they are where they were.
    writeFileSync(doom(), '');
    site.write('plugins/doomed/doomed.php', DOOMED.replace('undefined_function_of_doom();', ''));
    expect(await restore(id)).toMatchObject({ outcome: 'taken_back' });
    rmSync(doom());
    site.write('plugins/doomed/doomed.php', DOOMED);
    expect(shown()).toEqual(before);
    const done = await restore(id);
    expect(done).toMatchObject({ outcome: 'restored' });
    expect(done.warnings.find((text: string) => text.includes('kept'))).toMatch(/: wp_t_first; wp_t_second\.$/);
    expect(done.warnings.find((text: string) => text.includes('refused'))).toMatch(/: wp_t_more\.$/);
    expect(shown()).toEqual(before.filter(([name]) => name !== 'wp_t_more'));
    sql('INSERT INTO wp_t_notes VALUES (1)');
    expect(sql('SELECT n FROM wp_t_count')).toBe('zuerst\nzählt\n');
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
      'Earlier versions of rows are not in the backup, and are lost: wp_t_periods; wp_t_versions.',
    );
    expect(look()).toEqual(before);
    sql('DROP SEQUENCE wp_t_sequence');
  });

  it('dates and values that are none come back as they are, also in a key', async () => {
    sql(`SET sql_mode = 'ALLOW_INVALID_DATES';
      CREATE TABLE wp_t_dates (day DATE NOT NULL, n INT NOT NULL DEFAULT 0, at DATETIME NOT NULL DEFAULT '2021-04-31 10:00:00', size ENUM('s', 'm') NOT NULL DEFAULT 's', PRIMARY KEY (day, n)) ENGINE=InnoDB;
      INSERT INTO wp_t_dates (day) VALUES ('2020-02-30'), ('2020-02-31'), ('2021-06-31'), ('0000-00-00'), ('2020-00-07'), ('2020-02-28');
      INSERT INTO wp_t_dates (day, n, at) SELECT '2020-02-30', seq, '2020-02-30 01:02:03' FROM seq_1_to_2100;
      UPDATE IGNORE wp_t_dates SET size = 'none' WHERE n = 5`);
    const look = () =>
      sql("SET sql_mode = 'ALLOW_INVALID_DATES'; SHOW CREATE TABLE wp_t_dates; SELECT * FROM wp_t_dates");
    const before = look();
    expect(before.match(/2020-02-30 01:02:03\t\n/g)).toEqual(['2020-02-30 01:02:03\t\n']);
    expect(before.split('\n').filter((line) => line.includes('\t2020-02-30 '))).toHaveLength(2100);
    const id = await backUp();
    sql('DELETE FROM wp_t_dates');
    expect(await restore(id)).toMatchObject({ outcome: 'restored' });
    expect(look()).toBe(before);
  });

  it('a table whose rows the database refuses is named', async () => {
    sql(`CREATE TABLE wp_t_strict (n INT PRIMARY KEY, CHECK (n > 0)) ENGINE=InnoDB;
      SET check_constraint_checks = 0; INSERT INTO wp_t_strict VALUES (-1)`);
    const id = await backUp();
    await expect(restore(id)).rejects.toThrow(/refused table wp_t_strict: CONSTRAINT/);
  });

  it('of a table without a key each row comes once, though others are added while it is read', async () => {
    sql(`CREATE TABLE wp_t_loose (n INT NULL, text TEXT, KEY n (n)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
      INSERT INTO wp_t_loose SELECT seq % 700, CONCAT(seq % 900, ' ', REPEAT(SHA2(seq % 900, 512), 8)) FROM seq_1_to_6000 ORDER BY MD5(seq)`);
    const client = clientOf(site, privateKey).backups();
    const read: string[] = [];
    let requests = 0;
    for (let after: string[] | null = null, ended = false; !ended; requests += 1) {
      for (const { lines, to, end } of await client.rows([{ table: 'wp_t_loose', after, to: null }])) {
        read.push(...String(lines).split('\n').filter(Boolean));
        [after, ended] = [to, end];
      }
      // Before all others in any order by contents.
      if (!ended) sql(`INSERT INTO wp_t_loose VALUES (NULL, 'added ${requests}')`);
    }
    expect(requests).toBeGreaterThan(2);
    const there = sql("SELECT CONCAT(IFNULL(n, 'null'), ',', SUBSTRING_INDEX(text, ' ', 2)) FROM wp_t_loose").split(
      '\n',
    );
    const came = read.map((line) => {
      const [n, text] = JSON.parse(line) as [string | null, string];
      return `${n},${text}`;
    });
    expect(came.sort()).toEqual(there.filter(Boolean).sort());
  });

  it('none of it leaves a message of PHP', () => {
    expect(site.complaints('sitefleet-backup.php')).toEqual([]);
  });

  /** What the plugin has noted of a restore. */
  function journal(): string {
    const store = readdirSync(site.content).find((name) => name.startsWith('sitefleet-guard-')) ?? '';
    const path = join(site.content, store, 'backup.json');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }
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
    sql(
      'CREATE TABLE Wp_Child (id INT PRIMARY KEY, user BIGINT UNSIGNED NOT NULL, CONSTRAINT fk_user FOREIGN KEY (user) REFERENCES Wp_users (ID)) ENGINE=InnoDB',
    );
    const id = await backUp();
    const { database } = await app.call('get-backup', { backup_id: id });
    const names = database.map(({ name }: Answer) => name);
    expect(names).toEqual(expect.arrayContaining(['wp_options', 'wp_users', 'wp_child']));
    sql("UPDATE Wp_options SET option_value = 'later' WHERE option_name = 'blogname'");
    expect(await restore(id)).toMatchObject({ outcome: 'restored' });
    expect(sql("SELECT option_value FROM wp_options WHERE option_name = 'blogname'")).toBe('Test\n');
    expect(await restore(id, { what: 'table', name: 'wp_users' })).toMatchObject({ outcome: 'restored' });
    expect(sql('SHOW CREATE TABLE wp_child')).toContain('REFERENCES `wp_users` (`ID`)');
  });
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
    await pause(2);
  }
}
