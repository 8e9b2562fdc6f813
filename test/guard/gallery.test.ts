/**
 * Updates on real WordPress with the real guard, made by WordPress' own upgrader: every kind that breaks a site is
 * undone byte for byte, and no working kind is. Several sites run in parallel, each with its share of the gallery.
 */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finishInterruptedRuns } from '../../src/domain/updates/safe/unfinished.js';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { createProbe } from '../../src/outbound/probe/create.js';
import { shortOrLong } from '../robustness/soak.js';
import { bareSite } from '../support/bare-site.js';
import { ADMIN, type Answer, type TestApp, testApp } from '../support/harness.js';
import { has, needs } from '../support/needs.js';
import { random } from '../support/processes/program.js';
import { mountVolume, type Volume } from '../support/processes/volume.js';
import {
  BAD,
  folderOf,
  GOOD,
  type Kind,
  killedAnywhere,
  NEW_VERSION,
  newFiles,
  newPlaceOf,
  packageOf,
  placeOf,
  slugOf,
  THEME_PAGE,
  writeOld,
} from './gallery.js';
import { contents, pause, visit } from './tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from './wordpress.js';
import { zip } from './zip.js';

const withVolume = has('a volume');
const SITES = shortOrLong(6, 10);
/** Catches a site that never becomes healthy again; how long it takes is reported, and is no matter of a test. */
const WORST_MS = 600_000;
const BROKE = 'svc_update_rolled_back';
const PLAIN = GOOD[0] as Kind;
const UNCHANGED: readonly string[] = ['half a package', 'disk full while it unpacks'];

interface Place {
  site: WordPress;
  id: number;
  bad: Kind[];
  good: Kind[];
  volume: Volume | null;
}

interface Outcome {
  answer: Answer;
  before: Record<string, string>;
  after: Record<string, string>;
  /**
   * From the first changed byte, or the end of PHP, until the front page was healthy again; null = nothing was changed.
   */
  ms: number | null;
}

describe('the gallery of updates', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  const places: Place[] = [];
  const badOnes = BAD.filter(({ full }) => full === undefined || withVolume);
  const bad = new Map(badOnes.map((kind) => [kind, deferred<Outcome>()]));
  const good = new Map(GOOD.map((kind) => [kind, deferred<Outcome>()]));
  const anywhere = killedAnywhere(shortOrLong(1, 20), random(5));
  const killed = new Map(anywhere.map((kind) => [kind, deferred<Outcome>()]));
  const times = new Map<string, number>();
  const elsewhere = createServer((_request, response) => response.end('here'));
  let app: TestApp;
  const work: Promise<void>[] = [];

  beforeAll(async () => {
    await host.start();
    const key = await generateKey();
    elsewhere.listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const reference = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    const first = await host.site('gallery0', { updates: true, workers: 6 });
    first.trust(key.public_key);
    app = await testApp({
      sites: 1,
      realClock: true,
      // Reachable reference: a site whose workers all hang is silent, and not because this machine has no network.
      probe: createProbe({ allowPrivate: true, references: [reference] }),
      config: { site_timeout_ms: 30_000, update_wait_ms: 60_000, direct_call_ms: 300_000 },
    });
    for (let i = 0; i < SITES; i++) {
      const volume = withVolume && i === SITES - 1 ? smallDisk() : null;
      const content = volume === null ? {} : { content: join(volume.folder, 'wp-content') };
      const site =
        i === 0 ? first : await host.site(`gallery${i}`, { updates: true, workers: 6, like: first, ...content });
      places.push({ site, id: 0, bad: [], good: [], volume });
    }
    share();
    for (const place of places) {
      furnish(place);
      const row = bareSite(place.site.url, { name: place.site.database, private_key: key.private_key });
      place.id = Number(await app.service.store.sites.add(row, Date.now(), () => []));
    }
    const ids = places.map(({ id }) => id);
    expect((await app.call('sync-sites', { site_ids_or_domains: ids })).synced).toHaveLength(SITES);
    for (const { id } of places)
      expect(await app.call('install-site-guard', { site_id_or_domain: id })).toMatchObject({ installed: true });
    for (const place of places) work.push(runAll(place));
  });

  afterAll(async () => {
    await Promise.allSettled(work);
    await app?.close();
    elsewhere.close();
    await host.close();
    for (const { volume } of places) volume?.close();
    report();
  });

  it.each(badOnes)('undone: $name', async (kind) => {
    const { answer, before, after, ms } = await of(bad, kind);
    expect(answer.updated).toEqual([]);
    const codes = [
      ...(kind.ends === 'failed' ? [] : [BROKE]),
      ...(kind.ends === undefined ? [] : ['svc_update_failed']),
    ];
    const errors = answer.errors as { slug: string; code: string; evidence?: string[] }[];
    expect(errors).toMatchObject([{ slug: slugOf(kind) }]);
    expect(codes).toContain(errors[0]?.code);
    if (errors[0]?.code === BROKE) expect(errors[0].evidence?.length).toBeGreaterThan(0);
    expect(after).toEqual(before);
    // Nothing was changed when WordPress could not unpack it.
    if (!UNCHANGED.includes(kind.name)) expect(ms).not.toBeNull();
    expect(ms ?? 0).toBeLessThan(WORST_MS);
  });

  it.each(GOOD)('kept: $name', async (kind) => {
    const { answer, after } = await of(good, kind);
    const { slug, renamed } = { slug: slugOf(kind), renamed: kind.renamed?.(slugOf(kind)) };
    const errors = (answer.errors as { slug: string; code: string }[]).filter((one) =>
      [slug, renamed].includes(one.slug),
    );
    expect(errors).toMatchObject(renamed === undefined ? [] : [{ slug: renamed, code: 'svc_activation_failed' }]);
    expect(answer.updated).toContainEqual(
      expect.objectContaining({ slug: slugOf(kind), new_version: kind.version ?? NEW_VERSION }),
    );
    expect(after).toEqual(asContents(newFiles(kind)));
  });

  it.each(anywhere)('whole: $name', async (kind) => {
    const { before, after } = await of(killed, kind);
    expect([before, ...(kind.code === undefined ? [asContents(newFiles(kind))] : [])]).toContainEqual(after);
  });

  it('leaves every site well, and none armed', async () => {
    await Promise.all(work);
    for (const { id, site } of places) {
      expect(await app.call('get-site-guard', { site_id_or_domain: id })).toMatchObject({ armed: [], problems: [] });
      expect(await isWell(site)).toBe(true);
    }
    expect(await app.db.all('SELECT id FROM safe_change WHERE settled_at IS NULL')).toEqual([]);
    // Once for each version that broke a site; versions that only looked different or were not installed are not held
    // back.
    const { versions } = await app.call('list-quarantined-versions', { per_page: 100 });
    const held = (versions as { slug: string; version: string }[]).map(({ slug, version }) => `${slug} ${version}`);
    const name = (kind: Kind) => `${slugOf(kind)} ${kind.version ?? NEW_VERSION}`;
    const expected = badOnes.filter(({ ends, on_suspect }) => ends === undefined && on_suspect === undefined).map(name);
    const either = badOnes.filter(({ ends }) => ends === 'either').map(name);
    expect(held.filter((one) => !either.includes(one)).sort()).toEqual(expected.sort());
    expect(badOnes.length).toBeGreaterThanOrEqual(20);
    expect(GOOD.length).toBeGreaterThanOrEqual(20);
  });

  it('puts an update back on request, and takes the guard away', async () => {
    await Promise.all(work);
    const place = places.find((one) => one.good.includes(PLAIN));
    const outcome = await of(good, PLAIN);
    if (place === undefined) throw new Error('no site has the plain update');
    const site = { site_id_or_domain: place.id };
    const { snapshots } = await app.call('list-site-snapshots', site);
    const { change_id } = (snapshots as { slug: string; change_id: string; role: string }[]).find(
      ({ slug, role }) => slug === slugOf(PLAIN) && role === 'snapshot',
    ) ?? { change_id: '' };
    expect(await app.call('roll-back', { change_id })).toMatchObject({ version: '1.0', well: true });
    expect(contents(join(place.site.content, placeOf(PLAIN)))).toEqual(outcome.before);
    expect(await app.call('remove-site-guard', { ...site, confirm: true })).toMatchObject({ removed: true });
    expect(readdirSync(place.site.content).filter((name) => name.startsWith('sitefleet-guard-'))).toEqual([]);
  });

  /** Distributes the kinds: slow ones first, one theme per site, no `end` beside a different one, the full-disk kinds on the small disk. */
  function share(): void {
    const least = (kind: Kind, list: 'bad' | 'good') => {
      const free = places.filter(
        (place) =>
          (kind.full !== undefined) === (place.volume !== null && list === 'bad') &&
          (kind.what !== 'theme' || ![...place.bad, ...place.good].some(({ what }) => what === 'theme')) &&
          (kind.end === undefined || place.bad.every(({ end }) => end === undefined || end === kind.end)),
      );
      const load = ({ bad: b, good: g }: Place) => [...b, ...g].reduce((sum, one) => sum + (one.slow ?? 10), 0);
      return free.reduce((a, b) => (load(b) < load(a) ? b : a));
    };
    for (const kind of [...anywhere, ...badOnes]) least(kind, 'bad').bad.push(kind);
    for (const kind of GOOD) least(kind, 'good').good.push(kind);
  }

  /** Installs the plugins in their old versions, and offers the new ones. */
  function furnish({ site, bad: b, good: g }: Place): void {
    site.write('themes/plain/index.php', THEME_PAGE);
    site.write('plugins/mainwp-child/mainwp-child.php', readFileSync(new URL('./mainwp-child.php', import.meta.url)));
    const offers: Record<'plugin' | 'theme', Record<string, string[]>> = { plugin: {}, theme: {} };
    const active = ['mainwp-child/mainwp-child.php'];
    for (const kind of [...b, ...g]) {
      writeOld(site, kind);
      const archive = zip(packageOf(kind));
      site.write(`packages/${folderOf(kind)}.zip`, kind.cut ? archive.subarray(0, archive.length / 2) : archive);
      offers[kind.what === 'theme' ? 'theme' : 'plugin'][slugOf(kind)] = [
        kind.version ?? NEW_VERSION,
        join(site.content, `packages/${folderOf(kind)}.zip`),
      ];
      active.push(...Object.keys(kind.others ?? {}).map((name) => `${name}/${name}.php`));
      if (kind.what !== 'theme' && kind.inactive !== true) active.push(slugOf(kind));
    }
    site.write('offers.json', JSON.stringify(offers));
    const stored = active.sort().map((slug, i) => `i:${i};s:${slug.length}:"${slug}";`);
    host.query(
      `UPDATE ${site.database}.wp_options SET option_value = 'a:${active.length}:{${stored.join('')}}' WHERE option_name = 'active_plugins'`,
    );
  }

  async function runAll(place: Place): Promise<void> {
    for (const kind of place.bad) {
      const outcome = kind.killedAfter === undefined ? runBad(place, kind) : runKilled(place, kind);
      (bad.get(kind) ?? killed.get(kind))?.settle(outcome);
      await outcome.catch(() => undefined);
    }
    const outcomes = runGood(place);
    for (const kind of place.good) good.get(kind)?.settle(outcomes.then((all) => all.get(kind) as Outcome));
    await outcomes.catch(() => undefined);
  }

  function update(place: Place, kinds: readonly Kind[], more: object = {}): Promise<Answer> {
    const types = ['plugins', 'themes'];
    const specific_items = kinds.map(slugOf);
    return app.call('safe-update-site', { site_id_or_domain: place.id, types, specific_items, ...more });
  }

  async function runBad(place: Place, kind: Kind): Promise<Outcome> {
    const item = join(place.site.content, placeOf(kind));
    const before = contents(item);
    const watch = watched(place.site, item);
    const meanwhile = trouble(place, kind, item, watch.begin);
    const { paths = [], on_suspect = 'keep' } = kind;
    const answer = await update(place, [kind], { paths, on_suspect }).finally(() => meanwhile.end());
    const ms = await watch.end();
    if (ms !== null) times.set(kind.name, ms);
    return { answer, before, after: contents(item), ms };
  }

  /** The call may end in any way: what it left open is settled as the schedule does it. */
  async function runKilled(place: Place, kind: Kind): Promise<Outcome> {
    const item = join(place.site.content, placeOf(kind));
    const before = contents(item);
    const timer = pause(kind.killedAfter ?? 0).then(async () => {
      place.site.stop();
      await place.site.serve();
    });
    const answer = await update(place, [kind]).catch((error: unknown) => error);
    await timer;
    const caller = { actor: ADMIN, request_id: 'test', signal: new AbortController().signal };
    await finishInterruptedRuns(app.service.ctx(caller));
    const { slug, version } = { slug: slugOf(kind), version: NEW_VERSION };
    await app.call('lift-quarantine', { type: 'plugin', slug, version }).catch(() => undefined);
    expect(await isWell(place.site)).toBe(true);
    return { answer, before, after: contents(item), ms: null };
  }

  async function runGood(place: Place): Promise<Map<Kind, Outcome>> {
    if (place.good.length === 0) return new Map();
    const before = new Map(place.good.map((kind) => [kind, contents(join(place.site.content, placeOf(kind)))]));
    // A fatal error that a version always had is only known if it occurred before the update.
    for (const { visited } of place.good) if (visited !== undefined) await visit(`${place.site.url}${visited}`);
    const ends = place.good.map((kind) =>
      trouble(place, kind, join(place.site.content, placeOf(kind)), () => undefined),
    );
    const answer = await update(place, place.good).finally(() => Promise.all(ends.map((one) => one.end())));
    return new Map(
      place.good.map((kind) => {
        const after = contents(join(place.site.content, newPlaceOf(kind)));
        return [kind, { answer, before: before.get(kind) ?? {}, after, ms: null }];
      }),
    );
  }

  /** Injects the disturbance of this kind while it is updated. */
  function trouble({ site, volume }: Place, kind: Kind, item: string, killed: () => void): { end(): Promise<void> } {
    let over = false;
    const stopped = join(site.content, 'stopped');
    const step = kind.killed ?? kind.full;
    if (step !== undefined) site.write(`stop-at-${step}`, '');
    const act = async () => {
      while (!over) {
        if (kind.visited !== undefined) await visit(`${site.url}${kind.visited}`).catch(() => undefined);
        if (existsSync(stopped)) {
          if (kind.killed !== undefined) {
            site.stop();
            killed();
            rmSync(stopped);
            await site.serve();
          } else {
            volume?.fill();
            rmSync(stopped);
            return;
          }
        }
        if (
          kind.killedRestoring &&
          readdirSync(join(item, '..')).some((name) => name.startsWith('.sitefleet-guard-'))
        ) {
          site.stop();
          await site.serve();
          return;
        }
        await pause(kind.killedRestoring ? 5 : kind.visited === undefined ? 50 : 400);
      }
    };
    const acting = act();
    return {
      async end() {
        over = true;
        await acting;
        volume?.drain();
      },
    };
  }

  function report(): void {
    const sorted = [...times].sort((a, b) => b[1] - a[1]);
    const all = sorted.map(([, ms]) => ms);
    const line = (ms: number | undefined) => `${((ms ?? 0) / 1000).toFixed(1)} s`;
    // biome-ignore lint/suspicious/noConsole: the figures are what this test is for.
    console.info(
      `gallery: ${badOnes.length} kinds of bad update, from update to a well front page: median ${line(all[all.length >> 1])}, worst ${line(all[0])}; ${GOOD.length} kinds of good update\n` +
        sorted.map(([name, ms]) => `  ${line(ms).padStart(7)}  ${name}`).join('\n'),
    );
  }
});

function of(outcomes: ReadonlyMap<Kind, { promise: Promise<Outcome> }>, kind: Kind): Promise<Outcome> {
  const outcome = outcomes.get(kind);
  if (outcome === undefined) throw new Error('no site has this kind');
  return outcome.promise;
}

function smallDisk(): Volume {
  const volume = mountVolume('memory', 24);
  // PHP runs as another user, and needs access through the parent folders.
  chmodSync(join(volume.folder, '..'), 0o755);
  chmodSync(volume.folder, 0o755);
  return volume;
}

async function isWell(site: WordPress): Promise<boolean> {
  const { status, text } = await visit(site.url, { connection: 'close' });
  return status === 200 && text.includes('Welcome') && text.includes('quinces') && text.includes('</html>');
}

/**
 * Measures from the first change of an item until the front page is healthy. Reads files: visits would cost more than
 * the updates.
 */
function watched(site: WordPress, item: string): { begin(): void; end(): Promise<number | null> } {
  const main = existsSync(join(item, 'style.css')) ? join(item, 'style.css') : item.endsWith('.php') ? item : null;
  const file = main ?? join(item, `${item.split('/').at(-1)}.php`);
  const read = () => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  };
  const old = read();
  let changed: number | null = null;
  let well: number | null = null;
  let over = false;
  const look = async () => {
    while (!over || (changed !== null && well === null)) {
      if (read() !== old) {
        changed ??= performance.now();
        well = null;
      } else if (changed !== null && well === null && (await isWell(site).catch(() => false))) well = performance.now();
      if (over && changed !== null && performance.now() - changed > WORST_MS) break;
      await pause(40);
    }
  };
  const looking = look();
  return {
    begin: () => {
      changed ??= performance.now();
      well = null;
    },
    async end() {
      over = true;
      await looking;
      return changed === null ? null : (well ?? Number.POSITIVE_INFINITY) - changed;
    },
  };
}

/** Files in the form that `contents` returns. */
function asContents(files: Record<string, string | Buffer>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [path, text] of Object.entries(files)) {
    if (path !== '') {
      found['/'] = '';
      for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) found[`/${path.slice(0, at)}/`] = '';
    }
    found[path === '' ? '' : `/${path}`] = createHash('sha256').update(text).digest('hex');
  }
  return found;
}

function deferred<T>(): { promise: Promise<T>; settle(value: Promise<T>): void } {
  let settle: (value: Promise<T>) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  promise.catch(() => undefined);
  return { promise, settle };
}
