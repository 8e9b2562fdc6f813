/** Trial restores in WordPress Playground, where PHP and MariaDB are missing: what they prove, and what they leave open. */

import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WORDPRESS, type WordPress } from '../guard/wordpress.js';
import { tempFolder } from '../support/cleanup.js';
import type { TestApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { playground } from '../support/playground.js';
import { drilledSite } from './drilled-site.js';

/** Shows what it reads from a table, what only the live site has, and in the copy whether it sees this machine. */
const THEME = `<!doctype html><html><title><?php
global $wpdb;
foreach ( $wpdb->get_results( 'SELECT name, HEX( raw ) AS raw, at FROM wp_shop ORDER BY id' ) as $row ) echo "$row->name $row->raw $row->at ";
if ( is_file( WP_CONTENT_DIR . '/cache/sale' ) ) echo 'on sale';
if ( 'wasm' === PHP_SAPI && is_readable( '/etc/passwd' ) ) echo 'reads this machine';
?></title><body>Shop<?php wp_footer(); ?></body></html>\n`;

const BY_PLAYGROUND = 'the copy ran in WordPress Playground, which has another PHP and SQLite in place of MariaDB';

describe('trial restores in WordPress Playground', needs(...WORDPRESS, 'playground'), () => {
  const drilled = drilledSite('playground');
  const { drills, folder, sql, backUp, drill } = drilled;
  let app: TestApp;
  let site: WordPress;

  beforeAll(async () => {
    ({ app, site } = await drilled.start({
      theme: THEME,
      tables: `CREATE TABLE wp_shop (id INT PRIMARY KEY, name VARCHAR(40), raw VARBINARY(9), at DATETIME) CHARSET utf8mb4;
       SET sql_mode = ''; INSERT INTO wp_shop VALUES (1, 'it''s; (x),\\n', 0x00ff27, '0000-00-00'), (2, '🦊', '', NULL);`,
      config: { drill_path: join(folder, 'no-programs'), drill_playground: playground ?? null },
    }));
  });
  afterAll(drilled.close);

  it('prove a backup with the PHP version of the site, and say that this is weaker', async () => {
    const id = await backUp();
    const result = await drill(id);
    expect(result).toMatchObject({
      ...{ result: 'proven', reason: null, means: 'playground' },
      not_compared: [expect.stringContaining('the copy ran in WordPress Playground')],
    });
    expect(result.compared).toEqual([
      ...['files', 'rows of tables', 'posts', 'users', 'options', 'tables with rows', 'active plugins'],
      ...['front page status', 'front page title'],
    ]);
    const facts = await app.db.one('SELECT facts FROM backup WHERE id = ?', [id]);
    const [, version] = /^(\d+\.\d+)/.exec(JSON.parse(String(facts?.facts)).recorded.php) ?? [];
    expect(result.php.startsWith(`${version}.`)).toBe(true);
    expect((await app.call('get-backup', { backup_id: id })).drill).toMatchObject({ means: 'playground' });
    expect(readdirSync(drills)).toEqual([]);
  });

  it('leave open whether a page that differs is wrong', async () => {
    site.write('cache/sale', '');
    expect(await drill(await backUp())).toMatchObject({
      result: 'could_not_verify',
      reason: expect.stringMatching(`^${BY_PLAYGROUND}. Apart from that: the title of the front page is .*on sale`),
    });
    rmSync(join(site.content, 'cache'), { recursive: true });
  });

  it('find rows that are missing, whatever the page is like', async () => {
    site.write('cache/sale', '');
    const id = await backUp();
    const { facts } = (await app.db.one('SELECT facts FROM backup WHERE id = ?', [id])) ?? {};
    const { recorded, ...more } = JSON.parse(String(facts));
    const changed = JSON.stringify({ ...more, recorded: { ...recorded, users: 9 } });
    await app.db.run('UPDATE backup SET facts = ? WHERE id = ?', [changed, id]);
    expect(await drill(id)).toMatchObject({
      result: 'failed',
      reason: expect.stringContaining(`${recorded.users} users, 9 were recorded`),
    });
    rmSync(join(site.content, 'cache'), { recursive: true });
  });

  it('verify nothing where SQLite does not take a table', async () => {
    sql('CREATE TABLE wp_large (id BIGINT UNSIGNED PRIMARY KEY); INSERT INTO wp_large VALUES (18446744073709551615);');
    expect(await drill(await backUp())).toMatchObject({
      result: 'could_not_verify',
      reason: expect.stringMatching('^SQLite, the database of WordPress Playground, refused table wp_large: '),
    });
    sql('DROP TABLE wp_large');
  });
});

it('the PHP of WordPress Playground is cut off where the machine cannot do it', needs('playground'), async () => {
  const folder = tempFolder('playground');
  for (const part of ['site', 'db', 'tmp', 'run', 'run/sqlite']) mkdirSync(join(folder, part));
  let reached = 0;
  const listener = createServer(() => {
    reached++;
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  writeFileSync(
    join(folder, 'site', 'index.php'),
    `<?php $to = @fsockopen( '127.0.0.1', ${port}, $code, $text, 2 ); if ( $to ) @fwrite( $to, 'x' );
    @file_get_contents( 'http://127.0.0.1:${port}/' ); curl_exec( curl_init( 'http://127.0.0.1:${port}/' ) );
    echo 'tried', function_exists( 'exec' ) ? ' exec' : '', @file_get_contents( '/etc/passwd' ), @file_get_contents( '/internal/../etc/passwd' );`,
  );
  const runner = new URL('../../php/playground.mjs', import.meta.url).pathname;
  const child = spawn(process.execPath, [runner, String(playground), folder, '8.2', 'ask'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.end('{"url":"/","headers":{},"server":{}}');
  expect(JSON.parse(await text(child.stdout))).toMatchObject({ status: 200, body: 'tried' });
  expect(reached).toBe(0);
  listener.close();
});
