/** A site that takes its own address from the request, as the images of some hosts set it up: a visitor may name any. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installCode, withSettings } from '../../src/domain/updates/safe/guard-code.js';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { closing } from '../support/cleanup.js';
import { needs } from '../support/needs.js';
import { clientOf, closeTransport, codeOf, pause, plugin, signed, writePlugin } from './tools.js';
import { GUARD_FILE, WORDPRESS, type WordPress, WordPressHost } from './wordpress.js';

const FROM_REQUEST = "'http://' . $_SERVER['HTTP_HOST']";

/** What shared hosts forbid, of what a plugin might call and WordPress does without. */
const DISABLED =
  'disk_free_space,disk_total_space,set_time_limit,ignore_user_abort,sleep,usleep,chmod,touch,fsync,symlink,link,readlink,debug_backtrace,memory_get_usage,opcache_invalidate,opcache_is_script_cached,opcache_reset,exec,shell_exec,system,passthru,popen,proc_open,getmypid,php_uname,gethostname,error_log';

const MARK = '/* before the rest */';

/** Puts settings at the beginning of the site's wp-config.php, in place of those that were there. */
function configure(site: WordPress, settings: string): void {
  const file = join(site.content, '../config.php');
  const parts = readFileSync(file, 'utf8').split(MARK);
  writeFileSync(file, `<?php ${settings} ${MARK}${(parts[1] ?? parts[0] ?? '').replace('<?php', '')}`);
}

/** The address of the site, by an expression of PHP. */
const addressIs = (php: string) => `define( 'WP_HOME', ${php} ); define( 'WP_SITEURL', ${php} );`;

/** A request whose `Host` is another than where it goes to. */
async function send(url: string, headers: Record<string, string>, { method = 'GET', body = '', path = '' } = {}) {
  const to = new URL(url);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { host: to.hostname, port: to.port, path: `${to.pathname}${path}`, method };
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    request({ ...options, headers: { ...headers, ...length } }, resolve)
      .on('error', reject)
      .end(body);
  });
  let text = '';
  for await (const part of answer.setEncoding('utf8')) text += part;
  return { status: answer.statusCode, text };
}

describe('the guard of a site that takes its address from the request', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let key: { private_key: string; public_key: string };
  let site: WordPress;
  let copy: WordPress;

  beforeAll(async () => {
    await host.start({ files: 'code' });
    key = await generateKey();
    site = await host.site('original', { workers: 6 });
    copy = await host.site('copied', { workers: 4, like: site });
    for (const one of [site, copy]) one.trust(key.public_key);
  });

  afterAll(async () => {
    await closeTransport();
    await host.close();
  });

  const install = (on: WordPress) => {
    const text = withSettings(readFileSync(GUARD_FILE, 'utf8'), { login: false, since: 0 });
    expect(on.runInstaller(installCode(text, 'ab'.repeat(8)), 'admin')).toBe('done');
  };
  const store = (on: WordPress, address: string) =>
    host.query(
      `UPDATE ${on.database}.wp_options SET option_value = '${address}' WHERE option_name IN ('siteurl', 'home')`,
    );
  /** What the guard says to a request that was signed for the original. */
  const answered = async (on: WordPress, headers: Record<string, string> = {}) => {
    const made = signed(site, key.private_key);
    const { text } = await send(on.url, { ...made.headers, ...headers }, { method: 'POST', body: made.body });
    return /"ok":true|other_site/.exec(text)?.[0];
  };

  describe('while an update is checked', () => {
    const main = () => join(site.content, 'plugins/alpha/alpha.php');

    beforeAll(() => {
      configure(site, addressIs(FROM_REQUEST));
      install(site);
      writePlugin(site, 'alpha', '1.0');
      site.activate('alpha/alpha.php');
    });

    it('never asks a server that a visitor names whether the site is alive, and keeps the update', async () => {
      const guard = clientOf(site, key.private_key);
      const { id } = await guard.snapshot('plugin', 'alpha/alpha.php');
      await guard.arm(id, 600, 30);
      writePlugin(site, 'alpha', '2.0');
      site.write('advanced-cache.php', '<?php // Written by the new version, and harmless.\n');
      const asked: string[] = [];
      const stranger = createServer((question, answer) => {
        asked.push(`${question.method} ${question.url}`);
        answer.writeHead(500).end();
      });
      await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
      closing(stranger);
      const { port } = stranger.address() as { port: number };
      await send(site.url, { host: `127.0.0.1:${port}` });
      // The next request finds whatever the first has left undone.
      await send(site.url, { host: `127.0.0.1:${port}` });
      await pause(1_500);
      expect(asked).toEqual([]);
      expect(readFileSync(main(), 'utf8')).toContain('Version: 2.0');
      expect(existsSync(join(site.content, 'advanced-cache.php'))).toBe(true);
      expect((await guard.hello()).armed).toMatchObject([{ snapshot: id }]);
      await guard.disarm(null);
    });

    it('puts back what ends every request, whatever address the visitor named who came first', async () => {
      const guard = clientOf(site, key.private_key);
      const { id } = await guard.snapshot('plugin', 'alpha/alpha.php');
      await guard.arm(id, 600, 30);
      // The request that writes it is the last one that gets as far as the guard.
      site.write(
        'plugins/alpha/alpha.php',
        plugin(
          '3.0',
          "register_shutdown_function( fn() => file_put_contents( WP_CONTENT_DIR . '/advanced-cache.php', '<?php removed_function();' ) );",
        ),
      );
      configure(site, `${addressIs(FROM_REQUEST)} define( 'WP_CACHE', true );`);
      await send(site.url, { host: 'nowhere.example' });
      await expect.poll(async () => (await send(site.url, {})).status, { timeout: 15_000 }).toBe(200);
      expect(readFileSync(main(), 'utf8')).toContain('Version: 2.0');
      configure(site, addressIs(FROM_REQUEST));
      await guard.disarm(null);
    });

    it('takes no page for the front page because a visitor named it as the address of the site', async () => {
      const guard = clientOf(site, key.private_key);
      const { id } = await guard.snapshot('plugin', 'alpha/alpha.php');
      site.write(
        'plugins/alpha/alpha.php',
        plugin('4.0', "if ( '/provoked' === $_SERVER['REQUEST_URI'] ) removed_function();"),
      );
      await pause(3_100);
      await guard.arm(id, 600, 0);
      await send(site.url, { host: `${new URL(site.url).host}/provoked` }, { path: 'provoked' });
      expect(readFileSync(main(), 'utf8')).toContain('Version: 4.0');
      await guard.disarm(null);
    });
  });

  describe('and its copy', () => {
    /** As a copy of all its files would be. */
    const copyGuard = () =>
      copy.write('mu-plugins/sitefleet-guard.php', readFileSync(join(site.content, 'mu-plugins/sitefleet-guard.php')));

    it('refuses on the copy what was signed for the original, whatever Host is sent with it', async () => {
      for (const one of [site, copy]) configure(one, addressIs(FROM_REQUEST));
      install(site);
      copyGuard();
      expect(await answered(site)).toBe('"ok":true');
      expect(await answered(copy)).toBe('other_site');
      expect(await answered(copy, { host: new URL(site.url).host })).toBe('other_site');
      // Its own requests are answered.
      expect((await clientOf(copy, key.private_key).hello()).multisite).toBe(false);
    });

    it('answers where the database has had another address since before the guard came', async () => {
      store(site, 'http://192.0.2.1');
      install(site);
      for (const settings of [addressIs(FROM_REQUEST), addressIs(`'${site.url.slice(0, -1)}'`)]) {
        configure(site, settings);
        expect(await answered(site)).toBe('"ok":true');
      }
    });

    it('refuses on a copy with an address of its own in wp-config.php, whatever the database says', async () => {
      store(copy, 'http://192.0.2.1');
      configure(copy, addressIs(`'${copy.url.slice(0, -1)}'`));
      copyGuard();
      expect(await answered(copy, { host: new URL(site.url).host })).toBe('other_site');
      expect(await codeOf(clientOf(copy, key.private_key).hello())).toBe('no failure');
    });

    it('still answers after the site has moved, and its database says where to', async () => {
      configure(site, addressIs(`'${site.url.slice(0, -1)}'`));
      store(site, site.url.slice(0, -1));
      expect(await answered(site)).toBe('"ok":true');
      configure(site, '');
      expect(await answered(site)).toBe('"ok":true');
    });
  });

  describe('on a host that disables functions of PHP', () => {
    const main = () => join(site.content, 'plugins/alpha/alpha.php');

    it('keeps a copy, puts it back after a fatal error, and removes itself', async () => {
      configure(site, '');
      writePlugin(site, 'alpha', '1.0');
      site.activate('alpha/alpha.php');
      site.stop();
      await site.serve({ disabled: DISABLED });
      install(site);
      const guard = clientOf(site, key.private_key);
      expect((await guard.hello()).free_bytes).toBeNull();
      const { id } = await guard.snapshot('plugin', 'alpha/alpha.php');
      await guard.arm(id, 600, 0);
      site.write('plugins/alpha/alpha.php', plugin('2.0', 'removed_function();'));
      await pause(3_100);
      await send(site.url, {});
      expect(readFileSync(main(), 'utf8')).toContain('Version: 1.0');
      expect((await guard.faults(0)).map(({ restored }) => restored)).toContain(id);
      expect(await guard.uninstall()).toBe(true);
    });

    it('is as if it were not there where files cannot be locked, and says so instead of being installed', async () => {
      install(site);
      site.stop();
      await site.serve({ disabled: 'flock' });
      expect(site.runInstaller(installCode('<?php', 'ab'.repeat(8)), 'admin')).toBe('no_flock');
      expect((await send(site.url, {})).status).toBe(200);
      expect(await codeOf(clientOf(site, key.private_key).hello())).toBe('no_guard');
    });
  });
});
