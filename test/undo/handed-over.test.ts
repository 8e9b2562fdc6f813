/** An undo that is handed to a job in the middle: what the call says and what the job says are one story. */

import { describe, expect, it } from 'vitest';
import { runNextChunk } from '../support/chunks.js';
import { closing } from '../support/cleanup.js';
import { type Answer, type TestApp, testApp } from '../support/harness.js';

const one = { site_id_or_domain: 1 };
const DIRECT = 30_000;
/** Posts that the site has restored when it falls silent. */
const BEFORE = 4;

interface Silent {
  waiting: Promise<void>;
  answerAll(): void;
}

/** Once so many of its posts are published, the site holds back what it is asked about posts. */
function silentAfter(app: TestApp, published: number): Silent {
  const { faults, state } = app.fleet.site(0);
  let arrived = () => {};
  let letGo = () => {};
  const waiting = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  faults.latencyMs = (name) => {
    if (name !== 'post_action' || state.posts.filter(({ status }) => status === 'publish').length < published) return 0;
    arrived();
    return held;
  };
  closing({ close: letGo });
  return {
    waiting,
    answerAll() {
      faults.latencyMs = undefined;
      letGo();
    },
  };
}

/** A site with changes of itself, of two plugins and of six posts; the call that undoes them all, and what it has to restore. */
async function changed() {
  const app = await testApp({ sites: 1, jobs: false, config: { direct_call_ms: DIRECT, job_delay_ms: 0 } });
  await app.connect(0);
  const { posts, plugins } = app.fleet.site(0).state;
  const [sample] = posts;
  if (sample === undefined) throw new Error('the site has no post');
  posts.splice(0, posts.length);
  for (let id = 901; id <= 906; id++) posts.push({ ...sample, id, type: 'post', status: 'publish' });
  const active = plugins.filter((plugin) => plugin.active && !plugin.mustUse && !plugin.slug.includes('mainwp'));
  const slugs = active.slice(0, 2).map(({ slug }) => slug);
  expect(slugs).toHaveLength(2);
  const { name } = await app.call('get-site', one);
  app.clock.move(60_000);
  const since = new Date(app.clock.now()).toISOString();
  await app.call('update-site', { ...one, name: 'Renamed', notes: 'Ring first' });
  await app.call('deactivate-site-plugins', { ...one, slugs });
  for (const { id } of posts) await app.call('set-post-status', { ...one, post_id: id, step: 'unpublish' });
  const items = ['name', 'notes', ...slugs, ...posts.map(({ id }) => String(id))].sort();
  const isAsBefore = async () => {
    expect(await app.call('get-site', one)).toMatchObject({ name, notes: '' });
    expect(plugins.filter(({ slug }) => slugs.includes(slug)).map((plugin) => plugin.active)).toEqual([true, true]);
    expect(app.fleet.site(0).state.posts.map(({ status }) => status)).toEqual(posts.map(() => 'publish'));
  };
  return { app, since, items, isAsBefore };
}

const nameOf = ({ slug, field }: Answer) => (slug === undefined || slug === '' ? field : slug);
const named = (items: Answer[]) => items.map(nameOf).sort();

describe('an undo whose time runs out', () => {
  it('says what it has restored, and the job says all of it, each once', async () => {
    const { app, since, items, isAsBefore } = await changed();
    const silent = silentAfter(app, BEFORE);
    const call = app.call('undo-change', { since, confirm: true });
    await silent.waiting;
    app.clock.move(DIRECT);
    const answer = await call;
    const restored = named(answer.undone);
    expect(answer.total_undone).toBe(restored.length);
    // The last one was answered too late.
    expect(restored).toHaveLength(4 + BEFORE - 1);
    expect(answer).toMatchObject({
      ...{ queued: false, sites_queued: 1, total_errors: 1 },
      errors: [{ site_id: 1, code: 'svc_still_running', message: expect.stringContaining(answer.job_id) }],
    });
    silent.answerAll();
    await app.drain();
    await isAsBefore();
    const status = await app.call('get-batch-job-status', { job_id: answer.job_id, per_page: 50 });
    expect(status).toMatchObject({ status: 'completed', succeeded: 1, failed: 0, errors: [] });
    expect(named(status.items)).toEqual(items);
    expect(status.items_total).toBe(items.length);
    expect(status.items.filter(({ code }: Answer) => code !== undefined)).toEqual([]);
    expect(items).toEqual(expect.arrayContaining(restored));
  });

  it('still says what had been restored before by others', async () => {
    const { app, since, items, isAsBefore } = await changed();
    const theirs = app.fleet.site(0).state.posts.at(0);
    if (theirs !== undefined) theirs.status = 'publish';
    const silent = silentAfter(app, 2);
    const call = app.call('undo-change', { since, confirm: true });
    await silent.waiting;
    app.clock.move(DIRECT);
    const { job_id } = await call;
    silent.answerAll();
    await app.drain();
    await isAsBefore();
    const status = await app.call('get-batch-job-status', { job_id, per_page: 50 });
    expect(named(status.items)).toEqual(items);
    const left = status.items.filter(({ code }: Answer) => code !== undefined);
    expect(left).toMatchObject([{ slug: String(theirs?.id), code: 'svc_already_undone' }]);
  });
});

describe('a job of an undo that stops in the middle of a site', () => {
  it.each([
    ['its process ends in good order', 0],
    ['its process is killed before it can store what it did', 1],
  ])('says all that was restored, each once: %s', async (_, killed) => {
    const { app, since, items, isAsBefore } = await changed();
    const silent = silentAfter(app, 1);
    const call = app.call('undo-change', { since, confirm: true });
    await silent.waiting;
    app.clock.move(DIRECT);
    const { job_id } = await call;
    silent.answerAll();
    const again = silentAfter(app, 3);
    const end = new AbortController();
    const chunk = runNextChunk({ ...app.ctx(), signal: end.signal }, 'one');
    await again.waiting;
    const before = await app.db.all('SELECT * FROM job_item ORDER BY number');
    end.abort();
    await chunk;
    // What was done is in the log soon after: the restart comes later.
    await expect.poll(() => app.db.all("SELECT slug FROM action_log WHERE action = 'published'")).toHaveLength(1);
    if (killed === 1) {
      await app.db.run('DELETE FROM job_item');
      for (const { job_id: job, position, number, site_id, done, facts } of before)
        await app.db.run(
          'INSERT INTO job_item (job_id, position, number, site_id, done, facts) VALUES (?, ?, ?, ?, ?, ?)',
          [job, position, number, site_id, done, facts] as never,
        );
    }
    again.answerAll();
    await app.drain();
    await isAsBefore();
    const status = await app.call('get-batch-job-status', { job_id, per_page: 50 });
    expect(status).toMatchObject({ status: 'completed', succeeded: 1, failed: 0 });
    expect(named(status.items)).toEqual(items);
    // Nobody knows whether a killed process had sent what the log does not have.
    const unlogged = status.items.filter(({ code }: Answer) => code !== undefined);
    expect(unlogged).toMatchObject(killed === 1 ? [{ code: 'svc_already_undone' }] : []);
  });
});

describe('an undo of so many sites that it is a job', () => {
  it('suspends a client with the sites that the job gives back to it', async () => {
    const sites = [1, 2, 3];
    const app = await testApp({ sites: 3, jobs: false, config: { batch_threshold: 2, job_delay_ms: 0 } });
    for (const id of sites) await app.connect(id - 1);
    const { id: first } = await app.call('add-client', { name: 'Ann', client_email: 'ann@example.com' });
    const { id: second } = await app.call('add-client', { name: 'Bo', client_email: 'bo@example.com' });
    for (const id of sites) await app.call('update-site', { site_id_or_domain: id, client_id: first });
    await app.call('suspend-site', { site_id_or_domain: 3 });
    await app.call('suspend-client', { client_id_or_email: first });
    const states = () =>
      Promise.all(
        sites.map(async (id) => {
          const { client_id, status } = await app.call('get-site', { site_id_or_domain: id });
          return { client_id, status };
        }),
      );
    expect(await states()).toEqual(sites.map(() => ({ client_id: first, status: 'suspended' })));
    app.clock.move(60_000);
    const since = new Date(app.clock.now()).toISOString();
    await app.call('unsuspend-client', { client_id_or_email: first });
    for (const id of sites) await app.call('update-site', { site_id_or_domain: id, client_id: second });
    expect(await states()).toEqual(sites.map(() => ({ client_id: second, status: 'connected' })));
    const { queued, job_id } = await app.call('undo-change', { since, confirm: true });
    expect(queued).toBe(true);
    await app.drain();
    expect(await states()).toEqual(sites.map(() => ({ client_id: first, status: 'suspended' })));
    expect(await app.call('get-client', { client_id_or_email: first })).toMatchObject({ status: 'suspended' });
    const status = await app.call('get-batch-job-status', { job_id, per_page: 50 });
    expect(status).toMatchObject({ status: 'completed', succeeded: 3, failed: 0, errors: [] });
    expect(status.items.filter(({ code }: Answer) => code !== undefined)).toEqual([]);
  });
});
