/** Trial restores where nothing can be restored, their schedule, their alert, and what the brief says of them. */

import { readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { drillByClock } from '../../src/domain/backups/drill-by-clock.js';
import { otherCause } from '../../src/domain/backups/other-cause.js';
import { siteConstants } from '../../src/domain/backups/site-constants.js';
import { tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp } from '../support/harness.js';

const DAY_MS = 24 * 3_600_000;
const PROGRAMS = ['php-cgi', 'mariadbd', 'mariadb-install-db', 'mariadb'];

let folder: string;
let app: TestApp;

/** @param programs that the machine has; they are not run, as no simulated site has WordPress in its backups */
async function start(programs: readonly string[] | null, sites = 1): Promise<void> {
  folder = tempFolder('drill');
  for (const name of programs ?? []) writeFileSync(join(folder, name), '', { mode: 0o755 });
  const drills =
    programs === null
      ? {}
      : { drills: true, drill_path: folder, drill_playground: folder, drill_dir: tempFolder('drill-copies') };
  app = await testApp({ sites, config: { site_backup_dir: join(folder, 'repository'), ...drills } });
  for (let site = 0; site < sites; site++) {
    await app.connect(site);
    await app.call('install-site-guard', { site_id_or_domain: site + 1 });
  }
}

const backUp = async (site = 1) => String((await app.call('back-up-site', { site_id_or_domain: site })).backup_id);
const kept = async (backup_id: string) => (await app.call('get-backup', { backup_id })).drill;
const failing = () => app.db.all("SELECT facts FROM alert WHERE kind = 'site.drill_failed'");
/** As a drill that took place. */
async function proven(id: string, site: number): Promise<void> {
  const { siteBackups } = app.service.store;
  const facts = JSON.stringify({
    result: 'proven',
    reason: null,
    restore_seconds: 9,
    data_age_seconds: 60,
    php: '8.2.1',
  });
  await siteBackups.beginDrill({ id, site_id: site }, facts, app.clock.now());
  await siteBackups.endDrill(id, { result: 'proven', facts }, app.clock.now());
}

describe('a drill', () => {
  it('is off unless the operator allows it, and then no attempt', async () => {
    await start(null);
    const id = await backUp();
    const result = await app.call('drill-backup', { backup_id: id });
    expect(result).toMatchObject({ result: 'could_not_verify', compared: [], php: null });
    expect(result.reason).toContain('SITEFLEET_DRILLS=1');
    expect(await kept(id)).toBeNull();
    expect(await drillByClock(app.ctx())).toBe('not possible here');
  });

  it.each(PROGRAMS)('needs %s', async (missing) => {
    await start(PROGRAMS.filter((name) => name !== missing));
    const id = await backUp();
    app.clock.move(90_000);
    const result = await app.call('drill-backup', { site_id_or_domain: 1 });
    expect(result).toMatchObject({ backup_id: id, result: 'could_not_verify', data_age_seconds: 90 });
    expect(result.reason).toContain(`no ${missing}, `);
    expect(await kept(id)).toMatchObject({ result: 'could_not_verify', reason: result.reason });
    expect((await app.call('list-backups', { proven: true })).total).toBe(0);
    expect((await app.call('list-backups', { proven: false })).total).toBe(1);
    expect(await failing()).toEqual([]);
  });

  it('does not count as proven where WordPress is not in the backup', async () => {
    await start(PROGRAMS);
    const id = await backUp();
    expect(await app.call('drill-backup', { backup_id: id })).toMatchObject({
      result: 'could_not_verify',
      reason: 'The backup has no wp-settings.php: WordPress itself is elsewhere on the site.',
    });
  });

  it.each(['packs', 'snapshots'])(
    'fails where the %s of the backup cannot be read, with one alert for it',
    async (part) => {
      await start(PROGRAMS);
      const id = await backUp();
      const place = join(folder, 'repository', part);
      for (const name of readdirSync(place, { recursive: true, encoding: 'utf8' }))
        if (statSync(join(place, name)).isFile()) truncateSync(join(place, name), 0);
      expect(await drillByClock(app.ctx())).toBe('site 1: failed');
      const result = await app.call('drill-backup', { backup_id: id });
      expect(result.result).toBe('failed');
      const alerts = await failing();
      expect(alerts.map(({ facts }) => JSON.parse(String(facts)))).toEqual([
        expect.objectContaining({ backup_id: id, reason: result.reason }),
      ]);
    },
  );

  it('names one thing', async () => {
    await start(PROGRAMS);
    const id = await backUp();
    expect((await app.fail('drill-backup', {})).code).toBe('svc_invalid_input');
    expect((await app.fail('drill-backup', { backup_id: id, site_id_or_domain: 1 })).code).toBe('svc_invalid_input');
    expect((await app.fail('drill-backup', { backup_id: `backup_${'0'.repeat(24)}` })).code).toBe(
      'svc_backup_not_found',
    );
  });
});

describe('the schedule', () => {
  beforeEach(() => start(PROGRAMS, 3));

  it('drills the newest backup of each site once a month, and sooner where nothing was verified', async () => {
    for (const site of [1, 2]) await backUp(site);
    app.clock.move(DAY_MS);
    const newest = [await backUp(1), await backUp(2)];
    const run = () => drillByClock(app.ctx());
    expect([await run(), await run(), await run()]).toEqual([
      'site 1: could_not_verify',
      'site 2: could_not_verify',
      'none is due',
    ]);
    for (const id of newest) expect(await kept(id)).toMatchObject({ result: 'could_not_verify' });
    await proven(newest[0] ?? '', 1);
    app.clock.move(8 * DAY_MS);
    expect([await run(), await run()]).toEqual(['site 2: could_not_verify', 'none is due']);
    // A newer backup is not drilled before its time.
    await backUp(1);
    app.clock.move(5 * DAY_MS);
    expect(await run()).toBe('none is due');
    app.clock.move(18 * DAY_MS);
    expect([await run(), await run(), await run()]).toEqual([
      'site 1: could_not_verify',
      'site 2: could_not_verify',
      'none is due',
    ]);
  });

  it('is told of in the brief once the backups of sites were not proven for 35 days', async () => {
    const matter = async () => {
      const { needs_attention } = await app.call('get-fleet-brief');
      return needs_attention.find((one: { matter: string }) => one.matter.startsWith('without a proven backup'));
    };
    const first = await backUp(1);
    await backUp(2);
    app.clock.move(34 * DAY_MS);
    expect(await matter()).toBeUndefined();
    app.clock.move(2 * DAY_MS);
    const host = (site: number) => app.fleet.site(site - 1).url.replace(/^https?:\/\/|\/$/g, '');
    expect(await matter()).toEqual({
      matter: 'without a proven backup for 35 days',
      count: 2,
      first: [`${host(1)} never proven`, `${host(2)} never proven`],
      next: 'svc-list-backup-status-v1 {"lacking":"proof"}',
    });
    await proven(first, 1);
    expect((await matter()).first).toEqual([`${host(2)} never proven`]);
    const day = new Date(app.clock.now()).toISOString().slice(0, 10);
    app.clock.move(36 * DAY_MS);
    expect((await matter()).first).toEqual([`${host(2)} never proven`, `${host(1)} last proven ${day}`]);
    await app.db.run(`UPDATE backup_drill SET facts = '{"means":"playground"}'`);
    expect((await matter()).first).toContain(`${host(1)} last proven ${day} in WordPress Playground (weaker)`);
  });
});

it('the brief claims nothing of backups where drills are off', async () => {
  await start(null);
  await backUp();
  app.clock.move(60 * DAY_MS);
  expect(JSON.stringify(await app.call('get-fleet-brief'))).not.toContain('proven');
});

describe('a page that fails in a copy', () => {
  const here = { means: 'machine' as const, php: '8.2.30', has: (extension: string) => extension === 'gd' };
  const page = (error: string) => ({ status: 500, content_type: '', body: '', errors: error === '' ? [] : [error] });
  const undefinedOf = (name: string) =>
    `PHP Fatal error:  Uncaught Error: Call to undefined function ${name}() in a.php:1`;

  it.each([
    [undefinedOf('bcadd'), '8.2.1', 'PHP here has no extension bcmath'],
    [
      'PHP Fatal error:  Uncaught Error: Class "Imagick" not found in a.php:1',
      '8.2.1',
      'PHP here has no extension imagick',
    ],
    [undefinedOf('proc_open'), '8.2.1', 'the site uses proc_open, which is switched off in copies'],
    [undefinedOf('anything'), '7.4.33', 'the site has PHP 7.4.33, here it is 8.2.30'],
    ['', '8.3.1', 'the site has PHP 8.3.1, here it is 8.2.30'],
    [undefinedOf('anything'), '8.2.1', null],
    [undefinedOf('imagecreate'), '8.2.1', null],
    ['', '8.2.1', null],
  ])('for a reason of this machine: %s, PHP %s', (error, php, cause) => {
    expect(otherCause(page(error), here, php)).toBe(cause);
  });
});

it('of the constants of a site, a copy has those that are no secrets', () => {
  const config = String.raw`<?php
define( 'DB_NAME', 'shop' ); define('DB_PASSWORD', 'secret');
define( 'DB_CHARSET', 'latin1' );
 define( "WP_MEMORY", 128 );
define( 'FORCE_SSL_ADMIN', TRUE );
define( 'API_TOKEN', 'sk-12345' );
define( 'QUOTED', 'it\'s' );
define( 'COMPUTED', getenv( 'X' ) );
define('AUTH_KEY', 'secret');
define( 'UPLOADS', 'wp-content/media' );
define( 'EMPTY', '' );

	define(
		'WP_POST_REVISIONS',
		5
	);
define( 'WP_HOME', 'https://example.com' );`;
  expect(siteConstants(config)).toEqual({
    DB_CHARSET: 'latin1',
    WP_MEMORY: 128,
    FORCE_SSL_ADMIN: true,
    API_TOKEN: 'drill',
    QUOTED: 'drill',
    UPLOADS: 'wp-content/media',
    EMPTY: '',
    WP_POST_REVISIONS: 5,
  });
});
