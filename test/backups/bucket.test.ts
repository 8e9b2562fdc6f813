/** Backups in a bucket of an S3-compatible server: that they work, and what is said and kept when the server fails or lies. */

import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { pruneBackups } from '../../src/domain/backups/retention.js';
import { fileUrl } from '../../src/runtime/file-url.js';
import { type CheckedApp, checkedApp } from '../operations/checked-app.js';
import { tempFolder } from '../support/cleanup.js';
import { type Fault, inBucket, type S3Request, type S3Server, s3Server } from '../support/s3-server.js';

const SITE = { site_id_or_domain: 1 };
const DAY_MS = 24 * 3_600_000;
/** Longer than the program waits for any answer. */
const LONG_MS = 600_000;

let bucket: S3Server;
let app: CheckedApp;

beforeEach(async () => {
  bucket = await s3Server();
  app = await withBucket();
});

async function withBucket(change: object = {}): Promise<CheckedApp> {
  const config = { ...inBucket(bucket), direct_call_ms: 1_000 * LONG_MS, ...change };
  const made = await checkedApp({ sites: 2, config });
  await made.connectAll(2);
  for (const id of [1, 2]) await made.call('install-site-guard', { site_id_or_domain: id });
  // Pauses between attempts take no time.
  made.clock.flow();
  return made;
}

const isPack = ({ name }: S3Request) => name.startsWith('fleet/one/packs/');
const isPut = (request: S3Request) => request.method === 'PUT' && isPack(request);
const packs = () => [...bucket.objects.keys()].filter((name) => name.includes('/packs/'));
const backUp = async (): Promise<string> => (await app.call('back-up-site', SITE)).backup_id;
const verified = (backup_id: string) => app.call('verify-backup', { backup_id });

/** The first requests of a kind fail in this way. */
function failing(fault: Fault, isMeant: (request: S3Request) => boolean, times = Number.POSITIVE_INFINITY): void {
  let left = times;
  bucket.fault = (request) => {
    if (!isMeant(request) || left-- <= 0) return undefined;
    // The time passes that the program gives to a server.
    if (fault === 'stall') setImmediate(() => app.clock.move(LONG_MS));
    return fault;
  };
}

describe('a bucket', () => {
  it('holds backups that are verified, restored and pruned', async () => {
    const backup_id = await backUp();
    expect(packs().length).toBeGreaterThan(0);
    expect([...bucket.objects.keys()].every((name) => name.startsWith('fleet/one/'))).toBe(true);
    expect(Buffer.concat([...bucket.objects.values()]).includes('wp_options')).toBe(false);
    expect(await verified(backup_id)).toMatchObject({ sound: true, tables_read: 3 });
    const state = app.fleet.sites[0]?.guard?.backup;
    const files = new Map(state?.files);
    state?.files.clear();
    const done = await app.call('restore-backup', { backup_id, what: 'files', name: '**', confirm: true });
    expect(done).toMatchObject({ outcome: 'restored' });
    const swapped = [...files.keys()].filter((path) => path.startsWith('wp-content/'));
    expect([...(state?.files.keys() ?? [])]).toEqual(expect.arrayContaining(swapped.slice(0, 5)));
    for (const [path, { bytes }] of state?.files ?? []) expect(bytes).toEqual(files.get(path)?.bytes);
  });

  it('is read with few requests: a pack that is needed repeatedly is fetched once', async () => {
    const backup_id = await backUp();
    bucket.requests.length = 0;
    const { files_read } = await verified(backup_id);
    expect(files_read).toBeGreaterThan(10);
    expect(bucket.requests.filter(isPack).length).toBeLessThan(4 * packs().length + 4);
  });

  it('is listed page by page', async () => {
    bucket.page = 1;
    const first = await backUp();
    app.clock.move(DAY_MS);
    const second = await backUp();
    await (await app.ctx().backupStorage.open()).rebuildIndex();
    for (const backup_id of [first, second]) expect(await verified(backup_id)).toMatchObject({ sound: true });
    expect(await pruneBackups(app.ctx())).toContain('0 backups removed');
  });

  it('is opened by one key only, also when two make it at the same time and it knows no conditions', async () => {
    await backUp();
    const other = await withBucket();
    await expect(other.fail('back-up-site', SITE)).resolves.toMatchObject({ data: { reason: 'wrong_key' } });
    for (const conditions of [true, false]) {
      bucket = await s3Server();
      bucket.conditions = conditions;
      const both = [await withBucket(), await withBucket()];
      const results = await Promise.allSettled(both.map((one) => one.ctx().backupStorage.open()));
      if (conditions) expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      // Without them the second one has replaced what the first one made: it is found before anything is stored.
      const again = await Promise.allSettled(both.map((one) => one.call('back-up-site', SITE)));
      expect(again.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
  });

  it('in place of a folder is not taken to have what the folder has', async () => {
    const folder = join(tempFolder('bucket'), 'repository');
    const db = fileUrl(join(tempFolder('bucket'), 'fleet.db'));
    const secret_key = '5'.repeat(64);
    const before = await withBucket({ db, secret_key, site_backup_s3: null, site_backup_dir: folder });
    const old = (await before.call('back-up-site', SITE)).backup_id;
    // Its sites have the same files.
    const after = await checkedApp({ sites: 2, config: { ...inBucket(bucket), db, secret_key } });
    const same = { site_id_or_domain: await after.connect(0) };
    await after.call('install-site-guard', same);
    await expect(after.fail('back-up-site', same)).resolves.toMatchObject({ data: { reason: 'elsewhere' } });
    expect(bucket.objects.size).toBe(0);
    await after.ctx().backupStorage.usePlace();
    const { backup_id } = await after.call('back-up-site', same);
    expect(await after.call('verify-backup', { backup_id })).toMatchObject({ sound: true });
    await expect(after.fail('verify-backup', { backup_id: old })).resolves.toMatchObject({
      data: { reason: 'missing' },
    });
  });
});

describe('a server that fails', () => {
  const PASSING: Fault[] = [
    'stall',
    'reset',
    { status: 503, code: 'SlowDown' },
    { status: 500, code: 'InternalError' },
  ];

  it.each(PASSING)('a while (%j): the backup is made all the same', async (fault) => {
    failing(fault, () => true, 3);
    const backup_id = await backUp();
    failing(fault, isPack, 2);
    expect(await verified(backup_id)).toMatchObject({ sound: true });
  });

  it.each(PASSING)('for good (%j): it is said, and the next backup goes on', async (fault) => {
    failing(fault, isPut);
    const error = await app.fail('back-up-site', SITE);
    expect(error).toMatchObject({ code: 'svc_backup_storage', data: { reason: 'unavailable' } });
    expect(error.message).toMatch(/did not answer in time|could not be reached|HTTP 50[03]/);
    expect((await app.call('list-backups', {})).items[0]).toMatchObject({ state: 'interrupted' });
    bucket.fault = () => undefined;
    expect(await verified(await backUp())).toMatchObject({ sound: true });
  });

  it('in the middle of an answer: it is asked again', async () => {
    const backup_id = await backUp();
    failing('cut', ({ method, name }) => method === 'GET' && name !== '', 3);
    expect(await verified(backup_id)).toMatchObject({ sound: true });
    failing('cut', ({ method }) => method === 'GET');
    const error = await app.fail('verify-backup', { backup_id });
    expect(error).toMatchObject({ code: 'svc_backup_storage', data: { reason: 'unavailable' } });
    bucket.fault = () => undefined;
    expect(await verified(backup_id)).toMatchObject({ sound: true });
  });

  it.each([
    [{ status: 507, code: 'InsufficientStorage' }, 'full', /full/],
    [{ status: 403, code: 'QuotaExceeded' }, 'full', /full/],
    [{ status: 403, code: 'AccessDenied' }, 'unavailable', /SITEFLEET_SITE_BACKUP_S3_KEY/],
    [{ status: 403, code: 'RequestTimeTooSkewed' }, 'unavailable', /clock/],
    [{ status: 301, code: 'PermanentRedirect' }, 'unavailable', /region/],
  ] as const)('by refusing (%j): with the reason', async (fault, reason, message) => {
    failing(fault, isPut);
    const error = await app.fail('back-up-site', SITE);
    expect(error).toMatchObject({
      code: 'svc_backup_storage',
      data: { reason },
      message: expect.stringMatching(message),
    });
  });

  it('or is another one than that of the key: nothing of the key is said', async () => {
    for (const change of [
      { site_backup_s3_secret: 'another secret' },
      { site_backup_s3_region: 'elsewhere' },
      { site_backup_s3: `${bucket.url}less/x` },
    ]) {
      const other = await withBucket(change);
      const error = await other.fail('back-up-site', SITE);
      expect(error).toMatchObject({ code: 'svc_backup_storage', data: { reason: 'unavailable' } });
      expect(error.message).toMatch(/HTTP 40[034], (SignatureDoesNotMatch|AuthorizationHeaderMalformed|NoSuchBucket)/);
      expect(JSON.stringify([error, error.message, error.advice])).not.toContain('another secret');
    }
    const closed = await checkedApp({ sites: 1, config: { ...inBucket(bucket), allow_private_sites: false } });
    await expect(closed.ctx().backupStorage.open()).rejects.toThrow('private or local address');
  });
});

describe('a server that lies', () => {
  it('and says that it stored what it did not: it is sent again, and in the end the backup fails', async () => {
    failing('lose', isPut, 1);
    expect(await verified(await backUp())).toMatchObject({ sound: true });
    failing('lose', ({ method, name }) => method === 'PUT' && name.includes('snapshots'));
    const error = await app.fail('back-up-site', { site_id_or_domain: 2 });
    expect(error).toMatchObject({ code: 'svc_backup_storage', data: { reason: 'unavailable' } });
    expect(error.message).toContain('does not have it');
  });

  it.each(['short', 'flip'] as const)(
    'and answers other bytes (%s): no wrong byte is taken for a right one',
    async (fault) => {
      const backup_id = await backUp();
      failing(fault, ({ method, name }) => method === 'GET' && name.includes('/packs/'));
      const { sound, problems } = await verified(backup_id);
      expect(sound).toBe(false);
      expect(JSON.stringify(problems)).toMatch(/damaged|shorter/);
      const state = app.fleet.sites[0]?.guard?.backup;
      state?.files.delete('wp-content/uploads/2026/a b 🌱.txt');
      const before = new Map(state?.files);
      const error = await app.fail('restore-backup', { backup_id, what: 'site', confirm: true });
      expect(error).toMatchObject({ code: 'svc_backup_storage', data: { reason: 'damaged' } });
      expect(state?.files).toEqual(before);
      bucket.fault = () => undefined;
      expect(await verified(backup_id)).toMatchObject({ sound: true });
    },
  );

  it('and lists not all that it has: what a backup needs is never swept', async () => {
    const backup_id = await backUp();
    bucket.unlisted.add(`fleet/one/snapshots/${backup_id}`);
    for (let sweep = 0; sweep < 3; sweep++) {
      await pruneBackups(app.ctx());
      app.clock.move(2 * DAY_MS);
    }
    expect(await verified(backup_id)).toMatchObject({ sound: true });
  });

  const PACK = '<Contents><Key>fleet/one/packs/aa/a</Key><Size>1</Size></Contents>';
  const pageOf = (objects: string, next = '') =>
    `<ListBucketResult><IsTruncated>${next !== ''}</IsTruncated>${next}${objects}</ListBucketResult>`;
  const LISTS: [string, string, RegExp][] = [
    ['beginnings without ends', `<ListBucketResult>${'<Contents>'.repeat(120_000)}`, /something else/],
    ['beginnings without ends, and its own end', pageOf('<Contents>'.repeat(120_000)), /something else/],
    ['names without ends', pageOf(`<Contents>${'<Key>'.repeat(240_000)}</Contents>`), /something else/],
    ['a list that was cut', pageOf(PACK).slice(0, -3), /something else/],
    ['a list that was cut after an object', pageOf(PACK).replace('</ListBucketResult>', ''), /something else/],
    ['a list that does not say whether it is whole', `<ListBucketResult>${PACK}</ListBucketResult>`, /something else/],
    ['more objects than were asked for', pageOf(PACK.repeat(1_001)), /at most 1000 objects/],
    ['a page of many megabytes', pageOf(PACK, ' '.repeat(9_000_000)), /more than 8388608 bytes for a page/],
  ];

  it.each(LISTS)('and answers %s: nothing is taken for a list, and the index is kept', async (_, text, message) => {
    const backup_id = await backUp();
    const repository = await app.ctx().backupStorage.open();
    failing({ text }, ({ name }) => name === '');
    await expect(repository.rebuildIndex()).rejects.toThrow(message);
    await expect(repository.snapshots()).rejects.toThrow(message);
    bucket.fault = () => undefined;
    expect(await verified(backup_id)).toMatchObject({ sound: true });
  });

  it('and has always another page: it is asked for no more objects than a repository has', async () => {
    const repository = await app.ctx().backupStorage.open();
    const objects = PACK.repeat(1_000);
    let pages = 0;
    bucket.fault = ({ name }) =>
      name === '' ? { text: pageOf(objects, `<NextContinuationToken>${pages++}</NextContinuationToken>`) } : undefined;
    await expect(repository.rebuildIndex()).rejects.toThrow('more than 2000000 objects in packs');
    expect(pages).toBe(2_001);
  });

  it('and goes away while the index is made again: the index is kept', async () => {
    const backup_id = await backUp();
    const repository = await app.ctx().backupStorage.open();
    failing({ status: 503, code: 'SlowDown' }, isPack);
    await expect(repository.rebuildIndex()).rejects.toThrow('SlowDown');
    bucket.fault = () => undefined;
    expect(await verified(backup_id)).toMatchObject({ sound: true });
  });
});
