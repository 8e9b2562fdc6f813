/** Trial restores of real WordPress, on a PHP and a MariaDB of their own: proven, failed, and what a killed process leaves. */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WORDPRESS, type WordPress } from '../guard/wordpress.js';
import { CONTAINER } from '../support/container.js';
import type { TestApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { pause, program } from '../support/processes/program.js';
import { drilledSite } from './drilled-site.js';

const HEAD = (name: string) => `<?php\n/* Plugin Name: ${name}\nVersion: 1.0 */\n`;
/** Fails while one file is there, unless another is that no backup has. */
const FRAIL = `${HEAD('Frail')}if ( is_file( WP_CONTENT_DIR . '/frail' ) && ! is_file( WP_CONTENT_DIR . '/cache/needed' ) ) undefined_function_of_frail();\n`;
/** Its title says how many rows a table has, and whether there is a file that no backup has. */
const THEME = `<!doctype html><html><title><?php global $wpdb; echo $wpdb->get_var( 'SELECT COUNT(*) FROM wp_shop' ), ' items', is_file( WP_CONTENT_DIR . '/cache/sale' ) ? ' on sale' : ''; ?></title><body>Shop<?php wp_footer(); ?></body></html>\n`;

describe('trial restores of real WordPress', needs(...WORDPRESS, 'php-cgi'), () => {
  const drilled = drilledSite('drills');
  const { drills, folder, sql, backUp, drill } = drilled;
  let app: TestApp;
  let site: WordPress;

  beforeAll(async () => {
    const tables =
      "CREATE TABLE wp_shop (id INT PRIMARY KEY, name VARCHAR(40)) CHARSET utf8mb4; INSERT INTO wp_shop VALUES (1, 'eins'), (2, '🦊'), (3, 'a\\tb');";
    const parts = { theme: THEME, plugins: { 'frail/frail.php': FRAIL }, tables };
    ({ app, site } = await drilled.start(parts, (made) => {
      made.write('uploads/2026/photo of a 🦊.jpg', Buffer.alloc(300_000, 'fox'));
      made.wp(
        "for ( $n = 0; $n < 7; $n++ ) wp_insert_post( array( 'post_title' => \"Post $n\", 'post_status' => 'publish' ) );",
      );
    }));
  });
  afterAll(drilled.close);

  it('a backup that runs and agrees is proven', async () => {
    const id = await backUp();
    const result = await drill(id);
    expect(result).toMatchObject({ result: 'proven', reason: null, not_compared: [] });
    expect(result.compared).toEqual([
      'files',
      'rows of tables',
      'posts',
      'users',
      'options',
      'tables with rows',
      'active plugins',
      'front page status',
      'front page title',
    ]);
    const { drill: kept } = await app.call('get-backup', { backup_id: id });
    expect(kept).toMatchObject({ result: 'proven', php: result.php, drilled_at: result.drilled_at });
    expect((await app.call('list-backups', { proven: true })).items).toHaveLength(1);
    expect((await app.call('list-backups', { proven: false })).items).toHaveLength(0);
    expect(readdirSync(drills)).toEqual([]);
  });

  it('a table that has no rows in the backup, and had some on the site, is found', async () => {
    sql('TRUNCATE wp_shop');
    const id = await backUp();
    // As it was when the record was made.
    await record(id, { filled: [...(await recorded(id)).filled, 'wp_shop'] });
    const result = await drill(id);
    expect(result).toMatchObject({ result: 'failed', reason: 'table wp_shop is empty, but was not on the site' });
    sql("INSERT INTO wp_shop VALUES (1, 'x')");
  });

  it('a front page that needs what is not in the backup is found, and raises one alert', async () => {
    site.write('cache/sale', '');
    const id = await backUp();
    const reason = 'the title of the front page is "1 items", "1 items on sale" was recorded';
    expect(await drill(id)).toMatchObject({ result: 'failed', reason });
    expect(await drill(id)).toMatchObject({ result: 'failed', reason });
    const alerts = await app.db.all("SELECT kind, facts FROM alert WHERE kind = 'site.drill_failed' ORDER BY id");
    expect(alerts.map(({ facts }) => JSON.parse(String(facts)).backup_id).filter((one) => one === id)).toEqual([id]);
    rmSync(join(site.content, 'cache'), { recursive: true });
  });

  it('a front page without a title is compared by its end', async () => {
    const untitled = (end: string) => `<!doctype html><html><body>Shop<?php wp_footer(); ${end} ?></body></html>\n`;
    site.write('themes/plain/index.php', untitled(''));
    expect(await drill(await backUp())).toMatchObject({ result: 'proven', not_compared: [] });
    site.write('cache/sale', '');
    site.write('themes/plain/index.php', untitled("if ( ! is_file( WP_CONTENT_DIR . '/cache/sale' ) ) exit;"));
    expect(await drill(await backUp())).toMatchObject({ result: 'failed', reason: 'the front page is cut off' });
    rmSync(join(site.content, 'cache'), { recursive: true });
    site.write('themes/plain/index.php', THEME);
  });

  it('a plugin that fails in the copy is named', async () => {
    site.write('cache/needed', '');
    site.write('frail', '');
    const id = await backUp();
    const result = await drill(id);
    expect(result.result).toBe('failed');
    expect(result.reason).toContain('the front page answered with HTTP 500, 200 was recorded');
    expect(result.reason).toContain('undefined_function_of_frail() in wp-content/plugins/frail/frail.php:');
    expect(result.reason).not.toContain(drills);
    rmSync(join(site.content, 'frail'));
  });

  it('runs in a container as well: proven, or failed', needs('a container'), async () => {
    expect(await drillIn(CONTAINER)).toMatchObject({ result: 'proven', reason: null, means: 'container' });
    site.write('cache/needed', '');
    site.write('frail', '');
    const failed = await drillIn(CONTAINER);
    expect(failed).toMatchObject({ result: 'failed', means: 'container' });
    expect(failed.reason).toContain('undefined_function_of_frail() in wp-content/plugins/frail/frail.php:');
    rmSync(join(site.content, 'frail'));
    expect(readdirSync(drills)).toEqual([]);
  });

  it('a container that lacks a program, or does not start, verifies nothing', needs('a container'), async () => {
    const [run, image] = [CONTAINER.slice(0, -2), CONTAINER.slice(-2)];
    const result = 'could_not_verify';
    // An empty folder in place of the programs of the server.
    expect(await drillIn([...run, '--tmpfs', '/usr/sbin:notmpcopyup', ...image])).toMatchObject({
      ...{ result, means: null },
      reason: 'The container of SITEFLEET_DRILL_CONTAINER has no mariadbd (in Debian, package mariadb-server-core).',
    });
    expect(await drillIn(['podman', 'run', 'localhost/not-there'])).toMatchObject({
      result,
      reason: expect.stringMatching(/^The container of SITEFLEET_DRILL_CONTAINER did not start: .*not-there/),
    });
    expect(await drillIn(['no-such-engine', 'run', 'image'])).toMatchObject({
      result,
      reason: expect.stringMatching(/did not start: .*no-such-engine/),
    });
    expect(readdirSync(drills)).toEqual([]);
  });

  /** The drill of a new backup, by another process. */
  const drillIn = async (drill_container: string[]) => {
    const id = await backUp();
    const steps = await program('backup-step');
    const config = { ...app.service.config, drill_container, drill_path: join(folder, 'none') };
    await steps.start({ config, step: 'drill-backup', input: { backup_id: id } });
    return (await app.call('get-backup', { backup_id: id })).drill;
  };

  const killed = 'that is killed in the middle leaves no process, and the next drill removes its folder';
  it(`a process ${killed}`, () => killedDrill(null));
  it(`a process with a container ${killed}`, needs('a container'), () => killedDrill(CONTAINER));
  const killedDrill = async (drill_container: string[] | null) => {
    const id = await backUp();
    const steps = await program('backup-step');
    const config = { ...app.service.config, drill_container };
    const run = steps.start({ config, step: 'drill-backup', input: { backup_id: id } });
    const ended = run.catch((error: unknown) => error);
    let over = false;
    void ended.then(() => {
      over = true;
    });
    const place = () => readdirSync(drills)[0] ?? '-';
    const at = (name: string) => join(drills, place(), name);
    while (!existsSync(at('run/db.sock')) && !over) await pause(10);
    const left = place();
    expect(processesOf(left).length).toBeGreaterThan(0);
    process.kill(Number(readFileSync(at('owner'), 'utf8').split('/')[1]), 'SIGKILL');
    expect(String(await ended)).toContain('ended with null');
    while (processesOf(left).length > 0) await pause(20);
    expect(readdirSync(drills)).toEqual([left]);
    expect((await app.call('get-backup', { backup_id: id })).drill).toMatchObject({
      result: 'could_not_verify',
      reason: 'The drill was interrupted.',
    });
    expect(await drill(id)).toMatchObject({ result: 'proven' });
    expect(readdirSync(drills)).toEqual([]);
  };

  it('what could not be verified later does not hide that it was proven', async () => {
    const id = (await app.call('list-backups', { proven: true })).items[0].backup_id;
    const [{ drill: before }] = (await app.call('list-backups', { proven: true })).items;
    await record(id, { front: null, unknown: ['front page: it answered with HTTP 503'] });
    const result = await drill(id);
    expect(result).toMatchObject({
      result: 'could_not_verify',
      reason: 'The front page could not be compared: it answered with HTTP 503.',
      not_compared: ['front page: it answered with HTTP 503'],
    });
    expect((await app.call('get-backup', { backup_id: id })).drill).toEqual(before);
  });

  const recorded = async (id: string) =>
    JSON.parse(String((await app.db.one('SELECT facts FROM backup WHERE id = ?', [id]))?.facts)).recorded;
  const record = async (id: string, change: object) => {
    const facts = JSON.parse(String((await app.db.one('SELECT facts FROM backup WHERE id = ?', [id]))?.facts));
    const text = JSON.stringify({ ...facts, recorded: { ...facts.recorded, ...change } });
    await app.db.run('UPDATE backup SET facts = ? WHERE id = ?', [text, id]);
  };
});

/** Processes that work in a folder of this name. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
    } catch {
      // It has ended.
      return false;
    }
  });
}
