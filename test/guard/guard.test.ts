/** The guard inside real WordPress, over real HTTP: signatures, snapshots, restores, the watchdog, logins. */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withSettings } from '../../src/domain/updates/safe/guard-code.js';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import type { GuardClient } from '../../src/outbound/guard/client.js';
import { lookHeaders } from '../../src/outbound/guard/protocol.js';
import { needs } from '../support/needs.js';
import { PHP } from '../support/php.js';
import {
  clientOf,
  closeTransport,
  codeOf,
  contents,
  pause,
  plugin,
  post,
  sealed,
  signed,
  status,
  visit,
  writePlugin,
} from './tools.js';
import { GUARD_FILE, WORDPRESS, type WordPress, WordPressHost } from './wordpress.js';

const WITHOUT_DEBUG = 'an error of the compiler, without WP_DEBUG,';

/** What keeps an answer out of the page caches of hosts, whatever else they ignore. */
const UNCACHED = [
  ['x-accel-expires', '0'],
  ['x-litespeed-cache-control', 'no-cache'],
  ['cdn-cache-control', 'no-store'],
  ['surrogate-control', 'no-store'],
] as const;

/** Holds a lock until its input ends. */
const HOLD = '$lock = fopen($argv[1], "c"); flock($lock, LOCK_EX); echo "held"; stream_get_contents(STDIN);';

/** Makes and removes files until its input ends; says so once it has begun. */
const VISITS = `const { rmSync, writeFileSync } = require('node:fs');
let visit = 0;
const name = (number) => process.argv[1] + '/' + (number * 7919) % 3000 + '-visit';
const timer = setInterval(() => {
  writeFileSync(name(visit), 'y');
  if (visit > 1) rmSync(name(visit - 2), { force: true });
  if (visit++ === 2) process.stdout.write('begun');
}, 10);
process.stdin.on('end', () => clearInterval(timer)).resume();`;

describe('the guard in real WordPress', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let site: WordPress;
  let guard: GuardClient;
  let key: { private_key: string; public_key: string };
  let other: { private_key: string; public_key: string };

  const live = (slug: string) => join(site.content, 'plugins', slug);
  const store = () => readdirSync(site.content).find((name) => name.startsWith('sitefleet-guard-'));
  /** Longer than the watchdog waits for an item to settle. */
  const settle = () => pause(3_100);

  beforeAll(async () => {
    await host.start();
    [key, other] = await Promise.all([generateKey(), generateKey()]);
    site = await host.site('single', { log: true });
    site.trust(key.public_key);
    for (const slug of ['alpha', 'beta']) writePlugin(site, slug, '1.0');
    site.write('plugins/single.php', plugin('1.0'));
    site.activate('alpha/alpha.php', 'beta/beta.php', 'single.php');
    guard = clientOf(site, key.private_key);
  });

  afterAll(async () => {
    await closeTransport();
    await host.close();
  });

  describe('who may ask', () => {
    it('is not there before it is installed, and the client says so', async () => {
      const failure = await guard.hello().catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'no_guard', statuses: [200, 200, 302] });
      site.installGuard(true);
    });

    it('does nothing for an unsigned or wrongly signed request: it is answered like any other', async () => {
      const before = contents(site.content);
      const ordinary = await post(site.url, {}, '{}');
      expect(ordinary.status).toBe(200);
      const good = signed(site, key.private_key);
      const foreign = signed(site, other.private_key);
      const bent: [string, Record<string, string>, string][] = [
        ['only the header', { 'x-sitefleet-guard': good.headers['x-sitefleet-guard'] }, good.body],
        ['another key', foreign.headers, foreign.body],
        [
          'another key under our name',
          { ...foreign.headers, 'x-sitefleet-guard': good.headers['x-sitefleet-guard'] },
          foreign.body,
        ],
        ['another body', good.headers, '{"action":"uninstall"}'],
        [
          'another time',
          { ...good.headers, 'x-sitefleet-time': String(Number(good.headers['x-sitefleet-time']) + 1) },
          good.body,
        ],
        ['another nonce', { ...good.headers, 'x-sitefleet-nonce': 'f'.repeat(32) }, good.body],
        ['another site', { ...good.headers, 'x-sitefleet-site': 'example.com/' }, good.body],
        ['a nonce that is a path', { ...good.headers, 'x-sitefleet-nonce': '../../../../evil' }, good.body],
        ['no signature', { ...good.headers, 'x-sitefleet-signature': '' }, good.body],
        ['a short signature', { ...good.headers, 'x-sitefleet-signature': 'AAAA' }, good.body],
        ['a body of 65 KB', good.headers, good.body.padEnd(66_000)],
      ];
      for (const [what, headers, body] of bent)
        expect({ what, ...(await post(site.url, headers, body)) }).toEqual({ what, ...ordinary });
      const login = await post(`${site.url}wp-login.php`, {}, foreign.body);
      expect(await post(`${site.url}wp-login.php`, foreign.headers, foreign.body)).toEqual(login);
      expect(contents(site.content)).toEqual(before);
      // A GET with the header is an ordinary visit.
      expect((await visit(site.url, good.headers)).text).toContain('Welcome');
    });

    it('answers hello with what matters', async () => {
      const hello = await guard.hello();
      expect(hello).toMatchObject({ multisite: false, file_mods: true, login: true, maintenance: false, armed: [] });
      expect(hello.writable).toEqual({ store: true, plugins: true, themes: true, mu_plugins: true });
      expect(hello.php).toMatch(/^\d+\.\d+/);
      expect(hello.free_bytes).toBeGreaterThan(0);
    });

    it('takes a request once', async () => {
      const request = signed(site, key.private_key, 'list');
      expect((await post(site.url, request.headers, request.body)).text).toContain('"ok":true');
      const again = await post(site.url, request.headers, request.body);
      expect(again.text).toContain('"code":"replayed"');
      const many = signed(site, key.private_key, 'disarm');
      const answers = await Promise.all([1, 2, 3, 4].map(() => post(site.url, many.headers, many.body)));
      expect(answers.filter(({ text }) => text.includes('"ok":true'))).toHaveLength(1);
    });

    it('tells the holder of the key about clocks and addresses, and does nothing', async () => {
      const before = contents(site.content);
      // Further ahead, because the site's clock advances while the request is on its way.
      for (const ms of [-301_000, 310_000]) {
        const late = signed(
          site,
          key.private_key,
          'snapshot',
          { kind: 'plugin', slug: 'alpha/alpha.php' },
          Date.now() + ms,
        );
        const answer = await post(site.url, late.headers, late.body);
        expect(answer.text).toContain('"code":"clock"');
      }
      const elsewhere = clientOf(
        { ...site, url: site.url.replace('127.0.0.1', 'localhost') } as WordPress,
        key.private_key,
      );
      expect(await codeOf(elsewhere.snapshot('plugin', 'alpha/alpha.php'))).toBe('other_site');
      expect(contents(site.content)).toEqual(before);
    });

    it('reads the key of the child plugin at each request', async () => {
      site.trust(other.public_key);
      expect(await codeOf(guard.hello())).toBe('no_guard');
      expect((await clientOf(site, other.private_key).hello()).multisite).toBe(false);
      site.trust(key.public_key);
      expect((await guard.hello()).multisite).toBe(false);
    });

    it('refuses names that lead elsewhere', async () => {
      for (const slug of [
        '../x/x.php',
        'a/../b.php',
        '/etc/passwd',
        '..',
        '.',
        'alpha',
        'alpha/../../x.php',
        'a\\b.php',
        'C:/x.php',
        'a/b/c.php',
        '.hidden/x.php',
        'a\0/x.php',
        '',
      ]) {
        expect([slug, await codeOf(guard.snapshot('plugin', slug))]).toEqual([slug, 'bad_request']);
      }
      expect(await codeOf(guard.snapshot('theme', '../plugins'))).toBe('bad_request');
      expect(await codeOf(guard.snapshot('core' as 'plugin', 'alpha/alpha.php'))).toBe('bad_request');
      expect(await codeOf(guard.snapshot('plugin', 'none/none.php'))).toBe('not_found');
      expect(await codeOf(guard.restore('../../x'))).toBe('not_found');
      expect(await guard.list()).toEqual([]);
    });

    it('still answers when output has begun before it', async () => {
      site.write('mu-plugins/00-noise.php', '<?php echo "<b>Notice</b>: noise"; flush();');
      expect((await guard.hello()).multisite).toBe(false);
      rmSync(join(site.content, 'mu-plugins/00-noise.php'));
    });
  });

  describe('snapshot and restore', () => {
    it('brings a site back that a plugin takes down on load, byte for byte', async () => {
      const before = contents(live('alpha'));
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      expect(snapshot).toMatchObject({ version: '1.0', files: 4, role: 'snapshot' });
      rmSync(live('alpha'), { recursive: true });
      site.write('plugins/alpha/alpha.php', plugin('2.0', 'removed_function();'));
      site.write('plugins/alpha/more.php', '<?php');
      expect(await status(site.url)).toBe(500);
      expect(await status(`${site.url}wp-admin/admin-ajax.php`)).toBe(500);
      const restored = await guard.restore(snapshot.id);
      expect(restored).toMatchObject({
        already: false,
        active: true,
        replaced: { version: '2.0', role: 'replaced', files: 2 },
      });
      expect(await status(site.url)).toBe(200);
      expect(contents(live('alpha'))).toEqual(before);
      expect(await guard.restore(snapshot.id)).toMatchObject({ already: true, replaced: null });
      expect(readdirSync(join(site.content, 'plugins')).filter((name) => name.startsWith('.'))).toEqual([]);
    });

    it('makes PHP forget the broken code where PHP does not look at files again', async () => {
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      site.write('plugins/alpha/alpha.php', plugin('2.0', 'nix();'));
      site.stop();
      await site.serve({ timestamps: false });
      expect(await status(site.url)).toBe(500);
      await guard.restore(snapshot.id);
      // More than there are workers.
      for (let i = 0; i < 8; i += 1) expect(await status(site.url)).toBe(200);
      site.stop();
      await site.serve();
    });

    it('makes PHP forget broken code there that is not named .php, too', async () => {
      const names = ['part.inc', 'part.phtml', 'view.tpl', 'deep/er/words'];
      const install = (version: string) => {
        const shown = names.map((name) => `include __DIR__ . '/${name}';`).join(' ');
        const parts = names.map((name) => [`plugins/gamma/${name}`, `<?php echo '(${name} ${version})';`]);
        site.writeAll({
          ...Object.fromEntries(parts),
          'plugins/gamma/gamma.php': plugin(version, `add_action('wp_footer', function () { ${shown} });`),
        });
        // OPcache keeps no file that was written within the last seconds.
        for (const name of [...names, 'gamma.php']) utimesSync(join(live('gamma'), name), 1_600_000_000, 1_600_000_000);
      };
      const shown = async () => (await visit(site.url)).text.match(/(?<=\()[^()]+ \d\.\d(?=\))/g);
      const of = (version: string) => names.map((name) => `${name} ${version}`);
      install('1.0');
      site.activate('alpha/alpha.php', 'beta/beta.php', 'single.php', 'gamma/gamma.php');
      const snapshot = await guard.snapshot('plugin', 'gamma/gamma.php');
      install('2.0');
      site.stop();
      await site.serve({ timestamps: false });
      try {
        expect(await shown()).toEqual(of('2.0'));
        // Another version that PHP does not see, as it does not look at files again.
        install('3.0');
        expect(await shown()).toEqual(of('2.0'));
        await guard.restore(snapshot.id);
        // More than there are workers.
        for (let i = 0; i < 8; i += 1) expect(await shown()).toEqual(of('1.0'));
      } finally {
        site.stop();
        await site.serve();
      }
      site.activate('alpha/alpha.php', 'beta/beta.php', 'single.php');
      rmSync(live('gamma'), { recursive: true });
    });

    it('finishes what died between its renames, though a visitor has made the folder again since', async () => {
      writePlugin(site, 'gamma', '1.0');
      const before = contents(live('gamma'));
      await guard.snapshot('plugin', 'gamma/gamma.php');
      // As the killed process has left it: the copy and the version to replace are in the working folder.
      const job = 'c'.repeat(32);
      const work = join(site.content, `plugins/.sitefleet-guard-${job}`);
      const journal = { id: job, snapshot: 'd'.repeat(32), kind: 'plugin', slug: 'gamma/gamma.php', phase: 'swap' };
      site.write(`plugins/.sitefleet-guard-${job}/old/gamma/gamma.php`, plugin('2.0'));
      site.write(`plugins/.sitefleet-guard-${job}/new/none`, '');
      renameSync(live('gamma'), join(work, 'new/gamma'));
      site.write('plugins/gamma/cache/a.html', 'page');
      site.write(`${store()}/journal.json`, sealed('journal.json', JSON.stringify(journal)));
      expect(await status(site.url)).toBe(200);
      expect(contents(live('gamma'))).toEqual(before);
      expect([existsSync(work), existsSync(join(site.content, store() ?? '', 'journal.json'))]).toEqual([false, false]);
      expect((await guard.list())[0]).toMatchObject({ slug: 'gamma/gamma.php', version: '2.0', role: 'replaced' });
      rmSync(live('gamma'), { recursive: true });
    });

    it('restores a plugin that has made a path of a long address of a visitor', async () => {
      const pages =
        "@mkdir($d = __DIR__ . '/pages' . strtok($_SERVER['REQUEST_URI'], '?'), 0755, true); @file_put_contents(\"$d/i.html\", 'x');";
      site.write('plugins/gamma/gamma.php', plugin('1.0', pages));
      site.activate('alpha/alpha.php', 'beta/beta.php', 'single.php', 'gamma/gamma.php');
      const length = 4_090 - live('gamma/pages').length - '/i.html'.length;
      const segments = Math.ceil(length / 200);
      const address = `/${'a'.repeat(length - 1)}`.split('');
      for (let i = 1; i < segments; i += 1) address[i * 200] = '/';
      await visit(site.url.replace(/\/$/, '') + address.join(''));
      const snapshot = await guard.snapshot('plugin', 'gamma/gamma.php');
      expect(snapshot.left_out).toMatchObject({ files: 1, bytes: 1, long: 1 });
      site.write('plugins/gamma/gamma.php', plugin('2.0', 'removed_function();'));
      expect(await guard.restore(snapshot.id)).toMatchObject({ already: false, replaced: { version: '2.0' } });
      expect(readFileSync(live('gamma/gamma.php'), 'utf8')).toBe(plugin('1.0', pages));
      expect(readdirSync(join(site.content, 'plugins')).filter((name) => name.startsWith('.'))).toEqual([]);
      site.activate('alpha/alpha.php', 'beta/beta.php', 'single.php');
      rmSync(live('gamma'), { recursive: true });
    });

    it('keeps single files, themes, and what an update deleted', async () => {
      const theme = contents(join(site.content, 'themes/plain'));
      const [one, two] = [await guard.snapshot('plugin', 'single.php'), await guard.snapshot('theme', 'plain')];
      rmSync(live('single.php'));
      rmSync(join(site.content, 'themes/plain'), { recursive: true });
      expect(await guard.restore(one.id)).toMatchObject({ active: true, replaced: null });
      expect(await guard.restore(two.id)).toMatchObject({ active: true, replaced: null });
      expect(readFileSync(live('single.php'), 'utf8')).toBe(plugin('1.0'));
      expect(contents(join(site.content, 'themes/plain'))).toEqual(theme);
      site.write('plugins/single.php', plugin('9', 'nix();'));
      expect(await guard.restore(one.id)).toMatchObject({ replaced: { version: '9' } });
      expect(await status(site.url)).toBe(200);
    });

    it('keeps files whatever they are called', async () => {
      // An archive made on Windows leaves such names, and so may visitors who send files.
      const odd = ['pictures\\one.txt', '..\\two.txt', 'three\n.txt', 'c:four.txt', ' ', '\u0001', '"<five>|*?'];
      site.writeAll(Object.fromEntries(odd.map((name) => [`plugins/alpha/odd/${name}`, name])));
      const before = contents(live('alpha'));
      const { id } = await guard.snapshot('plugin', 'alpha/alpha.php');
      rmSync(live('alpha'), { recursive: true });
      site.write('plugins/alpha/alpha.php', plugin('2.0', 'removed_function();'));
      await guard.restore(id);
      expect(contents(live('alpha'))).toEqual(before);
      rmSync(live('alpha/odd'), { recursive: true });
    });

    it('stores nothing that a web server could run', async () => {
      const folder = join(site.content, store() ?? '');
      const copies = readdirSync(folder).filter((name) => name.endsWith('.bin'));
      expect(copies.length).toBeGreaterThan(1);
      for (const name of copies) expect(readFileSync(join(folder, name)).includes('<?')).toBe(false);
      expect(store()).toMatch(/^sitefleet-guard-[0-9a-f]{32}$/);
      expect(readdirSync(folder)).toEqual(expect.arrayContaining(['.htaccess', 'index.php']));
    });

    it('keeps two snapshots of an item, and drops on request', async () => {
      const made = [];
      for (let i = 0; i < 3; i += 1) made.push(await guard.snapshot('plugin', 'beta/beta.php'));
      const kept = async () => (await guard.list()).filter(({ slug }) => slug === 'beta/beta.php').map(({ id }) => id);
      expect(await kept()).toEqual([made[2]?.id, made[1]?.id]);
      expect(await guard.drop(made[1]?.id ?? '')).toBe(true);
      expect(await guard.drop(made[1]?.id ?? '')).toBe(false);
      await guard.arm(made[2]?.id ?? '', 60);
      expect(await codeOf(guard.drop(made[2]?.id ?? ''))).toBe('armed');
      expect(await guard.disarm(null)).toEqual([]);
      expect(await kept()).toEqual([made[2]?.id]);
    });

    it('refuses symbolic links, in an item and as one', async () => {
      writePlugin(site, 'linked', '1.0');
      symlinkSync('/etc/passwd', join(live('linked'), 'passwd.txt'));
      expect(await codeOf(guard.snapshot('plugin', 'linked/linked.php'))).toBe('symlink');
      rmSync(live('linked'), { recursive: true });
      symlinkSync(live('alpha'), live('linked'));
      expect(await codeOf(guard.snapshot('plugin', 'linked/alpha.php'))).toBe('symlink');
      rmSync(live('linked'));
    });

    it('does one thing at a time', async () => {
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      const before = contents(live('alpha'));
      site.write('plugins/alpha/alpha.php', plugin('2.0', 'nix();'));
      const answers = await Promise.all([1, 2, 3].map(() => guard.restore(snapshot.id)));
      expect(answers.map(({ already }) => already).sort()).toEqual([false, true, true]);
      expect(contents(live('alpha'))).toEqual(before);
    });

    it('refuses a damaged snapshot and leaves the site as it is', async () => {
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      const file = join(site.content, store() ?? '', `${snapshot.id}.bin`);
      const good = readFileSync(file);
      site.write('plugins/alpha/alpha.php', plugin('1.1'));
      const before = contents(join(site.content, 'plugins'));
      for (const bad of [
        good.subarray(0, good.length - 40),
        Buffer.concat([good.subarray(0, 300), Buffer.from([1]), good.subarray(301)]),
        Buffer.alloc(0),
      ]) {
        writeFileSync(file, bad);
        expect(await codeOf(guard.restore(snapshot.id))).toBe('damaged');
        expect(contents(join(site.content, 'plugins'))).toEqual(before);
      }
      writeFileSync(file, good);
      expect((await guard.restore(snapshot.id)).already).toBe(false);
    });

    it('is reached in maintenance that a killed update left behind, and can end it', async () => {
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      site.write('plugins/alpha/alpha.php', plugin('2.0', 'nix();'));
      writeFileSync(join(site.core, '.maintenance'), `<?php $upgrading = ${Math.floor(Date.now() / 1000)};`, {
        mode: 0o666,
      });
      expect(await status(site.url)).toBe(503);
      expect((await guard.hello()).maintenance).toBe(true);
      expect((await guard.restore(snapshot.id)).maintenance).toBe(true);
      rmSync(join(site.core, '.maintenance'));
      expect(await status(site.url)).toBe(200);
    });

    it('does not change files where the owner forbids it', async () => {
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      site.write('flags.php', "<?php define('DISALLOW_FILE_MODS', true);");
      expect((await guard.hello()).file_mods).toBe(false);
      expect(await codeOf(guard.snapshot('plugin', 'alpha/alpha.php'))).toBe('file_mods');
      expect(await codeOf(guard.arm(snapshot.id, 60))).toBe('file_mods');
      expect(await codeOf(guard.restore(snapshot.id))).toBe('file_mods');
      rmSync(join(site.content, 'flags.php'));
    });
  });

  describe('the armed watchdog', () => {
    const breaks: [string, string, string][] = [
      ['an exception on load', plugin('2.0', 'removed_function();'), 'Call to undefined function'],
      ['a parse error', plugin('2.0', '$x = ;'), 'syntax error'],
      ['an error of the compiler', plugin('2.0', 'function same() {} class A {} class A {}'), 'class A'],
      [
        'an error later in the request',
        plugin('2.0', "add_action('template_redirect', function () { echo 'x'; null_thing()->go(); });"),
        'Call to undefined',
      ],
      // In all other cases PHP reports every error, also after a fatal one.
      [WITHOUT_DEBUG, plugin('2.0', 'class A {} class A {}'), 'class A'],
    ];

    it.each(breaks)('heals the site from %s on its own', async (what, broken, message) => {
      if (what === WITHOUT_DEBUG) site.write('flags.php', "<?php define('WP_DEBUG', false);");
      const since = Math.floor(Date.now() / 1000);
      const before = contents(live('alpha'));
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      await guard.arm(snapshot.id, 600);
      site.write('plugins/alpha/alpha.php', broken);
      await settle();
      await status(site.url);
      expect(await status(site.url)).toBe(200);
      expect(contents(live('alpha'))).toEqual(before);
      const [fault] = (await guard.faults(since)).slice(-1);
      expect(fault).toMatchObject({ kind: 'plugin', item: 'alpha', armed: true, restored: snapshot.id, waited: null });
      expect(fault?.message).toContain(message);
      expect(fault?.message).not.toContain(site.content);
      expect((await guard.hello()).armed).toEqual([]);
      rmSync(join(site.content, 'flags.php'), { force: true });
    });

    it('sees an error elsewhere whose stack passes through the item', async () => {
      const snapshot = await guard.snapshot('plugin', 'beta/beta.php');
      await guard.arm(snapshot.id, 600);
      site.write('plugins/alpha/alpha.php', plugin('1.0', 'function alpha_do(int $n) { return $n; }'));
      site.write(
        'plugins/beta/beta.php',
        plugin('2.0', "add_action('init', function () { array_map('alpha_do', array('x')); });"),
      );
      await settle();
      expect([await status(site.url), await status(site.url)]).toEqual([500, 200]);
      expect(
        (await guard.list()).find(({ role, slug }) => role === 'replaced' && slug === 'beta/beta.php')?.version,
      ).toBe('2.0');
    });

    it('waits while the item is being changed', async () => {
      const snapshot = await guard.snapshot('plugin', 'beta/beta.php');
      await guard.arm(snapshot.id, 600);
      site.write('plugins/beta/beta.php', plugin('2.1', 'half_copied();'));
      // On a machine of any speed: the file is being changed all the time.
      const copying = setInterval(() => chmodSync(live('beta/beta.php'), 0o644), 100);
      await status(site.url);
      clearInterval(copying);
      expect((await guard.faults(0)).at(-1)).toMatchObject({ item: 'beta', restored: null, waited: 'updating' });
      await settle();
      expect([await status(site.url), await status(site.url)]).toEqual([500, 200]);
    });

    it('records want of memory and time, and restores nothing', async () => {
      const snapshot = await guard.snapshot('plugin', 'beta/beta.php');
      await guard.arm(snapshot.id, 600);
      for (const [code, message] of [
        ['str_repeat("x", 500000000);', 'Allowed memory size'],
        ['set_time_limit(1); while (true) { $x = 1; }', 'Maximum execution time'],
      ] as const) {
        site.write('plugins/beta/beta.php', plugin('2.2', code));
        await settle();
        expect(await status(site.url)).toBe(500);
        const fault = (await guard.faults(0)).at(-1);
        expect(fault).toMatchObject({ item: 'beta', armed: true, restored: null, waited: 'resources' });
        expect(fault?.message).toContain(message);
      }
      expect(await status(site.url)).toBe(500);
      await guard.restore(snapshot.id);
      expect(await status(site.url)).toBe(200);
    });

    it('does not undo an update for an error that was there before', async () => {
      const code = "if (isset($_GET['rare'])) { old_mistake(); }";
      site.write('plugins/beta/beta.php', plugin('3.0', code));
      await settle();
      expect(await status(`${site.url}?rare=1`)).toBe(500);
      const snapshot = await guard.snapshot('plugin', 'beta/beta.php');
      await guard.arm(snapshot.id, 600);
      site.write('plugins/beta/beta.php', `${plugin('3.1')}\n\n${code}`);
      await settle();
      expect(await status(`${site.url}?rare=1`)).toBe(500);
      expect(readFileSync(live('beta/beta.php'), 'utf8')).toContain('3.1');
      expect(await guard.disarm(snapshot.id)).toEqual([]);
    });

    it('does nothing after its deadline, and takes exit for no error', async () => {
      const snapshot = await guard.snapshot('plugin', 'beta/beta.php');
      expect(await codeOf(guard.arm(snapshot.id, 3_601))).toBe('bad_request');
      await guard.arm(snapshot.id, 600);
      site.write('plugins/beta/beta.php', plugin('4.0', 'exit;'));
      await settle();
      expect((await visit(site.url)).text).toBe('');
      expect((await guard.hello()).armed).toHaveLength(1);
      await guard.arm(snapshot.id, 1);
      site.write('plugins/beta/beta.php', plugin('4.0', 'too_late();'));
      await settle();
      expect([await status(site.url), await status(site.url)]).toEqual([500, 500]);
      expect((await guard.hello()).armed).toEqual([]);
      await guard.restore(snapshot.id);
      expect(await status(site.url)).toBe(200);
    });

    it('acts although a drop-in of the site ends the request', async () => {
      site.write('php-error.php', '<?php http_response_code(500); echo "own page"; exit;');
      const snapshot = await guard.snapshot('plugin', 'beta/beta.php');
      await guard.arm(snapshot.id, 600);
      site.write('plugins/beta/beta.php', plugin('5.0', '\n\nanother_one();'));
      await settle();
      expect([await status(site.url), await status(site.url)]).toEqual([500, 200]);
      expect((await guard.hello()).drop_ins).toEqual(['php-error.php']);
      rmSync(join(site.content, 'php-error.php'));
    });
  });

  describe('an anonymous visitor of an armed site', () => {
    let version = 0;
    /** Beta, working and armed; sites that have answered since are known not to lie down. */
    async function armed(code: string): Promise<string> {
      const id = await changed(code, 0);
      expect(await status(site.url)).toBe(200);
      return id;
    }
    /** Beta, armed and changed some seconds ago; no request has passed since. */
    async function changed(code: string, patience: number): Promise<string> {
      const snapshot = await guard.snapshot('plugin', 'beta/beta.php');
      await guard.arm(snapshot.id, 600, patience);
      version += 1;
      // Each on a line of its own: what an older version had is known.
      site.write('plugins/beta/beta.php', plugin(`7.${version}`, `${'\n'.repeat(5 * version)}${code}`));
      await settle();
      return snapshot.id;
    }
    const isHere = () => readFileSync(live('beta/beta.php'), 'utf8').includes(`Version: 7.${version}\n`);
    const newest = async () => (await guard.faults(0)).at(-1);

    it('undoes nothing by addresses that another plugin quotes in its exception, and leaves one record', async () => {
      const before = (await guard.faults(0)).length;
      const quotes = "if (isset($_GET['day'])) { throw new RuntimeException('Bad day: ' . $_GET['day']); }";
      site.write('plugins/alpha/alpha.php', plugin('1.0', quotes));
      await armed('');
      const path = live('beta/beta.php');
      for (let i = 0; i < 22; i += 1) {
        const random = Array.from({ length: 6 }, (_, at) => String.fromCharCode(97 + ((i * 7 + at * 3) % 26))).join('');
        for (const day of [path, `${path}(3)`, `\n#0 ${path}(3): x()\n`])
          expect(await status(`${site.url}?day=${encodeURIComponent(`${day}/${random}`)}`)).toBe(500);
      }
      expect(isHere()).toBe(true);
      expect((await guard.hello()).armed).toHaveLength(1);
      const faults = await guard.faults(0);
      expect(faults.length - before).toBe(1);
      expect(faults.at(-1)).toMatchObject({ item: 'alpha', armed: false, blames: null, ours: null, restored: null });
      site.write('plugins/alpha/alpha.php', plugin('1.0'));
      await guard.disarm(null);
    });

    it.each([
      ['bytes that are no text', '%ff'],
      ['letters that are cut in the middle', encodeURIComponent('ä'.repeat(400))],
      ['letters that are cut in the middle, one byte later', encodeURIComponent(`x${'ä'.repeat(400)}`)],
    ])('hides no other record by %s', async (_what, day) => {
      const code = "if (isset($_GET['day'])) { throw new RuntimeException($_GET['day']); }";
      const id = await armed(code);
      const since = Math.floor(Date.now() / 1000);
      expect(await status(`${site.url}?day=${day}`)).toBe(500);
      const [fault] = await guard.faults(since);
      expect(fault).toMatchObject({ item: 'beta', blames: id, waited: 'visitor' });
      expect(fault?.message).toMatch(/^Uncaught RuntimeException: ./);
      await guard.disarm(null);
    });

    it('hides nothing that a look of Sitefleet meets by keeping the guard busy', async () => {
      const id = await armed("if (isset($_GET['rare'])) { touch(WP_CONTENT_DIR . '/met'); nix(); }");
      const busy = spawn(PHP, ['-r', HOLD, join(site.content, store() ?? '', 'lock')]);
      await once(busy.stdout, 'data');
      const look = visit(`${site.url}?rare=1`, guard.look());
      await expect.poll(() => existsSync(join(site.content, 'met'))).toBe(true);
      await pause(300);
      busy.stdin.end();
      expect((await look).status).toBe(500);
      expect([isHere(), (await newest())?.restored]).toEqual([false, id]);
    });

    it('takes nothing that a look of Sitefleet has met out of the record by provoking other errors', async () => {
      const id = await armed("if (isset($_GET['rare'])) { nix(); }");
      await guard.disarm(null);
      expect((await visit(`${site.url}?rare=1`, guard.look())).status).toBe(500);
      const met = await newest();
      expect(met).toMatchObject({ item: 'beta', blames: id, ours: expect.any(Number) });
      // Sixty places of another plugin.
      const places = Array.from({ length: 60 }, (_, at) => `if ('${at}' === ($_GET['at'] ?? '')) { nix(); }`);
      site.write('plugins/alpha/alpha.php', plugin('1.0', places.join('\n')));
      for (const at of places.keys()) expect(await status(`${site.url}?at=${at}`)).toBe(500);
      const faults = await guard.faults(0);
      expect(faults).toHaveLength(50);
      expect(faults).toContainEqual(met);
      site.write('plugins/alpha/alpha.php', plugin('1.0'));
    });

    it('undoes nothing by being the first after an update, while Sitefleet is about to look', async () => {
      const code = "if ('odd' === $_SERVER['HTTP_USER_AGENT']) { nix(); }";
      const odd = { 'user-agent': 'odd' };
      const id = await changed(code, 60);
      expect((await visit(site.url, odd)).status).toBe(500);
      expect(isHere()).toBe(true);
      expect(await newest()).toMatchObject({ item: 'beta', blames: id, restored: null, waited: 'visitor' });
      expect((await visit(site.url, { ...odd, ...guard.look() })).status).toBe(500);
      expect(isHere()).toBe(false);
      // Where Sitefleet has not come in time, a site that lies down helps itself.
      await changed(code, 3);
      expect((await visit(site.url, odd)).status).toBe(500);
      expect(isHere()).toBe(false);
    });

    it('keeps no copy from being made by what a plugin writes into its folder meanwhile', async () => {
      const log = 'plugins/beta/visits.log';
      const passing = 'plugins/beta/zz.tmp';
      site.writeAll({ [log]: Buffer.alloc(30_000_000, 'x'), [passing]: 'x' });
      const folder = join(site.content, store() ?? '');
      const begun = () =>
        readdirSync(folder).some((name) => name.endsWith('.tmp') && statSync(join(folder, name)).size > 0);
      const call = guard.snapshot('plugin', 'beta/beta.php');
      await expect.poll(begun, { interval: 1 }).toBe(true);
      appendFileSync(join(site.content, log), 'one more visit\n');
      rmSync(join(site.content, passing));
      const { id, files } = await call;
      expect(files).toBeGreaterThan(1);
      const before = readFileSync(live('beta/beta.php'));
      site.write('plugins/beta/beta.php', plugin('8.0'));
      await guard.restore(id);
      expect(readFileSync(live('beta/beta.php'))).toEqual(before);
      // Whether the visit came before or after the log was read, the copy is whole.
      expect([30_000_000, 30_000_015]).toContain(statSync(join(site.content, log)).size);
      rmSync(join(site.content, log));
    });

    it('keeps no copy from being made by what comes and goes without an ending in its name', async () => {
      const cache = Object.fromEntries(
        Array.from({ length: 3_000 }, (_, at) => [`plugins/beta/cache/${at}`, 'x'.repeat(2_000)]),
      );
      site.writeAll(cache);
      const folder = live('beta/cache');
      // What visits do: entries between those that last are made, and expire.
      const visits = spawn(process.execPath, ['-e', VISITS, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
      await once(visits.stdout, 'data');
      const made: string[] = [];
      for (let copy = 0; copy < 5; copy++) made.push(await codeOf(guard.snapshot('plugin', 'beta/beta.php')));
      visits.stdin.end();
      await once(visits, 'exit');
      expect(new Set(made)).toEqual(new Set(['no failure']));
      rmSync(folder, { recursive: true });
    });

    it('undoes nothing by coming after a look of Sitefleet that was well, though that came in the second of the change', async () => {
      const code = "if ('odd' === $_SERVER['HTTP_USER_AGENT']) { nix(); }";
      const snapshot = await guard.snapshot('plugin', 'beta/beta.php');
      await guard.arm(snapshot.id, 600, 3);
      version += 1;
      const text = plugin(`7.${version}`, `${'\n'.repeat(5 * version)}${code}`);
      // On a machine of any speed: the file is written again until look and change share a second.
      for (;;) {
        site.write('plugins/beta/beta.php', text);
        expect((await visit(site.url, guard.look())).status).toBe(200);
        if (Math.floor(statSync(live('beta/beta.php')).ctimeMs / 1000) === Math.floor(Date.now() / 1000)) break;
      }
      await settle();
      await pause(1_000);
      expect((await visit(site.url, { 'user-agent': 'odd' })).status).toBe(500);
      expect(isHere()).toBe(true);
      expect(await newest()).toMatchObject({ blames: snapshot.id, restored: null, waited: 'visitor' });
      await guard.disarm(null);
    });

    it('undoes nothing by what is left for a scheduled task, though Sitefleet runs it', async () => {
      const code = `add_action('form_task', function ($sent) { new DateTime($sent); });
        if (isset($_GET['form'])) add_action('init', function () { wp_schedule_single_event(time() - 1, 'form_task', array($_GET['form'])); });`;
      const id = await armed(code);
      expect(await status(`${site.url}?form=rubbish`)).toBe(200);
      expect((await visit(`${site.url}wp-cron.php`, guard.look())).status).toBe(500);
      expect(isHere()).toBe(true);
      expect(await newest()).toMatchObject({ blames: id, ours: null, cron: true, restored: null, waited: 'visitor' });
      // An error of the new version on its way to the tasks is its own.
      const broken = await armed("if (defined('DOING_CRON')) { nix(); }");
      expect((await visit(`${site.url}wp-cron.php`, guard.look())).status).toBe(500);
      expect([isHere(), (await newest())?.restored]).toEqual([false, broken]);
    });

    it.each([
      ['an address', '?rare=1', {}, "if (isset($_GET['rare'])) { nix(); }"],
      ['a header', '', { 'user-agent': 'odd' }, "if ('odd' === $_SERVER['HTTP_USER_AGENT']) { nix(); }"],
    ])(
      'undoes nothing by %s that the item itself does not stand; a look of Sitefleet does',
      async (_what, query, headers, code) => {
        const id = await armed(code);
        expect((await visit(`${site.url}${query}`, headers)).status).toBe(500);
        expect(isHere()).toBe(true);
        expect(await newest()).toMatchObject({
          item: 'beta',
          blames: id,
          ours: null,
          restored: null,
          waited: 'visitor',
        });
        const look = (private_key: string, now = Date.now(), url = site.url) => lookHeaders({ url, private_key }, now);
        for (const bad of [
          look(other.private_key),
          look(key.private_key, Date.now() - 400_000),
          look(key.private_key, Date.now(), 'https://example.com/'),
          { 'x-sitefleet-look': 'yes' },
        ])
          expect((await visit(`${site.url}${query}`, { ...headers, ...bad })).status).toBe(500);
        expect(isHere()).toBe(true);
        expect((await visit(`${site.url}${query}`, { ...headers, ...guard.look() })).status).toBe(500);
        expect(isHere()).toBe(false);
        expect(await newest()).toMatchObject({ item: 'beta', blames: id, restored: id, ours: expect.any(Number) });
      },
    );
  });

  describe('killed in the middle', () => {
    it('has the old or the new version, whole, and the next request finishes', async () => {
      writePlugin(site, 'large', '1.0', 1_500, 400);
      const old = contents(live('large'));
      const snapshot = await guard.snapshot('plugin', 'large/large.php');
      for (let round = 0; round < 6; round += 1) {
        site.write('plugins/large/large.php', plugin(`2.${round}`));
        const broken = contents(live('large'));
        const call = guard.restore(snapshot.id).catch(() => null);
        const working = () =>
          readdirSync(join(site.content, 'plugins')).some((name) => name.startsWith('.sitefleet-guard-'));
        for (let i = 0; i < 400 && !working(); i += 1) await pause(2);
        await pause(round * 20);
        site.stop();
        await call;
        await site.serve();
        expect(await status(site.url)).toBe(200);
        expect([old, broken]).toContainEqual(contents(live('large')));
        expect(working()).toBe(false);
        expect(existsSync(join(site.content, store() ?? '', 'journal.json'))).toBe(false);
        expect(await guard.restore(snapshot.id)).toMatchObject({ snapshot: { id: snapshot.id } });
        expect(contents(live('large'))).toEqual(old);
      }
    });
  });

  describe('login', () => {
    it('lets a browser in once, as that administrator, without the token in the address', async () => {
      const { url } = await guard.login('second');
      const first = await visit(url);
      expect([first.status, first.headers.get('location')]).toEqual([302, `${site.url}wp-admin/`]);
      expect(first.headers.get('cache-control')).toContain('no-');
      expect(first.headers.get('referrer-policy')).toBe('no-referrer');
      // Page caches of hosts that are told to ignore Cache-Control and cookies obey these.
      for (const [name, value] of UNCACHED) expect([name, first.headers.get(name)]).toEqual([name, value]);
      const cookie = first.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ');
      const profile = (await visit(`${site.url}wp-admin/profile.php`, { cookie })).text;
      expect(profile).toMatch(/id="user_login"[^>]*value="second"/);
      const second = await visit(url);
      expect([second.status, second.cookies]).toEqual([200, []]);
    });

    it('is not opened by files that a plugin with a hole was made to write, nor is code put live', async () => {
      const before = contents(join(site.content, 'plugins'));
      const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
      const real = store() ?? '';
      const token = 'a'.repeat(64);
      const until = Math.floor(Date.now() / 1000) + 50;
      const logins = { [createHash('sha256').update(token).digest('hex')]: { user: 1, site: 1, until } };
      const id = 'f'.repeat(32);
      const description = { ...snapshot, id, slug: 'evil/evil.php', order: 1, mode: 0o755 };
      const armed = [{ snapshot: id, kind: 'plugin', slug: 'evil/evil.php', at: 1, until }];
      const journal = { id, snapshot: id, kind: 'plugin', slug: 'evil/evil.php', phase: 'swap' };
      site.write(`plugins/.sitefleet-guard-${id}/new/evil/evil.php`, plugin('6.6'));
      const folders = [`sitefleet-guard-${'0'.repeat(32)}`, real];
      for (const folder of folders) {
        site.write(`${folder}/logins.json`, JSON.stringify(logins));
        site.write(`${folder}/${id}.json`, JSON.stringify(description));
        site.write(`${folder}/${id}.bin`, readFileSync(join(site.content, real, `${snapshot.id}.bin`)));
        site.write(`${folder}/armed.json`, JSON.stringify(armed));
        site.write(`${folder}/journal.json`, JSON.stringify(journal));
        expect((await visit(`${site.url}?sitefleet-login=${token}`)).cookies).toEqual([]);
        expect(existsSync(live('evil'))).toBe(false);
        expect(await guard.hello()).toMatchObject({ armed: [] });
        expect(await codeOf(guard.restore(id))).toBe('not_found');
      }
      rmSync(join(site.content, 'plugins', `.sitefleet-guard-${id}`), { recursive: true });
      rmSync(join(site.content, folders[0] ?? ''), { recursive: true });
      expect(contents(join(site.content, 'plugins'))).toEqual(before);
      await guard.hello();
    });

    it('works while a plugin is fatal, stores no token, and only once among many', async () => {
      site.write('plugins/beta/beta.php', plugin('6.0', 'nix();'));
      const { url } = await guard.login('admin');
      const token = url.split('=')[1] ?? '';
      for (const name of readdirSync(join(site.content, store() ?? ''))) {
        expect(readFileSync(join(site.content, store() ?? '', name)).includes(token)).toBe(false);
      }
      const answers = await Promise.all([1, 2, 3, 4].map(() => visit(url)));
      expect(answers.map(({ status }) => status).sort()).toEqual([302, 500, 500, 500]);
      site.write('plugins/beta/beta.php', plugin('6.1'));
    });

    it('is over after 60 seconds, for administrators only, and not where the owner has not allowed it', async () => {
      const { url, until } = await guard.login('admin');
      expect(until - Date.now() / 1000).toBeLessThanOrEqual(60);
      const file = join(site.content, store() ?? '', 'logins.json');
      const text = readFileSync(file, 'utf8').slice(65);
      const over = text.replaceAll(String(until), String(Math.floor(Date.now() / 1000) - 1));
      expect(sealed('logins.json', text)).toBe(readFileSync(file, 'utf8'));
      writeFileSync(file, sealed('logins.json', over));
      expect((await visit(url)).status).toBe(200);
      expect(await codeOf(guard.login('edith'))).toBe('not_found');
      expect(await codeOf(guard.login('nobody'))).toBe('not_found');
      const allowed = await guard.login('admin');
      site.installGuard(false);
      expect(await codeOf(guard.login('admin'))).toBe('login_not_allowed');
      expect((await visit(allowed.url)).cookies).toEqual([]);
    });
  });

  it('has given PHP nothing to complain about', () => {
    // The log works: it contains entries of the test's own plugin.
    expect(site.complaints('alpha.php')).not.toEqual([]);
    expect(site.complaints('sitefleet-guard.php')).toEqual([]);
  });

  describe('a second copy, and a new one', () => {
    it('under another name does nothing', async () => {
      site.write('mu-plugins/another-guard.php', readFileSync(join(site.content, 'mu-plugins/sitefleet-guard.php')));
      expect(await status(site.url)).toBe(200);
      expect((await guard.hello()).guard).not.toBe('');
      rmSync(join(site.content, 'mu-plugins/another-guard.php'));
    });

    it('does not take what was signed before it was there', async () => {
      const kept = signed(site, key.private_key, 'disarm');
      await guard.hello();
      expect(await guard.uninstall()).toBe(true);
      const since = Math.floor(Date.now() / 1000) + 1;
      const text = withSettings(readFileSync(GUARD_FILE, 'utf8'), { login: true, since });
      site.write('mu-plugins/sitefleet-guard.php', text);
      await settle();
      expect((await post(site.url, kept.headers, kept.body)).text).toContain('"code":"replayed"');
      expect(store()).toBeUndefined();
      expect((await guard.hello()).login).toBe(true);
      // Copied by hand, it knows no time: then the first request counts.
      site.installGuard(true);
      expect((await post(site.url, kept.headers, kept.body)).text).toContain('"code":"replayed"');
      expect((await guard.hello()).login).toBe(true);
    });

    it('takes no login token that it cannot use up', async () => {
      const { url } = await guard.login('admin');
      const folder = join(site.content, store() ?? '');
      chmodSync(folder, 0o555);
      for (let i = 0; i < 3; i += 1) expect((await visit(url)).cookies).toEqual([]);
      chmodSync(folder, 0o700);
      expect((await visit(url)).cookies.length).toBeGreaterThan(0);
      expect((await visit(url)).cookies).toEqual([]);
    });

    it('forgets copies after their time though no dashboard asks', async () => {
      const { id } = await guard.snapshot('plugin', 'alpha/alpha.php');
      const folder = join(site.content, store() ?? '');
      const file = join(folder, `${id}.json`);
      const old = { ...JSON.parse(readFileSync(file, 'utf8').slice(65)), created: 1_600_000_000 };
      writeFileSync(file, sealed(`${id}.json`, JSON.stringify(old)));
      expect(await status(site.url)).toBe(200);
      expect(existsSync(file)).toBe(true);
      utimesSync(join(folder, 'lock'), 1_600_000_000, 1_600_000_000);
      expect(await status(site.url)).toBe(200);
      await expect.poll(() => existsSync(file) || existsSync(join(folder, `${id}.bin`))).toBe(false);
    });
  });

  describe('uninstall', () => {
    it('removes everything', async () => {
      await guard.snapshot('plugin', 'alpha/alpha.php');
      expect(await guard.uninstall()).toBe(true);
      expect(store()).toBeUndefined();
      expect(existsSync(join(site.content, 'mu-plugins/sitefleet-guard.php'))).toBe(false);
      expect(await status(site.url)).toBe(200);
      expect(await codeOf(guard.hello())).toBe('no_guard');
    });
  });
});
