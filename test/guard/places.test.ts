/** The guard under obstacles: a network, a full disk, folders that cannot be written, links, a running update. */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installCode, withSettings } from '../../src/domain/updates/safe/guard-code.js';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import type { GuardClient } from '../../src/outbound/guard/client.js';
import { needs } from '../support/needs.js';
import { mountVolume, type Volume } from '../support/processes/volume.js';
import { clientOf, closeTransport, codeOf, contents, pause, plugin, status, visit, writePlugin } from './tools.js';
import { GUARD_FILE, WORDPRESS, type WordPress, WordPressHost } from './wordpress.js';
import { zip } from './zip.js';

describe('the guard in places', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let key: { private_key: string; public_key: string };

  beforeAll(async () => {
    await host.start();
    key = await generateKey();
  });

  afterAll(async () => {
    await closeTransport();
    await host.close();
  });

  describe('a network of sites, with wp-content behind a link', () => {
    let site: WordPress;
    let guard: GuardClient;

    beforeAll(async () => {
      const content = join(host.folder, 'elsewhere');
      symlinkSync(join(host.folder, 'network-content'), content);
      mkdirSync(join(host.folder, 'network-content'));
      site = await host.site('network', { multisite: true, content, log: true });
      writePlugin(site, 'alpha', '1.0');
      site.installGuard(true);
      site.activate('alpha/alpha.php');
      guard = clientOf(site, key.private_key);
    });

    it('trusts no option of a site: the key comes from the network, set by one of its administrators', async () => {
      // What a hole in one site, or its administrator, could set.
      site.trust(key.public_key, 'admin');
      expect(await codeOf(guard.hello())).toBe('no_guard');
      expect(await codeOf(guard.login('admin'))).toBe('no_guard');
      const programs = installCode(
        withSettings(readFileSync(GUARD_FILE, 'utf8'), { login: true, since: 0 }),
        'ab'.repeat(8),
      );
      expect(site.runInstaller(programs, 'second')).toBe('not_network');
      expect(await codeOf(guard.hello())).toBe('no_guard');
      expect(site.runInstaller(programs, 'admin')).toBe('done');
      expect((await guard.hello()).multisite).toBe(true);
      // What the site says afterwards opens nothing.
      const other = await generateKey();
      site.trust(other.public_key, 'admin');
      expect(await codeOf(clientOf(site, other.private_key).hello())).toBe('no_guard');
      site.trust(key.public_key, 'admin');
      expect((await guard.hello()).multisite).toBe(true);
    });

    it('obeys no dashboard that has been disconnected, or replaced by another', async () => {
      const other = await generateKey();
      for (const end of [
        () => site.wp("delete_option('mainwp_child_pubkey');"),
        () => site.trust(other.public_key, 'admin'),
      ]) {
        end();
        expect(await codeOf(guard.hello())).toBe('no_guard');
        expect(await codeOf(guard.login('admin'))).toBe('no_guard');
        site.trust(key.public_key, 'admin');
        expect((await guard.hello()).multisite).toBe(true);
      }
    });

    it('makes no ledger and opens no sandbox, and says so', async () => {
      expect(await codeOf(guard.ledger())).toBe('multisite');
      expect(await codeOf(guard.sandbox(60))).toBe('multisite');
    });

    it('logs no administrator of the network in through the key of another of its sites', async () => {
      site.wp(`wpmu_create_blog(DOMAIN_CURRENT_SITE, '/two/', 'Two', 1);
        // WordPress loses the colon of a port.
        $GLOBALS['wpdb']->update($GLOBALS['wpdb']->blogs, array('domain' => DOMAIN_CURRENT_SITE), array('blog_id' => 2));
        foreach (array('home', 'siteurl') as $name) update_blog_option(2, $name, '${site.url}two');
        $keys = get_site_option('sitefleet_guard_keys'); $keys[2] = $keys[1]; update_site_option('sitefleet_guard_keys', $keys);
        update_blog_option(2, 'mainwp_child_pubkey', $keys[1]);
        add_user_to_blog(2, get_user_by('login', 'second')->ID, 'administrator');`);
      const two = clientOf(site, key.private_key, Date.now, `${site.url}two/`);
      expect((await two.hello()).multisite).toBe(true);
      expect(await codeOf(two.login('admin'))).toBe('not_found');
      expect((await two.login('second')).url).toContain('/two/?sitefleet-login=');
    });

    it('stays armed when another of its sites disarms all', async () => {
      const two = clientOf(site, key.private_key, Date.now, `${site.url}two/`);
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      await guard.arm(snapshot.id, 60);
      expect(await two.disarm(null)).toMatchObject([{ snapshot: snapshot.id }]);
      expect((await guard.hello()).armed).toMatchObject([{ snapshot: snapshot.id }]);
      expect(await guard.disarm(null)).toEqual([]);
    });

    it('brings back a plugin that is active in all sites, also on its own', async () => {
      const before = contents(join(site.content, 'plugins/alpha'));
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      site.write('plugins/alpha/alpha.php', plugin('2.0', 'nix();'));
      expect(await status(site.url)).toBe(500);
      expect(await guard.restore(snapshot.id)).toMatchObject({ active: true, already: false });
      expect(await status(site.url)).toBe(200);
      await guard.arm(snapshot.id, 60);
      site.write('plugins/alpha/alpha.php', plugin('2.0', 'nix();'));
      await pause(3_100);
      expect([await status(site.url), await status(site.url)]).toEqual([500, 200]);
      expect(contents(join(site.content, 'plugins/alpha'))).toEqual(before);
    });

    it('logs in to the network', async () => {
      const { url } = await guard.login('admin');
      const answer = await visit(url);
      const cookie = answer.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ');
      expect(await status(`${site.url}wp-admin/network/`)).toBe(302);
      expect((await visit(`${site.url}wp-admin/network/`, { cookie })).status).toBe(200);
    });

    it('has given PHP nothing to complain about', () => expect(site.complaints('sitefleet-guard.php')).toEqual([]));
  });

  describe('folders that cannot be written', () => {
    let site: WordPress;
    let guard: GuardClient;
    const folder = (name: string) => join(site.content, name);

    beforeAll(async () => {
      site = await host.site('readonly', { log: true });
      site.trust(key.public_key);
      writePlugin(site, 'alpha', '1.0');
      site.installGuard();
      site.activate('alpha/alpha.php');
      guard = clientOf(site, key.private_key);
    });

    it('says so when it can keep nothing, and changes nothing', async () => {
      chmodSync(site.content, 0o555);
      expect((await guard.hello()).writable).toMatchObject({ store: false, plugins: true });
      expect(await guard.list()).toEqual([]);
      expect(await codeOf(guard.snapshot('plugin', 'alpha/alpha.php'))).toBe('not_writable');
      chmodSync(site.content, 0o755);
      expect((await guard.hello()).writable.store).toBe(true);
    });

    it('refuses a snapshot that it could not put back', async () => {
      const before = contents(folder('plugins'));
      for (const name of ['plugins', 'plugins/alpha']) {
        chmodSync(folder(name), 0o555);
        expect(await codeOf(guard.snapshot('plugin', 'alpha/alpha.php'))).toBe('not_writable');
        chmodSync(folder(name), 0o755);
      }
      expect(await guard.list()).toEqual([]);
      expect(contents(folder('plugins'))).toEqual(before);
    });

    it('leaves the broken version, whole, when it cannot be replaced', async () => {
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      site.write('plugins/alpha/alpha.php', plugin('2.0'));
      const before = contents(folder('plugins'));
      chmodSync(folder('plugins'), 0o555);
      expect(await codeOf(guard.restore(snapshot.id))).toBe('not_writable');
      chmodSync(folder('plugins'), 0o755);
      expect(contents(folder('plugins'))).toEqual(before);
      expect((await guard.restore(snapshot.id)).replaced?.version).toBe('2.0');
    });

    it('cannot be removed from a folder that cannot be written, and then removes nothing', async () => {
      chmodSync(folder('mu-plugins'), 0o555);
      expect((await guard.hello()).writable.mu_plugins).toBe(false);
      expect(await codeOf(guard.uninstall())).toBe('not_writable');
      expect((await guard.list()).length).toBeGreaterThan(0);
      chmodSync(folder('mu-plugins'), 0o755);
    });

    it('works where PHP may open nothing outside the site', async () => {
      site.stop();
      await site.serve({ confined: true });
      const before = contents(folder('plugins/alpha'));
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      await guard.arm(snapshot.id, 60);
      site.write('plugins/alpha/alpha.php', plugin('2.0', 'nix();'));
      await pause(3_100);
      expect([await status(site.url), await status(site.url)]).toEqual([500, 200]);
      expect(contents(folder('plugins/alpha'))).toEqual(before);
      site.stop();
      await site.serve();
    });

    it('leaves the command line alone, which often runs as another user', async () => {
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      await guard.arm(snapshot.id, 60);
      const version = plugin('2.0', "if ( 'cli' === PHP_SAPI ) nix();");
      site.write('plugins/alpha/alpha.php', version);
      await pause(3_100);
      const before = contents(site.content);
      const complaints = site.complaints('alpha.php').length;
      expect(() => site.php(`require '${site.core}/wp-load.php';`)).toThrow();
      expect(site.complaints('alpha.php')).toHaveLength(complaints + 1);
      expect(contents(site.content)).toEqual(before);
      expect(await guard.disarm(snapshot.id)).toEqual([]);
      await guard.restore(snapshot.id);
    });

    it('keeps files and folders as they were, odd names and rights included', async () => {
      site.writeAll({
        'plugins/odd/odd.php': plugin('1'),
        'plugins/odd/ nötig\n[1]*.txt': 'x',
        'plugins/odd/.hidden': '',
        'plugins/odd/<?php.txt': '<?php',
      });
      mkdirSync(folder('plugins/odd/empty'));
      chmodSync(folder('plugins/odd/.hidden'), 0o640);
      const before = contents(folder('plugins/odd'));
      const snapshot = await guard.snapshot('plugin', 'odd/odd.php');
      renameSync(folder('plugins/odd'), folder('plugins/renamed'));
      await guard.restore(snapshot.id);
      expect(contents(folder('plugins/odd'))).toEqual(before);
    });

    it('keeps the code of a plugin that visitors have made too large, and leaves in place what they have made', async () => {
      const log = folder('plugins/noter/logs/visits.log');
      const notes =
        "if ( isset( $_GET['note'] ) ) { is_dir( __DIR__ . '/logs' ) || mkdir( __DIR__ . '/logs' ); $log = fopen( __DIR__ . '/logs/visits.log', 'a' ); ftruncate( $log, fstat( $log )['size'] + 150 * 1024 * 1024 ); }";
      site.writeAll({ 'plugins/noter/noter.php': plugin('1.0', notes), 'plugins/noter/page.css': 'a {}' });
      site.activate('noter/noter.php');
      expect((await guard.snapshot('plugin', 'noter/noter.php')).left_out).toBeNull();
      for (let times = 0; times < 4; times += 1) await visit(`${site.url}?note`);
      expect(statSync(log).size).toBe(600 * 1_048_576);
      const { id, left_out } = await guard.snapshot('plugin', 'noter/noter.php');
      expect(left_out).toEqual({ files: 1, bytes: 600 * 1_048_576, long: 0, largest: ['logs/visits.log'] });
      expect((await guard.restore(id)).already).toBe(true);
      await guard.arm(id, 60);
      site.writeAll({ 'plugins/noter/noter.php': plugin('2.0', 'nix();'), 'plugins/noter/page.css': 'b {}' });
      await pause(3_100);
      // The guard restores it on its own, with the log as it is.
      expect([await status(site.url), await status(site.url)]).toEqual([500, 200]);
      expect(readFileSync(folder('plugins/noter/noter.php'), 'utf8')).toBe(plugin('1.0', notes));
      expect(readFileSync(folder('plugins/noter/page.css'), 'utf8')).toBe('a {}');
      expect(statSync(log).size).toBe(600 * 1_048_576);
      await guard.disarm(null);
      rmSync(folder('plugins/noter'), { recursive: true });
    });

    it('keeps and restores 10 MB', async () => {
      writePlugin(site, 'ten', '1.0', 400, 26_000);
      const began = performance.now();
      await guard.hello();
      const greeted = performance.now();
      const snapshot = await guard.snapshot('plugin', 'ten/ten.php');
      const kept = performance.now();
      site.write('plugins/ten/ten.php', plugin('2.0'));
      const { ms } = await guard.restore(snapshot.id);
      const done = performance.now();
      const times = [greeted - began, kept - greeted, done - kept].map(Math.round);
      // biome-ignore lint/suspicious/noConsole: the figures are what this test is for.
      console.info(
        `guard, 10 MB in 401 files: hello ${times[0]} ms, snapshot ${times[1]} ms, restore ${times[2]} ms (PHP: ${ms})`,
      );
      expect(snapshot.bytes).toBeGreaterThan(10_000_000);
      expect(ms).toBeGreaterThan(0);
    });

    it('has given PHP nothing to complain about', () => expect(site.complaints('sitefleet-guard.php')).toEqual([]));
  });

  describe('an update that WordPress is making', () => {
    let site: WordPress;
    let guard: GuardClient;
    const slug = 'alpha/alpha.php';
    const folder = () => join(site.content, 'plugins/alpha');
    const stopped = () => join(site.content, 'stopped');
    const offer = () => writePlugin(site, 'alpha', '1.0');
    const update = (how = '') => {
      const body = new URLSearchParams({ function: 'upgradeplugintheme', type: 'plugin', list: slug });
      if (how === '') body.set('mainwpsignature', 'x');
      return fetch(`${site.url}${how}`, { method: 'POST', body, headers: { connection: 'close' } })
        .then((answer) => answer.text())
        .then((text) => Buffer.from(/<mainwp>(.*)<\/mainwp>/s.exec(text)?.[1] ?? '', 'base64').toString());
    };
    /** Begins an update and waits until it reaches this hook of WordPress' upgrader. */
    const updateUntil = async (step: string) => {
      site.write(`stop-at-${step}`, '');
      const answer = update();
      answer.catch(() => undefined);
      await expect.poll(() => existsSync(stopped())).toBe(true);
      return { answer };
    };

    beforeAll(async () => {
      site = await host.site('busy', { updates: true, log: true });
      site.trust(key.public_key);
      offer();
      site.write('plugins/mainwp-child/mainwp-child.php', readFileSync(new URL('./mainwp-child.php', import.meta.url)));
      // The owner's own update, not requested by a dashboard.
      site.write(
        'plugins/own/own.php',
        plugin(
          '1.0',
          "add_action('init', function () { if (isset($_GET['own'])) { test_upgrade('plugin', array('alpha/alpha.php')); exit; } });",
        ),
      );
      site.write('alpha.zip', zip({ 'alpha/alpha.php': plugin('2.0'), 'alpha/more.txt': 'more' }));
      site.write('offers.json', JSON.stringify({ plugin: { [slug]: ['2.0', join(site.content, 'alpha.zip')] } }));
      site.activate(slug, 'mainwp-child/mainwp-child.php', 'own/own.php');
      site.installGuard();
      guard = clientOf(site, key.private_key);
    });

    it('is known as long as it runs, and not restored over', async () => {
      const before = contents(folder());
      const snapshot = await guard.snapshot('plugin', slug);
      expect((await guard.hello()).updating).toEqual([]);
      const { answer } = await updateUntil('upgrader_clear_destination');
      expect((await guard.hello()).updating).toMatchObject([{ kind: 'plugin', slug }]);
      expect(await codeOf(guard.restore(snapshot.id))).toBe('updating');
      // The old version is gone, the new one not there yet.
      expect(existsSync(folder())).toBe(false);
      rmSync(stopped());
      expect(await answer).toContain('"version":"2.0"');
      expect((await guard.hello()).updating).toEqual([]);
      expect(await guard.restore(snapshot.id)).toMatchObject({ already: false, replaced: { version: '2.0' } });
      expect(contents(folder())).toEqual(before);
    });

    it('can be restored over on request, and once more when it has ended', async () => {
      const before = contents(folder());
      const snapshot = await guard.snapshot('plugin', slug);
      const { answer } = await updateUntil('upgrader_clear_destination');
      expect(await guard.restore(snapshot.id, { while_updating: true })).toMatchObject({ already: false });
      expect(contents(folder())).toEqual(before);
      rmSync(stopped());
      await answer;
      expect(contents(folder())).not.toEqual(before);
      expect(await guard.restore(snapshot.id)).toMatchObject({ already: false });
      expect(contents(folder())).toEqual(before);
    });

    it('is over at once when its process dies', async () => {
      const before = contents(folder());
      const snapshot = await guard.snapshot('plugin', slug);
      await updateUntil('upgrader_clear_destination');
      site.stop();
      await site.serve();
      rmSync(stopped());
      expect(await guard.hello()).toMatchObject({ updating: [], maintenance: true });
      await guard.restore(snapshot.id, { end_maintenance: true });
      expect(contents(folder())).toEqual(before);
      expect(await status(site.url)).toBe(200);
    });

    it('does not change files any more once the dashboard has given it up, until the item is armed again', async () => {
      const before = contents(folder());
      const snapshot = await guard.snapshot('plugin', slug);
      for (const step of ['upgrader_pre_download', 'upgrader_source_selection']) {
        await guard.arm(snapshot.id, 60);
        expect(await guard.disarm(null)).toEqual([]);
        const { answer } = await updateUntil(step);
        const late = step === 'upgrader_pre_download' ? 'no failure' : 'updating';
        expect([step, await codeOf(guard.restore(snapshot.id, { refuse_updates: 600 }))]).toEqual([step, late]);
        rmSync(stopped());
        expect(await answer).toContain('Sitefleet has restored the old version');
        expect(contents(folder())).toEqual(before);
        expect((await guard.hello()).updating).toEqual([]);
      }
      expect(await status(site.url)).toBe(200);
      // The owner of the site may.
      await update('?own=1');
      expect(contents(folder())).not.toEqual(before);
      await guard.restore(snapshot.id, { refuse_updates: 600 });
      expect(await update()).toContain('"success":0');
      await guard.arm(snapshot.id, 60);
      expect(await update()).toContain('"version":"2.0"');
      expect(await guard.disarm(null)).toEqual([]);
      expect(await codeOf(guard.restore(snapshot.id, { refuse_updates: 3_601 }))).toBe('bad_request');
    });

    it('has given PHP nothing to complain about', () => expect(site.complaints('sitefleet-guard.php')).toEqual([]));
  });

  describe('a full disk', needs('a volume'), () => {
    let volume: Volume;
    let site: WordPress;
    let guard: GuardClient;

    beforeAll(async () => {
      volume = mountVolume('memory', 24);
      // PHP runs as another user, and needs access through the parent folders.
      chmodSync(join(volume.folder, '..'), 0o755);
      chmodSync(volume.folder, 0o755);
      site = await host.site('small', { content: join(volume.folder, 'wp-content'), log: true });
      site.trust(key.public_key);
      writePlugin(site, 'alpha', '1.0', 20, 100_000);
      site.installGuard();
      site.activate('alpha/alpha.php');
      guard = clientOf(site, key.private_key);
    });

    afterAll(() => volume.close());

    it('refuses a snapshot when there would be no room to put it back', async () => {
      writePlugin(site, 'big', '1.0', 70, 100_000);
      expect(await codeOf(guard.snapshot('plugin', 'big/big.php'))).toBe('no_space');
      expect(await guard.list()).toEqual([]);
    });

    it('keeps a plugin whose log has no room on the disk without that log', async () => {
      rmSync(join(site.content, 'plugins/big'), { recursive: true });
      site.write('plugins/alpha/visits.log', Buffer.alloc(11 * 1_048_576));
      const { id, left_out } = await guard.snapshot('plugin', 'alpha/alpha.php');
      expect(left_out).toEqual({ files: 1, bytes: 11 * 1_048_576, long: 0, largest: ['visits.log'] });
      rmSync(join(site.content, 'plugins/alpha/visits.log'));
      await guard.drop(id);
    });

    it('leaves the site as it is when there is no room, and frees room on request', async () => {
      const old = contents(join(site.content, 'plugins/alpha'));
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      const spare = await guard.snapshot('plugin', 'alpha/alpha.php');
      await guard.arm(snapshot.id, 60);
      site.write('plugins/alpha/alpha.php', plugin('2.0', 'nix();'));
      const before = contents(join(site.content, 'plugins'));
      volume.fill();
      expect(['no_space', 'not_writable']).toContain(await codeOf(guard.restore(snapshot.id)));
      await pause(3_100);
      expect(await status(site.url)).toBe(500);
      expect(contents(join(site.content, 'plugins'))).toEqual(before);
      expect(await guard.drop(spare.id)).toBe(true);
      volume.drain();
      await guard.restore(snapshot.id);
      expect(contents(join(site.content, 'plugins/alpha'))).toEqual(old);
      expect(await status(site.url)).toBe(200);
      const store = readdirSync(site.content).find((name) => name.startsWith('sitefleet-guard-')) ?? '';
      await guard.list();
      expect(readdirSync(join(site.content, store)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
      expect(readFileSync(join(site.content, 'plugins/alpha/alpha.php'), 'utf8')).toBe(plugin('1.0'));
    });

    it('has given PHP nothing to complain about', () => expect(site.complaints('sitefleet-guard.php')).toEqual([]));
  });
});
