/** What `sitefleet doctor` says of the backups of sites: of their place, their key, and of trial restores. */

import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { doctor } from '../../src/cli/doctor.js';
import type { Finding } from '../../src/cli/finding.js';
import type { Config } from '../../src/runtime/config/types.js';
import { fileUrl } from '../../src/runtime/file-url.js';
import { tempFolder } from '../support/cleanup.js';
import { CONTAINER } from '../support/container.js';
import { type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { playground } from '../support/playground.js';
import { printed } from '../support/printed.js';
import { inBucket, s3Server } from '../support/s3-server.js';

const SITE = { site_id_or_domain: 1 };

let folder: string;
let place: string;
let app: TestApp;

beforeEach(async () => {
  folder = tempFolder('backups-doctor');
  place = join(folder, 'repository');
  const code = process.exitCode;
  onTestFinished(() => {
    process.exitCode = code;
  });
});

async function start(more: Partial<Config> = {}): Promise<void> {
  const config = { db: fileUrl(join(folder, 'fleet.db')), site_backup_dir: place, ...more };
  app = await testApp({ sites: 1, jobs: false, realClock: true, config });
  await app.connect(0);
  await app.call('install-site-guard', SITE);
}

async function said(more: Partial<Config> = {}): Promise<Record<'backups' | 'drills', Finding | undefined>> {
  const config = { ...app.service.config, ...more };
  const all = (await printed('sitefleet doctor', () => doctor(config, { json: true }))) as Finding[];
  const of = (name: string) => all.find(({ what }) => what === name);
  return { backups: of('Site backups'), drills: of('Drills') };
}

const backUp = () => app.call('back-up-site', SITE);

describe('the place of backups', () => {
  it('is fine before the first one, of which nothing is made, and after it', async () => {
    await start();
    const { backups } = await said();
    expect(backups).toMatchObject({ status: expect.stringMatching('ok|warn') });
    expect(backups?.detail).toMatch(/^none yet; .*repository can be written, \d+\.\d GB free$/);
    expect(() => rmSync(place)).toThrow('ENOENT');
    await backUp();
    const detail = (await said()).backups?.detail;
    expect(detail).toContain(`1 in ${place}, which can be read and written, `);
    expect(detail).toContain('the newest ended 0 h ago');
    expect(detail).toContain('sitefleet backups recovery-sheet');
  });

  it('is warned of where the newest backup is of a clock that was ahead', async () => {
    await start();
    await backUp();
    await app.db.run('UPDATE backup SET started_at = started_at + ?1, finished_at = finished_at + ?1', [
      3 * 86_400_000,
    ]);
    const { backups } = await said();
    expect(backups).toMatchObject({ status: 'warn', detail: expect.stringMatching(/7[12] h in the future.*clock/) });
  });

  it('fails where it is gone, has another repository, or none of this key', async () => {
    await start();
    await backUp();
    renameSync(place, join(folder, 'away'));
    const { backups } = await said();
    expect(backups).toMatchObject({ status: 'fail', detail: expect.stringContaining(`${place} has no repository`) });
    expect(backups?.detail).toContain('sitefleet backups use-place');
    mkdirSync(place);
    writeFileSync(join(place, 'repository.json'), '{"format":1,"id":"0123456789abcdef","proof":"AAAA"}');
    expect((await said()).backups).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching('another key.*use-key'),
    });
    rmSync(place, { recursive: true });
    writeFileSync(place, 'a file');
    expect((await said()).backups).toMatchObject({ status: 'fail' });
    rmSync(place);
    renameSync(join(folder, 'away'), place);
    await app.db.run("DELETE FROM setting WHERE key = 'backup_repository.key'");
    expect((await said()).backups).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching('key .*is missing.*recovery sheet'),
    });
  });

  it('is a bucket, too', async () => {
    const bucket = await s3Server();
    await start({ ...inBucket(bucket) });
    await backUp();
    const before = [...bucket.objects.keys()].sort();
    const { backups } = await said();
    expect(backups).toMatchObject({ status: 'ok', detail: expect.stringContaining('1 in http') });
    expect(backups?.detail).not.toContain('GB free');
    expect([...bucket.objects.keys()].sort()).toEqual(before);
    expect(bucket.requests.some(({ method, name }) => method === 'PUT' && name.includes('/probe-'))).toBe(true);
    bucket.fault = ({ method }) => (method === 'PUT' ? { status: 403, code: 'AccessDenied' } : undefined);
    expect((await said()).backups).toMatchObject({ status: 'fail' });
  });
});

describe('trial restores', () => {
  it('are off, and what they lack is named with what brings it', async () => {
    await start();
    const nothing = { drill_path: join(folder, 'no-programs'), drill_playground: join(folder, 'none') };
    const { drills } = await said(nothing);
    // Without backups there is nothing to prove.
    expect(drills).toMatchObject({ status: 'ok', detail: expect.stringContaining('SITEFLEET_DRILLS=1') });
    expect(drills?.detail).toContain(
      'this machine lacks php-cgi, mariadbd, mariadb-install-db, mariadb: apt-get install php-cgi php-mysql mariadb-server-core mariadb-client-core',
    );
    await backUp();
    expect((await said(nothing)).drills).toMatchObject({ status: 'warn' });
    expect((await said({ ...nothing, drills: true })).drills).toMatchObject({
      status: 'warn',
      detail: expect.stringMatching(/^none has ended yet; this machine lacks/),
    });
  });

  it('are possible in WordPress Playground where there is no better, which is said', needs('playground'), async () => {
    chmodSync(folder, 0o755);
    await start({ drills: true, drill_dir: folder });
    await backUp();
    const { drills } = await said({ drill_path: join(folder, 'no-programs'), drill_playground: playground });
    expect(drills).toMatchObject({ status: 'ok', detail: expect.stringContaining('this machine lacks php-cgi') });
    expect(drills?.detail).toMatch(
      /; until then drills run in WordPress Playground \(\S+, PHP 8\.3\.\d+\), which proves less; /,
    );
  });

  it('are possible in a container, or its engine says why not', needs('a container'), async () => {
    chmodSync(folder, 0o755);
    await start({ drills: true, drill_dir: folder });
    await backUp();
    const without = { drill_path: join(folder, 'no-programs'), drill_playground: join(folder, 'none') };
    const { drills } = await said({ ...without, drill_container: CONTAINER });
    expect(drills).toMatchObject({ status: 'ok', detail: expect.stringContaining('MariaDB are in the container') });
    expect(
      (await said({ ...without, drill_container: ['podman', 'run', 'localhost/not-there'] })).drills,
    ).toMatchObject({
      status: 'warn',
      detail: expect.stringMatching(/The container of SITEFLEET_DRILL_CONTAINER did not start: .*not-there/),
    });
  });

  it('are possible here, and the last one is named', needs('php-cgi', 'mariadb'), async () => {
    // The copies run as another user.
    chmodSync(folder, 0o755);
    await start({ drills: true, drill_dir: folder });
    await backUp();
    const { drills } = await said({ drills: true });
    expect(drills?.detail).toMatch(/^none has ended yet; PHP \d+\.\d+\.\d+ and MariaDB are here; /);
    expect(drills?.detail).toMatch(/copies have no network|network: open/);
    await app.db.run(
      `INSERT INTO backup_drill (backup_id, site_id, tried_at, tried, at, result, facts)
       SELECT id, site_id, ?, 'failed', ?, 'failed', '{}' FROM backup`,
      [Date.now() - 7_300_000, Date.now() - 7_300_000],
    );
    expect((await said({ drills: true })).drills).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('the last one ended 2 h ago: failed'),
    });
  });
});
