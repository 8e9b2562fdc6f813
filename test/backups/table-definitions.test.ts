/** Which definitions of tables are loaded elsewhere: what is refused, and what servers print of real tables. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DUMP_HEAD, dumpTable, quoted } from '../../src/domain/backups/sql-dump.js';
import { isDumpable } from '../../src/domain/backups/table-definition.js';
import { WORDPRESS, WordPressHost } from '../guard/wordpress.js';
import { needs } from '../support/needs.js';

/** As plugins make them, and of every kind that WordPress sites have been seen with. */
const TABLES = [
  "CREATE TABLE wp_options (option_id bigint(20) unsigned NOT NULL auto_increment, option_name varchar(191) NOT NULL default '', option_value longtext NOT NULL, autoload varchar(20) NOT NULL default 'yes', PRIMARY KEY (option_id), UNIQUE KEY option_name (option_name), KEY autoload (autoload)) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci",
  'CREATE TABLE wp_postmeta (meta_id bigint(20) unsigned NOT NULL auto_increment, post_id bigint(20) unsigned NOT NULL default 0, meta_key varchar(255) default NULL, meta_value longtext, PRIMARY KEY (meta_id), KEY post_id (post_id), KEY meta_key (meta_key(191)))',
  // WooCommerce
  'CREATE TABLE wp_wc_orders (id bigint(20) unsigned, status varchar(20) null, total_amount decimal(26,8) null, date_created_gmt datetime null, billing_email varchar(320) null, customer_note text null, PRIMARY KEY (id), KEY status (status), KEY billing_email (billing_email(191)), KEY type_status_date (status, date_created_gmt))',
  "CREATE TABLE wp_wc_product_meta_lookup (product_id bigint(20) NOT NULL, sku varchar(100) NULL default '', min_price decimal(19,4) NULL, onsale tinyint(1) NULL default 0, stock_quantity double NULL, rating_count bigint(20) NULL default 0, PRIMARY KEY (product_id), KEY min_max_price (min_price, sku(50)))",
  'CREATE TABLE wp_wc_download_log (download_log_id bigint unsigned NOT NULL AUTO_INCREMENT, permission_id bigint unsigned NOT NULL, PRIMARY KEY (download_log_id), CONSTRAINT fk_permission FOREIGN KEY (permission_id) REFERENCES wp_wc_permissions (permission_id) ON DELETE CASCADE)',
  'CREATE TABLE wp_actionscheduler_actions (action_id bigint(20) unsigned NOT NULL auto_increment, hook varchar(191) NOT NULL, scheduled_date_gmt datetime NULL default NULL, extended_args varchar(8000) DEFAULT NULL, PRIMARY KEY (action_id), KEY hook_status (hook(163), scheduled_date_gmt))',
  // BuddyPress, Yoast SEO, Wordfence
  'CREATE TABLE wp_bp_activity (id bigint(20) NOT NULL AUTO_INCREMENT PRIMARY KEY, content longtext NOT NULL, hide_sitewide tinyint(1) DEFAULT 0, mptt_left int(11) NOT NULL DEFAULT 0, KEY mptt (mptt_left), FULLTEXT KEY words (content)) ENGINE=MyISAM CHARSET=utf8',
  'CREATE TABLE wp_yoast_indexable (id int(11) UNSIGNED NOT NULL AUTO_INCREMENT, permalink longtext, permalink_hash varchar(40), is_public tinyint(1) DEFAULT NULL, created_at datetime DEFAULT NULL, updated_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, blog_id bigint(20) NOT NULL DEFAULT 1, version int DEFAULT 1, PRIMARY KEY (id), KEY hash (permalink_hash(20), blog_id DESC))',
  "CREATE TABLE wp_wfhits (id int unsigned NOT NULL auto_increment, attackLogTime double(17,6) unsigned NOT NULL, IP binary(16) DEFAULT NULL, jsRun tinyint DEFAULT '0', URL text, action enum('a','b;c','d''e') NOT NULL DEFAULT 'a', PRIMARY KEY (id), KEY k1 (id), KEY k2 (IP, id) USING BTREE) ENGINE=InnoDB",
  "CREATE TABLE wp_wfls_2fa_secrets (id int(11) unsigned NOT NULL AUTO_INCREMENT, secret tinyblob NOT NULL, recovery blob NOT NULL, ctime int(10) unsigned NOT NULL, mode set('a','b') DEFAULT 'a', PRIMARY KEY (id)) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8",
  // Partitions
  'CREATE TABLE wp_by_range (id int NOT NULL, at date NOT NULL) ENGINE=InnoDB PARTITION BY RANGE (to_days(at)) (PARTITION p0 VALUES LESS THAN (738000), PARTITION p1 VALUES LESS THAN MAXVALUE)',
  "CREATE TABLE wp_by_columns (id int NOT NULL, at date NOT NULL) PARTITION BY RANGE COLUMNS (at) (PARTITION p0 VALUES LESS THAN ('2024-01-01') COMMENT 'x', PARTITION p1 VALUES LESS THAN (MAXVALUE))",
  'CREATE TABLE wp_by_list (id int NOT NULL) PARTITION BY LIST (id) (PARTITION p0 VALUES IN (1,2,NULL), PARTITION p1 DEFAULT)',
  'CREATE TABLE wp_by_hash (id int NOT NULL, at datetime) PARTITION BY LINEAR HASH (year(at)) PARTITIONS 4',
  'CREATE TABLE wp_by_key (id int NOT NULL PRIMARY KEY) PARTITION BY KEY (id) PARTITIONS 4',
  'CREATE TABLE wp_by_both (id int NOT NULL, at timestamp NOT NULL) PARTITION BY RANGE (unix_timestamp(at)) SUBPARTITION BY HASH (id) SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (1700000000), PARTITION p1 VALUES LESS THAN (MAXVALUE))',
  'CREATE TABLE wp_by_named (id int NOT NULL, at date NOT NULL) PARTITION BY RANGE (to_days(at)) SUBPARTITION BY HASH (id) (PARTITION p0 VALUES LESS THAN (738000) (SUBPARTITION s0, SUBPARTITION s1))',
  // What the server computes
  "CREATE TABLE wp_computed (id int PRIMARY KEY, doc json, name varchar(50) GENERATED ALWAYS AS (json_unquote(json_extract(doc, '$.name'))) STORED, both_names varchar(200) AS (concat_ws(' ', name, lower(name), if(id > 1, 'a', trim(both 'x' from name)))) VIRTUAL, total decimal(10,2) AS (round(id * 1.19, 2)) VIRTUAL, day date AS (cast(from_unixtime(0) + interval 1 day as date)) VIRTUAL, kind varchar(9) AS (case when id between 1 and 2 then substring_index(name, '-', 1) else nullif(name, '') end) VIRTUAL, KEY name (name))",
  "CREATE TABLE wp_defaults (id uuid NOT NULL DEFAULT uuid() PRIMARY KEY, made datetime(6) DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6), flag bit(3) DEFAULT b'101', price decimal(10,3) DEFAULT -1.500, until date DEFAULT (curdate() + interval 7 day), hash binary(16) DEFAULT unhex(md5(rand())), ip inet6, place point DEFAULT st_geomfromtext('POINT(1 1)'))",
  "CREATE TABLE wp_checked (a int CHECK (a > 0 and a in (1,2,3)), b varchar(20), CONSTRAINT c CHECK (b like '%@%' or b regexp '^[a-z]+$' or char_length(b) = 0))",
  // Options
  "CREATE TABLE wp_all_options (id int PRIMARY KEY) ENGINE=MyISAM AUTO_INCREMENT=5 MIN_ROWS=1 MAX_ROWS=1000 AVG_ROW_LENGTH=50 CHECKSUM=1 DELAY_KEY_WRITE=1 PACK_KEYS=1 ROW_FORMAT=FIXED COMMENT='VALUES (1); -- x' DEFAULT CHARSET=latin1 COLLATE=latin1_german1_ci",
  'CREATE TABLE wp_statistics (id int PRIMARY KEY) ENGINE=InnoDB STATS_PERSISTENT=1 STATS_AUTO_RECALC=0 STATS_SAMPLE_PAGES=30 PAGE_COMPRESSED=1 PAGE_COMPRESSION_LEVEL=9',
  'CREATE TABLE wp_aria (id int PRIMARY KEY) ENGINE=Aria PAGE_CHECKSUM=1 TRANSACTIONAL=1',
  'CREATE TABLE wp_memory (id int PRIMARY KEY, KEY h (id) USING HASH) ENGINE=MEMORY',
  'CREATE TABLE wp_hidden (id int PRIMARY KEY, secret int INVISIBLE DEFAULT 5, packed longtext COMPRESSED, KEY k (secret) IGNORED)',
  'CREATE TABLE wp_versions (id int PRIMARY KEY) WITH SYSTEM VERSIONING',
  'CREATE TABLE wp_periods (id int PRIMARY KEY, s timestamp(6) GENERATED ALWAYS AS ROW START, e timestamp(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING',
  'CREATE TABLE wp_places (id int PRIMARY KEY, place point NOT NULL, area geometry, SPATIAL KEY s (place)) ENGINE=Aria',
  // Names and values that are no ASCII, in a character set of its own.
  "CREATE TABLE wp_latin (`größe` int PRIMARY KEY, e enum('grün','blau') NOT NULL DEFAULT 'grün', s set('ä','b'), t varchar(20) DEFAULT 'größe') DEFAULT CHARSET=latin1 COMMENT='für'",
  "CREATE TABLE wp_cyrillic (e enum('да','нет') NOT NULL DEFAULT 'да') DEFAULT CHARSET=cp1251",
  "CREATE TABLE `wp_odd ``names``` (`a.b` int, `values (1)` int, `select` varchar(20) COMMENT 'load_file(''/x'') @@datadir', `ü` int, KEY `k (x)` (`select`(5), `ü`))",
];

describe('the definition of a table', () => {
  it.each([
    'CREATE TABLE `t` (`a` int); DROP DATABASE x',
    'CREATE TABLE `t` (`a` int) \\! touch /tmp/x',
    'CREATE TABLE `t` (`a` int) -- x',
    'CREATE TABLE `t` (`a` int) # x',
    'CREATE TABLE `t` (`a` int) /* x',
    'DROP DATABASE x',
    'CREATE TABLE `t` AS SELECT 1; system id',
    // Of the literal only its end was seen, once the end of a comment in it had been taken away.
    "CREATE TABLE `t` (\n  `a` int COMMENT 'a\\ */'\n);\n\\! touch /tmp/x\n-- '\n)",
    // A server of another version sees no literal in a comment that it leaves out, only the end.
    "CREATE TABLE `t` (`a` int)\n/*!999999 COMMENT '*/; DROP DATABASE x; -- ' */",
    'CREATE TABLE `t` (`a` int) /*!50100 PARTITION BY HASH (`a`)',
    'CREATE TABLE `t` (`a` int) */',
    'CREATE TABLE `t` (`a` int) SELECT `b` AS `a` FROM `mysql`.`user`',
    "CREATE TABLE `t` (`a` int) ENGINE=MyISAM DATA DIRECTORY='/var/www'",
    "CREATE TABLE `t` (`a` int) ENGINE=FEDERATED CONNECTION='mysql://10.0.0.1/x/y'",
    "CREATE TABLE `t` (`a` int) ENGINE=CONNECT TABLE_TYPE=DOS FILE_NAME='/var/www/x.php'",
    "CREATE TABLE `t` (`a` int) ENGINE 'CONNECT'",
    // MySQL 8 has TABLE as a statement.
    'CREATE TABLE `t` (`a` int) TABLE `mysql`.`user`',
    'CREATE TABLE `t` (`a` int) /*!80019 TABLE mysql.user */',
    'CREATE TABLE `t` (LIKE `mysql`.`user`)',
    // A word begins where a literal or a number ends.
    "CREATE TABLE `t` (`a` int) COMMENT='a'SELECT * FROM mysql.user",
    'CREATE TABLE `t` (`a` int) AUTO_INCREMENT=1e0SELECT * FROM mysql.user',
    "CREATE TABLE `t` (`a` int) COMMENT='a'ENGINE=CONNECT",
    'CREATE TABLE `t` (`a` int) AUTO_INCREMENT=1.0ENGINE=CONNECT',
    'CREATE TABLE x (`a` int)',
    'CREATE TABLE `t` (`a` int,\ndelimiter //\n`b` int)',
    // Another database is no place of this table.
    'CREATE TABLE `t` (`a` int, CONSTRAINT `c` FOREIGN KEY (`a`) REFERENCES `other`.`t` (`a`))',
    'CREATE TABLE `t` (`a` int DEFAULT nextval(`other`.`s`))',
    'CREATE TABLE `t` (`a` int DEFAULT setval(other . s, 5))',
    'CREATE TABLE `t` (`a` int DEFAULT nextval(db1.seq))',
    'CREATE TABLE `t` (`a` int DEFAULT nextval(é.1))',
    'CREATE TABLE `t` (`a` int, FOREIGN KEY (`a`) REFERENCES wp_2.users (`a`))',
    // A query behind the definition, which begins with no word of its own in some servers.
    "CREATE TABLE `t` (`a` text) ENGINE=InnoDB VALUES ('0'),(load_file('/etc/passwd'))",
    "CREATE TABLE `t` (`a` text) ENGINE=InnoDB VALUES ROW('0')",
    'CREATE TABLE `t` (`a` text) AS (VALUES (1))',
    'CREATE TABLE `t` (`a` text) IGNORE (VALUES (1))',
    'CREATE TABLE `t` (`a` text) REPLACE VALUES (1)',
    'CREATE TABLE `t` (`a` text) (VALUES (1))',
    'CREATE TABLE `t` (`a` text) WITH x AS (VALUES (1)) VALUES (2)',
    'CREATE TABLE `t` (`a` text) ENGINE=InnoDB /*!50100 VALUES (1) */',
    'CREATE TABLE `t` (`a` text) ENGINE=InnoDB /*!50100 COMMENT= */ VALUES (1)',
    'CREATE TABLE `t` (`a` int) PARTITION BY HASH (`a`) PARTITIONS 4 VALUES (1)',
    'CREATE TABLE `t` (`a` int) PARTITION BY HASH (`a`) AS (VALUES (1))',
    'CREATE TABLE `t` (`a` int) PARTITION BY LIST (`a`) (PARTITION p0 VALUES IN (1) ENGINE=CONNECT)',
    'CREATE TABLE `t` (`a` text) /*M!100000 VALUES (1) */',
    'CREATE TABLE `t` (VALUES (1))',
    'CREATE TABLE `t` ((VALUES (1)))',
    'CREATE TABLE `t`/*!99999 (LIKE `u`) */ (`a` int)',
    // The definition ends elsewhere where a comment is left out.
    'CREATE TABLE `t` (`a` int /*!99999 ( */ ) VALUES (1) /*!99999 ) */ )',
    'CREATE TABLE `t` (`a` int) ENGINE=InnoDB UNION=(`u`)',
    'CREATE TABLE `t` (`a` int) ENGINE=MERGE INSERT_METHOD=LAST',
    'CREATE TABLE `t` (`a` int) ENGINE=S3',
    "CREATE TABLE `t` (`a` int) FILE_NAME='/etc/passwd'",
    'CREATE TABLE `t` (`a` int) ENGINE\u00a0=InnoDB',
    // Functions and variables of the machine, also by a name in quotes, or where only some servers see the call.
    "CREATE TABLE `t` (`a` int, `b` longtext DEFAULT (load_file('/etc/passwd')))",
    "CREATE TABLE `t` (`a` int, `b` longtext DEFAULT (`load_file`('/etc/passwd')))",
    "CREATE TABLE `t` (`a` int, `b` longtext DEFAULT (concat('a'load_file('/etc/passwd'))))",
    "CREATE TABLE `t` (`a` int, `b` longtext GENERATED ALWAYS AS (LOAD_FILE ('/x')) VIRTUAL)",
    "CREATE TABLE `t` (`a` int, CHECK (load_file /*!99999 + concat */ ('/x') is null))",
    'CREATE TABLE `t` (`a` int, `b` int DEFAULT /*!99999 KEY */ `sleep`(3))',
    'CREATE TABLE `t` (`a` int, KEY `x` ((`sleep`(3))))',
    'CREATE TABLE `t` (`a` int, `b` int DEFAULT (sleep(3)))',
    'CREATE TABLE `t` (`a` int CHECK (benchmark(30000000,md5(1)) = 0))',
    'CREATE TABLE `t` (`a` int, `b` text DEFAULT (@@datadir))',
    'CREATE TABLE `t` (`a` int, `b` text DEFAULT (@a))',
    'CREATE TABLE `t` (`a` int, `b` text DEFAULT (CURRENT_USER))',
    "CREATE TABLE `t` (`a` int, `b` int DEFAULT (sys_exec('id')))",
    'CREATE TABLE `t` (`a` int, `b` int DEFAULT (é$concat(1)))',
    'CREATE TABLE `t` (`a` int) PARTITION BY RANGE (sleep(3)) (PARTITION p0 VALUES LESS THAN (1))',
    'CREATE TABLE `t` (`a` int) PARTITION BY RANGE (`a`) (PARTITION p0 VALUES LESS THAN (length(@@datadir)))',
  ])('is refused where it would be more than one statement, or reach out of its database: %s', (create) => {
    expect(isDumpable({ name: 't', create })).toBe(false);
  });

  it.each([
    "CREATE TABLE `t` (\n  `a` varchar(9) DEFAULT ';' COMMENT 'it''s \\\\ -- \\'x\\' #'\n) ENGINE=InnoDB COMMENT='a;b'",
    "CREATE TABLE `t` (`a` int) COMMENT='\\'; DROP DATABASE x; -- '",
    'CREATE TABLE `t;` (\n  `id` int\n) ENGINE=InnoDB\n/*!50100 PARTITION BY RANGE (`id`)\n(PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB) */',
    "CREATE TABLE `t` (\n  `a` int COMMENT 'a */ /*!50100 b'\n) ENGINE=InnoDB /*!80016 DEFAULT ENCRYPTION='N' */",
    'CREATE TABLE `t` (`a` decimal(9,2) DEFAULT 1.50, CONSTRAINT `c` FOREIGN KEY (`a`) REFERENCES `u` (`a`))',
    "CREATE TABLE `t` (`select` int, CHECK (`select` like _utf8mb4'a%')) /*!50100 TABLESPACE `innodb_system` */ ENGINE=InnoDB",
    // As MySQL 5.7 and 8 print them.
    "CREATE TABLE `wp_posts` (\n  `ID` bigint unsigned NOT NULL AUTO_INCREMENT,\n  `post_date` datetime NOT NULL DEFAULT '0000-00-00 00:00:00',\n  `post_title` text CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci NOT NULL,\n  PRIMARY KEY (`ID`),\n  KEY `post_name` (`post_name`(191)),\n  KEY `type_status_date` (`post_type`,`post_status`,`post_date`,`ID`)\n) ENGINE=InnoDB AUTO_INCREMENT=4711 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci",
    "CREATE TABLE `t` (\n  `my_row_id` bigint unsigned NOT NULL AUTO_INCREMENT /*!80023 INVISIBLE */,\n  `doc` json DEFAULT NULL,\n  `name` varchar(50) GENERATED ALWAYS AS (json_unquote(json_extract(`doc`,_utf8mb4'$.name'))) STORED,\n  `id` binary(16) NOT NULL DEFAULT (uuid_to_bin(uuid())),\n  `at` timestamp(6) NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),\n  `place` point NOT NULL /*!80003 SRID 4326 */,\n  `flag` bit(1) DEFAULT b'0',\n  PRIMARY KEY (`my_row_id`),\n  UNIQUE KEY `n` (`name`(20) DESC,`flag`),\n  KEY `f` ((lower(`name`))),\n  FULLTEXT KEY `ft` (`name`) /*!50100 WITH PARSER `ngram` */ ,\n  KEY `h` (`at`) /*!80000 INVISIBLE */,\n  SPATIAL KEY `s` (`place`),\n  CONSTRAINT `t_chk_1` CHECK ((`flag` in (0,1))) /*!80016 NOT ENFORCED */\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8 STATS_PERSISTENT=1 STATS_AUTO_RECALC=DEFAULT COMMENT='x' /*!80016 ENCRYPTION='Y' */",
    'CREATE TABLE `t` (\n  `a` int NOT NULL /*!50606 STORAGE DISK */ /*!50606 COLUMN_FORMAT FIXED */,\n  `at` datetime NOT NULL\n) /*!50100 TABLESPACE `x` STORAGE DISK */ ENGINE=ndbcluster MIN_ROWS=1 MAX_ROWS=100 AVG_ROW_LENGTH=50 CHECKSUM=1 DELAY_KEY_WRITE=1 PACK_KEYS=0 DEFAULT CHARSET=latin1\n/*!50100 PARTITION BY RANGE (to_days(`at`))\nSUBPARTITION BY HASH (`a`)\nSUBPARTITIONS 2\n(PARTITION p0 VALUES LESS THAN (738000) ENGINE = InnoDB,\n PARTITION p1 VALUES LESS THAN MAXVALUE ENGINE = InnoDB) */',
    "CREATE TABLE `t` (\n  `a` int NOT NULL\n) ENGINE=InnoDB\n/*!50500 PARTITION BY LIST  COLUMNS(`a`)\n(PARTITION p0 VALUES IN (1,2) COMMENT = 'x' ENGINE = InnoDB) */",
    'CREATE TABLE `t` (\n  `a` int NOT NULL\n) ENGINE=InnoDB\n/*!50100 PARTITION BY LINEAR KEY (`a`)\nPARTITIONS 4 */',
    "CREATE TABLE `t` (\n  `a` double NOT NULL DEFAULT 1.5e10,\n  `b` varchar(9) GENERATED ALWAYS AS (lpad(`a`,9,'0')) STORED,\n  `c` json GENERATED ALWAYS AS (json_set(`d`,'$.a',1)) VIRTUAL\n) ENGINE=InnoDB AUTOEXTEND_SIZE=4194304",
  ])('is taken otherwise: %s', (create) => {
    expect(isDumpable({ name: 't', create })).toBe(true);
  });

  it('is refused under a name that no database accepts', () => {
    expect(isDumpable({ name: 'a\0b', create: 'CREATE TABLE `t` (`a` int)' })).toBe(false);
  });
});

describe('a real server', needs(...WORDPRESS), () => {
  const host = new WordPressHost();

  beforeAll(async () => {
    await host.start({ files: 'code' });
    host.query('CREATE DATABASE site CHARACTER SET utf8mb4; CREATE DATABASE elsewhere CHARACTER SET utf8mb4');
  });
  afterAll(() => host.close());

  it('prints tables that are taken, and come back as they were', async () => {
    host.query(`USE site; SET foreign_key_checks = 0; ${TABLES.join(';')}`);
    const names = host
      .query("SELECT table_name FROM information_schema.tables WHERE table_schema = 'site'")
      .trim()
      .split('\n');
    expect(names.length).toBe(TABLES.length);
    const printed = (database: string, name: string) =>
      host
        .query(`SHOW CREATE TABLE ${database}.${quoted(name)}`)
        .replace(/^[^\t]*\t/, '')
        .replace(/\n$/, '')
        .replace(/\\n/g, '\n')
        .replace(/\\\\/g, '\\');
    const refused = names.filter((name) => !isDumpable({ name, create: printed('site', name) }));
    expect(refused).toEqual([]);
    const file = join(host.folder, 'all.sql');
    async function* none(): AsyncGenerator<Buffer> {}
    const parts: Buffer[] = [Buffer.from(DUMP_HEAD)];
    for (const name of names) {
      const table = { name, engine: '', create: printed('site', name), consistency: 'instant' as const, slices: [] };
      for await (const part of dumpTable(table, none())) parts.push(part);
    }
    writeFileSync(file, Buffer.concat(parts));
    host.load('elsewhere', file);
    for (const name of names) expect(printed('elsewhere', name)).toBe(printed('site', name));
  });

  it('reads a file where a query stands behind the definition, which is why it is refused', () => {
    const secret = join(host.folder, 'secret.txt');
    writeFileSync(secret, 'secret of the machine', { mode: 0o644 });
    const tail = `ENGINE=InnoDB VALUES ('0','x'),('1',load_file('${secret}'))`;
    const create = `CREATE TABLE \`evil\` (\n  \`0\` text,\n  \`x\` text\n) ${tail}`;
    expect(host.query(`USE elsewhere; ${create}; SELECT x FROM evil`)).toContain('secret of the machine');
    expect(isDumpable({ name: 'evil', create })).toBe(false);
  });
});
