/** Backups, restores and sweeps whose process is killed at any moment: the repository stays sound, the site whole. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { putFile } from '../../src/demo/guard/backup.js';
import type { BackupState } from '../../src/demo/guard/types.js';
import { checkBackups } from '../../src/domain/backups/check.js';
import { shortOrLong } from '../robustness/soak.js';
import { tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp, testKey } from '../support/harness.js';
import { type Program, program } from '../support/processes/program.js';

const SITE = { site_id_or_domain: 1 };
const KILLS = shortOrLong(3, 17);

let app: TestApp;
let folder: string;
let steps: Program;
let count = 0;

beforeAll(async () => {
  folder = tempFolder('backup-kills');
  steps = await program('backup-step');
  app = await testApp({
    sites: 1,
    jobs: false,
    realClock: true,
    config: { db: `file:${join(folder, 'fleet.db')}`, site_backup_dir: join(folder, 'repository') },
  });
  await app.connect(0);
  await app.call('install-site-guard', SITE);
  await app.call('back-up-site', SITE);
});

function state(): BackupState {
  const found = app.fleet.sites[0]?.guard?.backup;
  if (found == null) throw new Error('the site has no plugin for backups');
  return found;
}

const contents = ({ files, tables }: BackupState) => ({
  files: Object.fromEntries([...files].map(([path, { bytes }]) => [path, bytes.toString('base64')]).sort()),
  tables: Object.fromEntries(tables),
});
const objects = (kind: 'packs' | 'snapshots') => {
  const place = join(folder, 'repository', kind);
  const names = readdirSync(place, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => statSync(join(place, name)).isFile() && !name.endsWith('.draft'));
};
const done = async (): Promise<string[]> =>
  (await app.call('list-backups', { state: 'done', per_page: 200 })).items.map(
    ({ backup_id }: { backup_id: string }) => backup_id,
  );

/** A site that differs from its last backup in files and rows. */
function change(): void {
  const text = `change ${++count} `;
  const time = Math.floor(Date.now() / 1000) - 60;
  for (let at = 0; at < 30; at++)
    putFile(state(), `wp-content/uploads/kills/${at}.txt`, Buffer.from(text.repeat(500 + at)), time);
  state().tables.set('wp_posts', [JSON.stringify(['1', text, text])]);
}

async function run(step: string, input: object, dieAt?: number): Promise<{ killed: boolean; moments: number }> {
  const report = join(folder, 'moments');
  const parts = { config: app.service.config, sharedKey: await testKey, step, input, dieAt, report };
  const killed = await steps.start(parts).then(
    () => false,
    (error: unknown) => {
      if (!String(error).includes('ended with null')) throw error;
      return true;
    },
  );
  // As if time had passed: what a dead process held has lapsed.
  await app.db.run("UPDATE backup SET alive_at = 1 WHERE state = 'running'");
  await app.db.run('DELETE FROM lease');
  return { killed, moments: killed ? 0 : Number(readFileSync(report, 'utf8')) };
}

/** Kills a step at moments from its first to its last. */
async function killedAtMoments(
  step: string,
  prepare: () => Promise<object>,
  afterwards: (input: object) => Promise<void>,
) {
  // The first one has more to do than all others.
  await run(step, await prepare());
  const { moments } = await run(step, await prepare());
  expect(moments).toBeGreaterThan(10);
  for (let kill = 0; kill < KILLS; kill++) {
    const at = 1 + Math.floor((kill * (moments - 2)) / (KILLS - 1));
    const input = await prepare();
    const { killed } = await run(step, input, at);
    // What is read again at random may make a run shorter than the one that was counted.
    if (kill < KILLS - 1) expect(killed, `moment ${at} of ${moments}`).toBe(true);
    const { problems } = await checkBackups(app.ctx(), 100, false);
    // A backup past its time may be listed a moment longer than it is there: the next sweep ends that.
    const left = problems.filter(({ what }) => step !== 'prune' || !what.startsWith('backup '));
    expect(left, `moment ${at} of ${moments}`).toEqual([]);
    await afterwards(input);
    expect(await checkBackups(app.ctx(), 100, false)).toMatchObject({ sound: true });
  }
}

describe('a process that is killed', () => {
  it('in a backup: what is stored stays sound, and the repeated call makes one backup of it', async () => {
    let before: string[] = [];
    await killedAtMoments(
      'back-up-site',
      async () => {
        change();
        before = await done();
        return SITE;
      },
      async () => {
        if ((await done()).length === before.length) await run('back-up-site', SITE);
        const made = (await done()).filter((id) => !before.includes(id));
        expect(made).toHaveLength(1);
        expect(objects('snapshots').sort()).toEqual((await done()).sort());
        expect(await app.call('verify-backup', { backup_id: made[0] })).toMatchObject({ sound: true });
      },
    );
  });

  it('in a restore: the site is the old one or the restored one, and the repeated call completes it', async () => {
    let wanted = contents(state());
    let damaged = wanted;
    await killedAtMoments(
      'restore-backup',
      async () => {
        change();
        const { backup_id } = await app.call('back-up-site', SITE);
        wanted = contents(state());
        change();
        state().files.delete('wp-content/uploads/kills/3.txt');
        damaged = contents(state());
        return { backup_id, what: 'site', confirm: true };
      },
      async (input) => {
        const left = JSON.stringify(contents(state()));
        expect([JSON.stringify(damaged), JSON.stringify(wanted)]).toContain(left);
        await run('restore-backup', input);
        expect(contents(state())).toEqual(wanted);
        expect(state().restore).toBeNull();
        expect(await app.db.all('SELECT * FROM backup_restore')).toEqual([]);
      },
    );
  });

  it('in a sweep: what is kept stays whole, and the repeated one removes the rest', async () => {
    await killedAtMoments(
      'prune',
      async () => {
        for (let more = 0; more < 2; more++) {
          change();
          await app.call('back-up-site', SITE);
        }
        return {};
      },
      async () => {
        await run('prune', {});
        // All of one day: the newest is kept.
        const kept = await done();
        expect(kept).toHaveLength(1);
        expect(objects('snapshots')).toEqual(kept);
        expect(await app.call('verify-backup', { backup_id: kept[0] })).toMatchObject({ sound: true });
        const known = await app.db.all('SELECT name FROM backup_pack');
        expect(
          objects('packs')
            .map((name) => name.slice(-64))
            .sort(),
        ).toEqual(known.map(({ name }) => name).sort());
      },
    );
  });
});
