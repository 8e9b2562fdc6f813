/** Restores that take longer than a direct call: the job goes on with what the site has, and does nothing twice. */

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { putFile } from '../../src/demo/guard/backup.js';
import type { BackupState } from '../../src/demo/guard/types.js';
import { tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp } from '../support/harness.js';

const SITE = { site_id_or_domain: 1 };
const DIRECT = 40_000;
/** Each larger than one request. */
const FILES = 4;
const FILE_BYTES = 700_000;

let app: TestApp;
let backup_id: string;
let wanted: ReturnType<typeof contents>;

const contents = ({ files, tables }: BackupState) => ({
  files: Object.fromEntries([...files].map(([path, { bytes }]) => [path, bytes.toString('base64')]).sort()),
  tables: Object.fromEntries(tables),
});

function state(): BackupState {
  const found = app.fleet.sites[0]?.guard?.backup;
  if (found == null) throw new Error('the site has no plugin for backups');
  return found;
}

const place = (at: number) => `wp-content/uploads/long/${at}.bin`;
const asked = (action: string) => (app.fleet.sites[0]?.guard?.actions ?? []).filter((one) => one === action).length;

/** A site that has lost four files and its posts since its backup. */
beforeEach(async () => {
  app = await testApp({
    sites: 1,
    jobs: false,
    config: {
      site_backup_dir: join(tempFolder('long-restore'), 'repository'),
      direct_call_ms: DIRECT,
      job_delay_ms: 0,
    },
  });
  await app.connect(0);
  await app.call('install-site-guard', SITE);
  await app.call('back-up-site', SITE);
  for (let at = 0; at < FILES; at++) putFile(state(), place(at), randomBytes(FILE_BYTES), 1_700_000_000);
  backup_id = (await app.call('back-up-site', SITE)).backup_id;
  wanted = contents(state());
  for (let at = 0; at < FILES; at++) state().files.delete(place(at));
  state().tables.set('wp_posts', []);
});

const restore = () => app.call('restore-backup', { backup_id, what: 'site', confirm: true });

/** Restores until the site has answered this action so often; then the time of the call is over. Returns the job. */
async function cutAfter(action: string, times: number): Promise<string> {
  const site = app.fleet.site(0);
  let arrived = () => {};
  let letGo = () => {};
  const waiting = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const before = asked(action);
  site.faults.latencyMs = (name) => {
    // Of the guard's requests, the one after these.
    if (name !== '' || asked(action) - before < times) return 0;
    arrived();
    return held;
  };
  const failed = restore().catch((error: Error) => error);
  await waiting;
  app.clock.move(DIRECT);
  const error = (await failed) as Error & { code?: string; data?: { job_id?: string } };
  site.faults.latencyMs = undefined;
  letGo();
  expect(error).toMatchObject({ code: 'svc_still_running', status: 504 });
  return String(error.data?.job_id);
}

async function finished(job_id: string): Promise<void> {
  await app.drain();
  expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({ succeeded: 1, failed: 0 });
  expect(contents(state())).toEqual(wanted);
  expect(state().restore).toBeNull();
  expect(await app.db.all('SELECT * FROM backup_restore')).toEqual([]);
}

describe('a restore whose time runs out', () => {
  it('goes on as a job with the next file; a repeated call finds the job', async () => {
    const job = await cutAfter('write', 3);
    const before = contents(state());
    const again = await app.fail('restore-backup', { backup_id, what: 'site', confirm: true });
    expect(again).toMatchObject({ code: 'svc_still_running', data: { job_id: job } });
    expect(contents(state())).toEqual(before);
    const sent = asked('write');
    await finished(job);
    // Five requests carry them all; of the three that were answered, two had ended files.
    expect(asked('write') - sent).toBeGreaterThan(0);
    expect(asked('write') - sent).toBeLessThan(4);
    expect(asked('swap')).toBe(1);
  });

  it('sends no file again once its tables are under way, and no table that is complete', async () => {
    // Each of the three tables is made, then gets its rows: the first one is complete.
    const job = await cutAfter('load', 3);
    const [writes, loads] = [asked('write'), asked('load')];
    await finished(job);
    expect(asked('write') - writes).toBe(0);
    expect(asked('load') - loads).toBe(4);
    expect(asked('swap')).toBe(1);
  });

  it('starts again where the site has changed so that the plan is another one', async () => {
    const job = await cutAfter('write', 3);
    putFile(state(), 'wp-content/uploads/2026/a b 🌱.txt', Buffer.from('defaced'), 1_800_000_000);
    const sent = asked('write');
    await finished(job);
    expect(asked('write') - sent).toBeGreaterThanOrEqual(5);
    expect(asked('swap')).toBe(1);
  });
});
