/** The guard's count of visits, in real WordPress: what is counted, what is not, and when it says that it knows. */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import type { GuardClient } from '../../src/outbound/guard/client.js';
import { needs } from '../support/needs.js';
import { PHP } from '../support/php.js';
import { clientOf, closeTransport, sealed } from './tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from './wordpress.js';

const DAY_MS = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Seeds of PHP's random numbers with which the next one of 1 to 20 is 1, or is not: before the guard draws, each request is told. */
const SEEDS = `foreach (range(1, 200) as $seed) { mt_srand($seed); $drawn[1 === mt_rand(1, 20) ? 'counted' : 'not'] = $seed; }
echo json_encode($drawn);`;

describe('visits counted by the guard in real WordPress', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let site: WordPress;
  let guard: GuardClient;
  let seeds: { counted: number; not: number };

  const folder = () => {
    const name = readdirSync(site.content).find((one) => one.startsWith('sitefleet-guard-'));
    return join(site.content, name ?? 'missing');
  };
  const fileOf = (ms: number) => join(folder(), `visits-1-${dayOf(ms)}`);
  /** What was counted today; a test may run over midnight. */
  const bytes = () =>
    [Date.now() - DAY_MS, Date.now()]
      .map(fileOf)
      .filter((file) => existsSync(file))
      .map((file) => readFileSync(file).length)
      .reduce((sum, one) => sum + one, 0);
  const forget = () => {
    for (const name of readdirSync(folder())) if (name.startsWith('visits-')) rmSync(join(folder(), name));
  };
  /** A request whose draw is given. */
  const ask = async (path: string, init: RequestInit = {}, drawn: 'counted' | 'not' = 'counted') => {
    const url = new URL(path, site.url);
    url.searchParams.set('seed', String(seeds[drawn]));
    const answer = await fetch(url, { redirect: 'manual', ...init });
    await answer.arrayBuffer();
    return answer.status;
  };

  beforeAll(async () => {
    seeds = JSON.parse(execFileSync(PHP, ['-r', SEEDS], { encoding: 'utf8' }));
    await host.start();
    const key = await generateKey();
    site = await host.site('visited', { log: true });
    site.trust(key.public_key);
    site.write('mu-plugins/00-seed.php', "<?php isset( $_GET['seed'] ) && mt_srand( (int) $_GET['seed'] );");
    site.installGuard();
    guard = clientOf(site, key.private_key);
  });

  afterAll(async () => {
    await closeTransport();
    await host.close();
  });

  it('are not counted before a signed request has made its folder, and are not known on the first day', async () => {
    expect(await ask('/')).toBe(200);
    expect(readdirSync(site.content).filter((name) => name.startsWith('sitefleet-guard-'))).toEqual([]);
    expect((await guard.hello()).visits).toBeNull();
    expect(await ask('/')).toBe(200);
    expect(bytes()).toBe(1);
    expect((await guard.hello()).visits).toBeNull();
  });

  it('are pages by GET that are drawn, and nothing else', async () => {
    forget();
    expect(await ask('/', {}, 'not')).toBe(200);
    await ask('/', { method: 'POST' });
    await ask('/', { method: 'HEAD' });
    await ask('/wp-login.php');
    await ask('/wp-cron.php');
    await ask('/wp-admin/admin-ajax.php?action=nothing');
    await ask('/?rest_route=/');
    await ask('/', { headers: { 'x-sitefleet-look': '1 x' } });
    await ask('/', { headers: { 'x-sitefleet-session': '1 x' } });
    expect(bytes()).toBe(0);
    for (const path of ['/', '/?p=1', '/?p=999999']) await ask(path);
    expect(bytes()).toBe(3);
    // Nothing but that someone came.
    const kept = readdirSync(folder()).filter((name) => name.startsWith('visits-'));
    expect(kept.map((name) => readFileSync(join(folder(), name), 'utf8')).join('')).toBe('...');
  });

  it('are not known of the days before this guard came, though its folder is older', async () => {
    const time = Math.floor((Date.now() - 30 * DAY_MS) / 1000);
    writeFileSync(join(folder(), 'born.json'), sealed('born.json', JSON.stringify({ time })));
    writeFileSync(fileOf(Date.now() - DAY_MS), '.....');
    expect((await guard.hello()).visits).toBeNull();
  });

  it('are not followed through a link, and not counted into a folder that cannot be written', async () => {
    forget();
    const elsewhere = join(site.content, 'elsewhere.txt');
    writeFileSync(elsewhere, 'as it was', { mode: 0o666 });
    for (const day of [Date.now(), Date.now() + DAY_MS]) symlinkSync(elsewhere, fileOf(day));
    expect(await ask('/')).toBe(200);
    expect(readFileSync(elsewhere, 'utf8')).toBe('as it was');
    forget();
    chmodSync(folder(), 0o500);
    try {
      expect(await ask('/')).toBe(200);
      expect((await guard.hello()).visits).toBeNull();
    } finally {
      chmodSync(folder(), 0o700);
    }
    expect(bytes()).toBe(0);
  });

  it('are kept for as long as they are told', async () => {
    const now = Date.now();
    for (const days of [8, 9, 30]) writeFileSync(fileOf(now - days * DAY_MS), '.');
    writeFileSync(fileOf(now - 6 * DAY_MS), '.');
    utimesSync(join(folder(), 'lock'), new Date(0), new Date(0));
    await guard.hello();
    expect([6, 8, 9, 30].map((days) => existsSync(fileOf(now - days * DAY_MS)))).toEqual([true, false, false, false]);
  });

  it('PHP reports nothing about it', () => {
    expect(site.complaints('sitefleet-guard.php')).toEqual([]);
  });
});
