/** The check of the whole repository: what it names, which backups it says are concerned, and that they can be mended. */

import { readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { putFile } from '../../src/demo/guard/backup.js';
import { checkBackups } from '../../src/domain/backups/check.js';
import { type CheckedApp, checkedApp } from '../operations/checked-app.js';
import { tempFolder } from '../support/cleanup.js';
import { inBucket, s3Server } from '../support/s3-server.js';

let app: CheckedApp;
let folder: string;
/** Of site 1, of site 2, and of site 1 again, with one more file. */
let made: string[];

async function start(config: object): Promise<void> {
  app = await checkedApp({ sites: 2, config });
  await app.connectAll(2);
  made = [];
  for (const id of [1, 2]) await app.call('install-site-guard', { site_id_or_domain: id });
  for (const id of [1, 2, 1]) {
    made.push(String((await app.call('back-up-site', { site_id_or_domain: id })).backup_id));
    app.clock.move(3_600_000);
    const state = app.fleet.sites[0]?.guard?.backup;
    if (state != null) putFile(state, 'wp-content/uploads/last.txt', Buffer.from('last of all'), 1_800_000_000);
  }
}

beforeEach(async () => {
  folder = join(tempFolder('backups-check'), 'repository');
  await start({ site_backup_dir: folder });
});

function objects(kind: 'packs' | 'snapshots'): string[] {
  const place = join(folder, kind);
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .map((name) => join(place, name))
    .filter((path) => statSync(path).isFile())
    .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs || statSync(b).size - statSync(a).size);
}

const check = (percent = 100, repair = false) => checkBackups(app.ctx(), percent, repair);
const concerned = async (percent?: number) =>
  (await check(percent)).problems.map(({ problem, backups }) => ({
    problem,
    backups: backups.map(({ backup_id }) => backup_id).sort(),
  }));
const flip = (path: string, at: number) => {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
};

it('is content with what is as it was stored', async () => {
  const packs = objects('packs');
  const bytes = packs.reduce((sum, path) => sum + statSync(path).size, 0);
  expect(await check()).toEqual({
    sound: true,
    packs: packs.length,
    packs_read: packs.length,
    bytes_read: bytes,
    backups: 3,
    problems: [],
    lost_chunks: 0,
  });
});

it('names one flipped bit, and the backups that need what it was in', async () => {
  const [first = ''] = objects('packs');
  flip(first, 20);
  // The first pack has what all sites have in common.
  expect(await concerned()).toEqual([
    { problem: 'Its contents are not what was stored.', backups: expect.arrayContaining([made[0], made[2]]) },
  ]);
  const items = (await app.call('list-backups', {})).items as { backup_id: string; sound: boolean | null }[];
  expect(items.find(({ backup_id }) => backup_id === made[0])).toMatchObject({ sound: false });
});

it('names a missing pack and one that was cut, even when it reads only a sample', async () => {
  const last = objects('packs').at(-1) ?? '';
  const bytes = readFileSync(last);
  rmSync(last);
  expect(await concerned(1)).toEqual([{ problem: 'It is missing.', backups: [made[2]] }]);
  writeFileSync(last, bytes);
  truncateSync(last, 100);
  expect(await concerned(1)).toEqual([{ problem: `It has 100 of its ${bytes.length} bytes.`, backups: [made[2]] }]);
});

it('names a backup whose own object is missing or damaged', async () => {
  const path = (id = '') => join(folder, 'snapshots', id);
  renameSync(path(made[0]), path('elsewhere'));
  flip(path(made[1]), 40);
  const { problems } = await check();
  expect(problems.map(({ what, backups }) => [what, backups.map(({ backup_id }) => backup_id)])).toEqual(
    expect.arrayContaining([
      [`backup ${made[0]}`, [made[0]]],
      [`backup ${made[1]}`, [made[1]]],
      ['backup elsewhere', ['elsewhere']],
    ]),
  );
});

it('mends with the next backup what the sites still have, in files and in tables', async () => {
  const verified = async () => {
    const all = await Promise.all(made.map((backup_id) => app.call('verify-backup', { backup_id })));
    return all.map(({ problems }) => problems.map(({ what }: { what: string }) => what));
  };
  // Two chunks, of a table and of a file.
  const first = objects('packs')[0] ?? '';
  flip(first, 20);
  flip(first, 3_000);
  const before = await verified();
  expect(before[0]).toEqual([expect.stringMatching(/^table wp_/), expect.not.stringContaining('table')]);
  expect(before[2]).toEqual(before[0]);
  // Without repair the next backup takes for stored what the index says is.
  await app.call('back-up-site', { site_id_or_domain: 1 });
  expect(await verified()).toEqual(before);
  expect(await check(100, true)).toMatchObject({ lost_chunks: 2 });
  for (const site_id_or_domain of [1, 2]) await app.call('back-up-site', { site_id_or_domain });
  expect(await verified()).toEqual([[], [], []]);
  expect(await check()).toMatchObject({ sound: true, backups: 6 });
  expect(await (await app.ctx().backupStorage.open()).rebuildIndex()).toMatchObject({ damage: [] });
  expect(await verified()).toEqual([[], [], []]);
});

it('takes wrong bytes of a server for damage only when they come twice', async () => {
  const bucket = await s3Server();
  await start(inBucket(bucket));
  const seen = new Set<string>();
  bucket.fault = ({ method, name }) => {
    if (method !== 'GET' || !name.includes('/packs/') || seen.has(name)) return undefined;
    seen.add(name);
    return 'flip';
  };
  expect(await check()).toMatchObject({ sound: true });
  expect(seen.size).toBe([...bucket.objects.keys()].filter((name) => name.includes('/packs/')).length);
});

it('asks for what a list of a bucket does not show, before it calls it missing', async () => {
  const bucket = await s3Server();
  await start(inBucket(bucket));
  for (const name of bucket.objects.keys()) bucket.unlisted.add(name);
  expect(await check()).toMatchObject({ sound: true, backups: 3 });
});
