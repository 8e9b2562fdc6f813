/** Pages as visitors get them, which caches and optimizers make otherwise than those with parameters or cookies. */

import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PageChange, PageVisit } from '../../src/demo/faults.js';
import { emptyCache } from '../../src/demo/page-cache.js';
import { type SafetyApp, safetyApp } from './safety-app.js';

let app: SafetyApp;
beforeEach(async () => {
  app = await safetyApp({ sites: 1 });
});

const one = { site_id_or_domain: 1 };
/** A request that an optimizer works on. */
const plain = ({ query, inside }: PageVisit) =>
  inside === '' && ['sitefleet', 'rest_route'].every((name) => query(name) === '');
const front = ({ path, query }: PageVisit) =>
  path === '' && ['p', 's', 'rest_route'].every((name) => query(name) === '');
const isPage = (made: { status: number }) => made.status === 200;

/** Updates the nth plugin of the site to a version that changes its pages. */
async function updated(change: PageChange, others = 0) {
  const site = app.site(0);
  const plugins = Array.from({ length: others + 1 }, (_, nth) => app.offer(site, nth));
  const plugin = plugins[others];
  if (plugin === undefined) throw new Error('no plugin');
  const old = plugin.version;
  site.faults.breaks = { [`${plugin.slug}@99.0`]: change };
  await app.call('sync-sites', {});
  return { answer: await app.safely('safe-update-site', one), plugin, old };
}

const blank =
  (where: (visit: PageVisit) => boolean): PageChange =>
  (made, visit) =>
    isPage(made) && where(visit) ? { ...made, body: '' } : made;
const failing =
  (where: (visit: PageVisit) => boolean): PageChange =>
  (made, visit) =>
    isPage(made) && where(visit) ? { ...made, status: 500, body: '' } : made;

describe('a version that breaks only what visitors get', () => {
  it.each([
    ['ends before', blank(plain)],
    ['answers HTTP 500', failing(plain)],
  ])('is undone where it %s', async (what, change) => {
    const { answer, plugin, old } = await updated(change);
    expect(answer).toMatchObject({ updated: [], errors: [{ code: 'svc_update_rolled_back' }] });
    const said: string[] = answer.errors[0].evidence;
    expect(said.filter((one) => one.includes('that visitors get') && one.includes(what))).toHaveLength(2);
    expect(plugin.version).toBe(old);
    expect((await fetch(app.site(0).url)).status).toBe(200);
  });

  it('is kept, and said, where that is one page: a visitor may have had a cache keep an error', async () => {
    const { answer, plugin } = await updated(failing((visit) => plain(visit) && !front(visit)));
    expect(answer).toMatchObject({ updated: [{ slug: plugin.slug }], errors: [] });
    expect(answer.suspects[0].findings).toContainEqual(
      expect.stringMatching(
        /^The page \/\?p=1 that visitors get answers HTTP 500.*Past caches and uncompressed it is not so\.$/,
      ),
    );
  });
});

describe('a version that breaks what browsers get', () => {
  const says =
    (body: (text: string) => string | Buffer): PageChange =>
    (made, visit) =>
      isPage(made) && visit.gzip && visit.inside === '' && visit.query('rest_route') === ''
        ? { ...made, headers: { ...made.headers, 'content-encoding': 'gzip' }, body: body(String(made.body)) }
        : made;
  const leads =
    (to: string): PageChange =>
    (made, visit) =>
      isPage(made) && front(visit) && visit.inside === ''
        ? {
            ...made,
            body: String(made.body).replace('</title>', `</title><meta http-equiv="Refresh" content="0; URL='${to}'">`),
          }
        : made;

  const sends =
    (headers: Record<string, string | string[]>): PageChange =>
    (made, visit) =>
      isPage(made) && front(visit) && visit.inside === ''
        ? { ...made, headers: { ...made.headers, ...headers } }
        : made;
  const refreshes = sends({ refresh: '0; url=https://evil.example/' });
  const unindexed = sends({ 'x-robots-tag': ['max-image-preview:large', 'noindex'] });

  it.each([
    ['it is said to be compressed, and is not', says((text) => text), /an answer that can be read/],
    ['it is compressed twice', says((text) => gzipSync(gzipSync(text))), /ends before|is blank|has lost/],
    ['a header sends visitors to another site', refreshes, /redirects to a different address/],
    ['a second header keeps search engines away', unindexed, /keeps search engines away/],
    ['its head sends visitors to another site', leads('https://evil.example/'), /redirects to a different address/],
  ])('is undone: %s', async (_what, change, finding) => {
    const { answer, plugin, old } = await updated(change);
    expect(answer).toMatchObject({ updated: [], errors: [{ code: 'svc_update_rolled_back' }] });
    expect(answer.errors[0].evidence).toContainEqual(expect.stringMatching(finding));
    expect(plugin.version).toBe(old);
  });

  it('is kept where pages are compressed well, and where a page reloads itself', async () => {
    const reloads: PageChange = (made, visit) => says((text) => gzipSync(text))(leads('/')(made, visit), visit);
    const { answer, plugin } = await updated(reloads);
    expect(answer).toMatchObject({ updated: [{ slug: plugin.slug }], errors: [] });
  });
});

describe('a cache that keeps what a broken version made', () => {
  /** A cache that updates empty: what is looked at next fills it again. No roll-back empties it. */
  function cache(kind: 'server' | 'plugin') {
    const site = app.site(0);
    site.faults.pageCache = kind;
    const { changed } = site;
    site.changed = (slug) => {
      changed.call(site, slug);
      if (site.state.plugins.some((plugin) => plugin.slug === slug && plugin.version === '99.0')) emptyCache(site);
    };
    return async () => (await fetch(site.url)).text();
  }

  it('is emptied after the roll-back, where the child plugin can', async () => {
    const visit = cache('plugin');
    const { answer } = await updated(blank(front));
    expect(answer.errors).toMatchObject([{ code: 'svc_update_rolled_back' }]);
    expect(JSON.stringify(answer.errors)).not.toContain('copy from a cache');
    expect(app.site(0).calls.map((call) => call.function)).toContain('cache_purge_action');
    expect(await visit()).toContain('</html>');
  });

  it('is told of, where it cannot, and blames no other update', async () => {
    const visit = cache('server');
    const { answer, plugin } = await updated(blank(front), 1);
    expect(answer.errors).toMatchObject([{ slug: plugin.slug, code: 'svc_update_rolled_back' }]);
    expect(answer.updated).toHaveLength(1);
    expect(answer.errors[0].evidence).toContain(
      'The front page that visitors get is still a broken copy from a cache that Sitefleet cannot empty.',
    );
    expect(await visit()).toBe('');
  });
});
