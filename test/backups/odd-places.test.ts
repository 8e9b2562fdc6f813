/**
 * Restores of real WordPress where files are in odd places: left there by a hacker, replaced by a link or a folder, on another
 * disk, or in a content folder of another name.
 */

import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { FPM } from '../guard/fpm.js';
import { clientOf, closeTransport, contents, visit } from '../guard/tools.js';
import { WORDPRESS, WordPressHost } from '../guard/wordpress.js';
import { tempFolder } from '../support/cleanup.js';
import type { Answer, TestApp } from '../support/harness.js';
import { needs, OTHER_DISK } from '../support/needs.js';
import { pause } from '../support/processes/program.js';
import { addRealSite, backupsApp } from './real-site.js';

const HEAD = (name: string, version: string) => `<?php\n/* Plugin Name: ${name}\nVersion: ${version} */\n`;
/** Fatal while a file beside the content folder says so, which no backup has. */
const DOOMED = `${HEAD('Doomed', '1.0')}if ( file_exists( ABSPATH . 'doom' ) ) { undefined_function_of_doom(); }\n`;
const SHELL = '<?php evil();';
const THREE_MB = 3_000_000;

describe('restores of files in odd places', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let app: TestApp;
  let key: Awaited<ReturnType<typeof generateKey>>;

  beforeAll(async () => {
    await host.start({ files: 'code' });
    key = await generateKey();
    app = await backupsApp('odd-places');
  });

  afterAll(async () => {
    await app?.close();
    await closeTransport();
    await host.close();
  });

  async function made(name: string, options: { content?: string } = {}) {
    const site = await host.site(name, { log: true, temporary: true, updates: true, compiled: true, ...options });
    site.trust(key.public_key);
    site.write(
      'plugins/mainwp-child/mainwp-child.php',
      readFileSync(new URL('../guard/mainwp-child.php', import.meta.url)),
    );
    site.write('plugins/doomed/doomed.php', DOOMED);
    site.write('uploads/a.txt', 'a');
    site.activate('mainwp-child/mainwp-child.php', 'doomed/doomed.php');
    const one = await addRealSite(app, site, key.private_key);
    return {
      site,
      at: (path: string) => join(site.content, path),
      backUp: async () => (await app.call('back-up-site', one)).backups[0] as Answer,
      restore: ({ backup_id }: Answer, input: object = {}) =>
        app.call('restore-backup', { backup_id, what: 'site', confirm: true, ...input }),
      front: () => visit(site.url).then(({ status }) => status),
      guard: () => clientOf(site, key.private_key).backups(),
    };
  }

  it('names what a hacker has left where a restore removes nothing', async () => {
    const { site, at, backUp, restore } = await made('hacked');
    site.write('cache/before.html', 'cached');
    const backup = await backUp();
    const hidden = `plugins/.sitefleet-guard-${'ab'.repeat(16)}/evil.php`;
    const removed = ['uploads/shell.php', 'uploads/.sitefleet-guard-x/evil.php', hidden];
    const stays = [
      ...['mu-plugins/evil.php', 'mu-plugins/sitefleet-guard-evil.php', 'maintenance.php', 'uploads/.htaccess'],
      ...['uploads/.user.ini', 'sitefleet-guard-y/evil.php'],
    ];
    const outside = ['cache/deep/evil.php', 'upgrade/.htaccess', `sitefleet-guard-${'cd'.repeat(16)}/evil.php`];
    site.writeAll(Object.fromEntries([...removed, ...outside].map((path) => [path, SHELL])));
    // PHP reads these in each request.
    site.writeAll(
      Object.fromEntries(stays.map((path) => [path, path.endsWith('.php') ? '<?php // hacked' : '# hacked'])),
    );
    symlinkSync('/nowhere', at('uploads/link.php'));
    writeFileSync(join(site.core, 'shell.php'), SHELL);
    writeFileSync(join(site.core, 'note.txt'), 'x');
    const plan = await restore(backup, { dry_run: true, confirm: false });
    const done = await restore(backup);
    expect(done).toMatchObject({ outcome: 'restored', files_removed: removed.length, kept: [] });
    for (const path of removed) expect(existsSync(at(path)), path).toBe(false);
    const named = ['shell.php', ...stays.map((path) => `wp-content/${path}`), 'wp-content/uploads/link.php (link)'];
    for (const answer of [plan, done]) {
      expect([...answer.not_in_backup].sort()).toEqual([...named, 'note.txt'].sort());
      // What does not run comes last.
      expect(answer.not_in_backup.at(-1)).toBe('note.txt');
      expect(answer.not_in_backup_count).toBe(named.length + 1);
      const text = answer.warnings.join();
      expect(text).toContain('no backup has them: wp-content/cache; ');
      expect(text).toContain('the 3 files in them');
      for (const path of outside) expect(text).toContain(`wp-content/${path}`);
    }
    const files = await restore(backup, { what: 'files', name: 'wp-content/mu-plugins/*', dry_run: true }).catch(
      String,
    );
    expect(JSON.stringify(files)).not.toContain('note.txt');
    expect(site.complaints('sitefleet-backup.php')).toEqual([]);
    site.stop();
  });

  it('has the files after names that are not UTF-8, where pages of the list end at them', async () => {
    const { site, at, backUp, restore, guard } = await made('bytes');
    const folder = at('uploads/bytes');
    mkdirSync(folder);
    const put = (name: Buffer) => writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), '');
    // Of each byte more than the 4,000 that make a page, so that pages end among them whatever else the site has.
    for (const byte of [0x81, 0xe9, 0xfc])
      for (let index = 0; index < 4_200; index++) put(Buffer.from([byte, ...Buffer.from(String(index))]));
    // Between the bytes, and above them all up to the last that UTF-8 has: four bytes that begin with F4.
    const between = ['z', 'é', '日', '\uffff', '🌱', '\u{10fffd}'];
    for (const name of between) put(Buffer.from(name));
    site.write('uploads/last.txt', 'last');
    const backup = await backUp();
    expect(backup.left_out_count).toBeGreaterThanOrEqual(3 * 4_200);
    const pages: Answer[] = [];
    for (let after: string | null = ''; after !== null; after = pages.at(-1)?.next)
      pages.push(await guard().manifest(after as string));
    const listed = pages.flatMap(({ files }) => files.map(({ path }: Answer) => path));
    const wanted = [...between.map((name) => `wp-content/uploads/bytes/${name}`), 'wp-content/uploads/last.txt'];
    expect(listed).toEqual(expect.arrayContaining(wanted));
    expect(new Set(listed).size).toBe(listed.length);
    const skipped = pages.flatMap(({ left_out }) => left_out).filter(({ why }) => why === 'name');
    expect(new Set(skipped.map(({ path }: Answer) => path)).size).toBe(3 * 4_200);
    expect(await restore(backup)).toMatchObject({ outcome: 'restored', files_removed: 0 });
    for (const path of wanted) expect(existsSync(at(path.slice('wp-content/'.length))), path).toBe(true);
    expect(site.complaints('sitefleet-backup.php')).toEqual([]);
    site.stop();
  });

  it('moves away what has replaced a file or a folder, writes through no link, and takes that back', async () => {
    const { site, at, backUp, restore, front } = await made('kinds');
    site.writeAll({ 'uploads/2026/a.txt': 'a', 'uploads/2025/12/b.txt': 'b', 'uploads/c.txt': 'c' });
    const backup = await backUp();
    const outside = tempFolder('outside');
    writeFileSync(join(outside, 'a.txt'), 'precious');
    if (process.getuid?.() === 0) for (const path of [outside, join(outside, 'a.txt')]) chownSync(path, 65_534, 65_534);
    for (const path of ['2026', '2025', 'c.txt']) rmSync(at(`uploads/${path}`), { recursive: true });
    symlinkSync(outside, at('uploads/2026'));
    site.writeAll({ 'uploads/2025': 'a file', 'uploads/c.txt/in/d.txt': 'd', 'uploads/c.txt/e.txt': 'e' });
    const hacked = contents(at('uploads'));
    const plan = await restore(backup, { dry_run: true, confirm: false });
    expect(plan.warnings.join()).toContain(
      'removed, not what links lead to: wp-content/uploads/2025; wp-content/uploads/2026.',
    );
    expect(plan.examples).toContain('remove: wp-content/uploads/2026');
    site.write('plugins/doomed/doomed.php', HEAD('Doomed', '2.0'));
    writeFileSync(join(site.core, 'doom'), '');
    expect(await restore(backup)).toMatchObject({ outcome: 'taken_back' });
    expect(contents(at('uploads'))).toEqual(hacked);
    expect(lstatSync(at('uploads/2026')).isSymbolicLink()).toBe(true);
    rmSync(join(site.core, 'doom'));
    expect(await restore(backup)).toMatchObject({ outcome: 'restored' });
    const read = ['a.txt', '2026/a.txt', '2025/12/b.txt', 'c.txt'].map((path) =>
      readFileSync(at(`uploads/${path}`), 'utf8'),
    );
    expect(read).toEqual(['a', 'a', 'b', 'c']);
    expect(lstatSync(at('uploads/2026')).isSymbolicLink()).toBe(false);
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('precious');
    expect(await front()).toBe(200);
    // Nothing of what was moved away is left.
    const store = readdirSync(site.content).find((name) => name.startsWith('sitefleet-guard-')) ?? '';
    expect(readdirSync(at(store)).filter((name) => name.startsWith('restore-'))).toEqual([]);
    expect(site.complaints('sitefleet-backup.php')).toEqual([]);
    site.stop();
  });

  it('reads a content folder of another name in the root once', async () => {
    const content = join(host.folder, 'renamed-core', 'app');
    const { backUp, restore, site } = await made('renamed', { content });
    const backup = await backUp();
    const { folders } = await app.call('get-backup', { backup_id: backup.backup_id });
    expect(folders.map(({ path }: Answer) => path).filter((path: string) => path.split('/')[0] === 'app')).toEqual([]);
    site.write('uploads/a.txt', 'other');
    expect(await restore(backup)).toMatchObject({
      outcome: 'restored',
      files_replaced: 1,
      kept: [],
      not_in_backup: [],
    });
    site.stop();
  });

  it('on the command line, half of a restored site never runs', async () => {
    const { site, backUp, restore, front } = await made('command');
    const state = (version: number) => {
      site.write('plugins/quiet/quiet.php', `${HEAD('Quiet', '1.0')}define( 'QUIET', ${10 ** version} );\n`);
      site.wp(`update_option( 'quiet', ${10 ** version} );`);
    };
    state(1);
    site.activate('mainwp-child/mainwp-child.php', 'quiet/quiet.php');
    const backup = await backUp();
    state(2);
    const run = () => {
      try {
        return site.php(`require '${site.core}/wp-load.php'; echo QUIET, ' ', get_option( 'quiet' );`);
      } catch (error) {
        return String((error as { stderr?: string }).stderr);
      }
    };
    expect(run()).toBe('100 100');
    const holder = host.hold(`USE ${site.database}; LOCK TABLES wp_links READ;`);
    await reached(() => host.query('SHOW OPEN TABLES WHERE In_use > 0').includes('wp_links'));
    const call = restore(backup).catch((error: unknown) => error);
    await reached(() => host.query('SHOW PROCESSLIST').includes('RENAME TABLE'));
    site.stop();
    await call;
    const runs: string[] = [];
    await reached(() => {
      runs.push(run());
      return !runs.at(-1)?.includes('being restored');
    });
    holder();
    expect(runs.at(-1)).toBe('100 100');
    await site.serve();
    expect(await front()).toBe(200);
    expect(run()).toBe('100 100');
    site.stop();
  });

  // Only PHP's own server can be told at which byte it breaks.
  describe.skipIf(FPM !== '')('with uploads on another disk', needs('another disk'), () => {
    let of: Awaited<ReturnType<typeof made>>;
    let disk: string;
    const own = (path: string) => process.getuid?.() === 0 && chownSync(path, 65_534, 65_534);

    beforeAll(async () => {
      of = await made('disks');
      disk = mkdtempSync(join(OTHER_DISK ?? '', 'sitefleet-disk-'));
      own(disk);
      rmSync(of.at('uploads'), { recursive: true });
      symlinkSync(disk, of.at('uploads'));
      of.site.write('uploads/2026/a.txt', 'a');
    });

    afterAll(() => {
      if (disk !== undefined) rmSync(disk, { recursive: true });
    });

    const video = () => of.at('uploads/2026/video.bin');

    it.each(['killed', 'full'] as const)('a move that ends half-way (%s) loses nothing', async (breaks) => {
      const { site, restore, backUp, front, guard } = of;
      const backup = await backUp();
      const whole = Buffer.alloc(THREE_MB, `${breaks} `);
      site.write('uploads/2026/video.bin', whole);
      site.write('uploads/2026/a.txt', 'newer');
      const before = contents(disk);
      site.stop();
      await site.serve({ breaks });
      const failed = await restore(backup).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(Error);
      site.stop();
      await site.serve();
      expect(await front()).toBe(200);
      expect(readFileSync(video()).equals(whole)).toBe(true);
      expect(contents(disk)).toEqual(before);
      expect(await restore(backup)).toMatchObject({ outcome: 'restored', files_removed: 1 });
      expect(existsSync(video())).toBe(false);
      expect(readFileSync(of.at('uploads/2026/a.txt'), 'utf8')).toBe('a');
      expect(readdirSync(dirname(video()))).toEqual(['a.txt']);
      expect(await guard().restoring()).toBeNull();
      expect(site.complaints('sitefleet-backup.php')).toEqual([]);
    });

    it('refuses a restore for which the disk has too little space before it changes anything', async () => {
      const { site, restore, backUp } = of;
      const backup = await backUp();
      site.writeAll({ 'uploads/2026/video.bin': '', 'uploads/2026/a.txt': 'newer' });
      // Of 4 TB, of which none takes space.
      truncateSync(video(), 4e12);
      site.stop();
      await site.serve({ breaks: 'full' });
      const failed = await restore(backup).catch((error: Error) => error.message);
      expect(failed).toContain('too little space');
      expect(lstatSync(video()).size).toBe(4e12);
      expect(readFileSync(of.at('uploads/2026/a.txt'), 'utf8')).toBe('newer');
      rmSync(video());
      site.stop();
    });
  });
});

/** Waits for a state of the site. */
async function reached(there: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await there())) await pause(2);
}
