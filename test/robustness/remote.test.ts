/**
 * A libSQL server supports everything that a file does: every operation, jobs, with few round trips, and through a
 * restart of the server.
 */

import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asServiceError } from '../../src/runtime/errors.js';
import { everyOperation } from '../operations/cases.js';
import { type Answer, type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { type Program, pause, program } from '../support/processes/program.js';
import { type Sqld, startSqld } from '../support/sqld.js';
import { shortOrLong } from './soak.js';

const SITES = 14;
const RESTARTS = shortOrLong(2, 20);

let server: Sqld;
let app: TestApp;

/**
 * Maximum round trips per call: reads and writes of records, and calls that contact one or two child sites and read
 * back. One of them reads the rules of approvals. Updates of two sites take most: six are the record of the run, which is read while it goes.
 * Writes that are due together travel together, which on a busy machine fewer of them are; and what is kept for a moment, such as
 * who calls, is read once more by a call that takes longer. So there is room above what an idle machine needs.
 */
const MOST = { read: 5, gathered: 14, report: 13, record: 18, child: 40, undo: 50, monitors: 22, backup: 110 };
/** Operations that read several tables one after the other, for any number of sites. */
const GATHERED =
  /^(list-monitors|list-policies|plan-updates|preview-policy|list-vulnerabilities|diagnose-site|compare-sites|search-changes)$/;
const CONTACTS =
  /^(add-site|(re|dis)connect-sites?|(check|sync)-sites?|(de)?activate-.*|delete-site(-.*)?|update-site-(core|plugins|themes|translations)|update-all|run-updates|(get|install|remove)-site-guard|list-site-snapshots|safe-update-site|roll-back|switch-plugin|check-monitor|(create|edit|get|list)-posts?|set-post-status|(list|moderate)-comments)$/;

function roundTrips(name: string, input: object): Promise<number> {
  return app.db.callsOf(() => app.call(name, input));
}

describe('a batch that the server fails step by step', () => {
  let batches: Program;
  beforeAll(async () => {
    batches = await program('failing-batch');
  });
  afterAll(() => batches.close());

  it('is an error of the call, and does not end the process', async () => {
    const child = await batches.start({});
    const ended = once(child, 'exit');
    child.stdin?.write('.');
    const [code] = (await ended) as [number];
    expect(code).toBe(0);
  });

  it('while a mistake of ours still does', async () => {
    const child = await batches.start({ other: true });
    const ended = once(child, 'exit');
    child.stdin?.write('.');
    const [code] = (await ended) as [number];
    expect(code).not.toBe(0);
  });
});

describe('on a libSQL server', needs('sqld'), () => {
  beforeAll(async () => {
    server = await startSqld();
    app = await testApp({
      sites: SITES,
      jobs: false,
      realClock: true,
      config: { db: `http://${server.host}`, job_chunk: 5, job_delay_ms: 0, batch_threshold: 8 },
    });
    for (let i = 0; i < SITES; i++) await app.connect(i);
  });
  afterAll(async () => {
    await app?.close();
    await server?.stop();
  });

  it('every operation works, within a bounded number of round trips', async () => {
    const effects = new Map(app.service.operations.map(({ id, effect }) => [id.replace(/^svc\/|-v1$/g, ''), effect]));
    await everyOperation(app, SITES, async ({ name, input }) => {
      let answer: Answer;
      const calls = await app.db.callsOf(async () => {
        answer = await app.call(name, input);
      });
      // A report reads each of its parts for each site.
      const read = name === 'build-report' ? MOST.report : GATHERED.test(name) ? MOST.gathered : MOST.read;
      // What the walk changed is put back, each kind of change by its own verb.
      const most =
        name === 'undo-change'
          ? MOST.undo
          : // Each monitor is read, changed and logged on its own, what is due together as it comes.
            name === 'update-monitors'
            ? MOST.monitors
            : // The plugin is installed, and each request of the site has its place in the index of what is stored.
              name.endsWith('-backup') || name === 'back-up-site'
              ? MOST.backup
              : CONTACTS.test(name)
                ? MOST.child
                : effects.get(name) === 'read'
                  ? read
                  : MOST.record;
      expect([name, calls <= most, calls]).toContain(true);
      return answer;
    });
  });

  it('the cost per site is bounded as well', async () => {
    const some = (n: number) => ({ site_ids_or_domains: Array.from({ length: n }, (_, i) => i + 1) });
    for (const [name, perSite] of [
      ['sync-sites', 6],
      ['check-sites', 3],
      ['update-all', 15],
    ] as const) {
      const [few, many] = [await roundTrips(name, some(2)), await roundTrips(name, some(8))];
      expect([name, (many - few) / 6 <= perSite, few, many]).toContain(true);
    }
  });

  it(`a job survives ${RESTARTS} restarts of the server: each site once, none reported for what was not its fault`, async () => {
    await app.service.start();
    for (const site of app.fleet.sites) site.faults.latencyMs = 60;
    for (let run = 0; run < RESTARTS; run++) {
      const { job_id } = await app.call('sync-sites', {});
      await expect
        .poll(() => app.call('get-batch-job-status', { job_id }), { interval: 10 })
        // On a busy machine it may be over when it is looked at.
        .not.toMatchObject({ status: 'queued' });
      // In each phase of a chunk: calling sites, receiving answers, storing outcomes.
      await pause(20 + 25 * (run % 5));
      await server.kill();
      const refused = await app.call('list-sites', {}).catch(asServiceError);
      expect(refused).toMatchObject({ code: 'svc_storage_unavailable', status: 503 });
      await pause(300);
      await server.start();
      await expect
        .poll(() => app.call('get-batch-job-status', { job_id }), { interval: 100 })
        .toMatchObject({ status: 'completed', total: SITES, processed: SITES, succeeded: SITES, errors: [] });
    }
  });
});
